//! Bones in the embedded bodies, and bad input.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use glam::{Affine3A, DVec3, Quat, Vec3};
use supple_anatomy::bones::names::mirrored_name;
use supple_anatomy::bones::{
    BoneError, BoneNote, BoneRegion, BoneSet, PlacedBones, bone_set, embedded_bones, place_bones,
    read_bones,
};
use supple_anatomy::{Body, Sex};
use supple_geom::{Adjacency, TriMesh};
use supple_rig::Pose;
use supple_rig::formats::{ReadOptions, load};

fn body(sex: Sex) -> Body {
    let name = match sex {
        Sex::Male => "male",
        Sex::Female => "female",
    };
    let path = format!("{}/../supple/assets/{name}.glb", env!("CARGO_MANIFEST_DIR"));
    Body::from_character(
        &load(Path::new(&path), &ReadOptions::default()).unwrap(),
        sex,
    )
    .unwrap()
}

fn data(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data")
        .join(name);
    if !path.exists() {
        assert!(
            std::env::var_os("SUPPLE_REQUIRE_DATA").is_none(),
            "{} is missing",
            path.display()
        );
        println!("skipped: {} is missing", path.display());
    }
    path.exists().then_some(path)
}

fn embedded() -> &'static BoneSet {
    static SET: OnceLock<BoneSet> = OnceLock::new();
    SET.get_or_init(|| embedded_bones().unwrap())
}

fn man() -> &'static (Body, PlacedBones) {
    static MAN: OnceLock<(Body, PlacedBones)> = OnceLock::new();
    MAN.get_or_init(|| {
        let body = body(Sex::Male);
        let placed = place_bones(embedded(), &body).unwrap();
        (body, placed)
    })
}

/// The lines that every placement must meet: nothing outside but a little in hands and feet, joints closed, nothing squashed.
fn assert_well_placed(placed: &PlacedBones) {
    let report = &placed.report;
    for (region, outside) in &report.outside {
        let digits = matches!(region, BoneRegion::Hands | BoneRegion::Feet);
        let allowed = if digits { outside.vertices / 200 } else { 0 };
        assert!(
            outside.outside <= allowed && outside.farthest <= 0.0025,
            "{region:?}: {outside:?}"
        );
    }
    let (joint, gap) = report.widest_gap().unwrap();
    assert!(gap <= 0.006, "{joint} gapes by {gap} m");
    for joint in [
        "hip_l",
        "knee_r",
        "ankle_l",
        "shoulder_r",
        "elbow_l",
        "wrist_r",
        "L5_sacrum",
        "C1_skull",
    ] {
        assert!(report.gaps.contains_key(joint), "{joint} was not measured");
    }
    assert!(
        report.centre_gaps.values().all(|gap| *gap < 5e-4),
        "{:?}",
        report.centre_gaps
    );
    for (segment, scales) in &report.scales {
        assert!(
            scales.iter().all(|scale| (0.79..1.21).contains(scale)),
            "{segment}: {scales:?}"
        );
        let (low, high) = scales
            .iter()
            .fold((2.0_f64, 0.0_f64), |(l, h), s| (l.min(*s), h.max(*s)));
        assert!(high / low < 1.35, "{segment} is squashed: {scales:?}");
    }
}

fn litres(placed: &PlacedBones) -> f64 {
    placed.report.volumes.values().sum::<f64>() / 1000.0
}

#[test]
fn a_man_holds_the_embedded_bones() {
    let (body, placed) = man();
    assert_eq!(placed.bones.len(), 178);
    assert_well_placed(placed);
    assert!((6.0..9.0).contains(&litres(placed)), "{} l", litres(placed));
    assert_symmetric(placed);
    // Joints of bones and rig agree where the rig's are right.
    for (bone_joint, rig_joint) in [
        ("knee_l", "lowerleg01.L"),
        ("elbow_r", "lowerarm01.R"),
        ("wrist_l", "wrist.L"),
    ] {
        let apart = placed.joints[bone_joint].distance(body.joint(rig_joint).unwrap());
        assert!(apart < 0.03, "{bone_joint} is {apart} m from the rig's");
    }
}

