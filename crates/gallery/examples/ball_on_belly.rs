//! A ball dropped on the belly of a body that lies on its back.

mod common;

use common::touch::{self, Painter, Shot};
use supple::embedded::{Body, body};
use supple::flesh::settings::ContactMode;
use supple::glam::{Quat, Vec3, vec3};
use supple::scene::placed_pose;
use supple::sim::Collider;
use supple::sim::contact::{Placement, Shape};
use supple::tissue::SoftBody;

const RADIUS: f32 = 0.09;
/// Mass of the ball [kg].
const MASS: f32 = 3.0;
/// Height of the fall [m].
const FALL: f32 = 0.25;
const STEP: f64 = 1.0 / 60.0;
const SIZE: (usize, usize) = (300, 320);

fn main() {
    let character = body(Body::Male).unwrap();
    let flesh = touch::touching(&character, ContactMode::Global);
    let on_the_back = Placement {
        rotation: Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        translation: Vec3::ZERO,
    };
    let pose = placed_pose(&character.skeleton, &flesh.rest_pose(), &on_the_back);
    let mut soft = SoftBody::from_flesh(flesh).unwrap();
    soft.place(&pose).unwrap();
    let rest = Shot::of(&soft);
    let worlds = pose.worlds(&character.skeleton);
    let root = Vec3::from(worlds[character.skeleton.find("root").unwrap()].translation);
    let over = |p: &&Vec3| (p.x - root.x).abs() < 0.03 && (p.z - root.z + 0.12).abs() < 0.05;
    let belly = (rest.simulated.iter().filter(over))
        .fold(root, |top, p| if p.y > top.y { *p } else { top });
    let start = Placement::at(belly + Vec3::Y * (RADIUS + FALL));
    let shape = Shape::Sphere { radius: RADIUS };
    let ball = Collider::falling(shape, start, MASS);
    soft.set_colliders(vec![ball.into()]);

    let mut heights = Vec::new();
    let (mut lowest, mut deepest, mut pressed) = (f32::INFINITY, 0.0, Shot::of(&soft));
    let mut shown = soft.colliders_now();
    for _ in 0..150 {
        soft.advance(&pose, STEP).unwrap();
        let now = soft.colliders_now();
        let centre = now[0].placement.translation;
        heights.push(centre.y - RADIUS - belly.y);
        if centre.y < lowest {
            (lowest, pressed, shown) = (centre.y, Shot::of(&soft), now.clone());
        }
        let inside =
            supple::sim::contact::measure_in_colliders(&soft.simulated_skin().unwrap(), &now);
        deepest = f32::max(deepest, inside.worst());
    }
    let caught = soft.colliders_now();
    let weight: f32 = (soft.state().contact.external.iter())
        .map(|c| -c.force.y)
        .sum();
    let resting = Shot::of(&soft);
    let speed = soft.state().contact.colliders[0].velocity.length();
    soft.set_colliders(Vec::new());
    for _ in 0..90 {
        soft.advance(&pose, STEP).unwrap();
    }
    let after = Shot::of(&soft);
    let left = after.farthest(&rest);
    let dent = heights.iter().copied().fold(0.0, f32::min);
    println!(
        "largest dent {:.0} mm; at rest {:.0} mm deep at {:.0} mm/s; the belly supports {weight:.1} N of {:.1} N",
        -1e3 * dent,
        -1e3 * heights[heights.len() - 1],
        1e3 * speed,
        9.81 * MASS
    );
    println!(
        "largest penetration {:.1} mm; {:.2} mm from rest after the ball is removed",
        1e3 * deepest,
        1e3 * left
    );

    let corners = [belly - vec3(0.36, 0.22, 0.3), belly + vec3(0.36, 0.44, 0.3)];
    let camera = common::view_in(SIZE, &corners, vec3(0.5, 0.45, 1.0));
    let painter = Painter::new(&character, soft.flesh());
    let falling = Collider::driven(Shape::Sphere { radius: RADIUS }, start);
    let tiles = [
        (&rest, vec![falling], "it falls".to_owned()),
        (&pressed, shown, format!("{:.0} mm deep", -1e3 * dent)),
        (&resting, caught, format!("it lies: {weight:.0} N")),
        (
            &after,
            Vec::new(),
            format!("gone: {:.1} mm left", 1e3 * left),
        ),
    ]
    .map(|(skin, balls, caption)| {
        let mut meshes = painter.moved(skin, &rest, 0.05);
        meshes.extend(touch::things(&balls));
        (common::tile_in(SIZE, meshes, vec![], &camera), caption)
    });
    common::save(
        "ball_on_belly",
        &common::sheet("A ball of 3 kg dropped on a belly", &tiles, 4),
    );
    assert!(dent < -0.02, "the belly hardly gives way: {dent} m");
    assert!(lowest - RADIUS > root.y, "the ball reaches the bones");
    assert!(deepest < 0.008, "penetration of {deepest} m");
    assert!(speed < 0.05, "the ball does not come to rest: {speed} m/s");
    assert!(
        (weight - 9.81 * MASS).abs() < 0.15 * 9.81 * MASS,
        "{weight} N"
    );
    assert!(left < 0.001, "the belly does not return to rest: {left} m");
}
