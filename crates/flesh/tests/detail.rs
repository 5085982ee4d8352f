//! The simulation mesh and the full skin of real bodies.

mod common;

use glam::{Quat, Vec3};
use supple_flesh::settings::Resolution;
use supple_flesh::upsampling::detail::Upsampler;
use supple_flesh::upsampling::upsample::{NEIGHBOURS, Upsampling};
use supple_flesh::{Flesh, Settings};
use supple_geom::decimate::{Decimation, decimate};
use supple_geom::mls::Basis;
use supple_geom::weld::weld;
use supple_geom::{Adjacency, TriMesh};
use supple_rig::skinning::Method;
use supple_rig::{Character, Pose};
use supple_sim::State;

fn embedded(name: &str) -> Character {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../supple/assets");
    common::glb(&assets.join(name))
}

#[test]
fn bodies_are_simulated_coarsely_and_shown_whole() {
    for name in ["male.glb", "female.glb"] {
        let character = embedded(name);
        let flesh = Flesh::builder(&character).build().unwrap();
        let report = &flesh.report;
        assert!(
            (3000..=5000).contains(&report.vertices),
            "{}",
            report.vertices
        );
        let adjacency = Adjacency::new(flesh.skin_mesh());
        let full = Adjacency::new(flesh.full_mesh());
        assert_eq!(
            adjacency.euler_characteristic(),
            full.euler_characteristic()
        );
        let parts = flesh
            .skin(&flesh.rest_pose(), &State::at_rest(&flesh.model))
            .unwrap();
        for (part, positions) in parts.iter().enumerate() {
            let rest = character.bind_mesh(part).positions;
            assert_eq!(positions.len(), rest.len());
            let worst = (rest.iter().zip(positions))
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f32::max);
            assert!(worst < 1e-5, "{worst}");
        }
    }
}

#[test]
fn weights_sum_to_one_and_stay_small() {
    let flesh = Flesh::builder(&embedded("male.glb")).build().unwrap();
    let detail = flesh.detail().unwrap();
    let Upsampler::LeastSquares(upsampling) = &detail.upsampler else {
        panic!("least squares are the default");
    };
    for v in 0..upsampling.count {
        let entries = upsampling.places.of(v);
        let weights: Vec<f64> = entries.map(|(_, weight)| f64::from(weight)).collect();
        let sum: f64 = weights.iter().sum();
        let size: f64 = weights.iter().map(|weight| weight.abs()).sum();
        assert!(sum == 1.0 && size < 5.1, "vertex {v}: {sum}, {size}");
    }
}

#[test]
fn resolution_is_a_setting() {
    let character = embedded("female.glb");
    let build = |resolution: Resolution| {
        let mut settings = Settings::default();
        settings.detail.resolution = resolution;
        Flesh::builder(&character)
            .settings(settings)
            .build()
            .unwrap()
    };
    let few = build(Resolution::Vertices(1500));
    assert!(
        (1400..=1700).contains(&few.report.vertices),
        "{}",
        few.report.vertices
    );
    let all = build(Resolution::Full);
    assert!(all.detail().is_none() && all.report.vertices == all.report.shown);
    assert_eq!(all.report.shown, few.report.shown);
}

/// The body with its legs brought together until the thighs touch.
fn legs_together(character: &Character) -> TriMesh {
    let mut pose = Pose::rest(&character.skeleton);
    for (joint, degrees) in [("upperleg01.L", -9.0_f32), ("upperleg01.R", 9.0)] {
        let index = character.skeleton.find(joint).unwrap();
        let turn = Quat::from_rotation_z(degrees.to_radians());
        pose.rotate_world(&character.skeleton, index, turn);
    }
    TriMesh {
        positions: character.skin_part(0, &pose, Method::Lbs).positions,
        triangles: character.parts[0].mesh.triangles.clone(),
    }
}

