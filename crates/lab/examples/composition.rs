//! How well fat is known: from height, weight and waist of measured people, and from a body's surface alone.
//!
//! `cargo run --release -p supple-lab --example composition [-- PLOT.png]` takes the tables of `../shared/data/composition`. People of
//! NHANES are predicted by models that have not seen them, beside what DXA measured. Bodies of the space get the heights and girths of
//! soldiers of ANSUR II: their weight is known, and is found from their volume.

use std::collections::BTreeMap;
use std::path::Path;

use glam::Vec3;
use supple_anatomy::Sex;
use supple_anatomy::body_model::BodyModel;
use supple_anatomy::composition::population::{PERCENTS, quantiles};
use supple_anatomy::composition::regression::{Predictor, unseen_predictions};
use supple_anatomy::composition::{
    Composition, Known, MeasuredAdult, Measures, Population, Regressors, Tape, composition,
    read_table,
};
use supple_anatomy::template::load_template;
use supple_geom::dense::DenseSymmetric;
use supple_picture::scene::INK;
use supple_picture::{Image, SheetStyle, contact_sheet, draw_text, hex};

type Failure = Box<dyn std::error::Error>;

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/data/composition"
);
const SEXES: [(Sex, &str); 2] = [(Sex::Female, "women"), (Sex::Male, "men")];
/// One soldier in this many.
const STRIDE: usize = 20;

fn main() -> Result<(), Failure> {
    let people = read_table(&std::fs::read_to_string(format!(
        "{FOLDER}/nhanes_dxa.csv"
    ))?)?;
    let mut plots = Vec::new();
    for (sex, name) in SEXES {
        plots.push(of_nhanes(sex, name, &people)?);
    }
    if let Some(path) = std::env::args().nth(1) {
        let title = "Fat mass by dual-energy x-ray (across) and predicted by models that have not seen the person (up)";
        contact_sheet(title, &plots, 2, &SheetStyle::default()).save_png(path)?;
    }
    let soldiers = std::fs::read_to_string(format!("{FOLDER}/ansur2.csv"))?;
    for (sex, name) in SEXES {
        of_surfaces(sex, name, &soldiers)?;
    }
    Ok(())
}

fn of_nhanes(sex: Sex, name: &str, people: &[MeasuredAdult]) -> Result<(Image, String), Failure> {
    let people: Vec<MeasuredAdult> = people.iter().copied().filter(|p| p.sex == sex).collect();
    let found = unseen_predictions(
        &people,
        &[Predictor::Height, Predictor::Weight, Predictor::Waist],
    )
    .ok_or("dependent predictors")?;
    let errors = people.iter().zip(&found).map(|(p, f)| f - p.fat_mass);
    let mean = errors.clone().map(f64::abs).sum::<f64>() / people.len() as f64;
    println!(
        "{name}: {} people, mean absolute error {mean:.2} kg",
        people.len()
    );
    for (low, high) in [
        (0.0, 20.0),
        (20.0, 25.0),
        (25.0, 30.0),
        (30.0, 35.0),
        (35.0, 99.0),
    ] {
        let index = |p: &MeasuredAdult| p.weight / (p.height * p.height);
        let some: Vec<f64> = (people.iter().zip(errors.clone()))
            .filter(|(p, _)| (low..high).contains(&index(p)))
            .map(|(_, e)| e)
            .collect();
        let count = some.len() as f64;
        println!(
            "  body mass index {low:2.0} to {high:2.0}: {count:4.0} people, bias {:+.2} kg, mean absolute error {:.2} kg",
            some.iter().sum::<f64>() / count,
            some.iter().map(|e| e.abs()).sum::<f64>() / count
        );
    }
    let percent = |fat: f64, p: &MeasuredAdult| 100.0 * fat / p.weight;
    let row = |what: &str, values: &[f64]| {
        let cells: Vec<String> = values.iter().map(|v| format!("{v:5.1}")).collect();
        println!("  {what:22} {}", cells.join(" "));
    };
    row("percentile", &PERCENTS);
    let predicted = people.iter().zip(&found).map(|(p, f)| percent(*f, p));
    row("predicted", &quantiles(predicted.collect(), &PERCENTS));
    let measured = people.iter().map(|p| percent(p.fat_mass, p));
    row("NHANES, DXA", &quantiles(measured.collect(), &PERCENTS));
    if let Some(kyle) = Population::published()
        .iter()
        .find(|p| p.name.starts_with("Kyle"))
    {
        let values = if sex == Sex::Male {
            &kyle.male
        } else {
            &kyle.female
        };
        row("Kyle 2001, impedance", values);
    }
    let text = format!("{} {name}: mean absolute error {mean:.2} kg", people.len());
    Ok((plot(&people, &found), text))
}

