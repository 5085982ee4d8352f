//! Fast limbs do not pass through others; slow motion, and motion that meets nothing, is not split into substeps.

use glam::{Quat, Vec3, vec3};
use supple::Character;
use supple::embedded::{self, Body};
use supple::rig::Pose;
use supple::rig::ik::{Limb, reach};
use supple::rig::keyed::KeyedClip;
use supple::sim::ContactMode;
use supple::sim::substeps::{MAX_SUBSTEPS, substep_count};
use supple::tissue::SoftBody;

const FRAME: f64 = 1.0 / 60.0;
/// The left forearm in front of the body, the right arm beside it.
const READY: &str = "
[[key]]
time = 0.0
leftUpperArm = [10, -35, -55]
leftLowerArm = [0, -60, 0]
rightUpperArm = [10, 15, 35]
rightLowerArm = [0, 40, 0]
";

/// Strikes the left forearm with the right hand.
struct Chop {
    character: Character,
    ready: Pose,
    limb: Limb,
    forearm: Vec3,
}

impl Chop {
    fn new() -> Chop {
        let character = embedded::body(Body::Male).expect("a body");
        let skeleton = &character.skeleton;
        let joint = |name| skeleton.find(name).expect("a joint");
        let clip = KeyedClip::parse(READY).expect("keys");
        let clip = clip.on(&character, 60.0).expect("a clip");
        let ready = clip.sample(skeleton, 0.0);
        let worlds = ready.worlds(skeleton);
        let at = |name| Vec3::from(worlds[joint(name)].translation);
        Chop {
            forearm: at("lowerarm01.L").lerp(at("wrist.L"), 0.6),
            limb: Limb::of(&character, joint("wrist.R")),
            ready,
            character,
        }
    }

    fn body(&self) -> SoftBody {
        let mut body = SoftBody::new(&self.character, Default::default()).expect("tissue");
        body.solver_settings().contact.mode = ContactMode::Global;
        body
    }

    /// The pose with the right wrist at a height above the bone of the left forearm \[m\].
    fn pose(&self, above: f32) -> Pose {
        let mut pose = self.ready.clone();
        let wrist = self.forearm + vec3(-0.06, above, 0.0);
        reach(&self.character.skeleton, &mut pose, &self.limb, wrist);
        pose
    }
}

/// Number of substeps of the next frame.
fn pieces_to(body: &mut SoftBody, pose: &Pose) -> u32 {
    let targets = body.flesh().targets(pose).expect("targets");
    let settings = body.solver_settings().clone();
    let state = body.state();
    let model = &body.flesh().model;
    substep_count(model, &settings, state, &state.contact.bases, &targets)
}

/// Moves the hand to a height above the forearm's bone in the given number of frames and holds it for a second. Returns the depth that is
/// left \[m\] and the largest number of substeps.
fn strike(body: &mut SoftBody, chop: &Chop, to: f32, frames: usize) -> (f32, u32) {
    let from = 0.12;
    body.reset(&chop.pose(from)).expect("a first pose");
    let mut most = 0;
    for frame in 1..=frames {
        let pose = chop.pose(from + (to - from) * frame as f32 / frames as f32);
        most = most.max(pieces_to(body, &pose));
        body.advance(&pose, FRAME).expect("a step");
    }
    for _ in 0..60 {
        body.advance(&chop.pose(to), FRAME).expect("a step");
    }
    assert!(body.state().is_finite());
    (body.penetration().expect("a measure").worst(), most)
}

/// Heights above the forearm's bone at which blows end \[m\].
const ENDS: [f32; 3] = [0.02, -0.02, -0.05];

/// Without substeps, blows leave a depth of 31 mm on average: the hand ends up below the forearm.
#[test]
fn a_hand_does_not_go_through_a_forearm() {
    let chop = Chop::new();
    let mut body = chop.body();
    let mut left = 0.0;
    for to in ENDS {
        let (slow, calm) = strike(&mut body, &chop, to, 60);
        let (fast, most) = strike(&mut body, &chop, to, 1);
        println!(
            "{:.1} mm inside after a slow push, {:.1} mm after a blow in {most} pieces",
            1e3 * slow,
            1e3 * fast
        );
        assert_eq!((calm, most), (1, MAX_SUBSTEPS));
        left += fast / ENDS.len() as f32;
    }
    assert!(left < 0.024, "{left} m on average");
}

#[test]
fn what_meets_nothing_is_taken_in_one_piece() {
    let chop = Chop::new();
    let mut body = chop.body();
    let ready = body.flesh().rest_pose();
    body.reset(&ready).expect("rest");
    assert_eq!(pieces_to(&mut body, &ready), 1);
    // The whole body rotates by 10 degrees and moves in one step.
    let mut turned = ready.clone();
    turned.locals[0].rotation = Quat::from_rotation_y(0.17) * turned.locals[0].rotation;
    turned.locals[0].translation += vec3(0.1, 0.0, 0.1);
    assert_eq!(pieces_to(&mut body, &turned), 1);
    // Without contact there are no substeps.
    body.reset(&chop.pose(0.12)).expect("a pose");
    assert!(pieces_to(&mut body, &chop.pose(-0.02)) > 1);
    body.solver_settings().contact.mode = ContactMode::Off;
    assert_eq!(pieces_to(&mut body, &chop.pose(-0.02)), 1);
}
