//! Differences between methods, as colours.

use supple_picture::{Legend, Ramp, Tint, heat_colours};

use super::motion::Moment;

/// Share of the colour scale at which a colour covers a texture completely.
const COVERED: f32 = 0.25;

/// Distances of every vertex to the same vertex of the first method, with one scale for all of them.
pub(super) struct Differences {
    /// By method, frame, part and vertex \[m\].
    distances: Vec<Vec<Vec<Vec<f32>>>>,
    largest: f32,
}

impl Differences {
    pub fn from_first(motions: &[Vec<Moment>]) -> Self {
        let between = |a: &Moment, b: &Moment| -> Vec<Vec<f32>> {
            let parts = a.positions.iter().zip(&b.positions);
            parts
                .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a.distance(*b)).collect())
                .collect()
        };
        let of = |moments: &Vec<Moment>| {
            let pairs = moments.iter().zip(&motions[0]);
            pairs.map(|(own, first)| between(own, first)).collect()
        };
        let distances: Vec<Vec<Vec<Vec<f32>>>> = motions.iter().map(of).collect();
        let all = distances.iter().flatten().flatten().flatten();
        let largest = all.fold(1e-4f32, |largest, &distance| largest.max(distance));
        Self { distances, largest }
    }

    /// Colours of every part; on a texture they show where there is a difference.
    pub fn tints(&self, method: usize, frame: usize) -> Vec<Tint> {
        let parts = self.distances[method][frame].iter();
        let tint = |part: &Vec<f32>| Tint {
            colours: heat_colours(part, 0.0, self.largest, Ramp::default()),
            strengths: (part.iter())
                .map(|distance| (distance / (COVERED * self.largest)).min(1.0))
                .collect(),
        };
        parts.map(tint).collect()
    }

    pub fn legend(&self) -> Legend {
        Legend {
            high: self.largest * 1000.0,
            title: "from linear blend [mm]".to_owned(),
            ..Legend::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use supple::glam::Vec3;

    use super::*;

    #[test]
    fn all_tiles_share_one_colour_scale() {
        let moment = |x: f32| Moment {
            positions: vec![vec![Vec3::ZERO, Vec3::X * x]],
            pose: supple::Pose::rest(&Default::default()),
            colliders: Vec::new(),
        };
        let first = vec![moment(0.0), moment(0.0)];
        let second = vec![moment(0.1), moment(0.4)];
        let differences = Differences::from_first(&[first, second]);
        assert_eq!(differences.legend().high, 400.0);
        let [near, far] = [0, 1].map(|frame| differences.tints(1, frame).remove(0));
        let ramp = |t: f32| Ramp::default().at(t);
        assert_eq!(near.colours, [ramp(0.0), ramp(0.25)]);
        assert_eq!(far.colours, [ramp(0.0), ramp(1.0)]);
        assert_eq!((near.strengths, far.strengths[0]), (vec![0.0, 1.0], 0.0));
    }
}
