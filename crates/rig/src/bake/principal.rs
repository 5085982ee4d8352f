//! Principal shapes of a sequence of offsets.

use std::ops::Range;

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::eigen::symmetric_eigen;
use supple_geom::pca::{PcaOptions, Samples, Scaling, principal_components};

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

    /// Shapes over all `count` vertices of a mesh, from shapes over some of them.
    pub fn spread(&mut self, vertices: &[usize], count: usize) {
        for shape in &mut self.shapes {
            let mut whole = vec![Vec3::ZERO; count];
            for (&vertex, &offset) in vertices.iter().zip(shape.iter()) {
                whole[vertex] = offset;
            }
            *shape = whole;
        }
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

/// The first `count` principal shapes. No mean is subtracted, so that zero offsets stay zero.
pub(super) fn principal_modes(offsets: &impl Offsets, count: usize) -> Modes {
    let coordinates = 3 * offsets.vertices();
    if coordinates == 0 {
        return Modes {
            shapes: Vec::new(),
            weights: Vec::new(),
        };
    }
    if coordinates < offsets.frames() {
        return modes_of_few(offsets, count);
    }
    let options = PcaOptions {
        components: count,
        centred: false,
        scaling: Scaling::Peak,
        ..PcaOptions::default()
    };
    // Motions are checked to be finite; otherwise there are no modes.
    let pca = principal_components(&Coordinates(offsets), &options);
    let points = |component: Vec<f32>| component.chunks_exact(3).map(Vec3::from_slice).collect();
    let singles = |weights: &Vec<f64>| weights.iter().map(|&weight| weight as f32).collect();
    Modes {
        weights: pca.weights.iter().map(singles).collect(),
        shapes: pca.components.into_iter().map(points).collect(),
    }
}

/// Smallest variance relative to the first mode's: smaller ones are rounding errors.
const SMALLEST_VARIANCE: f64 = 1e-14;

/// The same modes where there are fewer coordinates than frames: eigenvectors of X<sup>T</sup>X instead of XX<sup>T</sup>, which is the larger matrix.
fn modes_of_few(offsets: &impl Offsets, count: usize) -> Modes {
    let length = 3 * offsets.vertices();
    let frames: Vec<Vec<f64>> = (offsets.of(0..offsets.vertices()).iter())
        .map(|frame| {
            let numbers = frame.iter().flat_map(|p| p.to_array());
            numbers.map(f64::from).collect()
        })
        .collect();
    let products: Vec<Vec<f64>> = (0..length)
        .into_par_iter()
        .map(|i| {
            let product = |j: usize| frames.iter().map(|frame| frame[i] * frame[j]).sum();
            (0..=i).map(product).collect()
        })
        .collect();
    let eigen = symmetric_eigen(&products).unwrap_or_default();
    let largest = eigen.values.last().map_or(0.0, |value| value.max(0.0));
    let mut modes = Modes {
        shapes: Vec::new(),
        weights: Vec::new(),
    };
    for (value, vector) in eigen.values.iter().zip(&eigen.vectors).rev().take(count) {
        if *value <= SMALLEST_VARIANCE * largest {
            break;
        }
        let along =
            |frame: &Vec<f64>| -> f64 { frame.iter().zip(vector).map(|(a, b)| a * b).sum() };
        let weights: Vec<f64> = frames.iter().map(along).collect();
        let peak = weights.iter().fold(0.0, |peak: f64, w| peak.max(w.abs()));
        let scaled: Vec<f32> = vector.iter().map(|x| (x * peak) as f32).collect();
        modes
            .shapes
            .push(scaled.chunks_exact(3).map(Vec3::from_slice).collect());
        modes
            .weights
            .push(weights.iter().map(|w| (w / peak) as f32).collect());
    }
    modes
}

/// Offsets as samples: a frame is one sample of three coordinates per vertex.
struct Coordinates<'a, O>(&'a O);

impl<O: Offsets> Samples for Coordinates<'_, O> {
    fn count(&self) -> usize {
        self.0.frames()
    }

    fn length(&self) -> usize {
        3 * self.0.vertices()
    }

    fn grain(&self) -> usize {
        3
    }

    fn part(&self, range: Range<usize>) -> Vec<Vec<f32>> {
        let frames = self.0.of(range.start / 3..range.end / 3).into_iter();
        let flat = |frame: Vec<Vec3>| frame.into_iter().flat_map(|p| p.to_array()).collect();
        frames.map(flat).collect()
    }
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
        // From the other side they are the same, but for their signs.
        let few = modes_of_few(&frames, 64);
        for (k, shape) in few.shapes.iter().take(2).enumerate() {
            let sign = few.weights[k][0].signum() * modes.weights[k][0].signum();
            for (a, b) in shape.iter().zip(&modes.shapes[k]) {
                assert!((sign * *a).abs_diff_eq(*b, 1e-4), "{a} {b}");
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
        let peak = |weights: &Vec<f32>| weights.iter().fold(0.0f32, |peak, w| peak.max(w.abs()));
        assert!(
            modes
                .weights
                .iter()
                .all(|weights| (peak(weights) - 1.0).abs() < 1e-6)
        );
    }
}
