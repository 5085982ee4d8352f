//! Motions made for the skeleton at hand: played joint by joint, humanoid or not.
//!
//! Three cases, in order of trust: joints of the same names at the same rest transforms share their tracks; numbered joints
//! (`.anim` has no names) are those of the skeleton's file in order; joints of the same names with other rest transforms copy
//! world rotations relative to rest.

use std::collections::HashMap;

use glam::{Quat, Vec3};

use crate::clip::{Track, Values};
use crate::{Character, Clip, Pose, Skeleton};

/// Largest difference of two rest transforms that count as the same: share of the skeleton's size, and angle. Above, feet of
/// a differently proportioned body slide; below, files rounded to a few digits differ.
const SAME_PLACE: f32 = 0.01;
const SAME_ANGLE: f32 = 0.02;

/// Why numbered joints cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it has {motion} joints, but the skeleton has {skeleton}; an .anim plays on the .skel it was made for"
)]
pub struct TooManyJoints {
    /// Joints of the motion.
    pub motion: usize,
    /// Joints of the skeleton.
    pub skeleton: usize,
}

/// Plays a clip of another file joint by joint, if that file has the character's skeleton, or some of it.
pub fn direct(
    character: &Character,
    source: &Character,
    clip: &Clip,
) -> Result<Option<Clip>, TooManyJoints> {
    if is_numbered(&source.skeleton) {
        return numbered(character, source, clip).map(Some);
    }
    let (own, other) = (&character.skeleton, &source.skeleton);
    let Some(pairs) = by_name(own, other, clip) else {
        return Ok(None);
    };
    let size = extent(own);
    let same = |(from, to): (usize, usize)| {
        let (a, b) = (other.joints()[from].rest, own.joints()[to].rest);
        a.rotation.dot(b.rotation).abs() > (0.5 * SAME_ANGLE).cos()
            && a.translation.distance(b.translation) <= SAME_PLACE * size
            && a.scale.distance(b.scale) < SAME_PLACE
    };
    if !pairs.iter().all(|(&from, &to)| same((from, to))) {
        return Ok(None);
    }
    let tracks = clip.tracks.iter().filter_map(|track| {
        Some(Track {
            joint: *pairs.get(&track.joint)?,
            ..track.clone()
        })
    });
    Ok(Some(Clip {
        name: clip.name.clone(),
        tracks: tracks.collect(),
        morphs: Vec::new(),
    }))
}

/// Plays a clip on joints of the same names whose rest transforms differ: world rotations relative to rest are copied, and
/// the travel of roots is scaled by the size of the skeletons. `None` if the names differ.
pub fn with_other_rest(
    character: &Character,
    source: &Character,
    clip: &Clip,
    fps: f32,
) -> Option<Clip> {
    let (own, other) = (&character.skeleton, &source.skeleton);
    let pairs = by_name(own, other, clip)?;
    let scale = extent(own) / extent(other).max(f32::MIN_POSITIVE);
    let from_of: HashMap<usize, usize> = pairs.iter().map(|(&from, &to)| (to, from)).collect();
    let rests = [own, other].map(|skeleton| Pose::rest(skeleton).world_rotations(skeleton));
    let frames = (clip.duration() * fps + 1e-3).floor() as usize;
    let pose_at = |frame: usize| {
        let sampled = clip.sample(other, frame as f32 / fps);
        let turned = sampled.world_rotations(other);
        let mut pose = Pose::rest(own);
        let mut rotations: Vec<Quat> = Vec::with_capacity(own.len());
        for (index, joint) in own.joints().iter().enumerate() {
            let parent = joint.parent.map_or(Quat::IDENTITY, |p| rotations[p]);
            let local = &mut pose.locals[index];
            if let Some(&from) = from_of.get(&index) {
                let world = turned[from] * rests[1][from].inverse() * rests[0][index];
                local.rotation = (parent.inverse() * world).normalize();
                if joint.parent.is_none() {
                    let at_rest = other.joints()[from].rest.translation;
                    local.translation += scale * (sampled.locals[from].translation - at_rest);
                }
            }
            rotations.push((parent * local.rotation).normalize());
        }
        pose
    };
    let poses: Vec<Pose> = (0..=frames).map(pose_at).collect();
    Some(Clip::from_poses(&clip.name, own, fps, &poses))
}