#[test]
fn a_woman_holds_them_with_a_wider_pelvis() {
    let woman = place_bones(embedded(), &body(Sex::Female)).unwrap();
    assert_well_placed(&woman);
    assert!((4.5..7.0).contains(&litres(&woman)), "{} l", litres(&woman));
    assert_symmetric(&woman);
    let pelvis = |placed: &PlacedBones| {
        let bones = ["pelvis_l", "pelvis_r"].map(|name| &placed.bone(name).unwrap().mesh);
        TriMesh::merged(bones).bounds().size()
    };
    let (woman, man) = (pelvis(&woman), pelvis(&man().1));
    assert!(
        woman.x / woman.y > 1.05 * man.x / man.y,
        "{woman} against {man}"
    );
}

/// Distance of each vertex of a left bone from the mirror image of the same vertex on the right.
fn assert_symmetric(placed: &PlacedBones) {
    for left in placed.bones.iter().filter(|bone| bone.name.ends_with("_l")) {
        let right = placed.bone(&mirrored_name(&left.name).unwrap()).unwrap();
        for (a, b) in left.mesh.positions.iter().zip(&right.mesh.positions) {
            let apart = a.distance(*b * Vec3::new(-1.0, 1.0, 1.0));
            assert!(apart < 0.001, "{} is {apart} m off", left.name);
        }
    }
}

#[test]
fn bodyparts3d_goes_into_the_man() {
    let Some(folder) = data("anatomy/bones") else {
        return;
    };
    let set = read_bones(&folder).unwrap();
    assert!(
        !set.notes
            .iter()
            .any(|note| matches!(note, BoneNote::UnknownName { .. })),
        "{:?}",
        set.notes
    );
    let placed = place_bones(&set, &man().0).unwrap();
    assert_eq!(placed.bones.len(), set.bones.len());
    assert_well_placed(&placed);
}

#[test]
fn the_asset_is_the_folder() {
    let Some(folder) = data("skeleton") else {
        return;
    };
    let set = read_bones(&folder).unwrap();
    assert_eq!(set.bones.len(), embedded().bones.len());
    for (a, b) in set.bones.iter().zip(&embedded().bones) {
        assert_eq!(a.name, b.name);
        assert!(
            (a.mesh.signed_volume() / b.mesh.signed_volume() - 1.0).abs() < 0.01,
            "{}",
            a.name
        );
    }
}

#[test]
fn known_flaws_are_mended() {
    let volume = |name: &str| embedded().bone(name).unwrap().mesh.signed_volume() * 1e6;
    assert!(
        (volume("femur_l") / 485.0 - 1.0).abs() < 0.05,
        "{}",
        volume("femur_l")
    );
    let shank = volume("tibia_l") + volume("fibula_l");
    assert!((shank / 360.0 - 1.0).abs() < 0.07, "{shank}");
    let pelvis = volume("pelvis_l") + volume("pelvis_r") + volume("sacrum");
    assert!((pelvis / 850.0 - 1.0).abs() < 0.12, "{pelvis}");
    assert!(
        (volume("patella_l") / 17.0 - 1.0).abs() < 0.1,
        "{}",
        volume("patella_l")
    );
    for bone in &embedded().bones {
        let adjacency = Adjacency::new(&bone.mesh);
        assert_eq!(
            adjacency.boundary_edges().count(),
            0,
            "{} is open",
            bone.name
        );
    }
    assert!(
        embedded()
            .notes
            .iter()
            .any(|note| matches!(note, BoneNote::Filled { .. }))
    );
}

#[test]
fn placing_gives_the_same_bits_on_one_thread() {
    let (body, placed) = man();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let again = pool.install(|| place_bones(embedded(), body).unwrap());
    assert_eq!(placed.bones, again.bones);
    assert_eq!(placed.report, again.report);
}

