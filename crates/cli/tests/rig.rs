//! Skeletons from other files, motions made for them, and `supple rig`.

mod common;

use std::path::Path;

use common::{fail, succeed};

/// Writes a beam of 0.2 × 2 × 0.2 with a ring of vertices every 0.1, its skeleton of three joints, and motions of it.
fn beam(folder: &Path) {
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let rings = 21;
    let mut text = format!("OFF\n{} {} 0\n", 4 * rings, 8 * (rings - 1) + 4);
    for ring in 0..rings {
        for (x, z) in [(-1, -1), (1, -1), (1, 1), (-1, 1)] {
            let (x, z) = (0.1 * f64::from(x), 0.1 * f64::from(z));
            text.push_str(&format!("{x} {} {z}\n", 0.1 * f64::from(ring)));
        }
    }
    for ring in 0..rings - 1 {
        for side in 0..4 {
            let (a, b) = (4 * ring + side, 4 * ring + (side + 1) % 4);
            text.push_str(&format!("3 {a} {} {b}\n3 {b} {} {}\n", a + 4, a + 4, b + 4));
        }
    }
    let top = 4 * (rings - 1);
    text.push_str("3 0 1 2\n3 0 2 3\n");
    text.push_str(&format!("3 {top} {} {}\n", top + 2, top + 1));
    text.push_str(&format!("3 {top} {} {}\n", top + 3, top + 2));
    put("beam.off", &text);
    put("beam.skel", "3\n0 0.1 0 a root\n0 1 0 b a\n0 1.9 0 c b\n");
    put(
        "all.anim",
        "2 3\n0\n1 0 0\n1 0 0\n1 0 0\n0 0 0\n1\n1 0 0\n1 0 0\n1 0 0\n0 0.8 0\n",
    );
    put(
        "two.anim",
        "2 2\n0\n1 0 0\n1 0 0\n0 0\n1\n1 0 0\n1 0 0\n0 0.8\n",
    );
    put("four.anim", "1 4\n0\n1 0 0\n1 0 0\n1 0 0\n1 0 0\n0 0 0 0\n");
    put(
        "aside.skel",
        "3\n0 0.1 0 a root\n0.9 0.1 0 b a\n1.8 0.1 0 c b\n",
    );
}

const SKIN: [&str; 10] = [
    "skin", "beam.off", "--method", "lbs", "--fps", "2", "--unit", "m", "--up", "y",
];

#[test]
fn a_motion_made_for_the_skeleton_plays_joint_by_joint() {
    let folder = tempfile::tempdir().unwrap();
    beam(folder.path());
    let skin = |motion: &str, out: &str| {
        let rest = ["--skeleton", "beam.skel", "--motion", motion, "-o", out];
        succeed(folder.path(), &[&SKIN[..], &rest].concat());
    };
    skin("all.anim", "all.obj");
    skin("two.anim", "two.obj");
    let last = |stem: &str| {
        let frames = std::fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<String> = frames
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with(stem) && name.ends_with(".obj"))
            .collect();
        names.sort();
        let text = std::fs::read_to_string(folder.path().join(names.last().unwrap())).unwrap();
        let mut lines = text.lines().filter(|line| line.starts_with("v "));
        lines.next_back().unwrap().to_owned()
    };
    // Fewer joints are the first ones, so both bend the second joint: the top leans by sin 0.8 of about one metre.
    assert_eq!(last("all"), last("two"));
    let z: f32 = last("all").split(' ').nth(3).unwrap().parse().unwrap();
    assert!((0.5..1.0).contains(&z), "{z}");
    // The same motion in a GLB plays on the same joint names, though this is no humanoid.
    skin("all.anim", "all.glb");
    skin("all.glb", "again.obj");
    assert_eq!(last("again"), last("all"));
    let rest = [
        "--skeleton",
        "beam.skel",
        "--motion",
        "four.anim",
        "-o",
        "x.glb",
    ];
    let message = fail(folder.path(), &[&SKIN[..], &rest].concat());
    assert!(message.contains("4 joints"), "{message}");
}

#[test]
fn a_skeleton_beside_the_mesh_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    beam(folder.path());
    let rest = [
        "--skeleton",
        "aside.skel",
        "--motion",
        "all.anim",
        "-o",
        "x.glb",
    ];
    let message = fail(folder.path(), &[&SKIN[..], &rest].concat());
    assert!(message.contains("another pose"), "{message}");
}

/// Arguments that rig the beam into `a.glb`.
fn rig<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [
        &["rig", "beam.off", "--unit", "m", "--up", "y", "-o", "a.glb"],
        rest,
    ]
    .concat()
}

#[test]
fn rig_fits_marks_and_takes_templates() {
    let folder = tempfile::tempdir().unwrap();
    beam(folder.path());
    let message = fail(folder.path(), &rig(&[]));
    assert!(message.contains("wrist.L"), "{message}");
    succeed(folder.path(), &rig(&["--template", "quadruped"]));
    let told = succeed(folder.path(), &["info", "a.glb", "--joints"]);
    assert!(told.contains("leftHindLowerLeg"), "{told}");
    let marks = [
        "--marker",
        "wrist.L=0.08,1.2,0",
        "--marker",
        "wrist.R=-0.08,1.2,0",
        "--marker",
        "knee.L=0.05,0.5,0",
        "--marker",
        "groin=0,0.9,0",
        "--marker",
        "chin=0,1.7,0",
    ];
    succeed(folder.path(), &rig(&marks));
    let told = succeed(folder.path(), &["info", "a.glb", "--joints"]);
    assert!(told.contains("rightLowerLeg"), "{told}");
}
