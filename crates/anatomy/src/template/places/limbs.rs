//! Which limb skin and wrap belong to, so that the skin of an arm does not go for the ribs.

use glam::Vec3;
use supple_geom::kd_tree::KdTree;

use crate::{Body, Bone};

/// Shares of left arm, right arm, left leg and right leg.
pub type Limbs = [f32; 4];

/// Joints of arms and legs, by the beginnings of their names.
const ARM_JOINTS: &[&str] = &["upperarm", "lowerarm", "wrist", "finger", "metacarpal"];
const LEG_JOINTS: &[&str] = &["upperleg", "lowerleg", "foot", "toe"];

/// Bones of arms and legs.
#[rustfmt::skip]
const ARM_BONES: &[&str] = &[
    "humerus", "radius", "ulna", "capitate", "hamate", "lunate", "scaphoid", "trapez", "triquetrum", "pisiform", "metacarpal",
];
#[rustfmt::skip]
const LEG_BONES: &[&str] = &[
    "femur", "tibia", "fibula", "patella", "talus", "calcaneus", "cuboid", "cuneiform", "navicular", "metatarsal", "sesamoid",
];

fn starts(name: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|b| name.starts_with(b))
}

/// Shares of each skin vertex, from its weights.
pub fn skin_limbs(body: &Body) -> Vec<Limbs> {
    let side = |joints: &[&str], side: &str| {
        let side = side.to_owned();
        body.weight_on(|name| starts(name, joints) && name.ends_with(&side))
    };
    let [a, b] = [".L", ".R"].map(|s| side(ARM_JOINTS, s));
    let [c, d] = [".L", ".R"].map(|s| side(LEG_JOINTS, s));
    (0..a.len()).map(|v| [a[v], b[v], c[v], d[v]]).collect()
}

/// The limb of each point: that of the nearest bone vertex.
pub fn point_limbs(points: &[Vec3], bones: &[Bone]) -> Vec<Limbs> {
    let mut places = Vec::new();
    let mut limbs = Vec::new();
    for bone in bones {
        let first = if starts(&bone.name, ARM_BONES) {
            Some(0)
        } else if starts(&bone.name, LEG_BONES) {
            Some(2)
        } else {
            None
        };
        let mut own = Limbs::default();
        if let Some(first) = first {
            own[first + usize::from(bone.name.ends_with("_r"))] = 1.0;
        }
        places.extend_from_slice(&bone.mesh.positions);
        limbs.resize(places.len(), own);
    }
    let tree = KdTree::new(&places);
    (points.iter())
        .map(|p| {
            tree.nearest(*p, f32::INFINITY)
                .map_or(Limbs::default(), |found| limbs[found.index as usize])
        })
        .collect()
}
