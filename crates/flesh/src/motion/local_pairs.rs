//! Pairs of local contact: points that penetrate prisms across a joint in extreme poses [Projective Skinning §5].

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_sim::contact::{ContactSurface, Detector, Filter, LocalPair, LocalPairs};

use crate::construction::base_points::BasePoint;
use crate::flesh::Flesh;
use crate::motion::extreme_poses::{Bend, extreme_poses};
use crate::motion::follow::{Follow, PoseFrames};
use crate::motion::targets::positions;

/// Most joints between the bones of a pair. With one, forearms and upper arms with a twist bone form no pairs.
const MOST_JOINTS: usize = 4;

impl Flesh {
    /// Finds the pairs of local contact, unless the model has them already. The builder calls this if the settings use local contact.
    /// Pairs depend on the character only.
    pub fn find_local_pairs(&self) {
        if let Some(surface) = self.model.contact_surface() {
            surface.local_pairs_or_find(|surface| self.local_pairs(surface));
        }
    }

    fn local_pairs(&self, surface: &ContactSurface) -> LocalPairs {
        let skeleton = &self.character.skeleton;
        let joint_of = |base: &BasePoint| match base.bone {
            Some(bone) => self.graph.bones[bone].joint,
            None => self.graph.nodes[base.node]
                .joints
                .first()
                .copied()
                .unwrap_or(0),
        };
        let joints: Vec<usize> = self.base_points.iter().map(joint_of).collect();
        let mut bones = vec![None; skeleton.len()];
        for (i, bone) in self.graph.bones.iter().enumerate() {
            let (start, end): (DVec3, DVec3) = self.graph.segment(i);
            if !bone.is_virtual {
                bones[bone.joint] = Some((end - start).as_vec3());
            }
        }
        let bends = extreme_poses(skeleton, &self.rest_pose(), &bones);
        let ends = self.bone_ends(&joints);
        let carried: Vec<Follow> = (0..self.columns.len()).map(|c| self.carried(c)).collect();
        let found: Vec<Vec<LocalPair>> = bends
            .par_iter()
            .map(|bend| self.pairs_of_bend(surface, &joints, &ends, &carried, bend))
            .collect();
        LocalPairs::new(surface, found.concat())
    }

    /// Pairs across the joints of a bend, at increasing angles.
    fn pairs_of_bend(
        &self,
        surface: &ContactSurface,
        joints: &[usize],
        ends: &[Vec<u32>],
        carried: &[Follow],
        bend: &Bend,
    ) -> Vec<LocalPair> {
        let mut detector = Detector::new(surface);
        let mut before: Vec<Vec3> = Vec::new();
        let mut at_rest = vec![false; surface.point_count()];
        let mut pairs = Vec::new();
        for pose in &bend.poses {
            let Ok(rigid) = self.frames(pose) else {
                continue;
            };
            let bases = self.base_positions(&rigid);
            let frames = PoseFrames {
                rigid,
                ..PoseFrames::default()
            };
            let skin = positions(carried, &frames);
            detector.update(surface, |i| skin[i], |i| bases[i]);
            detector.search(surface, Filter::Facing);
            if before.is_empty() {
                (detector.found()).for_each(|found| at_rest[found.point as usize] = true);
                before = bases;
                continue;
            }
            for found in detector.found() {
                let first = surface.triangles()[found.triangle as usize][0];
                let (a, b) = (joints[found.point as usize], joints[first as usize]);
                let is_across = self.bent_between(bend, a, b) == Some(1);
                if !is_across || at_rest[found.point as usize] {
                    continue;
                }
                let Some(sentinels) = self.far_apart(surface, &ends[a], &ends[b]) else {
                    continue;
                };
                pairs.push(LocalPair {
                    fold: (a.min(b) * self.character.skeleton.len() + a.max(b)) as u32,
                    point: found.point,
                    triangle: found.triangle,
                    sentinels,
                    distance: before[sentinels[0] as usize].distance(before[sentinels[1] as usize]),
                });
            }
            before = bases;
        }
        pairs
    }

    /// Columns at both ends of every joint's bones.
    fn bone_ends(&self, joints: &[usize]) -> Vec<Vec<u32>> {
        let mut ends: Vec<Option<[(f64, u32); 2]>> = vec![None; self.character.skeleton.len()];
        for (column, (base, &joint)) in self.base_points.iter().zip(joints).enumerate() {
            let here = (base.t, column as u32);
            let [low, high] = ends[joint].unwrap_or([here; 2]);
            ends[joint] = Some([
                if here.0 < low.0 { here } else { low },
                if here.0 > high.0 { here } else { high },
            ]);
        }
        let columns = |ends: Option<[(f64, u32); 2]>| ends.into_iter().flatten().map(|(_, c)| c);
        ends.into_iter().map(|e| columns(e).collect()).collect()
    }

    /// The column of each list whose base points are farthest apart at rest.
    fn far_apart(&self, surface: &ContactSurface, a: &[u32], b: &[u32]) -> Option<[u32; 2]> {
        let base = |column: u32| surface.input().bases[column as usize];
        let pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| [a, b]));
        pairs.max_by(|&[a, b], &[c, d]| {
            let (x, y) = (base(a).distance(base(b)), base(c).distance(base(d)));
            x.total_cmp(&y)
        })
    }

    /// Number of bent joints between two bones; `None` if they are too far apart.
    fn bent_between(&self, bend: &Bend, a: usize, b: usize) -> Option<usize> {
        let joints = self.character.skeleton.joints();
        let chain = |mut joint: usize| {
            let mut chain = vec![joint];
            while let Some(parent) = joints[joint].parent {
                if chain.len() > MOST_JOINTS {
                    break;
                }
                chain.push(parent);
                joint = parent;
            }
            chain
        };
        let (from_a, from_b) = (chain(a), chain(b));
        let (i, j) = from_a.iter().enumerate().find_map(|(i, joint)| {
            let j = from_b.iter().position(|other| other == joint)?;
            Some((i, j))
        })?;
        if i + j == 0 || i + j > MOST_JOINTS {
            return None;
        }
        let between = from_a[..i].iter().chain(&from_b[..j]);
        Some(between.filter(|&&joint| bend.bent[joint]).count())
    }
}
