//! Checks for characters that load without errors but will play motions wrongly.

use std::f32::consts::FRAC_PI_2;

use glam::{Quat, Vec3};

use crate::Skeleton;
use crate::character::{Character, Problem, Remedy, Severity};
use crate::figures::{figures, skeleton_trees};
use crate::retarget::humanoid::{HumanBone, Side};
use crate::retarget::{BoneMap, Humanoid};
use crate::stray_weights::stray_weights;

/// Warnings about broken skin weights, a lying body, several bodies in one file, and skin that does not hang on the body.
pub fn motion_warnings(character: &Character) -> Vec<Problem> {
    if character.parts.is_empty() {
        return Vec::new();
    }
    let found = [
        stray_weights(character),
        lying_warning(character),
        several_bodies_warning(character),
        loose_ends_note(character),
        left_behind_warning(character),
    ];
    found.into_iter().flatten().collect()
}

fn warning(remedy: Option<Remedy>, text: String) -> Option<Problem> {
    Some(Problem {
        severity: Severity::Warning,
        remedy,
        place: String::new(),
        text,
    })
}

/// A person whose head is not above the hips, or that is recognised only with Z up.
fn lying_warning(character: &Character) -> Option<Problem> {
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
    let creature = stood.as_ref().is_some_and(|h| is_creature(h, skeleton));
    if stands && !creature && (lies || count(&stood) > count(&as_is)) {
        return warning(
            Some(Remedy::UpZ),
            "The body lies on the ground with its head along Z. If Z is up in the file, set it so; otherwise clips and motions will not fit."
                .to_owned(),
        );
    }
    None
}

/// Parts of bodies that people do not have, in names of joints.
const CREATURE_WORDS: [&str; 6] = ["wing", "beak", "feather", "paw", "hoof", "tail"];

/// Whether a body with a level spine is a bird or a quadruped: its legs reach down, or it has wings or paws.
fn is_creature(humanoid: &Humanoid, skeleton: &Skeleton) -> bool {
    let worlds = skeleton.rest_worlds();
    let at = |bone| Some(Vec3::from(worlds[humanoid.joint(bone)?].translation));
    let legs = Side::BOTH.into_iter().filter_map(|side| {
        let end = at(HumanBone::Foot(side)).or_else(|| at(HumanBone::LowerLeg(side)))?;
        Some(end - at(HumanBone::UpperLeg(side))?)
    });
    let legs: Vec3 = legs.sum();
    let named = |name: &str| {
        let name = name.to_lowercase();
        CREATURE_WORDS.iter().any(|word| name.contains(word))
    };
    legs.y < -0.5 * legs.length() || skeleton.joints().iter().any(|joint| named(&joint.name))
}

/// Vector from hips to head.
fn spine(humanoid: &Humanoid, skeleton: &Skeleton) -> Option<Vec3> {
    let worlds = skeleton.rest_worlds();
    let at = |bone| Some(Vec3::from(worlds[humanoid.joint(bone)?].translation));
    Some(at(HumanBone::Head)? - at(HumanBone::Hips)?)
}

/// More than one skeleton with skin.
fn several_bodies_warning(character: &Character) -> Option<Problem> {
    let trees = skeleton_trees(&character.skeleton).len();
    let people = figures(character).len();
    match (trees, people) {
        (0 | 1, _) => None,
        (_, 0) => warning(
            Some(Remedy::Scene),
            format!(
                "The file holds {trees} skeletons. Its own clips move all of them; other motions treat them as one body. Save each in its own file."
            ),
        ),
        _ => warning(
            Some(Remedy::Scene),
            format!(
                "The file holds {people} people. Every motion moves all of them. To give each its own motion, save each in its own file."
            ),
        ),
    }
}

/// Feet and hands that hang elsewhere than on their limbs.
fn loose_ends_note(character: &Character) -> Option<Problem> {
    let skeleton = &character.skeleton;
    let humanoid = Humanoid::find(skeleton, &BoneMap::of(character)).ok()?;
    let loose = humanoid.loose(skeleton);
    let names: Vec<&str> = (loose.iter())
        .map(|&joint| skeleton.joints()[joint].name.as_str())
        .collect();
    (!loose.is_empty()).then(|| Problem {
        remedy: None,
        severity: Severity::Note,
        place: String::new(),
        text: format!(
            "{} do not hang on their limbs (a rig for inverse kinematics). Embedded clips and motions of other files carry them along.",
            names.join(", ")
        ),
    })
}

/// Share of the skin above which joints beside the body are reported: below are eyes, buckles and controls.
const LEFT_BEHIND: f32 = 0.01;

