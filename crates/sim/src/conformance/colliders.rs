//! Colliders: a pad of tissue that things press, rub, fall on and fly at.

use std::sync::Arc;

use glam::{Affine3A, Quat, Vec3};
use supple_geom::TriMesh;
use supple_geom::shapes::{cuboid, plane_grid};

use super::contact::{EDGE, LAYER, THICKNESS, middle, settings, some_pads};
use super::{Precision, deviation, run};
use crate::contact::{Collider, ColliderMesh, Motion, Placement, Shape};
use crate::{Backend, Model, SolveError, State, Targets};

/// Over the middle of the pad, at a height \[m\].
fn over(height: f32) -> Placement {
    Placement::at(Vec3::new(3.0 * EDGE, height, 3.0 * EDGE))
}

fn with(model: &Model, colliders: Vec<Collider>) -> Targets {
    Targets {
        colliders,
        ..model.rest_targets()
    }
}

/// Distance of the deepest skin point from a shape \[m\].
fn clearance(model: &Model, state: &State, shape: &Shape, placement: &Placement) -> f32 {
    let skin = &model.caller_positions(state)[LAYER..];
    skin.iter()
        .filter_map(|&p| shape.nearest(placement.local(p), Vec3::Y, 1.0))
        .fold(f32::INFINITY, |least, near| least.min(near.distance))
}

/// Shapes, and the height of their origin above their lowest point.
fn presses() -> Vec<(&'static str, Shape, Quat, f32)> {
    let half = Vec3::new(0.03, 0.02, 0.03);
    let lying = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    let mesh = |mesh: &TriMesh| Shape::Mesh(Arc::new(ColliderMesh::new(mesh)));
    vec![
        (
            "plane",
            Shape::Plane,
            Quat::from_rotation_x(std::f32::consts::PI),
            0.0,
        ),
        (
            "sphere",
            Shape::Sphere { radius: 0.04 },
            Quat::IDENTITY,
            0.04,
        ),
        (
            "capsule",
            Shape::Capsule {
                radius: 0.03,
                length: 0.06,
            },
            lying,
            0.03,
        ),
        ("box", Shape::Box { half }, Quat::IDENTITY, 0.02),
        (
            "closed mesh",
            mesh(&cuboid(2.0 * half, 4)),
            Quat::IDENTITY,
            0.02,
        ),
        (
            "open mesh",
            mesh(&plane_grid(glam::Vec2::splat(0.2), 4, 4)),
            Quat::from_rotation_x(std::f32::consts::PI),
            0.0,
        ),
    ]
}

/// Every shape presses a third of the pad together, leaves nothing inside itself, and leaves the pad as it was.
pub fn colliders_press_and_part(backend: &mut dyn Backend, _: Precision) {
    let (model, settings) = (some_pads(1), settings(0.5));
    if !backend.supports(&model, &settings) {
        return;
    }
    for (name, shape, rotation, low) in presses() {
        let mut state = State::at_rest(&model);
        let at = |depth: f32| Placement {
            rotation,
            ..over(THICKNESS + low - depth)
        };
        let placed = |depth: f32| with(&model, vec![Collider::driven(shape.clone(), at(depth))]);
        let depth = THICKNESS / 3.0;
        for step in 1..=20 {
            let targets = placed(depth * step as f32 / 20.0);
            run(backend, &model, &settings, &targets, &mut state, 1);
        }
        let report = run(backend, &model, &settings, &placed(depth), &mut state, 60);
        assert!(report.contact.pressing > 0, "{name}: {report:?}");
        let left = clearance(&model, &state, &shape, &at(depth));
        assert!(left > -0.02 * THICKNESS, "{name}: {left} m");
        assert!(left < 0.1 * EDGE, "{name} touches: {left} m");
        let speed = state.velocities.iter().map(|v| v.length());
        let speed = speed.fold(0.0, f32::max);
        assert!(speed < 1e-3, "{name} held still: {speed} m/s");
        let rest = model.rest_targets();
        run(backend, &model, &settings, &rest, &mut state, 240);
        let away = deviation(&model, &state, Affine3A::IDENTITY);
        assert!(away < 1e-4, "{name} sticks: {away} m");
    }
}

/// A box that is moved along the pad takes it along by friction, and does not without.
pub fn colliders_rub(backend: &mut dyn Backend, _: Precision) {
    let (model, settings) = (some_pads(1), settings(0.5));
    if !backend.supports(&model, &settings) {
        return;
    }
    let mut dragged = |friction: f32| {
        let mut state = State::at_rest(&model);
        let along = |x: f32| {
            let mut placement = over(0.7 * THICKNESS + 0.02);
            placement.translation.x += x;
            let half = Vec3::new(0.1, 0.02, 0.1);
            let mut slab = Collider::driven(Shape::Box { half }, placement);
            slab.friction = friction;
            with(&model, vec![slab])
        };
        run(backend, &model, &settings, &along(0.0), &mut state, 60);
        let before = middle(&model, &state, 0).x;
        for step in 1..=10 {
            let targets = along(0.0004 * step as f32);
            run(backend, &model, &settings, &targets, &mut state, 1);
        }
        run(backend, &model, &settings, &along(0.004), &mut state, 30);
        middle(&model, &state, 0).x - before
    };
    let (smooth, rough) = (dragged(0.0), dragged(2.0));
    assert!(smooth.abs() < 2e-4, "without friction {smooth} m");
    assert!((rough - 0.004).abs() < 4e-4, "with friction {rough} m");
}

