//! The real binary, in a temporary folder, on good and bad input.

mod common;

use common::{fail, succeed, supple, text};

#[test]
fn demo_writes_a_character_and_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let told = succeed(folder.path(), &["demo"]);
    assert!(told.contains("What to try next"), "{told}");
    let glb = folder.path().join("out/demo.glb");
    assert!(glb.metadata().unwrap().len() > 500_000);
    let png = std::fs::read(folder.path().join("out/demo.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    let json = succeed(folder.path(), &["info", "out/demo.glb", "--json"]);
    let info: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(info["vertices"], 13718);
    assert_eq!(info["bones"], 104);
    assert_eq!(info["clips"][0]["name"], "squat");
    assert!(info["parts"][0]["morphs"].as_u64().unwrap() > 0);
}

#[test]
fn every_bake_is_written_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    for (file, bake) in [
        ("a.glb", "correctives"),
        ("b.glb", "morphs"),
        ("c.pc2", "pc2"),
        ("d.mdd", "mdd"),
        ("e.obj", "obj"),
        ("f.ply", "ply"),
    ] {
        let args = [
            "skin", "@male", "--clip", "elbow", "--method", "dqs", "--fps", "5", "--to", "1",
            "--json",
        ];
        let json = succeed(
            folder.path(),
            &[&args[..], &["--bake", bake, "-o", file]].concat(),
        );
        let written: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(written["frames"], 6, "{file}");
        assert!(written["max_error_mm"].as_f64().unwrap() <= 1.0, "{json}");
        let path = folder.path().join(written["path"].as_str().unwrap());
        assert!(path.exists(), "{path:?}");
    }
    assert!(folder.path().join("e_0005.obj").exists());
}

#[test]
fn converts_between_formats_and_back() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["glb", "obj", "ply", "off", "stl"] {
        let file = format!("body.{ending}");
        succeed(folder.path(), &["convert", "@female", &file]);
        let json = succeed(
            folder.path(),
            &["info", &file, "--json", "--unit", "m", "--up", "y"],
        );
        let info: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(info["triangles"], 27420, "{ending}");
        assert_eq!(info["welded_vertices"], 13718, "{ending}");
    }
    succeed(folder.path(), &["convert", "@female", "bones.skel"]);
    let told = succeed(
        folder.path(),
        &[
            "info",
            "body.off",
            "--skeleton",
            "bones.skel",
            "--unit",
            "m",
            "--up",
            "y",
        ],
    );
    assert!(told.contains("104 bones"), "{told}");
    let args = [
        "skin",
        "body.off",
        "--skeleton",
        "bones.skel",
        "--unit",
        "m",
        "--up",
        "y",
        "--clip",
        "knee",
    ];
    let told = succeed(
        folder.path(),
        &[&args[..], &["--fps", "4", "-o", "auto.glb"]].concat(),
    );
    assert!(told.contains("computed weights"), "{told}");
}

#[test]
fn pictures_are_drawn_of_poses_and_of_methods() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "picture", "@male", "--clip", "twist", "--frames", "2", "--size", "64",
    ];
    succeed(
        folder.path(),
        &[&args[..], &["--bones", "-o", "a.png"]].concat(),
    );
    succeed(
        folder.path(),
        &[&args[..], &["--compare", "methods", "-o", "b.png"]].concat(),
    );
    succeed(
        folder.path(),
        &[
            "picture", "@male", "--size", "64", "--view", "side", "-o", "c.png",
        ],
    );
    for file in ["a.png", "b.png", "c.png"] {
        assert!(
            std::fs::read(folder.path().join(file))
                .unwrap()
                .starts_with(b"\x89PNG")
        );
    }
}

