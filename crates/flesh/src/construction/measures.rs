//! Quality measures around a joint: tissue volume and cross-sections relative to rest.

use glam::{DVec3, Vec3};
use supple_geom::TriMesh;
use supple_geom::section::{Plane, section};
use supple_geom::tet_mesh::determinant;
use supple_geom::{Aabb, Adjacency};
use supple_rig::Pose;
use supple_sim::State;

use crate::FleshError;
use crate::flesh::Flesh;

/// Share of each incident bone, from the joint, that belongs to the joint's region.
const REGION_SHARE: f64 = 0.4;
/// Number of cross-sections along each bone.
const SECTIONS: usize = 8;

impl Flesh {
    /// The state whose skin is that of another skinning method, so that both methods are measured on the same tets.
    /// `parts` are the posed positions of every part in the file's order \[m\]. Driven vertices are at the pose's targets;
    /// free bone-surface points move rigidly with their column's frame.
    pub fn state_of_skin(&self, pose: &Pose, parts: &[Vec<Vec3>]) -> Result<State, FleshError> {
        for (part, range) in self.starts.windows(2).enumerate() {
            let (given, expected) = (parts.get(part).map_or(0, Vec::len), range[1] - range[0]);
            if given != expected {
                return Err(FleshError::SkinSize {
                    part,
                    given,
                    expected,
                });
            }
        }
        let frames = self.all_frames(pose)?;
        let mut state = State::at_rest(&self.model);
        state.fixed = self.targets(pose)?.fixed;
        state.fixed_previous.clone_from(&state.fixed);
        let index_of = self.model.index_of();
        let mut put = |vertex: u32, position: Vec3| {
            let index = index_of.get(vertex as usize);
            if let Some(slot) = index.and_then(|&index| state.positions.get_mut(index as usize)) {
                *slot = position;
            }
        };
        for (v, column) in self.columns.iter().enumerate() {
            let (part, vertex) = self.part_of(self.original_of[v] as usize);
            put(column.skin, parts[part][vertex]);
            let follow = self.carried(v);
            let bone = follow.unheld(&frames, self.bone[v] - follow.point);
            put(column.bone, bone.as_vec3());
            if let Some(layers) = &self.layers {
                let muscle = follow.unheld(&frames, layers.muscle[v] - follow.point);
                put(column.muscle, muscle.as_vec3());
            }
        }
        Ok(state)
    }

    /// Tissue volume around a joint relative to rest, and the number of tets it was taken from: those whose columns have
    /// their base points within 40 % of a bone's length from the joint. Inverted tets count negative.
    pub fn joint_volume(&self, joint: usize, state: &State) -> Option<(f64, usize)> {
        let node = self.node_of(joint)?;
        let near: Vec<bool> = self
            .base_points
            .iter()
            .map(|base| self.is_near(base, node))
            .collect();
        let rest = self.model.rest();
        let now: Vec<Vec3> = state
            .positions
            .iter()
            .chain(&state.fixed)
            .copied()
            .collect();
        let mut column_of = vec![usize::MAX; self.model.vertex_count()];
        for (v, column) in self.columns.iter().enumerate() {
            for vertex in column.vertices() {
                if let Some(&index) = self.model.index_of().get(vertex as usize) {
                    column_of[index as usize] = v;
                }
            }
        }
        let (mut before, mut after, mut tets) = (0.0, 0.0, 0);
        for tet in &self.model.tets().vertices {
            let inside = tet
                .iter()
                .all(|&v| near.get(column_of[v as usize]).copied().unwrap_or(false));
            if inside {
                before += determinant(tet.map(|v| rest[v as usize].as_dvec3()));
                after += determinant(tet.map(|v| now[v as usize].as_dvec3()));
                tets += 1;
            }
        }
        (before > 0.0).then_some((after / before, tets))
    }

    /// Smallest ratio of a cross-section's area in the pose to its area at rest, over sections perpendicular to the bones
    /// of a joint. `skin` are the simulation mesh's vertices in the pose.
    ///
    /// A section is the closed curve around the bone; other limbs in the same plane do not count.
    pub fn smallest_section(
        &self,
        joint: usize,
        pose: &Pose,
        skin: &[Vec3],
    ) -> Result<Option<f64>, FleshError> {
        let Some(node) = self.node_of(joint) else {
            return Ok(None);
        };
        let rest_frames = self.frames(&self.rest_pose())?;
        let frames = self.frames(pose)?;
        let before = &self.skin;
        let after = TriMesh {
            positions: skin.to_vec(),
            triangles: before.triangles.clone(),
        };
        let adjacency = Adjacency::new(before);
        let mut smallest: Option<f64> = None;
        for &bone in &self.graph.incident[node] {
            let at = |frames: &crate::motion::frames::Frames, t: f64| {
                let frame = &frames.bones[bone];
                (frame.start.lerp(frame.end, t), frame.end - frame.start)
            };
            let from_start = self.graph.bones[bone].start == node;
            for k in 0..SECTIONS {
                let share = 0.8 * (k as f64 + 0.5) / SECTIONS as f64 + 0.1;
                let t = if from_start { share } else { 1.0 - share };
                let cut = |mesh: &TriMesh, (point, axis): (DVec3, DVec3)| {
                    enclosing_area(mesh, &adjacency, point, axis)
                };
                let (Some(rest), Some(now)) = (
                    cut(before, at(&rest_frames, t)),
                    cut(&after, at(&frames, t)),
                ) else {
                    continue;
                };
                let ratio = now / rest;
                smallest = Some(smallest.map_or(ratio, |least: f64| least.min(ratio)));
            }
        }
        Ok(smallest)
    }

    fn node_of(&self, joint: usize) -> Option<usize> {
        self.graph
            .nodes
            .iter()
            .position(|node| node.joints.contains(&joint))
    }

    fn is_near(&self, base: &crate::construction::base_points::BasePoint, node: usize) -> bool {
        let Some(bone) = base.bone else {
            return base.node == node;
        };
        let ends = &self.graph.bones[bone];
        (ends.start == node && base.t <= REGION_SHARE)
            || (ends.end == node && base.t >= 1.0 - REGION_SHARE)
    }
}

/// Area of the smallest closed section curve that winds around `point`.
fn enclosing_area(mesh: &TriMesh, adjacency: &Adjacency, point: DVec3, axis: DVec3) -> Option<f64> {
    let bounds: Aabb = mesh.bounds();
    if !(bounds.min.is_finite() && point.is_finite()) {
        return None;
    }
    let cut = section(
        mesh,
        adjacency,
        Plane {
            point: point.as_vec3(),
            normal: axis.as_vec3(),
        },
    );
    cut.loops
        .iter()
        .filter(|curve| curve.closed && curve.winding(point, cut.normal) != 0)
        .map(|curve| curve.area.abs())
        .min_by(f64::total_cmp)
}
