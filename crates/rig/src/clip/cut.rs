//! Cutting a clip.

use super::{Clip, Interpolation, MorphTrack};

/// Keys per second of tracks that are not linear between their keys. Below 60 fast splines lose tenths of a millimetre.
const KEYS_PER_SECOND: f32 = 120.0;

impl Clip {
    /// The part of the clip up to a time \[s\]; sampled later, it holds the pose of that time. A later time than the end changes
    /// nothing.
    pub fn up_to(&self, time: f32) -> Self {
        if time >= self.duration() {
            return self.clone();
        }
        let kept = |times: &[f32], interpolation: Interpolation| -> Vec<f32> {
            let keys = (time * KEYS_PER_SECOND).ceil().max(0.0) as usize;
            let dense = (0..keys).map(|key| key as f32 / KEYS_PER_SECOND);
            let mut kept: Vec<f32> = match interpolation {
                Interpolation::Linear => times.to_vec(),
                _ => dense.collect(),
            };
            kept.retain(|&key| key < time);
            kept.push(time);
            kept
        };
        let morphs = self.morphs.iter().map(|track| {
            let times = kept(&track.times, track.interpolation);
            let weights = times.iter().filter_map(|&time| track.sample(time));
            MorphTrack {
                part: track.part,
                weights: weights.flatten().collect(),
                times,
                interpolation: Interpolation::Linear,
            }
        });
        let tracks = self.tracks.iter();
        Self {
            name: self.name.clone(),
            tracks: tracks
                .map(|track| track.resampled(&kept(&track.times, track.interpolation)))
                .collect(),
            morphs: morphs.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Track, Values};
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_cut_clip_plays_as_before_and_then_holds() {
        let moved = |times: &[f32], xs: &[f32], interpolation| Track {
            joint: 0,
            times: times.to_vec(),
            values: Values::Translation(xs.iter().map(|&x| Vec3::X * x).collect()),
            interpolation,
        };
        let cubic = [0.0, 1.0, 0.5, 0.5, 3.0, 0.0];
        let tracks = [
            moved(&[0.0, 1.0, 2.0], &[0.0, 1.0, 5.0], Interpolation::Linear),
            moved(&[0.0, 2.0], &cubic, Interpolation::Cubic),
        ];
        let skeleton = crate::keyed::mannequin();
        for track in tracks {
            let clip = Clip {
                tracks: vec![track],
                ..Clip::default()
            };
            let cut = clip.up_to(1.3);
            let x = |clip: &Clip, time| clip.sample(&skeleton, time).locals[0].translation.x;
            for time in [0.0, 0.4, 1.0, 1.25, 1.3] {
                assert!((x(&cut, time) - x(&clip, time)).abs() < 1e-4, "{time}");
            }
            assert!((x(&cut, 9.0) - x(&clip, 1.3)).abs() < 1e-4);
            assert_eq!(clip.up_to(7.0), clip);
        }
    }
}
