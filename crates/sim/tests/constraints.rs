//! The effect of each constraint type in the static solver.

use glam::{DVec3, Quat, Vec3};
use supple_sim::constraints::{AnchorKind, StretchLimits};
use supple_sim::energy::potential;
use supple_sim::shapes::{bar, prism_layer};
use supple_sim::{
    Backend, BuildError, Decompose, Fit, Mode, Model, ModelBuilder, Reference, Rotations, Settings,
    State, Strain, Targets, measure,
};

fn statics() -> Settings {
    Settings {
        mode: Mode::Static,
        iterations: 50,
        ..Settings::default()
    }
}

fn solve(model: &Model, settings: &Settings, targets: &Targets, steps: usize) -> State {
    let mut state = State::at_rest(model);
    let mut backend = Reference::new();
    for _ in 0..steps {
        backend.step(model, settings, targets, &mut state).unwrap();
    }
    state
}

#[test]
fn a_spring_takes_its_rest_length() {
    let mut builder = ModelBuilder::new();
    builder.vertex(Vec3::ZERO, true);
    builder.vertex(Vec3::new(0.3, 0.4, 0.0), false);
    builder.spring([0, 1], 0.2, 10.0);
    let model = builder.build().unwrap();
    let state = solve(&model, &statics(), &model.rest_targets(), 1);
    assert!((state.positions[0].length() - 0.2).abs() < 1e-6);
    assert!(
        state.positions[0]
            .normalize()
            .distance(Vec3::new(0.6, 0.8, 0.0))
            < 1e-6
    );
}

#[test]
fn the_stretch_of_a_hanging_chain_does_not_depend_on_its_resolution() {
    // Axial stiffness EA = 10 N, load 1 N at the end: 10 % longer.
    for links in [1, 2, 8] {
        let mut builder = ModelBuilder::new();
        let length = 1.0 / links as f32;
        for i in 0..=links {
            builder.vertex(Vec3::new(0.0, -length * i as f32, 0.0), i == 0);
        }
        for i in 0..links {
            builder.spring([i, i + 1], f64::from(length), 10.0 / f64::from(length));
        }
        let model = builder.build().unwrap();
        let mut targets = model.rest_targets();
        targets.forces = vec![Vec3::ZERO; model.free_count()];
        targets.forces[links as usize - 1] = Vec3::new(0.0, -1.0, 0.0);
        let state = solve(&model, &statics(), &targets, 40);
        assert!(
            (state.positions[links as usize - 1].y + 1.1).abs() < 1e-4,
            "{:?}",
            state.positions
        );
    }
}

#[test]
fn anchors_pull_to_point_line_and_plane() {
    let start = Vec3::new(1.0, 2.0, 3.0);
    let expected = [
        (AnchorKind::Point, Vec3::ZERO),
        (AnchorKind::Line, Vec3::new(1.0, 0.0, 0.0)),
        (AnchorKind::Plane, Vec3::new(0.0, 2.0, 3.0)),
    ];
    for (kind, result) in expected {
        let mut builder = ModelBuilder::new();
        builder.vertex(start, false);
        builder.directed_anchor(0, 5.0, kind, Vec3::X);
        let model = builder.build().unwrap();
        let state = solve(&model, &statics(), &model.targets(&[], &[Vec3::ZERO]), 1);
        assert!(
            state.positions[0].distance(result) < 1e-6,
            "{kind:?}: {}",
            state.positions[0]
        );
    }
}

#[test]
fn volume_constraints_inflate_a_box() {
    let mesh = bar([2, 2, 2], 0.1);
    let mut builder = ModelBuilder::new();
    for &p in &mesh.positions {
        builder.vertex(p, false);
    }
    for &t in &mesh.tets {
        let t = builder.tet(t, 1.0);
        builder.tet_volume(t, 1e4, 1.5);
    }
    let model = builder.build().unwrap();
    let quality = measure(
        &model,
        &solve(&model, &statics(), &model.rest_targets(), 20),
    );
    assert!(
        (quality.volume / quality.rest_volume - 1.5).abs() < 1e-3,
        "{quality:?}"
    );
    assert_eq!(quality.inverted, 0);
}

