//! Every file of `../shared/data/{fps,mocap}` loads with its known counts.

use std::path::{Path, PathBuf};

use supple_rig::character::Up;
use supple_rig::formats::{ReadOptions, load, load_character};

fn data() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if root.is_dir() {
        return Some(root);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "../shared/data is required in CI"
    );
    println!("skipped: ../shared/data was not found");
    None
}

#[test]
fn meshes_have_their_counts() {
    let Some(root) = data() else { return };
    for (file, vertices, triangles, up) in [
        ("fps/male/male.off", 23_259, 46_514, Up::Z),
        ("fps/male/male_LR20.off", 4_651, 9_298, Up::Z),
        ("fps/cylinder/cylinder.off", 800, 1_596, Up::Y),
        ("fps/tbone/tbone.off", 2_461, 4_918, Up::Y),
    ] {
        let character = load(&root.join(file), &ReadOptions::default()).unwrap();
        let mesh = &character.parts[0].mesh;
        assert_eq!(mesh.positions.len(), vertices, "{file}");
        assert_eq!(mesh.triangles.len(), triangles, "{file}");
        assert_eq!(character.units.up, up, "{file}");
        assert_eq!(character.units.metres_per_unit, 0.1, "{file}");
        assert!(!character.units.declared);
        println!("{file}: {:?}", character.problems);
    }
}

#[test]
fn skeletons_stand_inside_their_meshes() {
    let Some(root) = data() else { return };
    for (mesh, skeleton, joints) in [
        ("fps/male/male.off", "fps/male/male.skel", 63),
        ("fps/male/male_LR20.off", "fps/male/male.skel", 63),
        ("fps/cylinder/cylinder.off", "fps/cylinder/cylinder.skel", 4),
        ("fps/tbone/tbone.off", "fps/tbone/tbone.skel", 7),
    ] {
        let (mesh, skeleton) = (root.join(mesh), root.join(skeleton));
        let options = ReadOptions::default();
        let character = load_character(&mesh, Some(&skeleton), &[], &options).unwrap();
        assert_eq!(character.skeleton.len(), joints);
        let positions = &character.parts[0].mesh.positions;
        let low = positions
            .iter()
            .fold(glam::Vec3::INFINITY, |l, &p| l.min(p));
        let high = positions
            .iter()
            .fold(glam::Vec3::NEG_INFINITY, |h, &p| h.max(p));
        for world in character.skeleton.rest_worlds() {
            let at = glam::Vec3::from(world.translation);
            assert!(
                at.cmpge(low).all() && at.cmple(high).all(),
                "{skeleton:?}: {at}"
            );
        }
        let alone = load(&skeleton, &options).unwrap();
        assert_eq!(alone.skeleton, character.skeleton, "{skeleton:?}");
    }
}

#[test]
fn motions_have_their_keys() {
    let Some(root) = data() else { return };
    for (file, keys, joints) in [
        ("fps/cylinder/cylinder0.anim", 2, 4),
        ("fps/tbone/tbone0.anim", 3, 7),
        ("fps/tbone/tbone1.anim", 3, 7),
        ("fps/male/male0.anim", 3, 63),
        ("fps/male/male1.anim", 5, 63),
        ("fps/male/male2.anim", 3, 63),
        ("fps/male/male3.anim", 2, 63),
        ("fps/male/male4.anim", 3, 63),
        ("fps/male/male5.anim", 3, 63),
    ] {
        let character = load(&root.join(file), &ReadOptions::default()).unwrap();
        let clip = &character.clips[0];
        assert_eq!(clip.tracks.len(), joints, "{file}");
        assert_eq!(clip.tracks[0].times.len(), keys, "{file}");
    }
}

#[test]
fn models_in_pieces_load_as_one() {
    let Some(root) = data() else { return };
    for (file, vertices, joints) in [
        ("fps/male/male.ini", 23_259, 63),
        ("fps/cylinder/cylinder.ini", 800, 4),
        ("fps/tbone/tbone.ini", 2_461, 7),
    ] {
        let character = load(&root.join(file), &ReadOptions::default()).unwrap();
        assert_eq!(character.parts[0].mesh.positions.len(), vertices, "{file}");
        assert_eq!(character.skeleton.len(), joints, "{file}");
        assert_eq!(character.clips.len(), 1, "{file}");
    }
}

#[test]
fn mocap_clips_have_their_frames() {
    let Some(root) = data() else { return };
    for (file, frames) in [
        ("mocap/05_06.bvh", 886),
        ("mocap/09_01.bvh", 149),
        ("mocap/16_03.bvh", 411),
    ] {
        let character = load(&root.join(file), &ReadOptions::default()).unwrap();
        assert_eq!(character.skeleton.len(), 31, "{file}");
        assert!(character.parts.is_empty());
        let clip = &character.clips[0];
        let track = &clip.tracks[0];
        assert_eq!(track.times.len(), frames, "{file}");
        assert_eq!(track.times[120], 1.0, "{file}: 120 frames a second");
        assert_eq!(
            clip.tracks.len(),
            32,
            "{file}: a rotation a joint and one position"
        );
        assert_eq!(character.units.up, Up::Y);
        println!("{file}: {:?}", character.problems);
    }
}
