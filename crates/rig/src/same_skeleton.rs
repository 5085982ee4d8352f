//! Motions made for the skeleton at hand: played joint by joint, humanoid or not.
//!
//! Three cases, in order of trust: joints of the same names that lie at the same places in their parents' frames share their
//! tracks; numbered joints (`.anim` has no names) are those of the skeleton's file in order; joints of the same names at other
//! places copy world rotations relative to rest.
//!
//! The rest rotations may differ in the first case. A local transform places a joint in its parent's frame, whatever its rest, and
//! two rigs whose bones lead the same way in the same frames have the same frames. Files with motions often keep the first
//! frame of one as their rest pose.

use std::collections::HashMap;

use glam::{Quat, Vec3};

use crate::clip::{Interpolation, Track, Values};
use crate::same_names::Pairs;
use crate::{Character, Clip, Pose, Skeleton};

/// Largest distance between a joint's places in its parent's frame in two files that count as the same: a share of its
/// distance from the parent, plus a share of the longest such distance. Above, feet of a differently proportioned body slide;
/// below, files rounded to a few digits differ. Set on generated skeletons and the shared characters.
const SAME_OFFSET: f32 = 0.05;
const SAME_PLACE: f32 = 0.02;
/// Least share of the length of all bones that must be the same. Lower, another body plays the motion as it stands; higher, a
/// rest pose in which some joints are pulled out of place (feet of an IK rig) is refused.
const SAME_SHARE: f32 = 0.9;
/// Smallest difference of two rotations that matters \[rad\].
const SAME_ANGLE: f32 = 1e-3;

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
    let Some(pairs) = Pairs::of(own, other, clip) else {
        return Ok(None);
    };
    let Some(scale) = common_scale(own, other, &pairs) else {
        return Ok(None);
    };
    let frames: HashMap<usize, TopFrame> = (pairs.tops.iter())
        .map(|&(from, to)| (from, TopFrame::between((other, from), (own, to), scale)))
        .collect();
    let mut tracks: Vec<Track> = Vec::new();
    let mut turned = vec![false; other.len()];
    for track in &clip.tracks {
        let Some(&joint) = pairs.own.get(&track.joint) else {
            continue;
        };
        turned[track.joint] |= matches!(track.values, Values::Rotation(_));
        let values = match (&track.values, frames.get(&track.joint)) {
            (values, Some(frame)) => frame.values(values),
            (Values::Translation(places), None) if scale != 1.0 => {
                Values::Translation(places.iter().map(|&place| scale * place).collect())
            }
            (values, None) => values.clone(),
        };
        tracks.push(Track {
            joint,
            values,
            ..track.clone()
        });
    }
    // What the motion leaves out is at rest in its own file.
    for &(from, to) in &pairs.all {
        let rests = [other.joints()[from].rest, own.joints()[to].rest].map(|rest| rest.rotation);
        if !turned[from]
            && !frames.contains_key(&from)
            && rests[0].angle_between(rests[1]) > SAME_ANGLE
        {
            tracks.push(Track {
                joint: to,
                times: vec![0.0],
                values: Values::Rotation(vec![rests[0]]),
                interpolation: Interpolation::Step,
            });
        }
    }
    Ok(Some(Clip {
        name: clip.name.clone(),
        tracks,
        morphs: Vec::new(),
    }))
}

