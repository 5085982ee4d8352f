//! Reading and welding a generated OBJ.

use std::time::Instant;

use serde::Serialize;
use supple_geom::weld::weld;
use supple_rig::formats::{FormatError, ReadOptions, obj};

/// Times of reading one generated OBJ.
#[derive(Clone, Debug, Serialize)]
pub struct ReadRow {
    /// Vertices of the mesh.
    pub vertices: usize,
    /// Size of the file \[MB\].
    pub megabytes: f64,
    /// Reading the bytes from disk \[MB/s\].
    pub raw_mb_per_s: f64,
    /// Parsing them \[MB/s\].
    pub parse_mb_per_s: f64,
    /// Welding by position [MB of file/s].
    pub weld_mb_per_s: f64,
    /// Parsing and welding, per million vertices \[s\].
    pub seconds_per_million: f64,
}

/// Writes an OBJ of about `vertices` vertices, with seams, into a temporary folder and reads it back.
pub fn read_obj(vertices: usize) -> Result<ReadRow, FormatError> {
    let path = std::env::temp_dir().join(format!(
        "supple-bench-{}-{vertices}.obj",
        std::process::id()
    ));
    supple_rig::formats::save(&path, grid_obj(vertices).as_bytes())?;
    let row = time_reading(&path);
    let _ = std::fs::remove_file(&path);
    row
}

fn time_reading(path: &std::path::Path) -> Result<ReadRow, FormatError> {
    let io = |source| FormatError::Io {
        path: path.to_owned(),
        source,
    };
    let start = Instant::now();
    let bytes = std::fs::read(path).map_err(io)?;
    let raw = start.elapsed().as_secs_f64();
    let nothing = |_: &str| Err(FormatError::Empty("no materials"));
    let start = Instant::now();
    let character = obj::read_obj(&bytes, &nothing, &ReadOptions::default())?;
    let parse = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let welded: usize = character
        .parts
        .iter()
        .map(|part| weld(&part.mesh, 0.0).mesh.positions.len())
        .sum();
    let weld = start.elapsed().as_secs_f64();
    let vertices: usize = character
        .parts
        .iter()
        .map(|part| part.mesh.positions.len())
        .sum();
    debug_assert!(welded <= vertices);
    let megabytes = bytes.len() as f64 / 1e6;
    Ok(ReadRow {
        vertices,
        megabytes,
        raw_mb_per_s: megabytes / raw,
        parse_mb_per_s: megabytes / parse,
        weld_mb_per_s: megabytes / weld,
        seconds_per_million: (parse + weld) / vertices as f64 * 1e6,
    })
}

/// A wavy square in strips with separate borders, which can be welded.
fn grid_obj(vertices: usize) -> String {
    use std::fmt::Write;
    let side = (vertices as f64).sqrt().ceil() as usize;
    let mut text = String::with_capacity(vertices * 60);
    for row in 0..side {
        // Every tenth row is written twice, as the border of two strips.
        let row = row - row / 10;
        for column in 0..side {
            let (x, z) = (column as f32 / side as f32, row as f32 / side as f32);
            let y = 0.1 * (20.0 * x).sin() * (17.0 * z).cos();
            let _ = writeln!(text, "v {x:.6} {y:.6} {z:.6}");
        }
    }
    for row in (0..side - 1).filter(|row| row % 10 != 9) {
        for column in 0..side - 1 {
            let a = row * side + column + 1;
            let _ = writeln!(text, "f {a} {} {}", a + side, a + 1);
            let _ = writeln!(text, "f {} {} {}", a + 1, a + side, a + side + 1);
        }
    }
    text
}
