//! Growth by volume and by pressure (figure 4.19): a balloon grows everywhere, volumes grow where there is fat.

mod common;

use common::growing::{Grower, column};
use supple::embedded::Body;
use supple::growth::{FatGoal, Growth, Method};
use supple_lab::growth_sheet::growth_sheet;

/// Kilograms gained.
const GAIN: f64 = 12.0;

fn main() {
    let woman = Grower::template(Body::Female);
    let start = &woman.anatomy.layers;
    let mut columns = vec![column(start, "before")];
    let mut shares = Vec::new();
    for (name, method) in [
        ("by pressure", Method::Pressure),
        ("by volume", Method::Volume),
        ("by both", Method::Both),
    ] {
        let growth = Growth {
            fat: FatGoal::Change(GAIN),
            method,
            ..Growth::default()
        };
        let (layers, [_, got]) = woman.grown(&growth);
        let share = likeness(start, &layers);
        println!("{name}: {got:+.2} kg, growth follows fat with a correlation of {share:.2}");
        columns.push(column(&layers, format!("{got:+.1} kg {name}")));
        shares.push(share);
    }
    let sheet = growth_sheet("Growth by pressure and by volume", &columns, 250);
    common::save("growth_methods", &sheet);
    let [pressure, volume, both] = shares[..] else {
        panic!("three methods");
    };
    assert!(volume > 0.75 && pressure < volume - 0.2 && pressure < both && both < volume);
}

/// Correlation of the fat's thickness before with what it gained.
fn likeness(before: &supple::anatomy::Layers, after: &supple::anatomy::Layers) -> f64 {
    let pairs: Vec<[f64; 2]> = (0..before.skin.len())
        .filter(|&v| before.layered[v])
        .map(|v| {
            let fat = before.skin[v].distance(before.muscle[v]);
            [
                f64::from(fat),
                f64::from(before.skin[v].distance(after.skin[v])),
            ]
        })
        .collect();
    let count = pairs.len() as f64;
    let mean = |k: usize| pairs.iter().map(|p| p[k]).sum::<f64>() / count;
    let means = [mean(0), mean(1)];
    let product = |a: usize, b: usize| {
        let of = |p: &[f64; 2]| (p[a] - means[a]) * (p[b] - means[b]);
        pairs.iter().map(of).sum::<f64>()
    };
    product(0, 1) / (product(0, 0) * product(1, 1)).sqrt()
}
