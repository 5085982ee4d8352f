//! Self-contact of the embedded bodies: little penetration is left, held poses come to rest, and tissue far from contacts is not affected.

use supple::embedded::{self, Body};
use supple::sim::ContactMode;
use supple::tissue::SoftBody;
use supple_lab::bench::held::{POSES, hold};
use supple_lab::bench::jump;

const FRAME: f64 = 1.0 / 60.0;

/// Limits: share of the points that are inside without contact, depth relative to the limb.
const LEFT: (f32, f32) = (0.05, 0.02);
/// Largest speed of a held pose \[mm/s\].
const SPEED: f32 = 1.0;

fn poses_do_not_penetrate(which: Body) {
    let character = embedded::body(which).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    let mut missed = Vec::new();
    for (name, until) in POSES {
        let clip = embedded::clip(name, &character).expect("a clip");
        let off = hold(&mut body, &character, &clip, until, ContactMode::Off).expect("a pose");
        let on = hold(&mut body, &character, &clip, until, ContactMode::Global).expect("a pose");
        let (before, after) = (off.inside, on.inside);
        let told = format!(
            "{name}: {before} -> {after} inside, {:.1} mm ({:.1} % of the limb), {:.2} mm/s",
            on.depth_mm,
            on.share * 1e2,
            on.speed
        );
        println!("{told}");
        assert!(before > 20, "the pose touches nothing: {told}");
        let holds = after as f32 <= LEFT.0 * before as f32 && on.share < LEFT.1 && on.speed < SPEED;
        if !holds {
            missed.push(told);
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn the_male_touches_himself() {
    poses_do_not_penetrate(Body::Male);
}

#[test]
fn the_female_touches_herself() {
    poses_do_not_penetrate(Body::Female);
}

/// A body at rest is not searched in every step, and stays at rest.
#[test]
fn a_pose_that_is_held_for_long_stays() {
    let character = embedded::body(Body::Male).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    for (name, until) in [("knee", 0.95), ("arms_crossed", 1.5)] {
        let clip = embedded::clip(name, &character).expect("a clip");
        let first = hold(&mut body, &character, &clip, until, ContactMode::Global).expect("a pose");
        let before = body.state().positions.clone();
        let pose = clip.sample(&character.skeleton, until);
        for _ in 0..120 {
            body.advance(&pose, FRAME).expect("a step");
        }
        let after = body.penetration().expect("a measure").count();
        let moved =
            (body.state().positions.iter().zip(&before)).map(|(a, b)| a.distance_squared(*b));
        let moved = (moved.sum::<f32>() / before.len() as f32).sqrt();
        let told = format!("{name}: {after} inside, {:.3} mm away", 1e3 * moved);
        println!("{told}");
        assert!(after <= first.inside + 1, "{told}");
        assert!(1e3 * moved < 2.0 * SPEED, "{told}");
    }
}

/// Precomputed pairs are enough for folding limbs.
#[test]
fn local_contact_keeps_folds_apart() {
    let character = embedded::body(Body::Male).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    for (name, until) in [("elbow", 1.3), ("knee", 0.95)] {
        let clip = embedded::clip(name, &character).expect("a clip");
        let off = hold(&mut body, &character, &clip, until, ContactMode::Off).expect("a pose");
        let on = hold(&mut body, &character, &clip, until, ContactMode::Local).expect("a pose");
        let (before, after) = (off.inside, on.inside);
        let told = format!(
            "{name}: {before} -> {after} inside, {:.1} mm, {:.2} mm/s",
            on.depth_mm, on.speed
        );
        println!("{told}");
        assert!(before > 20, "the pose touches nothing: {told}");
        assert!(after as f32 <= LEFT.0 * before as f32, "{told}");
        assert!(on.speed < SPEED, "{told}");
    }
    // At rest there are no contacts and no forces.
    let rest = body.flesh().rest_pose();
    body.reset(&rest).expect("rest");
    assert!(body.state().contact.contacts.is_empty());
}

/// Arms stay crossed while the body jumps: legs, head and back move as they do without contact.
#[test]
fn contact_does_not_drag_on_a_jump() {
    let character = embedded::body(Body::Male).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    let drag = jump::drag(&mut body, &character).expect("a jump");
    println!("{:.3} mm far from the touch", drag.largest * 1e3);
    assert!(drag.touching > 20, "the arms are crossed: {drag:?}");
    assert!(drag.compared > 0.5, "most of the body is far: {drag:?}");
    assert!(drag.largest < 1e-3, "{drag:?}");
    assert!(drag.of_motion < 1e-3, "{drag:?}");
}
