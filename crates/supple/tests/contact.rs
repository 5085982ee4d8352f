//! The embedded bodies touch themselves: nothing stays inside, held poses come to rest, and the rest does not notice.

use glam::Vec3;
use supple::embedded::{self, Body};
use supple::sim::ContactMode;
use supple::sim::contact::Penetration;
use supple::tissue::SoftBody;
use supple::{Character, Clip};

const FRAME: f64 = 1.0 / 60.0;

/// What a held pose has come to.
struct Held {
    penetration: Penetration,
    /// Root mean square over all vertices, one second after the pose was reached \[m/s\].
    speed: f32,
}

/// Plays a clip up to `until`, then holds its pose for a second.
fn hold(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    until: f32,
    mode: ContactMode,
) -> Held {
    body.solver_settings().contact.mode = mode;
    let pose = |time: f32| clip.sample(&character.skeleton, time);
    body.reset(&pose(0.0)).expect("a first pose");
    for frame in 1..=(until * 60.0) as usize {
        body.advance(&pose(frame as f32 / 60.0), FRAME)
            .expect("a step");
    }
    for _ in 0..60 {
        body.advance(&pose(until), FRAME).expect("a step");
    }
    let speeds = body.state().velocities.iter().map(|v| v.length_squared());
    Held {
        speed: (speeds.sum::<f32>() / body.state().velocities.len() as f32).sqrt(),
        penetration: body.penetration().expect("a measure"),
    }
}

/// How much may be left: share of the points that were inside, depth as a share of the limb's, speed \[m/s\].
type Left = (f32, f32, f32);

const NOTHING: Left = (0.05, 0.02, 1e-3);
/// A squat crushes the groins between pelvis and thighs: what is left there hangs on the last bits.
const CRUSHED: Left = (0.08, 0.06, 2e-2);

fn poses_do_not_penetrate(which: Body, poses: &[(&str, f32, Left)]) {
    let character = embedded::body(which).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    for &(name, until, left) in poses {
        let clip = embedded::clip(name, &character).expect("a clip");
        let off = hold(&mut body, &character, &clip, until, ContactMode::Off);
        let on = hold(&mut body, &character, &clip, until, ContactMode::Global);
        let (before, after) = (off.penetration.count(), on.penetration.count());
        let told = format!(
            "{name}: {before} -> {after} inside, {:.1} mm ({:.1} % of the limb), {:.2} mm/s",
            on.penetration.worst() * 1e3,
            on.penetration.worst_share() * 1e2,
            on.speed * 1e3
        );
        println!("{told}");
        assert!(before > 20, "the pose touches nothing: {told}");
        assert!(after as f32 <= left.0 * before as f32, "{told}");
        assert!(on.penetration.worst_share() < left.1, "{told}");
        assert!(on.speed < left.2, "{told}");
    }
}

#[test]
fn the_male_touches_himself() {
    poses_do_not_penetrate(
        Body::Male,
        &[
            ("elbow", 1.3, NOTHING),
            ("knee", 0.95, NOTHING),
            ("sit", 1.5, NOTHING),
            ("arms_crossed", 1.5, NOTHING),
            ("squat", 1.4, CRUSHED),
        ],
    );
}

#[test]
fn the_female_touches_herself() {
    let poses = [("knee", 0.95, NOTHING), ("arms_crossed", 1.5, NOTHING)];
    poses_do_not_penetrate(Body::Female, &poses);
}

/// Pairs that are known beforehand are enough for limbs that fold.
#[test]
fn local_contact_keeps_folds_apart() {
    let character = embedded::body(Body::Male).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    for (name, until) in [("elbow", 1.3), ("knee", 0.95)] {
        let clip = embedded::clip(name, &character).expect("a clip");
        let off = hold(&mut body, &character, &clip, until, ContactMode::Off);
        let on = hold(&mut body, &character, &clip, until, ContactMode::Local);
        let (before, after) = (off.penetration.count(), on.penetration.count());
        let told = format!(
            "{name}: {before} -> {after} inside, {:.1} mm, {:.2} mm/s",
            on.penetration.worst() * 1e3,
            on.speed * 1e3
        );
        println!("{told}");
        assert!(before > 20, "the pose touches nothing: {told}");
        assert!(after as f32 <= NOTHING.0 * before as f32, "{told}");
        assert!(on.speed < NOTHING.2, "{told}");
    }
    // At rest nothing touches, and nothing is pushed.
    let rest = body.flesh().rest_pose();
    body.reset(&rest).expect("rest");
    assert!(body.state().contact.contacts.is_empty());
}

/// Arms stay crossed while the body jumps: legs, head and back move as they do without contact.
#[test]
fn contact_does_not_drag_on_a_jump() {
    let character = embedded::body(Body::Male).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    let crossed = embedded::clip("arms_crossed", &character).expect("a clip");
    let mut play = |mode: ContactMode| -> Vec<Vec<Vec3>> {
        let clip = &crossed;
        let start = clip.sample(&character.skeleton, 1.4);
        body.solver_settings().contact.mode = mode;
        body.reset(&start).expect("a first pose");
        let root = character
            .skeleton
            .joints()
            .iter()
            .position(|joint| joint.parent.is_none());
        let root = root.expect("a root");
        let mut frames = Vec::new();
        for frame in 1..=60 {
            // A ballistic hop of 20 cm between two rests.
            let t = (frame as f32 / 60.0 - 0.2).clamp(0.0, 0.4);
            let mut pose = start.clone();
            pose.locals[root].translation.y += 0.5 * 9.81 * t * (0.4 - t);
            body.advance(&pose, FRAME).expect("a step");
            frames.push(body.state().positions.clone());
        }
        frames
    };
    let (off, on) = (play(ContactMode::Off), play(ContactMode::Global));
    let rest = body.flesh().model.rest_free();
    let mut far = 0.0_f32;
    for (off, on) in off.iter().zip(&on) {
        for ((a, b), rest) in off.iter().zip(on).zip(rest) {
            // In the T-pose of the file, legs and feet are below a metre.
            if rest.y < 0.9 {
                far = far.max(a.distance(*b));
            }
        }
    }
    assert!(far < 1e-3, "{} mm far from the touch", far * 1e3);
}
