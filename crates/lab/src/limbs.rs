//! Cross-sections of limbs in motion, relative to rest.
//!
//! A section is material: the skin points that lie in a plane across the bone at rest. Where they are in a pose, they enclose an
//! area, projected along the bone. So no other limb counts, and skin that is folded or inside out does not count.

use std::f64::consts::PI;

use glam::{DVec3, Vec3};
use supple_geom::adjacency::Adjacency;
use supple_geom::section::{Plane, section};
use supple_geom::{Surface, weld::weld};
use supple_rig::Character;
use supple_rig::retarget::humanoid::Side;
use supple_rig::retarget::{BoneMap, HumanBone, Humanoid, HumanoidError};
use supple_rig::rigging::rest_mesh;

/// Places of the sections along a bone, relative to its length. Nearer to its ends a bent joint changes sections rightly.
const FRACTIONS: [f32; 7] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];

/// Largest distance of a section's middle from the bone, relative to its radius. A plane at a shoulder also cuts the chest, in
/// one curve with the arm, and the bone is at its edge.
const MAX_OFF_CENTRE: f64 = 0.5;

/// A point of the skin: a triangle's corners (vertices of all parts in order) and their weights.
type SkinPoint = ([usize; 3], [f32; 3]);

/// One bone of a limb.
#[derive(Clone, Debug)]
pub struct Limb {
    /// Where it starts, such as `leftLowerArm`.
    pub name: String,
    /// The joints at its ends.
    joints: [usize; 2],
    /// Points around each section, and its area at rest \[m²\].
    sections: Vec<(Vec<SkinPoint>, f64)>,
}

/// Arms and legs of a humanoid.
pub fn limbs(character: &Character) -> Result<Vec<Limb>, HumanoidError> {
    let humanoid = Humanoid::find(&character.skeleton, &BoneMap::of(character))?;
    let worlds = character.bind_worlds();
    let mesh = rest_mesh(character);
    let welded = weld(&mesh, 0.0).mesh;
    let adjacency = Adjacency::new(&welded);
    let surface = Surface::new(mesh);
    let skin_point = |p: &DVec3| {
        let found = surface.closest_point(p.as_vec3())?;
        let corners = surface.mesh().triangles[found.triangle as usize];
        Some((corners.map(|v| v as usize), found.barycentric))
    };
    let mut found = Vec::new();
    for side in [Side::Left, Side::Right] {
        for (from, to) in [
            (HumanBone::UpperArm(side), HumanBone::LowerArm(side)),
            (HumanBone::LowerArm(side), HumanBone::Hand(side)),
            (HumanBone::UpperLeg(side), HumanBone::LowerLeg(side)),
            (HumanBone::LowerLeg(side), HumanBone::Foot(side)),
        ] {
            let (Some(a), Some(b)) = (humanoid.joint(from), humanoid.joint(to)) else {
                continue;
            };
            let [start, end] = [a, b].map(|joint| Vec3::from(worlds[joint].translation));
            let sections = FRACTIONS.iter().filter_map(|&fraction| {
                let point = start.lerp(end, fraction);
                let normal = end - start;
                let cut = section(&welded, &adjacency, Plane { point, normal });
                let curve = cut.nearest(point).filter(|curve| curve.closed)?;
                let points: Vec<SkinPoint> = curve.points.iter().filter_map(skin_point).collect();
                let rest = &surface.mesh().positions;
                let at: Vec<Vec3> = points.iter().map(|p| place(p, rest)).collect();
                let area = area(&at, normal);
                let middle = at.iter().sum::<Vec3>() / at.len() as f32;
                let off = f64::from(middle.distance(point));
                (off < MAX_OFF_CENTRE * (area / PI).sqrt()).then_some((points, area))
            });
            let sections: Vec<_> = sections.collect();
            found.push(Limb {
                name: from.name(),
                joints: [a, b],
                sections,
            });
        }
    }
    Ok(found)
}

impl Limb {
    /// The smallest section in a pose relative to rest; negative if it is inside out. `skin` has the vertices of all parts in
    /// order, `joints` the positions of all joints \[m\].
    pub fn smallest(&self, skin: &[Vec3], joints: &[Vec3]) -> f64 {
        let [start, end] = self.joints.map(|joint| joints[joint]);
        let share = |(points, rest): &(Vec<SkinPoint>, f64)| {
            let at: Vec<Vec3> = points.iter().map(|p| place(p, skin)).collect();
            area(&at, end - start) / rest
        };
        self.sections.iter().map(share).fold(f64::INFINITY, f64::min)
    }
}

fn place((corners, weights): &SkinPoint, skin: &[Vec3]) -> Vec3 {
    (0..3).map(|k| skin[corners[k]] * weights[k]).sum()
}

/// Area that a closed curve encloses, seen along `normal` \[m²\].
fn area(points: &[Vec3], normal: Vec3) -> f64 {
    let normal = normal.as_dvec3().normalize_or_zero();
    let Some(&first) = points.first() else {
        return 0.0;
    };
    let from_first = |p: Vec3| (p - first).as_dvec3();
    let fan = points
        .windows(2)
        .map(|pair| from_first(pair[0]).cross(from_first(pair[1])));
    0.5 * fan.sum::<DVec3>().dot(normal)
}
