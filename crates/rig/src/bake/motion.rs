//! The motion to bake, and error measures against it.

use glam::Vec3;
use rayon::prelude::*;

use super::{BakeError, Frame, Frames};
use crate::{Character, Pose};

/// Positions of all vertices over time, and the skeleton motion that belongs to them.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// Frames per second.
    pub fps: f32,
    /// World positions \[m\].
    pub frames: Frames,
    /// Pose of each frame; may be empty for a character without a skeleton.
    pub poses: Vec<Pose>,
    /// Weights of the file's own morph targets, by frame, part and target. Empty if they stay at rest.
    pub morph_weights: Vec<Vec<Vec<f32>>>,
}

/// Largest and root-mean-square distance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Largest distance over all vertices and frames \[mm\].
    pub max_mm: f32,
    /// RMS distance over all vertices and frames \[mm\].
    pub rms_mm: f32,
}

/// Result of a bake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakeReport {
    /// Number of frames written.
    pub frames: usize,
    /// Number of morph targets added: the largest count of any mesh.
    pub targets: usize,
    /// Error against the source motion, measured on the written file.
    pub errors: Errors,
    /// The requested error bound \[mm\], if any.
    pub bound_mm: Option<f32>,
    /// Whether the written file meets the bound; true if none was requested.
    pub bound_met: bool,
}

impl Motion {
    /// Time of a frame \[s\], in the precision files store.
    pub fn time(&self, frame: usize) -> f32 {
        frame as f32 / self.fps
    }

    /// Weights of a part's own morph targets in a frame.
    pub(super) fn weights<'a>(
        &'a self,
        character: &'a Character,
        frame: usize,
        part: usize,
    ) -> &'a [f32] {
        let given = self
            .morph_weights
            .get(frame)
            .and_then(|parts| parts.get(part));
        given.map_or(&character.parts[part].morph_weights, |weights| weights)
    }

    /// Checks that the motion belongs to `character` and that all its numbers are finite.
    pub fn check(&self, character: &Character) -> Result<(), BakeError> {
        let mismatch = |text: String| Err(BakeError::Mismatch(text));
        if !(self.fps > 0.0 && self.fps.is_finite()) {
            return mismatch(format!("its frame rate is {}", self.fps));
        }
        if self.frames.is_empty() {
            return mismatch("it has no frames".into());
        }
        if !character.skeleton.is_empty() && self.poses.len() != self.frames.len() {
            return mismatch(format!(
                "it has {} poses for {} frames",
                self.poses.len(),
                self.frames.len()
            ));
        }
        let joints = character.skeleton.len();
        if self.poses.iter().any(|pose| pose.locals.len() != joints) {
            return mismatch(format!("a pose does not have {joints} joints"));
        }
        let check = |index| {
            self.check_frame(character, index, &self.frames.get(index))
                .err()
        };
        let first = (0..self.frames.len()).into_par_iter().find_map_first(check);
        first.map_or(Ok(()), Err)
    }

    fn check_frame(
        &self,
        character: &Character,
        index: usize,
        frame: &[Vec<Vec3>],
    ) -> Result<(), BakeError> {
        let counts = frame.iter().map(Vec::len);
        if !counts.eq(character.parts.iter().map(|part| part.mesh.positions.len())) {
            let text = format!("frame {index} has different parts or vertex counts");
            return Err(BakeError::Mismatch(text));
        }
        for (part, positions) in frame.iter().enumerate() {
            if let Some(vertex) = positions.iter().position(|position| !position.is_finite()) {
                return Err(BakeError::NotFinite {
                    frame: index,
                    part,
                    vertex,
                });
            }
            if self.weights(character, index, part).len() > character.parts[part].morphs.len() {
                let text = format!("frame {index} has too many morph weights");
                return Err(BakeError::Mismatch(text));
            }
        }
        Ok(())
    }

    /// Errors of other frames, generated one by one, against this motion.
    pub fn errors(&self, other: impl Fn(usize) -> Frame + Sync) -> Errors {
        let sums: Vec<ErrorSum> = (0..self.frames.len())
            .into_par_iter()
            .map(|frame| {
                let mut sum = ErrorSum::default();
                for (mine, other) in self.frames.get(frame).iter().zip(other(frame)) {
                    mine.iter().zip(other).for_each(|(a, b)| sum.add(*a, b));
                }
                sum
            })
            .collect();
        let all = sums.into_iter().fold(ErrorSum::default(), ErrorSum::join);
        all.errors()
    }
}

/// Accumulator for the largest and RMS distance.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorSum {
    max: f64,
    squares: f64,
    count: usize,
}

impl ErrorSum {
    /// Adds the distance between two positions of a point \[m\].
    pub fn add(&mut self, a: Vec3, b: Vec3) {
        let square = a.as_dvec3().distance_squared(b.as_dvec3());
        self.max = self.max.max(square);
        self.squares += square;
        self.count += 1;
    }

    /// Merges two accumulators.
    pub fn join(self, other: Self) -> Self {
        Self {
            max: self.max.max(other.max),
            squares: self.squares + other.squares,
            count: self.count + other.count,
        }
    }

    /// The resulting errors.
    pub fn errors(self) -> Errors {
        let mean = self.squares / self.count.max(1) as f64;
        Errors {
            max_mm: (self.max.sqrt() * 1e3) as f32,
            rms_mm: (mean.sqrt() * 1e3) as f32,
        }
    }
}