#[test]
fn bending_springs_back_after_a_dent() {
    let sheet: Vec<Vec3> = (0..25)
        .map(|i| {
            Vec3::new(
                (i / 5) as f32,
                0.3 * (i / 5 - 2) as f32 * (i / 5 - 2) as f32,
                (i % 5) as f32,
            ) * 0.1
        })
        .collect();
    let triangles: Vec<[u32; 3]> = (0..16u32)
        .map(|q| q / 4 * 5 + q % 4)
        .flat_map(|a| [[a, a + 1, a + 6], [a, a + 6, a + 5]])
        .collect();
    let mut builder = ModelBuilder::new();
    for &p in &sheet {
        builder.vertex(p, false);
    }
    builder.surface_bending(&triangles, 1.0);
    let model = builder.build().unwrap();
    let settings = statics();
    let targets = model.rest_targets();
    let mut state = State::at_rest(&model);
    state.positions[12].y += 0.02;
    let energy = |state: &State| {
        let z: Vec<DVec3> = state.positions.iter().map(|p| p.as_dvec3()).collect();
        potential(&model, &settings, &targets, &z)
    };
    let before = energy(&state);
    let mut backend = Reference::new();
    for _ in 0..40 {
        backend
            .step(&model, &settings, &targets, &mut state)
            .unwrap();
    }
    assert!(
        energy(&state) < 1e-3 * before,
        "{} of {before}",
        energy(&state)
    );
}

#[test]
fn prisms_grow_freely_along_their_normal_only() {
    let mesh = prism_layer(3, 0.1, 0.1);
    for (limits, free) in [
        (StretchLimits::along(DVec3::Y, 0.2, 5.0), true),
        (StretchLimits::rigid(), false),
    ] {
        let mut builder = ModelBuilder::new();
        for (i, &p) in mesh.positions.iter().enumerate() {
            builder.vertex(p, i < 16);
        }
        for cell in &mesh.cells {
            let mut corners: Vec<u32> = cell.iter().flat_map(|&t| mesh.tets[t as usize]).collect();
            corners.sort_unstable();
            corners.dedup();
            builder.polyhedron(&corners, 1.0, limits);
        }
        for v in 16..32 {
            builder.anchor(v, 1.0);
        }
        let model = builder.build().unwrap();
        let raised: Vec<Vec3> = model
            .rest_free()
            .iter()
            .map(|p| Vec3::new(p.x, 0.3, p.z))
            .collect();
        let state = solve(
            &model,
            &statics(),
            &model.targets(model.rest_fixed(), &raised),
            60,
        );
        let error = state
            .positions
            .iter()
            .zip(&raised)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max);
        assert_eq!(error < 1e-3, free, "{error}");
    }
}

#[test]
fn soft_anchors_approach_the_hard_ones() {
    let mesh = bar([4, 1, 1], 0.1);
    let build = |soft: Option<f64>| {
        let mut builder = ModelBuilder::new();
        for &p in &mesh.positions {
            builder.vertex(p, p.x == 0.0 || p.x > 0.39);
        }
        for &t in &mesh.tets {
            builder.tet(t, 2_000.0);
        }
        if let Some(weight) = soft {
            builder.soften_driven(weight);
        }
        builder.build().unwrap()
    };
    let pose = |model: &Model| {
        let bent = mesh
            .positions
            .iter()
            .filter(|p| p.x == 0.0 || p.x > 0.39)
            .map(|p| {
                if p.x == 0.0 {
                    *p
                } else {
                    Quat::from_rotation_z(0.8) * *p
                }
            });
        let targets = model.targets(&bent.collect::<Vec<_>>(), &[]);
        model.caller_positions(&solve(model, &statics(), &targets, 60))
    };
    let hard = pose(&build(None));
    let apart = |weight: f64| {
        let soft = pose(&build(Some(weight)));
        hard.iter()
            .zip(&soft)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max)
    };
    let (weak, strong) = (apart(1e2), apart(1e5));
    assert!(weak > 1e-3 && strong < 1e-2 * weak, "{weak} {strong}");
}

