//! The embedded templates fit into bodies at the ends of the body space. `examples/people` does many, and prints the table.

use std::path::Path;

use glam::Vec3;
use supple_anatomy::body_model::BodyModel;
use supple_anatomy::composition::{Known, Regressors, Tape, composition};
use supple_anatomy::growth::GrowthBody;
use supple_anatomy::person::{
    PersonSkin, Transfer, fitted_person, limb_measures, published_leg_muscle,
};
use supple_anatomy::template::load_template;
use supple_anatomy::{LayeredBody, Sex};
use supple_geom::{Surface, TriMesh};

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

fn embedded(sex: Sex) -> LayeredBody {
    let name = if sex == Sex::Male { "male" } else { "female" };
    load_template(Path::new(&format!("../supple/assets/{name}.template"))).unwrap()
}

#[test]
fn a_template_in_its_own_skin_has_its_own_muscles_and_fat() {
    for sex in [Sex::Male, Sex::Female] {
        let template = embedded(sex);
        let own = GrowthBody::of_anatomy(&template).unwrap();
        let worlds = template.body.skeleton.rest_worlds();
        let joints: Vec<Vec3> = worlds.iter().map(|w| w.translation.into()).collect();
        let person = PersonSkin {
            skin: &template.layers.skin,
            joints: &joints,
        };
        let transfer = Transfer::of_template(&template).unwrap();
        let fit = fitted_person(&template, &transfer, &person, own.fat(), own.muscle()).unwrap();
        let muscles: Vec<TriMesh> = template.muscles.iter().map(|m| m.mesh.clone()).collect();
        let before = limb_measures(&template, &template.layers, &muscles, &joints);
        let after = &fit.report.limbs;
        let ratio = after.leg_muscle / before.leg_muscle;
        assert!((0.95..1.05).contains(&ratio), "{sex:?}: {ratio}");
        let thigh = after.thigh.fat_share() - before.thigh.fat_share();
        assert!(thigh.abs() < 0.06, "{sex:?}: {thigh}");
        let masses = &fit.report.masses;
        assert!((masses.fat - own.fat()).abs() < 0.5, "{masses:?}");
        let kappa = masses.masses.other_muscle / own.height().powi(2);
        let usual = if sex == Sex::Male { 1.5 } else { 1.0 };
        assert!((kappa / usual - 1.0).abs() < 0.25, "{sex:?}: {kappa}");
    }
}

/// Mean bodies of the space at usual heights and weights, with the masses that are estimated for them.
#[test]
fn usual_people_have_the_muscle_and_fat_of_people() {
    for (sex, height, volume) in [
        (Sex::Male, 1.76, 0.076),
        (Sex::Male, 1.76, 0.090),
        (Sex::Female, 1.63, 0.062),
        (Sex::Female, 1.63, 0.076),
    ] {
        let template = embedded(sex);
        let tape = Tape::new(&template.body).unwrap();
        let model = BodyModel::embedded(sex);
        let coefficients = model.steered(&vec![0.0; model.field_count()], height, volume);
        let rest = model.rest_vertices(&coefficients);
        let vertices = template.body.file_vertices.iter();
        let skin: Vec<Vec3> = vertices.map(|&v| rest[v as usize].as_vec3()).collect();
        let joints = model.rest_joints(&coefficients);
        let joints: Vec<Vec3> = joints.iter().map(|p| p.as_vec3()).collect();
        let measures = tape.measures(&skin, &joints);
        let made_of = composition(&measures, &Known::sex(sex), Regressors::embedded()).unwrap();
        let person = PersonSkin {
            skin: &skin,
            joints: &joints,
        };
        let transfer = Transfer::of_template(&template).unwrap();
        let (fat, muscle) = (made_of.fat_mass.value, made_of.muscle_mass.value);
        let fit = fitted_person(&template, &transfer, &person, fat, muscle).unwrap();
        let limbs = &fit.report.limbs;
        let published = published_leg_muscle(made_of.height, made_of.weight.value);
        let leg = limbs.leg_muscle / published;
        println!("{sex:?} {volume}: leg {leg:.2}, {limbs:?}");
        assert!((0.85..=1.15).contains(&leg), "{sex:?} {volume}: {leg}");
        let arm = 1e3 * limbs.arm_muscle;
        assert!((1.4..=4.5).contains(&arm), "{sex:?} {volume}: {arm}");
        let masses = &fit.report.masses;
        assert!((masses.fat - fat).abs() < 1.0, "{masses:?}");
        assert!((masses.muscle - muscle).abs() < 1.0, "{masses:?}");
        let visceral = masses.masses.places.visceral / (masses.fat / 0.85);
        let range = match sex {
            Sex::Male => 0.09..=0.21,
            Sex::Female => 0.045..=0.085,
        };
        assert!(range.contains(&visceral), "{sex:?}: {visceral}");
    }
}
