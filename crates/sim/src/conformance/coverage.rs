//! Every constraint type and option either agrees with the reference or is reported as unsupported.

use glam::{Affine3A, DVec3, Quat, Vec3};

use super::{Precision, Trial, extent, moved_targets};
use crate::constraints::{AnchorKind, StretchLimits};
use supple_geom::TetMesh;

use crate::shapes::prism_layer;
use crate::{
    Backend, Decompose, Fit, Mode, Model, ModelBuilder, Reference, Rotations, Settings, SolveError,
    State, Strain, Weights,
};

/// For each constraint type and each option of the settings: if the backend supports it, ten steps agree with the reference
/// to 1e-4 of the size (1e-6 in double precision); if not, the step returns [`SolveError::Unsupported`].
pub fn every_constraint_and_option(backend: &mut dyn Backend, precision: Precision) {
    for kind in 0..7 {
        let model = tissue_with(kind, &Weights::default());
        for (name, settings) in options() {
            compare(
                backend,
                precision,
                &model,
                &settings,
                &format!("constraint {kind}, {name}"),
            );
        }
    }
}

fn options() -> Vec<(&'static str, Settings)> {
    let base = Settings {
        gravity: Vec3::new(0.0, -9.81, 0.0),
        damping_half_life: 0.2,
        ..Settings::default()
    };
    let strain = |decompose, fit| Settings {
        strain: Strain { decompose, fit },
        ..base.clone()
    };
    vec![
        ("defaults", base.clone()),
        (
            "static",
            Settings {
                mode: Mode::Static,
                ..base.clone()
            },
        ),
        (
            "shared rotations",
            Settings {
                rotations: Rotations::PerCluster,
                ..base.clone()
            },
        ),
        (
            "covariance, gradients",
            strain(Decompose::Covariance, Fit::Gradients),
        ),
        (
            "gradient, positions",
            strain(Decompose::Gradient, Fit::Positions),
        ),
        (
            "covariance, positions",
            strain(Decompose::Covariance, Fit::Positions),
        ),
    ]
}

fn compare(
    backend: &mut dyn Backend,
    precision: Precision,
    model: &Model,
    settings: &Settings,
    what: &str,
) {
    let mut state = State::at_rest(model);
    if !backend.supports(model, settings) {
        let refused = backend.step(model, settings, &model.rest_targets(), &mut state);
        assert!(
            matches!(refused, Err(SolveError::Unsupported { .. })),
            "{}: {what}: {refused:?}",
            backend.name()
        );
        return;
    }
    let mut reference = Reference::new();
    let mut expected = Trial::new(&mut reference, model, settings.clone());
    let mut found = Trial::new(backend, model, settings.clone());
    for k in 0..10 {
        let frame = Affine3A::from_quat(Quat::from_rotation_z(0.3 * (k as f32 * 0.3).sin()));
        let mut targets = moved_targets(model, frame);
        targets.forces = vec![Vec3::new(0.01, 0.0, 0.0); model.free_count()];
        found.step(&targets);
        expected.step(&targets);
    }
    let bound = precision.of_the_reference() * extent(model);
    found.assert_like(&expected.state, bound, what);
}

