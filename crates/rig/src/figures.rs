//! Files with several people: each one plays a motion on its own skeleton.

use std::collections::BTreeMap;

use crate::character::Character;
use crate::retarget::humanoid::{HumanBone, Side};
use crate::retarget::{BoneMap, Humanoid};
use crate::skeleton::JointKind;
use crate::{Clip, Skeleton};

/// Fewest bones of a tree of joints that counts as a skeleton; controls and props have fewer.
const MIN_SKELETON_BONES: usize = 8;
/// Least height of a person relative to the tallest one. Separate bone trees of hair and skirts are shorter.
const MIN_RELATIVE_HEIGHT: f32 = 1.0 / 3.0;

/// Bone joints of every tree with at least [`MIN_SKELETON_BONES`] bones, without their non-bone ancestors.
pub(crate) fn skeleton_trees(skeleton: &Skeleton) -> Vec<Vec<usize>> {
    let joints = skeleton.joints();
    let mut top: Vec<usize> = (0..joints.len()).collect();
    let mut trees: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, joint) in joints.iter().enumerate() {
        // Parents come before children.
        if let Some(parent) = joint.parent
            && joints[parent].kind == JointKind::Bone
        {
            top[index] = top[parent];
        }
        if joint.kind == JointKind::Bone {
            trees.entry(top[index]).or_default().push(index);
        }
    }
    trees
        .into_values()
        .filter(|t| t.len() >= MIN_SKELETON_BONES)
        .collect()
}

/// Splits a file into its people: a character for each, with the indices of its joints in the file's skeleton. Empty
/// unless there are at least two people; hair with its own bone tree does not count.
pub fn figures(character: &Character) -> Vec<(Character, Vec<usize>)> {
    let trees = skeleton_trees(&character.skeleton);
    if trees.len() < 2 || character.humanoid.is_some() {
        return Vec::new();
    }
    let mut all: Vec<_> = trees
        .iter()
        .filter_map(|tree| extract_tree(character, tree))
        .collect();
    let height = |(one, _): &(Character, Vec<usize>)| bone_height(&one.skeleton);
    let tallest = all.iter().map(height).fold(0.0, f32::max);
    all.retain(|one| height(one) >= MIN_RELATIVE_HEIGHT * tallest && is_person(&one.0));
    if all.len() < 2 { Vec::new() } else { all }
}

/// Applies `play` to each person of a file and merges the clips. People for whom `play` fails stay at rest. With fewer
/// than two people, `play` gets the whole character.
pub fn on_each<E>(
    character: &Character,
    play: impl Fn(&Character) -> Result<Clip, E>,
) -> Result<Clip, E> {
    let mut together: Option<Clip> = None;
    for (one, joints) in figures(character) {
        let Ok(mut clip) = play(&one) else { continue };
        for track in &mut clip.tracks {
            track.joint = joints[track.joint];
        }
        match &mut together {
            Some(all) => all.tracks.append(&mut clip.tracks),
            None => together = Some(clip),
        }
    }
    together.map_or_else(|| play(character), Ok)
}

/// A character made of one bone tree, its ancestors, and the parts that only these joints move.
fn extract_tree(character: &Character, tree: &[usize]) -> Option<(Character, Vec<usize>)> {
    let joints = character.skeleton.joints();
    let mut place = vec![None; joints.len()];
    for &joint in tree {
        let mut at = Some(joint);
        while let Some(here) = at.filter(|&here| place[here].is_none()) {
            place[here] = Some(0);
            at = joints[here].parent;
        }
    }
    let kept: Vec<usize> = (0..joints.len()).filter(|&j| place[j].is_some()).collect();
    for (index, &joint) in kept.iter().enumerate() {
        place[joint] = Some(index);
    }
    let own = kept.iter().map(|&joint| {
        let mut own = joints[joint].clone();
        own.parent = own.parent.and_then(|parent| place[parent]);
        own
    });
    let (skeleton, order) = Skeleton::from_unordered(own.collect()).ok()?;
    let mut original = vec![0; kept.len()];
    for (&new, &joint) in order.iter().zip(&kept) {
        original[new] = joint;
        place[joint] = Some(new);
    }
    let mut parts = Vec::new();
    for part in &character.parts {
        let slots = part.binding.joints.iter();
        let Some(slots) = slots.map(|&joint| *place.get(joint)?).collect() else {
            continue;
        };
        let mut part = part.clone();
        part.binding.joints = slots;
        parts.push(part);
    }
    let name = character.name.clone();
    let one = Character {
        name,
        skeleton,
        parts,
        ..Character::default()
    };
    Some((one, original))
}

