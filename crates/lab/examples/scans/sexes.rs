//! How sure the sex is: bodies between men and women, as people vary between them.
//!
//! Along the line between the means of both sexes people differ with a standard deviation of [`DEVIATION`] of its length: the linear
//! discriminant of height, crotch height and eight girths of the 6,068 soldiers of ANSUR II (its sensitivity index is 4.96, and 0.8 % are
//! on the wrong side). A body at share t of the way is then a woman with the probability 1 / (1 + exp((1 − 2t) / (2 s²))).

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_anatomy::Sex;
use supple_anatomy::body_model::{BodyModel, BodySampler, Figure, PoseRange};
use supple_anatomy::scan::{Options, Scan, register};

const DEVIATION: f64 = 0.2;

/// Prints for classes of said confidence how many are right, and the mean logarithm of what was given to the truth.
pub fn calibration(count: usize) {
    let found: Vec<Option<[f64; 4]>> = (0..count as u64).into_par_iter().map(one).collect();
    let all: Vec<[f64; 4]> = found.into_iter().flatten().collect();
    println!("share of a woman, evidence for a woman, said, true");
    let mut sorted = all.clone();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]));
    for [share, evidence, said, truth] in &sorted {
        println!("{share:6.3} {evidence:8.3} {said:7.4} {truth:7.4}");
    }
    println!("{} registered", all.len());
    for (low, high) in [
        (0.5, 0.7),
        (0.7, 0.9),
        (0.9, 0.97),
        (0.97, 0.985),
        (0.985, 1.01),
    ] {
        let some: Vec<&[f64; 4]> = all
            .iter()
            .filter(|f| (low..high).contains(&f[2].max(1.0 - f[2])))
            .collect();
        let mean = |value: &dyn Fn(&[f64; 4]) -> f64| {
            some.iter().map(|f| value(f)).sum::<f64>() / some.len().max(1) as f64
        };
        let said = mean(&|f| f[2].max(1.0 - f[2]));
        let right = mean(&|f| if f[2] > 0.5 { f[3] } else { 1.0 - f[3] });
        println!(
            "said {:.0} to {:.0} %: {} bodies, said {:.1} %, right {:.1} %",
            100.0 * low,
            100.0 * high.min(1.0),
            some.len(),
            100.0 * said,
            100.0 * right
        );
    }
}

/// Share of a woman, logarithm of the odds said for a woman, their probability, and the true one.
fn one(seed: u64) -> Option<[f64; 4]> {
    let mut sampler = BodySampler::new(7000 + seed);
    // Even over where people of both sexes are.
    let share = sampler.between(-0.3, 1.3);
    let range = PoseRange::default();
    let models = [Sex::Male, Sex::Female].map(BodyModel::embedded);
    let heading = sampler.between(-3.1, 3.1);
    let man = sampler.figure(models[0], &range, heading);
    let woman = Figure {
        coefficients: sampler.coefficients(models[1]),
        ..man.clone()
    };
    let [a, b] =
        [(&man, models[0]), (&woman, models[1])].map(|(figure, model)| figure.vertices(model));
    let scan = Scan {
        points: (a.iter().zip(&b))
            .map(|(a, b): (&DVec3, &DVec3)| {
                a.lerp(*b, share).as_vec3() + 0.001 * noise(&mut sampler)
            })
            .collect(),
        triangles: models[0].triangles.clone(),
        ..Scan::default()
    };
    let found = register(&scan, &Options::default()).ok()?;
    let said = match found.sex {
        Sex::Female => found.sex_confidence,
        Sex::Male => 1.0 - found.sex_confidence,
    };
    let truth = 1.0 / (1.0 + ((0.5 - share) / DEVIATION.powi(2)).exp());
    Some([share, (said / (1.0 - said)).ln(), said, truth])
}

fn noise(sampler: &mut BodySampler) -> Vec3 {
    Vec3::new(
        sampler.normal() as f32,
        sampler.normal() as f32,
        sampler.normal() as f32,
    )
}
