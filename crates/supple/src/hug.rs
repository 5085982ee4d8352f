//! A hug: two humanoids of any height step towards each other and put their arms around each other.
//!
//! Keys open the arms and bend neck and spine. The distance at which the bodies touch, and the points that elbows and wrists pass,
//! are measured on their skins. The taller one reaches over the shoulders of the other, who reaches below its armpits.

use glam::{Quat, Vec3};
use supple_rig::ik::{Limb, reach};
use supple_rig::keyed::KeyedClip;
use supple_rig::retarget::humanoid::{Finger, HumanBone, Side};
use supple_rig::retarget::{BoneMap, Humanoid, RetargetError};
use supple_rig::skinning::Method;
use supple_rig::{Character, Clip, Pose};
use supple_sim::contact::Placement;

use crate::embedded::ClipError;
use crate::scene::placed_pose;

/// Frames per second of the clips.
const FPS: f32 = 60.0;
/// Duration, and the time at which the bodies touch \[s\].
const SECONDS: f32 = 3.0;
const MEETING: f32 = 1.2;
/// Times between which the arms close \[s\]. If they begin earlier, they meet the other's flanks from the front.
const CLOSING: f32 = 0.5;
const CLOSED: f32 = 1.5;
/// Distance between the bodies at the start, beyond that at which they touch \[m\].
const GAP: f32 = 0.35;
/// Share of the arm's length by which bones of an arm stay away from the skin they pass.
const CLEARANCE: f32 = 0.09;

/// Arms open, head aside.
const KEYS: &str = "
title = \"Hug\"
[[key]]
time = 0.0
upperArm = [0, -20, -60]
[[key]]
time = 0.7
shoulder = [0, -8, 0]
upperArm = [0, -45, -5]
lowerArm = [0, -25, 0]
[[key]]
time = 1.2
shoulder = [0, -10, 0]
upperArm = [0, -45, -5]
lowerArm = [0, -25, 0]
spine = [3, 0, 0]
neck = [0, 0, 20]
";

/// Motions and places of two bodies that hug.
#[derive(Clone, Debug)]
pub struct Hug {
    /// A clip for each.
    pub clips: [Clip; 2],
    /// Where they stand: the first faces +Z, the second -Z, and they meet at the origin.
    pub placements: [Placement; 2],
}

/// The body that is embraced, in the world at the time of the hug.
struct Embraced<'a> {
    /// Skin without the arms.
    trunk: &'a [Vec3],
    /// Direction in which it looks.
    ahead: Vec3,
    /// Middle of the shoulders.
    shoulders: Vec3,
}

/// One of the two.
struct Partner<'a> {
    character: &'a Character,
    humanoid: Humanoid,
    /// Arms open, head aside.
    open: Clip,
    /// In its own world, as it hugs but for the arms.
    pose: Pose,
}

/// Makes the motions of two humanoids that hug each other. Both need skin weights.
pub fn hug(characters: [&Character; 2]) -> Result<Hug, ClipError> {
    let [one, other] = characters.map(Partner::new);
    let partners = [one?, other?];
    let turns = [0.0, std::f32::consts::PI];
    let trunks = [0, 1].map(|i| partners[i].trunk());
    let facing = |i: usize| {
        let partner = &partners[i];
        Quat::from_rotation_y(turns[i]) * partner.character.facing().inverse()
    };
    let touching = touching_distance(&[0, 1].map(|i| turned(&trunks[i], facing(i))));
    // Heads pass each other on one side.
    let aside = 0.05 * partners[0].character.height();
    let back = |i: usize, distance: f32| Placement {
        rotation: facing(i),
        translation: Quat::from_rotation_y(turns[i])
            * Vec3::new(-0.5 * aside, 0.0, -0.5 * distance),
    };
    let placements = [0, 1].map(|i| back(i, touching));
    let placed = |i: usize| -> Vec<Vec3> {
        let points = trunks[i].iter();
        points.map(|&point| placements[i].point(point)).collect()
    };
    let placed_trunks = [placed(0), placed(1)];
    let shoulders = [0, 1].map(|i| placements[i].point(partners[i].shoulders()));
    let clips = [0, 1].map(|i| {
        let embraced = Embraced {
            trunk: &placed_trunks[1 - i],
            ahead: Quat::from_rotation_y(turns[1 - i]) * Vec3::Z,
            shoulders: shoulders[1 - i],
        };
        // The first reaches over where both are of one height.
        let over =
            shoulders[i].y > shoulders[1 - i].y || (i == 0 && shoulders[0].y == shoulders[1].y);
        let closed = partners[i].closed(&placements[i], &embraced, over);
        partners[i].clip(&closed)
    });
    Ok(Hug { clips, placements })
}

