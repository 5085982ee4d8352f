//! Contacts of free spheres with driven colliders, so that a ball that rolls off a belly lands on the floor.

use super::collide::FIRST_COLLIDER;
use super::collider::{Collider, Placed};
use super::collider_shapes::Shape;
use super::external::External;
use super::rows::NONE;
use glam::Vec3;

/// Marks contacts between two colliders among those without free vertices.
const LANDED: u32 = 2;

/// Appends a contact for every free sphere that may touch a driven collider in this step. Other free shapes fall
/// through.
pub fn land(colliders: &[Collider], placed: &[Placed], found: &mut Vec<External>) {
    for (i, (ball, ball_at)) in colliders.iter().zip(placed).enumerate() {
        let Shape::Sphere { radius } = ball.shape else {
            continue;
        };
        if ball_at.compliance == 0.0 {
            continue;
        }
        for (j, (other, other_at)) in colliders.iter().zip(placed).enumerate() {
            if other_at.compliance == 0.0 {
                let contact = landed(&other.shape, other_at, ball_at, radius);
                found.extend(contact.map(|contact| External {
                    vertices: [NONE, j as u32, LANDED],
                    friction: ball.friction.min(other.friction),
                    body: FIRST_COLLIDER + i as u32,
                    ..contact
                }));
            }
        }
    }
}

fn landed(shape: &Shape, other: &Placed, ball: &Placed, radius: f32) -> Option<External> {
    let (from, to) = (ball.before.translation, ball.now.translation);
    let reach = radius + from.distance(to);
    // Tested from its previous position: a fast ball may be past the collider by now.
    let near = shape.nearest(other.before.local(from), Vec3::Y, reach)?;
    let out = other.now.rotation * near.normal;
    let (then, now) = (other.before.point(near.foot), other.now.point(near.foot));
    Some(External {
        weights: [0.0; 3],
        normal: -out,
        foot: to - out * radius - now,
        foot_before: from - out * radius - then,
        ..External::vertex(NONE, -out, Vec3::ZERO)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::some_pads;
    use crate::contact::Placement;
    use crate::{Backend, CpuBackend, Settings, State, Targets};

    #[test]
    fn a_ball_lies_on_the_floor_and_on_a_box() {
        let model = some_pads(1);
        let half = Vec3::new(0.2, 0.1, 0.2);
        let aside = |height: f32| Placement::at(Vec3::new(1.0, height, 0.0));
        let ball = |x: f32| {
            let place = Placement::at(Vec3::new(x, 0.5, 0.0));
            Collider::falling(Shape::Sphere { radius: 0.05 }, place, 1.0)
        };
        let targets = Targets {
            colliders: vec![
                Collider::ground(-0.3),
                Collider::driven(Shape::Box { half }, aside(-0.1)),
                ball(1.0),
                ball(2.0),
            ],
            ..model.rest_targets()
        };
        let mut state = State::at_rest(&model);
        let mut backend = CpuBackend::new();
        for _ in 0..120 {
            backend
                .step(&model, &Settings::default(), &targets, &mut state)
                .expect("a step");
        }
        for (collider, height) in [(2, 0.05), (3, -0.25)] {
            let now = state.contact.colliders[collider];
            assert!(
                (now.placement.translation.y - height).abs() < 0.002,
                "{now:?}"
            );
            assert!(now.velocity.length() < 0.01, "{now:?}");
        }
    }
}
