//! Fat below the belly's wall pushes it out (figure 4.10): sections of a lean and of two corpulent men.

mod common;

use common::people::{Mould, Someone, mesh};
use supple::anatomy::person::PersonFit;
use supple::embedded::Body;
use supple::geom::TriMesh;
use supple::geom::section::Plane;
use supple::glam::Vec3;
use supple_lab::section_drawing::SectionDrawing;
use supple_picture::{Image, hex};

const SIZE: usize = 310;
const FAT: Vec3 = hex(0xf3d98f);
const WALL: Vec3 = hex(0xa8382f);
const INSIDE: Vec3 = hex(0xe6b9a8);
const BONE: Vec3 = hex(0xefe5cc);
const EDGE: Vec3 = hex(0x4a2a26);
const PAPER: Vec3 = hex(0xfbfaf8);
/// Half the width of level sections and of those from the side [m].
const REACH: [f32; 2] = [0.22, 0.32];

fn main() {
    let mould = Mould::new(Body::Male);
    let belly = [("waist depth", 0.12)];
    let people = [
        ("lean", mould.someone(1.78, 21.0, &[])),
        ("corpulent", mould.someone(1.78, 29.0, &belly)),
        ("obese", mould.someone(1.78, 36.0, &belly)),
    ];
    let mut tiles = Vec::new();
    let mut found = Vec::new();
    for (name, person) in &people {
        let fit = mould.fit(person);
        let visceral = fit.report.masses.masses.places.visceral;
        let depth = wall_depth(person, &fit);
        let text = format!(
            "{name}: visceral {visceral:.1} kg, wall {:.0} cm from the back",
            100.0 * depth
        );
        tiles.push((draw(&mould, person, &fit, true), text));
        found.push((visceral, depth, fit.report.masses.fat));
        tiles.push((
            draw(&mould, person, &fit, false),
            format!("{name}: from the side"),
        ));
    }
    // Level sections above, those from the side below.
    let tiles: Vec<_> = (tiles.iter().step_by(2))
        .chain(tiles.iter().skip(1).step_by(2))
        .cloned()
        .collect();
    let title = "Fat below the skin (yellow), belly wall (red), fat and organs inside it";
    common::save("visceral_fat", &common::sheet(title, &tiles, 3));
    println!("visceral fat [kg], depth of the wall [m], fat [kg]: {found:.3?}");
    assert!(
        found
            .windows(2)
            .all(|pair| pair[1].0 > pair[0].0 + 0.3 && pair[1].1 > pair[0].1 + 0.01)
    );
    // 10 to 20 % of men's fat is published (docs/method/composition.md).
    let share = |&(visceral, _, fat): &(f64, f32, f64)| visceral / fat;
    assert!(found.iter().all(|man| (0.08..0.22).contains(&share(man))));
}

/// Level of the navel [m].
fn navel(person: &Someone) -> f32 {
    0.61 * person.skin.iter().map(|p| p.y).fold(f32::MIN, f32::max)
}

/// The belly's inner wall: the muscle surface less the thickness of its muscles.
fn inner_wall(mould: &Mould, fit: &PersonFit) -> TriMesh {
    let (layers, template) = (&fit.layers, &mould.template);
    let before = &template.layers;
    let place = |v: usize| {
        let line = layers.skeleton[v] - layers.muscle[v];
        let usual = before.muscle[v].distance(before.skeleton[v]).max(1e-6);
        let share = if template.regions.abdomen[v] {
            (template.thickness[v] / usual).min(1.0)
        } else {
            1.0
        };
        let thick = share * usual;
        layers.muscle[v] + line.clamp_length_max(thick.min(line.length()))
    };
    let positions: Vec<Vec3> = (0..layers.skin.len()).map(place).collect();
    mesh(&positions, &layers.triangles)
}

/// How far the belly's wall is in front of the back's skin at the navel [m].
fn wall_depth(person: &Someone, fit: &PersonFit) -> f32 {
    let level = navel(person);
    let near = |p: &Vec3| (p.y - level).abs() < 0.02 && p.x.abs() < 0.05;
    let front = fit.layers.muscle.iter().filter(|p| near(p)).map(|p| p.z);
    let back = person.skin.iter().filter(|p| near(p)).map(|p| p.z);
    front.fold(f32::MIN, f32::max) - back.fold(f32::MAX, f32::min)
}

fn draw(mould: &Mould, person: &Someone, fit: &PersonFit, is_level: bool) -> Image {
    let point = Vec3::new(0.012, navel(person), 0.03);
    let (normal, up, reach) = if is_level {
        (Vec3::Y, Vec3::Z, REACH[0])
    } else {
        (Vec3::X, Vec3::Y, REACH[1])
    };
    let mut drawing = SectionDrawing::new(Plane { point, normal }, up, reach, SIZE, PAPER);
    let layers = &fit.layers;
    drawing.fill(&layers.skin_mesh(), Some(FAT), Some(EDGE));
    drawing.fill(&layers.muscle_mesh(), Some(WALL), Some(EDGE));
    drawing.fill(&inner_wall(mould, fit), Some(INSIDE), None);
    drawing.fill(&layers.skeleton_mesh(), None, Some(hex(0x8c7a4a)));
    for bone in &fit.bones {
        drawing.fill(bone, Some(BONE), Some(EDGE));
    }
    drawing.image()
}
