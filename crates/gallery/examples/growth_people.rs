//! People before and after (figure 4.20): above as they are, below fifteen kilograms heavier.

mod common;

use common::growing::{Grower, column};
use supple::embedded::Body;
use supple::glam::Vec3;
use supple::growth::{FatGoal, Growth};
use supple_lab::growth_sheet::growth_rows;

/// Kilograms gained.
const GAIN: f64 = 15.0;

fn main() {
    let people = [
        Grower::template(Body::Male),
        Grower::sampled(Body::Male, 7, 25.0..31.0),
        Grower::template(Body::Female),
        Grower::sampled(Body::Female, 3, 24.0..30.0),
    ];
    let growth = Growth {
        fat: FatGoal::Change(GAIN),
        ..Growth::default()
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for person in &people {
        let body = person.body();
        before.push(column(
            &person.anatomy.layers,
            format!("{:.0} kg", body.weight),
        ));
        let (layers, [asked, got]) = person.grown(&growth);
        println!(
            "{:.1} kg, {:.1} of it fat: asked {asked:+.2} kg, got {got:+.2} kg",
            body.weight,
            body.fat()
        );
        after.push(column(&layers, format!("{got:+.1} kg")));
    }
    let side = [Vec3::new(0.7, 0.05, 1.0)];
    let pictures = [
        growth_rows("Fifteen kilograms", &before, &side, 250),
        growth_rows("", &after, &side, 250),
    ];
    common::save("growth_people", &common::stack(&pictures));
}
