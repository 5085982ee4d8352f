//! What skin weights say about joints: how much flesh each moves, and where a leaf bone would end.

use glam::DVec3;
use supple_rig::Character;

/// The flesh that one joint moves.
#[derive(Clone, Debug, Default)]
pub struct JointUse {
    /// Sum of weights over flesh vertices.
    pub weight: f64,
    /// Vertices on which this joint has the largest weight [m].
    pub owned: Vec<DVec3>,
}

impl JointUse {
    /// End of a leaf bone that starts at `start`: along the owned vertices' mean direction, short of their far end by
    /// their own half width, so that the tip keeps tissue on all sides.
    pub fn tail_from(&self, start: DVec3) -> Option<DVec3> {
        if self.owned.len() < 4 {
            return None;
        }
        let mean = self.owned.iter().copied().sum::<DVec3>() / self.owned.len() as f64;
        let direction = (mean - start).try_normalize()?;
        let mut reach = 0.0_f64;
        let mut width = 0.0;
        for &point in &self.owned {
            let along = (point - start).dot(direction);
            reach = reach.max(along);
            width += (point - start - direction * along).length();
        }
        width /= self.owned.len() as f64;
        let length = (reach - width).max(0.3 * reach);
        // The mean may lie beside the joint rather than ahead of it: then a tail says nothing.
        (length > 0.0 && mean.distance(start) > 0.25 * width).then(|| start + direction * length)
    }
}

/// Uses of all joints over the vertices (`positions` by part) where `is_flesh(part, vertex)`; `None` where no part has weights.
pub fn joint_uses(
    character: &Character,
    positions: &[Vec<DVec3>],
    is_flesh: &dyn Fn(usize, usize) -> bool,
) -> Option<Vec<JointUse>> {
    let mut uses = vec![JointUse::default(); character.skeleton.len()];
    let mut any = false;
    for (p, part) in character.parts.iter().enumerate() {
        let influences = &part.binding.influences;
        if influences.is_empty() {
            continue;
        }
        for (v, &position) in positions[p].iter().enumerate() {
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
                uses[joint].owned.push(position);
            }
        }
    }
    any.then_some(uses)
}
