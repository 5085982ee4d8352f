//! With any pose the tissue stays finite and near its bones, and returns to rest.
//!
//! Small characters get all 600 frames of random poses; large ones fewer, and all of them if `SUPPLE_LONG` is set.

mod common;

use glam::{Quat, Vec3};
use supple_flesh::{Flesh, Settings};
use supple_rig::{Character, Pose};
use supple_sim::{CpuBackend, State, advance};

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    fn direction(&mut self) -> Vec3 {
        let v = Vec3::new(self.unit() - 0.5, self.unit() - 0.5, self.unit() - 0.5);
        v.try_normalize().unwrap_or(Vec3::X)
    }
}

/// Every joint rotated by a random angle of up to ±170° about a random axis.
fn wild(character: &Character, random: &mut Random) -> Pose {
    let mut pose = Pose::rest(&character.skeleton);
    for joint in 0..character.skeleton.len() {
        let angle = (2.0 * random.unit() - 1.0) * 170_f32.to_radians();
        pose.rotate(joint, Quat::from_axis_angle(random.direction(), angle));
    }
    pose
}

/// Moves the whole character.
fn moved(character: &Character, mut pose: Pose, turn: Quat, shift: Vec3) -> Pose {
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        if character.skeleton.joints()[joint].parent.is_none() {
            local.translation = turn * local.translation + shift;
            local.rotation = turn * local.rotation;
        }
    }
    pose
}

/// A soft body under test.
struct Tortured<'a> {
    character: &'a Character,
    flesh: Flesh,
    settings: supple_sim::Settings,
    solver: CpuBackend,
    state: State,
    pose: Pose,
    size: f32,
}

impl<'a> Tortured<'a> {
    fn new(character: &'a Character, settings: Settings, step: f64) -> Self {
        let flesh = Flesh::builder(character)
            .settings(settings)
            .build()
            .unwrap();
        let bounds = flesh.skin_mesh().bounds();
        Self {
            character,
            settings: supple_sim::Settings {
                step,
                ..flesh.settings.solver_settings()
            },
            solver: CpuBackend::new(),
            state: State::at_rest(&flesh.model),
            pose: flesh.rest_pose(),
            size: (bounds.max - bounds.min).max_element(),
            flesh,
        }
    }

    /// One step to a pose; a jump carries the tissue along, as callers do. Returns whether it was a jump.
    fn advance(&mut self, pose: &Pose) -> bool {
        let targets = self.flesh.targets(pose).unwrap();
        assert!(targets.first_non_finite().is_none());
        let jumps = self.state.largest_jump(&targets) > self.settings.jump_distance;
        if jumps {
            let frames = self.flesh.carry_frames(&self.pose, pose).unwrap();
            self.state.carry(&frames);
            self.state.rebase(&targets);
        }
        self.pose = pose.clone();
        let (model, state) = (&self.flesh.model, &mut self.state);
        let step = self.settings.step;
        advance(
            &mut self.solver,
            model,
            &self.settings,
            &targets,
            step,
            state,
        )
        .unwrap();
        jumps
    }

    fn assert_bounded(&self) {
        assert!(self.state.is_finite());
        for (k, x) in self.state.positions.iter().enumerate() {
            let carrier = self.flesh.model.carriers()[k] as usize;
            if let Some(fixed) = self.state.fixed.get(carrier) {
                let distance = x.distance(*fixed);
                assert!(distance < 3.0 * self.size, "vertex {k} is {distance} away");
            }
        }
    }

    fn distance_from_rest(&self) -> f32 {
        let pairs = self
            .state
            .positions
            .iter()
            .zip(self.flesh.model.rest_free());
        let worst = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        worst / self.size
    }

    /// Random poses, half a second apart, with a teleport in between; then back to rest.
    fn run(&mut self, frames: usize) {
        let mut random = Random(7);
        let mut to = wild(self.character, &mut random);
        let mut from = to.clone();
        let mut place = Vec3::ZERO;
        for frame in 0..frames {
            if frame % 20 == 0 {
                from = std::mem::replace(&mut to, wild(self.character, &mut random));
            }
            let teleports = frame == frames / 2 + 7;
            if teleports {
                place = Vec3::new(5.0, 0.0, 0.0);
            }
            let pose = from.blend(&to, (frame % 20) as f32 / 20.0);
            let jumped = self.advance(&moved(self.character, pose, Quat::IDENTITY, place));
            assert!(jumped || !teleports, "the teleport was not noticed");
            self.assert_bounded();
        }
        let rest = self.flesh.rest_pose();
        // Without stiffness nothing pulls back.
        let comes_back = self.flesh.settings.tissue.stiffness > 0.0;
        let most = if comes_back { 400 } else { 20 };
        let mut steps = 0;
        while steps < most && (steps < 20 || self.distance_from_rest() > 1e-3) {
            self.advance(&rest);
            steps += 1;
        }
        println!(
            "{}: {frames} frames, then {:.4} of the size from rest after {steps} steps",
            self.character.name,
            self.distance_from_rest()
        );
        if comes_back {
            assert!(
                self.distance_from_rest() < 0.02,
                "{}",
                self.distance_from_rest()
            );
        }
    }
}

