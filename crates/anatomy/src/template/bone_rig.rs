//! Which joints move a bone.

use glam::Vec3;
use supple_rig::skeleton::JointKind;

use super::{Rig, RiggedBone};
use crate::{Body, Bone};

/// Bones of the trunk and head follow joints of the spine only, however near an arm's joint is.
const TRUNK: [&str; 9] = [
    "rib", "sternum", "vertebra", "sacrum", "coccyx", "pelvis", "skull", "mandible", "hyoid",
];
const SPINE: [&str; 5] = ["root", "spine", "neck", "head", "pelvis"];

/// Bones with the joint whose segment of the rig is nearest to them.
pub fn rigged(bones: Vec<Bone>, body: &Body) -> Vec<RiggedBone> {
    let segments = body.skeleton.bones();
    let joints = body.skeleton.joints();
    let starts = |name: &str, all: &[&str]| all.iter().any(|start| name.starts_with(start));
    let side = |name: &str| match name.rsplit_once(['_', '.']).map(|(_, side)| side) {
        Some("l" | "L") => 1,
        Some("r" | "R") => -1,
        _ => 0,
    };
    (bones.into_iter())
        .map(|bone| {
            let centre = bone.mesh.bounds().center();
            let trunk = starts(&bone.name, &TRUNK);
            let fits = |joint: usize| {
                let name = &joints[joint].name;
                let own = side(&bone.name);
                joints[joint].kind == JointKind::Bone
                    && (!trunk || starts(name, &SPINE))
                    && (side(name) == 0 || side(name) == own)
            };
            let nearest = (segments.iter())
                .filter(|segment| fits(segment.joint))
                .min_by(|a, b| {
                    let far = |s: &&supple_rig::skeleton::Bone| distance(centre, s.from, s.to);
                    far(a).total_cmp(&far(b))
                });
            let joint = nearest.map_or(0, |segment| segment.joint as u32);
            RiggedBone {
                rig: Rig::Whole(vec![(joint, 1.0)]),
                bone,
            }
        })
        .collect()
}

fn distance(p: Vec3, a: Vec3, b: Vec3) -> f32 {
    let t = (p - a).dot(b - a) / (b - a).length_squared().max(f32::MIN_POSITIVE);
    p.distance(a.lerp(b, t.clamp(0.0, 1.0)))
}