/// Whether the joints of a file are only numbered: no names, no parents, no places.
fn is_numbered(skeleton: &Skeleton) -> bool {
    let bare = |joint: &crate::Joint| {
        joint.name.is_empty() && joint.parent.is_none() && joint.rest.translation == Vec3::ZERO
    };
    !skeleton.is_empty() && skeleton.joints().iter().all(bare)
}

/// Numbered rotations are about the mesh's axes, on top of the parent's.
fn numbered(character: &Character, source: &Character, clip: &Clip) -> Result<Clip, TooManyJoints> {
    let skeleton = &character.skeleton;
    let order = &character.file_joints;
    let joints = source.skeleton.len();
    if joints > skeleton.len() {
        return Err(TooManyJoints {
            motion: joints,
            skeleton: skeleton.len(),
        });
    }
    let rests = Pose::rest(skeleton).world_rotations(skeleton);
    // The motion has the axes of the character's mesh.
    let axes = match character.units.up == source.units.up {
        true => Quat::IDENTITY,
        false => Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
    };
    let tracks = clip.tracks.iter().map(|track| {
        let joint = order.get(track.joint).copied().unwrap_or(track.joint);
        let node = &skeleton.joints()[joint];
        let parent = node.parent.map_or(Quat::IDENTITY, |parent| rests[parent]);
        let local = |&turn: &Quat| {
            let world = axes * turn * axes.inverse();
            parent.inverse() * world * parent * node.rest.rotation
        };
        let values = match &track.values {
            Values::Rotation(turns) => Values::Rotation(turns.iter().map(local).collect()),
            other => other.clone(),
        };
        Track {
            joint,
            values,
            ..track.clone()
        }
    });
    Ok(Clip {
        name: clip.name.clone(),
        tracks: tracks.collect(),
        morphs: Vec::new(),
    })
}

/// The skeleton's joint of each joint of the other that the clip moves: of the same name, below a joint of the same name.
/// `None` if a joint that moves has no counterpart, or if names repeat.
fn by_name(own: &Skeleton, other: &Skeleton, clip: &Clip) -> Option<HashMap<usize, usize>> {
    let mut named: HashMap<&str, usize> = HashMap::new();
    for (index, joint) in own.joints().iter().enumerate() {
        if !joint.name.is_empty() && named.insert(&joint.name, index).is_some() {
            return None;
        }
    }
    let name_above = |skeleton: &Skeleton, joint: usize| {
        let parent = skeleton.joints()[joint].parent?;
        Some(skeleton.joints()[parent].name.clone())
    };
    let mut pairs = HashMap::new();
    for track in &clip.tracks {
        let joint = other.joints().get(track.joint)?;
        let &to = named.get(joint.name.as_str())?;
        let above = name_above(other, track.joint);
        if above.is_some() && above != name_above(own, to) {
            return None;
        }
        if pairs
            .insert(track.joint, to)
            .is_none_or(|before| before == to)
        {
            continue;
        }
        return None;
    }
    let targets: std::collections::HashSet<usize> = pairs.values().copied().collect();
    (!pairs.is_empty() && targets.len() == pairs.len()).then_some(pairs)
}

