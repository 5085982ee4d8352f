//! Morph targets of a clip on simulated skin, so that faces move as in the file.
//!
//! Tissue is built from the skin at rest. The difference that a clip's morph weights make to linear blend skinning is added to the
//! simulated skin.

use std::sync::Arc;

use glam::Vec3;
use supple_rig::bake::{Frame, FrameSource, Frames, Motion};
use supple_rig::skinning::linear_blend;
use supple_rig::{Character, Clip, Part, Pose, Skeleton};

/// Adds the displacements of a clip's morph targets at a time \[s\] to the positions of a skin in a pose, by part and vertex \[m\].
pub fn add_morphs(
    character: &Character,
    clip: &Clip,
    time: f32,
    pose: &Pose,
    skin: &mut [Vec<Vec3>],
) {
    for (index, (part, skin)) in character.parts.iter().zip(skin).enumerate() {
        if let Some(weights) = clip.sample_morphs(index, time) {
            add(part, &character.skeleton, pose, &weights, skin);
        }
    }
}

fn add(part: &Part, skeleton: &Skeleton, pose: &Pose, weights: &[f32], skin: &mut [Vec3]) {
    if weights == part.morph_weights {
        return;
    }
    let worlds = pose.worlds(skeleton);
    let with = linear_blend(part, &worlds, weights).positions;
    let without = linear_blend(part, &worlds, &part.morph_weights).positions;
    for ((place, with), without) in skin.iter_mut().zip(with).zip(without) {
        *place += with - without;
    }
}

/// A motion of tissue at the given times of a clip, with the clip's morph targets added.
pub fn with_morphs(
    mut motion: Motion,
    character: &Character,
    clip: &Clip,
    times: &[f32],
) -> Motion {
    if clip.morphs.is_empty() {
        return motion;
    }
    motion.morph_weights = (times.iter())
        .map(|&time| crate::skin::morph_weights(character, clip, time))
        .collect();
    let moved = |&(index, _): &(usize, &Part)| clip.morphs.iter().any(|track| track.part == index);
    let parts = character.parts.iter().enumerate().filter(moved);
    motion.frames = Frames::Made(Arc::new(Faces {
        parts: parts.map(|(index, part)| (index, part.clone())).collect(),
        skeleton: character.skeleton.clone(),
        poses: motion.poses.clone(),
        weights: motion.morph_weights.clone(),
        tissue: motion.frames,
    }));
    motion
}

struct Faces {
    tissue: Frames,
    /// The parts with animated morph targets.
    parts: Vec<(usize, Part)>,
    skeleton: Skeleton,
    poses: Vec<Pose>,
    /// Weights by frame, part and morph target.
    weights: Vec<Vec<Vec<f32>>>,
}

impl FrameSource for Faces {
    fn count(&self) -> usize {
        self.tissue.len()
    }

    fn frame(&self, frame: usize) -> Frame {
        let mut skin = self.tissue.get(frame).into_owned();
        for (index, part) in &self.parts {
            let weights = &self.weights[frame][*index];
            add(
                part,
                &self.skeleton,
                &self.poses[frame],
                weights,
                &mut skin[*index],
            );
        }
        skin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::{Body, body};
    use crate::skin::Span;
    use supple_rig::character::Morph;
    use supple_rig::clip::{Interpolation, MorphTrack};

    #[test]
    fn a_face_moves_on_tissue_and_in_the_baked_file() {
        let mut character = body(Body::Female).unwrap();
        character.source = Default::default();
        let part = &mut character.parts[0];
        let raised = |p: &Vec3| {
            if p.y > 1.5 {
                Vec3::Z * 0.02
            } else {
                Vec3::ZERO
            }
        };
        part.morphs.push(Morph {
            name: "smile".to_owned(),
            positions: part.mesh.positions.iter().map(raised).collect(),
            normals: Vec::new(),
        });
        part.morph_weights.push(0.0);
        let still = Clip::default();
        let mut clip = still.clone();
        clip.morphs.push(MorphTrack {
            part: 0,
            times: vec![0.0, 0.2],
            weights: vec![0.0, 1.0],
            interpolation: Interpolation::Linear,
        });
        let span = Span {
            from: 0.0,
            to: 0.2,
            fps: 10.0,
        };
        let play = |clip: &Clip| {
            let mut soft = crate::tissue::SoftBody::new(&character, Default::default()).unwrap();
            crate::play::simulate(&mut soft, &character, clip, span, &mut |_| ()).unwrap()
        };
        let (plain, smiling) = (play(&still), play(&clip));
        let [plain, last] = [&plain, &smiling].map(|motion| motion.frames.get(2)[0].clone());
        let most = (plain.iter().zip(&last)).fold(0.0_f32, |most, (a, b)| most.max(a.distance(*b)));
        assert!((most - 0.02).abs() < 1e-4, "{most}");
        let options = Default::default();
        let (glb, report) = crate::bake::bake_correctives(&character, &smiling, &options).unwrap();
        assert!(report.bound_met);
        let back = supple_rig::formats::gltf::read_glb(&glb, &Default::default()).unwrap();
        let smile = back.clips[0].sample_morphs(0, 0.2).unwrap()[0];
        assert!((smile - 1.0).abs() < 1e-4, "{smile}");
    }
}
