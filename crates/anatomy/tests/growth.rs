//! Growth of the embedded bodies: kilograms, nesting, what must stay, and the way back.

use std::path::Path;

use glam::Vec3;
use supple_anatomy::body_model::BodyModel;
use supple_anatomy::growth::{
    FatGoal, Grown, Growth, GrowthBody, GrowthError, GrowthFlow, grown, growth_steps,
};
use supple_anatomy::layers::prism_volumes;
use supple_anatomy::person::carried::carried_thickness;
use supple_anatomy::person::{Masses, PersonSkin, Transfer, fitted_person};
use supple_anatomy::template::{FatRegion, load_template};
use supple_anatomy::{LayeredBody, Layers, Sex};

fn template(name: &str) -> LayeredBody {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../supple/assets");
    load_template(&assets.join(format!("{name}.template"))).unwrap()
}

fn fat(kilograms: f64) -> Growth<'static> {
    Growth {
        fat: FatGoal::Change(kilograms),
        ..Growth::default()
    }
}

fn rms(a: &Layers, b: &Layers) -> f64 {
    let chosen = (0..a.skin.len()).filter(|&v| a.layered[v]);
    let squares: Vec<f64> = chosen
        .map(|v| f64::from(a.skin[v].distance_squared(b.skin[v])))
        .collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

/// What must hold after any growth.
fn check(before: &LayeredBody, after: &Grown) {
    let report = &after.report;
    let [asked, got] = report.asked;
    assert!(
        (asked - got).abs() <= (0.02 * asked.abs()).max(0.1),
        "{asked} {got}"
    );
    let layers = &report.layers;
    assert_eq!((layers.inverted_fat, layers.inverted_muscle), (0, 0));
    assert_eq!((layers.muscle_outside, layers.skeleton_outside), (0, 0));
    assert!(
        report.crossings[1] <= report.crossings[0],
        "{:?}",
        report.crossings
    );
    let (old, new) = (&before.layers, &after.anatomy.layers);
    assert_eq!(old.skeleton, new.skeleton);
    for v in (0..old.skin.len()).filter(|&v| !old.layered[v]) {
        assert_eq!(old.skin[v], new.skin[v]);
    }
    let height = |points: &[Vec3]| {
        let ys = || points.iter().map(|p| p.y);
        ys().fold(f32::MIN, f32::max) - ys().fold(f32::MAX, f32::min)
    };
    assert_eq!(height(&old.skin), height(&new.skin));
    assert_eq!(before.bones, after.anatomy.bones);
    assert_eq!(after.anatomy.body.mesh.positions, new.skin);
    // Masses by the anatomy's own volumes are those reported.
    let fat_volume = new.skin_mesh().signed_volume() - new.muscle_mesh().signed_volume();
    assert!((after.masses.fat(fat_volume) - report.fat[1]).abs() < 1e-2);
    assert!((after.masses.muscle(fat_volume) - report.muscle[1]).abs() < 1e-2);
}

#[test]
fn a_man_gains_eight_kilograms_and_loses_them_again() {
    let man = template("male");
    let body = GrowthBody::of_anatomy(&man).unwrap();
    assert!((60.0..90.0).contains(&body.weight) && (8.0..25.0).contains(&body.fat()));
    let more = grown(&body, &fat(8.0)).unwrap();
    check(&man, &more);
    let [before, after] = more.report.muscle;
    assert!((after / before - 1.0).abs() < 0.01, "{before} {after}");
    // The belly's wall follows what is behind it: its muscles move, those of the legs do not.
    assert!(
        (0.8..1.45).contains(&(more.report.visceral[1] - more.report.visceral[0])),
        "{:?}",
        more.report.visceral
    );
    let moved = |name: &str| {
        let muscle = |t: &LayeredBody| {
            t.muscles
                .iter()
                .find(|m| m.name == name)
                .unwrap()
                .mesh
                .clone()
        };
        let (a, b) = (muscle(&man), muscle(&more.anatomy));
        (a.positions.iter().zip(&b.positions))
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max)
    };
    assert!(moved("rectus_abdominis_l") > 3e-3);
    assert!(moved("gastrocnemius_medialis_l").min(moved("soleus_l")) < 1e-3);
    let back = GrowthBody {
        anatomy: &more.anatomy,
        masses: more.masses,
        weight: more.report.weight[1],
    };
    let back = grown(&back, &fat(-8.0)).unwrap();
    check(&more.anatomy, &back);
    assert!(rms(&man.layers, &back.anatomy.layers) < 1e-3);
    assert!((back.report.fat[1] - body.fat()).abs() < 0.1);
}