/// Size of a plot [px], its margin, and the largest mass shown [kg].
const SIZE: usize = 400;
const MARGIN: usize = 34;
const LARGEST: f64 = 70.0;

fn plot(people: &[MeasuredAdult], found: &[f64]) -> Image {
    let mut image = Image::new(SIZE, SIZE, Vec3::ONE);
    let length = (SIZE - MARGIN - 10) as f64;
    let x = |mass: f64| MARGIN as f64 + mass / LARGEST * length;
    let y = |mass: f64| (SIZE - MARGIN) as f64 - mass / LARGEST * length;
    for mass in (0..=60).step_by(20) {
        let at = f64::from(mass);
        image.fill(x(at) as i64, 10, 1, SIZE - MARGIN - 10, hex(0xe2dfda));
        image.fill(
            MARGIN as i64,
            y(at) as i64,
            SIZE - MARGIN - 10,
            1,
            hex(0xe2dfda),
        );
        let text = format!("{mass}");
        draw_text(
            &mut image,
            &text,
            x(at) as f32 - 4.0,
            (SIZE - 22) as f32,
            8.0,
            INK,
        );
        draw_text(&mut image, &text, 10.0, y(at) as f32 - 4.0, 8.0, INK);
    }
    draw_text(
        &mut image,
        "kg",
        (SIZE - 26) as f32,
        (SIZE - 22) as f32,
        8.0,
        INK,
    );
    for step in 0..4 * SIZE {
        let mass = LARGEST * step as f64 / (4 * SIZE) as f64;
        image.blend(x(mass) as i64, y(mass) as i64, INK, 0.25);
    }
    for (person, found) in people.iter().zip(found) {
        let (cx, cy) = (x(person.fat_mass), y(*found));
        for dy in -2..=2_i64 {
            for dx in -2..=2_i64 {
                let cover = 2.0 - ((dx * dx + dy * dy) as f32).sqrt();
                let (px, py) = (cx as i64 + dx, cy as i64 + dy);
                image.blend(px, py, hex(0xb04a3c), 0.5 * cover.clamp(0.0, 1.0));
            }
        }
    }
    image
}

/// A measure of a body [m].
type Measure = fn(&Measures) -> f64;

/// Measures that bodies and soldiers share, and how exactly they are met [m].
const SHARED: [(&str, Measure); 10] = [
    ("height_mm", |m| m.height),
    ("crotch_height_mm", |m| m.crotch_height),
    ("neck_mm", |m| m.neck),
    ("chest_mm", |m| m.chest),
    ("waist_mm", |m| m.waist),
    ("hip_mm", |m| m.hip),
    ("thigh_mm", |m| m.thigh),
    ("calf_mm", |m| m.calf),
    ("ankle_mm", |m| m.ankle),
    ("wrist_mm", |m| m.wrist),
];
const EXACT: f64 = 0.005;
/// Steps with the derivatives of the mean body.
const STEPS: usize = 5;

