//! Retargeting: plays a motion made for one humanoid on another.
//!
//! Bones are matched by name, by topology or by a map file ([`humanoid`]). Every target bone copies the world rotation of
//! its source bone relative to rest poses that were aligned first ([`align`]). The hips are placed so
//! that the feet are as high above the ground as the source's ([`ground`]). A motion whose rest pose is not a standing person takes one
//! from its frames ([`standing`]).

pub mod align;
pub mod ground;
pub mod humanoid;
mod legs;
mod loose;
pub mod map;
mod names;
pub mod standing;
mod topology;

pub use humanoid::{HumanBone, Humanoid};
pub use map::{BoneMap, MapFile};

use glam::{Affine3A, Quat, Vec3};

use crate::pose::mirror_turn;
use crate::{Character, Clip, Pose, Skeleton};
use align::Link;
use ground::Soles;
use humanoid::Side;
use loose::Loose;

/// Why a skeleton could not be matched to a humanoid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HumanoidError {
    /// Required bones that neither names, topology nor map identify.
    #[error("no joint was recognised as {bones}; assign joints in a map file")]
    MissingBones {
        /// VRM names of the missing bones.
        bones: String,
    },
    /// The map names an unknown bone.
    #[error("\"{bone}\" is not a humanoid bone; use VRM bone names: hips, leftUpperLeg, …")]
    UnknownBone {
        /// The name in the map.
        bone: String,
    },
    /// The map names a joint that the skeleton does not have.
    #[error("the map assigns {bone} to \"{joint}\", but the skeleton has no joint of that name")]
    UnknownJoint {
        /// The bone.
        bone: String,
        /// The missing joint name.
        joint: String,
    },
    /// The map file is not TOML of the expected form.
    #[error("cannot read the map file: {reason}")]
    MapSyntax {
        /// What is wrong and where.
        reason: String,
    },
}

/// Why a motion cannot be retargeted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RetargetError {
    /// The source skeleton could not be matched.
    #[error("the motion's skeleton: {0}")]
    Source(#[source] HumanoidError),
    /// The target skeleton could not be matched.
    #[error("the character's skeleton: {0}")]
    Target(#[source] HumanoidError),
    /// All leg joints lie at one point.
    #[error("the legs of {whose} have no length")]
    NoLegs {
        /// "the motion" or "the character".
        whose: &'static str,
    },
}

/// Options of [`Retarget::new`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Bone maps of both skeletons.
    pub map: MapFile,
    /// Ground height in the source motion \[m\]; `None` to estimate it.
    pub ground: Option<f32>,
}

/// Which bones were matched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Bone, source joint, target joint.
    pub matched: Vec<(HumanBone, String, String)>,
    /// Bones that only the source has. Their motion is lost.
    pub lost: Vec<(HumanBone, String)>,
    /// Number of spine joints of source and target.
    pub spine: (usize, usize),
    /// Scale of root motion: the ratio of leg lengths.
    pub scale: f32,
    /// Whether left and right are swapped in the joint names of source or target.
    pub swapped: (bool, bool),
}

/// Retargets poses and clips from one skeleton to another.
#[derive(Clone, Debug)]
pub struct Retarget {
    source: Actor,
    target: Actor,
    links: Vec<Link>,
    /// Rotation from the source's facing to the target's.
    turn: Quat,
    /// Target leg length over source leg length.
    scale: f32,
    /// Ground height of the source \[m\], if given by the caller.
    ground: Option<f32>,
}

/// Precomputed data of one of the two skeletons.
#[derive(Clone, Debug)]
struct Actor {
    skeleton: Skeleton,
    humanoid: Humanoid,
    rest: Vec<Affine3A>,
    rest_rotations: Vec<Quat>,
    soles: Soles,
    legs: f32,
    loose: Loose,
}

impl Actor {
    fn new(skeleton: &Skeleton, map: &BoneMap) -> Result<Self, HumanoidError> {
        let humanoid = Humanoid::find(skeleton, map)?;
        let rest = skeleton.rest_worlds();
        let rest_rotations = Pose::rest(skeleton).world_rotations(skeleton);
        Ok(Self {
            soles: Soles::find(skeleton, &humanoid, &rest, &rest_rotations),
            legs: leg_length(&humanoid, &rest),
            loose: Loose::find(skeleton, &humanoid, &rest),
            skeleton: skeleton.clone(),
            humanoid,
            rest,
            rest_rotations,
        })
    }

    /// Midpoint of the hip joints.
    fn pelvis(&self, worlds: &[Affine3A]) -> Vec3 {
        let joints = Side::BOTH.map(|side| self.humanoid.joint(HumanBone::UpperLeg(side)));
        let [left, right] = joints
            .map(|joint| joint.map_or(Vec3::ZERO, |joint| Vec3::from(worlds[joint].translation)));
        left.midpoint(right)
    }
}

