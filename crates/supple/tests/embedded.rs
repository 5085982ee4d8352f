//! Properties of the embedded bodies and clips.

use supple::embedded::{Body, body, clip, clip_names};
use supple::rig::retarget::{BoneMap, HumanBone, Humanoid, humanoid::Side};
use supple::{Character, Clip};

fn joint(character: &Character, bone: HumanBone) -> usize {
    let humanoid = Humanoid::find(&character.skeleton, &BoneMap::default()).unwrap();
    humanoid.joint(bone).unwrap()
}

fn position(character: &Character, clip: &Clip, time: f32, joint: usize) -> glam::Vec3 {
    clip.sample(&character.skeleton, time)
        .worlds(&character.skeleton)[joint]
        .translation
        .into()
}

/// Largest bend of a hinge over a clip, from straight [degrees].
fn largest_bend(character: &Character, clip: &Clip, chain: [HumanBone; 3]) -> f32 {
    let chain = chain.map(|bone| joint(character, bone));
    let bend = |frame: usize| {
        let [a, b, c] = chain.map(|joint| position(character, clip, frame as f32 / 30.0, joint));
        (b - a).angle_between(c - b).to_degrees()
    };
    (0..=(clip.duration() * 30.0) as usize)
        .map(bend)
        .fold(0.0, f32::max)
}

#[test]
fn clips_last_about_twenty_seconds_in_all() {
    let character = body(Body::Male).unwrap();
    let seconds: f32 = clip_names()
        .map(|name| clip(name, &character).unwrap().duration())
        .sum();
    assert!((18.0..=24.0).contains(&seconds), "{seconds}");
}

#[test]
fn elbow_and_knee_reach_130_degrees_on_both_bodies() {
    for which in [Body::Male, Body::Female] {
        let character = body(which).unwrap();
        let side = Side::Left;
        let arm = [
            HumanBone::UpperArm(side),
            HumanBone::LowerArm(side),
            HumanBone::Hand(side),
        ];
        let leg = [
            HumanBone::UpperLeg(side),
            HumanBone::LowerLeg(side),
            HumanBone::Foot(side),
        ];
        let elbow = largest_bend(&character, &clip("elbow", &character).unwrap(), arm);
        let knee = largest_bend(&character, &clip("knee", &character).unwrap(), leg);
        assert!((elbow - 130.0).abs() < 5.0, "elbow {elbow}");
        assert!((knee - 130.0).abs() < 8.0, "knee {knee}");
    }
}

#[test]
fn feet_stay_on_the_ground_but_for_the_jump() {
    for which in [Body::Male, Body::Female] {
        let character = body(which).unwrap();
        let height = character.height();
        for name in clip_names() {
            let clip = clip(name, &character).unwrap();
            let lowest = |time: f32| {
                let pose = clip.sample(&character.skeleton, time);
                let skin = character.skin(&pose, supple::rig::skinning::Method::Lbs);
                skin.iter()
                    .flat_map(|part| &part.positions)
                    .fold(f32::MAX, |low, p| low.min(p.y))
            };
            let frames = (clip.duration() * 10.0) as usize;
            let heights: Vec<f32> = (0..=frames)
                .map(|frame| lowest(frame as f32 / 10.0))
                .collect();
            let ground = heights[0];
            let above = heights.iter().fold(0.0_f32, |most, h| most.max(h - ground));
            let below = heights.iter().fold(0.0_f32, |most, h| most.max(ground - h));
            assert!(
                below < 0.02 * height,
                "{which:?} {name}: {below} m below the ground"
            );
            match name {
                "jump" => assert!(above > 0.08 * height, "{which:?} jumps {above} m"),
                _ => assert!(
                    above < 0.02 * height,
                    "{which:?} {name}: {above} m above the ground"
                ),
            }
        }
    }
}

#[test]
fn broken_weights_are_told_from_good_ones() {
    use supple::rig::motion_warnings::motion_warnings;
    let good = body(Body::Female).unwrap();
    assert_eq!(motion_warnings(&good), []);
    let moved = |slot: &dyn Fn(u32) -> u32| {
        let mut broken = good.clone();
        for entry in &mut broken.parts[0].binding.influences.entries {
            entry.0 = slot(entry.0);
        }
        broken
    };
    // All on one joint.
    let told = &motion_warnings(&moved(&|_| 0))[0].text;
    let first = good.parts[0].binding.joints[0];
    assert!(told.contains(&good.skeleton.joints()[first].name), "{told}");
    // Joints in another order than the weights were made for.
    let count = good.parts[0].binding.joints.len() as u32;
    let told = &motion_warnings(&moved(&|slot| (slot + 40) % count))[0].text;
    assert!(told.contains("far away"), "{told}");
}