/// Whether the skeleton is a humanoid with a head and two arms.
fn is_person(character: &Character) -> bool {
    let found = Humanoid::find(&character.skeleton, &BoneMap::default());
    found.is_ok_and(|humanoid| {
        let arm = |side| humanoid.joint(HumanBone::UpperArm(side)).is_some();
        humanoid.joint(HumanBone::Head).is_some() && Side::BOTH.into_iter().all(arm)
    })
}

/// Vertical extent of the bones at rest \[m\].
fn bone_height(skeleton: &Skeleton) -> f32 {
    let worlds = skeleton.rest_worlds();
    let bones = worlds.iter().zip(skeleton.joints());
    let heights = bones
        .filter(|(_, joint)| joint.kind == JointKind::Bone)
        .map(|(world, _)| world.translation.y);
    let (low, high) = heights.fold((f32::MAX, f32::MIN), |(l, h), y| (l.min(y), h.max(y)));
    (high - low).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyed::{KeyedClip, mannequin};
    use glam::Vec3;

    fn pair() -> Character {
        let mut joints = mannequin().joints().to_vec();
        let count = joints.len();
        let mut second = joints.clone();
        for joint in &mut second {
            joint.parent = joint.parent.map(|parent| parent + count);
        }
        second[0].rest.translation += Vec3::new(2.0, 0.0, 0.0);
        joints.extend(second);
        Character {
            skeleton: Skeleton::from_unordered(joints).unwrap().0,
            ..Character::default()
        }
    }

    #[test]
    fn both_bodies_play_a_motion_where_they_stand() {
        let both = pair();
        let alone = Character {
            skeleton: mannequin(),
            ..Character::default()
        };
        let keys = "[[key]]\ntime = 1.0\nupperLeg = [-80, 0, 0]\nlowerLeg = [90, 0, 0]\n";
        let keyed = KeyedClip::parse(keys).unwrap();
        let clip = on_each(&both, |one| keyed.on(one, 10.0)).unwrap();
        let expected = keyed.on(&alone, 10.0).unwrap().sample(&alone.skeleton, 1.0);
        let expected = expected.worlds(&alone.skeleton);
        let posed = clip.sample(&both.skeleton, 1.0).worlds(&both.skeleton);
        let rest = both.skeleton.rest_worlds();
        let mut seen = 0;
        for (name, world) in both.skeleton.joints().iter().zip(rest).zip(&posed) {
            let (joint, rest) = name;
            let twin = alone.skeleton.find(&joint.name).unwrap();
            let aside = if rest.translation.x > 1.0 {
                Vec3::X * 2.0
            } else {
                Vec3::ZERO
            };
            let wanted = Vec3::from(expected[twin].translation) + aside;
            assert!(
                wanted.distance(world.translation.into()) < 1e-4,
                "{}",
                joint.name
            );
            seen += 1;
        }
        assert_eq!(seen, 2 * alone.skeleton.len());
    }

    #[test]
    fn hair_bones_do_not_count_as_a_person() {
        let mut joints = mannequin().joints().to_vec();
        let alone = Character {
            skeleton: mannequin(),
            ..Character::default()
        };
        assert!(figures(&alone).is_empty());
        let first = joints.len();
        for index in 0..12 {
            let mut lock = joints[0].clone();
            lock.name = format!("hair{index}");
            lock.parent = (index > 0).then(|| first + index - 1);
            lock.rest.translation = if index == 0 {
                Vec3::Y * 1.6
            } else {
                Vec3::Y * -0.1
            };
            joints.push(lock);
        }
        let hair = Character {
            skeleton: Skeleton::from_unordered(joints).unwrap().0,
            ..Character::default()
        };
        assert_eq!(skeleton_trees(&hair.skeleton).len(), 2);
        assert!(figures(&hair).is_empty());
    }
}
