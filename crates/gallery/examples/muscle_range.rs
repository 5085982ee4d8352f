//! The smallest and the largest muscles that fit between a person's skin and bones (figure 4.11).

mod common;

use common::people::{MUSCLE, Mould, WeighedLayers, layer, standing};
use supple::anatomy::person::muscle_fit::on_lines;
use supple::embedded::Body;
use supple::glam::Vec3;

const SIZE: (usize, usize) = (230, 400);

fn main() {
    let mould = Mould::new(Body::Male);
    let template = &mould.template;
    let person = mould.someone(1.80, 26.0, &[]);
    let (fat, muscle) = person.masses();
    let WeighedLayers {
        skeleton,
        range,
        muscle: chosen,
        report,
    } = mould.weighed(&person);

    let surface = |places: &[f64]| on_lines(places, &person.skin, &skeleton);
    let [low, high] = report.muscle_range;
    let [lean, fattest] = report.fat_range;
    let shown = [
        (
            surface(&range.smallest),
            format!("smallest: muscle {low:.0} kg, fat {fattest:.0} kg"),
        ),
        (
            chosen,
            format!(
                "chosen: muscle {:.0} kg, fat {:.0} kg",
                report.muscle, report.fat
            ),
        ),
        (
            surface(&range.largest),
            format!("largest: muscle {high:.0} kg, fat {lean:.0} kg"),
        ),
    ];
    let mut tiles = Vec::new();
    for direction in [Vec3::new(0.15, 0.04, 1.0), Vec3::new(0.3, 0.04, -1.0)] {
        for (positions, text) in &shown {
            let drawn = layer(&template.layers, positions, MUSCLE);
            tiles.push((standing(SIZE, vec![drawn], direction, 1.86), text.clone()));
        }
    }
    let title = "Muscles of one person: smallest, as heavy as estimated, largest";
    common::save("muscle_range", &common::sheet(title, &tiles, 3));
    println!(
        "muscle {low:.1} to {high:.1} kg, asked {muscle:.1}, found {:.1}; fat {lean:.1} to {fattest:.1}, asked {fat:.1}, found {:.1}",
        report.muscle, report.fat
    );
    let ordered = |v: usize| {
        range.smallest[v] <= range.average[v] + 1e-9 && range.average[v] <= range.largest[v] + 1e-9
    };
    assert!((0..person.skin.len()).all(ordered));
    assert!(high > 1.3 * low);
    assert!((report.muscle - muscle).abs() < 1.0 && (report.fat - fat).abs() < 1.0);
}
