//! Every example is told about in the gallery, and has its picture.

use std::path::{Path, PathBuf};

/// Largest picture that the repository takes [bytes].
const LARGEST: u64 = 300_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names of `examples/*.rs`, sorted.
fn examples() -> Vec<String> {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn every_example_is_shown() {
    let page = std::fs::read_to_string(root().join("docs/gallery.md")).unwrap();
    assert!(!examples().is_empty());
    for name in examples() {
        assert!(
            page.contains(&format!("(gallery/{name}.png)")),
            "docs/gallery.md does not show {name}"
        );
        assert!(
            page.contains(&format!("--example {name}`")),
            "docs/gallery.md does not tell how to run {name}"
        );
        let picture = root().join(format!("docs/gallery/{name}.png"));
        let size = std::fs::metadata(&picture).map_or(0, |data| data.len());
        assert!(
            (1..=LARGEST).contains(&size),
            "{} has {size} bytes",
            picture.display()
        );
    }
}

#[test]
fn every_picture_has_its_example() {
    for file in std::fs::read_dir(root().join("docs/gallery")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            examples().contains(&name),
            "{} belongs to no example",
            path.display()
        );
    }
}
