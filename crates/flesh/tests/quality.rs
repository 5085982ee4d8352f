//! Volume and cross-sections of the tissue at elbow, knee and twist.

mod common;

use glam::{Quat, Vec3};
use supple_flesh::settings::Resolution;
use supple_flesh::{Flesh, Settings};
use supple_rig::skinning::Method;
use supple_rig::skinning::weights::automatic_binding;
use supple_rig::{Character, Pose};
use supple_sim::{CpuBackend, Equilibrium, State};

/// The tissue in equilibrium, led there in ten steps as a motion would.
fn settled(flesh: &Flesh, pose: &Pose) -> State {
    let settings = supple_sim::Settings::default();
    let mut state = State::at_rest(&flesh.model);
    let mut solver = CpuBackend::new();
    let rest = flesh.rest_pose();
    for k in 1..=10 {
        let search = match k {
            10 => Equilibrium::default(),
            _ => Equilibrium::default().iterations(20),
        };
        let targets = flesh.targets(&rest.blend(pose, k as f32 / 10.0)).unwrap();
        search
            .solve(&mut solver, &flesh.model, &settings, &targets, &mut state)
            .unwrap();
    }
    state
}

/// Rotates a joint about a world axis.
fn turned(character: &Character, joint: usize, axis: Vec3, degrees: f32) -> Pose {
    let mut pose = Pose::rest(&character.skeleton);
    let worlds = character.skeleton.rest_worlds();
    let parent = character.skeleton.joints()[joint].parent;
    let frame = parent.map_or(Quat::IDENTITY, |p| {
        worlds[p].to_scale_rotation_translation().1
    });
    pose.rotate(
        joint,
        Quat::from_axis_angle(frame.inverse() * axis, degrees.to_radians()),
    );
    pose
}

/// Directions of the bones before and after a joint.
fn directions(character: &Character, joint: usize) -> (Vec3, Vec3) {
    let worlds = character.skeleton.rest_worlds();
    let at = |j: usize| Vec3::from(worlds[j].translation);
    let parent = character.skeleton.joints()[joint].parent.unwrap();
    let child = character.skeleton.children()[joint][0];
    (
        (at(joint) - at(parent)).normalize(),
        (at(child) - at(joint)).normalize(),
    )
}

/// Volume around the joint and its smallest section, both relative to rest.
fn measures(flesh: &Flesh, joint: usize, pose: &Pose, state: &State) -> (f64, f64) {
    let skin = flesh.flesh_positions(pose, state).unwrap();
    let (volume, _) = flesh.joint_volume(joint, state).unwrap();
    let section = flesh.smallest_section(joint, pose, &skin).unwrap();
    (volume, section.unwrap_or(f64::NAN))
}

fn measure(
    character: &Character,
    what: &str,
    flesh: &Flesh,
    joint: usize,
    pose: &Pose,
) -> (f64, f64) {
    let skinned = |method| {
        let parts: Vec<Vec<Vec3>> = character
            .skin(pose, method)
            .into_iter()
            .map(|posed| posed.positions)
            .collect();
        let state = flesh.state_of_skin(pose, &parts).unwrap();
        measures(flesh, joint, pose, &state)
    };
    let state = settled(flesh, pose);
    let rows = [
        ("tissue", measures(flesh, joint, pose, &state)),
        ("LBS", skinned(Method::Lbs)),
        ("DQS", skinned(Method::Dqs)),
    ];
    let joint = &character.skeleton.joints()[joint].name;
    println!(
        "{} {joint} {what}, volume and smallest section:",
        character.name
    );
    for (name, (volume, section)) in rows {
        println!(
            "  {name:6} {:6.1} % {:6.1} %",
            100.0 * volume,
            100.0 * section
        );
    }
    rows[0].1
}

/// With weights for the methods that need them.
fn bound(mut character: Character) -> Character {
    for part in &mut character.parts {
        if part.binding.influences.is_empty() {
            part.binding = automatic_binding(&part.mesh, &character.skeleton).unwrap();
        }
    }
    character
}

fn check(character: &Character, joints: &[&str], resolution: Resolution, least_volume: f64) {
    let mut settings = Settings::default();
    settings.detail.resolution = resolution;
    let builder = Flesh::builder(character).settings(settings);
    let flesh = &builder.build().unwrap();
    let mut failed = Vec::new();
    for joint in joints {
        let index = character.skeleton.find(joint).unwrap();
        let (before, after) = directions(character, index);
        let axis = before
            .cross(after)
            .try_normalize()
            .unwrap_or(before.any_orthonormal_vector());
        for degrees in [90.0, 130.0] {
            // Elbows and knees that are already bent get the rest of the angle.
            let bent = before.angle_between(after).to_degrees();
            let pose = turned(character, index, axis, degrees - bent);
            let what = format!("bent to {degrees}°");
            let (volume, section) = measure(character, &what, flesh, index, &pose);
            if volume < least_volume || section < 0.8 {
                failed.push(format!("{joint} {what}: {volume}, {section}"));
            }
        }
        let pose = turned(character, index, after, 180.0);
        let (_, section) = measure(character, "twisted by 180°", flesh, index, &pose);
        if section < 0.8 {
            failed.push(format!("{joint} twisted: {section}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn fps_models() {
    for (model, mesh, joints) in [
        ("cylinder", "cylinder", vec!["joint1", "joint2"]),
        ("male", "male_LR20", vec!["l_elbow", "l_knee"]),
    ] {
        let Some(character) = common::fps(model, mesh) else {
            return;
        };
        check(&bound(character), &joints, Resolution::Full, 0.9);
    }
}

#[test]
fn embedded_bodies() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../supple/assets");
    for file in ["male.glb", "female.glb"] {
        let character = common::glb(&assets.join(file));
        let joints = ["lowerarm01.L", "lowerleg01.L"];
        check(&character, &joints, Resolution::Full, 0.9);
        // Measured 90 % at the elbow's 130°.
        check(&character, &joints, Resolution::Automatic, 0.88);
    }
}
