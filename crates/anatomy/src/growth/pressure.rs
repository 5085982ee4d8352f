//! Growth as of a balloon (Saito and others 2015, "Computational bodybuilding", as told in [4.3.4]): pressure drives the skin
//! outwards, and what stretches and bends resists.
//!
//! The skin is a membrane of springs along its edges with the cotangents as weights, with bending (4.2) so that borders of regions
//! leave no edge, and held to its rest by weak anchors (4.17). Its equilibrium under a small pressure is a rate of growth: how far
//! each vertex goes out, over the mean of all.

use glam::{DVec3, Vec3};
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_sim::{CpuBackend, Equilibrium, Mode, ModelBuilder, Settings, State};

use super::GrowthError;
use crate::layers::Layers;
use crate::person::sheet::Sheet;

/// Tension of the membrane for a strain of one \[N/m\]; only ratios to the other two count.
const MEMBRANE: f64 = 100.0;
/// Radius of the limb at which membrane and anchors resist alike \[m\]: a membrane alone gives way with the square of the
/// radius, so that a belly would take everything.
const RADIUS: f64 = 0.07;
/// Length over which bending smooths \[m\].
const BENDING: f64 = 0.02;
/// Mean way of the skin under the pressure \[m\]: small against limbs, large against the rounding of single precision.
const WAY: f64 = 4e-3;
/// Iterations at most, and the distance left \[of the body's size\]: 0.02 mm.
const ITERATIONS: u32 = 300;
const TOLERANCE: f64 = 1e-5;

/// Rate of growth at each vertex, mean 1 over the vertices' areas weighted by `mask`, which is also the pressure's.
pub fn balloon(
    layers: &Layers,
    skin: &[DVec3],
    normals: &[DVec3],
    moving: &[bool],
    mask: &[f64],
) -> Result<Vec<f64>, GrowthError> {
    let sheet = Sheet::new(&layers.triangles, moving);
    let points = sheet.gather(skin);
    let laplacian = cotan_laplacian(&points, &sheet.triangles, Clamp::NON_NEGATIVE);
    let stiffness = MEMBRANE / (RADIUS * RADIUS);
    let mut builder = ModelBuilder::new();
    for (v, p) in points.iter().enumerate() {
        builder.vertex(p.as_vec3(), v >= sheet.free);
    }
    for (&[a, b], w) in laplacian.edges.iter().zip(&laplacian.weights) {
        let length = points[a as usize].distance(points[b as usize]);
        builder.spring([a, b], length, MEMBRANE * w.clamp(0.05, 3.0));
    }
    builder.surface_bending(&sheet.triangles, stiffness * BENDING.powi(4));
    for v in 0..sheet.free {
        builder.anchor(v as u32, stiffness * laplacian.mass[v]);
    }
    let failed = |error: &dyn std::fmt::Display| GrowthError::Balloon(error.to_string());
    let model = builder.build().map_err(|e| failed(&e))?;
    let mut targets = model.rest_targets();
    let pressure = 2.0 * stiffness * WAY;
    targets.forces = vec![Vec3::ZERO; model.free_count()];
    for v in 0..sheet.free {
        let whole = sheet.whole[v] as usize;
        let force = pressure * mask[whole] * laplacian.mass[v] * normals[whole];
        targets.forces[model.index_of()[v] as usize] = force.as_vec3();
    }
    let settings = Settings {
        gravity: Vec3::ZERO,
        mode: Mode::Static,
        ..Settings::default()
    };
    let mut state = State::at_rest(&model);
    Equilibrium::default()
        .tolerance(TOLERANCE)
        .iterations(ITERATIONS)
        .solve(
            &mut CpuBackend::new(),
            &model,
            &settings,
            &targets,
            &mut state,
        )
        .map_err(|e| failed(&e))?;
    let mut rate = vec![0.0; skin.len()];
    let (mut sum, mut weight) = (0.0, 0.0);
    for (v, point) in points.iter().enumerate().take(sheet.free) {
        let whole = sheet.whole[v] as usize;
        let moved = state.positions[model.index_of()[v] as usize].as_dvec3() - *point;
        rate[whole] = moved.dot(normals[whole]).max(0.0);
        sum += laplacian.mass[v] * rate[whole];
        weight += laplacian.mass[v] * mask[whole];
    }
    let mean = (sum / weight.max(1e-12)).max(1e-9);
    rate.iter_mut().for_each(|r| *r /= mean);
    Ok(rate)
}