/// Distance between the origins of two bodies that look along +Z and -Z at which their fronts touch.
fn touching_distance([one, other]: &[Vec<Vec3>; 2]) -> f32 {
    const SLICE: f32 = 0.03;
    let slice = |point: &Vec3| (point.y / SLICE).floor() as i64;
    let fronts = |points: &[Vec3], sign: f32| {
        let mut fronts = std::collections::BTreeMap::new();
        for point in points {
            let front = fronts.entry(slice(point)).or_insert(f32::MIN);
            *front = f32::max(*front, sign * point.z);
        }
        fronts
    };
    let others = fronts(other, -1.0);
    let sums = fronts(one, 1.0).into_iter();
    let sums = sums.filter_map(|(height, front)| Some(front + others.get(&height)?));
    sums.fold(0.0, f32::max)
}

fn turned(points: &[Vec3], rotation: Quat) -> Vec<Vec3> {
    points.iter().map(|&point| rotation * point).collect()
}

impl<'a> Partner<'a> {
    fn new(character: &'a Character) -> Result<Self, ClipError> {
        let open = KeyedClip::parse(KEYS)?.on(character, FPS)?;
        let map = BoneMap::of(character);
        let humanoid = Humanoid::find(&character.skeleton, &map);
        Ok(Self {
            humanoid: humanoid.map_err(RetargetError::Target)?,
            pose: open.sample(&character.skeleton, MEETING),
            character,
            open,
        })
    }

    fn place(&self, pose: &Pose, bone: HumanBone) -> Option<Vec3> {
        let joint = self.humanoid.joint(bone)?;
        Some(
            pose.worlds(&self.character.skeleton)[joint]
                .translation
                .into(),
        )
    }

    /// Shoulder, elbow and wrist.
    fn arm(&self, side: Side) -> [Option<usize>; 3] {
        let bones = [
            HumanBone::UpperArm(side),
            HumanBone::LowerArm(side),
            HumanBone::Hand(side),
        ];
        bones.map(|bone| self.humanoid.joint(bone))
    }

    /// Middle of the shoulders.
    fn shoulders(&self) -> Vec3 {
        let sides = Side::BOTH.into_iter();
        let found: Vec<Vec3> = sides
            .filter_map(|side| self.place(&self.pose, HumanBone::UpperArm(side)))
            .collect();
        found.iter().sum::<Vec3>() / found.len().max(1) as f32
    }

    /// Skin of the hugging pose without that of arms, legs and head.
    fn trunk(&self) -> Vec<Vec3> {
        let skeleton = &self.character.skeleton;
        let mut limb = vec![false; skeleton.len()];
        let mut roots = vec![HumanBone::Neck, HumanBone::Head];
        for side in Side::BOTH {
            roots.extend([HumanBone::UpperArm(side), HumanBone::UpperLeg(side)]);
        }
        for joint in roots
            .into_iter()
            .filter_map(|bone| self.humanoid.joint(bone))
        {
            limb[joint] = true;
        }
        for (index, joint) in skeleton.joints().iter().enumerate() {
            limb[index] |= joint.parent.is_some_and(|parent| limb[parent]);
        }
        let skin = self.character.skin(&self.pose, Method::Lbs);
        let mut trunk = Vec::new();
        for (part, posed) in self.character.parts.iter().zip(skin) {
            let binding = &part.binding;
            for (vertex, point) in posed.positions.into_iter().enumerate() {
                if vertex >= binding.influences.len() {
                    continue;
                }
                let weights = binding.influences.of(vertex).iter();
                let strongest = weights.max_by(|a, b| a.1.total_cmp(&b.1));
                let joint = strongest.and_then(|&(slot, _)| binding.joints.get(slot as usize));
                if joint.is_some_and(|&joint| !limb[joint]) {
                    trunk.push(point);
                }
            }
        }
        trunk
    }

