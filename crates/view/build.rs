//! Embeds the built page, `dist`, into the program.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let dist = PathBuf::from("dist");
    println!("cargo:rerun-if-changed={}", dist.display());
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default());
    let mut files = Vec::new();
    collect(&dist, &mut files);
    files.sort();
    let mut code = String::from("&[\n");
    for (number, file) in files.iter().enumerate() {
        // Copied, so that rebuilding the page during compilation does not remove files.
        let copy = format!("page-{number}");
        let Ok(name) = file.strip_prefix(&dist) else {
            continue;
        };
        if std::fs::copy(file, out.join(&copy)).is_ok() {
            let name = name.to_string_lossy().replace('\\', "/");
            let _ = writeln!(
                code,
                "    ({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{copy}\"))),"
            );
        }
        println!("cargo:rerun-if-changed={}", file.display());
    }
    code.push(']');
    if let Err(error) = std::fs::write(out.join("page.rs"), code) {
        println!("cargo:warning=could not list viewer/dist: {error}");
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
