//! Measures of a torso in motion, to compare bodies with layers and without [4.3.3]: the swing of the belly and of the rib cage
//! in a jump (figure 4.17b), shear of the skin in a twist (4.17c), folds in a bend (4.18).
//!
//! A region is a list of vertices of one part.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use glam::{DVec3, Quat, Vec3};
use supple::anatomy::template::Group;
use supple::anatomy::{BodyError, LayeredBody};
use supple::flesh::GivenLayers;
use supple::tissue::{SoftBody, TissueError};
use supple::{Pose, Skeleton};
use supple_geom::normals::vertex_normals;

/// Regions of a torso: vertices of a [layered](supple::load_layered) body's skin.
#[derive(Clone, Debug, Default)]
pub struct Torso {
    /// The front of the belly, below the ribs.
    pub belly: Vec<u32>,
    /// Skin over ribs, breast bone and thoracic vertebrae, without shoulders and breasts.
    pub ribs: Vec<u32>,
    /// Everything between pelvis and the middle of the chest.
    pub waist: Vec<u32>,
}

/// Forward part of the normal from which skin is of the front.
const FRONT: f32 = 0.3;
/// Weight on the arms' joints from which skin is of the shoulder.
const SHOULDER: f32 = 0.2;
/// Thickness of fat over the chest's muscles from which it is a breast \[m\]. A man of body mass index 30 has 25 mm there.
const BREAST: f32 = 0.03;

impl Torso {
    /// Finds the regions of an anatomy, in the vertices of its layers.
    pub fn new(anatomy: &LayeredBody, layers: &GivenLayers) -> Result<Self, BodyError> {
        let body = &anatomy.body;
        let height = |name: &str| body.joint(name).map(|at| at.y);
        let (pelvis, rib_margin) = (height("spine05")?, height("spine03")?);
        let (lower, upper) = (height("spine02")?, height("spine01")?);
        let arms = ["clavicle", "shoulder", "upperarm"];
        let arms = body.weight_on(|name| arms.iter().any(|arm| name.starts_with(arm)));
        let normals = vertex_normals(&anatomy.layers.skin_mesh());
        let mut torso = Self::default();
        let regions = &anatomy.regions;
        for (v, &vertex) in layers.vertices.iter().enumerate() {
            if !layers.layered[v] || arms[v] > SHOULDER {
                continue;
            }
            let (at, fat) = (
                anatomy.layers.skin[v],
                anatomy.layers.skin[v].distance(anatomy.layers.muscle[v]),
            );
            if regions.abdomen[v] && normals[v].z > FRONT && at.y < rib_margin {
                torso.belly.push(vertex);
            }
            let bone = regions.bone[v].map_or("", |b| &anatomy.bones[b as usize].bone.name);
            let is_cage = ["rib", "sternum", "vertebra_T"].map(|stem| bone.starts_with(stem));
            let is_breast = regions.group[v] == Some(Group::Chest) && fat > BREAST;
            if is_cage.contains(&true) && at.y > lower && layers.held[v] && !is_breast {
                torso.ribs.push(vertex);
            }
            if (pelvis..upper).contains(&at.y) {
                torso.waist.push(vertex);
            }
        }
        Ok(torso)
    }
}

/// A turn of the trunk, shared out over the five joints of the spine of the embedded bodies.
pub fn turned_spine(skeleton: &Skeleton, rest: &Pose, axis: Vec3, degrees: f32) -> Pose {
    const SHARES: [(&str, f32); 5] = [
        ("spine05", 0.15),
        ("spine04", 0.25),
        ("spine03", 0.25),
        ("spine02", 0.2),
        ("spine01", 0.15),
    ];
    let mut pose = rest.clone();
    for (name, share) in SHARES {
        if let Some(joint) = skeleton.find(name) {
            let turn = Quat::from_axis_angle(axis, (degrees * share).to_radians());
            pose.rotate(joint, turn);
        }
    }
    pose
}

/// A jump to the side.
#[derive(Clone, Copy, Debug)]
pub struct SideJump {
    /// Way to the side, along X \[m\].
    pub way: f32,
    /// Height \[m\].
    pub height: f32,
    /// Time in the air \[s\].
    pub time: f64,
    /// Time simulated, with the rest after landing \[s\].
    pub all: f64,
}

impl Default for SideJump {
    fn default() -> Self {
        Self {
            way: 0.5,
            height: 0.15,
            time: 0.4,
            all: 1.5,
        }
    }
}

impl SideJump {
    /// Where the body is after a time \[m\].
    fn shift(&self, time: f64) -> Vec3 {
        let t = (time / self.time).min(1.0) as f32;
        let rise = (std::f32::consts::PI * t).sin();
        Vec3::new(self.way * t * t * (3.0 - 2.0 * t), self.height * rise, 0.0)
    }

