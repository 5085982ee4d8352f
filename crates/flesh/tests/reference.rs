//! Static poses against those of the papers' own release.

mod common;

use glam::Vec3;
use supple_flesh::Flesh;
use supple_sim::{CpuBackend, Equilibrium, Settings, State};

fn inverted(flesh: &Flesh, state: &State) -> usize {
    let all: Vec<Vec3> = state
        .positions
        .iter()
        .chain(&state.fixed)
        .copied()
        .collect();
    let tets = &flesh.model.tets().vertices;
    tets.iter()
        .filter(|tet| {
            let [a, b, c, d] = tet.map(|v| all[v as usize].as_dvec3());
            (b - a).dot((c - a).cross(d - a)) < 0.0
        })
        .count()
}

#[test]
fn static_poses() {
    let Some(path) = common::shared("fps/reference/index.json") else {
        return;
    };
    let index: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (model, mesh) in [
        ("cylinder", "cylinder"),
        ("tbone", "tbone"),
        ("male", "male_LR20"),
    ] {
        let Some(character) = common::fps(model, mesh) else {
            return;
        };
        let flesh = Flesh::builder(&character).build().unwrap();
        let mut solver = CpuBackend::new();
        let bounds = flesh.skin_mesh().bounds();
        let size = (bounds.max - bounds.min).max_element();
        for (name, entry) in index.as_object().unwrap() {
            let is_pose = name.starts_with(&format!("{model}_static"));
            if !is_pose || entry["collisions"].as_bool().unwrap() {
                continue;
            }
            let expected =
                common::read_f32(&common::shared(&format!("fps/reference/{name}.f32")).unwrap());
            let pose = common::reference_pose(&character.skeleton, entry);
            let start = std::time::Instant::now();
            let targets = flesh.targets(&pose).unwrap();
            let mut state = State::at_rest(&flesh.model);
            let found = Equilibrium::default().solve(
                &mut solver,
                &flesh.model,
                &Settings::default(),
                &targets,
                &mut state,
            );
            assert!(found.unwrap().is_met, "{name}");
            let skin = &flesh.skin(&pose, &state).unwrap()[0];
            let mut distances: Vec<f32> = skin
                .iter()
                .zip(&expected)
                .map(|(a, b)| a.distance(*b) / size)
                .collect();
            let square: f32 = distances.iter().map(|d| d * d).sum();
            let rms = (square / distances.len() as f32).sqrt();
            distances.sort_by(f32::total_cmp);
            let theirs = entry["inverted_tets"].as_u64().unwrap() as usize;
            let ours = inverted(&flesh, &state);
            println!(
                "{name}: rms {:.3} % of the size, 99th {:.2} %, largest {:.2} %; inverted {ours}, theirs {theirs}; {:.1} s",
                100.0 * rms,
                100.0 * distances[distances.len() * 99 / 100],
                100.0 * distances[distances.len() - 1],
                start.elapsed().as_secs_f64(),
            );
            assert!(rms <= 0.01);
            assert!(
                ours <= theirs,
                "{name}: {ours} inverted, {theirs} in the papers' release"
            );
        }
    }
}
