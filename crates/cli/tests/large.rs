//! A large character in bounded memory.

use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs the binary and returns its peak memory [MB], if the system reports it.
fn peak_of(folder: &std::path::Path, args: &[&str]) -> Option<u64> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_supple"))
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        peak = kilobytes.map(|k| k / 1024).or(peak);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{args:?}: {status}");
            return peak;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A folder with `fine.glb`, a body of 55 thousand vertices.
fn fine_female() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let convert = ["convert", "@female", "fine.glb", "--subdivide", "1"];
    peak_of(folder.path(), &convert);
    folder
}

#[test]
fn fifty_thousand_vertices() {
    let folder = fine_female();
    let path = folder.path();
    let skin = [
        "skin", "fine.glb", "--clip", "elbow", "--to", "0.2", "-o", "out.glb",
    ];
    let short = peak_of(path, &skin);
    println!("peak of a short motion: {short:?} MB");
    // A quarter of the limit for 200 thousand vertices, and half as much again for memory that does not grow with them.
    assert!(short.is_none_or(|peak| peak < 750));
    let cache = path.join("fine.supple-cache");
    let bytes = std::fs::read(&cache).unwrap();
    let written = std::fs::metadata(path.join("out.glb")).unwrap().len();
    assert!(written > std::fs::metadata(path.join("fine.glb")).unwrap().len());
    // A damaged cache is rebuilt, identical to the byte.
    let mut broken = bytes.clone();
    broken[bytes.len() / 2] ^= 1;
    std::fs::write(&cache, broken).unwrap();
    peak_of(path, &skin);
    assert!(std::fs::read(&cache).unwrap() == bytes);
}

#[test]
fn long_motions_take_no_more_memory() {
    let folder = fine_female();
    let path = folder.path();
    // 600 frames of 55 thousand vertices are 395 MB.
    let skin = [
        "skin", "fine.glb", "--clip", "elbow", "--fps", "240", "-o", "out.pc2",
    ];
    let peak = peak_of(path, &skin);
    println!("peak of a long motion: {peak:?} MB");
    assert!(peak.is_none_or(|peak| peak < 350));
    let written = std::fs::metadata(path.join("out.pc2")).unwrap().len();
    assert!(written > 390_000_000, "{written}");
}
