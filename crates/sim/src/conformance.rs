//! The conformance suite: what every [`Backend`] must do, checked the same way for all.
//!
//! ```
//! use supple_sim::{Backend, Reference, conformance::Precision};
//! supple_sim::backend_tests!(|| -> Box<dyn Backend> { Box::new(Reference::new()) }, Precision::Double);
//! ```
//!
//! Each check panics with what it found; tolerances follow from the precision of the backend's arithmetic and from
//! that of the stored state (single).

use glam::{Affine3A, DVec3, Vec3};

use supple_geom::TetMesh;

use crate::shapes::{bar, prism_layer};
use crate::{Backend, Model, ModelBuilder, Settings, State, StepReport, Targets};

mod colliders;
mod contact;
mod coverage;
mod equilibrium;
mod global_solve;
mod materials;
mod motion;
mod robust;

pub use colliders::{
    a_ball_falls_and_rests, colliders_press_and_part, colliders_rub, fast_balls_do_not_pass,
    odd_colliders_do_no_harm,
};
#[cfg(test)]
pub(crate) use contact::some_pads;
pub use contact::{
    contact_agrees_with_the_reference, leaning_columns_push_aside, leaning_columns_push_straight,
    pads_press_and_part, pads_rub,
};
pub use coverage::{every_constraint_and_option, weights_are_those_of_a_model_built_so};
pub use equilibrium::{
    energy_never_rises, equilibrium_is_within_its_tolerance, patch_test,
    settles_to_the_static_solution,
};
pub use global_solve::{beats_ten_cg_iterations, global_step_beats_ten_cg_iterations};
pub use materials::materials_are_those_of_a_model_built_so;
pub use motion::{
    angular_momentum, constant_velocity, free_fall, linear_momentum, rest_pose, rigid_root_motion,
    thrown_tissue,
};
pub use robust::{
    agrees_with_the_reference, carried_jump, degenerate_models, deterministic,
    recovers_from_garbage, refuses_bad_input, violent_motion,
};

/// Arithmetic a backend steps in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// f64.
    Double,
    /// f32.
    Single,
}

impl Precision {
    /// How far from the reference tens of steps may end, relative to the size.
    fn of_the_reference(self) -> f64 {
        match self {
            Precision::Double => 1e-6,
            Precision::Single => 1e-4,
        }
    }
}

/// Rounding unit of the stored state.
pub(crate) const STATE_EPSILON: f64 = f32::EPSILON as f64;

/// Makes a module of tests that run the suite on a backend: `backend_tests!(constructor, precision)` with a
/// constructor `Fn() -> Box<dyn Backend>` and a [`Precision`].
#[macro_export]
macro_rules! backend_tests {
    ($make:expr, $precision:expr) => {
        $crate::backend_tests!(@each $make, $precision;
            rest_pose rigid_root_motion constant_velocity free_fall linear_momentum angular_momentum
            thrown_tissue
            patch_test settles_to_the_static_solution energy_never_rises
            equilibrium_is_within_its_tolerance weights_are_those_of_a_model_built_so
            materials_are_those_of_a_model_built_so
            recovers_from_garbage degenerate_models agrees_with_the_reference carried_jump
            refuses_bad_input violent_motion every_constraint_and_option
            global_step_beats_ten_cg_iterations
            pads_press_and_part pads_rub contact_agrees_with_the_reference leaning_columns_push_aside
            colliders_press_and_part colliders_rub a_ball_falls_and_rests fast_balls_do_not_pass
            odd_colliders_do_no_harm);

        #[test]
        fn deterministic() {
            let make = $make;
            $crate::conformance::deterministic(|| make());
        }
    };
    (@each $make:expr, $precision:expr; $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let make = $make;
                let mut backend: Box<dyn $crate::Backend> = make();
                $crate::conformance::$name(&mut *backend, $precision);
            }
        )*
    };
}

/// Deterministic numbers in −1..1 (splitmix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 40) as f32 / (1u32 << 23) as f32) - 1.0
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

/// Stiffness of the test bodies \[Pa\].
pub(crate) const STIFFNESS: f64 = 5_000.0;

/// A model of `mesh` with uniform stiffness and water's density.
pub(crate) fn body(mesh: &TetMesh, fixed: impl Fn(usize, Vec3) -> bool) -> Model {
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        builder.vertex(p, fixed(i, p));
    }
    for &tet in &mesh.tets {
        builder.tet(tet, STIFFNESS);
    }
    let volume: f64 = builder
        .build()
        .expect("test body")
        .tets()
        .volumes
        .iter()
        .sum();
    builder.distribute_mass(1_000.0 * volume);
    builder.build().expect("test body")
}

