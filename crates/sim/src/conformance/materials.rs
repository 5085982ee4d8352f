//! Materials, and factors that change them without a new model.

use glam::{Affine3A, Quat, Vec3};

use super::{Precision, Trial, extent, moved_targets};
use crate::shapes::{bar, prism_layer};
use crate::{
    Backend, Material, MaterialFactors, Merged, Mode, Model, ModelBuilder, Settings, SolveError,
    State, Weights,
};

/// What the materials of [`halves`] are multiplied by.
const FACTORS: [MaterialFactors; 2] = [
    MaterialFactors {
        strain: 2.0,
        volume: 0.5,
        damping: 3.0,
    },
    MaterialFactors {
        strain: 0.4,
        volume: 1.0,
        damping: 0.5,
    },
];

/// A model whose materials are multiplied by [`Weights::each_material`] moves as one that was built with the products, alone
/// and merged with another, dynamic and static. Damping has its half-life. Factors that make no sense are refused.
pub fn materials_are_those_of_a_model_built_so(backend: &mut dyn Backend, precision: Precision) {
    let ones = [MaterialFactors::default(); 2];
    let (model, built) = (halves(&ones), halves(&FACTORS));
    let name = backend.name();
    let bound = (precision.of_the_reference() * extent(&model)) as f32;
    for mode in [Mode::Dynamic, Mode::Static] {
        let plain = Settings {
            mode,
            gravity: Vec3::new(3.0, -9.81, 0.0),
            ..Settings::default()
        };
        let factored = with(&plain, FACTORS.to_vec());
        let expected = swung(backend, &built, plain.clone());
        let found = swung(backend, &model, factored.clone());
        let apart = apart(&found.positions, &expected.positions);
        assert!(apart <= bound, "{name}: {mode:?}: {apart} m apart");
        let unchanged = swung(backend, &model, plain.clone());
        let apart_from_unchanged = self::apart(&found.positions, &unchanged.positions);
        assert!(
            apart_from_unchanged > 10.0 * bound,
            "{name}: {mode:?}: factors had no effect, {apart_from_unchanged} m"
        );
        // The first body as it is, the second with the factors.
        let merged = Merged::new(&[&model, &model]);
        let of_all: Vec<MaterialFactors> = ones.into_iter().chain(FACTORS).collect();
        let together = swung(backend, &merged.model, with(&plain, of_all));
        for (body, expected) in [(0, &unchanged), (1, &found)] {
            let part = merged.state_of(body, &together);
            let apart = self::apart(&part.positions, &expected.positions);
            assert!(apart <= bound, "{name}: body {body}: {apart} m apart");
        }
    }
    damps(backend);
    refuses_bad_factors(backend, &model);
}

/// A body in free flight loses its velocity at the rate of its material.
fn damps(backend: &mut dyn Backend) {
    let mesh = bar([3, 1, 1], 0.05);
    let mut builder = ModelBuilder::new();
    for &p in &mesh.positions {
        builder.vertex(p, false);
    }
    let material = builder.material(Material::new("fat").damping(4.0));
    for &tet in &mesh.tets {
        builder.tet_of(tet, material, 1.0);
    }
    builder.distribute_mass(0.3);
    let model = builder.build().expect("test body");
    let start = Vec3::new(0.8, 0.4, -0.1);
    for damping in [1.0, 0.0, 0.5] {
        let factors = MaterialFactors {
            damping,
            ..MaterialFactors::default()
        };
        let settings = with(&Settings::default(), vec![factors]);
        let kept = (-4.0 * damping * 10.0 * settings.step).exp2() as f32;
        let mut trial = Trial::new(backend, &model, settings);
        trial.state.velocities.fill(start);
        trial.rest(10);
        let expected = vec![start * kept; model.free_count()];
        let apart = apart(&trial.state.velocities, &expected);
        assert!(apart < 1e-3, "damping {damping}: {apart} m/s apart");
    }
}

fn refuses_bad_factors(backend: &mut dyn Backend, model: &Model) {
    let mut step = |factors: Vec<MaterialFactors>| {
        let settings = with(&Settings::default(), factors);
        let (targets, mut state) = (model.rest_targets(), State::at_rest(model));
        backend.step(model, &settings, &targets, &mut state)
    };
    for strain in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = step(vec![MaterialFactors::stiffness(strain); 2]);
        let is_refused = matches!(refused, Err(SolveError::Weight { .. }));
        assert!(is_refused, "{strain}: {refused:?}");
    }
    let refused = step(FACTORS[..1].to_vec());
    let is_refused = matches!(refused, Err(SolveError::Length { .. }));
    assert!(is_refused, "{refused:?}");
}

fn with(settings: &Settings, each_material: Vec<MaterialFactors>) -> Settings {
    Settings {
        weights: Weights {
            each_material,
            ..settings.weights.clone()
        },
        ..settings.clone()
    }
}

fn apart(a: &[Vec3], b: &[Vec3]) -> f32 {
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |m, (a, b)| f32::max(m, a.distance(*b)))
}

/// Where a bone that jerks takes a model, a few steps after.
fn swung(backend: &mut dyn Backend, model: &Model, settings: Settings) -> State {
    let mut trial = Trial::new(backend, model, settings);
    for k in 0..12 {
        let turn = Quat::from_rotation_z(0.3 * (k.min(6) as f32 * 0.3).sin());
        trial.step(&moved_targets(model, Affine3A::from_quat(turn)));
    }
    trial.state
}

/// A layer of tissue, one half of each material, with the products of some factors.
fn halves(factors: &[MaterialFactors; 2]) -> Model {
    let n = 4;
    let mesh = prism_layer(n, 0.02, 0.02);
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        builder.vertex(p, i < (n + 1) * (n + 1));
    }
    for (k, name) in ["fat", "muscle"].into_iter().enumerate() {
        let own = factors[k];
        let material = Material::new(name)
            .stiffness([600.0, 1_500.0][k] * own.strain)
            .volume_stiffness(2.0 * own.volume / own.strain)
            .damping([8.0, 20.0][k] * own.damping);
        assert_eq!(builder.material(material), k as u16);
    }
    for (t, &tet) in mesh.tets.iter().enumerate() {
        builder.tet_of(tet, u16::from(2 * t >= mesh.tets.len()), 1.5);
    }
    builder.distribute_mass(0.1);
    builder.build().expect("test body")
}