/// Skin of a person on joints that neither the hips nor a limb carries.
fn left_behind_warning(character: &Character) -> Option<Problem> {
    let skeleton = &character.skeleton;
    let humanoid = Humanoid::find(skeleton, &BoneMap::of(character)).ok()?;
    if skeleton_trees(skeleton).len() > 1 {
        return None;
    }
    let mut carriers = humanoid.loose(skeleton);
    carriers.extend(humanoid.joint(HumanBone::Hips));
    let joints = skeleton.joints();
    let above = |joint| std::iter::successors(Some(joint), |&joint: &usize| joints[joint].parent);
    let is_carried = |joint| above(joint).any(|joint| carriers.contains(&joint));
    let (mut all, mut left) = (0.0_f32, vec![0.0_f32; joints.len()]);
    for part in &character.parts {
        let binding = &part.binding;
        if binding.computed || character.is_scenery(part) {
            continue;
        }
        for &(slot, weight) in &binding.influences.entries {
            all += weight;
            let joint = binding.joints.get(slot as usize).copied();
            if let Some(joint) = joint.filter(|&joint| joint < joints.len()) {
                left[joint] += weight;
            }
        }
    }
    let mut names: Vec<&str> = Vec::new();
    let mut share = 0.0;
    for (joint, weight) in left.iter().enumerate() {
        if *weight > 0.0 && !is_carried(joint) {
            names.push(&joints[joint].name);
            share += weight / all.max(f32::MIN_POSITIVE);
        }
    }
    if share < LEFT_BEHIND {
        return None;
    }
    let shown = names.iter().take(4).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 4 { ", …" } else { "" };
    let text = format!(
        "{:.0} % of the skin hangs on joints beside the body ({shown}{more}). In embedded clips and motions of other files it stays where it is; the file's own clips move it.",
        100.0 * share
    );
    warning(None, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Part;
    use crate::keyed::mannequin;

    fn warnings_of(skeleton: Skeleton) -> String {
        let character = Character {
            parts: vec![Part::default()],
            skeleton,
            ..Character::default()
        };
        let texts = motion_warnings(&character).into_iter().map(|p| p.text);
        texts.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn lying_bodies_are_reported() {
        assert_eq!(warnings_of(mannequin()), "");
        for angle in [FRAC_PI_2, -FRAC_PI_2] {
            let mut flat = mannequin();
            let rest = flat.rest_mut(0);
            let turn = Quat::from_rotation_x(angle);
            rest.translation = turn * rest.translation;
            rest.rotation = turn * rest.rotation;
            // Only one of the two is Z up.
            assert_eq!(warnings_of(flat).contains("Z is up"), angle > 0.0);
        }
    }

    /// A bird that stands has a level spine and legs that reach down; one that flies has level legs and wings.
    #[test]
    fn birds_do_not_lie() {
        let flat = || {
            let mut flat = mannequin();
            let rest = flat.rest_mut(0);
            let turn = Quat::from_rotation_x(FRAC_PI_2);
            rest.translation = turn * rest.translation;
            rest.rotation = turn * rest.rotation;
            flat
        };
        assert!(warnings_of(flat()).contains("Z is up"));
        let mut standing = flat();
        let humanoid = Humanoid::find(&mannequin(), &BoneMap::default()).unwrap();
        for side in Side::BOTH {
            let hip = humanoid.joint(HumanBone::UpperLeg(side)).unwrap();
            let rest = standing.rest_mut(hip);
            rest.rotation = Quat::from_rotation_x(-FRAC_PI_2) * rest.rotation;
        }
        assert_eq!(warnings_of(standing), "");
        let mut joints = flat().joints().to_vec();
        let mut wing = joints[0].clone();
        wing.name = "Wing_L".to_owned();
        wing.parent = Some(0);
        joints.push(wing);
        let (flying, _) = Skeleton::from_unordered(joints).unwrap();
        assert_eq!(warnings_of(flying), "");
    }

    /// Feet on the root are carried; a person's skin on another root joint stays behind, and this is said.
    #[test]
    fn skin_beside_the_body_is_reported() {
        use crate::character::{Binding, Influences};
        let mut joints = mannequin().joints().to_vec();
        let find = |name: &str| mannequin().find(name).unwrap();
        let worlds = mannequin().rest_worlds();
        let root = joints.len();
        joints.push(crate::Joint {
            name: "root".to_owned(),
            parent: None,
            rest: crate::Transform::IDENTITY,
            tail: None,
            kind: crate::skeleton::JointKind::Bone,
        });
        joints[find("hips")].parent = Some(root);
        for foot in ["leftFoot", "rightFoot"].map(find) {
            joints[foot].parent = Some(root);
            joints[foot].rest.translation = worlds[foot].translation.into();
        }
        let (skeleton, order) = Skeleton::from_unordered(joints).unwrap();
        let text = warnings_of(skeleton.clone());
        assert!(text.contains("leftFoot, rightFoot do not hang"), "{text}");
        let bound_to = |joint: usize| Character {
            skeleton: skeleton.clone(),
            parts: vec![Part {
                mesh: supple_geom::shapes::icosphere(0.1, 1),
                binding: Binding {
                    joints: vec![order[joint]],
                    inverse_binds: vec![glam::Affine3A::IDENTITY],
                    influences: Influences::rigid(0, 42),
                    computed: false,
                },
                ..Part::default()
            }],
            ..Character::default()
        };
        let said = |joint: usize| left_behind_warning(&bound_to(joint)).map(|problem| problem.text);
        assert_eq!(said(find("leftToes")), None);
        assert_eq!(said(find("head")), None);
        assert!(said(root).is_some_and(|text| text.contains("100 % of the skin")));
    }

    #[test]
    fn two_people_are_reported() {
        let mut joints = mannequin().joints().to_vec();
        let count = joints.len();
        let mut second = joints.clone();
        for joint in &mut second {
            joint.parent = joint.parent.map(|parent| parent + count);
        }
        joints.extend(second);
        let (both, _) = Skeleton::from_unordered(joints).unwrap();
        assert!(warnings_of(both).contains("2 people"));
    }
}
