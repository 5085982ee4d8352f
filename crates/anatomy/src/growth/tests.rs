//! Closed forms on spheres. Real bodies are grown in `tests/growth.rs`.

use glam::DVec3;
use supple_geom::shapes::icosphere;

use super::depots;
use super::pressure::balloon;
use super::tissue::{Tissue, TissueMesh};
use crate::Layers;
use crate::template::example::example;

/// Three spheres, open at the top where they meet.
fn spheres(radii: [f32; 3]) -> (Layers, TissueMesh, Tissue) {
    let mut anatomy = example();
    let ball = icosphere(1.0, 4);
    let layered: Vec<bool> = ball.positions.iter().map(|p| p.y < 0.9).collect();
    let scaled = |r: f32| -> Vec<_> {
        (ball.positions.iter().zip(&layered))
            .map(|(p, l)| *p * if *l { r } else { radii[0] })
            .collect()
    };
    anatomy.layers = Layers {
        skin: scaled(radii[0]),
        muscle: scaled(radii[1]),
        skeleton: scaled(radii[2]),
        triangles: ball.triangles.clone(),
        layered,
    };
    anatomy.regions.abdomen = ball.positions.iter().map(|p| p.z > 0.3).collect();
    anatomy.thickness = vec![0.01; ball.positions.len()];
    let mesh = TissueMesh::new(&anatomy);
    let tissue = Tissue::of(&anatomy);
    (anatomy.layers, mesh, tissue)
}

#[test]
fn fat_of_a_sphere_is_as_thick_as_its_volume_over_its_area() {
    let (layers, mesh, tissue) = spheres([0.1, 0.08, 0.05]);
    let found = depots::thickness(&mesh, &tissue.skin, &tissue.muscle);
    let exact = (0.1_f64.powi(3) - 0.08_f64.powi(3)) / (3.0 * 0.01);
    for (p, t) in layers.skin.iter().zip(&found) {
        if p.y < 0.05 {
            assert!((t / exact - 1.0).abs() < 0.01, "{t} {exact}");
        }
    }
}

#[test]
fn a_wall_that_is_pushed_out_keeps_its_volume_and_gets_thinner() {
    let (_, mesh, mut tissue) = spheres([0.1, 0.08, 0.05]);
    let (lean, cavity) = (mesh.lean_volume(&tissue), mesh.cavity(&tissue));
    for v in 0..tissue.muscle.len() {
        let p = tissue.muscle[v];
        let out = ((p.z - 0.024) / 0.056).clamp(0.0, 1.0) * f64::from(u8::from(p.y < 0.07));
        tissue.muscle[v] = p * (1.0 + 0.15 * out);
    }
    mesh.settle_wall(&mut tissue, lean);
    assert!((mesh.lean_volume(&tissue) - lean).abs() < 1e-8);
    assert!(mesh.cavity(&tissue) > cavity + 1e-6);
    let front = (0..tissue.muscle.len()).max_by(|&a, &b| {
        let z = |v: usize| tissue.muscle[v].z;
        z(a).total_cmp(&z(b))
    });
    assert!(tissue.thickness[front.unwrap()] < 0.0098);
}

#[test]
fn a_balloon_grows_evenly_and_its_ends_hold() {
    let (layers, _, tissue) = spheres([0.1, 0.08, 0.05]);
    let normals: Vec<DVec3> = tissue.skin.iter().map(|p| p.normalize()).collect();
    let reach = vec![1.0; normals.len()];
    let rate = balloon(&layers, &tissue.skin, &normals, &layers.layered, &reach).unwrap();
    let south: Vec<f64> = (layers.skin.iter().zip(&rate))
        .filter(|(p, _)| p.y < 0.0)
        .map(|(_, r)| *r)
        .collect();
    let mean = south.iter().sum::<f64>() / south.len() as f64;
    assert!(mean > 1.0);
    assert!(south.iter().all(|r| (r / mean - 1.0).abs() < 0.1));
    for (p, r) in layers.skin.iter().zip(&rate) {
        assert!(p.y < 0.09 || *r == 0.0);
    }
}
