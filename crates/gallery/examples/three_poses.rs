//! Three poses (figure 3.17): linear blend, dual quaternions, tissue, and tissue with contact.

mod common;

use common::touch;
use supple::Character;
use supple::embedded::{Body, body};
use supple::flesh::settings::ContactMode;
use supple::geom::TriMesh;
use supple::glam::{Vec3, vec3};
use supple::play::follow;
use supple::rig::skinning::Method;
use supple::tissue::SoftBody;
use supple_picture::DrawMesh;

/// Poses, reached within a second, and the direction of the view.
const POSES: [(&str, &str, [f32; 3]); 3] = [
    (
        "a deep squat",
        "upperLeg = [-95, 12, 0]\nlowerLeg = [125, 0, 0]\nfoot = [-20, 0, 0]\nspine = [25, 0, 0]\nupperArm = [0, -75, -10]\nlowerArm = [0, -10, 0]",
        [1.0, 0.1, 0.5],
    ),
    (
        "arms folded",
        "upperArm = [0, -30, -60]\nlowerArm = [0, -140, 0]\nchest = [0, 15, 0]",
        [0.5, 0.1, 1.0],
    ),
    (
        "a leg drawn up",
        "leftUpperLeg = [-95, 0, 0]\nleftLowerLeg = [130, 0, 0]\nspine = [20, 15, 0]\nleftUpperArm = [20, -40, -60]\nleftLowerArm = [0, -60, 0]\nrightUpperArm = [0, 0, 60]",
        [0.9, 0.1, 0.7],
    ),
];
const SIZE: (usize, usize) = (230, 280);

fn main() {
    let character = body(Body::Male).unwrap();
    let flesh = touch::touching(&character, ContactMode::Global);
    let mut bodies = [touch::without(&flesh), flesh].map(|f| SoftBody::from_flesh(f).unwrap());
    let mut tiles = Vec::new();
    let mut totals = [0, 0];
    for (name, keys, direction) in POSES {
        let text =
            format!("title = \"{name}\"\n[[key]]\ntime = 0.0\n[[key]]\ntime = 1.0\n{keys}\n");
        let clip = touch::keyed(&character, &text);
        let pose = clip.sample(&character.skeleton, 1.0);
        let mut skins: Vec<(Vec<Vec<Vec3>>, String)> = Vec::new();
        for (method, label) in [
            (Method::Lbs, "linear blend"),
            (Method::Dqs, "dual quaternions"),
        ] {
            let parts = character.skin(&pose, method);
            skins.push((
                parts.into_iter().map(|part| part.positions).collect(),
                label.to_owned(),
            ));
        }
        for (k, label) in ["tissue", "tissue, contact"].into_iter().enumerate() {
            let times = [0.0, 0.5, 1.0, 1.5];
            follow(
                &mut bodies[k],
                &character,
                &clip,
                &times,
                &mut |_, _| Ok(()),
            )
            .unwrap();
            let inside = bodies[k].penetration().unwrap();
            totals[k] += inside.count();
            let caption = format!("{label}: {} inside", inside.count());
            println!("{name}, {caption}, {:.1} mm deep", 1e3 * inside.worst());
            skins.push((bodies[k].positions(), caption));
        }
        let points: Vec<Vec3> = skins[2].0.iter().flatten().copied().collect();
        let [x, y, z] = direction;
        let camera = common::view_in(SIZE, &points, vec3(x, y, z));
        for (skin, caption) in skins {
            let meshes = draw(&character, &skin);
            tiles.push((common::tile_in(SIZE, meshes, vec![], &camera), caption));
        }
    }
    common::save("three_poses", &common::sheet("Three poses", &tiles, 4));
    assert!(3 * totals[1] < totals[0], "inside: {totals:?}");
}

fn draw(character: &Character, skin: &[Vec<Vec3>]) -> Vec<DrawMesh<'static>> {
    let parts = character.parts.iter().zip(skin);
    let meshes = parts.map(|(part, positions)| TriMesh {
        positions: positions.clone(),
        triangles: part.mesh.triangles.clone(),
    });
    meshes.map(DrawMesh::owned).collect()
}
