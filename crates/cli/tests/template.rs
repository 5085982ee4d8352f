//! `supple template`, and templates in `supple info` and `supple picture`.

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

/// Bones and muscles of somebody else: everything that must hold of the embedded templates holds of theirs.
#[test]
fn bodyparts3d_becomes_a_template() {
    let data =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/anatomy");
    if !data.exists() {
        let required = std::env::var_os("SUPPLE_REQUIRE_DATA").is_some();
        assert!(!required, "{} is missing", data.display());
        println!("skipped: {} is missing", data.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| data.join(name).to_str().unwrap().to_owned();
    let (bones, muscles) = (path("bones"), path("muscles"));
    let args = [
        "template",
        "--bones",
        &bones,
        "--muscles",
        &muscles,
        "-o",
        "other.template",
        "--report",
        "report.json",
    ];
    succeed(folder.path(), &args);
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let number = |at: &str| {
        report
            .pointer(at)
            .and_then(|v| v.as_f64())
            .unwrap_or_else(|| panic!("no {at}"))
    };
    for (region, outside) in report["placement"]["outside"].as_object().unwrap() {
        let count = |key: &str| outside[key].as_f64().unwrap();
        let share = if region == "hands" || region == "feet" {
            0.005
        } else {
            0.0
        };
        assert!(
            count("outside") <= share * count("vertices") && count("farthest") <= 0.0025,
            "{region}: {outside}"
        );
    }
    for (joint, gap) in report["placement"]["gaps"].as_object().unwrap() {
        assert!(gap.as_f64().unwrap() <= 0.006, "{joint} gapes by {gap} m");
    }
    assert_eq!(number("/wrap/genus"), 0.0);
    for count in [
        "muscle_outside",
        "skeleton_outside",
        "inverted_fat",
        "inverted_muscle",
    ] {
        assert_eq!(number(&format!("/layers/{count}")), 0.0, "{count}");
    }
    assert!(
        number("/bones_in_surface/inside") >= 0.99 && number("/bones_in_surface/farthest") <= 0.003
    );
    assert!(
        number("/wrap_in_surface/inside") >= 0.97 && number("/wrap_in_surface/farthest") <= 0.003
    );
    assert!(number("/layers/alignment/mean") <= 0.05 && number("/layers/alignment/p95") <= 0.2);
    // Hardly any muscle is lost, and what there is has the volume of a man's.
    assert!(report["muscle_notes"]["outside"].as_array().unwrap().len() < 20);
    assert!((15.0..35.0).contains(&number("/muscles/volume_l")));
    let listed = succeed(folder.path(), &["info", "other.template"]);
    assert!(listed.contains("layered template"), "{listed}");
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