/// Tissue on bone: a layer of prisms, 16 cm wide and 2 cm thick, whose lower side is fixed.
pub(crate) fn tissue() -> Model {
    let n = 8;
    body(&prism_layer(n, 0.02, 0.02), |i, _| i < (n + 1) * (n + 1))
}

/// A bar of 30 × 10 × 10 cm, held at one end.
pub(crate) fn cantilever() -> Model {
    body(&bar([6, 2, 2], 0.05), |_, p| p.x == 0.0)
}

/// The same bar, held nowhere.
pub(crate) fn floating() -> Model {
    body(&bar([6, 2, 2], 0.05), |_, _| false)
}

/// Size of the rest shape \[m\].
pub(crate) fn extent(model: &Model) -> f64 {
    let (low, high) = model
        .rest()
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    f64::from((high - low).length())
}

/// Largest distance from the free vertices to `frame` applied to their rest positions \[m\].
pub(crate) fn deviation(model: &Model, state: &State, frame: Affine3A) -> f64 {
    let from = model.rest_free().iter().map(|p| frame.transform_point3(*p));
    state
        .positions
        .iter()
        .zip(from)
        .map(|(a, b)| f64::from(a.distance(b)))
        .fold(0.0, f64::max)
}

/// Targets that move the fixed vertices rigidly.
pub(crate) fn moved_targets(model: &Model, frame: Affine3A) -> Targets {
    let fixed: Vec<Vec3> = model
        .rest_fixed()
        .iter()
        .map(|p| frame.transform_point3(*p))
        .collect();
    model.targets(&fixed, &[])
}

/// One body on its way on a backend, from rest on.
pub(crate) struct Trial<'a> {
    backend: &'a mut dyn Backend,
    pub model: &'a Model,
    pub settings: Settings,
    pub state: State,
}

impl<'a> Trial<'a> {
    pub fn new(backend: &'a mut dyn Backend, model: &'a Model, settings: Settings) -> Trial<'a> {
        Trial {
            backend,
            model,
            settings,
            state: State::at_rest(model),
        }
    }

    /// One step.
    pub fn step(&mut self, targets: &Targets) -> StepReport {
        self.hold(targets, 1)
    }

    /// Steps with the same targets; the last report.
    pub fn hold(&mut self, targets: &Targets, steps: usize) -> StepReport {
        let (model, settings) = (self.model, &self.settings);
        run(
            self.backend,
            model,
            settings,
            targets,
            &mut self.state,
            steps,
        )
    }

    /// Steps with the fixed vertices at rest; the last report.
    pub fn rest(&mut self, steps: usize) -> StepReport {
        self.hold(&self.model.rest_targets(), steps)
    }

    /// The free vertices are `bound` metres at most from `frame` applied to their rest positions.
    pub fn assert_at(&self, frame: Affine3A, bound: f64, when: &str) {
        let found = deviation(self.model, &self.state, frame);
        assert!(
            self.state.is_finite() && found <= bound,
            "{}: {found} m off ({bound} m allowed) {when}",
            self.backend.name()
        );
    }

    /// The free vertices are `bound` metres at most from those of another state.
    pub fn assert_like(&self, other: &State, bound: f64, when: &str) {
        let pairs = self.state.positions.iter().zip(&other.positions);
        let apart = pairs
            .map(|(a, b)| f64::from(a.distance(*b)))
            .fold(0.0, f64::max);
        assert!(
            apart <= bound,
            "{}: {apart} m apart ({bound} m allowed) {when}",
            self.backend.name()
        );
    }
}

/// `count` steps with the same targets; the last report.
pub(crate) fn run(
    backend: &mut dyn Backend,
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    state: &mut State,
    count: usize,
) -> StepReport {
    let mut report = StepReport::default();
    for _ in 0..count {
        report = backend.step(model, settings, targets, state).expect("step");
    }
    report
}

/// Σ m v and, about the centre of mass, Σ m x × v.
pub(crate) fn momenta(model: &Model, state: &State) -> (DVec3, DVec3) {
    let mass: f64 = model.masses().iter().sum();
    let each = || {
        model
            .masses()
            .iter()
            .zip(&state.positions)
            .zip(&state.velocities)
    };
    let centre = each().map(|((m, x), _)| x.as_dvec3() * *m).sum::<DVec3>() / mass;
    let linear: DVec3 = each().map(|((m, _), v)| v.as_dvec3() * *m).sum();
    let angular = each()
        .map(|((m, x), v)| (x.as_dvec3() - centre).cross(v.as_dvec3()) * *m)
        .sum();
    (linear, angular)
}
