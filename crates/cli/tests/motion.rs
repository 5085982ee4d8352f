//! Choosing, holding, baking and picturing motions with the real binary.

mod common;

use std::path::Path;

use common::{fail, succeed, supple, text};
use serde_json::Value;

fn json(folder: &Path, args: &[&str]) -> Value {
    let told = succeed(folder, &[args, &["--json"]].concat());
    serde_json::from_str(&told).unwrap()
}

/// Skins an embedded body without simulation, at ten frames per second.
fn quick<'a>(method: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let common = ["skin", "@male", "--fps", "10", "--method", method];
    [&common[..], more].concat()
}

#[test]
fn the_name_of_a_bake_fits_its_format() {
    let folder = tempfile::tempdir().unwrap();
    for (bake, file, better) in [
        ("pc2", "x.glb", "x.pc2"),
        ("mdd", "x.pc2", "x.mdd"),
        ("obj", "x.glb", "x.obj"),
        ("ply", "x", "x.ply"),
        ("morphs", "x.pc2", "x.glb"),
        ("correctives", "x.mdd", "x.glb"),
    ] {
        let args = quick("lbs", &["--bake", bake, "-o", file]);
        let message = fail(folder.path(), &args);
        assert!(message.contains(better), "{bake} {file}: {message}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_bound_that_is_not_met_is_an_error_or_a_point_cache() {
    let folder = tempfile::tempdir().unwrap();
    let has = |name: &str| folder.path().join(name).exists();
    // No file in single precision keeps a nanometre.
    let to = |file| {
        quick(
            "dqs",
            &[
                "--clip", "squat", "--to", "0.5", "--bound", "0.000001", "-o", file,
            ],
        )
    };
    let explicit = [&to("a.glb")[..], &["--bake", "correctives"]].concat();
    let message = fail(folder.path(), &explicit);
    assert!(
        message.contains("a.pc2") && message.contains("--allow-error"),
        "{message}"
    );
    assert!(!has("a.glb") && !has("a.pc2"));
    let output = supple(folder.path(), &to("b.glb"));
    let told = text(&output.stderr);
    assert!(
        output.status.success() && told.contains("instead of b.glb"),
        "{told}"
    );
    assert!(!has("b.glb") && has("b.pc2"));
    let written = json(
        folder.path(),
        &[&to("c.glb")[..], &["--allow-error"]].concat(),
    );
    assert_eq!(
        (has("c.glb"), &written["bound_met"]),
        (true, &Value::Bool(false))
    );
}

#[test]
fn a_clip_of_a_motion_file_is_chosen_by_name_or_number() {
    let folder = tempfile::tempdir().unwrap();
    let first = quick(
        "lbs",
        &["--clip", "elbow", "--to", "0.4", "-o", "elbow.glb"],
    );
    succeed(folder.path(), &first);
    let both = [
        "skin",
        "elbow.glb",
        "--method",
        "lbs",
        "--clip",
        "knee",
        "--to",
        "0.4",
    ];
    succeed(folder.path(), &[&both[..], &["-o", "both.glb"]].concat());
    let skin = ["skin", "@female", "--method", "lbs", "--motion", "both.glb"];
    for (clip, name) in [("elbow", "elbow"), ("KNEE", "knee"), ("1", "elbow")] {
        let args = [&skin[..], &["--clip", clip, "-o", "out.glb"]].concat();
        succeed(folder.path(), &args);
        let info = json(folder.path(), &["info", "out.glb"]);
        assert_eq!(info["clips"][0]["name"], name, "{clip}");
    }
    let args = [&skin[..], &["--clip", "fly", "-o", "out.glb"]].concat();
    let message = fail(folder.path(), &args);
    assert!(message.contains("0 'knee', 1 'elbow'"), "{message}");
}

/// A motion of the character's own skeleton is played as it is, whatever its file rests in, and the program says so.
#[test]
fn the_way_of_a_motion_is_said_and_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let short = ["--clip", "squat", "--to", "0.3"];
    let own = quick("lbs", &[&short[..], &["-o", "own.glb"]].concat());
    succeed(folder.path(), &own);
    let said = |more: &[&str]| {
        let same = quick("lbs", &["--motion", "own.glb", "-o", "again.pc2"]);
        text(&supple(folder.path(), &[&same[..], more].concat()).stderr)
    };
    assert!(said(&[]).contains("played joint by joint"), "{}", said(&[]));
    let told = said(&["--retarget"]);
    assert!(told.contains("is retargeted"), "{told}");
    let message =
        text(&supple(folder.path(), &quick("lbs", &["--retarget", "-o", "x.pc2"])).stderr);
    assert!(message.contains("--motion"), "{message}");
}

/// Blender writes the name of the armature before that of the clip.
#[test]
fn clips_are_found_behind_a_separator() {
    let folder = tempfile::tempdir().unwrap();
    let own = quick("lbs", &["--clip", "elbow", "--to", "0.3", "-o", "own.glb"]);
    succeed(folder.path(), &own);
    let path = folder.path().join("own.glb");
    let bytes = std::fs::read(&path).unwrap();
    // A name of the same length keeps all offsets.
    let find = b"\"name\":\"elbow\"";
    let at = bytes.windows(find.len()).position(|w| w == find).unwrap();
    let mut renamed = bytes.clone();
    renamed[at..at + find.len()].copy_from_slice(b"\"name\":\"A|Run\"");
    std::fs::write(&path, renamed).unwrap();
    for name in ["Run", "run", "A|Run"] {
        let args = [
            "skin", "own.glb", "--method", "lbs", "--clip", name, "-o", "out.pc2",
        ];
        succeed(folder.path(), &args);
    }
    let args = ["skin", "own.glb", "--clip", "un", "-o", "out.pc2"];
    assert!(fail(folder.path(), &args).contains("A|Run"));
}

/// Who is no person hears which clips it has.
#[test]
fn an_animal_is_told_its_clips() {
    let folder = tempfile::tempdir().unwrap();
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/characters/Fox.glb");
    if !root.is_file() {
        assert!(
            std::env::var_os("CI").is_none(),
            "../shared/data is required in CI"
        );
        return;
    }
    let fox = root.to_str().unwrap();
    let message = fail(
        folder.path(),
        &["skin", fox, "--quiet", "--clip", "squat", "-o", "x.glb"],
    );
    for word in ["for people", "Survey", "Walk", "Run", "--clip NAME"] {
        assert!(message.contains(word), "{word}: {message}");
    }
}

/// The file that is read is overwritten only if the user insists.
#[test]
fn the_input_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["convert", "@male", "own.glb"]);
    let before = std::fs::read(folder.path().join("own.glb")).unwrap();
    for args in [
        &[
            "skin",
            "own.glb",
            "--clip",
            "elbow",
            "--method",
            "lbs",
            "-o",
            "./own.glb",
        ][..],
        &["convert", "own.glb", "own.glb"],
        &["rig", "own.glb", "-o", "own.glb"],
    ] {
        let message = fail(folder.path(), args);
        assert!(message.contains("--force"), "{message}");
        assert_eq!(
            std::fs::read(folder.path().join("own.glb")).unwrap(),
            before
        );
    }
    succeed(folder.path(), &["convert", "own.glb", "own.glb", "--force"]);
}

