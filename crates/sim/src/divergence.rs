//! Notices tissue that has come away from its bones.
//!
//! Whatever goes wrong in a step, it ends with vertices that are not finite, far from their bones, or about to be. A frame
//! that ends so is an error, never a picture.

use glam::Vec3;

use crate::model::NO_CARRIER;
use crate::{Mode, Model, Settings, SolveError, State};

/// Distance from its [carrier](Model::carriers), beyond that at rest, at which a vertex has come away \[sizes\]. Flesh that is
/// pulled or thrown about stays within half of it.
pub const MAX_AWAY: f32 = 2.0;

/// Checks a state at the end of a frame: every vertex is finite and near its carrier, and will be after another step at its
/// velocity. Vertices without a carrier only have to be finite.
pub fn check_state(model: &Model, settings: &Settings, state: &State) -> Result<(), SolveError> {
    let size = size(model);
    let seconds = match settings.mode {
        Mode::Dynamic => settings.step as f32,
        Mode::Static => 0.0,
    };
    let vertices = state.positions.iter().zip(&state.velocities);
    for (v, (&at, &velocity)) in vertices.enumerate() {
        if !(at + velocity).is_finite() {
            return Err(SolveError::Diverged {
                vertex: v,
                distance: f32::INFINITY,
            });
        }
        let carrier = model.carriers()[v];
        if carrier == NO_CARRIER {
            continue;
        }
        let k = carrier as usize;
        let (bone, before) = (state.fixed[k], state.fixed_previous[k]);
        let rest = model.rest_free()[v].distance(model.rest_fixed()[k]);
        let next = at + velocity * seconds - (bone - before);
        let distance = at.distance(bone).max(next.distance(bone));
        if distance > rest + MAX_AWAY * size {
            return Err(SolveError::Diverged {
                vertex: v,
                distance,
            });
        }
    }
    Ok(())
}

/// Longest side of the box around the model at rest \[m\].
fn size(model: &Model) -> f32 {
    let points = model.rest_free().iter().chain(model.rest_fixed());
    let (low, high) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
        (low.min(p), high.max(p))
    });
    (high - low).max_element().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::some_pads;

    #[test]
    fn a_vertex_that_flies_away_is_an_error() {
        let model = some_pads(1);
        let settings = Settings::default();
        let held = (0..model.free_count()).find(|&v| model.carriers()[v] != NO_CARRIER);
        let v = held.expect("a vertex on a bone");
        let check = |change: &dyn Fn(&mut State)| {
            let mut state = State::at_rest(&model);
            change(&mut state);
            check_state(&model, &settings, &state)
        };
        let far = 3.0 * size(&model);
        assert_eq!(check(&|_| ()), Ok(()));
        assert_eq!(check(&|state| state.positions[v].x += 0.3 * far), Ok(()));
        let errors = [
            check(&|state| state.positions[v].x += far),
            check(&|state| state.velocities[v].y += 60.0 * far),
            check(&|state| state.positions[v].z = f32::NAN),
            check(&|state| state.velocities[v].z = f32::INFINITY),
        ];
        for error in errors {
            assert!(
                matches!(error, Err(SolveError::Diverged { vertex, .. }) if vertex == v),
                "{error:?}"
            );
        }
        // Carried along with its bone it has not moved.
        let carried = check(&|state| {
            let moved = |list: &mut Vec<Vec3>| list.iter_mut().for_each(|p| p.x += 10.0 * far);
            moved(&mut state.positions);
            moved(&mut state.fixed);
            moved(&mut state.fixed_previous);
        });
        assert_eq!(carried, Ok(()));
    }
}
