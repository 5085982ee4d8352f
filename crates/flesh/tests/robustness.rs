//! Whatever a pose does, the tissue stays finite, near its bones, and comes back to rest.

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

/// Every joint somewhere within ±170° about some axis.
fn wild(character: &Character, random: &mut Random) -> Pose {
    let mut pose = Pose::rest(&character.skeleton);
    for joint in 0..character.skeleton.len() {
        let angle = (2.0 * random.unit() - 1.0) * 170_f32.to_radians();
        pose.rotate(joint, Quat::from_axis_angle(random.direction(), angle));
    }
    pose
}

fn size(flesh: &Flesh) -> f32 {
    let bounds = flesh.skin_mesh().bounds();
    (bounds.max - bounds.min).max_element()
}

fn assert_bounded(flesh: &Flesh, state: &State) {
    assert!(state.is_finite());
    let reach = 3.0 * size(flesh);
    for (k, x) in state.positions.iter().enumerate() {
        let carrier = flesh.model.carriers()[k] as usize;
        if let Some(fixed) = state.fixed.get(carrier) {
            assert!(
                x.distance(*fixed) < reach,
                "vertex {k} is {} away",
                x.distance(*fixed)
            );
        }
    }
}

fn torture(character: &Character, settings: Settings, frames: usize, step: f64) {
    let flesh = Flesh::builder(character)
        .settings(settings)
        .build()
        .unwrap();
    let solver_settings = supple_sim::Settings {
        step,
        ..flesh.settings.solver_settings()
    };
    let mut solver = CpuBackend::new();
    let mut state = State::at_rest(&flesh.model);
    let mut random = Random(7);
    let (mut from, mut to) = (wild(character, &mut random), wild(character, &mut random));
    for frame in 0..frames {
        let t = (frame % 20) as f32 / 20.0;
        if frame % 20 == 0 {
            from = to;
            to = wild(character, &mut random);
            if frame == frames / 2 {
                // A teleport by five metres, from one frame to the next.
                for root in 0..character.skeleton.len() {
                    if character.skeleton.joints()[root].parent.is_none() {
                        to.locals[root].translation += Vec3::new(5.0, 0.0, 0.0);
                        from.locals[root].translation += Vec3::new(5.0, 0.0, 0.0);
                    }
                }
            }
        }
        let targets = flesh.targets(&from.blend(&to, t)).unwrap();
        assert!(targets.first_non_finite().is_none());
        advance(
            &mut solver,
            &flesh.model,
            &solver_settings,
            &targets,
            step,
            &mut state,
        )
        .unwrap();
        assert_bounded(&flesh, &state);
    }
    let rest = flesh.targets(&flesh.rest_pose()).unwrap();
    for _ in 0..400 {
        advance(
            &mut solver,
            &flesh.model,
            &solver_settings,
            &rest,
            step,
            &mut state,
        )
        .unwrap();
    }
    let worst = state
        .positions
        .iter()
        .zip(flesh.model.rest_free())
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f32::max);
    println!(
        "{}: {:.4} of the size from rest after all",
        character.name,
        worst / size(&flesh)
    );
    if flesh.settings.tissue.stiffness > 0.0 {
        assert!(worst < 0.02 * size(&flesh), "{}", worst / size(&flesh));
    }
}

fn fox() -> Option<Character> {
    Some(common::glb(&common::shared("characters/Fox.glb")?))
}

#[test]
fn wild_poses() {
    let Some(fox) = fox() else { return };
    torture(&fox, Settings::default(), 600, 1.0 / 60.0);
    let Some(cylinder) = common::fps("cylinder", "cylinder") else {
        return;
    };
    // Its file units are metres of nothing: a tenth of it is the size of a person.
    torture(
        &common::scaled(cylinder, 0.1),
        Settings::default(),
        600,
        1.0 / 60.0,
    );
}

#[test]
fn wild_body() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets");
    let body = common::glb(&assets.join("male.glb"));
    torture(&body, Settings::default(), 100, 1.0 / 60.0);
}

#[test]
fn ten_times_the_step() {
    let Some(fox) = fox() else { return };
    torture(&fox, Settings::default(), 60, 10.0 / 60.0);
}

#[test]
fn zero_and_huge_stiffness() {
    let Some(fox) = fox() else { return };
    for stiffness in [0.0, 1e12] {
        let mut settings = Settings::default();
        settings.tissue.stiffness = stiffness;
        torture(&fox, settings, 60, 1.0 / 60.0);
    }
}

#[test]
fn root_motion_is_rigid() {
    let Some(fox) = fox() else { return };
    let flesh = Flesh::builder(&fox).build().unwrap();
    let mut pose = flesh.rest_pose();
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 0.5).normalize(), 1.1);
    let shift = Vec3::new(0.3, -0.2, 0.7);
    for joint in 0..fox.skeleton.len() {
        if fox.skeleton.joints()[joint].parent.is_none() {
            let local = &mut pose.locals[joint];
            local.translation = turn * local.translation + shift;
            local.rotation = turn * local.rotation;
        }
    }
    let targets = flesh.targets(&pose).unwrap();
    for (now, rest) in targets.fixed.iter().zip(flesh.model.rest_fixed()) {
        let expected = turn * *rest + shift;
        assert!(
            now.distance(expected) < 1e-5 * size(&flesh),
            "{now} {expected}"
        );
    }
}

#[test]
fn what_cannot_be_flesh_says_so() {
    let Some(mut fox) = fox() else { return };
    fox.skeleton = supple_rig::Skeleton::default();
    let error = Flesh::builder(&fox).build().unwrap_err().to_string();
    assert!(error.contains("no skeleton"), "{error}");
    assert!(Flesh::builder(&Character::default()).build().is_err());
}
