//! Layered women of several builds (figure 4.16): skin, muscles and skeleton from the front and the side.

mod common;

use common::people::gallery::{Build, show};
use supple::embedded::Body;

fn main() {
    show(
        "layered_women",
        Body::Female,
        &[
            Build {
                name: "slim and tall",
                height: 1.84,
                index: 18.0,
                fields: &[],
            },
            Build {
                name: "small",
                height: 1.48,
                index: 22.0,
                fields: &[],
            },
            Build {
                name: "pear-shaped",
                height: 1.68,
                index: 29.0,
                fields: &[
                    ("hip width", 0.1),
                    ("thigh girth", 0.12),
                    ("waist width", -0.08),
                ],
            },
            Build {
                name: "obese",
                height: 1.66,
                index: 35.0,
                fields: &[],
            },
        ],
    );
}
