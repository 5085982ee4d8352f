//! Layered bodies of the embedded templates and of people fitted with them.

use glam::Vec3;
use supple::Subject;
use supple::anatomy::tissue_layers::bound_to_bones;
use supple::anatomy::{LayeredBody, Sex};
use supple::embedded;
use supple::flesh::GivenLayers;
use supple::inside::Inside;
use supple::tissue::SoftBody;
use supple_lab::layered_motion::{
    SideJump, Torso, folds, mean_shear, triangles_within, turned_spine,
};
use supple_lab::people::person_of_bmi;
use supple_lab::trials::Trial;

struct Case {
    made: Subject,
    torso: Torso,
}

impl Case {
    fn new(anatomy: &LayeredBody) -> Self {
        let made = Subject::from(anatomy);
        let torso = Torso::new(anatomy, made.layers().unwrap()).unwrap();
        Self { made, torso }
    }

    fn body(&self, layers: Option<&GivenLayers>) -> SoftBody {
        let builder = SoftBody::builder(self.made.character());
        match layers {
            Some(layers) => builder.layers(layers.clone()).build().unwrap(),
            None => builder.build().unwrap(),
        }
    }

    fn triangles(&self, region: &[u32]) -> Vec<[u32; 3]> {
        triangles_within(&self.made.parts[0].mesh.triangles, region)
    }

    /// Skin in a turn of the trunk.
    fn turned(&self, body: &mut SoftBody, axis: Vec3, degrees: f32) -> Vec<Vec3> {
        let rest = body.flesh().rest_pose();
        let pose = turned_spine(&self.made.skeleton, &rest, axis, degrees);
        body.reset(&pose).unwrap();
        body.positions().swap_remove(0)
    }
}

/// Figures 4.17b and c: the belly swings and the rib cage does not; the rib cage turns as a whole.
#[test]
fn a_heavy_man_moves_on_his_bones() {
    let anatomy = person_of_bmi(Sex::Male, 30.0).unwrap();
    let case = Case::new(&anatomy);
    assert!(case.torso.belly.len() > 80 && case.torso.ribs.len() > 200);
    let ribs = case.triangles(&case.torso.ribs);
    let rest = case.made.parts[0].mesh.positions.clone();
    let [two, three] = [None, case.made.layers()].map(|layers| {
        let mut body = case.body(layers);
        assert_eq!(body.quality().inverted, 0);
        let regions = [&case.torso.belly[..], &case.torso.ribs[..]];
        let swings = SideJump::default().swings(&mut body, 0, &regions).unwrap();
        let now = case.turned(&mut body, Vec3::Y, 45.0);
        (swings[0] / swings[1], mean_shear(&ribs, &rest, &now))
    });
    println!("swing ratio and shear: {two:?} with two layers, {three:?} with three");
    assert!(three.0 > 3.0 * two.0 && three.1 < 0.5 * two.1);
}

/// Figure 4.18: bent backwards by any angle, the skin has folds where every vertex is bound to its bone, and none with sliding regions.
#[test]
fn sliding_regions_bend_without_folds() {
    let anatomy = embedded::template(embedded::Body::Male).unwrap();
    let case = Case::new(&anatomy);
    let waist = case.triangles(&case.torso.waist);
    let rest = case.made.parts[0].mesh.positions.clone();
    let held = bound_to_bones(&anatomy, case.made.skin_vertices().to_vec());
    let [free, held] = [case.made.layers().unwrap(), &held].map(|layers| {
        let mut body = case.body(Some(layers));
        [30.0, 45.0, 60.0].map(|degrees| {
            let now = case.turned(&mut body, Vec3::NEG_X, degrees);
            folds(&waist, &rest, &now, 30.0)
        })
    });
    println!(
        "edges folded by 30°, bent by 30, 45 and 60°: {free:?} with sliding regions, {held:?} without"
    );
    assert_eq!(free, [0; 3]);
    assert!(held[1] > 0 && held[2] > 5);
}

/// Centimetres of fat over the small of the back crease where the tissue's stiffness has a step.
#[test]
fn a_heavy_woman_bends_without_folds() {
    let anatomy = person_of_bmi(Sex::Female, 30.0).unwrap();
    let case = Case::new(&anatomy);
    let waist = case.triangles(&case.torso.waist);
    let rest = case.made.parts[0].mesh.positions.clone();
    let [two, three] = [None, case.made.layers()].map(|layers| {
        let now = case.turned(&mut case.body(layers), Vec3::NEG_X, 60.0);
        folds(&waist, &rest, &now, 30.0)
    });
    println!("{two} folded edges with two layers, {three} with three");
    assert!(three <= 1 && two > 3);
}

/// A part of what `examples/layered_bodies.rs` does, and muscles and bones in motion.
#[test]
fn a_woman_comes_back_from_wild_poses() {
    let anatomy = embedded::template(embedded::Body::Female).unwrap();
    let made = Subject::from(&anatomy);
    let mut body = SoftBody::builder(&made)
        .resolution(supple::flesh::settings::Resolution::Vertices(1500))
        .build()
        .unwrap();
    assert_eq!(body.quality().inverted, 0);
    let inside = Inside::new(&anatomy, body.flesh());
    let [muscles, bones] = body.inside(&inside);
    let rests = anatomy.muscles.iter().flat_map(|m| &m.mesh.positions);
    let off = muscles.iter().zip(rests).map(|(a, b)| a.distance(*b));
    assert!(off.fold(0.0, f32::max) < 1e-4);
    let count: usize = (anatomy.bones.iter().map(|b| b.bone.mesh.positions.len())).sum();
    assert_eq!(bones.len(), count);
    let mut trial = Trial::new(&made, &mut body).unwrap();
    let shake = embedded::clip("shake", &made).unwrap();
    let shaken = trial.clip(&shake, 1.0).unwrap();
    let wild = trial.wild(40, 60.0).unwrap();
    println!("{shaken:?}\n{wild:?}");
    for outcome in [&shaken, &wild] {
        assert!(outcome.finite && outcome.off_mm < 1.0 && outcome.inverted == 0);
    }
    assert!(shaken.smallest > 0.7);
}