/// A model whose weights are multiplied by [`Settings::weights`] moves as one that was built with the products, dynamic and
/// static; factors that make no sense are refused.
pub fn weights_are_those_of_a_model_built_so(backend: &mut dyn Backend, precision: Precision) {
    let weights = Weights {
        strain: 0.7,
        volume: 2.0,
        springs: 3.0,
        bending: 0.1,
        polyhedra: 0.2,
        anchors: 0.5,
        each_material: Vec::new(),
        each_anchor: (0..25).map(|i| [0.1, 1.0, 100.0][i % 3]).collect(),
    };
    for kind in 0..7 {
        let (model, built) = (
            tissue_with(kind, &Weights::default()),
            tissue_with(kind, &weights),
        );
        let mut factors = weights.clone();
        factors.each_anchor.truncate(model.anchors().len());
        for (name, settings) in options() {
            let weighted = Settings {
                weights: factors.clone(),
                ..settings.clone()
            };
            if !backend.supports(&model, &weighted) {
                continue;
            }
            let expected = swung(backend, &built, settings);
            let found = swung(backend, &model, weighted);
            let pairs = found.positions.iter().zip(&expected.positions);
            let apart = pairs.fold(0.0, |m: f32, (a, b)| m.max(a.distance(*b)));
            let bound = precision.of_the_reference() * extent(&model);
            assert!(
                f64::from(apart) <= bound,
                "{}: constraint {kind}, {name}: {apart} m apart",
                backend.name()
            );
        }
    }
    let model = tissue_with(0, &Weights::default());
    for strain in [-1.0, f64::NAN, f64::INFINITY] {
        let mut settings = Settings::default();
        settings.weights.strain = strain;
        let refused = backend.step(
            &model,
            &settings,
            &model.rest_targets(),
            &mut State::at_rest(&model),
        );
        assert!(
            matches!(refused, Err(SolveError::Weight { .. })),
            "{}: {strain}: {refused:?}",
            backend.name()
        );
    }
}

/// Where ten steps of a bone that turns to and fro take a model.
fn swung(backend: &mut dyn Backend, model: &Model, settings: Settings) -> State {
    let mut trial = Trial::new(backend, model, settings);
    for k in 0..10 {
        let turn = Quat::from_rotation_z(0.3 * (k as f32 * 0.3).sin());
        trial.step(&moved_targets(model, Affine3A::from_quat(turn)));
    }
    trial.state
}

/// A layer of tissue with an additional type of constraint: 0 none, 1 volume, 2 springs, 3 bending, 4 anchors,
/// 5 polyhedra, 6 all of them.
fn tissue_with(kind: usize, weights: &Weights) -> Model {
    let n = 4;
    let lower = (n + 1) * (n + 1);
    let mesh = prism_layer(n, 0.02, 0.02);
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        builder.vertex(p, i < lower);
    }
    for &tet in &mesh.tets {
        builder.tet(tet, 2_500.0 * weights.strain);
    }
    for cell in &mesh.cells {
        builder.cluster(cell);
    }
    builder.distribute_mass(0.1);
    let wants = |k: usize| kind == k || kind == 6;
    if wants(1) {
        for t in 0..mesh.tets.len() as u32 {
            builder.tet_volume(t, 5_000.0 * weights.volume, 1.05);
        }
    }
    if wants(2) {
        for tet in &mesh.tets {
            builder.spring([tet[0], tet[3]], 0.025, 5.0 * weights.springs);
        }
    }
    if wants(3) {
        let triangles = upper_triangles(n as u32, lower as u32);
        builder.surface_bending(&triangles, 1e-3 * weights.bending);
    }
    if wants(4) {
        for v in lower..mesh.positions.len() {
            let kinds = [AnchorKind::Point, AnchorKind::Line, AnchorKind::Plane];
            let weight = 2.0 * weights.anchor(v - lower);
            let direction = Vec3::new(0.2, 1.0, 0.1);
            builder.directed_anchor(v as u32, weight, kinds[v % 3], direction);
        }
    }
    if wants(5) {
        add_prisms(&mesh, weights.polyhedra, &mut builder);
    }
    builder.build().expect("test body")
}

fn upper_triangles(n: u32, first: u32) -> Vec<[u32; 3]> {
    let corner = |q: u32| first + q / n * (n + 1) + q % n;
    let square = |q: u32| {
        let a = corner(q);
        [[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]
    };
    (0..n * n).flat_map(square).collect()
}

fn add_prisms(mesh: &TetMesh, factor: f64, builder: &mut ModelBuilder) {
    for cell in &mesh.cells {
        let mut corners: Vec<u32> = cell.iter().flat_map(|&t| mesh.tets[t as usize]).collect();
        corners.sort_unstable();
        corners.dedup();
        let limits = StretchLimits::along(DVec3::Y, 0.5, 2.0);
        builder.polyhedron(&corners, 0.01 * factor, limits);
    }
}
