//! Checks of output paths before the work starts.

use std::path::Path;

use crate::console::Failure;

const OTHER_FOLDER: &str = "choose another folder with -o";

/// Fails if a file cannot be written. Leaves nothing behind.
pub fn check_file(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        let text = format!("{} is a folder", path.display());
        return Err(Failure::new(text, "-o must be a file"));
    }
    check_folder(path.parent().unwrap_or(Path::new("")))
}

/// Fails if a file to write is one of those that are read, unless the user insists.
pub fn check_keeps(output: &Path, inputs: &[Option<&Path>], force: bool) -> Result<(), Failure> {
    let same = |input: &Path| match (output.canonicalize(), input.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    if force || !inputs.iter().flatten().any(|input| same(input)) {
        return Ok(());
    }
    let text = format!("{} is the file that is read", output.display());
    Err(Failure::new(
        text,
        "choose another name for the output, or add --force to overwrite it",
    ))
}

/// Fails if no files can be written to a folder, which may not exist yet.
pub fn check_folder(folder: &Path) -> Result<(), Failure> {
    let mut there = folder;
    while !there.as_os_str().is_empty() && !there.exists() {
        there = there.parent().unwrap_or(Path::new(""));
    }
    if there.is_file() {
        let text = format!("{} is a file, not a folder", there.display());
        return Err(Failure::new(text, OTHER_FOLDER));
    }
    let probe = there.join(format!(".supple-{}.part", std::process::id()));
    let made = std::fs::File::create(&probe);
    let _ = std::fs::remove_file(&probe);
    let shown = match there.as_os_str().is_empty() {
        true => Path::new("this folder"),
        false => there,
    };
    made.map(drop).map_err(|error| {
        let text = format!("cannot write to {}: {error}", shown.display());
        Failure::new(text, OTHER_FOLDER)
    })
}

/// Fails if a picture's name does not end in .png, or if it cannot be written.
pub fn check_png(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if ending != "png" {
        let name = path.with_extension("png");
        return Err(Failure::new(
            format!(
                "pictures are PNG files, but {} is not named .png",
                path.display()
            ),
            format!("use -o {}", name.display()),
        ));
    }
    check_file(path)
}
