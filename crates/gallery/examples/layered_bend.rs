//! Figure 4.18: a man bends backwards, with a skeleton surface that slides at the waist, with one bound to bones everywhere, and with two layers.

mod common;

use common::{save, sheet, tile_in, view_in};
use supple::Subject;
use supple::anatomy::tissue_layers::bound_to_bones;
use supple::embedded::{self, Body};
use supple::geom::TriMesh;
use supple::glam::Vec3;
use supple::tissue::SoftBody;
use supple_lab::layered_motion::{Torso, folds, triangles_within, turned_spine};
use supple_picture::DrawMesh;

/// Angle of the bend, and of an edge that counts as a fold [°].
const BEND: f32 = 60.0;
const FOLD: f32 = 30.0;
const TILE: (usize, usize) = (400, 460);

fn main() {
    let anatomy = embedded::template(Body::Male).unwrap();
    let made = Subject::from(&anatomy);
    let (character, layers) = (made.character(), made.layers().unwrap());
    let torso = Torso::new(&anatomy, layers).unwrap();
    let triangles = &character.parts[0].mesh.triangles;
    let waist = triangles_within(triangles, &torso.waist);
    let rest = &character.parts[0].mesh.positions;
    let held = bound_to_bones(&anatomy, layers.vertices.clone());
    let middle = anatomy.body.joint("spine03").unwrap();
    let around = [middle - Vec3::splat(0.26), middle + Vec3::splat(0.26)];
    let camera = view_in(TILE, &around, Vec3::new(1.0, 0.08, -0.25));
    let mut tiles = Vec::new();
    let mut counts = Vec::new();
    for (name, layers) in [
        ("sliding regions", Some(layers)),
        ("bound to bones", Some(&held)),
        ("two layers", None),
    ] {
        let builder = SoftBody::builder(character);
        let mut body = match layers {
            Some(layers) => builder.layers(layers.clone()).build().unwrap(),
            None => builder.build().unwrap(),
        };
        let rest_pose = body.flesh().rest_pose();
        let pose = turned_spine(&character.skeleton, &rest_pose, Vec3::NEG_X, BEND);
        body.reset(&pose).unwrap();
        let mesh = TriMesh {
            positions: body.positions().swap_remove(0),
            triangles: triangles.clone(),
        };
        let count = folds(&waist, rest, &mesh.positions, FOLD);
        println!("{name}: {count} edges folded by more than {FOLD}°");
        counts.push(count);
        let picture = tile_in(TILE, vec![DrawMesh::owned(mesh)], vec![], &camera);
        tiles.push((picture, format!("{name}: {count} folded edges")));
    }
    assert_eq!(counts[0], 0, "the skin bends without folds");
    assert!(counts[1] > 5, "a surface that is held everywhere folds");
    save("layered_bend", &sheet("Bent backwards by 60°", &tiles, 3));
}