#[test]
fn errors_are_one_readable_block_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("empty.glb", b"");
    write("noise.glb", b"glTF\x02\0\0\0garbage");
    write("text.obj", b"v 0 0 0\nf 1 2 9\n");
    write("nan.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write("mesh.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (args, expected) in [
        (&["info", "nowhere.glb"][..], "nowhere.glb"),
        (&["info", "empty.glb"], "empty.glb"),
        (&["info", "noise.glb"], "noise.glb"),
        (&["info", "text.obj"], "text.obj"),
        (&["info", "nan.obj"], "finite"),
        (&["info", "."], "."),
        (&["info", "@dragon"], "@male"),
        (&["skin", "mesh.obj", "-o", "out.glb"], "skeleton"),
        (
            &["skin", "@male", "--clip", "fly", "-o", "out.glb"],
            "elbow",
        ),
        (
            &["skin", "@male", "--motion", "mesh.obj", "-o", "out.glb"],
            "no motion",
        ),
        (
            &["skin", "@male", "--from", "5", "--to", "1", "-o", "out.glb"],
            "seconds",
        ),
        (&["skin", "@male", "-o", "out.docx"], "docx"),
        (&["convert", "@male", "out.docx"], "docx"),
    ] {
        let message = fail(folder.path(), args);
        assert!(message.contains(expected), "{args:?}: {message}");
    }
    assert!(!folder.path().join("out.glb").exists());
    let output = supple(folder.path(), &["info", "nowhere.glb", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["error"].as_str().unwrap().contains("nowhere.glb"));
}

#[test]
fn settings_are_written_read_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["convert", "@male", "hero.glb"]);
    succeed(folder.path(), &["init", "hero.glb"]);
    let path = folder.path().join("hero.supple.toml");
    let settings = std::fs::read_to_string(&path).unwrap();
    assert!(
        settings.contains("[joint_radii]") && settings.contains("stiffness"),
        "{settings}"
    );
    assert!(fail(folder.path(), &["init", "hero.glb"]).contains("--force"));
    let args = [
        "skin", "hero.glb", "--clip", "elbow", "--fps", "5", "--to", "0.4", "--json", "-o",
    ];
    succeed(folder.path(), &[&args[..], &["soft.pc2"]].concat());
    let stiff = settings.replace("stiffness = 2500", "stiffness = 250000");
    assert_ne!(stiff, settings);
    std::fs::write(&path, stiff).unwrap();
    succeed(folder.path(), &[&args[..], &["stiff.pc2"]].concat());
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_ne!(
        read("soft.pc2"),
        read("stiff.pc2"),
        "the settings beside the file are used"
    );
    std::fs::write(&path, "[tissue]\nstifness = 3\n").unwrap();
    let message = fail(folder.path(), &["skin", "hero.glb", "-o", "bad.pc2"]);
    assert!(
        message.contains("hero.supple.toml") && message.contains("stifness"),
        "{message}"
    );
}

#[test]
fn speaks_to_shells_and_man() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(succeed(folder.path(), &["completions", shell]).contains("supple"));
    }
    assert!(succeed(folder.path(), &["man"]).contains(".TH"));
    succeed(folder.path(), &["man", "pages"]);
    assert!(folder.path().join("pages/supple-skin.1").exists());
}

#[test]
fn quiet_is_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let output = supple(folder.path(), &["-q", "convert", "@male", "a.obj"]);
    assert!(output.status.success());
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
}

const TOUCHING: [&str; 15] = [
    "skin",
    "@male",
    "--clip",
    "elbow",
    "--fps",
    "10",
    "--to",
    "1",
    "--contact",
    "global",
    "--ground",
    "--resolution",
    "2500",
    "-o",
    "a.pc2",
];

