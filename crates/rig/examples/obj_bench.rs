//! How fast OBJ files load: megabytes a second of reading the raw bytes, parsing and welding, at three sizes.
//!
//! `cargo run --release -p supple-rig --example obj_bench`

use std::fmt::Write;
use std::time::Instant;

use supple_rig::character::Up;
use supple_rig::formats::ReadOptions;
use supple_rig::formats::obj::read_obj;

fn main() {
    println!(
        "{:>10} {:>9} {:>12} {:>12} {:>12} {:>12}",
        "vertices", "MB", "raw MB/s", "load MB/s", "weld MB/s", "ns/vertex"
    );
    for side in [316, 548, 1000] {
        bench(side);
    }
}

/// A wavy sheet of `side`² vertices with texture coordinates.
fn sheet(side: usize) -> String {
    let mut text = String::new();
    for y in 0..side {
        for x in 0..side {
            let (u, v) = (x as f64 / side as f64, y as f64 / side as f64);
            let z = 0.1 * (20.0 * u).sin() * (13.0 * v).cos();
            let _ = writeln!(text, "v {u:.6} {v:.6} {z:.6}\nvt {u:.6} {v:.6}");
        }
    }
    for y in 1..side {
        for x in 1..side {
            let (d, c) = (y * side + x + 1, y * side + x);
            let (b, a) = (d - side, c - side);
            let _ = writeln!(text, "f {a}/{a} {b}/{b} {d}/{d}\nf {a}/{a} {d}/{d} {c}/{c}");
        }
    }
    text
}

fn bench(side: usize) {
    let file = std::env::temp_dir().join(format!("supple_obj_bench_{}.obj", std::process::id()));
    std::fs::write(&file, sheet(side)).expect("the temporary folder takes files");
    let start = Instant::now();
    let bytes = std::fs::read(&file).expect("just written");
    let raw = start.elapsed().as_secs_f64();
    let _ = std::fs::remove_file(&file);
    let options = ReadOptions {
        metres_per_unit: Some(1.0),
        up: Some(Up::Y),
    };
    let start = Instant::now();
    let character = read_obj(&bytes, &|_| Ok(Vec::new()), &options).expect("a good file");
    let load = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let welded = supple_geom::weld::weld(&character.parts[0].mesh, 0.0);
    let weld = start.elapsed().as_secs_f64();
    assert_eq!(welded.mesh.positions.len(), side * side);
    let megabytes = bytes.len() as f64 / 1e6;
    println!(
        "{:>10} {megabytes:>9.1} {:>12.0} {:>12.0} {:>12.0} {:>12.0}",
        side * side,
        megabytes / raw,
        megabytes / load,
        megabytes / weld,
        (load + weld) / (side * side) as f64 * 1e9
    );
}
