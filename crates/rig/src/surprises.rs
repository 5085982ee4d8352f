//! What makes motions go wrong without anything being broken: said before time is spent.

use std::f32::consts::FRAC_PI_2;

use glam::{Quat, Vec3};

use crate::Skeleton;
use crate::character::{Character, Problem, Severity};
use crate::figures::{figures, trees};
use crate::retarget::humanoid::HumanBone;
use crate::retarget::{BoneMap, Humanoid};
use crate::stray_weights::stray_weights;

/// Warnings about weights that look broken, a body that lies, and several bodies in one file.
pub fn surprises(character: &Character) -> Vec<Problem> {
    if character.parts.is_empty() {
        return Vec::new();
    }
    let found = [
        stray_weights(character),
        lying(character),
        several(character),
    ];
    found.into_iter().flatten().collect()
}

fn warning(text: String) -> Option<Problem> {
    Some(Problem {
        severity: Severity::Warning,
        place: String::new(),
        text,
    })
}

/// A person whose head is not above its hips, or who is one only when stood up.
fn lying(character: &Character) -> Option<Problem> {
    let skeleton = &character.skeleton;
    let map = BoneMap::of(character);
    let as_is = Humanoid::find(skeleton, &map).ok();
    let mut raised = skeleton.clone();
    let turn = Quat::from_rotation_x(-FRAC_PI_2);
    for (index, joint) in skeleton.joints().iter().enumerate() {
        if joint.parent.is_none() {
            let rest = raised.rest_mut(index);
            rest.translation = turn * rest.translation;
            rest.rotation = turn * rest.rotation;
        }
    }
    let stood = Humanoid::find(&raised, &map).ok();
    let count = |humanoid: &Option<Humanoid>| humanoid.as_ref().map_or(0, |h| h.bones.len());
    let lies = match as_is.as_ref().and_then(|h| spine(h, skeleton)) {
        Some(spine) => spine.y.abs() < 0.5 * spine.length(),
        None => false,
    };
    let stands = stood.as_ref().and_then(|h| spine(h, &raised));
    let stands = stands.is_some_and(|spine| spine.y > 0.8 * spine.length());
    if stands && (lies || count(&stood) > count(&as_is)) {
        return warning(
            "It lies on the ground, head along Z: if Z is up in the file, `--up z` stands it up, and clips and motions fit."
                .to_owned(),
        );
    }
    None
}

/// From hips to head.
fn spine(humanoid: &Humanoid, skeleton: &Skeleton) -> Option<Vec3> {
    let worlds = skeleton.rest_worlds();
    let at = |bone| Some(Vec3::from(worlds[humanoid.joint(bone)?].translation));
    Some(at(HumanBone::Head)? - at(HumanBone::Hips)?)
}

/// More than one tree of bones that moves skin.
fn several(character: &Character) -> Option<Problem> {
    let trees = trees(&character.skeleton).len();
    let people = figures(character).len();
    match (trees, people) {
        (0 | 1, _) => None,
        (_, 0) => warning(format!(
            "{trees} skeletons in one file: its own clips move all of them, other motions take them for one body. Save each in a file of its own, and put them together in a scene (`supple scene`)."
        )),
        _ => warning(format!(
            "{people} people in one file: every motion moves all of them. Save each in a file of its own for motions of their own, and put them together in a scene (`supple scene`)."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Part;
    use crate::keyed::mannequin;

    fn told(skeleton: Skeleton) -> String {
        let character = Character {
            parts: vec![Part::default()],
            skeleton,
            ..Character::default()
        };
        let texts = surprises(&character).into_iter().map(|p| p.text);
        texts.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_person_stands_or_lies() {
        assert_eq!(told(mannequin()), "");
        for angle in [FRAC_PI_2, -FRAC_PI_2] {
            let mut flat = mannequin();
            let rest = flat.rest_mut(0);
            let turn = Quat::from_rotation_x(angle);
            rest.translation = turn * rest.translation;
            rest.rotation = turn * rest.rotation;
            // Only one of the two is Z up.
            assert_eq!(told(flat).contains("--up z"), angle > 0.0);
        }
    }

    #[test]
    fn two_people_are_two() {
        let mut joints = mannequin().joints().to_vec();
        let count = joints.len();
        let mut second = joints.clone();
        for joint in &mut second {
            joint.parent = joint.parent.map(|parent| parent + count);
        }
        joints.extend(second);
        let (both, _) = Skeleton::from_unordered(joints).unwrap();
        assert!(told(both).contains("2 people"));
    }
}