    /// The pose with both arms around the other.
    fn closed(&self, placement: &Placement, other: &Embraced, over: bool) -> Pose {
        let skeleton = &self.character.skeleton;
        let mut pose = placed_pose(skeleton, &self.pose, placement);
        for side in Side::BOTH {
            self.close_arm(&mut pose, side, other, over);
        }
        let back = Placement {
            rotation: placement.rotation.inverse(),
            translation: placement.rotation.inverse() * -placement.translation,
        };
        placed_pose(skeleton, &pose, &back)
    }

    /// Lays an arm around the other: the elbow beside the trunk, the hand on the back.
    fn close_arm(&self, pose: &mut Pose, side: Side, other: &Embraced, over: bool) {
        let skeleton = &self.character.skeleton;
        let [Some(upper), Some(lower), Some(hand)] = self.arm(side) else {
            return;
        };
        let at = |pose: &Pose, joint: usize| Vec3::from(pose.worlds(skeleton)[joint].translation);
        let shoulder = at(pose, upper);
        let length = shoulder.distance(at(pose, lower)) + at(pose, lower).distance(at(pose, hand));
        let clearance = CLEARANCE * length;
        // Seen from the one who reaches: left is `out` for the left arm.
        let left = Vec3::Y.cross(-other.ahead);
        let out = if side == Side::Left { left } else { -left };
        let middle = other.shoulders;
        let height = match over {
            true => middle.y + 0.06 * length,
            false => (shoulder.y - 0.25 * length).min(middle.y - 0.45 * length),
        };
        let around = |height: f32, direction: Vec3| {
            let near = other
                .trunk
                .iter()
                .filter(|p| (p.y - height).abs() < 0.12 * length);
            let reach = near.map(|p| (*p - middle).dot(direction));
            reach.fold(0.05 * length, f32::max) + clearance
        };
        let elbow = Vec3::new(middle.x, height, middle.z) + out * around(height, out);
        let wrist_height = if over { height - 0.3 * length } else { height };
        let behind = around(wrist_height, -other.ahead);
        let wrist = Vec3::new(middle.x, wrist_height, middle.z) + out * (0.16 * length)
            - other.ahead * behind;
        let bone = |from: usize, to: usize| Limb {
            joints: vec![from, to],
            bends_to: vec![Vec3::ZERO; 2],
        };
        reach(skeleton, pose, &bone(upper, lower), elbow);
        reach(skeleton, pose, &bone(lower, hand), wrist);
        // Fingers along the back, towards the other side.
        let finger = HumanBone::Finger(side, Finger::Middle, 0);
        if let Some(finger) = self.humanoid.joint(finger) {
            let along = at(pose, hand) - out * length + other.ahead * (0.2 * length);
            reach(skeleton, pose, &bone(hand, finger), along);
        }
    }

