//! `supple grow`. Accuracy is tested in the libraries.

mod common;

use common::{fail, succeed};

#[test]
fn kilograms_asked_for_are_got_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let said = succeed(
        here,
        &[
            "--json",
            "grow",
            "@female",
            "--fat",
            "+4kg",
            "-o",
            "a.template",
        ],
    );
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    let number = |at: &str| report.pointer(at).and_then(|v| v.as_f64()).unwrap();
    assert!(
        (number("/fat/1") - number("/fat/0") - 4.0).abs() < 0.1,
        "{said}"
    );
    assert!(
        (number("/muscle/1") - number("/muscle/0")).abs() < 0.1,
        "{said}"
    );
    let listed = succeed(here, &["info", "a.template"]);
    assert!(listed.contains("layered template"), "{listed}");
    // A row of steps is a file with a target for each.
    let row = [
        "grow", "@female", "--fat", "-2kg", "--steps", "2", "-o", "row.glb",
    ];
    succeed(here, &row);
    let listed = succeed(here, &["info", "row.glb"]);
    assert!(listed.contains("2 morph targets"), "{listed}");
}

#[test]
fn what_a_body_cannot_bear_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let says = |args: &[&str], wanted: &str| {
        let message = fail(here, &[&["grow"], args].concat());
        assert!(message.contains(wanted), "{args:?}: {message}");
    };
    says(&["@male", "--fat", "-40kg", "-o", "a.template"], "can lose");
    says(&["@male", "-o", "a.template"], "nothing is to change");
    says(
        &["@male", "--fat", "+1kg", "-o", "a.person"],
        "is a template",
    );
    says(&["@male", "--fat", "+1kg", "-o", "a.png"], "a.png");
    std::fs::write(here.join("broken.person"), "glTF").unwrap();
    says(
        &["broken.person", "--fat", "+1kg", "-o", "b.person"],
        "person",
    );
    assert_eq!(
        std::fs::read_dir(here).unwrap().count(),
        1,
        "nothing is written"
    );
}