/// A ball dropped on the pad comes to rest there, and the pad carries its weight.
pub fn a_ball_falls_and_rests(backend: &mut dyn Backend, _: Precision) {
    let (model, settings) = (some_pads(1), settings(0.5));
    if !backend.supports(&model, &settings) {
        return;
    }
    let (mass, radius) = (0.2, 0.04);
    let ball = Collider::falling(
        Shape::Sphere { radius },
        over(THICKNESS + radius + 0.02),
        mass,
    );
    let targets = with(&model, vec![ball.clone()]);
    let mut state = State::at_rest(&model);
    run(backend, &model, &settings, &targets, &mut state, 300);
    let after = state.contact.colliders[0];
    assert!(after.velocity.length() < 1e-3, "rests: {after:?}");
    let weight: f32 = state.contact.external.iter().map(|c| -c.force.y).sum();
    let expected = mass * 9.81;
    assert!(
        (weight - expected).abs() < 0.02 * expected,
        "carries {weight} N of {expected} N"
    );
    let left = clearance(&model, &state, &ball.shape, &after.placement);
    assert!(left > -0.02 * THICKNESS, "{left} m");
}

/// Balls that cross the whole pad in one step are stopped by it.
pub fn fast_balls_do_not_pass(backend: &mut dyn Backend, _: Precision) {
    let (model, settings) = (some_pads(1), settings(0.5));
    if !backend.supports(&model, &settings) {
        return;
    }
    for (speed, mass) in [(5.0, 0.05), (20.0, 0.05), (20.0, 0.01), (60.0, 0.005)] {
        let mut ball = Collider::falling(Shape::Sphere { radius: 0.03 }, over(0.4), mass);
        ball.motion = Motion::Free {
            mass,
            velocity: Vec3::NEG_Y * speed,
            acceleration: Vec3::ZERO,
        };
        let targets = with(&model, vec![ball]);
        let mut state = State::at_rest(&model);
        let mut lowest = f32::INFINITY;
        for _ in 0..60 {
            run(backend, &model, &settings, &targets, &mut state, 1);
            lowest = lowest.min(state.contact.colliders[0].placement.translation.y);
            assert!(state.is_finite());
        }
        // Its centre never gets below the pad's own skin.
        assert!(lowest > 0.0, "{speed} m/s: centre at {lowest} m");
        let velocity = state.contact.colliders[0].velocity.y;
        assert!(
            velocity > -1e-3,
            "{speed} m/s: still falls with {velocity} m/s"
        );
    }
}

/// What makes no sense is refused, what is only odd does no harm, and all is well once it is gone.
pub fn odd_colliders_do_no_harm(backend: &mut dyn Backend, _: Precision) {
    let (model, settings) = (some_pads(1), settings(0.5));
    if !backend.supports(&model, &settings) {
        return;
    }
    let mut state = State::at_rest(&model);
    let ball = |radius: f32, height: f32| Collider::driven(Shape::Sphere { radius }, over(height));
    for bad in [ball(f32::NAN, 0.1), ball(0.1, f32::NAN), ball(-0.1, 0.0)] {
        let refused = backend.step(&model, &settings, &with(&model, vec![bad]), &mut state);
        let is_named = matches!(
            refused,
            Err(SolveError::NotFinite {
                list: "colliders",
                index: 0
            })
        );
        assert!(is_named, "{refused:?}");
    }
    let empty = Shape::Mesh(Arc::new(ColliderMesh::new(&TriMesh::default())));
    let odd = [
        vec![ball(0.0, THICKNESS)],
        vec![ball(1.0, 0.0)],
        vec![Collider::ground(0.5)],
        vec![Collider::driven(empty, over(0.0))],
        vec![ball(0.02, THICKNESS), ball(0.02, THICKNESS)],
        vec![Collider::ground(THICKNESS * 0.5), ball(0.1, 0.1)],
    ];
    for colliders in odd {
        let targets = with(&model, colliders);
        for _ in 0..30 {
            run(backend, &model, &settings, &targets, &mut state, 1);
            let away = deviation(&model, &state, Affine3A::IDENTITY);
            assert!(away < 0.1, "bounded: {away} m");
        }
        // One that jumps from side to side.
        run(
            backend,
            &model,
            &settings,
            &with(&model, vec![ball(0.05, -0.3)]),
            &mut state,
            1,
        );
        run(
            backend,
            &model,
            &settings,
            &with(&model, vec![ball(0.05, 0.3)]),
            &mut state,
            1,
        );
        let rest = model.rest_targets();
        run(backend, &model, &settings, &rest, &mut state, 240);
        let away = deviation(&model, &state, Affine3A::IDENTITY);
        assert!(away < 1e-4, "recovers: {away} m");
    }
}