fn of_surfaces(sex: Sex, name: &str, soldiers: &str) -> Result<(), Failure> {
    let file = if sex == Sex::Male { "male" } else { "female" };
    let path = format!(
        "{}/../supple/assets/{file}.template",
        env!("CARGO_MANIFEST_DIR")
    );
    let body = load_template(Path::new(&path))?.body;
    let tape = Tape::new(&body)?;
    let model = BodyModel::embedded(sex);
    let measured = |coefficients: &[f64]| -> Measures {
        let rest = model.rest_vertices(coefficients);
        let skin: Vec<Vec3> = (body.file_vertices.iter())
            .map(|&v| rest[v as usize].as_vec3())
            .collect();
        let joints = model.rest_joints(coefficients);
        let joints: Vec<Vec3> = joints.iter().map(|p| p.as_vec3()).collect();
        tape.measures(&skin, &joints)
    };
    let derivatives = derivatives(model, &measured);
    let (mut off, mut fat, mut misses) = (Vec::new(), Vec::new(), Vec::new());
    for soldier in table(soldiers)
        .iter()
        .filter(|row| row["sex"] == file)
        .step_by(STRIDE)
    {
        let number = |column: &str| soldier[column].parse::<f64>();
        let weight = 0.1 * number("weight_hg")?;
        let mut wanted = Vec::new();
        for (column, _) in SHARED {
            wanted.push(1e-3 * number(column)?);
        }
        let mut coefficients = vec![0.0; model.field_count()];
        let mut found = measured(&coefficients);
        for _ in 0..STEPS {
            let miss: Vec<f64> = (SHARED.iter().zip(&wanted))
                .map(|((_, of), wanted)| wanted - of(&found))
                .collect();
            step(model, &derivatives, &miss, &mut coefficients);
            found = measured(&coefficients);
        }
        misses.push(found.waist - wanted[4]);
        let known = Known::sex(sex);
        let estimate = |known: Known| -> Result<Composition, Failure> {
            Ok(composition(&found, &known, Regressors::embedded())?)
        };
        let alone = estimate(known)?;
        let weighed = estimate(Known {
            weight: Some(weight),
            ..known
        })?;
        off.push(alone.weight.value / weight - 1.0);
        fat.push(alone.fat_mass.value - weighed.fat_mass.value);
    }
    let (weight_bias, weight_spread) = mean_and_deviation(&off);
    let (fat_bias, fat_spread) = mean_and_deviation(&fat);
    let (_, waist) = mean_and_deviation(&misses);
    let model_error = Regressors::embedded().of(sex).models[1].deviation;
    println!(
        "{name}: {} bodies with soldiers' measures (waists met within {:.1} cm): weight from volume {:+.1} ± {:.1} %, fat mass {fat_bias:+.2} ± {fat_spread:.2} kg; with the model's {model_error:.2} kg that is {:.2} kg",
        off.len(),
        100.0 * waist,
        100.0 * weight_bias,
        100.0 * weight_spread,
        model_error.hypot(fat_spread)
    );
    Ok(())
}

/// Change of each shared measure with each coefficient, in expected sizes, about the mean body.
fn derivatives(model: &BodyModel, measured: &dyn Fn(&[f64]) -> Measures) -> Vec<Vec<f64>> {
    let count = model.field_count();
    let columns: Vec<Vec<f64>> = (0..count)
        .map(|k| {
            let at = |sign: f64| {
                let mut coefficients = vec![0.0; count];
                coefficients[k] = sign * model.deviations[k];
                measured(&coefficients)
            };
            let (more, less) = (at(0.5), at(-0.5));
            SHARED.iter().map(|(_, of)| of(&more) - of(&less)).collect()
        })
        .collect();
    (0..SHARED.len())
        .map(|m| columns.iter().map(|column| column[m]).collect())
        .collect()
}

/// One step of regularised least squares: misses over their tolerance, coefficients over their expected sizes.
fn step(model: &BodyModel, derivatives: &[Vec<f64>], miss: &[f64], coefficients: &mut [f64]) {
    let count = model.field_count();
    let mut normal = DenseSymmetric::zero(count);
    let mut right = vec![0.0; count];
    for (row, miss) in derivatives.iter().zip(miss) {
        let scaled: Vec<f64> = row.iter().map(|d| d / EXACT).collect();
        normal.add_outer(&scaled);
        for (right, d) in right.iter_mut().zip(&scaled) {
            *right += d * miss / EXACT;
        }
    }
    for k in 0..count {
        normal.add_at(k, k, 1.0);
        right[k] -= coefficients[k] / model.deviations[k];
    }
    if let Ok(factor) = normal.factorise() {
        factor.solve(&mut right);
        for k in 0..count {
            coefficients[k] += right[k] * model.deviations[k];
        }
    }
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// Rows of a table by the names in its first line.
fn table(csv: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    lines
        .map(|line| header.iter().copied().zip(line.split(',')).collect())
        .collect()
}
