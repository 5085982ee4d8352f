//! Pulled flesh gives way, keeps its shape and returns.

use glam::Vec3;
use supple::embedded::{self, Body};
use supple::flesh::settings::Resolution;
use supple::pull::{HAND_RADIUS, Pull};
use supple::{Character, Settings, SoftBody};

const FRAME: f64 = 1.0 / 60.0;
/// How far the hand moves \[m\].
const WAY: f32 = 0.31;

/// Skin points in the file's order that are seen from a side of the body at a height relative to the whole, and the direction
/// they are seen from.
fn places(character: &Character, body: &SoftBody) -> Vec<(String, Vec3, Vec3)> {
    let (low, high) = character.bounds().expect("a body");
    let at = |height: f32| low.y + height * (high.y - low.y);
    let skin = body.positions().concat();
    let sides = [("front", Vec3::Z), ("back", -Vec3::Z), ("flank", Vec3::X)];
    let mut found = Vec::new();
    for (name, side) in sides {
        for height in [0.3, 0.47, 0.6, 0.7] {
            let near = skin.iter().filter(|p| {
                let level = (p.y - at(height)).abs() < 0.02;
                // Not the arms.
                level && p.x.abs() < 0.17
            });
            let outermost = near.max_by(|a, b| a.dot(side).total_cmp(&b.dot(side)));
            if let Some(&p) = outermost {
                found.push((format!("{name} at {height}"), p, side));
            }
        }
    }
    found
}

fn check(which: Body) {
    let character = embedded::body(which).expect("a body");
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(1500);
    let mut body = SoftBody::new(&character, settings).expect("tissue");
    let rest = supple::Pose::rest(&character.skeleton);
    body.place(&rest).expect("a pose");
    let height = character.height();
    for (name, point, side) in places(&character, &body) {
        for way in [side, -side, Vec3::Y, -side.cross(Vec3::Y), 3.0 * side] {
            body.place(&rest).expect("a pose");
            let before = body.positions().concat();
            let inverted = body.quality().inverted;
            let mut pull = Pull::new(&body, point, HAND_RADIUS * height);
            let mut most = 0;
            for frame in 0..60 {
                // The hand arrives after half a second.
                let share = (frame as f32 / 30.0).min(1.0);
                pull.move_to(point + share * WAY * way);
                pull.apply(&mut body);
                body.advance(&rest, FRAME).expect("a frame");
                most = most.max(body.quality().inverted);
            }
            let farthest = |body: &SoftBody| {
                let pairs = body.positions().concat().into_iter().zip(&before);
                pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
            };
            let pulled = farthest(&body);
            body.set_forces(Vec::new());
            for _ in 0..120 {
                body.advance(&rest, FRAME).expect("a frame");
            }
            let left = farthest(&body);
            println!(
                "{which:?} {name} {way}: pulled {:.1} mm, inverted {inverted} -> {most} -> {}, left {:.2} mm worst {:.2}",
                pulled * 1e3,
                body.quality().inverted,
                left * 1e3,
                body.quality().worst
            );
        }
    }
}

#[test]
fn flesh_of_the_male_bears_a_pull() {
    check(Body::Male);
}

#[test]
fn flesh_of_the_female_bears_a_pull() {
    check(Body::Female);
}
