//! The body model: a linear space of bodies in the rest pose, posed by a rig.
//!
//! Rest vertices and joints are `mean + Σ cᵢ fieldᵢ`: principal components of made bodies, then fields for segment
//! lengths, girths and widths that the components do not span (`widening.rs`). Posing is linear blend skinning.
//! Units are metres, Y is up, the rest pose faces +Z, left is +X.

mod asset;
mod posing;
mod regressor;
mod sample;
mod steer;
mod widening;

use std::sync::OnceLock;

use glam::{DVec3, Vec3};
use supple_geom::TriMesh;
use supple_rig::skeleton::JointKind;
use supple_rig::{Joint, Skeleton, Transform};

use crate::Sex;
pub use posing::{Figure, Frames};
pub use sample::{BodySampler, PoseRange};
pub use steer::REACH;

/// Joints that move one vertex, and their weights.
pub type VertexWeights = [(u8, f32); 4];

/// The models in use, men and women.
static MODELS: [OnceLock<BodyModel>; 2] = [OnceLock::new(), OnceLock::new()];

/// Bytes that are not a body space and its rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body space is damaged; fetch it again")]
pub struct DamagedSpace;

/// A space of bodies of one sex, with their rig.
#[derive(Clone, Debug)]
pub struct BodyModel {
    /// Sex.
    pub sex: Sex,
    /// Triangles of the skin, those of the embedded body.
    pub triangles: Vec<[u32; 3]>,
    /// Names of the joints.
    pub joint_names: Vec<String>,
    /// Parent of each joint, smaller than its own index.
    pub parents: Vec<Option<usize>>,
    /// Weights of each vertex; unused slots have weight zero.
    pub weights: Vec<VertexWeights>,
    /// The mean body: vertices, then joints \[m\].
    mean: Vec<DVec3>,
    /// Displacement of each point by each field, point by point.
    fields: Vec<Vec3>,
    /// Expected size of each coefficient.
    pub deviations: Vec<f64>,
    /// Names of the fields.
    pub field_names: Vec<String>,
    /// Vertices and weights that give each joint.
    regressor: Vec<Vec<(u32, f64)>>,
    /// Vertices that no scan shows, and the skin vertex nearest to each.
    carried: Vec<(u32, u32)>,
    /// Whether a vertex is among them.
    hidden: Vec<bool>,
    /// Whether hair grows on a vertex.
    scalp: Vec<bool>,
}