/// Length of one unit of the other skeleton's local frames in those of the own, if joints lie at the same places in their
/// parents' frames.
fn common_scale(own: &Skeleton, other: &Skeleton, pairs: &Pairs) -> Option<f32> {
    let offsets: Vec<(Vec3, Vec3)> = (pairs.inner.iter())
        .map(|&(from, to)| (other.joints()[from].rest, own.joints()[to].rest))
        .map(|(from, to)| (from.translation, to.translation))
        .collect();
    let longest = offsets
        .iter()
        .fold(0.0_f32, |most, o| most.max(o.1.length()));
    let mut ratios: Vec<f32> = (offsets.iter())
        .filter(|(_, to)| to.length() > 0.05 * longest)
        .map(|(from, to)| to.length() / from.length().max(f32::MIN_POSITIVE))
        .collect();
    ratios.sort_by(f32::total_cmp);
    // Within rounding of one it is one, so that tracks stay bit for bit what they are.
    let scale = match ratios.get(ratios.len() / 2) {
        Some(&ratio) if (ratio - 1.0).abs() > 1e-3 => ratio,
        _ => 1.0,
    };
    if !scale.is_finite() {
        return None;
    }
    let total: f32 = offsets.iter().map(|(_, to)| to.length()).sum();
    let same = |(from, to): &&(Vec3, Vec3)| {
        (scale * *from).distance(*to) <= SAME_OFFSET * to.length() + SAME_PLACE * longest
    };
    let shared: f32 = offsets.iter().filter(same).map(|(_, to)| to.length()).sum();
    (shared >= SAME_SHARE * total).then_some(scale)
}

/// Takes a joint without a counterpart above it from its parent's frame in one file to that in another.
struct TopFrame {
    turn: Quat,
    /// Factor of translations, and of scales.
    stretch: f32,
    scale: Vec3,
}

impl TopFrame {
    /// Nodes above the skeleton turn and scale it as a program's axes and units want it. If they differ, the joint keeps its place
    /// in the world, or in its parent's frame: wherever its rest differs less.
    fn between(from: (&Skeleton, usize), to: (&Skeleton, usize), scale: f32) -> Self {
        let rests = [from, to].map(|(skeleton, joint)| skeleton.joints()[joint].rest);
        let above = [from, to].map(|(skeleton, joint)| frame_above(skeleton, joint));
        let turn = above[1].inverse() * above[0];
        let local = rests[0].rotation.angle_between(rests[1].rotation);
        let world = (turn * rests[0].rotation).angle_between(rests[1].rotation);
        let ratio = rests[1].scale / rests[0].scale;
        let ratio = if ratio.is_finite() { ratio } else { Vec3::ONE };
        Self {
            turn: match world + SAME_ANGLE < local {
                true => turn,
                false => Quat::IDENTITY,
            },
            stretch: scale * ratio.abs().max_element(),
            scale: ratio,
        }
    }

    fn values(&self, values: &Values) -> Values {
        if self.turn == Quat::IDENTITY && self.stretch == 1.0 && self.scale == Vec3::ONE {
            return values.clone();
        }
        match values {
            Values::Translation(places) => {
                let moved = |&place: &Vec3| self.turn * (self.stretch * place);
                Values::Translation(places.iter().map(moved).collect())
            }
            Values::Rotation(turns) => {
                Values::Rotation(turns.iter().map(|&turn| self.turn * turn).collect())
            }
            Values::Scale(scales) => {
                Values::Scale(scales.iter().map(|&scale| self.scale * scale).collect())
            }
            Values::Twist(_) | Values::Stretch(_) => values.clone(),
        }
    }
}

