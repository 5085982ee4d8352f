//! The skeleton surface beside the inner surface of Fast Projective Skinning (figures 4.4 and 4.6): how well skin and bone lie over each other.

mod common;

use common::BONE;
use supple::anatomy::Layers;
use supple::anatomy::layers::{LayerMeasures, alignment_scores};
use supple::anatomy::template::surfaces::fps_shrinking::fps_shrunk;
use supple::anatomy::template::wrapping::wrap::skeleton_wrap;
use supple::embedded::{Body, template};
use supple::geom::Surface;
use supple::glam::{Vec3, vec3};
use supple_picture::{Camera, Colour, DrawMesh, Image, Line, Ramp};

/// Width and height of a tile [px].
const SIZE: (usize, usize) = (300, 420);

/// Score that is drawn darkest.
const WORST: f64 = 0.4;

/// The trunk, seen larger [m].
const TRUNK: [Vec3; 2] = [vec3(-0.2, 0.95, -0.1), vec3(0.2, 1.48, 0.1)];

fn main() {
    let man = template(Body::Male).unwrap();
    let bones: Vec<_> = man.bones.iter().map(|entry| entry.bone.clone()).collect();
    let wrap = skeleton_wrap(&bones, &man.body.outer_surface()).unwrap();
    let older = Layers {
        skeleton: fps_shrunk(&man.body, &Surface::new(wrap.mesh.clone())),
        ..man.layers.clone()
    };
    let ways = [
        ("shrunk along rays to bone lines", older),
        ("non-rigid registration", man.layers.clone()),
    ];
    let whole: Vec<Vec3> = (man.layers.skin.iter().zip(&man.layers.layered))
        .filter_map(|(p, layered)| layered.then_some(*p))
        .collect();
    let far = common::view_in(SIZE, &whole, vec3(0.35, 0.05, 1.0));
    let near = common::view_in(SIZE, &TRUNK, vec3(0.5, 0.1, 1.0));
    let mut tiles = vec![(
        common::tile_in(
            SIZE,
            vec![DrawMesh::owned(wrap.mesh).coloured(BONE)],
            vec![],
            &far,
        ),
        "bones, wrapped".to_owned(),
    )];
    let measures = ways.each_ref().map(|(_, layers)| layers.measures());
    for ((name, layers), found) in ways.iter().zip(&measures) {
        let scores = scores(layers);
        let caption = format!(
            "{name}: score {:.3}, {} of {} prisms inverted",
            found.alignment.mean, found.inverted_soft, found.prisms
        );
        tiles.push((surface(layers, &scores, &far), caption));
        tiles.push((
            lines(layers, &scores, &near),
            "skin and what belongs to it".to_owned(),
        ));
    }
    common::save(
        "skeleton_surface",
        &common::sheet("Skin over bone: alignment (4.4)", &tiles, 5),
    );
    check(&measures);
}

/// Score of each vertex; 0 where there are no layers.
fn scores(layers: &Layers) -> Vec<f64> {
    let scores = alignment_scores(
        &layers.triangles,
        &layers.skin,
        &layers.skeleton,
        &layers.layered,
    );
    scores
        .into_iter()
        .map(|score| score.unwrap_or(0.0))
        .collect()
}

fn colour(score: f64) -> Vec3 {
    Ramp::Ember.at((score / WORST).min(1.0) as f32)
}

/// The inner surface, coloured by score.
fn surface(layers: &Layers, scores: &[f64], camera: &Camera) -> Image {
    let colours: Vec<Vec3> = scores.iter().map(|&score| colour(score)).collect();
    let mesh = DrawMesh::owned(layers.skeleton_mesh()).coloured(Colour::Vertices(colours));
    common::tile_in(SIZE, vec![mesh], vec![], camera)
}

/// Lines from skin to inner surface on the front of the trunk.
fn lines(layers: &Layers, scores: &[f64], camera: &Camera) -> Image {
    let [low, high] = TRUNK;
    let lines = (0..layers.skin.len())
        .filter(|&v| layers.layered[v])
        .filter(|&v| {
            let p = layers.skin[v];
            p.z > 0.0 && (low.y..high.y).contains(&p.y) && p.x.abs() < high.x
        })
        .map(|v| Line {
            from: layers.skin[v],
            to: layers.skeleton[v],
            colour: colour(scores[v]).lerp(Vec3::ZERO, 0.2),
            width: 1.4,
            on_top: true,
        })
        .collect();
    let mut bone = DrawMesh::owned(layers.skeleton_mesh()).coloured(BONE);
    bone.casts_shadow = false;
    common::tile_in(SIZE, vec![bone], lines, camera)
}

fn check([older, ours]: &[LayerMeasures; 2]) {
    for (name, found) in [("rays", older), ("registration", ours)] {
        println!(
            "{name}: score {:.3} in the mean, {:.3} for 95 %; {} of {} prisms inverted, {} vertices outside the skin",
            found.alignment.mean,
            found.alignment.p95,
            found.inverted_soft,
            found.prisms,
            found.skeleton_outside
        );
    }
    assert!(ours.alignment.mean <= 0.05 && ours.alignment.p95 <= 0.2);
    assert_eq!(ours.inverted_soft, 0);
    assert!(older.alignment.mean > 2.0 * ours.alignment.mean && older.inverted_soft > 50);
}
