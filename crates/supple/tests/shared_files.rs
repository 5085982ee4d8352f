//! All characters and motions in `../shared/data` load, and `info` reports them correctly.

use std::path::{Path, PathBuf};

use supple::info::{Info, info};
use supple::rig::formats::{self, ReadOptions};

fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{} is required here",
        folder.display()
    );
    println!("skipped: ../shared/data is not here");
    None
}

fn look(path: &Path) -> Info {
    let character = formats::load(path, &ReadOptions::default());
    info(&character.unwrap_or_else(|error| panic!("{error}")))
}

/// Expected contents of a file, as other programs show them.
struct Expected {
    file: &'static str,
    vertices: usize,
    triangles: usize,
    shells: usize,
    bones: usize,
    clips: &'static [(&'static str, f32)],
    height: f32,
}

const EXPECTED: [Expected; 13] = [
    Expected {
        file: "characters/CesiumMan.glb",
        vertices: 3273,
        triangles: 4672,
        shells: 1,
        bones: 19,
        clips: &[("CesiumMan", 2.0)],
        height: 1.507,
    },
    Expected {
        file: "characters/Fox.glb",
        vertices: 1728,
        triangles: 576,
        shells: 1,
        bones: 24,
        clips: &[("Survey", 3.417), ("Walk", 0.708), ("Run", 1.158)],
        height: 0.790,
    },
    Expected {
        file: "characters/100Avatars_001_Crimsom.vrm",
        vertices: 2786,
        triangles: 3776,
        shells: 12,
        bones: 65,
        clips: &[],
        height: 1.648,
    },
    Expected {
        file: "body/male.glb",
        vertices: 13718,
        triangles: 27420,
        shells: 4,
        bones: 104,
        clips: &[],
        height: 1.8,
    },
    Expected {
        file: "body/female.glb",
        vertices: 13718,
        triangles: 27420,
        shells: 4,
        bones: 104,
        clips: &[],
        height: 1.65,
    },
    Expected {
        file: "fps/male/male.off",
        vertices: 23259,
        triangles: 46514,
        shells: 1,
        bones: 0,
        clips: &[],
        height: 2.087,
    },
    Expected {
        file: "fps/male/male_LR20.off",
        vertices: 4651,
        triangles: 9298,
        shells: 1,
        bones: 0,
        clips: &[],
        height: 2.087,
    },
    Expected {
        file: "fps/cylinder/cylinder.off",
        vertices: 800,
        triangles: 1596,
        shells: 1,
        bones: 0,
        clips: &[],
        height: 0.2,
    },
    Expected {
        file: "fps/tbone/tbone.off",
        vertices: 2461,
        triangles: 4918,
        shells: 1,
        bones: 0,
        clips: &[],
        height: 0.732,
    },
    Expected {
        file: "fps/male/male.ini",
        vertices: 23259,
        triangles: 46514,
        shells: 1,
        bones: 63,
        clips: &[("male0", 4.0)],
        height: 2.087,
    },
    Expected {
        file: "mocap/16_03.bvh",
        vertices: 0,
        triangles: 0,
        shells: 0,
        bones: 31,
        clips: &[("16_03", 3.417)],
        height: 1.45,
    },
    Expected {
        file: "mocap/09_01.bvh",
        vertices: 0,
        triangles: 0,
        shells: 0,
        bones: 31,
        clips: &[("09_01", 1.233)],
        height: 1.45,
    },
    Expected {
        file: "mocap/05_06.bvh",
        vertices: 0,
        triangles: 0,
        shells: 0,
        bones: 31,
        clips: &[("05_06", 7.375)],
        height: 1.45,
    },
];

#[test]
fn info_is_right_about_every_shared_file() {
    let Some(folder) = shared() else { return };
    for expected in &EXPECTED {
        let info = look(&folder.join(expected.file));
        let file = expected.file;
        assert_eq!(info.vertices, expected.vertices, "{file}: vertices");
        assert_eq!(info.triangles, expected.triangles, "{file}: triangles");
        assert_eq!(info.shells, expected.shells, "{file}: shells");
        assert_eq!(info.bones, expected.bones, "{file}: bones");
        assert_eq!(info.clips.len(), expected.clips.len(), "{file}: clips");
        for (clip, (name, seconds)) in info.clips.iter().zip(expected.clips) {
            assert_eq!(clip.name, *name, "{file}");
            assert!(
                (clip.seconds - seconds).abs() < 0.02,
                "{file}: {} lasts {} s",
                clip.name,
                clip.seconds
            );
        }
        assert!(
            (info.height_m - expected.height).abs() <= 0.06 * expected.height,
            "{file}: {} m",
            info.height_m
        );
    }
}