#[test]
fn a_woman_loses_in_one_region_and_no_more_than_she_has() {
    let woman = template("female");
    let body = GrowthBody::of_anatomy(&woman).unwrap();
    let legs = Growth {
        regions: vec![FatRegion::Legs],
        ..fat(-2.0)
    };
    let less = grown(&body, &legs).unwrap();
    check(&woman, &less);
    let (old, new) = (&woman.layers, &less.anatomy.layers);
    let moved = |v: usize| old.skin[v].distance(new.skin[v]);
    let of = |region: FatRegion| -> Vec<usize> {
        let regions = (0..).zip(&woman.regions.fat);
        let chosen = regions.filter(|(_, found)| **found == Some(region));
        chosen.map(|(v, _)| v).collect()
    };
    let arms = of(FatRegion::Arms)
        .into_iter()
        .map(moved)
        .fold(0.0, f32::max);
    let legs = of(FatRegion::Legs);
    let mean = legs.iter().map(|&v| moved(v)).sum::<f32>() / legs.len() as f32;
    assert!(arms < 5e-4 && mean > 1.5e-3, "{arms} {mean}");
    // Thinner, nowhere thicker.
    let thickness = |layers: &Layers, v: usize| layers.skin[v].distance(layers.muscle[v]);
    assert!(
        legs.iter()
            .all(|&v| thickness(new, v) < thickness(old, v) + 2e-3)
    );
    assert!(matches!(
        grown(&body, &fat(-15.5)),
        Err(GrowthError::TooLean { .. })
    ));
    assert!(matches!(
        grown(&body, &fat(200.0)),
        Err(GrowthError::TooHeavy { .. })
    ));
    assert!(matches!(
        grown(&body, &fat(f64::NAN)),
        Err(GrowthError::NotFinite { .. })
    ));
    let strong = Growth {
        muscle: 30.0,
        ..Growth::default()
    };
    assert!(matches!(
        grown(&body, &strong),
        Err(GrowthError::Muscle { .. })
    ));
}

#[test]
fn muscle_grows_below_fat_that_stays_and_a_weight_is_reached() {
    let woman = template("female");
    let body = GrowthBody::of_anatomy(&woman).unwrap();
    let growth = Growth {
        muscle: 2.0,
        fat: FatGoal::Weight(body.weight + 2.0),
        ..Growth::default()
    };
    let (steps, strong) = growth_steps(&body, &growth, 2).unwrap();
    check(&woman, &strong);
    assert!((strong.report.muscle[1] - strong.report.muscle[0] - 2.0).abs() < 0.05);
    assert!((strong.report.weight[1] - strong.report.weight[0] - 2.0).abs() < 0.05);
    assert!((steps[0].kilograms - 1.0).abs() < 0.1 && (steps[1].kilograms - 2.0).abs() < 0.1);
    assert_eq!(steps[1].layers, strong.anatomy.layers);
}

#[test]
fn the_coarse_answer_is_near_the_fine_one_and_the_same_on_any_threads() {
    let man = template("male");
    let body = GrowthBody::of_anatomy(&man).unwrap();
    let grow = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut flow = GrowthFlow::new(&body, &fat(4.0)).unwrap();
            let coarse = flow.coarse(1.0);
            flow.advance(1.0).unwrap();
            (coarse, flow.layers())
        })
    };
    let (coarse, fine) = grow(1);
    assert!(rms(&coarse, &fine) < 1e-3);
    assert_eq!((coarse, fine), grow(3));
}

/// A man of the body space with a body mass index of 36, layered, with his masses and weight.
fn heavy_man() -> (LayeredBody, Masses, f64) {
    let mut man = template("male");
    let model = BodyModel::embedded(Sex::Male);
    let coefficients = model.steered(&vec![0.0; model.field_count()], 1.78, 0.115);
    let rest = model.rest_vertices(&coefficients);
    let vertices = man.body.file_vertices.iter();
    let skin: Vec<Vec3> = vertices.map(|&v| rest[v as usize].as_vec3()).collect();
    let joints = model.rest_joints(&coefficients);
    let joints: Vec<Vec3> = joints.iter().map(|p| p.as_vec3()).collect();
    let person = PersonSkin {
        skin: &skin,
        joints: &joints,
    };
    let transfer = Transfer::of_template(&man).unwrap();
    let fit = fitted_person(&man, &transfer, &person, 40.0, 37.0).unwrap();
    man.thickness = carried_thickness(&man.layers, &fit.layers, &man.thickness);
    man.body.mesh.positions = fit.layers.skin.clone();
    man.layers = fit.layers;
    // Growth of the skin alone is looked at.
    man.muscles.clear();
    man.bones.clear();
    (man, fit.report.masses.masses, 113.0)
}

#[test]
fn a_heavy_man_loses_on_the_trunk_and_among_the_organs_as_men_do() {
    let (man, masses, weight) = heavy_man();
    let body = GrowthBody {
        anatomy: &man,
        masses,
        weight,
    };
    for kilograms in [-10.0, -25.0] {
        let after = grown(&body, &fat(kilograms)).unwrap();
        // Fat among the organs goes with the rest, and comes.
        let [old, new] = after.report.visceral;
        let share = (new - old) / (kilograms / 0.85);
        assert!((0.08..0.2).contains(&share), "{kilograms}: {old} {new}");
        let layers = &after.report.layers;
        assert_eq!((layers.inverted_fat, layers.inverted_muscle), (0, 0));
        // The trunk takes the share that it has in people (NHANES: 0.57).
        let volume = |layers: &Layers| -> f64 {
            let is_trunk = |v: u32| {
                let region = man.regions.fat[v as usize];
                matches!(region, Some(FatRegion::Belly | FatRegion::Chest))
            };
            (layers.triangles.iter())
                .filter(|t| t.iter().filter(|&&v| is_trunk(v)).count() > 1)
                .map(|t| {
                    let outer = |v: u32| layers.skin[v as usize].as_dvec3();
                    let inner = |v: u32| layers.muscle[v as usize].as_dvec3();
                    prism_volumes(*t, outer, inner).iter().sum::<f64>()
                })
                .sum()
        };
        let gained = 920.0 * (volume(&after.anatomy.layers) - volume(&man.layers));
        let trunk = (gained + new - old) / (kilograms / 0.85);
        assert!((0.47..0.67).contains(&trunk), "{kilograms}: {trunk}");
    }
}
