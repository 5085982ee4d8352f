//! `supple template`, and templates in `supple info` and `supple picture`. Building takes a minute and is tested in the libraries.

mod common;

use common::{fail, succeed, text};

#[test]
fn what_is_missing_is_told_before_the_work_starts() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::create_dir(here.join("empty")).unwrap();
    succeed(here, &["convert", "@male", "body.glb"]);
    let says = |args: &[&str], wanted: &[&str]| {
        let all = [&["template"], args].concat();
        let message = fail(here, &all);
        for word in wanted {
            assert!(
                message.contains(word),
                "{all:?} does not say '{word}': {message}"
            );
        }
    };
    says(&["--skin", "body.glb"], &["sex", "--sex male"]);
    says(&["--skin", "nobody.glb", "--sex", "male"], &["nobody.glb"]);
    says(&["--bones", "nowhere"], &["nowhere"]);
    says(&["--bones", "empty"], &["empty", "femur_l"]);
    says(&["--muscles", "empty"], &["empty", "atlas"]);
    says(&["--muscles", "none.toml"], &["none.toml"]);
    says(&["--picture", "sheet.jpg"], &["sheet.jpg", "PNG"]);
    says(&["-o", "empty"], &["empty is a folder"]);
    std::fs::write(here.join("bad.toml"), "[[muscle]]\nname = 3\n").unwrap();
    says(&["--muscles", "bad.toml"], &["bad.toml", "atlas"]);
    assert!(!here.join("out").exists());
}

#[test]
fn a_skin_without_weights_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["convert", "@male", "body.obj"]);
    let message = fail(
        folder.path(),
        &["template", "--skin", "body.obj", "--sex", "male"],
    );
    assert!(message.contains("weights"), "{message}");
    assert!(message.contains("supple convert @male"), "{message}");
}

#[test]
fn templates_are_listed_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let bytes = supple::embedded::template_bytes(supple::embedded::Body::Male);
    std::fs::write(here.join("man.template"), bytes).unwrap();
    let listed = succeed(here, &["info", "man.template"]);
    for word in ["layered template", "178", "upper legs", "Stanford"] {
        assert!(listed.contains(word), "no '{word}' in {listed}");
    }
    let json = succeed(here, &["--json", "info", "man.template"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["muscles"].as_u64().unwrap() >= 100, "{json}");
    succeed(
        here,
        &[
            "picture",
            "@male",
            "--layers",
            "--size",
            "48",
            "-o",
            "layers.png",
        ],
    );
    assert!(here.join("layers.png").exists());
    let message = fail(here, &["picture", "none.template", "--layers"]);
    assert!(message.contains("none.template"), "{message}");
}

#[test]
fn a_damaged_template_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = supple::embedded::template_bytes(supple::embedded::Body::Female).to_vec();
    bytes[1000] ^= 1;
    std::fs::write(folder.path().join("bad.template"), &bytes).unwrap();
    let message = fail(folder.path(), &["info", "bad.template"]);
    assert!(message.contains("checksum"), "{message}");
    let output = common::supple(folder.path(), &["picture", "bad.template"]);
    assert!(text(&output.stderr).contains("checksum"));
}

#[test]
fn layers_move_and_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let size = |flag: &str| {
        let rest = "skin @female -o a.pc2 --clip jump --to 0.1 --resolution 800 --backend cpu";
        let mut args: Vec<&str> = rest.split(' ').collect();
        args.push(flag);
        succeed(here, &args);
        std::fs::metadata(here.join("a.pc2")).unwrap().len()
    };
    let (skin, all) = (size("--layers"), size("--bake-layers"));
    // Muscles and bones have several times the vertices of the skin.
    assert!(all > 3 * skin, "{all} {skin}");
    fail(here, &["skin", "nobody.template", "-o", "a.pc2"]);
}
