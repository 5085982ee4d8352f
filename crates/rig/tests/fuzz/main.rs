//! Every reader handles mutated and random bytes without panic, hang or unbounded memory use.
//!
//! Seeds are small files of each format. Mutations come from a fixed generator, so failures are reproducible. Seconds per reader:
//! `SUPPLE_FUZZ_SECONDS` (1 by default).

mod counting;
mod mutate;

use std::time::{Duration, Instant};

use mutate::Random;
use supple_rig::Character;
use supple_rig::formats::{FormatError, ReadOptions, load_bytes};

/// Time limit per input.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// Memory limit per input: this plus [`MEMORY_FACTOR`] times its size.
const MEMORY_FLOOR: usize = 64 << 20;
const MEMORY_FACTOR: usize = 200;

/// Intact files that the seeds refer to.
fn pieces(name: &str) -> Result<Vec<u8>, FormatError> {
    match name {
        "cube.obj" => Ok(CUBE.as_bytes().to_vec()),
        "a.skel" => Ok(SKEL.as_bytes().to_vec()),
        "a.anim" => Ok(ANIM.as_bytes().to_vec()),
        _ => Err(FormatError::invalid(name, "not there")),
    }
}

const CUBE: &str = include_str!("seeds/cube.obj");
const MTL: &str = "# two\nnewmtl skin\nKd 0.8 0.6 0.5\nd 0.5\nmap_Kd -s 1 1 1 skin colour.png\n\nnewmtl cloth\nTr 0.25\n";
const INI: &str =
    "SIMMESH cube.obj\nVISMESH cube.obj\n# bones\nSKELETON a.skel\nANIMATION a.anim bend\n";
const SKEL: &str = "3\n0 0 0 a root\n0 1 0 b a\n0 2 0 c b\n";
const ANIM: &str = "2 3\n0\n1 0 0\n0 1 0\n0 1 0\n0 0.5 0.1\n1\n0 0 1\n0 1 0\n1 0 0\n1 -0.5 0\n";

/// Reads bytes as the file of that name; a material library through an OBJ that refers to it.
fn read(name: &str, bytes: &[u8]) -> Result<Character, FormatError> {
    let options = ReadOptions::default();
    let library = |name: &str| match name.ends_with(".mtl") {
        true => Ok(bytes.to_vec()),
        false => pieces(name),
    };
    match name {
        "cube.mtl" => load_bytes("cube.obj", CUBE.as_bytes(), &library, &options),
        _ => load_bytes(name, bytes, &pieces, &options),
    }
}

/// Readers run one at a time, because memory is counted for the whole process.
#[test]
fn readers_handle_any_input() {
    let seconds = std::env::var("SUPPLE_FUZZ_SECONDS").ok();
    let seconds: f64 = seconds.and_then(|text| text.parse().ok()).unwrap_or(1.0);
    for (name, seeds) in seeds() {
        for seed in &seeds {
            let read = read(name, seed);
            assert!(read.is_ok(), "{name}: a seed is broken: {:?}", read.err());
        }
        let (count, slowest, accepted) = fuzz(name, &seeds, Duration::from_secs_f64(seconds));
        println!("{name}: {count} inputs, {accepted} accepted, slowest {slowest:?}");
    }
}

fn fuzz(name: &str, seeds: &[Vec<u8>], budget: Duration) -> (usize, Duration, usize) {
    let mut random = Random::new(0x5EED ^ name.len() as u64);
    let (start, mut count, mut slowest, mut accepted) = (Instant::now(), 0, Duration::ZERO, 0);
    while start.elapsed() < budget {
        let input = random.input(seeds);
        let before = counting::reset_peak();
        let began = Instant::now();
        let read = std::panic::catch_unwind(|| read(name, &input));
        let took = began.elapsed();
        let peak = counting::peak().saturating_sub(before);
        let most = MEMORY_FLOOR + MEMORY_FACTOR * input.len();
        if read.is_err() || took > TIME_LIMIT || peak > most {
            let file = std::env::temp_dir().join(format!("supple_fuzz_{count}_{name}"));
            let _ = std::fs::write(&file, &input);
            panic!(
                "{name}: input {count} took {took:?} and {peak} bytes (kept as {})",
                file.display()
            );
        }
        accepted += usize::from(matches!(read, Ok(Ok(_))));
        slowest = slowest.max(took);
        count += 1;
    }
    (count, slowest, accepted)
}

fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let text = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .collect::<Vec<_>>()
    };
    let solid = read("cube.obj", CUBE.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let saved = |name: &str| {
        let path = folder.path().join(name);
        supple_rig::formats::save_character(&path, &solid).unwrap();
        std::fs::read(path).unwrap()
    };
    let mut all = vec![
        ("a.obj", text(&[CUBE, "v 0 0 0\nv 1 0 0 1 0 0\nv 0 1 0\nf -3 -2 -1\n"])),
        ("a.ply", vec![saved("a.ply"), include_bytes!("seeds/square.ply").to_vec()]),
        ("a.xyz", text(&["3\n0 0 0 0 0 1\n1 0 0 0 0 1\n0,1;0 1 0 0\n", "# points\n1 2 3\n"])),
        ("a.off", text(&["OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n4 0 1 2 3\n", "COFF\n3 1 0\n0 0 0 1 0 0\n1 0 0 0 1 0\n0 1 0 0 0 1\n3 0 1 2"])),
        ("a.stl", vec![saved("a.stl"), b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid".to_vec()]),
        ("a.bvh", text(&[include_str!("seeds/arm.bvh")])),
        ("a.skel", text(&[SKEL])),
        ("a.ini", text(&[INI])),
        ("cube.mtl", text(&[MTL])),
        ("a.anim", text(&[ANIM, "2 2\n0\n1 0 0\n0 1 0\n0 0.5\n1\n0 0 1\n0 1 0\n1 -0.5\n"])),
    ];
    if cfg!(feature = "fbx") {
        let mut tubes = text(&[include_str!("../fixtures/tube.fbx")]);
        tubes.push(include_bytes!("../fixtures/tube_blender.fbx").to_vec());
        tubes.push(include_bytes!("../fixtures/tube_unended.fbx").to_vec());
        all.push(("a.fbx", tubes));
    }
    all.push(("a.glb", vec![include_bytes!("seeds/bend.glb").to_vec()]));
    all.push((
        "packed.glb",
        vec![
            include_bytes!("../fixtures/compressed/tube_quantized.glb").to_vec(),
            include_bytes!("../fixtures/compressed/tube_filtered.glb").to_vec(),
            include_bytes!("../fixtures/compressed/tube_meshopt_v1.glb").to_vec(),
            include_bytes!("../fixtures/compressed/tube_draco.glb").to_vec(),
            include_bytes!("../fixtures/compressed/tube_draco_sequential.glb").to_vec(),
        ],
    ));
    all.push(("a.gltf", vec![include_bytes!("seeds/bend.gltf").to_vec()]));
    all
}
