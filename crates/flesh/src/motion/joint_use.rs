//! What skin weights tell about joints: how much flesh each moves, and where a leaf bone ends.

use glam::DVec3;
use supple_geom::TriMesh;
use supple_rig::Character;

/// The flesh that one joint moves.
#[derive(Clone, Debug, Default)]
pub struct JointUse {
    /// Sum of weights over flesh vertices.
    pub weight: f64,
    /// Positions \[m\] and areas \[m²\] of the vertices on which this joint has the largest weight.
    pub owned: Vec<(DVec3, f64)>,
}

impl JointUse {
    /// End of a leaf bone that begins at `start`. It points to the mean of the owned vertices and stops short of the
    /// farthest by their mean distance from the axis, so that the tip has tissue on all sides.
    pub fn tail_from(&self, start: DVec3) -> Option<DVec3> {
        if self.owned.len() < 4 {
            return None;
        }
        // Weighted by area: the face has most of a head's vertices.
        let total: f64 = self.owned.iter().map(|(_, area)| area).sum();
        let mean = self.owned.iter().map(|&(p, area)| p * area).sum::<DVec3>() / total;
        let direction = (mean - start).try_normalize()?;
        let mut reach = 0.0_f64;
        let mut width = 0.0;
        for &(point, area) in &self.owned {
            let along = (point - start).dot(direction);
            reach = reach.max(along);
            width += area / total * (point - start - direction * along).length();
        }
        let length = (reach - width).max(0.3 * reach);
        // If the mean lies beside the joint rather than ahead of it, there is no clear direction.
        (length > 0.0 && mean.distance(start) > 0.25 * width).then(|| start + direction * length)
    }
}

/// Uses of all joints over the vertices (`meshes` by part) for which `is_flesh(part, vertex)` holds; `None` if no part has
/// weights.
pub fn joint_uses(
    character: &Character,
    meshes: &[TriMesh],
    is_flesh: &dyn Fn(usize, usize) -> bool,
) -> Option<Vec<JointUse>> {
    let mut uses = vec![JointUse::default(); character.skeleton.len()];
    let mut any = false;
    for (p, part) in character.parts.iter().enumerate() {
        let influences = &part.binding.influences;
        if influences.is_empty() {
            continue;
        }
        let areas = meshes[p].vertex_areas();
        for (v, position) in meshes[p].positions.iter().enumerate() {
            if v >= influences.len() || !is_flesh(p, v) {
                continue;
            }
            let mut owner: Option<(usize, f32)> = None;
            for &(slot, weight) in influences.of(v) {
                let Some(&joint) = part.binding.joints.get(slot as usize) else {
                    continue;
                };
                if weight > 0.0 && joint < uses.len() {
                    any = true;
                    uses[joint].weight += f64::from(weight);
                    if owner.is_none_or(|(_, most)| weight > most) {
                        owner = Some((joint, weight));
                    }
                }
            }
            if let Some((joint, _)) = owner {
                uses[joint].owned.push((position.as_dvec3(), areas[v]));
            }
        }
    }
    any.then_some(uses)
}
