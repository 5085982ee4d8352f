//! The fewest principal shapes that keep a motion within a bound.
//!
//! With orthonormal weights over the frames, the shapes that are left out add up to what a vertex loses: over all frames the squares
//! of its error are those of its offsets less those of its coefficients (Parseval). A vertex whose sum is below the square of the bound is
//! within it in every frame, so only the others are evaluated, frame by frame.

use glam::Vec3;
use rayon::prelude::*;

use super::principal::Modes;
use super::residual::{Residuals, worlds};
use crate::skinning::skin_matrices;

/// Rounding of sums of squares in single precision, relative to the sum. Lower, vertices that need evaluation are skipped.
const ROUNDING: f64 = 1e-5;

/// What is known of every vertex before modes are counted.
pub(super) struct Losses<'a> {
    residuals: &'a Residuals<'a>,
    modes: &'a Modes,
    /// Sum of squared offsets over all frames, by vertex \[m²\].
    squares: Vec<f64>,
    /// Sum of squared weights over all frames, by mode.
    powers: Vec<f64>,
    /// Largest distance that the offsets themselves leave \[m\].
    least: f32,
    /// Largest stretch of an offset by skinning.
    stretch: f32,
}

impl<'a> Losses<'a> {
    pub fn new(residuals: &'a Residuals<'a>, modes: &'a Modes) -> Self {
        let frames = residuals.motion.frames.len();
        let count = residuals.vertices.len();
        // Blocks of frames in order, so that sums do not depend on threads.
        let blocks: Vec<(Vec<f64>, f32, f32)> = (0..frames.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut sums = (vec![0.0; count], 0.0_f32, 0.0_f32);
                for frame in block * BLOCK..((block + 1) * BLOCK).min(frames) {
                    let (offsets, left) = residuals.of_frame(frame, &residuals.vertices);
                    for (sum, offset) in sums.0.iter_mut().zip(&offsets) {
                        *sum += offset.as_dvec3().length_squared();
                    }
                    sums.1 = sums.1.max(left);
                    sums.2 = sums.2.max(largest_stretch(residuals, frame));
                }
                sums
            })
            .collect();
        let mut squares = vec![0.0; count];
        let (mut least, mut stretch) = (0.0_f32, 0.0_f32);
        for block in blocks {
            (squares.iter_mut().zip(&block.0)).for_each(|(sum, more)| *sum += more);
            least = least.max(block.1);
            stretch = stretch.max(block.2);
        }
        let power = |weights: &Vec<f32>| weights.iter().map(|&w| f64::from(w).powi(2)).sum();
        Self {
            residuals,
            modes,
            squares,
            powers: modes.weights.iter().map(power).collect(),
            least,
            stretch,
        }
    }

    /// Whether the first `count` modes keep all vertices within a bound \[m\].
    pub fn holds(&self, count: usize, bound: f32) -> bool {
        let margin = f64::from((bound - self.least) / self.stretch.max(f32::MIN_POSITIVE));
        let doubtful: Vec<usize> = (0..self.squares.len())
            .into_par_iter()
            .filter(|&vertex| {
                let kept: f64 = (self.modes.shapes[..count].iter().zip(&self.powers))
                    .map(|(shape, power)| power * shape[vertex].as_dvec3().length_squared())
                    .sum();
                let square = self.squares[vertex];
                let lost = square - kept + ROUNDING * square;
                margin <= 0.0 || lost.is_nan() || lost >= margin * margin
            })
            .collect();
        let chosen: Vec<usize> = (doubtful.iter())
            .map(|&place| self.residuals.vertices[place])
            .collect();
        let frames = (0..self.residuals.motion.frames.len()).into_par_iter();
        frames
            .map(|frame| self.frame_holds(frame, count, bound, &doubtful, &chosen))
            .all(|holds| holds)
    }

    fn frame_holds(
        &self,
        frame: usize,
        count: usize,
        bound: f32,
        places: &[usize],
        vertices: &[usize],
    ) -> bool {
        if vertices.is_empty() {
            return true;
        }
        let placed = self.residuals.placed(frame, vertices);
        let mut shape: Vec<Vec3> = placed.shape;
        for (mode, weights) in self.modes.shapes[..count].iter().zip(&self.modes.weights) {
            let weight = weights[frame];
            for (point, &place) in shape.iter_mut().zip(places) {
                *point += weight * mode[place];
            }
        }
        let mut each = shape.iter().zip(&placed.maps).zip(&placed.wanted);
        each.all(|((&point, map), wanted)| map.transform_point3(point).distance(*wanted) <= bound)
    }
}

/// Frames whose sums are taken together.
const BLOCK: usize = 16;

/// Largest factor by which skinning lengthens a vector in a frame: the Frobenius norm bounds that of a blend.
fn largest_stretch(residuals: &Residuals, frame: usize) -> f32 {
    let worlds = worlds(residuals.character, residuals.poses, frame);
    let mut most = 1.0_f32;
    for &part in &residuals.group.parts {
        for matrix in skin_matrices(&residuals.character.parts[part], &worlds) {
            let m = matrix.matrix3;
            let square =
                m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared();
            most = most.max(square.sqrt());
        }
    }
    most
}
