//! Materials: closed forms, and factors that change without a new model.

use glam::Vec3;
use supple_sim::shapes::bar;
use supple_sim::{
    BuildError, CpuBackend, Equilibrium, Material, MaterialFactors, Model, ModelBuilder, Settings,
    State,
};

/// Side of the hanging block, and its length [m].
const SIDE: f32 = 0.1;
const LENGTH: f64 = 0.3;
const STIFFNESS: f64 = 4_000.0;
const DENSITY: f64 = 1_000.0;

/// A block that hangs from one end, in two materials across its length.
fn hanging_block() -> Model {
    let mesh = bar([6, 2, 2], 0.5 * SIDE);
    let mut builder = ModelBuilder::new();
    for &p in &mesh.positions {
        builder.vertex(p, p.x == 0.0);
    }
    for name in ["upper", "lower"] {
        builder.material(Material::new(name).stiffness(STIFFNESS));
    }
    for &tet in &mesh.tets {
        let x = tet.map(|v| f64::from(mesh.positions[v as usize].x));
        let is_lower = x.iter().sum::<f64>() / 4.0 > 0.5 * LENGTH;
        builder.tet_of(tet, u16::from(is_lower), 1.0);
    }
    builder.distribute_mass(DENSITY * LENGTH * f64::from(SIDE * SIDE));
    builder.build().expect("a valid block")
}

/// How far the lower end sinks [m].
fn sag(backend: &mut CpuBackend, model: &Model, settings: &Settings) -> f64 {
    let mut state = State::at_rest(model);
    let targets = model.rest_targets();
    let report = Equilibrium::default()
        .tolerance(1e-6)
        .solve(backend, model, settings, &targets, &mut state)
        .expect("an equilibrium");
    assert!(report.is_met, "{report:?}");
    let rest = model.rest_free().iter().zip(&state.positions);
    let end = rest.filter(|(rest, _)| f64::from(rest.x) > LENGTH - 1e-3);
    let ways: Vec<f64> = end.map(|(rest, p)| f64::from(p.x - rest.x)).collect();
    ways.iter().sum::<f64>() / ways.len() as f64
}

#[test]
fn twice_the_stiffness_of_a_hanging_block_halves_its_sag() {
    let model = hanging_block();
    let mut backend = CpuBackend::new();
    let mut settings = Settings {
        gravity: Vec3::new(0.5, 0.0, 0.0),
        ..Settings::default()
    };
    let whole = sag(&mut backend, &model, &settings);
    // ρ g L² / 2 E; a vertex has the mass of its tets, of which the fixed ones bear nothing.
    let expected = DENSITY * 0.5 * LENGTH * LENGTH / (2.0 * STIFFNESS);
    assert!((whole / expected - 1.0).abs() < 0.1, "{whole} {expected}");
    for (upper, lower) in [(2.0, 2.0), (2.0, 1.0), (1.0, 2.0)] {
        for (name, factor) in [("upper", upper), ("lower", lower)] {
            let factors = MaterialFactors::stiffness(factor);
            assert!(settings.weights.set_material(&model, name, factors));
        }
        let found = sag(&mut backend, &model, &settings) / whole;
        // The upper half bears three quarters of the sag: its own weight and twice as much of the lower one.
        let expected = 0.75 / upper + 0.25 / lower;
        assert!(
            (found - expected).abs() < 0.03,
            "{upper}, {lower}: {found}, {expected} expected"
        );
        if upper == lower {
            assert!((found - 0.5).abs() < 1e-3, "{found}");
        }
    }
    assert_eq!(
        backend.analyses(),
        1,
        "the pattern of a model is analysed once"
    );
    assert!(
        !settings
            .weights
            .set_material(&model, "bone", MaterialFactors::default())
    );
}

#[test]
fn bad_materials_are_refused() {
    let build = |material: Material, index: u16| {
        let mesh = bar([1, 1, 1], 0.1);
        let mut builder = ModelBuilder::new();
        for &p in &mesh.positions {
            builder.vertex(p, false);
        }
        builder.material(material);
        builder.tet_of(mesh.tets[0], index, 1.0);
        builder.build().map(|_| ())
    };
    let fat = || Material::new("fat");
    assert!(build(fat(), 0).is_ok());
    for bad in [
        build(fat().stiffness(-1.0), 0),
        build(fat().volume_stiffness(f64::NAN), 0),
        build(fat().damping(f64::INFINITY), 0),
    ] {
        assert!(matches!(bad, Err(BuildError::Parameter { .. })), "{bad:?}");
    }
    let bad = build(fat(), 1);
    assert!(matches!(bad, Err(BuildError::Index { .. })), "{bad:?}");
}
