//! Principal components of a sequence of offsets, from the Gram matrix of its frames ("method of snapshots", Sirovich 1987).

use std::ops::Range;

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::eigen::symmetric_eigen;

/// Shapes and their weights over time, in order of importance; weights are within \[-1, 1\].
pub(super) struct Modes {
    /// Offsets by mode and vertex \[m\].
    pub shapes: Vec<Vec<Vec3>>,
    /// Weights by mode and frame.
    pub weights: Vec<Vec<f32>>,
}

impl Modes {
    /// Number of morph targets that [`Modes::in_unit_range`] makes of the first `count` modes.
    pub fn targets(&self, count: usize) -> usize {
        let signed = |weights: &Vec<f32>| {
            let (low, high) = range(weights);
            low < 0.0 && high > 0.0
        };
        count + usize::from(self.weights[..count].iter().any(signed))
    }

    /// The same offsets with weights within \[0, 1\], the range of morph sliders in other programs. Modes of both signs are
    /// shifted to start at their lowest weight; the sum of the shifts becomes one more shape with constant weight one.
    pub fn in_unit_range(mut self) -> Self {
        let mut base = vec![Vec3::ZERO; self.shapes.first().map_or(0, Vec::len)];
        let targets = self.targets(self.shapes.len());
        for (shape, weights) in self.shapes.iter_mut().zip(&mut self.weights) {
            let (low, high) = range(weights);
            let (from, to) = match (low < 0.0, high > 0.0) {
                (true, true) => (low, high),
                (true, false) => (0.0, low),
                _ => (0.0, high),
            };
            if from != 0.0 {
                let parts = base.iter_mut().zip(shape.iter());
                parts.for_each(|(base, offset)| *base += from * *offset);
            }
            if to != from {
                shape.iter_mut().for_each(|offset| *offset *= to - from);
                let unit = |weight: f32| ((weight - from) / (to - from)).clamp(0.0, 1.0);
                weights
                    .iter_mut()
                    .for_each(|weight| *weight = unit(*weight));
            }
        }
        if targets > self.shapes.len() {
            let frames = self.weights.first().map_or(0, Vec::len);
            self.shapes.push(base);
            self.weights.push(vec![1.0; frames]);
        }
        self
    }
}

/// Smallest and largest weight.
fn range(weights: &[f32]) -> (f32, f32) {
    let extend = |(low, high): (f32, f32), &weight: &f32| (low.min(weight), high.max(weight));
    (weights.iter()).fold((f32::INFINITY, f32::NEG_INFINITY), extend)
}

/// Offsets of all vertices over time, provided for a range of vertices at a time.
pub(super) trait Offsets {
    /// Number of frames.
    fn frames(&self) -> usize;
    /// Number of vertices.
    fn vertices(&self) -> usize;
    /// For each frame, the offsets of a range of vertices \[m\].
    fn of(&self, vertices: Range<usize>) -> Vec<Vec<Vec3>>;
}

/// Most offsets held in memory: 200 MB.
const MAX_HELD_OFFSETS: usize = 200_000_000 / size_of::<Vec3>();

/// The first `count` principal shapes. No mean is subtracted, so that zero offsets stay zero.
pub(super) fn principal_modes(offsets: &impl Offsets, count: usize) -> Modes {
    modes_within(offsets, count, MAX_HELD_OFFSETS)
}

/// [`principal_modes`] with at most `room` offsets in memory; vertices are processed in batches.
fn modes_within(offsets: &impl Offsets, count: usize, room: usize) -> Modes {
    let (frames, vertices) = (offsets.frames(), offsets.vertices());
    let run = (room / frames.max(1)).max(1);
    let runs: Vec<Range<usize>> = (0..vertices)
        .step_by(run)
        .map(|start| start..(start + run).min(vertices))
        .collect();
    let mut gram = vec![Vec::new(); frames];
    let mut held = Vec::new();
    for run in &runs {
        held = offsets.of(run.clone());
        add_products(&mut gram, &held);
    }
    // Motions are checked to be finite; otherwise there are no modes.
    let eigen = symmetric_eigen(&gram).unwrap_or_default();
    let largest = eigen.values.last().map_or(0.0, |value| value.max(0.0));
    let picked: Vec<(Vec<f64>, f64)> = (eigen.values.into_iter().zip(eigen.vectors).rev())
        .take(count)
        .take_while(|(value, _)| *value > 1e-14 * largest)
        .map(|(_, vector)| {
            let values = vector.iter();
            let peak = values.fold(0.0, |peak: f64, value| peak.max(value.abs()));
            (vector, peak)
        })
        .collect();
    let mut shapes = vec![Vec::with_capacity(vertices); picked.len()];
    for run in &runs {
        if runs.len() > 1 {
            held = offsets.of(run.clone());
        }
        let parts = shapes.par_iter_mut().zip(&picked);
        parts.for_each(|(shape, (vector, peak))| shape.extend(project(&held, vector, *peak)));
    }
    let weights = (picked.iter())
        .map(|(vector, peak)| vector.iter().map(|value| (value / peak) as f32).collect());
    Modes {
        weights: weights.collect(),
        shapes,
    }
}

