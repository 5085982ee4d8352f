//! Two characters hug: their bodies press each other, and neither is inside the other.

mod common;

use common::touch;
use supple::embedded::{Body, body};
use supple::flesh::Flesh;
use supple::flesh::settings::ContactMode;
use supple::glam::{Vec3, vec3};
use supple::scene::{Scene, standing_at};
use supple::{Character, Pose};

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
upperArm = [0, -48, -35]
lowerArm = [0, -84, 0]
spine = [3, 0, 0]
neck = [0, 0, -18]
";
/// Arms around the other's neck.
const HIGH: &str = "
title = \"Hug high\"
[[key]]
time = 0.0
upperArm = [0, -40, 5]
lowerArm = [0, -15, 0]
[[key]]
time = 0.9
shoulder = [0, -8, 8]
upperArm = [0, -50, 14]
lowerArm = [0, -84, 0]
spine = [3, 0, 0]
neck = [0, 0, -18]
";
/// Between the middles of both at the beginning and in the hug [m].
const APART: [f32; 2] = [0.5, 0.26];
const SECONDS: f32 = 1.4;
const STEP: f64 = 1.0 / 60.0;
const SIZE: (usize, usize) = (300, 330);

fn main() {
    let characters = [body(Body::Male).unwrap(), body(Body::Female).unwrap()];
    let tissue = [0, 1].map(|i| touch::touching(&characters[i], ContactMode::Global));
    let (deep, _) = hug(&characters, &tissue, ContactMode::Off);
    let (inside, scene) = hug(&characters, &tissue, ContactMode::Global);
    println!(
        "inside: {} points up to {:.1} mm without contact, {} up to {:.1} mm with it",
        deep.0.len(),
        1e3 * deep.1,
        inside.0.len(),
        1e3 * inside.1
    );
    let bodies = [0, 1].map(|body| scene.simulated_skin(body).unwrap());
    let chest: Vec<Vec3> = (bodies.iter().flatten().copied())
        .filter(|p| p.y > 0.85)
        .collect();
    let mut tiles = Vec::new();
    for (skins, points, name, depth) in [
        (&deep.2, &deep.0, "without contact", deep.1),
        (&inside.2, &inside.0, "with contact", inside.1),
    ] {
        for direction in [vec3(1.0, 0.1, 0.0), vec3(0.7, 1.2, 0.5)] {
            let camera = common::view_in(SIZE, &chest, direction);
            let drawn = (0..2).map(|body| {
                let range = scene.points_of(body);
                let own = points.iter().filter(|&&p| range.contains(&(p as usize)));
                let own: Vec<u32> = own.map(|&p| p - range.start as u32).collect();
                let mut mesh = touch::marked(scene.flesh(body), &skins[body], &own);
                if body == 1 {
                    mesh = recoloured(mesh);
                }
                mesh
            });
            let caption = format!(
                "{name}: {} inside, {:.0} mm deep",
                points.len(),
                1e3 * depth
            );
            tiles.push((
                common::tile_in(SIZE, drawn.collect(), vec![], &camera),
                caption,
            ));
        }
    }
    common::save("hug", &common::sheet("A hug; red: inside", &tiles, 4));
    assert!(
        deep.0.len() > 100 && deep.1 > 0.02,
        "they would be inside each other"
    );
    assert!(
        inside.0.len() * 20 < deep.0.len(),
        "{} points inside",
        inside.0.len()
    );
    assert!(inside.1 < 0.01, "{} m inside", inside.1);
}

/// The other one in another colour.
fn recoloured(mesh: supple::picture::DrawMesh<'static>) -> supple::picture::DrawMesh<'static> {
    let blue = supple::picture::hex(0x9cb8de);
    match mesh.colour.clone() {
        supple::picture::Colour::Vertices(colours) => {
            let is_clay = |c: &Vec3| *c == supple::picture::scene::CLAY;
            let changed = colours.iter().map(|c| if is_clay(c) { blue } else { *c });
            let changed: Vec<Vec3> = changed.collect();
            mesh.coloured(changed)
        }
        _ => mesh,
    }
}

/// Points inside at the end, the depth of the deepest, both skins.
type Inside = (Vec<u32>, f32, [Vec<Vec3>; 2]);

fn hug(characters: &[Character; 2], tissue: &[Flesh; 2], mode: ContactMode) -> (Inside, Scene) {
    let clips = [
        touch::keyed(&characters[0], LOW),
        touch::keyed(&characters[1], HIGH),
    ];
    let turns = [0.0, 180.0];
    let bodies = [0, 1].map(|i| {
        let flesh = tissue[i].clone();
        let skeleton = characters[i].skeleton.clone();
        (flesh, skeleton, standing_at(Vec3::ZERO, turns[i]))
    });
    let mut scene = Scene::new(bodies.into(), Vec::new());
    if mode == ContactMode::Off {
        scene.solver_settings().contact.mode = supple::sim::ContactMode::Off;
    }
    let poses = |time: f32| -> Vec<Pose> {
        let way = (time / 1.0).min(1.0);
        let apart = APART[0] + (APART[1] - APART[0]) * way * way * (3.0 - 2.0 * way);
        let each = characters.iter().zip(&clips);
        each.map(|(character, clip)| {
            let mut pose = clip.sample(&character.skeleton, time);
            // Each steps back by half the distance from where both stand.
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
    let skins = [0, 1].map(|body| scene.simulated_skin(body).unwrap());
    ((inside.points.clone(), inside.worst(), skins), scene)
}
