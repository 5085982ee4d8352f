//! Fat like somebody else's (figure 4.21): a lean man has too little fat to say where more would go. Ten kilograms where a woman has hers,
//! and where a man with a belly has his.

mod common;

use common::growing::{Grower, column, girth};
use supple::embedded::Body;
use supple::growth::{FatGoal, FatRegion, Growth, Method};
use supple_lab::growth_sheet::growth_sheet;

fn main() {
    let man = Grower::template(Body::Male);
    let change = |kilograms: f64| Growth {
        fat: FatGoal::Change(kilograms),
        method: Method::Volume,
        ..Growth::default()
    };
    let lean = man.with(man.grown(&change(-7.0)).0);
    let (belly, _) = man.grown(&Growth {
        regions: vec![FatRegion::Belly],
        ..change(8.0)
    });
    let woman = Grower::template(Body::Female);
    let start = &lean.anatomy.layers;
    let mut columns = vec![column(start, "lean")];
    // Waist and seat of a man of 1.8 m.
    let girths = |layers: &supple::anatomy::Layers| {
        [1.06, 0.86].map(|height| 100.0 * girth(layers, height, 0.24))
    };
    let mut ratios = Vec::new();
    for (name, like) in [
        ("his own", None),
        ("like a woman", Some(&woman.anatomy.layers)),
        ("like a man with a belly", Some(&belly)),
    ] {
        let (layers, [_, got]) = lean.grown(&Growth {
            like,
            ..change(10.0)
        });
        let [waist, seat] = girths(&layers);
        println!("{got:+.2} kg {name}: waist {waist:.0} cm, seat {seat:.0} cm");
        columns.push(column(&layers, format!("{got:+.1} kg {name}")));
        ratios.push(waist / seat);
    }
    let sheet = growth_sheet("Fat like somebody else's", &columns, 250);
    common::save("fat_transfer", &sheet);
    let [own, woman, belly] = ratios[..] else {
        panic!("three ways");
    };
    // His own fat and hers are both on the legs more than his with the belly is.
    assert!(belly > own + 0.05 && belly > woman + 0.05, "{ratios:?}");
}