#[test]
fn every_file_of_the_shared_folders_loads() {
    let Some(folder) = shared() else { return };
    let mut count = 0;
    for name in [
        "fps/cylinder",
        "fps/tbone",
        "fps/male",
        "characters",
        "mocap",
        "body",
    ] {
        for entry in std::fs::read_dir(folder.join(name)).unwrap() {
            let path = entry.unwrap().path();
            // Shape spaces are NumPy archives, not characters. Folders hold compressed files.
            if path.is_dir() || path.extension().is_some_and(|extension| extension == "npz") {
                continue;
            }
            let info = look(&path);
            assert!(
                info.vertices > 0 || !info.joints.is_empty(),
                "{}",
                path.display()
            );
            assert!(!info.to_string().is_empty());
            count += 1;
        }
    }
    assert!(count >= 25, "only {count} files");
}

/// Compressed files are read, and what is written of them is plain and the same.
#[test]
fn compressed_files_are_read_and_written() {
    let Some(folder) = shared() else { return };
    for (file, vertices, joints) in [
        ("BrainStem.gltf", 34084, 18),
        ("RiggedFigure.gltf", 367, 19),
    ] {
        let path = folder.join("characters/compressed").join(file);
        let character = formats::load(&path, &ReadOptions::default()).expect(file);
        let count = |character: &supple::Character| -> usize {
            let parts = character.parts.iter();
            parts.map(|part| part.mesh.positions.len()).sum()
        };
        let bones = |character: &supple::Character| -> usize {
            let joints = character.skeleton.joints().iter();
            joints
                .filter(|j| j.kind == supple::rig::skeleton::JointKind::Bone)
                .count()
        };
        assert_eq!(
            (count(&character), bones(&character)),
            (vertices, joints),
            "{file}"
        );
        let written = formats::gltf::write_glb(&character).unwrap();
        assert!(
            !String::from_utf8_lossy(&written).contains("meshopt"),
            "{file}"
        );
        assert!(
            !String::from_utf8_lossy(&written).contains("draco"),
            "{file}"
        );
        let again = formats::gltf::read_glb(&written, &ReadOptions::default()).unwrap();
        for (one, other) in character.parts.iter().zip(&again.parts) {
            assert_eq!(one.mesh.positions, other.mesh.positions, "{file}");
            assert_eq!(one.mesh.triangles, other.mesh.triangles, "{file}");
        }
        // An unnamed clip is named after its file, and still written as it came: the values would differ in their last digits.
        assert_eq!(character.clips.len(), again.clips.len(), "{file}");
        for (one, other) in character.clips.iter().zip(&again.clips) {
            assert!(one.tracks == other.tracks, "{file}: {}", one.name);
        }
    }
}

/// A figure of many shells gets a skeleton: its hands, feet and head are where they are seen.
#[test]
fn a_mannequin_of_many_shells_is_fitted() {
    use supple::rig::retarget::humanoid::Side;
    use supple::rig::retarget::{BoneMap, HumanBone, Humanoid};
    let Some(folder) = shared() else { return };
    let path = folder.join("characters/human-mannequin.glb");
    let bare = formats::load(&path, &ReadOptions::default()).unwrap();
    let fitted = supple::rig::rigging::fitted(&bare, &Default::default()).unwrap();
    let humanoid = Humanoid::find(&fitted.skeleton, &BoneMap::of(&fitted)).unwrap();
    let worlds = fitted.skeleton.rest_worlds();
    let at = |bone| worlds[humanoid.joint(bone).unwrap()].translation;
    // Read off the picture of the file: wrists, elbows, knees and neck are the purple balls.
    for side in Side::BOTH {
        let out = if side == Side::Left { 1.0 } else { -1.0 };
        for (bone, x, y) in [
            (HumanBone::Hand(side), 0.735, 1.435),
            (HumanBone::LowerArm(side), 0.46, 1.44),
            (HumanBone::LowerLeg(side), 0.09, 0.52),
            (HumanBone::Foot(side), 0.09, 0.13),
        ] {
            let place = at(bone);
            let off = (place.x - out * x).hypot(place.y - y);
            assert!(off < 0.08, "{bone:?} is {off} m off: {place}");
        }
    }
    let head = at(HumanBone::Head);
    assert!(
        head.x.abs() < 0.02 && (1.5..1.68).contains(&head.y),
        "{head}"
    );
}
