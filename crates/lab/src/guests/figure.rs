//! Characters made by code: joints, round limbs around them, and one skin over all limbs or pieces on single joints.

use std::collections::BTreeMap;

use glam::{Affine3A, DVec3, Vec3};
use supple_geom::surface_nets::surface_nets;
use supple_geom::{Aabb, TriMesh};
use supple_rig::character::{Binding, Influences, Part};
use supple_rig::skeleton::JointKind;
use supple_rig::{Character, Joint, Skeleton, Transform};

/// Most joints that move a vertex.
const INFLUENCES: usize = 4;
/// Exponent of the weights: they fall with this power of the distance from a limb's axis, in radii.
const FALL_OFF: i32 = 6;

/// A round limb: a cone with round ends, moved by one joint.
#[derive(Clone, Copy, Debug)]
struct Limb {
    joint: usize,
    ends: [Vec3; 2],
    radii: [f32; 2],
}

impl Limb {
    /// Distance from the axis and radius there \[m\].
    fn around(&self, p: Vec3) -> (f32, f32) {
        let [from, to] = self.ends;
        let along = to - from;
        let t = (p - from).dot(along) / along.length_squared().max(1e-12);
        let t = t.clamp(0.0, 1.0);
        let radius = self.radii[0] + (self.radii[1] - self.radii[0]) * t;
        (p.distance(from + along * t), radius)
    }
}

/// A character under construction.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    joints: Vec<Joint>,
    places: Vec<Vec3>,
    limbs: Vec<Limb>,
    parts: Vec<Part>,
}

impl Figure {
    /// Adds a joint at a place \[m\]; returns its index.
    pub fn joint(&mut self, name: &str, parent: Option<usize>, at: Vec3) -> usize {
        let above = parent.map_or(Vec3::ZERO, |parent| self.places[parent]);
        self.joints.push(Joint {
            name: name.to_owned(),
            parent,
            rest: Transform::from_translation(at - above),
            tail: None,
            kind: JointKind::Bone,
        });
        self.places.push(at);
        self.joints.len() - 1
    }

    /// Place of a joint \[m\].
    pub fn place(&self, joint: usize) -> Vec3 {
        self.places[joint]
    }

    /// Index of the first joint of a name; zero if there is none.
    pub fn find(&self, name: &str) -> usize {
        let found = self.joints.iter().position(|joint| joint.name == name);
        found.unwrap_or(0)
    }

    /// Joint, its name and both ends of every limb.
    pub fn segments(&self) -> impl Iterator<Item = (usize, &str, Vec3, Vec3)> {
        self.limbs.iter().map(|limb| {
            let [from, to] = limb.ends;
            (limb.joint, self.joints[limb.joint].name.as_str(), from, to)
        })
    }

    /// Adds a limb from a joint to a place, with its radii at both ends \[m\].
    pub fn limb(&mut self, joint: usize, to: Vec3, radii: [f32; 2]) {
        let has_child = self.joints.iter().any(|other| other.parent == Some(joint));
        if !has_child {
            self.joints[joint].tail = Some(to - self.places[joint]);
        }
        let ends = [self.places[joint], to];
        self.limbs.push(Limb { joint, ends, radii });
    }

    /// One skin around all limbs so far, over cells of the given size; limbs merge smoothly over the distance `blend` \[m\].
    pub fn skin(&mut self, cell: f32, blend: f32) {
        let mesh = self.surface(cell, blend);
        self.cloth(mesh);
    }

    /// The mesh of that skin.
    pub fn surface(&self, cell: f32, blend: f32) -> TriMesh {
        let mut bounds = Aabb::EMPTY;
        for limb in &self.limbs {
            for (end, radius) in limb.ends.into_iter().zip(limb.radii) {
                bounds = bounds.union(Aabb::around(end, radius + 2.0 * cell + blend));
            }
        }
        let value = |p: DVec3| {
            let p = p.as_vec3();
            let distances = self.limbs.iter().map(|limb| {
                let (distance, radius) = limb.around(p);
                distance - radius
            });
            f64::from(distances.fold(f32::INFINITY, |a, b| smooth_min(a, b, blend)))
        };
        surface_nets(bounds, cell, value)
    }

    /// A mesh that follows the limbs near it.
    pub fn cloth(&mut self, mesh: TriMesh) {
        let influences =
            Influences::from_lists(mesh.positions.iter().map(|&p| weights(&self.limbs, p)));
        self.parts.push(part(&self.places, mesh, influences));
    }

    /// A mesh that follows one joint.
    pub fn piece(&mut self, joint: usize, mesh: TriMesh) {
        let influences = Influences::rigid(joint as u32, mesh.positions.len());
        self.parts.push(part(&self.places, mesh, influences));
    }

    /// The finished character. Joints with names of humanoid bones are declared as such.
    pub fn character(self, name: &str, is_humanoid: bool) -> Character {
        let humanoid: BTreeMap<String, usize> = (self.joints.iter().enumerate())
            .map(|(index, joint)| (joint.name.clone(), index))
            .collect();
        let (skeleton, _) = Skeleton::from_unordered(self.joints).unwrap_or_default();
        Character {
            name: name.to_owned(),
            skeleton,
            parts: self.parts,
            humanoid: is_humanoid.then_some(humanoid),
            ..Character::default()
        }
    }
}

/// A part whose slots are all joints, in the bind pose where they are.
fn part(places: &[Vec3], mesh: TriMesh, influences: Influences) -> Part {
    Part {
        mesh,
        binding: Binding {
            joints: (0..places.len()).collect(),
            inverse_binds: (places.iter())
                .map(|&place| Affine3A::from_translation(-place))
                .collect(),
            influences,
            computed: false,
        },
        ..Part::default()
    }
}

/// Smooth minimum of two distances, blended over a distance.
fn smooth_min(a: f32, b: f32, blend: f32) -> f32 {
    if !a.is_finite() || blend <= 0.0 {
        return a.min(b);
    }
    let overlap = (blend - (a - b).abs()).max(0.0) / blend;
    a.min(b) - 0.25 * blend * overlap * overlap
}

/// Weights of the joints whose limbs are closest in units of their radii.
fn weights(limbs: &[Limb], p: Vec3) -> Vec<(u32, f32)> {
    let mut of_joints = BTreeMap::<u32, f32>::new();
    for limb in limbs {
        let (distance, radius) = limb.around(p);
        let weight = (distance / radius).max(0.1).powi(-FALL_OFF);
        let slot = of_joints.entry(limb.joint as u32).or_insert(0.0);
        *slot = slot.max(weight);
    }
    let mut list: Vec<(u32, f32)> = of_joints.into_iter().collect();
    list.sort_by(|a, b| b.1.total_cmp(&a.1));
    list.truncate(INFLUENCES);
    let sum: f32 = list.iter().map(|(_, weight)| weight).sum();
    list.into_iter()
        .map(|(j, weight)| (j, weight / sum))
        .collect()
}
