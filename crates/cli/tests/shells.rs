//! Kinds of shells on the command line.

use std::path::Path;
use std::process::{Command, Output};

fn supple(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_supple"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn kinds_are_listed_printed_and_set() {
    let folder = tempfile::tempdir().unwrap();
    let listed = supple(folder.path(), &["info", "@male", "--shells"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("0: body#0: flesh, "), "{listed}");
    let draw = |shell: &str| {
        let args = ["picture", "@male", "--clip", "jump", "--frames", "1"];
        let rest = ["--size", "64", "--resolution", "600", "--shell", shell];
        let output = supple(folder.path(), &[&args[..], &rest[..]].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), told)
    };
    let (code, told) = draw("body#1=hair");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("1 hair"), "{told}");
    let (code, told) = draw("cape=hair");
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("info FILE --shells"), "{told}");
    let (code, told) = draw("body#1=stone");
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("\"cloth\""), "{told}");
}
