//! Wrap, skeleton surface and muscle surface of the embedded bodies.

use std::path::Path;

use glam::Vec3;
use supple_anatomy::bones::{embedded_bones, place_bones};
use supple_anatomy::layers::outside;
use supple_anatomy::template::surfaces::fps_shrinking::fps_shrunk;
use supple_anatomy::template::surfaces::muscle_surface::{MuscleTarget, muscle_surface};
use supple_anatomy::template::surfaces::skeleton_surface::{Shrinking, skeleton_surface};
use supple_anatomy::template::wrapping::enclosure::enclosure;
use supple_anatomy::template::wrapping::wrap::{is_wrapped, skeleton_wrap};
use supple_anatomy::{Body, Layers, Sex};
use supple_geom::{Adjacency, Surface};
use supple_rig::formats::{ReadOptions, load};

fn body(sex: Sex) -> Body {
    let name = if sex == Sex::Male { "male" } else { "female" };
    let path = format!("{}/../supple/assets/{name}.glb", env!("CARGO_MANIFEST_DIR"));
    let character = load(Path::new(&path), &ReadOptions::default()).unwrap();
    Body::from_character(&character, sex).unwrap()
}

/// Everything that must hold of the layers of a body.
fn check(sex: Sex) {
    let body = body(sex);
    let bones = place_bones(&embedded_bones().unwrap(), &body)
        .unwrap()
        .bones;
    let wrap = skeleton_wrap(&bones, &body.outer_surface()).unwrap();
    assert!(Adjacency::new(&wrap.mesh).is_closed_and_oriented(&wrap.mesh));
    assert_eq!((wrap.measures.genus, wrap.measures.outside_skin), (0, 0));
    assert!(wrap.measures.bones_inside > 0.985, "{:?}", wrap.measures);

    let skeleton = skeleton_surface(&body, &bones, &wrap.mesh, Shrinking::default()).unwrap();
    let mut layers = Layers {
        triangles: body.mesh.triangles.clone(),
        skin: body.mesh.positions.clone(),
        muscle: Vec::new(),
        skeleton,
        layered: body.layered(),
    };
    assert_eq!(outside(&body.mesh, &layers.skeleton, &layers.layered), 0);
    let points: Vec<Vec3> = (bones.iter().filter(|bone| is_wrapped(&bone.name)))
        .flat_map(|bone| bone.mesh.positions.iter().copied())
        .collect();
    for (points, least) in [(&points, 0.99), (&wrap.mesh.positions, 0.97)] {
        let found = enclosure(&layers.skeleton_mesh(), &layers.layered, points);
        assert!(
            found.inside >= least && found.farthest <= 0.003,
            "{found:?}"
        );
    }

    // Fat of a centimetre everywhere, or half of the way.
    let targets: Vec<MuscleTarget> = (layers.skin.iter().zip(&layers.skeleton))
        .map(|(skin, bone)| MuscleTarget {
            t: (0.01 / skin.distance(*bone).max(1e-6)).min(0.5),
            weight: 1.0,
        })
        .collect();
    layers.muscle = muscle_surface(&layers, &targets);
    let found = layers.measures();
    println!("{found:?}");
    assert_eq!(
        (
            found.inverted_fat,
            found.inverted_muscle,
            found.inverted_soft
        ),
        (0, 0, 0)
    );
    assert_eq!((found.muscle_outside, found.skeleton_outside), (0, 0));
    assert!(
        found.alignment.mean <= 0.05 && found.alignment.p95 <= 0.2,
        "{found:?}"
    );
    assert!(layers.tet_mesh().unsound(0.0).is_empty());

    // The older shrinking is worse in all of it.
    layers.skeleton = fps_shrunk(&body, &Surface::new(wrap.mesh));
    let old = layers.measures();
    assert!(
        old.inverted_soft > 50 && old.alignment.mean > 2.0 * found.alignment.mean,
        "{old:?}"
    );
}

#[test]
fn layers_of_the_embedded_man() {
    check(Sex::Male);
}

#[test]
fn layers_of_the_embedded_woman() {
    check(Sex::Female);
}
