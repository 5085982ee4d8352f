//! What steps converge to, and how: static solutions and descent.

use glam::{Affine3A, Quat, Vec3};

use super::{
    Precision, Random, STATE_EPSILON, STIFFNESS, Trial, body, cantilever, extent, floating,
    moved_targets, tissue,
};
use crate::shapes::bar;
use crate::{Backend, Equilibrium, Mode, Reference, Settings, State};

/// Patch test: a bar stretched between two fixed ends takes the linear shape exactly. With F = diag(1.2, 1, 1) the
/// stress k (F − R) has no component on the free sides, so no vertex between the ends feels a force.
pub fn patch_test(backend: &mut dyn Backend, precision: Precision) {
    let mesh = bar([6, 2, 2], 0.05);
    let model = body(&mesh, |_, p| p.x == 0.0 || p.x >= 0.299);
    let stretch = Affine3A::from_scale(Vec3::new(1.2, 1.0, 1.0));
    let settings = Settings {
        mode: Mode::Static,
        iterations: 50,
        ..Settings::default()
    };
    let mut trial = Trial::new(backend, &model, settings);
    trial.hold(&moved_targets(&model, stretch), 20);
    let bound = match precision {
        Precision::Double => 2.0 * STATE_EPSILON,
        Precision::Single => 1e-5,
    };
    trial.assert_at(stretch, bound * extent(&model), "from the linear shape");
}

/// [`Equilibrium`] of a bent bar and of turned tissue under gravity: the tolerance is met, and a far longer solve of the reference moves
/// no vertex farther.
pub fn equilibrium_is_within_its_tolerance(backend: &mut dyn Backend, _: Precision) {
    let settings = Settings {
        gravity: Vec3::new(0.0, -0.1, 0.0),
        ..Settings::default()
    };
    for model in [tissue(), cantilever()] {
        let turn = Affine3A::from_quat(Quat::from_rotation_z(0.7));
        let targets = moved_targets(&model, turn);
        let mut state = State::at_rest(&model);
        let search = Equilibrium::default().tolerance(1e-4);
        let report = search
            .solve(backend, &model, &settings, &targets, &mut state)
            .expect("an equilibrium");
        let name = backend.name();
        assert!(report.is_met, "{name}: {report:?}");
        let long = Settings {
            mode: Mode::Static,
            iterations: 20_000,
            ..settings.clone()
        };
        let mut truth = state.clone();
        Reference::new()
            .step(&model, &long, &targets, &mut truth)
            .expect("step");
        let pairs = state.positions.iter().zip(&truth.positions);
        let off = pairs.fold(0.0, |m: f32, (a, b)| m.max(a.distance(*b)));
        assert!(
            f64::from(off) <= 1e-4 * extent(&model),
            "{name}: {off} m off, {report:?}"
        );
    }
}

/// A bar held at one end under gravity: the damped dynamic solution ends in the static one, and the sag is that of a
/// beam. Euler–Bernoulli with shear (Timoshenko, k = 5/6): w = q L⁴/(8 E I) + q L²/(2 κ G A), here with E = k,
/// G = k/2; linear tets of two per thickness are known to be too stiff in bending, hence only the order is asked.
pub fn settles_to_the_static_solution(backend: &mut dyn Backend, precision: Precision) {
    let model = cantilever();
    let gravity = Vec3::new(0.0, -0.1, 0.0);
    // The first bending mode has ω = 3.516 √(E I / ρ A L⁴) ≈ 2.5/s; ln 2 / 2ω damps it critically, and e^(−2.5 t) is
    // 2e-9 after 8 s.
    let dynamic = Settings {
        gravity,
        damping_half_life: 0.14,
        ..Settings::default()
    };
    let fixed = Settings {
        gravity,
        mode: Mode::Static,
        iterations: 50,
        ..Settings::default()
    };
    let mut still = Trial::new(backend, &model, fixed);
    still.rest(100);
    let still = still.state;
    let sag = model
        .rest_free()
        .iter()
        .zip(&still.positions)
        .map(|(a, b)| f64::from(a.y - b.y))
        .fold(0.0, f64::max);
    let share = match precision {
        Precision::Double => 1e-4,
        Precision::Single => 1e-3,
    };
    let mut moved = Trial::new(backend, &model, dynamic);
    moved.rest(480);
    moved.assert_like(&still, share * sag, &format!("at a sag of {sag} m"));
    let (length, side) = (0.3_f64, 0.1_f64);
    let load = 1_000.0 * 0.1 * side * side;
    let bending = load * length.powi(4) / (8.0 * STIFFNESS * side.powi(4) / 12.0);
    let shear = load * length.powi(2) / (2.0 * 5.0 / 6.0 * STIFFNESS / 2.0 * side * side);
    let ratio = sag / (bending + shear);
    assert!(
        (0.4..1.1).contains(&ratio),
        "sag {sag} m is {ratio} of the beam's"
    );
}

/// The objective (2.8) never rises from one iteration to the next: each local and each global step minimises it over
/// its own unknowns. In single precision up to rounding of the positions.
pub fn energy_never_rises(backend: &mut dyn Backend, precision: Precision) {
    for (n, model) in [tissue(), cantilever(), floating()].into_iter().enumerate() {
        for mode in [Mode::Dynamic, Mode::Static] {
            let settings = Settings {
                mode,
                trace_energy: true,
                iterations: 20,
                ..Settings::default()
            };
            let mut random = Random(n as u64);
            let mut trial = Trial::new(backend, &model, settings);
            for x in &mut trial.state.positions {
                *x += random.vector() * 0.03;
            }
            let energies = trial.rest(1).energies;
            assert_eq!(energies.len(), 21, "energies are not traced");
            let allowed = energies[0]
                * match precision {
                    Precision::Double => 1e-13,
                    Precision::Single => 1e-6,
                };
            for (k, pair) in energies.windows(2).enumerate() {
                assert!(
                    pair[1] <= pair[0] + allowed,
                    "{mode:?} iteration {k}: {pair:?}"
                );
            }
            assert!(energies[20] < 0.7 * energies[0], "{energies:?}");
        }
    }
}