/// All characters, and the number of frames for each.
fn everyone() -> Vec<(Character, usize)> {
    let long = std::env::var_os("SUPPLE_LONG").is_some();
    let frames = |short: usize| if long { 600 } else { short };
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../supple/assets");
    let mut all = vec![
        (common::glb(&assets.join("male.glb")), frames(120)),
        (common::glb(&assets.join("female.glb")), frames(120)),
    ];
    for (file, count) in [
        ("Fox.glb", 600),
        ("CesiumMan.glb", 600),
        ("100Avatars_001_Crimsom.vrm", frames(200)),
    ] {
        if let Some(path) = common::shared(&format!("characters/{file}")) {
            all.push((common::glb(&path), count));
        }
    }
    // Their files declare no units; these make them as large as a person.
    for (model, mesh, scale, count) in [
        ("cylinder", "cylinder", 0.1, 600),
        ("tbone", "tbone", 0.1, 600),
        ("male", "male_LR20", 0.1, frames(200)),
    ] {
        if let Some(character) = common::fps(model, mesh) {
            all.push((common::scaled(character, scale), count));
        }
    }
    all
}

#[test]
fn wild_poses() {
    for (character, frames) in everyone() {
        Tortured::new(&character, Settings::default(), 1.0 / 60.0).run(frames);
    }
}

#[test]
fn ten_times_the_step() {
    for (character, _) in everyone() {
        Tortured::new(&character, Settings::default(), 10.0 / 60.0).run(20);
    }
}

#[test]
fn zero_and_huge_stiffness() {
    for (character, _) in everyone() {
        for stiffness in [0.0, 1e12] {
            let mut settings = Settings::default();
            settings.tissue.stiffness = stiffness;
            Tortured::new(&character, settings, 1.0 / 60.0).run(20);
        }
    }
}

/// For the simulated skin, not only its targets: nothing moves at rest, and everything moves rigidly with the root.
#[test]
fn rest_and_root_motion_are_exact() {
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 0.5).normalize(), 0.02);
    let shift = Vec3::new(0.003, -0.002, 0.007);
    for (character, _) in everyone() {
        let mut body = Tortured::new(&character, Settings::default(), 1.0 / 60.0);
        let rest = body.flesh.rest_pose();
        let at_rest = body.flesh.skin(&rest, &body.state).unwrap();
        for _ in 0..5 {
            body.advance(&rest);
        }
        let still = largest(&body, &rest, &at_rest, |p| p);
        // Rotation and translation at once: one static step, and time for the jiggle to decay while the pose is held.
        let pose = moved(&character, rest.clone(), turn, shift);
        let motion = |p| turn * p + shift;
        let mut jiggling = Tortured::new(&character, Settings::default(), 1.0 / 60.0);
        for _ in 0..150 {
            jiggling.advance(&pose);
        }
        let settled = largest(&jiggling, &pose, &at_rest, motion);
        body.settings.mode = supple_sim::Mode::Static;
        body.advance(&pose);
        let rigid = largest(&body, &pose, &at_rest, motion);
        println!(
            "{}: rest {still:.1e}, root motion {rigid:.1e} of the size, {settled:.1e} after 2.5 s",
            character.name
        );
        assert!(still < 1e-5 && rigid < 1e-5 && settled < 1e-5);
    }
}

/// Largest distance of the skin from the rigidly moved rest skin, relative to the size.
fn largest(body: &Tortured, pose: &Pose, rest: &[Vec<Vec3>], motion: impl Fn(Vec3) -> Vec3) -> f32 {
    let skin = body.flesh.skin(pose, &body.state).unwrap();
    let pairs = skin.iter().flatten().zip(rest.iter().flatten());
    let worst = pairs
        .map(|(now, rest)| now.distance(motion(*rest)))
        .fold(0.0, f32::max);
    worst / body.size
}

#[test]
fn unusable_characters_are_rejected_with_a_reason() {
    let Some(path) = common::shared("characters/Fox.glb") else {
        return;
    };
    let mut fox = common::glb(&path);
    fox.skeleton = supple_rig::Skeleton::default();
    let error = Flesh::builder(&fox).build().unwrap_err().to_string();
    assert!(error.contains("no skeleton"), "{error}");
    assert!(Flesh::builder(&Character::default()).build().is_err());
}
