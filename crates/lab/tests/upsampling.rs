//! Upsampling compared to a simulation of the full skin.

use std::path::{Path, PathBuf};

use supple::Clip;
use supple::embedded::{Body, body, clip, clip_names};
use supple::flesh::Settings;
use supple::flesh::settings::Resolution;
use supple::rig::formats::{ReadOptions, load_character};
use supple::skin::Span;
use supple_lab::upsampling::{UpsamplingStudy, Variant};

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

/// Simulates clips, prints the errors of each, and checks that quadratic least squares have the smallest interpolation error over all.
///
/// Coarse and fine simulations differ by more than the upsampling methods do, and by the same amount for all of them. Methods are
/// therefore compared by their interpolation error.
fn check(study: &mut UpsamplingStudy, clips: &[Clip]) {
    let names = [
        "quadratic, k = 20",
        "linear, k = 20",
        "normal displacements",
    ];
    let (mut sums, mut ends) = ([0.0; 3], [0.0; 3]);
    for clip in clips {
        let variants = study
            .over(clip, Span::all(clip, 10.0), &mut |_| ())
            .unwrap();
        for variant in &variants {
            println!("{}: {}", clip.name, variant.caption());
        }
        let of = |name: &str| -> &Variant {
            let found = variants.iter().find(|variant| variant.name == name);
            found.unwrap()
        };
        for (way, name) in names.into_iter().enumerate() {
            sums[way] += of(name).own_percent.powi(2);
            ends[way] += of(name).rms_percent.powi(2);
        }
        let quadratic = of(names[0]);
        assert!(quadratic.rms_percent < 0.3, "{}", quadratic.caption());
        // The difference between coarse and fine simulation is the same for all methods.
        let others = names.map(|name| of(name).rms_percent);
        assert!(others.iter().all(|&rms| quadratic.rms_percent < 1.1 * rms));
        assert_eq!(of("full simulation").rms_percent, 0.0);
        assert_eq!(of("simulation mesh").own_percent, 0.0);
    }
    let mean = |sums: [f64; 3]| sums.map(|sum| (sum / clips.len() as f64).sqrt());
    let (own, end_to_end) = (mean(sums), mean(ends));
    println!(
        "over all clips: {names:?} lose {own:.4?} % of the height, end to end {end_to_end:.4?} %"
    );
    assert!(own[0] < own[1] && own[0] < own[2], "{own:?}");
}

#[test]
fn embedded_bodies() {
    for which in [Body::Female, Body::Male] {
        let character = body(which).unwrap();
        let settings = Settings::default();
        let mut study = UpsamplingStudy::new(&character, &settings, [8, 20, 32]).unwrap();
        let clips: Vec<Clip> = clip_names()
            .map(|name| clip(name, &character).unwrap())
            .collect();
        check(&mut study, &clips);
    }
}

#[test]
fn male_of_the_papers() {
    let Some(folder) = shared("fps/male") else {
        return;
    };
    let [mesh, skeleton] = ["male.off", "male.skel"].map(|name| folder.join(name));
    let motions: Vec<PathBuf> = (0..6)
        .map(|k| folder.join(format!("male{k}.anim")))
        .collect();
    let motions: Vec<&Path> = motions.iter().map(PathBuf::as_path).collect();
    let options = ReadOptions::default();
    let character = load_character(&mesh, Some(&skeleton), &motions, &options).unwrap();
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(4651);
    let mut study = UpsamplingStudy::new(&character, &settings, [8, 20, 32]).unwrap();
    check(&mut study, &character.clips);
}
