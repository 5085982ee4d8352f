//! Two characters hug: contact between two bodies.

mod common;

use std::sync::Arc;

use common::touch::{self, Painter, Shot};
use supple::embedded::{Body, body};
use supple::flesh::Flesh;
use supple::flesh::settings::ContactMode;
use supple::glam::{Vec3, vec3};
use supple::scene::{Scene, standing_at};
use supple::{Character, Pose};
use supple_picture::hex;

/// Arms around the other's waist.
const LOW: &str = "
title = \"Hug low\"
[[key]]
time = 0.0
upperArm = [0, -35, -40]
lowerArm = [0, -20, 0]
[[key]]
time = 0.9
shoulder = [0, -10, 0]
leftUpperArm = [0, -52, -38]
rightUpperArm = [0, 50, 18]
lowerArm = [0, -108, 0]
spine = [3, 0, 0]
neck = [0, 0, 22]
";
/// Arms around the other's shoulders.
const HIGH: &str = "
title = \"Hug high\"
[[key]]
time = 0.0
upperArm = [0, -40, -10]
lowerArm = [0, -15, 0]
[[key]]
time = 0.9
shoulder = [0, -8, 0]
leftUpperArm = [0, -52, -14]
rightUpperArm = [0, 52, 34]
lowerArm = [0, -118, 0]
spine = [3, 0, 0]
neck = [0, 0, 22]
";
/// Distance between both bodies at the beginning and in the hug [m].
const DISTANCES: [f32; 2] = [0.5, 0.27];
const SECONDS: f32 = 1.4;
const STEP: f64 = 1.0 / 60.0;
const SIZE: (usize, usize) = (300, 330);

fn main() {
    let characters = [body(Body::Male).unwrap(), body(Body::Female).unwrap()];
    let tissue = [0, 1].map(|i| touch::touching(&characters[i], ContactMode::Global));
    let (deep, _) = hug(&characters, &tissue, ContactMode::Off);
    let (inside, scene) = hug(&characters, &tissue, ContactMode::Global);
    println!(
        "inside without contact: {} points, at most {:.1} mm deep; with contact: {}, at most {:.1} mm",
        deep.0.len(),
        1e3 * deep.1,
        inside.0.len(),
        1e3 * inside.1
    );
    let mut painters = [0, 1].map(|i| Painter::new(&characters[i], &tissue[i]));
    painters[1].plain = hex(0x9cb8de);
    let all = inside.2.iter().flat_map(|shot| &shot.simulated);
    let chests: Vec<Vec3> = all.copied().filter(|p| p.y > 0.8).collect();
    let mut tiles = Vec::new();
    for (shots, points, name, depth) in [
        (&deep.2, &deep.0, "without contact", deep.1),
        (&inside.2, &inside.0, "with contact", inside.1),
    ] {
        for direction in [vec3(1.0, 0.1, 0.2), vec3(0.8, 1.3, -0.9)] {
            let camera = common::view_in(SIZE, &chests, direction);
            let mut meshes = Vec::new();
            for body in 0..2 {
                let range = scene.points_of(body);
                let own = points.iter().filter(|&&p| range.contains(&(p as usize)));
                let own: Vec<u32> = own.map(|&p| p - range.start as u32).collect();
                meshes.extend(painters[body].marked(&shots[body], &own));
            }
            let caption = format!(
                "{name}: {} inside, {:.0} mm deep",
                points.len(),
                1e3 * depth
            );
            tiles.push((common::tile_in(SIZE, meshes, vec![], &camera), caption));
        }
    }
    common::save("hug", &common::sheet("A hug; red: inside", &tiles, 4));
    assert!(
        deep.0.len() > 100 && deep.1 > 0.02,
        "without contact the bodies should penetrate"
    );
    assert!(
        inside.0.len() * 4 < deep.0.len(),
        "{} points inside",
        inside.0.len()
    );
    assert!(inside.1 < 0.7 * deep.1, "{} m inside", inside.1);
}

/// Points inside at the end, the largest depth, both bodies.
type Inside = (Vec<u32>, f32, [Shot; 2]);

fn hug(characters: &[Character; 2], tissue: &[Flesh; 2], mode: ContactMode) -> (Inside, Scene) {
    let clips = [
        touch::keyed(&characters[0], HIGH),
        touch::keyed(&characters[1], LOW),
    ];
    let turns = [0.0, 180.0];
    let bodies = [0, 1].map(|i| {
        let flesh = Arc::new(tissue[i].clone());
        let skeleton = characters[i].skeleton.clone();
        (
            flesh,
            skeleton,
            standing_at(vec3(0.09 * i as f32, 0.0, 0.0), turns[i]),
        )
    });
    let mut scene = Scene::new(bodies.into(), Vec::new());
    if mode == ContactMode::Off {
        scene.solver_settings().contact.mode = supple::sim::ContactMode::Off;
    }
    let poses = |time: f32| -> Vec<Pose> {
        let way = (time / 1.0).min(1.0);
        let apart = DISTANCES[0] + (DISTANCES[1] - DISTANCES[0]) * way * way * (3.0 - 2.0 * way);
        let each = characters.iter().zip(&clips);
        each.map(|(character, clip)| {
            let mut pose = clip.sample(&character.skeleton, time);
            // Each body is moved back by half the distance.
            let back = supple::sim::contact::Placement::at(vec3(0.0, 0.0, -0.5 * apart));
            pose = supple::scene::placed_pose(&character.skeleton, &pose, &back);
            pose
        })
        .collect()
    };
    scene.place(&poses(0.0)).unwrap();
    let steps = (f64::from(SECONDS) / STEP) as usize;
    for step in 1..=steps {
        let time = (step as f64 * STEP) as f32;
        scene.advance(&poses(time), STEP).unwrap();
    }
    let inside = scene.penetration().unwrap();
    let shots = [0, 1].map(|body| Shot {
        parts: scene.positions(body),
        simulated: scene.simulated_skin(body).unwrap(),
    });
    ((inside.points.clone(), inside.worst(), shots), scene)
}
