//! Invalid user files: each gives a typed error or a problem message, never a panic.

use supple_rig::Character;
use supple_rig::character::Severity;
use supple_rig::formats::{FormatError, ReadOptions, load_bytes};
use supple_rig::inspect::inspect;

fn load(name: &str, bytes: &[u8]) -> Result<Character, FormatError> {
    let nothing = |name: &str| {
        Err(FormatError::Io {
            path: name.into(),
            source: std::io::ErrorKind::NotFound.into(),
        })
    };
    load_bytes(name, bytes, &nothing, &ReadOptions::default())
}

/// The error without the file name around it.
#[track_caller]
fn error(name: &str, bytes: &[u8]) -> FormatError {
    match load(name, bytes) {
        Err(FormatError::InFile { source, .. }) => *source,
        Err(error) => error,
        Ok(_) => panic!("{name} was read"),
    }
}

fn problems(character: &Character) -> String {
    let mut all = character.problems.clone();
    all.extend(inspect(character).problems);
    all.iter()
        .map(|problem| format!("{:?} {}\n", problem.severity, problem.text))
        .collect()
}

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

#[test]
fn empty_files_and_empty_meshes() {
    for name in [
        "a.glb", "a.gltf", "a.obj", "a.ply", "a.off", "a.stl", "a.bvh", "a.skel", "a.anim",
        "a.fbx", "a.vrm",
    ] {
        error(name, b"");
    }
    assert!(matches!(
        error("a.obj", b"# nothing\n"),
        FormatError::Empty(_)
    ));
    assert!(matches!(
        error("a.off", b"OFF\n0 0 0\n"),
        FormatError::Empty(_)
    ));
}

#[test]
fn values_that_are_not_numbers() {
    assert!(matches!(
        error("a.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
        FormatError::NotFinite { .. } | FormatError::Text { .. }
    ));
    assert!(matches!(
        error("a.off", b"OFF\n3 1 0\n0 0 inf\n1 0 0\n0 1 0\n3 0 1 2\n"),
        FormatError::NotFinite { .. } | FormatError::Text { .. }
    ));
    assert!(matches!(
        error("a.obj", b"v one 0 0\n"),
        FormatError::Text { line: 1, .. }
    ));
}

#[test]
fn indices_out_of_range() {
    for bad in [
        "f 1 2 4\n",
        "f 1 2 -9\n",
        "f 0 1 2\n",
        "f 1 2 99999999999999999999\n",
    ] {
        let text = format!("{TRIANGLE}{bad}");
        assert!(
            matches!(
                error("a.obj", text.as_bytes()),
                FormatError::Text { .. } | FormatError::Invalid { .. }
            ),
            "{bad}"
        );
    }
    assert!(matches!(
        error("a.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"),
        FormatError::Text { .. } | FormatError::Invalid { .. }
    ));
}

#[test]
fn truncated_files() {
    assert!(matches!(
        error("a.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n"),
        FormatError::Truncated { .. } | FormatError::Text { .. }
    ));
    let ply = b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nend_header\n\0\0";
    assert!(matches!(
        error("a.ply", ply),
        FormatError::Truncated { .. } | FormatError::Invalid { .. }
    ));
    assert!(matches!(
        error("a.bvh", b"HIERARCHY\nROOT a\n{\n OFFSET 0 0 0\n"),
        FormatError::Truncated { .. } | FormatError::Text { .. }
    ));
}

#[test]
fn counts_larger_than_the_file() {
    error("a.off", b"OFF\n4000000000 4000000000 0\n");
    error("a.skel", b"4000000000\n");
    error("a.anim", b"4000000000 4000000000\n");
    error("a.ply", b"ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\nproperty float z\nend_header\n");
}

#[test]
fn degenerate_faces_and_unused_or_coincident_vertices_are_reported() {
    let text = format!("{TRIANGLE}v 5 5 5\nv 0 0 0\nf 1 2 3\nf 1 1 2\n");
    let character = load("a.obj", text.as_bytes()).unwrap();
    assert_eq!(character.parts[0].mesh.positions.len(), 5);
    assert_eq!(character.parts[0].mesh.triangles.len(), 2);
    let messages = problems(&character);
    assert!(
        messages.contains("no area") || messages.contains("area"),
        "{messages}"
    );
    assert!(
        messages.contains("unused")
            || messages.contains("not used")
            || messages.contains("no face"),
        "{messages}"
    );
}

#[test]
fn cycles_unknown_parents_and_single_joints() {
    assert!(matches!(
        error("a.skel", b"2\n0 0 0 a b\n1 0 0 b a\n"),
        FormatError::Skeleton(_) | FormatError::Invalid { .. } | FormatError::Text { .. }
    ));
    error("a.skel", b"1\n0 0 0 a nobody\n");
    let single = load("a.skel", b"1\n0 0 0 a root\n").unwrap();
    assert_eq!(single.skeleton.len(), 1);
    inspect(&single);
}

#[test]
fn implausible_units_are_guessed_and_reported() {
    for (scale, expected) in [(1e-6_f32, 1e5..1e7), (1e9, 1e-10..1e-8)] {
        let corner = |x: f32, y: f32| format!("v {} {} 0\n", x * scale, y * scale);
        let text = format!(
            "{}{}{}f 1 2 3\n",
            corner(0.0, 0.0),
            corner(1.0, 0.0),
            corner(0.0, 1.7)
        );
        let character = load("a.obj", text.as_bytes()).unwrap();
        assert!(
            expected.contains(&f64::from(character.units.metres_per_unit)),
            "{:?}",
            character.units
        );
        assert!(!character.units.declared && !character.problems.is_empty());
    }
}

#[test]
fn joints_outside_the_skin_are_reported() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../supple/assets/male.glb");
    let mut character = load("male.glb", &std::fs::read(assets).unwrap()).unwrap();
    let head = character.skeleton.find("head").unwrap();
    character.skeleton.rest_mut(head).translation.x += 3.0;
    let messages = problems(&character);
    assert!(messages.contains("outside"), "{messages}");
    assert!(
        character
            .problems
            .iter()
            .all(|problem| problem.severity <= Severity::Warning)
    );
}

#[test]
fn unsupported_formats_list_the_supported_ones() {
    let message = error("a.docx", b"PK").to_string();
    assert!(
        message.contains("glb") && message.contains("bvh"),
        "{message}"
    );
}
