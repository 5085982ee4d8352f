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
    let repeats = numbers.next().unwrap_or(Ok(31))?.max(1);
    let mut sizes = numbers.collect::<Result<Vec<_>, _>>()?;
    if sizes.is_empty() {
        sizes = vec![1000, 4650, 10_000, 20_000];
    }
    println!("ms a step of 10 iterations, median (minimum); ratios to the textbook step");
    for size in sizes {
        bench(size, repeats)?;
    }
    Ok(())
}

fn bench(size: usize, repeats: usize) -> Result<(), Box<dyn std::error::Error>> {
    let model = tissue(size)?;
    let settings = Settings::default();
    let mut textbook = Reference::new();
    let [mut one, mut two] = [CpuBackend::new(), CpuBackend::new()];
    one.set_clock(Some(seconds));
    let pools = [pool(1)?, pool(2)?];
    let mut times = [const { Vec::new() }; 5];
    let mut states = [(); 3].map(|()| State::at_rest(&model));
    for frame in 0..repeats {
        let targets = pose(&model, frame);
        let [a, b, c] = &mut states;
        // The textbook step is slow and steady: a few are enough.
        if frame < 9 {
            times[0].push(timed(|| textbook.step(&model, &settings, &targets, a))?);
        }
        times[1].push(pools[0].install(|| timed(|| one.step(&model, &settings, &targets, b)))?);
        times[2].push(pools[1].install(|| timed(|| two.step(&model, &settings, &targets, c)))?);
        times[3].push(one.timings().local);
        times[4].push(one.timings().global);
        if frame < 9 {
            check(a, b)?;
        }
        if b != c {
            return Err("one and two threads must agree to the bit".into());
        }
    }
    report(&model, &settings, &one, times.map(Times::new));
    Ok(())
}

fn check(textbook: &State, fast: &State) -> Result<(), String> {
    let distances = textbook
        .positions
        .iter()
        .zip(&fast.positions)
        .map(|(a, b)| a.distance(*b));
    let apart = distances.fold(0.0, f32::max);
    if apart < 1e-3 {
        Ok(())
    } else {
        Err(format!("fast and textbook steps are {apart} m apart"))
    }
}

fn report(model: &Model, settings: &Settings, one: &CpuBackend, times: [Times; 5]) {
    let [textbook, single, double, local, global] = times;
    println!(
        "{} vertices, {} tets, {} factor entries, regions {:?}",
        model.free_count(),
        model.tets().len(),
        one.factor_entries(),
        one.region_sizes()
    );
    println!("  textbook   {textbook}");
    println!(
        "  1 thread   {single}  {}  local {local}, global {global}",
        single.ratio(&textbook)
    );
    println!("  2 threads  {double}  {}", double.ratio(&textbook));
    let floor =
        one.factor_bytes_per_solve() as f64 * f64::from(settings.iterations) / bandwidth() * 1e3;
    println!(
        "  triangular solves at {:.0} % of the floor ({} bytes read a solve), {:.1} MB held",
        100.0 * floor / global.median,
        one.factor_bytes_per_solve(),
        one.memory() as f64 / 1e6
    );
}

/// Median and minimum [ms]: on a machine with other work, the minimum tells more.
struct Times {
    median: f64,
    minimum: f64,
}

impl Times {
    fn new(mut seconds: Vec<f64>) -> Times {
        seconds.sort_by(f64::total_cmp);
        Times {
            median: seconds[seconds.len() / 2] * 1e3,
            minimum: seconds[0] * 1e3,
        }
    }

    fn ratio(&self, textbook: &Times) -> String {
        format!(
            "{:.1}× ({:.1}×)",
            textbook.median / self.median,
            textbook.minimum / self.minimum
        )
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:.2} ({:.2})", self.median, self.minimum)
    }
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
    let start = seconds();
    work()?;
    Ok(seconds() - start)
}

fn seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
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
