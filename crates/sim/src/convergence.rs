//! Distance of a step from its converged solution.

use crate::{Backend, Model, Settings, SolveError, State, Targets};

/// Iterations after which a step counts as converged.
const CONVERGED_ITERATIONS: u32 = 1_000;

/// RMS distance over the free vertices between one step with [`Settings::iterations`] and the converged step \[m\], and the
/// same relative to the RMS motion of the converged step. `state` is not changed.
pub fn distance_to_converged(
    backend: &mut dyn Backend,
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    state: &State,
) -> Result<(f64, f64), SolveError> {
    let mut step = |iterations: u32| {
        let mut state = state.clone();
        let settings = Settings {
            iterations,
            trace_energy: false,
            ..settings.clone()
        };
        backend
            .step(model, &settings, targets, &mut state)
            .map(|_| state)
    };
    let (given, converged) = (step(settings.iterations)?, step(CONVERGED_ITERATIONS)?);
    let left = root_mean_square(&given, &converged);
    let way = root_mean_square(state, &converged);
    Ok((left, if way > 0.0 { left / way } else { 0.0 }))
}

fn root_mean_square(a: &State, b: &State) -> f64 {
    let pairs = a.positions.iter().zip(&b.positions);
    let sum: f64 = pairs.map(|(a, b)| f64::from(a.distance_squared(*b))).sum();
    (sum / a.positions.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use glam::{Affine3A, Quat};

    use super::*;
    use crate::Reference;
    use crate::conformance::{moved_targets, tissue};

    #[test]
    fn more_iterations_leave_a_smaller_error() {
        let model = tissue();
        let targets = moved_targets(&model, Affine3A::from_quat(Quat::from_rotation_x(0.5)));
        let state = State::at_rest(&model);
        let mut backend = Reference::new();
        let mut share = |iterations: u32| {
            let settings = Settings {
                iterations,
                ..Settings::default()
            };
            distance_to_converged(&mut backend, &model, &settings, &targets, &state)
                .unwrap()
                .1
        };
        let found = [share(1), share(10), share(100)];
        assert!(found[0] > found[1] && found[1] > found[2], "{found:?}");
        assert!(found[1] < 0.01, "{found:?}");
        println!("left after 1, 10, 100 iterations: {found:?}");
    }
}