impl BodyModel {
    /// The embedded model of a sex; unpacked once.
    ///
    /// # Panics
    /// In WebAssembly, where it is no part of the program, unless [`BodyModel::provide`] was called before.
    pub fn embedded(sex: Sex) -> &'static BodyModel {
        MODELS[sex as usize].get_or_init(|| {
            // The assets are part of the program; a test unpacks both.
            let (space, rig) = asset::embedded(sex);
            BodyModel::unpack(sex, space, rig).expect("the embedded body space")
        })
    }

    /// Unpacks the model of a sex from the bytes of its assets, for programs that fetch them; [`BodyModel::embedded`] is that
    /// model from then on. Does nothing if there is one.
    pub fn provide(sex: Sex, space: &[u8], rig: &[u8]) -> Result<(), DamagedSpace> {
        if MODELS[sex as usize].get().is_none() {
            let model = BodyModel::unpack(sex, space, rig).ok_or(DamagedSpace)?;
            MODELS[sex as usize].get_or_init(|| model);
        }
        Ok(())
    }

    fn unpack(sex: Sex, space: &[u8], rig: &[u8]) -> Option<BodyModel> {
        let mut model = asset::unpack(sex, space, rig)?;
        widening::widen(&mut model);
        model.regressor = regressor::learn(&model);
        model.find_hidden();
        model.find_scalp();
        Some(model)
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.weights.len()
    }

    /// Number of joints.
    pub fn joint_count(&self) -> usize {
        self.joint_names.len()
    }

    /// Number of fields.
    pub fn field_count(&self) -> usize {
        self.deviations.len()
    }

    /// Displacements of a point by all fields \[m\]; joints come after the vertices.
    pub fn point_fields(&self, point: usize) -> &[Vec3] {
        let count = self.field_count();
        &self.fields[point * count..(point + 1) * count]
    }

    /// A vertex or joint of the mean body \[m\].
    pub fn mean_point(&self, point: usize) -> DVec3 {
        self.mean[point]
    }

    /// Rest position of a vertex, or joint after the vertices \[m\].
    pub fn rest_point(&self, point: usize, coefficients: &[f64]) -> DVec3 {
        let fields = self.point_fields(point).iter().zip(coefficients);
        fields.fold(self.mean[point], |sum, (field, &c)| {
            sum + c * field.as_dvec3()
        })
    }

    /// Rest positions of the vertices \[m\].
    pub fn rest_vertices(&self, coefficients: &[f64]) -> Vec<DVec3> {
        use rayon::prelude::*;
        (0..self.vertex_count())
            .into_par_iter()
            .map(|vertex| self.rest_point(vertex, coefficients))
            .collect()
    }

    /// Rest positions of the joints \[m\].
    pub fn rest_joints(&self, coefficients: &[f64]) -> Vec<DVec3> {
        let first = self.vertex_count();
        (first..first + self.joint_count())
            .map(|point| self.rest_point(point, coefficients))
            .collect()
    }

    /// Joints of a body in the rest pose, from its vertices alone \[m\].
    pub fn joints_of(&self, vertices: &[DVec3]) -> Vec<DVec3> {
        (self.regressor.iter())
            .map(|row| row.iter().map(|&(v, w)| w * vertices[v as usize]).sum())
            .collect()
    }

    /// Index of a joint of the rig.
    ///
    /// # Panics
    /// If the rig has no such joint.
    pub fn joint(&self, name: &str) -> usize {
        let found = self.joint_names.iter().position(|joint| joint == name);
        found.unwrap_or_else(|| panic!("the rig has no joint '{name}'"))
    }

    /// Whether `ancestor` is `joint` or above it.
    pub fn is_below(&self, joint: usize, ancestor: usize) -> bool {
        std::iter::successors(Some(joint), |&j| self.parents[j]).any(|j| j == ancestor)
    }

    /// The joint with the largest weight of a vertex.
    pub fn main_joint(&self, vertex: usize) -> usize {
        let first = self.weights[vertex][0];
        let most =
            self.weights[vertex].iter().fold(
                first,
                |best, &entry| {
                    if entry.1 > best.1 { entry } else { best }
                },
            );
        usize::from(most.0)
    }

    /// Which vertices belong to torso and limbs: all but those of head, neck, hands and toes.
    pub fn trunk_and_limbs(&self) -> Vec<bool> {
        const APART: [&str; 6] = ["finger", "metacarpal", "toe", "eye", "neck", "head"];
        (0..self.vertex_count())
            .map(|vertex| {
                let name = &self.joint_names[self.main_joint(vertex)];
                !APART.iter().any(|prefix| name.starts_with(prefix))
            })
            .collect()
    }

    /// Whether a vertex belongs to head, hands or toes, whose detail is finer than scans resolve.
    pub fn is_detail(&self, vertex: usize) -> bool {
        const FINE: [&str; 5] = ["finger", "metacarpal", "toe", "eye", "head"];
        let name = &self.joint_names[self.main_joint(vertex)];
        FINE.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Whether no scan shows a vertex: it is not on the largest shell (eyeballs).
    pub fn is_hidden(&self, vertex: usize) -> bool {
        self.hidden[vertex]
    }

    /// Whether hair grows on a vertex: the head above the brow and behind the ears.
    pub fn is_scalp(&self, vertex: usize) -> bool {
        self.scalp[vertex]
    }

    /// Vertices that no scan shows, and the skin vertex nearest to each.
    pub fn carried(&self) -> &[(u32, u32)] {
        &self.carried
    }

    fn find_scalp(&mut self) {
        let (head, eye) = (
            self.joint("head"),
            self.vertex_count() + self.joint("eye.L"),
        );
        let grows = |vertex: usize| {
            let from_eye = self.mean[vertex] - self.mean[eye];
            self.main_joint(vertex) == head
                && (from_eye.y > 0.04 || (from_eye.z < -0.08 && from_eye.y > -0.08))
        };
        self.scalp = (0..self.vertex_count()).map(grows).collect();
    }

    fn find_hidden(&mut self) {
        let mesh = self.mesh(&self.mean[..self.vertex_count()]);
        let found = supple_geom::shells::shells(&mesh);
        let sizes = found.triangles();
        let largest = (0..sizes.len()).max_by_key(|&shell| sizes.row(shell).len());
        let largest = largest.unwrap_or(0) as u32;
        self.hidden = found
            .of_vertex
            .iter()
            .map(|&shell| shell != largest)
            .collect();
        let shown = |v: u32| !self.hidden[v as usize];
        let tree = supple_geom::kd_tree::KdTree::new(&mesh.positions);
        let nearest = |v: u32| {
            let at = mesh.positions[v as usize];
            Some((v, tree.nearest_where(at, 1.0, shown)?.index))
        };
        let all = 0..self.vertex_count() as u32;
        self.carried = all.filter(|&v| !shown(v)).filter_map(nearest).collect();
    }

    /// The skin as a mesh.
    pub fn mesh(&self, vertices: &[DVec3]) -> TriMesh {
        TriMesh {
            positions: vertices.iter().map(|v| v.as_vec3()).collect(),
            triangles: self.triangles.clone(),
        }
    }

    /// The rig at rest with joints at the given places \[m\].
    pub fn skeleton(&self, joints: &[DVec3]) -> Skeleton {
        let list = (0..self.joint_count())
            .map(|joint| {
                let origin = self.parents[joint].map_or(DVec3::ZERO, |parent| joints[parent]);
                Joint {
                    name: self.joint_names[joint].clone(),
                    parent: self.parents[joint],
                    rest: Transform::from_translation((joints[joint] - origin).as_vec3()),
                    tail: None,
                    kind: JointKind::Bone,
                }
            })
            .collect();
        let made = Skeleton::from_unordered(list);
        made.expect("parents come before children").0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_space_holds_the_embedded_bodies() {
        for (sex, name) in [(Sex::Male, "male"), (Sex::Female, "female")] {
            let model = BodyModel::embedded(sex);
            let path = format!("{}/../supple/assets/{name}.glb", env!("CARGO_MANIFEST_DIR"));
            let file = supple_rig::formats::load(path.as_ref(), &Default::default()).unwrap();
            let part = &file.parts[0];
            assert_eq!(part.mesh.triangles, model.triangles);
            for (i, joint) in file.skeleton.joints().iter().take(104).enumerate() {
                assert_eq!(joint.name, model.joint_names[i]);
                assert_eq!(joint.parent, model.parents[i]);
            }
            // Least squares in the components alone; the body was not among the samples.
            let points: Vec<DVec3> = part.mesh.positions.iter().map(|p| p.as_dvec3()).collect();
            let n = model.field_count();
            let mut normal = supple_geom::dense::DenseSymmetric::zero(n);
            let mut right = vec![0.0; n];
            for (v, point) in points.iter().enumerate() {
                let miss = *point - model.mean_point(v);
                for axis in 0..3 {
                    let row: Vec<f64> = (model.point_fields(v).iter())
                        .map(|f| f64::from(f[axis]))
                        .collect();
                    normal.add_outer(&row);
                    (0..n).for_each(|f| right[f] += row[f] * miss[axis]);
                }
            }
            for f in 0..n {
                normal.add_at(f, f, 1e-6);
            }
            normal.factorise().unwrap().solve(&mut right);
            let fitted = model.rest_vertices(&right);
            let squares = fitted
                .iter()
                .zip(&points)
                .map(|(a, b)| a.distance_squared(*b));
            let rms = (squares.sum::<f64>() / points.len() as f64).sqrt();
            assert!(rms < 0.001, "{name}: {:.2} mm", 1000.0 * rms);
        }
    }
}
