//! The full skin against a simulation of all of it.

use std::path::{Path, PathBuf};

use supple::embedded::{Body, body, clip};
use supple::flesh::Settings;
use supple::flesh::settings::Resolution;
use supple::rig::formats::{ReadOptions, load_character};
use supple::skin::Span;
use supple::upsampling::{Variant, compare_upsampling};
use supple::{Character, Clip};

fn shared(path: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !root.exists() {
        assert!(
            std::env::var_os("CI").is_none(),
            "../shared/data is required in CI"
        );
        println!("skipped: ../shared/data is not here");
        return None;
    }
    Some(root.join(path))
}

fn compared(character: &Character, clip: &Clip, count: usize, span: Span) -> Vec<Variant> {
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(count);
    let variants = compare_upsampling(character, clip, &settings, span, &mut |_| ()).unwrap();
    for variant in &variants {
        println!(
            "{}: {:.4} % of the height",
            variant.name, variant.rms_percent
        );
    }
    variants
}

fn check(variants: &[Variant]) {
    let of = |name: &str| {
        let found = variants.iter().find(|variant| variant.name == name);
        found.unwrap().rms_percent
    };
    let quadratic = of("quadratic, k = 16");
    assert!(quadratic < 0.3);
    assert_eq!(of("full simulation"), 0.0);
}

#[test]
fn embedded_body() {
    let character = body(Body::Female).unwrap();
    let clip = clip("squat", &character).unwrap();
    let span = Span {
        from: 0.0,
        to: 0.8,
        fps: 10.0,
    };
    check(&compared(&character, &clip, 4000, span));
}

#[test]
fn male_of_the_papers() {
    let Some(folder) = shared("fps/male") else {
        return;
    };
    let [mesh, skeleton, motion] =
        ["male.off", "male.skel", "male0.anim"].map(|name| folder.join(name));
    let character =
        load_character(&mesh, Some(&skeleton), &[&motion], &ReadOptions::default()).unwrap();
    let span = Span {
        from: 0.0,
        to: 0.5,
        fps: 10.0,
    };
    check(&compared(&character, &character.clips[0], 4651, span));
}
