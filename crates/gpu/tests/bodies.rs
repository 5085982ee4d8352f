//! Models with truncated local inverses, many bodies, comparison solvers, and devices that fail.

mod common;

use std::sync::Arc;

use common::device;
use glam::{Affine3A, Quat, Vec3};
use supple_gpu::krylov::Method;
use supple_gpu::{
    Gpu, GpuBackend, GpuBodies, GpuError, GpuSkin, Options, SkinTables, Solver, unpack_skin,
};
use supple_sim::conformance::{self, Precision};
use supple_sim::shapes::prism_layer;
use supple_sim::{Backend, CpuBackend, Model, ModelBuilder, Settings, SolveError, State, Targets};

/// Tissue of n × n prisms 2 cm wide and `depth` deep, strain and volume, on a fixed lower side.
fn tissue(n: usize, depth: f32) -> Model {
    tissue_with_volume(n, depth, 1_250.0)
}

fn tissue_with_volume(n: usize, depth: f32, volume: f64) -> Model {
    let mesh = prism_layer(n, 0.02, depth);
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        builder.vertex(p, i < (n + 1) * (n + 1));
    }
    for &tet in &mesh.tets {
        let tet = builder.tet(tet, 2_500.0);
        builder.tet_volume(tet, volume, 1.0);
    }
    builder.distribute_mass(0.8 * (n * n) as f64 * 0.02 * 0.02 * f64::from(depth) * 1_000.0);
    builder.build().expect("tissue")
}

/// The fixed side swings about an axis through its middle.
fn swing(model: &Model, step: usize) -> Targets {
    let turn = Quat::from_rotation_z(0.4 * (step as f32 * 0.2).sin());
    let middle = Affine3A::from_translation(Vec3::new(0.2, 0.0, 0.2));
    let frame = middle * Affine3A::from_quat(turn) * middle.inverse();
    let fixed: Vec<Vec3> = model
        .rest_fixed()
        .iter()
        .map(|p| frame.transform_point3(*p))
        .collect();
    model.targets(&fixed, &[])
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f32::max)
}

/// With 961 free vertices columns are left out, and at a depth of 5 cm A⁻¹ decays slowly. Strain only, since volumes are projected
/// with two steps in single precision and to convergence in the reference.
#[test]
fn truncated_inverses_beat_ten_cg_iterations() {
    let Some(gpu) = device() else { return };
    for depth in [0.02, 0.05] {
        let model = tissue_with_volume(30, depth, 0.0);
        let mut backend = GpuBackend::new(gpu.clone());
        conformance::beats_ten_cg_iterations(&mut backend, Precision::Single, &model);
    }
}

/// 20 steps of a swing: the truncated global step agrees with the exact one of the CPU to 1e-4 of the size, the comparison solvers
/// to 1e-3.
#[test]
fn all_solvers_agree_with_the_cpu() {
    let Some(gpu) = device() else { return };
    let model = tissue(20, 0.03);
    let settings = Settings::default();
    let mut expected = State::at_rest(&model);
    let mut processor = CpuBackend::new();
    for step in 0..20 {
        processor
            .step(&model, &settings, &swing(&model, step), &mut expected)
            .expect("processor");
    }
    assert!(farthest(model.rest_free(), &expected.positions) > 0.01);
    for (solver, bound) in [
        (Solver::Patches, 1e-4),
        (Solver::Iterative(Method::Pcg), 1e-3),
        (Solver::Iterative(Method::PipelinedCg), 1e-3),
        (Solver::Iterative(Method::Chebyshev), 1e-3),
    ] {
        let mut backend = GpuBackend::with_solver(gpu.clone(), solver);
        let mut state = State::at_rest(&model);
        for step in 0..20 {
            backend
                .step(&model, &settings, &swing(&model, step), &mut state)
                .expect("device");
        }
        let apart = farthest(&state.positions, &expected.positions);
        assert!(apart <= bound * 0.4, "{solver:?}: {apart} m");
    }
}

/// Six bodies with different motions, in batches of four, move as they do alone, up to the order of sums.
#[test]
fn bodies_are_independent() {
    let Some(gpu) = device() else { return };
    let model = tissue(8, 0.02);
    let settings = Settings::default();
    let crowd = GpuBodies::new(&gpu, &model, &settings, 6, Solver::Patches).expect("crowd");
    let single = GpuBodies::new(&gpu, &model, &settings, 1, Solver::Patches).expect("single");
    for step in 0..5 {
        for body in 0..6 {
            crowd.set_targets(body, &swing(&model, step * (1 + body as usize)));
        }
        crowd.step().expect("step");
    }
    for body in 0..6 {
        single.upload(0, &State::at_rest(&model));
        for step in 0..5 {
            single.set_targets(0, &swing(&model, step * (1 + body as usize)));
            single.step().expect("step");
        }
        let together = crowd.request_positions(body).wait().expect("positions");
        let alone = single.request_positions(0).wait().expect("positions");
        let pairs = together.iter().zip(&alone);
        let apart = pairs.map(|(a, b)| {
            let [a, b] = [a, b].map(|p| Vec3::new(p[0], p[1], p[2]));
            a.distance(b)
        });
        let apart = apart.fold(0.0, f32::max);
        assert!(apart < 1e-6, "body {body}: {apart} m");
    }
}

