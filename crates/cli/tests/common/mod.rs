//! Runs the real binary.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in a folder.
pub fn supple(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_supple"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// What a stream said.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the program, which has to succeed; its output.
#[track_caller]
pub fn succeed(folder: &Path, args: &[&str]) -> String {
    let output = supple(folder, args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Runs the program, which has to fail with a readable message; the message.
#[track_caller]
pub fn fail(folder: &Path, args: &[&str]) -> String {
    let output = supple(folder, args);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {message}");
    assert!(message.starts_with("error: "), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    message
}