/// Figure 2.4: a bar of a short and a long element, stretched to twice its length.
#[test]
fn fitted_gradients_keep_ratios_and_fitted_positions_equalise_lengths() {
    let mesh = bar([2, 1, 1], 1.0);
    let mut builder = ModelBuilder::new();
    for &p in &mesh.positions {
        let x = if p.x > 1.5 { 4.0 } else { p.x };
        builder.vertex(Vec3::new(x, p.y, p.z), p.x != 1.0);
    }
    for &t in &mesh.tets {
        builder.tet(t, 1_000.0);
    }
    let model = builder.build().unwrap();
    let ends: Vec<Vec3> = model
        .rest_fixed()
        .iter()
        .map(|p| *p * Vec3::new(2.0, 1.0, 1.0))
        .collect();
    let middle = |fit: Fit| {
        let strain = Strain {
            decompose: Decompose::Gradient,
            fit,
        };
        let state = solve(
            &model,
            &Settings {
                strain,
                ..statics()
            },
            &model.targets(&ends, &[]),
            40,
        );
        state.positions.iter().map(|p| p.x).sum::<f32>() / 4.0
    };
    assert!(
        (middle(Fit::Gradients) - 2.0).abs() < 1e-5,
        "{}",
        middle(Fit::Gradients)
    );
    // Equal shares would be 3; the tets of a cube shear a little against each other.
    assert!(
        (middle(Fit::Positions) - 3.0).abs() < 0.25,
        "{}",
        middle(Fit::Positions)
    );
}

#[test]
fn clustered_rotations_stay_close_to_those_of_single_tets() {
    let n = 6;
    let mesh = prism_layer(n, 0.02, 0.02);
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        builder.vertex(p, i < (n + 1) * (n + 1));
    }
    for &t in &mesh.tets {
        builder.tet(t, 2_500.0);
    }
    for cell in &mesh.cells {
        builder.cluster(cell);
    }
    let model = builder.build().unwrap();
    assert_eq!(model.clusters().len(), mesh.cells.len());
    let bent: Vec<Vec3> = model
        .rest_fixed()
        .iter()
        .map(|p| Quat::from_rotation_z(8.0 * (p.x - 0.06)) * *p)
        .collect();
    let result = |rotations: Rotations| {
        solve(
            &model,
            &Settings {
                rotations,
                ..statics()
            },
            &model.targets(&bent, &[]),
            20,
        )
        .positions
    };
    let (single, shared) = (result(Rotations::PerTet), result(Rotations::PerCluster));
    let apart = single
        .iter()
        .zip(&shared)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f32::max);
    assert!(apart > 0.0 && apart < 0.002, "{apart}");
}

#[test]
fn invalid_models_are_rejected() {
    let mut builder = ModelBuilder::new();
    assert_eq!(builder.build().err(), Some(BuildError::NoFreeVertex));
    for i in 0..4 {
        builder.vertex(Vec3::new(i as f32, (i * i) as f32, (i % 2) as f32), false);
    }
    let broken: [fn(&mut ModelBuilder); 9] = [
        |b| {
            b.tet([0, 1, 2, 4], 1.0);
        },
        |b| {
            b.tet([0, 1, 2, 3], -1.0);
        },
        |b| {
            b.tet([0, 1, 2, 3], f64::NAN);
        },
        |b| b.tet_volume(0, 1.0, 1.0),
        |b| b.spring([0, 9], 1.0, 1.0),
        |b| b.mass(0, f64::INFINITY),
        |b| b.cluster(&[5]),
        |b| b.surface_bending(&[[0, 1, 7]], 1.0),
        |b| b.polyhedron(&[0, 1, 2], 1.0, StretchLimits::rigid()),
    ];
    for (i, breaks) in broken.iter().enumerate() {
        let mut b = builder.clone();
        breaks(&mut b);
        assert!(b.build().is_err(), "case {i}");
    }
    builder.vertex(Vec3::NAN, false);
    assert_eq!(
        builder.build().err(),
        Some(BuildError::Position { vertex: 4 })
    );
}
