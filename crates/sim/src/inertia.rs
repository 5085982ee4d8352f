//! Inertial prediction y = x + h v of Eq. (2.9), with a bound on the velocity relative to the carriers.
//!
//! Tissue at velocity v relative to its bone is strained by about v/c before it stops, where c = √(E/ρ) is its wave speed. At
//! 2,500 Pa c is 1.6 m/s, and a shaken hand moves at 4 m/s: elements turn inside out, and limbs fold. Real tissue stiffens with
//! strain, which a quadratic energy does not. Here the velocity saturates instead: it approaches
//! [`Settings::max_relative_speed`](crate::Settings::max_relative_speed) × c and is unchanged up to the third order for small
//! velocities, so that a jiggle is not damped. Vertices without carrier frames keep their velocity.

// Plain loops: iterator adaptors are not always inlined, and code outside the kernel loses its instruction set.
#![allow(clippy::needless_range_loop)]

use glam::{DVec3, Vec3};
use supple_geom::simd::{F32x8, LANES};

use crate::model::NO_CARRIER;
use crate::{Mode, Model, Settings, Weights};

/// [`material::wave_speeds`](crate::material::wave_speeds), computed anew.
pub(crate) fn wave_speeds(model: &Model, weights: &Weights) -> Vec<f32> {
    let mut stiffness = vec![0.0; model.free_count()];
    let tets = model.tets();
    for (t, corners) in tets.vertices.iter().enumerate() {
        let weight = tets.weights[t] * weights.material(tets.materials[t]).strain;
        for &v in corners {
            if let Some(sum) = stiffness.get_mut(v as usize) {
                *sum += 0.25 * weight;
            }
        }
    }
    let speed = |(&weight, &mass): (&f64, &f64)| match mass > 0.0 {
        true => (weight / mass).sqrt() as f32,
        false => f32::INFINITY,
    };
    stiffness.iter().zip(model.masses()).map(speed).collect()
}

/// Largest motion relative to the carriers in one step \[s\], to be multiplied by the [wave speed](Model::wave_speeds);
/// infinite in a static solve.
pub fn largest_relative_motion(settings: &Settings) -> f64 {
    match settings.mode {
        Mode::Dynamic => {
            settings.max_relative_speed * settings.weights.strain.sqrt() * settings.step
        }
        Mode::Static => f64::INFINITY,
    }
}

/// Prediction x + h v of free vertex `v`, bounded. `carried` is where the carriers take it, `speed` its wave speed, and
/// `most` the [largest relative motion](largest_relative_motion) \[s\].
pub(crate) fn bounded(
    model: &Model,
    (v, speed): (usize, f32),
    inertial: DVec3,
    carried: impl Into<Vec3>,
    most: f64,
) -> DVec3 {
    match model.carrier_frames()[v][0] {
        NO_CARRIER => inertial,
        _ => {
            let most = most * f64::from(speed);
            saturated(inertial, carried.into().as_dvec3(), most)
        }
    }
}

/// Eight predictions, as by [`saturated`] with the same bits. The loops become vector instructions of the kernel they are
/// inlined into.
#[inline(always)]
pub(crate) fn saturated_lanes(
    inertial: &[F32x8; 3],
    carried: &[F32x8; 3],
    most: &[f64; LANES],
) -> [F32x8; 3] {
    let mut away = [[0.0; LANES]; 3];
    let mut square = [0.0; LANES];
    for k in 0..3 {
        for lane in 0..LANES {
            away[k][lane] = f64::from(inertial[k].0[lane]) - f64::from(carried[k].0[lane]);
            square[lane] += away[k][lane] * away[k][lane];
        }
    }
    let mut lost = [0.0; LANES];
    for lane in 0..LANES {
        let square = square[lane] / (most[lane] * most[lane]);
        lost[lane] = 1.0 - 1.0 / (1.0 + square * square).sqrt().sqrt();
    }
    let mut found = *inertial;
    for k in 0..3 {
        for lane in 0..LANES {
            let bounded = (f64::from(inertial[k].0[lane]) - away[k][lane] * lost[lane]) as f32;
            let has_bound = most[lane] > 0.0 && most[lane] < f64::INFINITY;
            found[k].0[lane] = if has_bound {
                bounded
            } else {
                inertial[k].0[lane]
            };
        }
    }
    found
}

/// Prediction `inertial` with its distance from `carried` saturated at `most`: d → d / (1 + (d/most)⁴)^¼. `carried` is where
/// the carriers take the vertex. There is no bound without stiffness.
fn saturated(inertial: DVec3, carried: DVec3, most: f64) -> DVec3 {
    if !(most > 0.0 && most.is_finite()) {
        return inertial;
    }
    let away = inertial - carried;
    let square = away.length_squared() / (most * most);
    let kept = 1.0 / (1.0 + square * square).sqrt().sqrt();
    // The difference keeps a small motion free of the rounding of `carried`.
    inertial - away * (1.0 - kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_have_the_bits_of_single_predictions() {
        let mut random = crate::conformance::Random(7);
        let mut lanes =
            |scale: f32| [0, 1, 2].map(|_| F32x8(std::array::from_fn(|_| scale * random.next())));
        for scale in [1e-5, 1e-3, 0.1, 3.0] {
            let (carried, away) = (lanes(1.0), lanes(scale));
            let inertial: [F32x8; 3] = std::array::from_fn(|k| carried[k] + away[k]);
            let most = [1e-4, 0.003, 0.01, 0.5, 2.0, 0.0, f64::INFINITY, f64::NAN];
            let found = saturated_lanes(&inertial, &carried, &most);
            for lane in 0..LANES {
                let at = |v: &[F32x8; 3]| DVec3::from(v.map(|k| f64::from(k.0[lane])));
                let one = saturated(at(&inertial), at(&carried), most[lane]).as_vec3();
                let bits = |v: Vec3| v.to_array().map(f32::to_bits);
                assert_eq!(bits(at(&found).as_vec3()), bits(one), "lane {lane}");
            }
        }
    }

    #[test]
    fn small_motions_are_kept_and_large_ones_bounded() {
        let carried = DVec3::new(1.0, 2.0, 3.0);
        let way = |length: f64| {
            let moved = saturated(carried + length * DVec3::Y, carried, 0.01);
            (moved - carried).y
        };
        assert!((way(1e-3) / 1e-3 - 1.0).abs() < 3e-5);
        assert!((way(1e-2) / 1e-2 - 0.84).abs() < 0.01);
        assert!(way(1.0) <= 0.01 && way(1.0) > 0.00999);
        assert!(way(0.05) < way(0.06));
        let far = carried + 5.0 * DVec3::X;
        for most in [f64::INFINITY, 0.0, f64::NAN] {
            assert_eq!(saturated(far, carried, most), far);
        }
    }
}
