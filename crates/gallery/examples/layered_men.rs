//! Layered men of several builds (figure 4.15): skin, muscles and skeleton from the front and the side.

mod common;

use common::people::gallery::{Build, show};
use supple::embedded::Body;

fn main() {
    show(
        "layered_men",
        Body::Male,
        &[
            Build {
                name: "slim and tall",
                height: 1.95,
                index: 19.0,
                fields: &[],
            },
            Build {
                name: "athletic",
                height: 1.82,
                index: 26.0,
                fields: &[
                    ("waist depth", -0.12),
                    ("waist width", -0.1),
                    ("chest width", 0.08),
                    ("upper arm girth", 0.12),
                ],
            },
            Build {
                name: "corpulent",
                height: 1.75,
                index: 31.0,
                fields: &[("waist depth", 0.12)],
            },
            Build {
                name: "obese",
                height: 1.75,
                index: 35.0,
                fields: &[],
            },
        ],
    );
}
