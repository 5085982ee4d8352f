//! Tissue of real files has no inverted tet.

mod common;

use std::time::Instant;

use glam::Vec3;
use supple_flesh::Flesh;
use supple_rig::Character;
use supple_sim::State;

fn check(character: &Character) {
    let start = Instant::now();
    let flesh = Flesh::builder(character).build().unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let report = &flesh.report;
    println!(
        "{}: {} vertices, {} tets ({} free, {} fixed), {} bones, {:.1} kg, {:?}, collision tets without {}, {seconds:.2} s",
        report.name,
        report.vertices,
        report.tets,
        report.free,
        report.fixed,
        report.bones,
        report.mass,
        report.untangled,
        report.collision_excluded,
    );
    for shell in report.shells.iter().take(12) {
        println!(
            "    {}: {:?} ({} vertices, {:.4} m²)",
            shell.key, shell.kind, shell.vertices, shell.area
        );
    }
    assert!(inverted(&flesh, &State::at_rest(&flesh.model)) == 0);
    let few = 1 + report.tets / 200;
    assert!(report.untangled.dropped <= few, "{:?}", report.untangled);

    // The bind pose is the rest pose, exactly; and every vertex of the file comes back in place.
    let rest = flesh.rest_pose();
    let targets = flesh.targets(&rest).unwrap();
    let worst = targets
        .fixed
        .iter()
        .zip(flesh.model.rest_fixed())
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f32::max);
    assert!(worst <= 1e-6 * flesh_size(&flesh), "{worst}");
    let skin = flesh.skin(&rest, &State::at_rest(&flesh.model)).unwrap();
    assert_eq!(skin.len(), character.parts.len());
    for (part, positions) in skin.iter().enumerate() {
        let bind = character.bind_mesh(part).positions;
        assert_eq!(positions.len(), bind.len());
        for (a, b) in positions.iter().zip(&bind) {
            assert!(a.distance(*b) <= 1e-5 * flesh_size(&flesh), "{a} {b}");
        }
    }
}

fn flesh_size(flesh: &Flesh) -> f32 {
    let bounds = flesh.skin_mesh().bounds();
    (bounds.max - bounds.min).max_element()
}

fn inverted(flesh: &Flesh, state: &State) -> usize {
    let positions: Vec<Vec3> = state
        .positions
        .iter()
        .chain(&state.fixed)
        .copied()
        .collect();
    flesh
        .model
        .tets()
        .vertices
        .iter()
        .filter(|tet| {
            let [a, b, c, d] = tet.map(|v| positions[v as usize].as_dvec3());
            (b - a).dot((c - a).cross(d - a)) <= 0.0
        })
        .count()
}

#[test]
fn fps_models() {
    for (model, mesh) in [
        ("cylinder", "cylinder"),
        ("tbone", "tbone"),
        ("male", "male_LR20"),
    ] {
        let Some(character) = common::fps(model, mesh) else {
            return;
        };
        check(&character);
    }
}

#[test]
fn characters_of_others() {
    for file in ["CesiumMan.glb", "Fox.glb", "100Avatars_001_Crimsom.vrm"] {
        let Some(path) = common::shared(&format!("characters/{file}")) else {
            return;
        };
        check(&common::glb(&path));
    }
}

#[test]
fn embedded_bodies() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../supple/assets");
    for file in ["male.glb", "female.glb"] {
        check(&common::glb(&assets.join(file)));
    }
}

/// The head of a humanoid is not simulated unless the settings say so.
#[test]
fn heads_are_left_out() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../supple/assets");
    let character = common::glb(&assets.join("male.glb"));
    let head = character.skeleton.find("head").unwrap();
    let without = Flesh::builder(&character).build().unwrap();
    let mut settings = supple_flesh::Settings::default();
    settings.tissue.simulate_head = true;
    let with = Flesh::builder(&character)
        .settings(settings)
        .build()
        .unwrap();
    println!(
        "{} free with the head, {} without",
        with.model.free_count(),
        without.model.free_count()
    );
    assert!(without.model.free_count() < with.model.free_count());
    let above = character.bind_worlds()[head].translation.y + 0.05;
    let positions = &without.skin_mesh().positions;
    for (column, position) in without.columns().iter().zip(positions) {
        assert!(!column.is_free || position.y < above, "{position}");
    }
}
