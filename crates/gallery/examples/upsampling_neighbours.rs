//! Linear and quadratic least squares with 8, 16 and 32 neighbours (figure 3.11), compared with the simulation mesh, normal
//! displacements and a simulation of all vertices. Linear ones with many neighbours flatten the elbow.

mod common;

use supple::embedded::{Body, body, clip};
use supple::flesh::Settings;
use supple::glam::vec3;
use supple::skin::Span;
use supple_lab::upsampling::{NEIGHBOURS, UpsamplingStudy, upsampling_sheet};

fn main() {
    let character = body(Body::Male).unwrap();
    let elbow = clip("elbow", &character).unwrap();
    let settings = Settings::default();
    let mut study = UpsamplingStudy::new(&character, &settings, NEIGHBOURS).unwrap();
    let at = 0.5 * elbow.duration();
    let span = Span {
        from: at,
        to: at,
        fps: 10.0,
    };
    let variants = study.over(&elbow, span, &mut |_| ()).unwrap();
    for variant in &variants {
        println!("{}", variant.caption());
    }
    let height = character.height();
    let sheet = upsampling_sheet(
        "Ways to the full skin",
        &variants,
        height,
        vec3(0.6, 0.1, 1.0),
        260,
    );
    common::save("upsampling_neighbours", &sheet);
    let own = |name: &str| {
        variants
            .iter()
            .find(|v| v.name == name)
            .unwrap()
            .own_percent
    };
    for k in [16, 32] {
        let [quadratic, linear] =
            ["quadratic", "linear"].map(|name| own(&format!("{name}, k = {k}")));
        assert!(quadratic < linear, "k = {k}: {quadratic} against {linear}");
    }
    assert!(own("quadratic, k = 16") < 0.05);
}