#[test]
fn readback_is_asynchronous() {
    let Some(gpu) = device() else { return };
    let model = tissue(4, 0.02);
    let bodies =
        GpuBodies::new(&gpu, &model, &Settings::default(), 1, Solver::Patches).expect("bodies");
    bodies.step().expect("step");
    let pending = bodies.request_positions(0);
    bodies.step().expect("the next step does not wait");
    let rows = loop {
        if let Some(rows) = pending.poll() {
            break rows.expect("positions");
        }
    };
    let mut positions = vec![Vec3::ZERO; model.free_count()];
    bodies.unpack(&rows, &mut positions);
    assert!(farthest(&positions, model.rest_free()) < 1e-5);
}

#[test]
fn a_lost_device_is_an_error_and_keeps_the_state() {
    if device().is_none() {
        return;
    }
    let gpu = Gpu::open(Options::default()).expect("opened before");
    let model = tissue(4, 0.02);
    let mut backend = GpuBackend::new(Arc::clone(&gpu));
    let mut state = State::at_rest(&model);
    let settings = Settings::default();
    backend
        .step(&model, &settings, &swing(&model, 1), &mut state)
        .expect("alive");
    let before = state.clone();
    gpu.destroy();
    for _ in 0..2 {
        let found = backend.step(&model, &settings, &swing(&model, 2), &mut state);
        assert!(matches!(found, Err(SolveError::Device { .. })), "{found:?}");
        assert_eq!(state, before);
    }
}

#[test]
fn too_many_bodies_are_rejected_before_allocation() {
    let Some(gpu) = device() else { return };
    let model = tissue(8, 0.02);
    let found = GpuBodies::new(
        &gpu,
        &model,
        &Settings::default(),
        u32::MAX,
        Solver::Patches,
    );
    assert!(
        matches!(found, Err(GpuError::TooLarge { .. })),
        "{:?}",
        found.err()
    );
}

/// A skin interpolated from samples (one fixed, one not simulated), with one correction along a normal, agrees with the same sums
/// on the CPU.
#[test]
fn the_full_skin_follows_the_samples() {
    let Some(gpu) = device() else { return };
    let n = 8;
    let model = tissue(n, 0.02);
    let side = n as u32 + 1;
    let corner = |q: u32| q / n as u32 * side + q % n as u32;
    let squares = (0..(n * n) as u32).map(corner);
    let tables = SkinTables {
        // The free vertices are the upper side, in the order of the grid; one sample is a fixed vertex.
        vertices: (0..side * side)
            .chain([side * side + 3])
            .map(Some)
            .chain([None])
            .collect(),
        triangles: squares
            .flat_map(|a| [[a, a + side + 1, a + 1], [a, a + side, a + side + 1]])
            .collect(),
        neighbours: 2,
        indices: vec![0, 1, 5, 14, 40, 40, side * side, 7, side * side + 1, 7],
        // The second vertex is blended by a quarter towards a given position.
        kinematic: vec![(1, 0.25)],
        weights: vec![
            [0.5, 0.5],
            [0.5, 0.5],
            [1.25, 1.5],
            [-0.25, -0.5],
            [1.0, 1.0],
            [0.0, 0.0],
            [1.0, 0.0],
            [0.0, 1.0],
            [1.0, 0.0],
            [0.0, 1.0],
        ],
        extras: vec![(2, vec![0.01, 0.0])],
    };
    let settings = Settings::default();
    let bodies = GpuBodies::new(&gpu, &model, &settings, 2, Solver::Patches).expect("bodies");
    let skin = GpuSkin::new(&bodies, &tables).expect("skin");
    for step in 0..5 {
        bodies.set_targets(1, &swing(&model, step));
        bodies.step().expect("step");
    }
    let pose = Vec3::new(-1.0, 0.5, 0.0);
    skin.set_given(1, &[Vec3::new(1.0, 2.0, 3.0), pose]);
    skin.update().expect("skin");
    let found = skin.request(1).wait().expect("skin");
    let mut free = vec![Vec3::ZERO; model.free_count()];
    bodies.unpack(
        &bodies.request_positions(1).wait().expect("positions"),
        &mut free,
    );
    let mut samples = free;
    samples.push(swing(&model, 4).fixed[3]);
    samples.push(Vec3::new(1.0, 2.0, 3.0));
    let mut normals = vec![Vec3::ZERO; samples.len()];
    for t in &tables.triangles {
        let [a, b, c] = t.map(|v| samples[v as usize]);
        t.iter()
            .for_each(|&v| normals[v as usize] += (b - a).cross(c - a));
    }
    let normals: Vec<Vec3> = normals.iter().map(|n| n.normalize_or_zero()).collect();
    assert_eq!(found.len(), 5);
    for (v, &row) in found.iter().enumerate() {
        let entries =
            || (2 * v..2 * v + 2).map(|e| (tables.indices[e] as usize, tables.weights[e]));
        let mut position: Vec3 = entries().map(|(s, w)| samples[s] * w[0]).sum();
        if v == 2 {
            position += normals[40] * 0.01;
        }
        if v == 1 {
            position = position.lerp(pose, 0.25);
        }
        let normal: Vec3 = entries().map(|(s, w)| normals[s] * w[1]).sum();
        let (at, facing) = unpack_skin(row);
        assert!(at.distance(position) < 1e-6, "position {v}");
        assert!(facing.distance(normal.normalize()) < 1e-3, "normal {v}");
    }
}
