//! The steps of a fit on three nested spheres, where everything is known.

use glam::{DVec3, Vec3};

use super::masses::fitted_masses;
use super::muscle_fit::{muscle_range, on_lines};
use super::scale::Scaled;
use super::skeleton_fit::fitted_skeleton;
use super::{FitTemplate, PersonSkin};
use crate::Layers;
use crate::template::{Group, LayeredBody, example::example};

struct Case {
    template: LayeredBody,
    skin: Vec<Vec3>,
    crotch: Vec<bool>,
    scaled: Scaled,
}

/// The example's spheres as template, and a person whose skin is theirs times a factor below the rim.
fn case(factor: f32) -> Case {
    let mut template = example();
    let count = template.layers.skin.len();
    let layers = &template.layers;
    template.thickness = (0..count)
        .map(|v| layers.muscle[v].distance(layers.skeleton[v]))
        .collect();
    template.regions.group = layers
        .layered
        .iter()
        .map(|l| l.then_some(Group::UpperLeg))
        .collect();
    template.regions.abdomen = vec![false; count];
    let skin = (layers.skin.iter())
        .map(|p| *p * (1.0 + (factor - 1.0) * ((0.05 - p.y) / 0.15).clamp(0.0, 1.0)))
        .collect();
    let double = |points: &[Vec3]| points.iter().map(|p| p.as_dvec3()).collect::<Vec<DVec3>>();
    let scaled = Scaled {
        skin: double(&layers.skin),
        muscle: double(&layers.muscle),
        skeleton: double(&layers.skeleton),
        segments: Vec::new(),
    };
    Case {
        crotch: vec![false; count],
        template,
        skin,
        scaled,
    }
}

#[test]
fn layers_of_larger_and_smaller_spheres_are_nested_and_weigh_what_was_asked() {
    for factor in [1.0, 1.4, 0.75] {
        let case = case(factor);
        let input = FitTemplate::new(&case.template, &case.crotch);
        let person = PersonSkin {
            skin: &case.skin,
            joints: &[],
        };
        let fit = fitted_skeleton(&input, &case.scaled, &person).unwrap();
        assert_eq!((fit.outside, fit.inverted), (0, 0), "{factor}");
        if factor >= 1.0 {
            // There is room: the skeleton surface stays where it was.
            let moved = |(a, b): (&Vec3, &DVec3)| a.as_dvec3().distance(*b);
            let largest = fit
                .skeleton
                .iter()
                .zip(&case.scaled.skeleton)
                .map(moved)
                .fold(0.0, f64::max);
            assert!(largest < 0.04 * f64::from(factor), "{factor}: {largest}");
        }
        let range = muscle_range(&input, &case.scaled, &person, &fit.skeleton).unwrap();
        for v in 0..case.skin.len() {
            assert!(range.smallest[v] <= range.average[v] + 1e-12);
            assert!(range.average[v] <= range.largest[v] + 1e-12);
        }
        let layers_of = |muscle: Vec<Vec3>| Layers {
            muscle,
            skin: case.skin.clone(),
            skeleton: fit.skeleton.clone(),
            ..case.template.layers.clone()
        };
        for places in [&range.smallest, &range.average, &range.largest] {
            let found = layers_of(on_lines(places, &case.skin, &fit.skeleton)).measures();
            assert_eq!(
                (found.inverted_fat, found.inverted_muscle),
                (0, 0),
                "{factor}"
            );
            assert_eq!(
                (found.muscle_outside, found.skeleton_outside),
                (0, 0),
                "{factor}"
            );
        }
        // Any pair of masses that some surface has is met; far beyond, the ends are.
        let weigh = |fat, muscle| {
            fitted_masses(
                &input,
                &case.scaled,
                &person,
                &fit.skeleton,
                &range,
                (fat, muscle, None),
            )
        };
        let ends = weigh(0.0, 1e3).1;
        assert_eq!(ends.place, 1.0);
        assert_eq!(weigh(1e3, 0.0).1.place, 0.0);
        let middle = |[low, high]: [f64; 2]| low + 0.4 * (high - low);
        let fat = middle(ends.fat_range);
        let (low, high) = (ends.muscle_range[0], ends.muscle_range[1]);
        // Where fat lies besides the layer hangs on what is asked for: the layer has the volume with the least error of both.
        let asked = high - 0.4 * (high - low);
        let (muscle, report) = weigh(fat, asked);
        let best = report.masses.best_fat_volume(fat, asked);
        assert!(0.0 < report.place && report.place < 1.0, "{report:?}");
        let volume = layers_of(muscle.clone()).measures().fat_volume;
        assert!((volume / best - 1.0).abs() < 1e-3, "{volume} {report:?}");
        let found = layers_of(muscle).measures();
        assert!((found.fat_volume + found.muscle_volume - report.masses.soft_volume).abs() < 1e-8);
    }
}

#[test]
fn the_same_bits_twice() {
    let case = case(1.3);
    let input = FitTemplate::new(&case.template, &case.crotch);
    let person = PersonSkin {
        skin: &case.skin,
        joints: &[],
    };
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            fitted_skeleton(&input, &case.scaled, &person)
                .unwrap()
                .skeleton
        })
    };
    assert_eq!(fit(1), fit(3));
}