    /// Moves a body rigidly along the jump from rest. `at` is called in every frame with the offset of each vertex of a part from where
    /// the rigid body would be \[m\].
    pub fn follow(
        &self,
        body: &mut SoftBody,
        part: usize,
        at: &mut dyn FnMut(&[Vec3]),
    ) -> Result<(), TissueError> {
        const FPS: f64 = 60.0;
        let rest_pose = body.flesh().rest_pose();
        body.reset(&rest_pose)?;
        let rest = body.positions().swap_remove(part);
        let roots: Vec<usize> = (body.flesh().skeleton().joints().iter().enumerate())
            .filter(|(_, joint)| joint.parent.is_none())
            .map(|(index, _)| index)
            .collect();
        for frame in 1..=(self.all * FPS) as usize {
            let shift = self.shift(frame as f64 / FPS);
            let mut pose = rest_pose.clone();
            for &root in &roots {
                pose.locals[root].translation += shift;
            }
            body.advance(&pose, 1.0 / FPS)?;
            let now = body.positions().swap_remove(part);
            let offsets = now
                .iter()
                .zip(&rest)
                .map(|(now, rest)| *now - *rest - shift);
            at(&offsets.collect::<Vec<_>>());
        }
        Ok(())
    }

    /// For every region of a part, the largest distance of its skin from where the rigid body would be, root mean square over the
    /// region \[m\].
    pub fn swings(
        &self,
        body: &mut SoftBody,
        part: usize,
        regions: &[&[u32]],
    ) -> Result<Vec<f64>, TissueError> {
        let mut swings = vec![0.0_f64; regions.len()];
        self.follow(body, part, &mut |offsets| {
            for (swing, region) in swings.iter_mut().zip(regions) {
                *swing = swing.max(root_mean_square(offsets, region));
            }
        })?;
        Ok(swings)
    }
}

/// Root mean square of the offsets of a region \[m\].
pub fn root_mean_square(offsets: &[Vec3], region: &[u32]) -> f64 {
    let square = |&v: &u32| f64::from(offsets[v as usize].length_squared());
    (region.iter().map(square).sum::<f64>() / region.len().max(1) as f64).sqrt()
}

/// Triangles whose corners are all in a region.
pub fn triangles_within(triangles: &[[u32; 3]], region: &[u32]) -> Vec<[u32; 3]> {
    let mut sorted = region.to_vec();
    sorted.sort_unstable();
    let is_inside = |v: &u32| sorted.binary_search(v).is_ok();
    let within = triangles.iter().filter(|t| t.iter().all(is_inside));
    within.copied().collect()
}

/// Shear of triangles between two shapes of a skin \[°\]: by how much the angle between the directions along Y and around it
/// changes. `None` for level triangles.
pub fn shears(triangles: &[[u32; 3]], rest: &[Vec3], now: &[Vec3]) -> Vec<Option<f64>> {
    let at = |p: &[Vec3], t: &[u32; 3]| t.map(|v| p[v as usize].as_dvec3());
    let shear = |t: &[u32; 3]| {
        let ([a, b, c], [p, q, r]) = (at(rest, t), at(now, t));
        let (u, v) = (b - a, c - a);
        let normal = u.cross(v).try_normalize()?;
        let up = (DVec3::Y - normal * normal.y).try_normalize()?;
        let moved = |d: DVec3| {
            // d = s u + t v, by the Gram matrix.
            let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
            let (du, dv) = (d.dot(u), d.dot(v));
            let det = uu * vv - uv * uv;
            let (s, t) = ((du * vv - dv * uv) / det, (dv * uu - du * uv) / det);
            ((q - p) * s + (r - p) * t).try_normalize()
        };
        let cosine = moved(up)?.dot(moved(normal.cross(up))?);
        Some(cosine.clamp(-1.0, 1.0).asin().abs() * 180.0 / PI)
    };
    triangles.iter().map(shear).collect()
}

/// Mean of [`shears`] \[°\].
pub fn mean_shear(triangles: &[[u32; 3]], rest: &[Vec3], now: &[Vec3]) -> f64 {
    let all: Vec<f64> = shears(triangles, rest, now).into_iter().flatten().collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// Number of edges between triangles of a skin that are folded: the angle between the two sides has grown by more than
/// `degrees` since rest.
pub fn folds(triangles: &[[u32; 3]], rest: &[Vec3], now: &[Vec3], degrees: f32) -> usize {
    let mut sides: BTreeMap<[u32; 2], Vec<[u32; 3]>> = BTreeMap::new();
    for t in triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            sides.entry([a.min(b), a.max(b)]).or_default().push(*t);
        }
    }
    let normal = |p: &[Vec3], t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| p[v as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    };
    let angle = |p: &[Vec3], [s, t]: [&[u32; 3]; 2]| normal(p, s).angle_between(normal(p, t));
    let is_folded = |list: &&Vec<[u32; 3]>| match &list[..] {
        [s, t] => (angle(now, [s, t]) - angle(rest, [s, t])).to_degrees() > degrees,
        _ => false,
    };
    sides.values().filter(is_folded).count()
}
