//! Bounds on how far contact moves skin.
//!
//! Where bones press deep into flesh, forces are large, and so is their friction: thick arms that cross before a belly
//! would wind it around the body. Friction therefore fades as the skin is dragged away from where its bone carries it.
//!
//! Where limbs overlap by more than their thickness, there is no room for the flesh between the bones. Each contact would push it
//! on, and squeeze single points out of the limb as spikes. So the largest normal force fades too, as skin is pushed by more than
//! the thickness of its tissue.

use super::moment::Moment;
use super::tangle::carried;
use super::{Contact, ContactSurface, rules};
use crate::{Model, Targets};

/// Factors on the forces of a contact, each one, and less where the skin of either side is moved far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// On the friction.
    pub grip: f32,
    /// On the largest normal force.
    pub push: f32,
}

impl Hold {
    /// Forces of skin that is where its bone carries it.
    pub const FULL: Self = Self {
        grip: 1.0,
        push: 1.0,
    };
}

/// How well a contact holds: friction by the distance along the skin, the normal force by the distance it has pushed.
pub fn hold(
    model: &Model,
    surface: &ContactSurface,
    targets: &Targets,
    now: &Moment,
    contact: &Contact,
) -> Hold {
    let (mut dragged, mut moved) = (0.0_f32, 0.0_f32);
    let foot = nearest_corner(surface, contact);
    for (point, away) in [(contact.point, contact.normal), (foot, -contact.normal)] {
        let source = surface.input.sources[point as usize];
        if let Some(carried) = carried(model, targets, source) {
            let apart = now.position(source) - carried.place;
            let along = apart - contact.normal * apart.dot(contact.normal);
            dragged = dragged.max(along.length() / surface.size());
            moved = moved.max(apart.dot(away) / surface.thickness(point));
        }
    }
    let fade = |far: f32, start: f32, end: f32| {
        // NaN, of a surface without size, counts as moved far.
        ((end - far) / (end - start)).clamp(0.0, 1.0).max(0.0)
    };
    Hold {
        grip: fade(dragged, rules::DRAG_START, rules::DRAG_END),
        push: fade(moved, rules::MOVE_START, rules::MOVE_END),
    }
}

/// The corner with the largest weight at the foot.
fn nearest_corner(surface: &ContactSurface, contact: &Contact) -> u32 {
    let [a, b, c] = surface.triangles()[contact.triangle as usize];
    let [u, v, w] = contact.weights;
    if u >= v && u >= w {
        a
    } else if v >= w {
        b
    } else {
        c
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::State;
    use crate::conformance::some_pads;

    /// Forces hold on skin that is carried along. Friction fades as the skin is dragged over its bone, and the normal force as it
    /// is moved by more than its thickness.
    #[test]
    fn skin_that_is_moved_far_slips_and_is_let_go() {
        let model = some_pads(1);
        let surface = model.contact_surface().expect("surface");
        let targets = model.rest_targets();
        let contact = Contact {
            point: 0,
            triangle: 0,
            weights: [1.0, 0.0, 0.0],
            normal: Vec3::Y,
            force: Vec3::Y,
            distance: 0.0,
        };
        let held = |by: Vec3| {
            let mut state = State::at_rest(&model);
            for position in &mut state.positions {
                *position += by;
            }
            let now = Moment::now(&model, &state.positions, &targets);
            hold(&model, surface, &targets, &now, &contact)
        };
        assert_eq!(held(Vec3::ZERO), Hold::FULL);
        let grip = |drag: f32| held(Vec3::X * drag * surface.size()).grip;
        assert_eq!(grip(0.5 * rules::DRAG_START), 1.0);
        let half = grip(0.5 * (rules::DRAG_START + rules::DRAG_END));
        assert!((half - 0.5).abs() < 1e-3, "{half}");
        assert_eq!(grip(1.1 * rules::DRAG_END), 0.0);
        // Pressed skin is not dragged.
        assert_eq!(held(Vec3::NEG_Y * 0.9 * surface.size()).grip, 1.0);
        let thickness = [0, surface.triangles()[0][0]].map(|point| surface.thickness(point));
        let thinnest = thickness[0].min(thickness[1]);
        // The foot is pushed against the normal.
        let push = |by: f32| held(Vec3::NEG_Y * by * thinnest).push;
        assert_eq!(push(0.9 * rules::MOVE_START), 1.0);
        let half = push(0.5 * (rules::MOVE_START + rules::MOVE_END));
        assert!((half - 0.5).abs() < 1e-3, "{half}");
        assert_eq!(push(1.1 * rules::MOVE_END), 0.0);
    }
}
