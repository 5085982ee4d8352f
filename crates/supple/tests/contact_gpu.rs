//! The embedded body touches itself on the graphics processor: within the limits that the processor is held to.
#![cfg(feature = "gpu")]

use supple::embedded::{self, Body};
use supple::gpu::{Gpu, GpuBackend, Options};
use supple::sim::{ContactMode, CpuBackend};
use supple::tissue::SoftBody;
use supple::{Character, Clip};

const FRAME: f64 = 1.0 / 60.0;
/// Share of the points that were inside that may be left.
const LEFT: f32 = 0.05;
/// Depth that may be left, as a share of the limb's.
const DEPTH: f32 = 0.02;
/// Speed of a held pose \[m/s\].
const SPEED: f32 = 1e-3;

/// Plays a clip up to `until`, then holds its pose for a second: points inside, depth of the deepest as a share of the limb's, speed
/// of all vertices (root mean square) \[m/s\].
fn hold(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    until: f32,
    mode: ContactMode,
) -> (usize, f32, f32) {
    body.solver_settings().contact.mode = mode;
    let pose = |time: f32| clip.sample(&character.skeleton, time);
    body.reset(&pose(0.0)).expect("a first pose");
    let frames = (until * 60.0) as usize;
    for frame in 1..=frames + 60 {
        let time = (frame as f32 / 60.0).min(until);
        body.advance(&pose(time), FRAME).expect("a step");
    }
    let velocities = &body.state().velocities;
    let squares: f32 = velocities.iter().map(|v| v.length_squared()).sum();
    let left = body.penetration().expect("a measure");
    let speed = (squares / velocities.len() as f32).sqrt();
    (left.count(), left.worst_share(), speed)
}

#[test]
fn a_bent_knee_comes_to_rest_on_the_device() {
    let gpu = match Gpu::open(Options::default()) {
        Ok(gpu) => gpu,
        Err(error) => {
            let required = std::env::var_os("SUPPLE_REQUIRE_GPU").is_some();
            assert!(!required, "SUPPLE_REQUIRE_GPU is set: {error}");
            println!("skipped: {error}");
            return;
        }
    };
    let character = embedded::body(Body::Male).expect("a body");
    let mut body = SoftBody::new(&character, Default::default()).expect("tissue");
    let (name, until) = ("knee", 0.95);
    let clip = embedded::clip(name, &character).expect("a clip");
    body.set_backend(Box::new(CpuBackend::new()));
    let (before, ..) = hold(&mut body, &character, &clip, until, ContactMode::Off);
    body.set_backend(Box::new(GpuBackend::new(gpu)));
    let (after, depth, speed) = hold(&mut body, &character, &clip, until, ContactMode::Global);
    let told = format!("{name}: {before} -> {after} inside, {depth} of the limb, {speed} m/s");
    println!("{told}");
    assert!(before > 20, "the pose touches nothing: {told}");
    assert!(after as f32 <= LEFT * before as f32, "{told}");
    assert!(depth < DEPTH, "{told}");
    assert!(speed < SPEED, "{told}");
}