#[test]
fn bones_follow_the_rig() {
    let (body, placed) = man();
    for (bone, weights) in placed.bones.iter().zip(&placed.weights) {
        let sum: f32 = weights.iter().map(|(_, weight)| weight).sum();
        assert!(
            (sum - 1.0).abs() < 1e-5 && !weights.is_empty(),
            "{}",
            bone.name
        );
    }
    let names = |bone: &str| {
        let index = placed
            .bones
            .iter()
            .position(|other| other.name == bone)
            .unwrap();
        let joints = body.skeleton.joints();
        placed.weights[index]
            .iter()
            .map(|(joint, _)| joints[*joint as usize].name.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("ulna_l"), ["lowerarm01.L"]);
    assert_eq!(names("metacarpal2_r"), ["metacarpal1.R"]);
    assert_eq!(names("toe1_dist_l"), ["toe1-2.L"]);
    assert_eq!(names("thumb_distal_l"), ["finger1-3.L"]);
    assert!(names("scapula_l").len() == 3 && names("vertebra_T6").len() == 2);
    // A bent knee moves the shin and leaves the thigh.
    let rest: Vec<Affine3A> = body.skeleton.rest_worlds();
    let mut pose = Pose::rest(&body.skeleton);
    pose.rotate(
        body.skeleton.find("lowerleg01.L").unwrap(),
        Quat::from_rotation_x(1.0),
    );
    let posed = placed.posed(&rest, &pose.worlds(&body.skeleton));
    let moved = |name: &str| {
        let index = placed
            .bones
            .iter()
            .position(|bone| bone.name == name)
            .unwrap();
        posed[index]
            .mesh
            .bounds()
            .center()
            .distance(placed.bones[index].mesh.bounds().center())
    };
    assert!(moved("femur_l") < 1e-4 && moved("tibia_r") < 1e-4);
    assert!(moved("tibia_l") > 0.1 && moved("calcaneus_l") > 0.2);
}

#[test]
fn landmarks_are_where_people_feel_them() {
    let (body, placed) = man();
    let height = body.height();
    let at = |name: &str| placed.landmarks[name].bone;
    for (name, landmark) in &placed.landmarks {
        let skin = body.mesh.positions[landmark.skin_vertex as usize];
        assert!(
            skin.distance(landmark.bone) < 0.12,
            "{name} is {} m from the skin",
            skin.distance(landmark.bone)
        );
    }
    assert!(
        (at("c7").y / height - 0.85).abs() < 0.03,
        "{}",
        at("c7").y / height
    );
    assert!(at("asis_l").x > 0.08 && at("asis_l").z > at("psis_l").z + 0.08);
    assert!(at("acromion_l").x > 0.15 && at("lateral_malleolus_l").y < 0.1 * height);
    assert!(at("medial_malleolus_l").x < at("lateral_malleolus_l").x);
    assert!(at("xiphoid").y < at("jugular_notch").y - 0.1);
    assert!(at("humerus_lateral_epicondyle_l").distance(at("humerus_medial_epicondyle_l")) > 0.04);
}

/// The embedded bones as named meshes again.
fn meshes() -> Vec<(String, TriMesh)> {
    embedded()
        .bones
        .iter()
        .map(|bone| (bone.name.clone(), bone.mesh.clone()))
        .collect()
}

fn set_of(meshes: Vec<(String, TriMesh)>) -> Result<BoneSet, BoneError> {
    bone_set(meshes, BTreeMap::new())
}

#[test]
fn units_and_axes_are_found() {
    let mut turned = meshes();
    for p in turned.iter_mut().flat_map(|(_, mesh)| &mut mesh.positions) {
        // Millimetres, Z up, facing -Y, off the origin.
        *p = Vec3::new(p.x, -p.z, p.y) * 1000.0 + Vec3::new(150.0, 20.0, -300.0);
    }
    let set = set_of(turned).unwrap();
    let note = set
        .notes
        .iter()
        .find(|note| matches!(note, BoneNote::Converted { .. }));
    assert!(
        note.unwrap().to_string().contains("millimetres"),
        "{note:?}"
    );
    for (a, b) in set.bones.iter().zip(&embedded().bones) {
        let apart = a.mesh.bounds().center() - b.mesh.bounds().center();
        assert!(
            Vec3::new(apart.x, apart.y, 0.0).length() < 0.002,
            "{} is {apart} off",
            a.name
        );
    }
    let mut furlongs = meshes();
    furlongs
        .iter_mut()
        .flat_map(|(_, mesh)| &mut mesh.positions)
        .for_each(|p| *p *= 0.05);
    assert!(matches!(set_of(furlongs), Err(BoneError::Unit { .. })));
    let mut swapped = meshes();
    for (name, _) in &mut swapped {
        *name = mirrored_name(name).unwrap_or(name.clone());
    }
    assert!(matches!(set_of(swapped), Err(BoneError::Mirrored)));
}

#[test]
fn missing_sides_are_mirrored_and_strange_names_told() {
    let mut left: Vec<_> = meshes()
        .into_iter()
        .filter(|(name, _)| !name.ends_with("_r"))
        .collect();
    left.push(("left_teapot".to_owned(), left[0].1.clone()));
    left.push(("Left Femur".to_owned(), left[0].1.clone()));
    left.push(("left_radius".to_owned(), TriMesh::default()));
    let set = set_of(left).unwrap();
    assert_eq!(set.bones.len(), 178);
    let count =
        |wanted: fn(&BoneNote) -> bool| set.notes.iter().filter(|note| wanted(note)).count();
    assert!(count(|note| matches!(note, BoneNote::Mirrored { .. })) > 70);
    assert_eq!(
        count(|note| matches!(note, BoneNote::UnknownName { .. })),
        1
    );
    assert_eq!(count(|note| matches!(note, BoneNote::Twice { .. })), 2);
    assert!(
        set.notes
            .iter()
            .any(|note| note.to_string().contains("left_teapot"))
    );
}

#[test]
fn too_little_is_an_error_that_says_what_is_missing() {
    let without = |stem: &str| {
        meshes()
            .into_iter()
            .filter(|(name, _)| !name.starts_with(stem))
            .collect::<Vec<_>>()
    };
    for stem in ["skull", "pelvis", "femur", "clavicle"] {
        let result = set_of(without(stem)).and_then(|set| place_bones(&set, &man().0));
        match result {
            Ok(_) => assert!(stem == "pelvis", "placed without {stem}"),
            Err(error) => assert!(error.to_string().contains(stem), "{stem}: {error}"),
        }
    }
    assert!(matches!(set_of(Vec::new()), Err(BoneError::NoBones { .. })));
    assert!(read_bones(Path::new("no/such/folder")).is_err());
    let _ = set_of(vec![("skull".into(), TriMesh::default())]).unwrap_err();
}

#[test]
fn a_skeleton_without_hands_is_placed() {
    let hands = [
        "metacarpal",
        "thumb",
        "index",
        "middle",
        "ring",
        "little",
        "toe",
    ];
    let few = meshes()
        .into_iter()
        .filter(|(name, _)| !hands.iter().any(|stem| name.starts_with(stem)));
    let set = set_of(few.collect()).unwrap();
    let placed = place_bones(&set, &man().0).unwrap();
    assert_eq!(placed.bones.len(), set.bones.len(), "bones were lost");
    assert!(
        placed.report.widest_gap().unwrap().1 <= 0.006,
        "{:?}",
        placed.report.widest_gap()
    );
}

#[test]
fn joints_of_a_file_are_used() {
    let mut joints = BTreeMap::new();
    joints.insert("hip_l".to_owned(), DVec3::new(0.08, 0.86, -0.05));
    let set = bone_set(meshes(), joints).unwrap();
    assert!(set.joints["hip_l"].distance(Vec3::new(0.08, 0.86, -0.05)) < 0.002);
}

/// A mesh turned into a mess is closed again, bones in one another are kept, and a bone too thick for its limb is pushed in and named.
#[test]
fn broken_intersecting_and_poking_bones_are_mended_and_told() {
    let mut bad = meshes();
    let ulna = embedded().bone("ulna_l").unwrap().mesh.bounds().center();
    for (name, mesh) in &mut bad {
        let centre = mesh.bounds().center();
        match name.as_str() {
            "femur_l" => {
                let copies: Vec<[u32; 3]> = mesh.triangles.iter().step_by(9).copied().collect();
                mesh.triangles.drain(100..140);
                mesh.triangles
                    .extend(copies.iter().map(|&[a, b, c]| [b, a, c]));
            }
            "radius_l" => (mesh.positions.iter_mut()).for_each(|p| *p += ulna - centre),
            "tibia_l" => (mesh.positions.iter_mut())
                .for_each(|p| *p = centre + (*p - centre) * Vec3::new(3.0, 1.0, 3.0)),
            _ => {}
        }
    }
    let set = set_of(bad).unwrap();
    let told = |wanted: &str| {
        set.notes
            .iter()
            .any(|note| note.to_string().contains(wanted))
    };
    assert!(told("'femur_l'"), "{:?}", set.notes);
    for bone in &set.bones {
        let open = Adjacency::new(&bone.mesh).boundary_edges().count();
        assert_eq!(open, 0, "{} is open", bone.name);
    }
    let placed = place_bones(&set, &man().0).unwrap();
    assert_eq!(placed.bones.len(), set.bones.len());
    let report = &placed.report;
    let named =
        report.pushed.contains_key("tibia_l") || report.outside_bones.contains_key("tibia_l");
    assert!(
        named,
        "pushed {:?}, outside {:?}",
        report.pushed, report.outside_bones
    );
    assert!(
        placed
            .bones
            .iter()
            .all(|bone| bone.mesh.positions.iter().all(|p| p.is_finite()))
    );
}
