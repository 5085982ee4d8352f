//! The solver's force of every potential is its derivative: since pᵢ is the closest point to Qᵢz, the gradient of
//! wᵢ/2 ‖Qᵢz − pᵢ‖² is wᵢ Qᵢᵀ(Qᵢz − pᵢ). Checks assembly, local step and energy of each type together.

use glam::{DVec3, Vec3};
use supple_sim::constraints::{AnchorKind, StretchLimits};
use supple_sim::energy::{potential, project_constraints};
use supple_sim::shapes::{bar, prism_layer};
use supple_sim::{Decompose, Fit, Model, ModelBuilder, Settings, Strain, Targets, assemble};

/// Pseudo-random numbers in −1..1.
fn noise(k: usize) -> f64 {
    ((k as f64 * 12.9898).sin() * 43_758.545_3).fract()
}

fn shaken(model: &Model, amount: f64) -> Vec<DVec3> {
    let shake = |i: usize| DVec3::new(noise(3 * i), noise(3 * i + 1), noise(3 * i + 2)) * amount;
    model
        .rest()
        .iter()
        .enumerate()
        .map(|(i, p)| p.as_dvec3() + shake(i))
        .collect()
}

/// Q^T W (Q z − p) on the free vertices, from the assembled matrix and the local step.
fn forces(model: &Model, settings: &Settings, targets: &Targets, z: &[DVec3]) -> Vec<DVec3> {
    let system = assemble(model, settings);
    let n = model.free_count();
    let mut rhs = vec![DVec3::ZERO; z.len()];
    project_constraints(model, settings, targets, z, &mut rhs);
    let mut gradient: Vec<DVec3> = (0..n)
        .map(|i| -rhs[i] - z[i] * system.proximal[i])
        .collect();
    for k in 0..n {
        for (i, a) in system.matrix.column(k) {
            gradient[i] += z[k] * a;
            if i != k {
                gradient[k] += z[i] * a;
            }
        }
        for (b, a) in system.coupling.column(k) {
            gradient[k] += z[n + b] * a;
        }
    }
    gradient
}

fn check(model: &Model, strain: Strain, shake: f64, tolerance: f64) {
    let settings = Settings {
        mode: supple_sim::Mode::Static,
        strain,
        ..Settings::default()
    };
    let targets = model.rest_targets();
    let mut z = shaken(model, shake);
    let gradient = forces(model, &settings, &targets, &z);
    let largest = gradient.iter().fold(0.0_f64, |m, g| m.max(g.length()));
    assert!(largest > 0.0);
    let step = 1e-6 * shake;
    for i in (0..model.free_count()).step_by(5) {
        for axis in 0..3 {
            let at = z[i][axis];
            let mut side = |s: f64| {
                z[i][axis] = at + s;
                potential(model, &settings, &targets, &z)
            };
            let difference = (side(step) - side(-step)) / (2.0 * step);
            z[i][axis] = at;
            let error = (difference - gradient[i][axis]).abs() / largest;
            assert!(
                error < tolerance,
                "vertex {i} axis {axis}: {difference} instead of {}",
                gradient[i][axis]
            );
        }
    }
}

fn vertices(positions: &[Vec3], fixed: usize) -> ModelBuilder {
    let mut builder = ModelBuilder::new();
    for (i, &p) in positions.iter().enumerate() {
        builder.vertex(p, i < fixed);
    }
    builder
}

// Central differences with a relative step of 1e-6 have an error of about 1e-16/1e-6 of the energy per step, some 1e-7.
const TOLERANCE: f64 = 1e-6;

#[test]
fn tet_strain() {
    let mesh = bar([3, 2, 2], 0.1);
    let mut builder = vertices(&mesh.positions, 9);
    for &t in &mesh.tets {
        builder.tet(t, 2_000.0);
    }
    let model = builder.build().unwrap();
    check(&model, Strain::default(), 0.02, TOLERANCE);
    // Strong enough to invert some elements.
    check(&model, Strain::default(), 0.1, TOLERANCE);
    check(
        &model,
        Strain {
            decompose: Decompose::Covariance,
            fit: Fit::Positions,
        },
        0.02,
        TOLERANCE,
    );
}

#[test]
fn tet_volume() {
    let mesh = bar([2, 2, 1], 0.1);
    let mut builder = vertices(&mesh.positions, 6);
    for &t in &mesh.tets {
        let t = builder.tet(t, 0.0);
        builder.tet_volume(t, 3_000.0, 1.3);
    }
    check(
        &builder.build().unwrap(),
        Strain::default(),
        0.02,
        TOLERANCE,
    );
}

#[test]
fn springs_and_anchors() {
    let mesh = bar([2, 2, 1], 0.1);
    let mut builder = vertices(&mesh.positions, 3);
    for t in &mesh.tets {
        builder.spring([t[0], t[2]], 0.12, 40.0);
        builder.spring([t[1], t[3]], 0.08, 10.0);
    }
    for v in 3..mesh.positions.len() as u32 {
        let kind = [AnchorKind::Point, AnchorKind::Line, AnchorKind::Plane][v as usize % 3];
        builder.directed_anchor(v, 25.0, kind, Vec3::new(1.0, 0.3 * v as f32, -0.5));
    }
    check(
        &builder.build().unwrap(),
        Strain::default(),
        0.02,
        TOLERANCE,
    );
}

#[test]
fn bending() {
    let mut sheet = prism_layer(4, 0.1, 0.1).positions[..25].to_vec();
    for p in &mut sheet {
        p.y += p.x * p.x + 0.5 * p.z * p.x;
    }
    let mut triangles = Vec::new();
    for i in 0..4u32 {
        for k in 0..4u32 {
            let a = i * 5 + k;
            triangles.extend([[a, a + 1, a + 6], [a, a + 6, a + 5]]);
        }
    }
    let mut builder = vertices(&sheet, 5);
    builder.surface_bending(&triangles, 0.3);
    check(
        &builder.build().unwrap(),
        Strain::default(),
        0.01,
        TOLERANCE,
    );
}

#[test]
fn polyhedra() {
    let mesh = prism_layer(3, 0.1, 0.1);
    let prism_corners = |cell: &[u32]| {
        let mut corners: Vec<u32> = cell.iter().flat_map(|&t| mesh.tets[t as usize]).collect();
        corners.sort_unstable();
        corners.dedup();
        corners
    };
    let rigid = StretchLimits::rigid();
    // Free stretch: the alternating projection is close to the closest point, not exactly it.
    let free = StretchLimits::along(DVec3::Y, 0.8, 1.2);
    for (limits, tolerance) in [(rigid, TOLERANCE), (free, 1e-2)] {
        let mut builder = vertices(&mesh.positions, 16);
        for cell in &mesh.cells {
            builder.polyhedron(&prism_corners(cell), 2.0, limits);
        }
        check(
            &builder.build().unwrap(),
            Strain::default(),
            0.01,
            tolerance,
        );
    }
}
