//! Quality of a state: inverted elements, worst element, volume.

use glam::DVec3;

use crate::{Model, State};

/// Measures of a state's tets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Inverted tets (det F < 0).
    pub inverted: usize,
    /// Smallest det F (volume / rest volume) of a tet that is not a [sliver](SLIVER_SHARE); 1 without tets.
    pub worst: f64,
    /// The tet with the smallest det F.
    pub worst_tet: Option<u32>,
    /// Volume of all tets \[m³\]; inverted ones count negative.
    pub volume: f64,
    /// The same at rest \[m³\].
    pub rest_volume: f64,
    /// Largest speed of a free vertex \[m/s\].
    pub top_speed: f32,
}

/// Share of the mean volume below which a tet is a sliver. A tiny motion inverts a sliver many times over, which tells
/// nothing about the tissue.
pub const SLIVER_SHARE: f64 = 0.1;

/// Measures `state`. Tets that are flat at rest do not count.
pub fn measure(model: &Model, state: &State) -> Quality {
    measure_where(model, state, |_| true)
}

/// Measures the tets of `state` that are chosen by their number.
pub fn measure_where(model: &Model, state: &State, is_chosen: impl Fn(usize) -> bool) -> Quality {
    let tets = model.tets();
    let chosen: Vec<usize> = (0..tets.len()).filter(|&i| is_chosen(i)).collect();
    let z: Vec<DVec3> = state
        .positions
        .iter()
        .chain(&state.fixed)
        .map(|p| p.as_dvec3())
        .collect();
    let mut quality = Quality {
        inverted: 0,
        worst: 1.0,
        worst_tet: None,
        volume: 0.0,
        rest_volume: chosen.iter().map(|&i| tets.volumes[i]).sum(),
        top_speed: state
            .velocities
            .iter()
            .map(|v| v.length())
            .fold(0.0, f32::max),
    };
    let sliver = SLIVER_SHARE * quality.rest_volume / chosen.len().max(1) as f64;
    for i in chosen.into_iter().filter(|&i| !tets.is_flat(i)) {
        let ratio = tets.deformation_gradient(i, &z).determinant();
        quality.inverted += usize::from(ratio < 0.0);
        quality.volume += ratio * tets.volumes[i];
        let counts = tets.volumes[i] >= sliver;
        if counts && (quality.worst_tet.is_none() || ratio < quality.worst) {
            quality.worst = ratio;
            quality.worst_tet = Some(i as u32);
        }
    }
    quality
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelBuilder, shapes};

    #[test]
    fn stretched_and_mirrored_boxes_measure_as_expected() {
        let bar = shapes::bar([2, 1, 1], 0.5);
        let mut builder = ModelBuilder::new();
        for &p in &bar.positions {
            builder.vertex(p, false);
        }
        for &t in &bar.tets {
            builder.tet(t, 1.0);
        }
        let model = builder.build().unwrap();
        let mut state = State::at_rest(&model);
        for (sign, inverted) in [(1.0, 0), (-1.0, bar.tets.len())] {
            for (x, rest) in state.positions.iter_mut().zip(model.rest_free()) {
                *x = *rest * glam::Vec3::new(2.0 * sign, 1.0, 1.0);
            }
            let quality = measure(&model, &state);
            assert_eq!(quality.inverted, inverted);
            assert!((quality.worst - 2.0 * f64::from(sign)).abs() < 1e-12);
            assert!((quality.volume - 0.5 * f64::from(sign)).abs() < 1e-12);
            assert!((quality.rest_volume - 0.25).abs() < 1e-12);
        }
    }
}
