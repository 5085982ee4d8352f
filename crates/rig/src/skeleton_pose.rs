//! Whether a skeleton has the pose of a mesh: most of its bones lie inside.

use glam::Vec3;
use supple_geom::{Surface, TriMesh};

use crate::Skeleton;

/// Sample points per bone.
const SAMPLES: usize = 8;
/// Distance from the mesh at which a point still counts as inside, relative to the mesh's diagonal: thin fingers, and holes.
const SLACK: f32 = 0.02;
/// Largest share of the bones' length outside. A skeleton in T-pose in a body in A-pose has about a third of its length outside,
/// skeletons of finished characters up to a tenth: hair, skirts, weapons.
const MAX_OUTSIDE: f32 = 0.25;

/// How much of a skeleton lies outside of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// Share of the bones' length.
    pub share: f32,
    /// Joints outside, by name.
    pub joints: Vec<String>,
}

impl Outside {
    /// Whether the skeleton is in another pose than the mesh, or elsewhere.
    pub fn is_another_pose(&self) -> bool {
        self.share > MAX_OUTSIDE
    }
}

/// How much of a skeleton at rest lies outside of a mesh, both in metres.
pub fn outside(skeleton: &Skeleton, mesh: &TriMesh) -> Outside {
    let slack = SLACK * mesh.bounds().diagonal();
    let surface = Surface::new(mesh.clone());
    let outside = |point: Vec3| {
        surface.closest_point_within(point, slack).is_none() && !surface.contains(point)
    };
    let (mut whole, mut out) = (0.0, 0.0);
    for bone in skeleton.bones() {
        let sample = |k: usize| bone.from.lerp(bone.to, (k as f32 + 0.5) / SAMPLES as f32);
        let count = (0..SAMPLES).filter(|&k| outside(sample(k))).count();
        let length = bone.from.distance(bone.to);
        whole += length;
        out += length * count as f32 / SAMPLES as f32;
    }
    let worlds = skeleton.rest_worlds();
    let joints = skeleton.joints().iter().zip(&worlds);
    let bones = joints.filter(|(joint, _)| joint.kind == crate::skeleton::JointKind::Bone);
    let beyond: Vec<String> = bones
        .filter(|(_, world)| outside(world.translation.into()))
        .map(|(joint, _)| joint.name.clone())
        .collect();
    // A skeleton without bones is judged by its joints.
    let share = match whole > 0.0 {
        true => out / whole,
        false => beyond.len() as f32 / worlds.len().max(1) as f32,
    };
    Outside {
        share,
        joints: beyond,
    }
}
