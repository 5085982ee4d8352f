//! The fast step against the textbook step on tissue of a procedural body: `step_bench [REPEATS] [VERTICES...]`.
//!
//! Both run in this process, in turn; the ratio is that of the medians, so that other load weighs on both.

mod body;

use glam::Vec3;
use std::time::Instant;
use supple_sim::{Backend, CpuBackend, Model, ModelBuilder, Reference, Settings, State, Targets};

/// Stiffness of the tissue [Pa].
const STIFFNESS: f64 = 4e4;
/// Tissue density [kg/m³].
const DENSITY: f64 = 1000.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|a| a.parse::<usize>());
    let repeats = numbers.next().unwrap_or(Ok(15))?;
    let mut sizes = numbers.collect::<Result<Vec<_>, _>>()?;
    if sizes.is_empty() {
        sizes = vec![1000, 4650, 10_000, 20_000];
    }
    println!(
        "vertices  tets    textbook ms   1 thread ms (local + global)  ratio   2 threads ms  ratio   solve of floor  MB"
    );
    for size in sizes {
        bench(size, repeats)?;
    }
    Ok(())
}

fn bench(size: usize, repeats: usize) -> Result<(), Box<dyn std::error::Error>> {
    let model = tissue(size)?;
    let mut settings = Settings::default();
    if let Some(n) = std::env::var("ITER").ok().and_then(|n| n.parse().ok()) {
        settings.iterations = n;
    }
    let mut textbook = Reference::new();
    let [mut one, mut two] = [CpuBackend::new(), CpuBackend::new()];
    one.set_clock(Some(seconds));
    let pools = [pool(1)?, pool(2)?];
    let mut times = [const { Vec::new() }; 5];
    let mut states = [(); 3].map(|()| State::at_rest(&model));
    for frame in 0..repeats {
        let targets = pose(&model, frame);
        let [a, b, c] = &mut states;
        if frame < 7 || std::env::var_os("ITER").is_some() && frame < 300 {
            times[0].push(timed(|| textbook.step(&model, &settings, &targets, a))?);
        }
        times[1].push(pools[0].install(|| timed(|| one.step(&model, &settings, &targets, b)))?);
        times[2].push(pools[1].install(|| timed(|| two.step(&model, &settings, &targets, c)))?);
        times[3].push(one.timings().local);
        times[4].push(one.timings().global);
        if frame == 0 {
            let error = a
                .positions
                .iter()
                .zip(&b.positions)
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f32::max);
            assert!(error < 1e-4, "fast and textbook steps differ by {error} m");
        }
        assert_eq!(b, c, "one and two threads must agree to the bit");
    }
    if std::env::var_os("MINIMA").is_some() {
        let [a, b, c, d, e] = times
            .clone()
            .map(|t| t.into_iter().fold(f64::MAX, f64::min) * 1e3);
        println!(
            "minima: {a:.2} {b:.2} ({d:.2} + {e:.2}) {c:.2}: {:.1}× {:.1}×",
            a / b,
            a / c
        );
    }
    let [textbook, one_ms, two_ms, local, global] = times.map(|t| median(t) * 1e3);
    let floor =
        one.factor_bytes_per_solve() as f64 * f64::from(settings.iterations) / bandwidth() * 1e3;
    println!(
        "{:8}  {:6}  {textbook:8.2}      {one_ms:8.2} ({local:.2} + {global:.2})         {:6.1}×    {two_ms:8.2}   {:6.1}×   {:6.0} %     {:6.1}",
        model.free_count(),
        model.tets().len(),
        textbook / one_ms,
        textbook / two_ms,
        100.0 * floor / global,
        one.memory() as f64 / 1e6,
    );
    if std::env::var_os("REGIONS").is_some() {
        println!(
            "          regions {:?}, factor entries {}",
            one.region_sizes(),
            one.factor_entries()
        );
    }
    Ok(())
}

/// Prisms between the skin and a fixed inner copy of it, three tets each.
fn tissue(size: usize) -> Result<Model, Box<dyn std::error::Error>> {
    let (skin, inner, triangles) = body::body(size);
    let mut builder = ModelBuilder::new();
    for &p in &skin {
        builder.vertex(p, false);
    }
    for &p in &inner {
        builder.vertex(p, true);
    }
    let n = skin.len() as u32;
    let at = |v: u32| {
        if v < n {
            skin[v as usize]
        } else {
            inner[(v - n) as usize]
        }
    };
    let mut volume = 0.0;
    for mut triangle in triangles {
        triangle.sort_unstable();
        let [a, b, c] = triangle;
        for tet in [
            [a, b, c, c + n],
            [a, b, b + n, c + n],
            [a, a + n, b + n, c + n],
        ] {
            let [p, q, r, s] = tet.map(at);
            volume += f64::from((q - p).cross(r - p).dot(s - p).abs()) / 6.0;
            builder.tet(tet, STIFFNESS);
        }
    }
    builder.distribute_mass(volume * DENSITY);
    Ok(builder.build()?)
}

/// Twists, bends and shakes the fixed vertices, a little differently in every frame.
fn pose(model: &Model, frame: usize) -> Targets {
    let phase = (0.4 * frame as f32).sin();
    let bent = |p: &Vec3| {
        let angle = 0.3 * phase * (p.y - 0.9) + 0.3 * phase * p.x;
        let (s, c) = angle.sin_cos();
        Vec3::new(c * p.x - s * p.z + 0.02 * phase, p.y, s * p.x + c * p.z)
    };
    let fixed: Vec<Vec3> = model.rest_fixed().iter().map(bent).collect();
    model.targets(&fixed, &[])
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, E> {
    let clock = if std::env::var_os("CPU").is_some() {
        thread_seconds
    } else {
        seconds
    };
    let start = clock();
    work()?;
    Ok(clock() - start)
}

fn seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Seconds that this thread has run, where the system tells: other load does not count.
fn thread_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|t| t.parse::<f64>().ok())
        .map_or_else(seconds, |t| t * 1e-9)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Bytes a second that one thread reads from a block that fits the last cache but not the first: the best of several.
fn bandwidth() -> f64 {
    let block = vec![1u64; 1 << 19];
    let time = |_| {
        let start = Instant::now();
        let sum: u64 = std::hint::black_box(&block).iter().fold(0, |a, b| a ^ b);
        std::hint::black_box(sum);
        start.elapsed().as_secs_f64()
    };
    size_of_val(&block[..]) as f64 / (0..30).map(time).fold(f64::MAX, f64::min)
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()
}