/// Adds all inner products of frames to the lower triangle of the Gram matrix.
fn add_products(gram: &mut [Vec<f64>], frames: &[Vec<Vec3>]) {
    let flat: Vec<&[f32]> = frames
        .iter()
        .map(|frame| bytemuck::cast_slice(frame))
        .collect();
    gram.par_iter_mut().enumerate().for_each(|(i, row)| {
        row.resize(i + 1, 0.0);
        for (j, sum) in row.iter_mut().enumerate() {
            *sum += dot(flat[i], flat[j]);
        }
    });
}

/// Inner product of two long vectors, in eight independent sums.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(a, b)| f64::from(*a) * f64::from(*b))
        .sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            sums[lane] += f64::from(a[lane]) * f64::from(b[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// `Σ_f vector_f · frame_f`, scaled so that the largest weight is one.
fn project(frames: &[Vec<Vec3>], vector: &[f64], peak: f64) -> Vec<Vec3> {
    let mut shape = vec![glam::DVec3::ZERO; frames.first().map_or(0, Vec::len)];
    for (frame, &weight) in frames.iter().zip(vector) {
        for (sum, offset) in shape.iter_mut().zip(frame) {
            *sum += weight * offset.as_dvec3();
        }
    }
    shape
        .into_iter()
        .map(|sum| (sum * peak).as_vec3())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Offsets for Vec<Vec<Vec3>> {
        fn frames(&self) -> usize {
            self.len()
        }

        fn vertices(&self) -> usize {
            self.first().map_or(0, Vec::len)
        }

        fn of(&self, vertices: Range<usize>) -> Vec<Vec<Vec3>> {
            let part = |frame: &Vec<Vec3>| frame[vertices.clone()].to_vec();
            self.iter().map(part).collect()
        }
    }

    #[test]
    fn a_motion_of_two_shapes_has_two_modes() {
        let shape = |seed: f32| -> Vec<Vec3> {
            (0..50)
                .map(|i| Vec3::new((seed * i as f32).sin(), (seed + i as f32).cos(), seed))
                .collect()
        };
        let (a, b) = (shape(0.7), shape(1.9));
        let frames: Vec<Vec<Vec3>> = (0..20)
            .map(|f| {
                let (x, y) = ((0.3 * f as f32).sin(), (0.2 * f as f32).cos());
                a.iter().zip(&b).map(|(a, b)| x * *a + y * *b).collect()
            })
            .collect();
        let modes = principal_modes(&frames, 64);
        assert!(modes.shapes.len() >= 2);
        for (f, frame) in frames.iter().enumerate() {
            for (v, point) in frame.iter().enumerate() {
                let sum: Vec3 = (0..2)
                    .map(|k| modes.weights[k][f] * modes.shapes[k][v])
                    .sum();
                assert!(sum.abs_diff_eq(*point, 1e-5));
            }
        }
        let unit = principal_modes(&frames, 2).in_unit_range();
        assert_eq!((unit.shapes.len(), modes.targets(2)), (3, 3));
        assert!((unit.weights.iter().flatten()).all(|weight| (0.0..=1.0).contains(weight)));
        for (f, frame) in frames.iter().enumerate() {
            for (v, point) in frame.iter().enumerate() {
                let sum: Vec3 = (0..3).map(|k| unit.weights[k][f] * unit.shapes[k][v]).sum();
                assert!(sum.abs_diff_eq(*point, 1e-5));
            }
        }
        // Batched processing gives the same result up to rounding.
        let pieces = modes_within(&frames, 2, 7 * frames.len());
        for k in 0..2 {
            let pairs = modes.shapes[k].iter().zip(&pieces.shapes[k]);
            let turned = modes.shapes[k][0].dot(pieces.shapes[k][0]).signum();
            assert!(
                pairs
                    .into_iter()
                    .all(|(a, b)| a.abs_diff_eq(turned * *b, 1e-5))
            );
        }
        let peak = |weights: &Vec<f32>| weights.iter().fold(0.0f32, |peak, w| peak.max(w.abs()));
        assert!(
            modes
                .weights
                .iter()
                .all(|weights| (peak(weights) - 1.0).abs() < 1e-6)
        );
    }
}
