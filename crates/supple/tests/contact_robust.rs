//! Contact with bad input: states stay finite, recover, and do not depend on the number of threads.

use std::path::Path;

use glam::{Quat, Vec3};
use rayon::prelude::*;
use supple::Character;
use supple::embedded::{self, Body};
use supple::rig::Pose;
use supple::rig::formats::{self, ReadOptions};
use supple::sim::ContactMode;
use supple::tissue::SoftBody;

const FRAME: f64 = 1.0 / 60.0;

fn touching_body(mode: ContactMode) -> SoftBody {
    touching(&embedded::body(Body::Male).expect("a body"), mode)
}

fn touching(character: &Character, mode: ContactMode) -> SoftBody {
    let mut body = SoftBody::new(character, Default::default()).expect("tissue");
    body.solver_settings().contact.mode = mode;
    body
}

/// Numbers between −1 and 1.
fn noise(seed: &mut u32) -> f32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*seed >> 8) as f32 / (1 << 23) as f32 - 1.0
}

fn random_pose(rest: &Pose, seed: &mut u32) -> Pose {
    let mut pose = rest.clone();
    for local in &mut pose.locals {
        let axis = Vec3::new(noise(seed), noise(seed), noise(seed)).normalize_or(Vec3::X);
        let angle = 170_f32.to_radians() * noise(seed);
        local.rotation *= Quat::from_axis_angle(axis, angle);
    }
    pose
}

/// Moves all joints at random, bones through bones, then returns to rest for two seconds. Positions stay bounded, and the tissue is
/// untangled again.
fn recovers(body: &mut SoftBody, what: &str) {
    let rest = body.flesh().rest_pose();
    body.reset(&rest).expect("rest");
    let mut seed = 7;
    for _ in 0..4 {
        let pose = random_pose(&rest, &mut seed);
        for _ in 0..10 {
            body.advance(&pose, FRAME).expect("a step");
            assert!(body.state().is_finite());
            let far = body.state().positions.iter().map(|p| p.length());
            assert!(far.fold(0.0, f32::max) < 10.0, "{what} flies away");
        }
    }
    for _ in 0..120 {
        body.advance(&rest, FRAME).expect("a step");
    }
    let rest = body.flesh().model.rest_free();
    let off = (body.state().positions.iter().zip(rest)).map(|(a, b)| a.distance_squared(*b));
    let rms = (off.sum::<f32>() / rest.len() as f32).sqrt() * 1e3;
    println!("{what}: {rms:.2} mm RMS after two seconds");
    assert!(rms < 1.0, "{what}: {rms} mm");
}

#[test]
fn everything_in_everything_recovers() {
    for mode in [ContactMode::Global, ContactMode::Local] {
        recovers(&mut touching_body(mode), &format!("{mode:?}"));
    }
}

/// Arms that are pulled into the trunk; shells that overlap at rest.
#[test]
fn overlapping_shells_recover() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/characters");
    if !folder.is_dir() {
        assert!(std::env::var_os("CI").is_none(), "characters are required");
        println!("skipped: ../shared/data is not here");
        return;
    }
    let path = folder.join("100Avatars_001_Crimsom.vrm");
    let character = formats::load(&path, &ReadOptions::default()).expect("a character");
    let mut body = touching(&character, ContactMode::Global);
    recovers(&mut body, "overlapping shells");
}

/// Triangles without area, coincident vertices, a flat hand.
#[test]
fn degenerate_tissue_recovers() {
    let mut character = embedded::body(Body::Male).expect("a body");
    let all = character.parts.iter().flat_map(|part| &part.mesh.positions);
    let tip = all.fold(Vec3::ZERO, |tip, p| if p.x > tip.x { *p } else { tip });
    let mut flat = 0;
    for part in &mut character.parts {
        let positions = &mut part.mesh.positions;
        for v in (0..positions.len().saturating_sub(1)).step_by(61) {
            positions[v] = positions[v + 1];
        }
        for p in positions.iter_mut().filter(|p| p.x > tip.x - 0.12) {
            p.z = tip.z;
            flat += 1;
        }
    }
    assert!(flat > 100, "a hand is flat");
    let mut body = touching(&character, ContactMode::Global);
    recovers(&mut body, "degenerate tissue");
}

#[test]
fn threads_change_nothing() {
    let character = embedded::body(Body::Male).expect("a body");
    let clip = embedded::clip("squat", &character).expect("a clip");
    let play = |mode: ContactMode| {
        let mut body = touching_body(mode);
        let pose = |time: f32| clip.sample(&character.skeleton, time);
        body.reset(&pose(0.9)).expect("a first pose");
        for frame in 0..24 {
            body.advance(&pose(0.9 + frame as f32 / 60.0), FRAME)
                .expect("a step");
        }
        (body.state().positions.clone(), body.state().contact.clone())
    };
    let run = |threads: usize, bodies: usize, mode: ContactMode| -> Vec<_> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        (pool.expect("a pool"))
            .install(|| (0..bodies).into_par_iter().map(|_| play(mode)).collect())
    };
    for mode in [ContactMode::Local, ContactMode::Global] {
        let alone = run(1, 1, mode);
        let (positions, contact) = &alone[0];
        assert!(contact.contacts.len() > 10, "{mode:?} touches nothing");
        let bits = |list: &[Vec3]| {
            list.iter()
                .map(|p| p.to_array().map(f32::to_bits))
                .collect::<Vec<_>>()
        };
        // Bodies that are stepped at the same time share threads. They must not deadlock, and results must not change.
        for bodies in [1, 3] {
            for (others, other) in &run(2, bodies, mode) {
                assert_eq!(bits(positions), bits(others), "{mode:?}");
                assert_eq!(contact, other, "{mode:?}");
            }
        }
    }
}
