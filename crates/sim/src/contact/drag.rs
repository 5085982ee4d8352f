//! A bound on how far friction drags skin.
//!
//! Where bones press deep into flesh, forces are large, and so is their friction: thick arms that cross before a belly
//! would wind it around the body. Friction therefore fades as the skin is dragged away from where its bone carries it.

use glam::Vec3;

use super::solver::Moment;
use super::tangle::carried;
use super::{Contact, ContactSurface, rules};
use crate::{Model, Targets};

/// Factor of friction at a contact: one, and less where the skin of either side is dragged far.
pub fn grip(
    model: &Model,
    surface: &ContactSurface,
    targets: &Targets,
    now: &Moment,
    contact: &Contact,
) -> f32 {
    let dragged = |point: u32| {
        let v = point as usize;
        let source = surface.input.sources[v];
        let apart = match carried(model, targets, source) {
            Some(carried) => now.position(source) - carried.place,
            None => Vec3::ZERO,
        };
        let along = apart - contact.normal * apart.dot(contact.normal);
        along.length() / surface.size()
    };
    let foot = nearest_corner(surface, contact);
    let far = dragged(contact.point).max(dragged(foot));
    let (start, end) = (rules::DRAG_START, rules::DRAG_END);
    // NaN, of a surface without size, counts as dragged far.
    ((end - far) / (end - start)).clamp(0.0, 1.0).max(0.0)
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
    use super::*;
    use crate::State;
    use crate::conformance::some_pads;

    /// Friction of skin that is carried along holds; it fades as the skin is dragged over its bone.
    #[test]
    fn dragged_skin_slips() {
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
        let grip_at = |drag: Vec3| {
            let mut state = State::at_rest(&model);
            for position in &mut state.positions {
                *position += drag * surface.size();
            }
            let now = Moment::now(&model, &state.positions, &targets);
            grip(&model, surface, &targets, &now, &contact)
        };
        assert_eq!(grip_at(Vec3::ZERO), 1.0);
        assert_eq!(grip_at(Vec3::X * 0.5 * rules::DRAG_START), 1.0);
        let half = grip_at(Vec3::X * 0.5 * (rules::DRAG_START + rules::DRAG_END));
        assert!((half - 0.5).abs() < 1e-3, "{half}");
        assert_eq!(grip_at(Vec3::X * 1.1 * rules::DRAG_END), 0.0);
        // Pressed skin is not dragged.
        assert_eq!(grip_at(Vec3::NEG_Y * 0.9), 1.0);
    }
}