/// Size of the box around the joints at rest \[m\].
fn extent(skeleton: &Skeleton) -> f32 {
    let worlds = skeleton.rest_worlds().into_iter();
    let places = worlds.map(|world| world.translation.into());
    let bounds = supple_geom::Aabb::of_points(places);
    if bounds.is_empty() {
        0.0
    } else {
        bounds.diagonal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::Interpolation;
    use crate::skeleton::JointKind;
    use crate::{Joint, Transform};

    fn joint(name: &str, parent: Option<usize>, rest: Transform) -> Joint {
        Joint {
            name: name.to_owned(),
            parent,
            rest,
            tail: None,
            kind: JointKind::Bone,
        }
    }

    /// Three joints of a tentacle, with the same places and any joint axes.
    fn tentacle(axes: [Quat; 3]) -> Character {
        let mut joints = Vec::new();
        let (mut before, mut parent) = (Quat::IDENTITY, None);
        for (index, (name, turn)) in ["root", "middle", "tip"].into_iter().zip(axes).enumerate() {
            let rest = Transform {
                translation: before.inverse() * Vec3::Y,
                rotation: before.inverse() * turn,
                ..Transform::IDENTITY
            };
            joints.push(joint(name, parent, rest));
            (before, parent) = (turn, Some(index));
        }
        Character {
            skeleton: Skeleton::from_unordered(joints).unwrap().0,
            ..Character::default()
        }
    }

    fn bend(joint: usize, rest: Quat) -> Clip {
        Clip {
            tracks: vec![Track {
                joint,
                times: vec![0.0, 1.0],
                values: Values::Rotation(vec![rest, Quat::from_rotation_x(1.0) * rest]),
                interpolation: Interpolation::Linear,
            }],
            ..Clip::default()
        }
    }

    fn tip(character: &Character, clip: &Clip) -> Vec3 {
        let pose = clip.sample(&character.skeleton, 1.0);
        pose.worlds(&character.skeleton)[2].translation.into()
    }

    #[test]
    fn the_same_skeleton_shares_tracks() {
        let own = tentacle([Quat::IDENTITY; 3]);
        let mut longer = own.clone();
        let clip = bend(1, Quat::IDENTITY);
        let played = direct(&own, &own, &clip).unwrap().unwrap();
        assert_eq!(played.tracks, clip.tracks);
        // Another length of a joint that moves, or another name, is another skeleton.
        longer.skeleton.rest_mut(1).translation *= 1.5;
        assert!(direct(&longer, &own, &clip).unwrap().is_none());
        let mut renamed = own.skeleton.joints().to_vec();
        renamed[1].name = "knee".into();
        let renamed = Character {
            skeleton: Skeleton::from_unordered(renamed).unwrap().0,
            ..Character::default()
        };
        assert!(direct(&renamed, &own, &clip).unwrap().is_none());
        assert!(with_other_rest(&renamed, &own, &clip, 30.0).is_none());
    }

    #[test]
    fn joint_axes_may_differ() {
        let own = tentacle([Quat::IDENTITY; 3]);
        let turned = tentacle([
            Quat::from_rotation_z(1.0),
            Quat::from_rotation_y(2.0),
            Quat::from_rotation_x(-0.5),
        ]);
        let clip = bend(1, Quat::IDENTITY);
        assert!(direct(&turned, &own, &clip).unwrap().is_none());
        let played = with_other_rest(&turned, &own, &clip, 30.0).unwrap();
        let off = tip(&turned, &played).distance(tip(&own, &clip));
        assert!(off < 1e-4, "{off}");
    }

    #[test]
    fn numbered_joints_are_the_first_of_the_file() {
        let mut own = tentacle([Quat::IDENTITY; 3]);
        let mut motion = Character {
            skeleton: Skeleton::from_unordered(vec![joint("", None, Transform::IDENTITY); 2])
                .unwrap()
                .0,
            ..Character::default()
        };
        let clip = bend(1, Quat::IDENTITY);
        let played = direct(&own, &motion, &clip).unwrap().unwrap();
        assert!(tip(&own, &played).distance(tip(&own, &clip)) < 1e-6);
        // The file listed the tip second.
        own.file_joints = vec![0, 2, 1];
        let played = direct(&own, &motion, &clip).unwrap().unwrap();
        assert_eq!(played.tracks[0].joint, 2);
        // A mesh with Z up turns about the same axis of the mesh: X stays X, Y becomes -Z.
        own.units.up = crate::character::Up::Z;
        let about_y = Clip {
            tracks: vec![Track {
                values: Values::Rotation(vec![Quat::from_rotation_y(1.0)]),
                times: vec![0.0],
                ..clip.tracks[0].clone()
            }],
            ..Clip::default()
        };
        let played = direct(&own, &motion, &about_y).unwrap().unwrap();
        let Values::Rotation(turns) = &played.tracks[0].values else {
            panic!("rotations");
        };
        assert!(turns[0].abs_diff_eq(Quat::from_rotation_z(-1.0), 1e-6));
        // More joints than the skeleton has.
        motion.skeleton = Skeleton::from_unordered(vec![joint("", None, Transform::IDENTITY); 4])
            .unwrap()
            .0;
        assert!(direct(&own, &motion, &clip).is_err());
    }
}