/// Mean leg length, thigh plus shank \[m\].
fn leg_length(humanoid: &Humanoid, rest: &[Affine3A]) -> f32 {
    let leg = |side| {
        let joints = [
            HumanBone::UpperLeg(side),
            HumanBone::LowerLeg(side),
            HumanBone::Foot(side),
        ];
        let places: Vec<Vec3> = joints
            .iter()
            .filter_map(|&bone| Some(rest[humanoid.joint(bone)?].translation.into()))
            .collect();
        places
            .windows(2)
            .map(|pair| pair[0].distance(pair[1]))
            .sum::<f32>()
    };
    0.5 * (leg(Side::Left) + leg(Side::Right))
}

impl Retarget {
    /// Matches two skeletons.
    pub fn new(
        source: &Skeleton,
        target: &Skeleton,
        options: &Options,
    ) -> Result<Self, RetargetError> {
        let source = Actor::new(source, &options.map.source).map_err(RetargetError::Source)?;
        let target = Actor::new(target, &options.map.target).map_err(RetargetError::Target)?;
        for (one, whose) in [(&source, "the motion"), (&target, "the character")] {
            if !(one.legs.is_finite() && one.legs > 1e-6) {
                return Err(RetargetError::NoLegs { whose });
            }
        }
        let facing = |one: &Actor| one.humanoid.facing(&one.rest);
        let turn = facing(&target) * facing(&source).inverse();
        let links = align::links(
            (&source.humanoid, &source.skeleton, &source.rest),
            (&target.humanoid, &target.skeleton, &target.rest),
            turn,
        );
        Ok(Self {
            scale: target.legs / source.legs,
            source,
            target,
            links,
            turn,
            ground: options.ground,
        })
    }

    /// Uses the soles of the target's skin instead of those estimated from its joints. `character` must be the one
    /// with the target skeleton.
    pub fn with_skin(mut self, character: &Character) -> Self {
        let target = &mut self.target;
        if character.skeleton.len() == target.skeleton.len() {
            let soles = Soles::of_skin(
                character,
                &target.humanoid,
                &target.rest,
                &target.rest_rotations,
            );
            target.soles = soles.unwrap_or(std::mem::take(&mut target.soles));
        }
        self
    }

    /// Retargets one pose. Without a given ground height, the source's ground is that of its rest pose, or
    /// zero if its rest pose is centred on the origin, as in BVH.
    pub fn pose(&self, source: &Pose) -> Pose {
        self.pose_above(source, self.ground.unwrap_or(self.source.soles.level))
    }

    /// Retargets a clip, with linear keys at `fps`. Without a given ground height, it is estimated from the feet, if
    /// that is close to the expected height.
    pub fn clip(&self, source: &Clip, fps: f32) -> Clip {
        let frames = (source.duration() * fps + 1e-3).floor() as usize;
        let poses: Vec<Pose> = (0..=frames)
            .map(|frame| source.sample(&self.source.skeleton, frame as f32 / fps))
            .collect();
        let ground = self.ground.unwrap_or_else(|| self.find_ground(&poses));
        let poses: Vec<Pose> = poses
            .iter()
            .map(|pose| self.pose_above(pose, ground))
            .collect();
        Clip::from_poses(&source.name, &self.target.skeleton, fps, &poses)
    }

    /// Ground height of a series of source poses \[m\], from the lowest foot positions.
    pub fn find_ground(&self, poses: &[Pose]) -> f32 {
        let side = &self.source;
        ground::standing_level(
            poses.iter().map(|pose| {
                let worlds = pose.worlds(&side.skeleton);
                let rotations = pose.world_rotations(&side.skeleton);
                side.soles.lowest(&worlds, &rotations)
            }),
            side.soles.level,
            side.legs,
        )
    }

    /// Reports which bones were matched.
    pub fn report(&self) -> Report {
        let name = |side: &Actor, joint: usize| side.skeleton.joints()[joint].name.clone();
        let mut report = Report {
            spine: (
                self.source.humanoid.spine.len(),
                self.target.humanoid.spine.len(),
            ),
            scale: self.scale,
            swapped: (self.source.humanoid.swapped, self.target.humanoid.swapped),
            ..Report::default()
        };
        for &bone in self.source.humanoid.bones.keys() {
            let joints = (
                self.source.humanoid.joint(bone),
                self.target.humanoid.joint(bone),
            );
            match joints {
                (Some(from), Some(to)) => {
                    let names = (name(&self.source, from), name(&self.target, to));
                    report.matched.push((bone, names.0, names.1));
                }
                (Some(from), None) => report.lost.push((bone, name(&self.source, from))),
                (None, _) => {}
            }
        }
        report
    }

    /// The source skeleton as a humanoid.
    pub fn source(&self) -> &Humanoid {
        &self.source.humanoid
    }

