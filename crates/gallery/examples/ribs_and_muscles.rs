//! Ribs stay below the muscles in thin and in heavy people (figure 4.14), where a warp of the skin alone drives them through.

mod common;

use common::harmonic::HarmonicWarp;
use common::people::{MUSCLE, Mould, layer};
use supple::embedded::Body;
use supple::geom::{Surface, TriMesh};
use supple::glam::{Vec3, vec3};
use supple_picture::DrawMesh;

const SIZE: (usize, usize) = (300, 300);

fn main() {
    let mould = Mould::new(Body::Male);
    let template = &mould.template;
    let people = [
        ("thin", mould.someone(1.80, 18.0, &[])),
        ("heavy", mould.someone(1.75, 34.0, &[])),
    ];
    let mut tiles = Vec::new();
    let mut counts = Vec::new();
    for (name, person) in &people {
        let fit = mould.fit(person);
        let harmonic = HarmonicWarp::new(&template.layers.skin_mesh(), &person.skin);
        let warped: Vec<TriMesh> = (template.bones.iter())
            .map(|b| harmonic.mesh(&b.bone.mesh))
            .collect();
        let surface = Surface::new(fit.layers.muscle_mesh());
        let (bottom, top) = (person.joints[0].y, neck(&mould, &person.joints));
        let corners = [vec3(-0.24, bottom + 0.02, 0.0), vec3(0.24, top, 0.0)];
        let camera = common::view_in(SIZE, &corners, vec3(0.45, 0.1, 1.0));
        for (how, bones) in [("skin alone", &warped), ("layers", &fit.bones)] {
            let ribs = mould.ribs(bones);
            let out = |p: &&Vec3| surface.signed_distance(**p).is_none_or(|d| d > 1e-3);
            let count = ribs.iter().filter(out).count();
            let share = 100.0 * count as f32 / ribs.len() as f32;
            let wall: DrawMesh = layer(&fit.layers, &fit.layers.muscle, MUSCLE);
            let meshes = vec![wall, mould.bones(bones)];
            let text = format!("{name}, {how}: {share:.1} % of the ribs cut through");
            tiles.push((common::tile_in(SIZE, meshes, vec![], &camera), text));
            counts.push(count);
        }
        assert!(common::people::is_nested(&fit.report), "{name}");
    }
    let title = "Ribs and the surface around all muscles";
    common::save("ribs_and_muscles", &common::sheet(title, &tiles, 4));
    println!("vertices of ribs outside the muscle surface: {counts:?}");
    assert!(counts[1] == 0 && counts[3] == 0);
    assert!(counts[2] > 1000);
}

/// Height of the neck's base [m].
fn neck(mould: &Mould, joints: &[Vec3]) -> f32 {
    let neck = mould.template.body.skeleton.find("neck01").unwrap();
    joints[neck].y
}
