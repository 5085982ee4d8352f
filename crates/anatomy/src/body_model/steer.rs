//! Bodies of the space with a wanted height and volume.

use glam::DVec3;

use super::BodyModel;

/// Coefficients stay within this many expected sizes: beyond, bodies of the space get folds.
pub const REACH: f64 = 2.2;
/// Newton steps; the volume is a cubic, and four are usually enough.
const STEPS: usize = 12;
/// Relative misses of height and volume at which it ends.
const MET: f64 = 1e-5;

impl BodyModel {
    /// Coefficients as near as possible to `start`, each measured by its expected size, of a body with a height \[m\] and a volume
    /// \[m³\], or as near to both as coefficients within [`REACH`] get.
    ///
    /// # Panics
    /// If there are fewer coefficients than fields.
    pub fn steered(&self, start: &[f64], height: f64, volume: f64) -> Vec<f64> {
        let sizes: Vec<f64> = self.deviations.iter().map(|d| d.max(1e-9)).collect();
        let mut unit: Vec<f64> = (0..self.field_count())
            .map(|k| (start[k] / sizes[k]).clamp(-REACH, REACH))
            .collect();
        let coefficients =
            |unit: &[f64]| -> Vec<f64> { unit.iter().zip(&sizes).map(|(u, s)| u * s).collect() };
        for _ in 0..STEPS {
            let vertices = self.rest_vertices(&coefficients(&unit));
            let (found, gradients) = self.height_and_volume(&vertices);
            let misses = [height / found[0] - 1.0, volume / found[1] - 1.0];
            if misses.iter().all(|miss| miss.abs() < MET) {
                break;
            }
            let rows: [Vec<f64>; 2] = std::array::from_fn(|m| {
                (gradients[m].iter().zip(&sizes))
                    .map(|(g, s)| g * s / found[m])
                    .collect()
            });
            least_step(&rows, misses, &mut unit);
        }
        coefficients(&unit)
    }

    /// Height \[m\] and volume \[m³\] of a body, and how each changes with each coefficient.
    fn height_and_volume(&self, vertices: &[DVec3]) -> ([f64; 2], [Vec<f64>; 2]) {
        let by_height = |a: &usize, b: &usize| vertices[*a].y.total_cmp(&vertices[*b].y);
        let all = 0..vertices.len();
        let (low, high) = (all.clone().min_by(by_height), all.max_by(by_height));
        let (low, high) = (low.unwrap_or(0), high.unwrap_or(0));
        let (mut volume, mut pulls) = (0.0, vec![DVec3::ZERO; vertices.len()]);
        for &corners in &self.triangles {
            let [a, b, c] = corners.map(|v| vertices[v as usize]);
            volume += a.dot(b.cross(c)) / 6.0;
            for (v, pull) in corners
                .into_iter()
                .zip([b.cross(c), c.cross(a), a.cross(b)])
            {
                pulls[v as usize] += pull / 6.0;
            }
        }
        let mut gradients = [(); 2].map(|()| vec![0.0; self.field_count()]);
        for (k, gradient) in gradients[0].iter_mut().enumerate() {
            let rise = self.point_fields(high)[k].y - self.point_fields(low)[k].y;
            *gradient = f64::from(rise);
        }
        for (v, pull) in pulls.iter().enumerate() {
            for (gradient, field) in gradients[1].iter_mut().zip(self.point_fields(v)) {
                *gradient += pull.dot(field.as_dvec3());
            }
        }
        ([vertices[high].y - vertices[low].y, volume], gradients)
    }
}

/// The smallest step that removes two misses to first order, over the coefficients that stay within reach.
fn least_step(rows: &[Vec<f64>; 2], misses: [f64; 2], unit: &mut [f64]) {
    let mut free = vec![true; unit.len()];
    let mut left = misses;
    loop {
        let product = |a: &[f64], b: &[f64]| -> f64 {
            (0..a.len()).filter(|&k| free[k]).map(|k| a[k] * b[k]).sum()
        };
        let (aa, ab, bb) = (
            product(&rows[0], &rows[0]),
            product(&rows[0], &rows[1]),
            product(&rows[1], &rows[1]),
        );
        let determinant = aa * bb - ab * ab;
        if determinant <= 1e-9 * aa * bb || !determinant.is_finite() {
            return;
        }
        let weights = [
            (bb * left[0] - ab * left[1]) / determinant,
            (aa * left[1] - ab * left[0]) / determinant,
        ];
        let wanted =
            |k: usize, unit: &[f64]| unit[k] + weights[0] * rows[0][k] + weights[1] * rows[1][k];
        let beyond: Vec<usize> = (0..unit.len())
            .filter(|&k| free[k] && wanted(k, unit).abs() > REACH)
            .collect();
        if beyond.is_empty() {
            for k in (0..unit.len()).filter(|&k| free[k]) {
                unit[k] = wanted(k, unit);
            }
            return;
        }
        // What is beyond its reach goes to it and no further; the others take its part.
        for k in beyond {
            let bound = REACH.copysign(wanted(k, unit));
            let step = bound - unit[k];
            left[0] -= rows[0][k] * step;
            left[1] -= rows[1][k] * step;
            unit[k] = bound;
            free[k] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sex;

    #[test]
    fn bodies_have_the_height_and_volume_that_were_asked_for_or_end_at_their_reach() {
        let model = BodyModel::embedded(Sex::Female);
        let start = vec![0.0; model.field_count()];
        for (height, volume) in [(1.6, 0.05), (1.8, 0.09)] {
            let found = model.steered(&start, height, volume);
            let vertices = model.rest_vertices(&found);
            let ([h, v], _) = model.height_and_volume(&vertices);
            assert!((h / height - 1.0).abs() < 1e-4, "{h}");
            assert!((v / volume - 1.0).abs() < 1e-4, "{v}");
        }
        let far = model.steered(&start, 3.0, 0.5);
        let sizes = far.iter().zip(&model.deviations).map(|(c, d)| c.abs() / d);
        assert!(sizes.fold(0.0, f64::max) <= REACH + 1e-9);
    }
}