#[test]
fn contact_is_simulated_once_unless_a_comparison_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| -> serde_json::Value {
        let args: Vec<&str> = TOUCHING.iter().chain(more).copied().collect();
        serde_json::from_str(&succeed(folder.path(), &args)).unwrap()
    };
    let once = run(&["--json"]);
    let contact = &once["contact"];
    assert_eq!(contact["frames"].as_array().unwrap().len(), 11, "{once}");
    assert!(contact["after"]["vertices"].is_u64(), "{once}");
    assert!(contact["before"].is_null(), "{once}");
    assert!(contact["frames"][5]["before"].is_null(), "{once}");

    let compared = run(&["--json", "--compare"]);
    let contact = &compared["contact"];
    assert_eq!(contact["after"], once["contact"]["after"]);
    let count = |when: &str| contact[when]["vertices"].as_u64().unwrap();
    assert!(
        count("before") > 0 && 4 * count("after") <= count("before"),
        "{compared}"
    );
}

/// The size of the model decides on every machine, and the message is always the same.
#[test]
fn the_backend_is_chosen_by_size_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let short: Vec<&str> = TOUCHING
        .iter()
        .map(|&a| if a == "1" { "0.1" } else { a })
        .collect();
    let output = supple(folder.path(), &short);
    let said = text(&output.stderr);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("stepping on"))
        .collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(
        lines[0].starts_with("note: stepping on the CPU: "),
        "{said}"
    );
    assert!(
        lines[0].ends_with("fewer than the 10000 from which a GPU is used"),
        "{said}"
    );
    for _ in 0..2 {
        let args: Vec<&str> = short.iter().chain(&["--json"]).copied().collect();
        let json: serde_json::Value = serde_json::from_str(&succeed(folder.path(), &args)).unwrap();
        assert_eq!(json["backend"]["name"], "cpu");
        let reason = json["backend"]["reason"].as_str().unwrap();
        assert_eq!(format!("note: {reason}"), lines[0]);
    }
}

#[test]
fn scenes_are_played_and_bad_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let coarse = "[detail]\nresolution = 1500\n";
    write("coarse.toml", coarse);
    let one = "[[character]]\nfile = \"@male\"\nclip = \"elbow\"\nsettings = \"coarse.toml\"\n";
    let other = one.replace("@male", "@female") + "position = [0.0, 0.0, 1.0]\nturn = 180.0\n";
    let ball =
        "[[collider]]\nshape = \"sphere\"\nradius = 0.1\nmass = 1.0\nposition = [0.0, 2.2, 0.0]\n";
    write(
        "scene.toml",
        &format!("seconds = 0.2\nfps = 10.0\nground = true\n{one}{other}{ball}"),
    );
    let json = succeed(
        folder.path(),
        &["scene", "scene.toml", "--json", "--frames", "2"],
    );
    let played: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(played["inside"].as_array().unwrap().len(), 3, "{json}");
    for file in ["out/male.glb", "out/female.glb", "out/scene.png"] {
        assert!(
            folder.path().join(file).metadata().unwrap().len() > 10_000,
            "{file}"
        );
    }
    for (text, said) in [
        ("", "no [[character]]"),
        ("fps = 0.0\n[[character]]\nfile = \"@male\"", "fps"),
        ("[[character]]\nfile = \"none.glb\"", "none.glb"),
        (
            "[[character]]\nfile = \"@male\"\nclip = \"fly\"",
            "no clip 'fly'",
        ),
        (
            "[[character]]\nfile = \"@male\"\n[[collider]]\nshape = \"box\"",
            "a box needs `size`",
        ),
        (
            "[[character]]\nfile = \"@male\"\n[[collider]]\nradius = 1.0\njoint = \"a\"",
            "joint",
        ),
        ("nonsense", "nonsense"),
    ] {
        write("bad.toml", text);
        let message = fail(folder.path(), &["scene", "bad.toml"]);
        assert!(message.contains(said), "{text}: {message}");
    }
    write(
        "bad.toml",
        "[[collider]]\nshape = \"mesh\"\nfile = \"chair.obj\"\n",
    );
    let args = ["skin", "@male", "-o", "a.glb", "--settings", "bad.toml"];
    assert!(fail(folder.path(), &args).contains("chair.obj"));
}

