//! The embedded bodies touch themselves: nothing stays inside, held poses come to rest, and the rest does not notice.

use glam::Vec3;
use supple::embedded::{self, Body};
use supple::sim::ContactMode;
use supple::sim::contact::{Penetration, Source};
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

/// How much may be left: share of the points that were inside, depth as a share of the limb's.
type Left = (f32, f32);

const NOTHING: Left = (0.05, 0.02);
/// A squat crushes the groins between pelvis and thighs: what is left there hangs on the last bits.
const CRUSHED: Left = (0.05, 0.06);
/// Speed of a held pose \[m/s\].
const SPEED: f32 = 1e-3;
/// Clips, the moment of each that is held \[s\], and what may be left.
const POSES: [(&str, f32, Left); 5] = [
    ("elbow", 1.3, NOTHING),
    ("knee", 0.95, NOTHING),
    ("sit", 1.5, NOTHING),
    ("arms_crossed", 1.5, NOTHING),
    ("squat", 1.4, CRUSHED),
];

fn poses_do_not_penetrate(which: Body) {
    let character = embedded::body(which).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    let mut missed = Vec::new();
    for (name, until, left) in POSES {
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
        let holds = after as f32 <= left.0 * before as f32
            && on.penetration.worst_share() < left.1
            && on.speed < SPEED;
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

/// What rests is not searched in every step, and goes on resting.
#[test]
fn a_pose_that_is_held_for_long_stays() {
    let character = embedded::body(Body::Male).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    for (name, until) in [("knee", 0.95), ("arms_crossed", 1.5)] {
        let clip = embedded::clip(name, &character).expect("a clip");
        let first = hold(&mut body, &character, &clip, until, ContactMode::Global);
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
        assert!(after <= first.penetration.count() + 1, "{told}");
        assert!(moved < 2.0 * SPEED, "{told}");
    }
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
        assert!(on.speed < SPEED, "{told}");
    }
    // At rest nothing touches, and nothing is pushed.
    let rest = body.flesh().rest_pose();
    body.reset(&rest).expect("rest");
    assert!(body.state().contact.contacts.is_empty());
}

/// From all that touches \[m\].
const FAR: f32 = 0.15;

/// Arms stay crossed while the body jumps: legs, head and back move as they do without contact.
#[test]
fn contact_does_not_drag_on_a_jump() {
    let character = embedded::body(Body::Male).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    let crossed = embedded::clip("arms_crossed", &character).expect("a clip");
    let mut play = |mode: ContactMode| -> Vec<(Vec<Vec3>, Vec<usize>)> {
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
            let contacts = body.state().contact.contacts.iter();
            let touching = contacts.map(|contact| contact.point as usize).collect();
            frames.push((body.state().positions.clone(), touching));
        }
        frames
    };
    let (off, on) = (play(ContactMode::Off), play(ContactMode::Global));
    let surface = body.flesh().model.contact_surface().expect("a surface");
    let vertex = |point: usize| match surface.input().sources[point] {
        Source::Vertex(v) => v as usize,
        Source::Outside(_) => usize::MAX,
    };
    let (mut far, mut compared) = (0.0_f32, 0);
    for ((off, _), (on, touching)) in off.iter().zip(&on) {
        assert!(touching.len() > 20, "the arms are crossed");
        let touches = touching.iter().filter_map(|&point| on.get(vertex(point)));
        let touches: Vec<Vec3> = touches.copied().collect();
        for (a, b) in off.iter().zip(on) {
            if touches.iter().all(|touch| touch.distance(*b) > FAR) {
                far = far.max(a.distance(*b));
                compared += 1;
            }
        }
    }
    assert!(
        2 * compared > off.len() * off[0].0.len(),
        "most of the body is far"
    );
    println!("{:.3} mm far from the touch", far * 1e3);
    assert!(far < 1e-3, "{} mm far from the touch", far * 1e3);
}
