//! Materials of a tissue: from settings, by region and by vertex.

mod common;

use common::fps;
use supple_flesh::{Flesh, FleshError, Settings};
use supple_rig::Character;

fn build(character: &Character, settings: &str) -> Result<Flesh, FleshError> {
    let settings = Settings::from_toml(settings)?;
    Flesh::builder(character).settings(settings).build()
}

/// Stiffness × volume of every tet \[J\].
fn weights(flesh: &Flesh) -> &[f64] {
    &flesh.model.tets().weights
}

fn assert_doubled(found: &Flesh, plain: &Flesh) {
    let pairs = weights(found).iter().zip(weights(plain));
    // Flat tets have no weight.
    let pairs = pairs.filter(|(_, plain)| **plain > 0.0);
    for (t, (found, plain)) in pairs.enumerate() {
        assert!(
            (found / plain - 2.0).abs() < 1e-9,
            "tet {t}: {found} {plain}"
        );
    }
}

#[test]
fn materials_come_from_settings() {
    let Some(character) = fps("cylinder", "cylinder") else {
        return;
    };
    let plain = build(&character, "").unwrap();
    let names = plain.model.materials().iter().map(|m| m.name.as_str());
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["tissue", "fat", "muscle", "sliding"]);
    assert!(plain.model.tets().materials.iter().all(|&m| m == 0));
    let text = "[materials.tissue]\nstiffness = 5000.0\ndamping_half_life = 0.5";
    let own = build(&character, text).unwrap();
    assert_doubled(&own, &plain);
    assert_eq!(own.model.materials()[0].damping, 2.0);
    let all = build(&character, "[tissue]\nstiffness = 5000.0").unwrap();
    assert_eq!(weights(&own), weights(&all));
    let region = "[materials.tissue.stiffness_factors]\n\"*\" = 2.0";
    assert_doubled(&build(&character, region).unwrap(), &plain);
    let other = "[materials.muscle]\nstiffness = 1.0";
    assert_eq!(weights(&build(&character, other).unwrap()), weights(&plain));
    for (text, name) in [
        ("[materials.bone]\nstiffness = 1.0", "materials.bone"),
        (
            "[materials.tissue.stiffness_factors]\nnobody = 2.0",
            "nobody",
        ),
    ] {
        let Err(error) = build(&character, text) else {
            panic!("{text} is accepted");
        };
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn deep_tissue_is_as_stiff_as_set() {
    let Some(character) = fps("cylinder", "cylinder") else {
        return;
    };
    let plain = build(&character, "").unwrap();
    let even = build(&character, "[tissue]\ndeep_stiffness = 1.0").unwrap();
    let sum = |flesh: &Flesh| weights(flesh).iter().sum::<f64>();
    assert!(sum(&even) < 0.9 * sum(&plain));
    let volumes = &even.model.tets().volumes;
    for (weight, volume) in weights(&even).iter().zip(volumes) {
        assert!((weight / volume / 2500.0 - 1.0).abs() < 1e-9 || *volume == 0.0);
    }
}

#[test]
fn vertices_have_factors() {
    let Some(character) = fps("cylinder", "cylinder") else {
        return;
    };
    let plain = build(&character, "").unwrap();
    let positions = &character.parts[0].mesh.positions;
    let with = |factors| Flesh::builder(&character).stiffness(factors).build();
    assert_doubled(&with(vec![2.0; positions.len()]).unwrap(), &plain);
    let middle = positions.iter().map(|p| p.x).sum::<f32>() / positions.len() as f32;
    let half = positions
        .iter()
        .map(|p| 1.0 + f64::from(u8::from(p.x > middle)));
    let half = with(half.collect()).unwrap();
    let ratios = weights(&half).iter().zip(weights(&plain));
    let ratios: Vec<f64> = ratios.map(|(a, b)| a / b).collect();
    for bound in [1.0, 2.0] {
        let count = ratios.iter().filter(|r| (*r - bound).abs() < 1e-9).count();
        assert!(count > ratios.len() / 4, "{count} tets of {}", ratios.len());
    }
    for bad in [vec![1.0; 3], vec![-1.0; positions.len()]] {
        assert!(matches!(with(bad), Err(FleshError::Settings(_))));
    }
}
