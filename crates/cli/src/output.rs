//! Places to write to, looked at before the work is done.

use std::path::Path;

use crate::console::Failure;

const ELSEWHERE: &str = "-o names another place";

/// Fails where a file could not be written later; leaves nothing behind.
pub fn check_file(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        let text = format!("{} is a folder", path.display());
        return Err(Failure::new(text, "-o names a file"));
    }
    check_folder(path.parent().unwrap_or(Path::new("")))
}

/// The same for a folder that files go to, whether it is there or will be made.
pub fn check_folder(folder: &Path) -> Result<(), Failure> {
    let mut there = folder;
    while !there.as_os_str().is_empty() && !there.exists() {
        there = there.parent().unwrap_or(Path::new(""));
    }
    if there.is_file() {
        let text = format!("{} is a file, not a folder", there.display());
        return Err(Failure::new(text, ELSEWHERE));
    }
    let probe = there.join(format!(".supple-{}.part", std::process::id()));
    let made = std::fs::File::create(&probe);
    let _ = std::fs::remove_file(&probe);
    let shown = match there.as_os_str().is_empty() {
        true => Path::new("this folder"),
        false => there,
    };
    made.map(drop).map_err(|error| {
        let text = format!("nothing can be written to {}: {error}", shown.display());
        Failure::new(text, ELSEWHERE)
    })
}

/// Fails where a picture is to be something else than a PNG.
pub fn check_png(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if ending != "png" {
        let name = path.with_extension("png");
        return Err(Failure::new(
            format!("{} would be a PNG", path.display()),
            format!("-o {}", name.display()),
        ));
    }
    check_file(path)
}
