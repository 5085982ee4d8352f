//! Retargeting: real clips on real characters.

use std::path::{Path, PathBuf};

use glam::{Affine3A, Quat, Vec3};
use supple_rig::formats::gltf::read_glb;
use supple_rig::formats::load;
use supple_rig::retarget::humanoid::Side;
use supple_rig::retarget::standing::standing_rest;
use supple_rig::retarget::{BoneMap, HumanBone, Humanoid, Options, Retarget};
use supple_rig::skinning::linear_blend;
use supple_rig::{Character, Clip, Pose, Skeleton};

const CLIPS: [&str; 3] = ["05_06.bvh", "09_01.bvh", "16_03.bvh"];
const FPS: f32 = 30.0;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of shared data; `None` with a printed reason if it is missing.
fn shared() -> Option<PathBuf> {
    let folder = root().join("../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "../shared/data is required in CI"
    );
    println!("skipped: ../shared/data was not found");
    None
}

fn read(path: &Path) -> Character {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let result = match extension {
        Some("glb" | "vrm") => {
            let bytes = std::fs::read(path).expect("readable");
            read_glb(&bytes, &Default::default())
        }
        _ => load(path, &Default::default()),
    };
    result.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn targets(data: &Path) -> Vec<Character> {
    vec![
        read(&root().join("crates/supple/assets/male.glb")),
        read(&data.join("characters/100Avatars_001_Crimsom.vrm")),
    ]
}

/// A retargeted motion, with both skeletons in the world at every frame.
struct Played {
    retarget: Retarget,
    frames: Vec<(Vec<Affine3A>, Vec<Affine3A>)>,
    ground: f32,
}

fn play(motion: &Character, target: &Character) -> Played {
    let source = &motion.skeleton;
    let retarget = Retarget::new(source, &target.skeleton, &Options::default())
        .unwrap()
        .with_skin(target);
    let clip = retarget.clip(&motion.clips[0], FPS);
    let count = (motion.clips[0].duration() * FPS) as usize;
    let sample = |clip: &Clip, skeleton: &Skeleton, frame: usize| -> Pose {
        clip.sample(skeleton, frame as f32 / FPS)
    };
    let poses: Vec<Pose> = (0..count)
        .map(|frame| sample(&motion.clips[0], source, frame))
        .collect();
    let frames = (poses.iter().enumerate())
        .map(|(frame, pose)| {
            let played = sample(&clip, &target.skeleton, frame);
            (pose.worlds(source), played.worlds(&target.skeleton))
        })
        .collect();
    Played {
        ground: retarget.find_ground(&poses),
        retarget,
        frames,
    }
}

fn place(worlds: &[Affine3A], joint: usize) -> Vec3 {
    worlds[joint].translation.into()
}

#[test]
fn limb_directions_match() {
    let Some(data) = shared() else { return };
    for target in targets(&data) {
        for name in CLIPS {
            let motion = read(&data.join("mocap").join(name));
            let played = play(&motion, &target);
            let (from, to) = (played.retarget.source(), played.retarget.target());
            let mut worst = 0.0_f32;
            for side in Side::BOTH {
                for (bone, next) in [
                    (HumanBone::UpperArm(side), HumanBone::LowerArm(side)),
                    (HumanBone::LowerArm(side), HumanBone::Hand(side)),
                    (HumanBone::UpperLeg(side), HumanBone::LowerLeg(side)),
                    (HumanBone::LowerLeg(side), HumanBone::Foot(side)),
                ] {
                    let joints = [from, to].map(|humanoid| {
                        [bone, next].map(|bone| humanoid.joint(bone).expect("matched"))
                    });
                    for (source, posed) in &played.frames {
                        let a = place(source, joints[0][1]) - place(source, joints[0][0]);
                        let b = place(posed, joints[1][1]) - place(posed, joints[1][0]);
                        let angle = (played.retarget.turn() * a).angle_between(b);
                        worst = worst.max(angle.to_degrees());
                    }
                }
            }
            println!("{name} on {}: limbs within {worst:.2}°", target.name);
            assert!(worst < 10.0, "{name} on {}: {worst}°", target.name);
        }
    }
}

/// Lowest point of a source foot: toes, or the heel at its position in the clip's first frame, a T-pose.
fn source_foot(motion: &Character, worlds: &[Affine3A], t_pose: &[Affine3A], side: &str) -> f32 {
    let joint = |name: &str| motion.skeleton.find(&format!("{side}{name}")).unwrap();
    let (ankle, toe) = (joint("Foot"), joint("ToeBase"));
    let floor = place(t_pose, toe).y;
    let heel = Vec3::new(place(t_pose, ankle).x, floor, place(t_pose, ankle).z);
    let heel = worlds[ankle].transform_point3(t_pose[ankle].inverse().transform_point3(heel));
    let tip = motion.skeleton.joints()[toe].tail.unwrap_or(Vec3::ZERO);
    let tip = worlds[toe].transform_point3(tip);
    heel.y.min(tip.y).min(place(worlds, toe).y)
}

/// Vertices with their largest weight on a foot's joints: part and vertex.
fn foot_vertices(target: &Character, foot: usize) -> Vec<(usize, usize)> {
    let joints = target.skeleton.joints();
    let on_foot = |mut joint: usize| loop {
        if joint == foot {
            return true;
        }
        match joints[joint].parent {
            Some(parent) => joint = parent,
            None => return false,
        }
    };
    let mut vertices = Vec::new();
    for (index, part) in target.parts.iter().enumerate() {
        for vertex in 0..part.binding.influences.len() {
            let own = part.binding.influences.of(vertex).iter();
            let weight: f32 = own
                .filter(|(slot, _)| on_foot(part.binding.joints[*slot as usize]))
                .map(|(_, weight)| weight)
                .sum();
            if weight > 0.5 {
                vertices.push((index, vertex));
            }
        }
    }
    vertices
}

#[test]
fn soles_match_the_source_ground() {
    let Some(data) = shared() else { return };
    for target in targets(&data) {
        let height = target.height();
        let (low, _) = target.bounds().unwrap();
        for name in CLIPS {
            let motion = read(&data.join("mocap").join(name));
            let played = play(&motion, &target);
            let source_height = 1.75;
            let t_pose = played.frames[0].0.clone();
            let (mut contacts, mut worst, mut mean) = (0, 0.0_f32, 0.0);
            for (side, side_name) in [(Side::Left, "Left"), (Side::Right, "Right")] {
                let foot = played
                    .retarget
                    .target()
                    .joint(HumanBone::Foot(side))
                    .unwrap();
                let vertices = foot_vertices(&target, foot);
                assert!(vertices.len() > 10);
                for (source, posed) in &played.frames {
                    let above = source_foot(&motion, source, &t_pose, side_name) - played.ground;
                    if above.abs() > 0.01 * source_height {
                        continue;
                    }
                    contacts += 1;
                    let skins: Vec<_> = (target.parts.iter())
                        .map(|part| linear_blend(part, posed, &part.morph_weights))
                        .collect();
                    let sole = vertices
                        .iter()
                        .map(|&(part, vertex)| skins[part].positions[vertex].y)
                        .fold(f32::INFINITY, f32::min);
                    let off = (sole - low.y).abs() / height;
                    if off > 0.02 {
                        println!(
                            "{side_name}: source {above:.4} m above, sole {:.4} m",
                            sole - low.y
                        );
                    }
                    worst = worst.max(off);
                    mean += (sole - low.y) / height;
                }
            }
            println!(
                "{name} on {}: {contacts} contacts, soles within {:.2} % of height, mean {:.2} %",
                target.name,
                100.0 * worst,
                100.0 * mean / contacts as f32
            );
            assert!(contacts > 10);
            assert!(worst < 0.02, "{name} on {}: {worst}", target.name);
        }
    }
}

#[test]
fn a_skeleton_retargets_onto_itself() {
    let Some(data) = shared() else { return };
    let motion = read(&data.join("mocap/09_01.bvh"));
    let retarget = Retarget::new(&motion.skeleton, &motion.skeleton, &Options::default()).unwrap();
    let skeleton = &motion.skeleton;
    let source = motion.clips[0].sample(skeleton, 0.5);
    let expected = source.worlds(skeleton);
    let found = retarget.pose(&source).worlds(skeleton);
    let shift = found[0].translation - expected[0].translation;
    let report = retarget.report();
    assert!((report.scale - 1.0).abs() < 1e-6);
    assert!(retarget.turn().angle_between(Quat::IDENTITY) < 1e-3);
    for (bone, name, _) in report.matched {
        // A single finger joint is not retargeted.
        if matches!(bone, HumanBone::Finger(..)) {
            continue;
        }
        let joint = skeleton.find(&name).unwrap();
        let gap = found[joint].translation - expected[joint].translation - shift;
        assert!(gap.length() < 1e-3, "{name}: {gap}");
    }
}

#[test]
fn bones_of_all_characters_are_found() {
    let Some(data) = shared() else { return };
    let motion = read(&data.join("mocap/09_01.bvh"));
    for (file, arms) in [
        (root().join("crates/supple/assets/female.glb"), true),
        (data.join("characters/100Avatars_001_Crimsom.vrm"), true),
        (data.join("characters/CesiumMan.glb"), true),
    ] {
        let target = read(&file);
        let retarget =
            Retarget::new(&motion.skeleton, &target.skeleton, &Options::default()).unwrap();
        let report = retarget.report();
        println!("{}: {:?}", target.name, report.matched);
        let matched = |bone| report.matched.iter().any(|entry| entry.0 == bone);
        for side in Side::BOTH {
            assert!(matched(HumanBone::Foot(side)));
            assert!(matched(HumanBone::Hand(side)) || !arms);
        }
        assert!(matched(HumanBone::Head));
        assert!(report.spine.1 >= 2);
        assert_eq!(report.swapped, (false, false));
    }
}

/// A motion with a turned frame for each joint: it moves as before, but its rest, without rotations, is another.
fn reframed(motion: &Character, frames: impl Fn(usize) -> Quat) -> Character {
    let mut reframed = motion.clone();
    let skeleton = &motion.skeleton;
    let poses: Vec<Pose> = (0..=(motion.clips[0].duration() * FPS) as usize)
        .map(|frame| {
            let mut pose = motion.clips[0].sample(skeleton, frame as f32 / FPS);
            for (joint, local) in pose.locals.iter_mut().enumerate() {
                let parent = skeleton.joints()[joint].parent;
                let carrier = parent.map_or(Quat::IDENTITY, &frames).inverse();
                local.translation = carrier * local.translation;
                local.rotation = carrier * local.rotation * frames(joint);
            }
            pose
        })
        .collect();
    for (joint, local) in poses[0].locals.iter().enumerate() {
        let rest = reframed.skeleton.rest_mut(joint);
        rest.translation = local.translation;
        rest.rotation = Quat::IDENTITY;
    }
    reframed.clips[0] = Clip::from_poses("reframed", &reframed.skeleton, FPS, &poses);
    reframed
}

/// All offsets along one axis, as in LAFAN1, or any frame at all.
#[test]
fn motions_without_a_standing_rest_play_as_with_one() {
    let Some(data) = shared() else { return };
    let target = read(&root().join("crates/supple/assets/male.glb"));
    for name in CLIPS {
        let motion = read(&data.join("mocap").join(name));
        assert!(
            standing_rest(&motion.skeleton, &motion.clips[0], &BoneMap::default()).is_none(),
            "{name} stands at rest"
        );
        let wanted = play(&motion, &target);
        let children = motion.skeleton.children();
        let along_x = |joint: usize| {
            let rest = |child: &usize| motion.skeleton.joints()[*child].rest.translation;
            let bone = children[joint]
                .iter()
                .map(rest)
                .find_map(Vec3::try_normalize);
            bone.map_or(Quat::IDENTITY, |bone| {
                Quat::from_rotation_arc(Vec3::X, bone)
            })
        };
        let any = |joint: usize| {
            let [x, y, z] = [1.0, 2.7, 4.1].map(|turn| turn * (joint as f32 + 1.0));
            Quat::from_euler(glam::EulerRot::XYZ, x, y, z)
        };
        for (kind, mut other) in [
            ("along X", reframed(&motion, along_x)),
            ("any", reframed(&motion, any)),
        ] {
            other.skeleton = standing_rest(&other.skeleton, &other.clips[0], &BoneMap::default())
                .expect("a frame in which it stands");
            let found = play(&other, &target);
            let (mut worst, mut travelled) = (0.0_f32, 0.0_f32);
            let turns = found.retarget.turn() * wanted.retarget.turn().inverse();
            for ((_, a), (_, b)) in wanted.frames.iter().zip(&found.frames) {
                travelled = travelled.max((b[0].translation - a[0].translation).length());
                for joint in 0..target.skeleton.len() {
                    let from_hips = |worlds: &[Affine3A]| place(worlds, joint) - place(worlds, 0);
                    worst = worst.max((from_hips(a) - from_hips(b)).length());
                }
            }
            println!(
                "{name}, {kind}: joints within {worst:.3} m of the hips, hips {travelled:.3} m; turned {turns}"
            );
            assert!(worst < 0.12, "{name}, {kind}: {worst} m");
            assert!(travelled < 0.12, "{name}, {kind}: {travelled} m");
        }
    }
}

#[test]
fn limbs_of_motions_are_found_without_names() {
    let Some(data) = shared() else { return };
    for name in CLIPS {
        let motion = read(&data.join("mocap").join(name));
        let known = Humanoid::find(&motion.skeleton, &BoneMap::default()).unwrap();
        let mut joints = motion.skeleton.joints().to_vec();
        for (index, joint) in joints.iter_mut().enumerate() {
            joint.name = format!("n{index}");
        }
        let (nameless, order) = Skeleton::from_unordered(joints).unwrap();
        let found = Humanoid::find(&nameless, &BoneMap::default()).unwrap();
        for side in Side::BOTH {
            for bone in [
                HumanBone::UpperArm(side),
                HumanBone::LowerArm(side),
                HumanBone::UpperLeg(side),
                HumanBone::LowerLeg(side),
                HumanBone::Foot(side),
            ] {
                let expected = known.joint(bone).map(|joint| order[joint]);
                assert_eq!(found.joint(bone), expected, "{name}: {}", bone.name());
            }
        }
    }
}

/// The feet of a skeleton hung on its root, where they are at rest.
fn with_loose_feet(character: &Character) -> Character {
    let mut loose = character.clone();
    let rest = character.skeleton.rest_worlds();
    let humanoid = Humanoid::find(&character.skeleton, &BoneMap::of(character)).unwrap();
    let mut joints = character.skeleton.joints().to_vec();
    let root = joints.iter().position(|joint| joint.parent.is_none());
    for side in Side::BOTH {
        let foot = humanoid.joint(HumanBone::Foot(side)).unwrap();
        let local = rest[root.unwrap()].inverse() * rest[foot];
        let (scale, rotation, translation) = local.to_scale_rotation_translation();
        joints[foot].parent = root;
        joints[foot].rest = supple_rig::Transform {
            translation,
            rotation,
            scale,
        };
    }
    let (skeleton, order) = Skeleton::from_unordered(joints).unwrap();
    assert!(order.iter().enumerate().all(|(old, &new)| old == new));
    loose.skeleton = skeleton;
    loose
}

/// Feet on the root of a rig for inverse kinematics go where they go on the leg.
#[test]
fn feet_that_hang_on_the_root_follow_the_legs() {
    let own = read(&root().join("crates/supple/assets/male.glb"));
    let loose = with_loose_feet(&own);
    let keyed = supple_rig::keyed::KeyedClip::parse(
        "[[key]]\ntime = 0.5\nupperLeg = [-90, 0, 0]\nlowerLeg = [100, 0, 0]\nfoot = [-15, 0, 0]\n",
    )
    .unwrap();
    let [a, b] = [&own, &loose].map(|character| keyed.on(character, FPS).unwrap());
    for frame in 0..=15 {
        let time = frame as f32 / FPS;
        let [a, b] = [(&a, &own), (&b, &loose)]
            .map(|(clip, on)| clip.sample(&on.skeleton, time).worlds(&on.skeleton));
        for (joint, (a, b)) in a.iter().zip(&b).enumerate() {
            let off = a.translation.distance(b.translation);
            let name = &own.skeleton.joints()[joint].name;
            assert!(off < 1e-3, "{name} is {off} m off at {time} s");
        }
    }
    let Some(data) = shared() else { return };
    let robot = read(&data.join("characters/RobotExpressive.glb"));
    let clip = keyed.on(&robot, FPS).unwrap();
    let humanoid = Humanoid::find(&robot.skeleton, &BoneMap::default()).unwrap();
    assert_eq!(humanoid.loose(&robot.skeleton).len(), 2);
    let worlds = clip.sample(&robot.skeleton, 0.5).worlds(&robot.skeleton);
    let rest = robot.skeleton.rest_worlds();
    for side in Side::BOTH {
        let joints = [HumanBone::LowerLeg(side), HumanBone::Foot(side)]
            .map(|bone| humanoid.joint(bone).unwrap());
        let shank =
            |worlds: &[Affine3A]| place(worlds, joints[0]).distance(place(worlds, joints[1]));
        assert!((shank(&worlds) - shank(&rest)).abs() < 1e-3 * shank(&rest));
    }
}
