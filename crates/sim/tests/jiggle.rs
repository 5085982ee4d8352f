//! Few iterations do not damp jiggle.

use glam::Vec3;
use supple_sim::{Backend, CpuBackend, Model, ModelBuilder, Settings, State, shapes};

/// A layer of tissue whose lower side is fixed; it resists change of volume as a character's does.
fn layer() -> Model {
    let mesh = shapes::prism_layer(8, 0.2, 0.05);
    let mut builder = ModelBuilder::new();
    for (v, &p) in mesh.positions.iter().enumerate() {
        builder.vertex(p, v < mesh.positions.len() / 2);
    }
    for &tet in &mesh.tets {
        let tet = builder.tet(tet, 2500.0);
        builder.tet_volume(tet, 8.0 * 2500.0, 1.0);
    }
    builder.distribute_mass(20.0);
    builder.build().expect("a valid model")
}

/// Shear of the layer over time, after its lower side was pushed aside and stopped \[m\].
fn swing(iterations: u32) -> Vec<f32> {
    let model = layer();
    let settings = Settings {
        iterations,
        ..Settings::default()
    };
    let (mut backend, mut state) = (CpuBackend::new(), State::at_rest(&model));
    let mean = |list: &[Vec3]| list.iter().map(|p| p.x).sum::<f32>() / list.len() as f32;
    let rest = mean(model.rest_free()) - mean(model.rest_fixed());
    (0..60)
        .map(|step| {
            let shift = Vec3::X * (0.05 * (step as f32 / 6.0).min(1.0));
            let mut targets = model.rest_targets();
            targets.fixed.iter_mut().for_each(|p| *p += shift);
            backend
                .step(&model, &settings, &targets, &mut state)
                .expect("a step");
            mean(&state.positions) - mean(&state.fixed) - rest
        })
        .collect()
}

/// If the initial guess ignored the velocity relative to the carriers, ten iterations would keep half of it, and nothing would swing
/// back.
#[test]
fn few_iterations_do_not_damp() {
    let (few, many) = (swing(10), swing(500));
    let size = |swing: &[f32]| swing[6..].iter().map(|x| x * x).sum::<f32>().sqrt();
    let kept = size(&few) / size(&many);
    assert!((0.8..1.25).contains(&kept), "ten iterations keep {kept}");
    let back = few[12..].iter().copied().fold(0.0, f32::min);
    assert!(back < -1e-3, "swings back by {back} m");
}