    /// The target skeleton as a humanoid.
    pub fn target(&self) -> &Humanoid {
        &self.target.humanoid
    }

    /// Rotation from the source's facing at rest to the target's.
    pub fn turn(&self) -> Quat {
        self.turn
    }

    fn pose_above(&self, source: &Pose, ground: f32) -> Pose {
        let (from, to) = (&self.source, &self.target);
        let worlds = source.worlds(&from.skeleton);
        let rotations = source.world_rotations(&from.skeleton);
        let mut pose = self.with_source_rotations(&rotations);
        for side in Side::BOTH {
            self.correct_leg(&mut pose, &worlds, side);
        }
        let Some(hips) = to.humanoid.joint(HumanBone::Hips) else {
            return pose;
        };
        let posed = pose.worlds(&to.skeleton);
        let posed_rotations = pose.world_rotations(&to.skeleton);

        let travel = from.pelvis(&worlds) - from.pelvis(&from.rest);
        let wanted = to.pelvis(&to.rest) + self.scale * (self.turn * travel);
        let mut shift = wanted - to.pelvis(&posed);
        // The source's lower foot sets the height, with a smooth transition between feet.
        let above = from.soles.lowest_each(&worlds, &rotations);
        let own = to.soles.lowest_each(&posed, &posed_rotations);
        let lift = [0, 1]
            .map(|side| to.soles.rest_level + self.scale * (above[side] - ground) - own[side]);
        let gap = (above[1] - above[0]) / (0.02 * from.legs);
        let right = 1.0 / (1.0 + gap.clamp(-40.0, 40.0).exp());
        shift.y = lift[0] * (1.0 - right) + lift[1] * right;

        let place = Vec3::from(posed[hips].translation) + shift;
        pose.locals[hips].translation = match to.skeleton.joints()[hips].parent {
            Some(parent) => posed[parent].inverse().transform_point3(place),
            None => place,
        };
        to.loose.carry(&mut pose, &to.skeleton, |_| false);
        pose
    }

    /// Places an ankle as far below the hip as the source's; if the hips tilt, as far below the pelvis.
    fn correct_leg(&self, pose: &mut Pose, source: &[Affine3A], side: Side) {
        let (from, to) = (&self.source, &self.target);
        let ends = [HumanBone::UpperLeg(side), HumanBone::Foot(side)];
        let joints = ends.map(|bone| from.humanoid.joint(bone));
        let ([Some(hip), Some(ankle)], Some(own_hip)) = (joints, to.humanoid.joint(ends[0])) else {
            return;
        };
        let place = |joint: usize| Vec3::from(source[joint].translation);
        let posed = pose.worlds(&to.skeleton);
        let tilt = place(hip).y - from.pelvis(source).y;
        let own_tilt = posed[own_hip].translation.y - to.pelvis(&posed).y;
        let mut wanted = self.scale * (self.turn * (place(ankle) - place(hip)));
        wanted.y += self.scale * tilt - own_tilt;
        let turned = pose.world_rotations(&to.skeleton)[own_hip];
        let left = to.humanoid.facing(&to.rest) * Vec3::X;
        let axis = turned * to.rest_rotations[own_hip].inverse() * left;
        let foot = to.humanoid.joint(ends[1]);
        let hangs = foot.is_some_and(|foot| !to.loose.contains(foot));
        legs::place_ankle(pose, &to.skeleton, &to.humanoid, side, wanted, axis, hangs);
        to.loose.carry(pose, &to.skeleton, |_| false);
    }

    /// The target's rest pose with all linked joints rotated like the source's.
    fn with_source_rotations(&self, source_rotations: &[Quat]) -> Pose {
        let (from, to) = (&self.source, &self.target);
        let delta = |joint: usize| {
            let delta = source_rotations[joint] * from.rest_rotations[joint].inverse();
            self.turn * delta * self.turn.inverse()
        };
        let mut pose = Pose::rest(&to.skeleton);
        let mut wanted: Vec<Option<Quat>> = vec![None; to.skeleton.len()];
        for link in &self.links {
            let [a, b] = link.sources;
            let delta = delta(a).slerp(delta(b), link.t);
            wanted[link.target] = Some(delta * link.align * to.rest_rotations[link.target]);
        }
        let mut rotations: Vec<Quat> = Vec::with_capacity(wanted.len());
        for (index, joint) in to.skeleton.joints().iter().enumerate() {
            let parent = joint
                .parent
                .map_or(Quat::IDENTITY, |parent| rotations[parent]);
            let local = &mut pose.locals[index];
            let mirror = mirror_turn(local.scale);
            if let Some(world) = wanted[index] {
                local.rotation = (parent.inverse() * world * mirror.inverse()).normalize();
            }
            rotations.push((parent * local.rotation * mirror).normalize());
        }
        (to.loose).carry(&mut pose, &to.skeleton, |joint| wanted[joint].is_none());
        pose
    }
}