    /// Steps forward with open arms, which then close.
    fn clip(&self, closed: &Pose) -> Clip {
        let skeleton = &self.character.skeleton;
        let ahead = self.character.facing() * Vec3::Z;
        let arms: Vec<usize> = (Side::BOTH.into_iter())
            .flat_map(|side| self.arm(side))
            .flatten()
            .collect();
        let frames = (SECONDS * FPS).round() as usize;
        let poses: Vec<Pose> = (0..=frames)
            .map(|frame| {
                let time = frame as f32 / FPS;
                let mut pose = self.open.sample(skeleton, time);
                let share = smooth((time - CLOSING) / (CLOSED - CLOSING));
                for &joint in &arms {
                    let local = &mut pose.locals[joint];
                    local.rotation = (local.rotation).slerp(closed.locals[joint].rotation, share);
                }
                let back = -ahead * (0.5 * GAP * (1.0 - smooth(time / MEETING)));
                placed_pose(skeleton, &pose, &Placement::at(back))
            })
            .collect();
        Clip::from_poses("hug", skeleton, FPS, &poses)
    }
}

/// From 0 to 1 with zero speed at both ends.
fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::{Body, body};
    use glam::Affine3A;

    /// The same body at another size.
    fn scaled(mut character: Character, scale: f32) -> Character {
        for part in &mut character.parts {
            (part.mesh.positions.iter_mut()).for_each(|point| *point *= scale);
            for inverse in &mut part.binding.inverse_binds {
                *inverse = Affine3A::from_scale(Vec3::splat(scale))
                    * *inverse
                    * Affine3A::from_scale(Vec3::splat(1.0 / scale));
            }
        }
        for joint in 0..character.skeleton.len() {
            character.skeleton.rest_mut(joint).translation *= scale;
        }
        character
    }

    #[test]
    fn arms_reach_around_a_taller_and_a_smaller_body() {
        for scale in [0.85, 0.7, 1.2] {
            let one = body(Body::Male).unwrap();
            let other = scaled(body(Body::Female).unwrap(), scale);
            let cast = [&one, &other];
            let hug = hug(cast).unwrap();
            let end = [0, 1].map(|i| {
                let pose = hug.clips[i].sample(&cast[i].skeleton, SECONDS);
                placed_pose(&cast[i].skeleton, &pose, &hug.placements[i])
            });
            let partners = [0, 1].map(|i| Partner {
                pose: end[i].clone(),
                ..Partner::new(cast[i]).unwrap()
            });
            let trunks = [0, 1].map(|i| partners[i].trunk());
            let ahead = [Vec3::Z, -Vec3::Z];
            for i in 0..2 {
                let there = partners[1 - i].shoulders();
                let hands = Side::BOTH.map(|side| {
                    let hand = partners[i].place(&end[i], HumanBone::Hand(side));
                    hand.unwrap()
                });
                for hand in hands {
                    // Behind the other's shoulders, and close to the back.
                    let behind = (hand - there).dot(ahead[i]);
                    assert!(behind > 0.0, "{scale}, body {i}: {behind} m behind");
                    let skin = trunks[1 - i].iter().map(|point| point.distance(hand));
                    let skin = skin.fold(f32::MAX, f32::min);
                    assert!(skin < 0.13, "{scale}, body {i}: {skin} m from the back");
                }
                // The arms are on both sides of the other.
                let elbows = Side::BOTH.map(|side| {
                    let elbow = partners[i].place(&end[i], HumanBone::LowerArm(side));
                    elbow.unwrap().x - there.x
                });
                assert!(elbows[0] * elbows[1] < 0.0, "{scale}: {elbows:?}");
            }
            // The bodies touch, and do not pass through each other.
            let front = |i: usize| {
                let along = trunks[i].iter().map(|point| point.dot(ahead[i]));
                along.fold(f32::MIN, f32::max)
            };
            let overlap = front(0) + front(1);
            assert!((-0.01..0.16).contains(&overlap), "{scale}: {overlap}");
            // They start apart.
            let start = hug.clips[0].sample(&one.skeleton, 0.0);
            let start = placed_pose(&one.skeleton, &start, &hug.placements[0]);
            let hips = |pose: &Pose| partners[0].place(pose, HumanBone::Hips).unwrap();
            assert!(hips(&end[0]).z - hips(&start).z > 0.4 * GAP);
        }
    }
}