/// World rotation of a joint's parent at rest.
fn frame_above(skeleton: &Skeleton, joint: usize) -> Quat {
    let parent = skeleton.joints()[joint].parent;
    parent.map_or(Quat::IDENTITY, |parent| {
        Pose::rest(skeleton).world_rotations(skeleton)[parent]
    })
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
    let pairs = Pairs::of(own, other, clip)?;
    let scale = extent(own) / extent(other).max(f32::MIN_POSITIVE);
    let from_of: HashMap<usize, usize> = pairs.own.iter().map(|(&from, &to)| (to, from)).collect();
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

    /// Files of motions have another rest pose, another node above the skeleton, another unit, other names, and helpers.
    #[test]
    fn the_same_skeleton_may_rest_elsewhere() {
        let own = tentacle([Quat::IDENTITY; 3]);
        let clip = bend(1, Quat::from_rotation_z(0.3));
        let expected = tip(&own, &clip);
        // The motion's file rests in its first frame.
        let mut posed = own.clone();
        posed.skeleton.rest_mut(0).rotation = Quat::from_rotation_z(0.8);
        posed.skeleton.rest_mut(1).rotation = Quat::from_rotation_x(0.7);
        let played = direct(&own, &posed, &clip).unwrap().unwrap();
        assert!(tip(&own, &played).distance(expected) < 1e-6);
        // A joint that the clip leaves out is at rest in the clip's file.
        posed.skeleton.rest_mut(2).rotation = Quat::from_rotation_y(0.5);
        let played = direct(&own, &posed, &clip).unwrap().unwrap();
        let last = played.sample(&own.skeleton, 0.0).locals[2].rotation;
        assert!(last.abs_diff_eq(Quat::from_rotation_y(0.5), 1e-6));
        // Centimetres, and names as Mixamo and exporters write them.
        let mut joints = own.skeleton.joints().to_vec();
        for joint in &mut joints {
            joint.name = format!("mixamorig1:{}", joint.name);
            joint.rest.translation *= 100.0;
        }
        let large = Character {
            skeleton: Skeleton::from_unordered(joints).unwrap().0,
            ..Character::default()
        };
        let mut moved = clip.clone();
        moved.tracks.push(Track {
            joint: 0,
            times: vec![0.0],
            values: Values::Translation(vec![100.0 * Vec3::new(0.5, 1.0, 0.0)]),
            interpolation: Interpolation::Linear,
        });
        let played = direct(&own, &large, &moved).unwrap().unwrap();
        let off = tip(&own, &played).distance(expected + 0.5 * Vec3::X);
        assert!(off < 1e-5, "{off}");
        // A node above turns the motion's skeleton by a quarter; its joints lie as the own ones do.
        let mut joints = own.skeleton.joints().to_vec();
        let turn = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2);
        joints[0].rest.rotation = turn.inverse() * joints[0].rest.rotation;
        joints[0].rest.translation = turn.inverse() * joints[0].rest.translation;
        joints
            .iter_mut()
            .for_each(|j| j.parent = j.parent.map(|p| p + 1));
        joints[0].parent = Some(0);
        joints.insert(0, joint("Armature", None, Transform::from_rotation(turn)));
        let below = Character {
            skeleton: Skeleton::from_unordered(joints).unwrap().0,
            ..Character::default()
        };
        let mut rooted = bend(1, turn.inverse());
        rooted.tracks[0].joint = 1;
        let played = direct(&own, &below, &rooted).unwrap().unwrap();
        let theirs = rooted.sample(&below.skeleton, 1.0).worlds(&below.skeleton)[3].translation;
        assert!(tip(&own, &played).distance(theirs.into()) < 1e-5);
    }

    /// A joint without others below it may be missing, one above others may not.
    #[test]
    fn controls_may_be_missing() {
        let own = tentacle([Quat::IDENTITY; 3]);
        let mut joints = own.skeleton.joints().to_vec();
        joints.push(joint("control", None, Transform::IDENTITY));
        let more = Character {
            skeleton: Skeleton::from_unordered(joints).unwrap().0,
            ..Character::default()
        };
        let mut clip = bend(1, Quat::IDENTITY);
        clip.tracks.push(Track {
            joint: 3,
            ..clip.tracks[0].clone()
        });
        let played = direct(&own, &more, &clip).unwrap().unwrap();
        assert_eq!(played.tracks.len(), 1);
        clip.tracks[1].joint = 0;
        let mut renamed = more.skeleton.joints().to_vec();
        renamed[0].name = "pelvis".into();
        let renamed = Character {
            skeleton: Skeleton::from_unordered(renamed).unwrap().0,
            ..Character::default()
        };
        assert!(direct(&own, &renamed, &clip).unwrap().is_none());
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
