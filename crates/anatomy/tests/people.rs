//! The embedded templates fit into bodies at the ends of the body space. `examples/people` does many, and prints the table.

use std::path::Path;

use glam::Vec3;
use supple_anatomy::Sex;
use supple_anatomy::body_model::BodyModel;
use supple_anatomy::person::{PersonSkin, Transfer, fitted_person};
use supple_anatomy::template::load_template;
use supple_geom::Surface;

/// Short and heavy, tall and thin, and so heavy that the body space folds the skin: height \[m\], volume \[m³\], fat and muscle
/// mass \[kg\].
const PEOPLE: [(Sex, f64, f64, [f64; 2]); 3] = [
    (Sex::Male, 1.35, 0.081, [29.0, 29.0]),
    (Sex::Female, 1.50, 0.085, [38.0, 22.0]),
    (Sex::Male, 2.05, 0.070, [10.0, 33.0]),
];

#[test]
fn extreme_people_are_nested_and_their_bones_are_bones() {
    for (sex, height, volume, [fat, muscle]) in PEOPLE {
        let name = if sex == Sex::Male { "male" } else { "female" };
        let path = format!("../supple/assets/{name}.template");
        let template = load_template(Path::new(&path)).unwrap();
        let model = BodyModel::embedded(sex);
        let coefficients = model.steered(&vec![0.0; model.field_count()], height, volume);
        let rest = model.rest_vertices(&coefficients);
        let skin: Vec<Vec3> = (template.body.file_vertices.iter())
            .map(|&v| rest[v as usize].as_vec3())
            .collect();
        let joints = model.rest_joints(&coefficients);
        let joints: Vec<Vec3> = joints.iter().map(|p| p.as_vec3()).collect();
        let person = PersonSkin {
            skin: &skin,
            joints: &joints,
        };
        let transfer = Transfer::of_template(&template).unwrap();
        let fit = fitted_person(&template, &transfer, &person, fat, muscle).unwrap();
        let layers = &fit.report.layers;
        assert_eq!(
            (layers.inverted_fat, layers.inverted_muscle),
            (0, 0),
            "{name}"
        );
        assert_eq!(
            (layers.muscle_outside, layers.skeleton_outside),
            (0, 0),
            "{name}"
        );
        assert!(fit.report.folded > 0 || height > 1.4, "{name}");
        assert!(fit.report.unfolded < 0.04, "{name}");
        let masses = &fit.report.masses;
        assert!((masses.fat - fat).abs() < 1.0, "{masses:?}");
        assert!((masses.muscle - muscle).abs() < 1.0, "{masses:?}");
        for (bone, stretch) in template.bones.iter().zip(&fit.report.bones) {
            let name = &bone.bone.name;
            assert!(
                stretch.rms < 0.03 && stretch.p95 < 0.08,
                "{name}: {stretch:?}"
            );
        }
        // No rib cuts through the muscles.
        let surface = Surface::new(fit.layers.muscle_mesh());
        for (bone, mesh) in template.bones.iter().zip(&fit.bones) {
            if bone.bone.name.starts_with("rib") {
                let out = |p: &Vec3| surface.signed_distance(*p).unwrap();
                let most = mesh.positions.iter().step_by(5).map(out);
                let most = most.fold(f32::MIN, f32::max);
                assert!(most < 2e-3, "{}: {most}", bone.bone.name);
            }
        }
    }
}