#[test]
fn a_thigh_is_never_interpolated_from_the_other() {
    let character = embedded("male.glb");
    let welded = weld(&legs_together(&character), 0.0);
    let binding = &character.parts[0].binding;
    let side = |v: u32| {
        let original = welded.original_from_welded[v as usize] as usize;
        let strongest = (binding.influences.of(original).iter()).max_by(|a, b| a.1.total_cmp(&b.1));
        let joint = binding.joints[strongest.unwrap().0 as usize];
        let name = &character.skeleton.joints()[joint].name;
        let is_leg = ["upperleg", "lowerleg"]
            .iter()
            .any(|leg| name.starts_with(leg));
        is_leg.then(|| name.ends_with(".L"))
    };
    let settings = Decimation {
        target: 4000,
        ..Decimation::default()
    };
    let coarse = decimate(&welded.mesh, &settings);
    let skin = &welded.mesh;
    let upsampling = Upsampling::new(
        skin,
        &coarse.kept,
        &coarse.mesh,
        NEIGHBOURS,
        Basis::Quadratic,
    );
    // So far below the crotch that the geodesic distance is longer than any neighbourhood.
    let crotch = crotch_height(&character, skin, &side);
    let mut near_other = 0;
    for v in 0..skin.positions.len() {
        let (Some(left), true) = (side(v as u32), skin.positions[v].y < crotch - 0.15) else {
            continue;
        };
        for (sample, _) in upsampling.places.of(v) {
            let other = side(coarse.kept[sample]);
            assert_ne!(
                other,
                Some(!left),
                "vertex {v} of one leg listens to the other"
            );
        }
        let across = |w: &Vec3| w.distance(skin.positions[v]) < 0.02;
        let others = (0..skin.positions.len()).filter(|&w| side(w as u32) == Some(!left));
        near_other += usize::from(others.into_iter().any(|w| across(&skin.positions[w])));
    }
    assert!(near_other > 10, "the legs do not touch: {near_other}");
}

fn crotch_height(character: &Character, skin: &TriMesh, side: &dyn Fn(u32) -> Option<bool>) -> f32 {
    let hip = character.skeleton.find("upperleg01.L").unwrap();
    let top = character.skeleton.rest_worlds()[hip].translation.y;
    let adjacency = Adjacency::new(skin);
    let crossing = adjacency
        .edges
        .iter()
        .filter(|&&[a, b]| matches!((side(a), side(b)), (Some(a), Some(b)) if a != b));
    crossing
        .map(|edge| skin.positions[edge[0] as usize].y)
        .fold(top, f32::min)
}

/// Simulated vertices per area of the skin around a point [1/m²].
fn density_around(flesh: &Flesh, areas: &[f64], centre: Vec3, reach: f32) -> f64 {
    let near = |p: &Vec3| p.distance(centre) < reach;
    let skin = flesh.full_mesh().positions.iter().zip(areas);
    let area: f64 = skin.filter(|(p, _)| near(p)).map(|(_, area)| area).sum();
    let simulated = flesh.skin_mesh().positions.iter().filter(|p| near(p));
    simulated.count() as f64 / area
}

#[test]
fn limbs_are_denser_where_they_bend() {
    for name in ["male.glb", "female.glb"] {
        let character = embedded(name);
        let flesh = Flesh::builder(&character).build().unwrap();
        let areas = flesh.full_mesh().vertex_areas();
        let worlds = character.bind_worlds();
        let place = |joint: &str| -> Vec3 {
            let joint = character.skeleton.find(joint).unwrap();
            worlds[joint].translation.into()
        };
        for side in ["L", "R"] {
            let joints = ["upperarm01", "lowerarm01", "wrist"];
            let legs = ["upperleg01", "lowerleg01", "foot"];
            for limb in [joints, legs] {
                let [top, middle, end] = limb.map(|joint| place(&format!("{joint}.{side}")));
                let reach = 0.2 * middle.distance(end);
                let around = |centre: Vec3| density_around(&flesh, &areas, centre, reach);
                let bend = around(middle);
                for straight in [top.midpoint(middle), middle.midpoint(end)] {
                    let ratio = bend / around(straight);
                    println!("{name}, {}.{side}: {ratio:.2} times as dense", limb[1]);
                    assert!(ratio > 1.4, "{ratio}");
                }
            }
        }
    }
}
