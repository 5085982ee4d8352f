//! Lists the files of `viewer/dist`, where the page was built, so that they become part of the program.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let dist = PathBuf::from("../../viewer/dist");
    println!("cargo:rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    collect(&dist, &mut files);
    files.sort();
    let mut code = String::from("&[\n");
    for file in &files {
        let (Ok(name), Ok(path)) = (file.strip_prefix(&dist), file.canonicalize()) else {
            continue;
        };
        let name = name.to_string_lossy().replace('\\', "/");
        let _ = writeln!(code, "    ({name:?}, include_bytes!({path:?})),");
        println!("cargo:rerun-if-changed={}", file.display());
    }
    code.push(']');
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    if let Err(error) = std::fs::write(Path::new(&out).join("page.rs"), code) {
        println!("cargo:warning=the page could not be listed: {error}");
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