#[test]
fn a_scan_moves_without_a_skeleton_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["convert", "@female", "scan.obj"]);
    let told = succeed(folder.path(), &["info", "scan.obj"]);
    assert!(told.contains("a humanoid skeleton is fitted"), "{told}");
    let args = ["skin", "scan.obj", "--to", "0.2", "-o", "scan.glb"];
    let output = supple(folder.path(), &args);
    let notes = text(&output.stderr);
    assert!(output.status.success(), "{notes}");
    assert!(
        notes.contains("fitted") && notes.contains("squat"),
        "{notes}"
    );
    assert!(!notes.contains("continuing on the CPU"), "{notes}");
    let json = succeed(folder.path(), &["info", "scan.glb", "--json"]);
    let info: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(info["vertices"], 13718);
    assert!(info["humanoid_bones"].as_u64().unwrap() > 15, "{json}");
    let args = [
        "skin",
        "scan.obj",
        "--skeleton",
        "@female",
        "--to",
        "0.1",
        "-o",
        "b.glb",
    ];
    succeed(folder.path(), &args);
    // The motion in the file is the one in a point cache.
    let squat = ["--to", "0.2", "--resolution", "1500"];
    for (file, args, out) in [
        ("scan.obj", &squat[..], "a.glb"),
        ("scan.obj", &squat[..], "a.pc2"),
        ("a.glb", &["--method", "lbs"], "b.pc2"),
    ] {
        let args = [&["skin", file, "-o", out][..], args].concat();
        succeed(folder.path(), &args);
    }
    let points = |name: &str| -> Vec<f32> {
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        let numbers = bytes[32..].chunks_exact(4);
        numbers
            .map(|n| f32::from_le_bytes(n.try_into().unwrap()))
            .collect()
    };
    let (cache, played) = (points("a.pc2"), points("b.pc2"));
    assert_eq!(cache.len(), played.len());
    let off = cache.iter().zip(&played).map(|(a, b)| (a - b).abs());
    let off = off.fold(0.0, f32::max);
    assert!(off < 1.1e-3, "{off} m");
    let told = succeed(folder.path(), &["skin", "--help"]);
    assert!(!told.contains("\\["), "{told}");
}

#[test]
fn places_that_cannot_be_written_are_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("taken"), "").unwrap();
    std::fs::create_dir(folder.path().join("out.glb")).unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["skin", "@male", "-o", "taken/out.glb"], "is a file"),
        (&["skin", "@male", "-o", "out.glb"], "is a folder"),
        (&["skin", "@male", "-o", "out"], "extension"),
        (&["picture", "@male", "-o", "a.jpg"], "-o a.png"),
        (&["demo", "-o", "taken"], "is a file"),
    ];
    for (args, expected) in cases {
        let message = fail(folder.path(), args);
        assert!(message.contains(expected), "{message}");
    }
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "nothing is left behind");
    // A missing folder is created.
    succeed(
        folder.path(),
        &["picture", "@male", "--size", "64", "-o", "new/a.png"],
    );
    assert!(folder.path().join("new/a.png").is_file());
}

#[test]
fn colliders_are_in_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let ball = "[[collider]]\nshape = \"sphere\"\nradius = 0.2\nposition = [0.6, 1.7, 0.0]\n";
    std::fs::write(folder.path().join("ball.toml"), ball).unwrap();
    let common = ["picture", "@male", "--clip", "elbow", "--to", "0.1"];
    let small = ["--frames", "1", "--size", "96", "--view", "front"];
    let draw = |name: &str, more: &[&str]| {
        let args = [&common[..], &small[..], &["-o", name], more].concat();
        succeed(folder.path(), &args);
        std::fs::read(folder.path().join(name)).unwrap()
    };
    let without = draw("without.png", &[]);
    let with = draw("with.png", &["--settings", "ball.toml"]);
    assert_ne!(without, with);
}