/// The bound of correctives follows the size of the character.
#[test]
fn the_default_bound_is_relative_to_size() {
    let folder = tempfile::tempdir().unwrap();
    let bound = |unit: &str| {
        let told = quick(
            "dqs",
            &[
                "--clip", "elbow", "--to", "0.2", "--unit", unit, "-o", "x.glb",
            ],
        );
        let args: Vec<&str> = told
            .into_iter()
            .map(|w| if w == "@male" { "own.obj" } else { w })
            .collect();
        json(folder.path(), &args)["bound_mm"].as_f64().unwrap()
    };
    succeed(folder.path(), &["convert", "@male", "own.obj"]);
    let (one, half) = (bound("1"), bound("0.5"));
    assert!((one - 1.0).abs() < 0.15, "{one}");
    assert!((half - 0.5 * one).abs() < 1e-3 * one, "{half}");
}

#[test]
fn the_last_pose_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let clip = [
        "--clip", "elbow", "--to", "0.4", "--hold", "0.6", "-o", "h.obj",
    ];
    let written = json(folder.path(), &quick("lbs", &clip));
    assert_eq!(written["frames"], 11);
    let frame = |k: usize| std::fs::read(folder.path().join(format!("h_{k:04}.obj"))).unwrap();
    assert_ne!(frame(3), frame(4));
    assert_eq!(frame(4), frame(10));
}

#[test]
fn settings_beyond_reason_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hero.toml");
    std::fs::write(file, "[solver]\niterations = 100000000\n").unwrap();
    let args = ["skin", "@male", "--settings", "hero.toml", "-o", "a.glb"];
    let message = fail(folder.path(), &args);
    assert!(
        message.contains("iterations") && message.contains("1000"),
        "{message}"
    );
}

#[test]
fn pictures_focus_on_a_joint_and_zoom() {
    let folder = tempfile::tempdir().unwrap();
    let draw = |more: &[&str]| {
        let args = ["picture", "@male", "--size", "64", "-o", "a.png"];
        succeed(folder.path(), &[&args[..], more].concat());
        std::fs::read(folder.path().join("a.png")).unwrap()
    };
    let whole = draw(&[]);
    let knee = draw(&["--focus", "knee.L"]);
    let closer = draw(&["--focus", "knee.L", "--zoom", "8"]);
    assert!(whole != knee && knee != closer);
    assert_eq!(knee, draw(&["--focus", "lowerleg01.L", "--zoom", "4"]));
    assert_ne!(knee, draw(&["--focus", "knee.R"]));
    assert_ne!(whole, draw(&["--zoom", "2"]));
    let message = fail(folder.path(), &["picture", "@male", "--focus", "tail"]);
    assert!(
        message.contains("`tail`") && message.contains("knee.L"),
        "{message}"
    );
    let huge = [
        "picture", "@male", "--clip", "elbow", "--frames", "64", "--size", "4096",
    ];
    assert!(fail(folder.path(), &huge).contains("million pixels"));
}

#[test]
fn a_hug_takes_two() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("coarse.toml", "[detail]\nresolution = 1500\n");
    let body = |file: &str| {
        format!("[[character]]\nfile = \"{file}\"\nclip = \"hug\"\nsettings = \"coarse.toml\"\n")
    };
    write("one.toml", &body("@male"));
    let message = fail(folder.path(), &["scene", "one.toml"]);
    assert!(message.contains("a hug takes two"), "{message}");
    let two = format!(
        "fps = 10.0\nseconds = 0.1\n{}{}",
        body("@male"),
        body("@female")
    );
    write("two.toml", &two);
    let played = json(folder.path(), &["scene", "two.toml", "--frames", "1"]);
    assert_eq!(played["inside"].as_array().unwrap().len(), 2);
}
