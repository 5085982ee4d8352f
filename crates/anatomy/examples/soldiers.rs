//! Makes `assets/soldiers.toml`, and says how often sex and clothes are right among soldiers that it was not made of.
//!
//! `cargo run --release -p supple-anatomy --example soldiers -- ANSUR.csv [OUT.toml]`: soldiers in rows of even number are
//! fitted to, those in odd rows are only measured, with an error of half of what is allowed for.

use supple_anatomy::Sex;
use supple_anatomy::body_model::BodySampler;
use supple_anatomy::composition::Measures;
use supple_anatomy::composition::soldiers::{MEASURES, clothes, distribution, log_odds_of_man};

type Failure = Box<dyn std::error::Error>;
const SOURCE: &str = "ANSUR II (US, 6,068 soldiers of 2010-12, by tape): every second one";
/// Weight and height, for the body mass index.
type Row = (Sex, [f64; 10], f64);

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("give the table of ANSUR II")?;
    let rows = rows(&std::fs::read_to_string(path)?)?;
    let (fitted, measured): (Vec<_>, Vec<_>) = rows
        .iter()
        .enumerate()
        .partition(|(number, _)| number % 2 == 0);
    if let Some(path) = args.next() {
        let people: Vec<_> = fitted.iter().map(|(_, row)| (row.0, row.1)).collect();
        std::fs::write(path, toml::to_string(&distribution(&people, SOURCE))?)?;
    }
    for (name, some) in [("fitted to", fitted), ("only measured", measured)] {
        println!("{name}: {} soldiers", some.len());
        let some: Vec<&Row> = some.into_iter().map(|(_, row)| row).collect();
        sexes(&some);
        for thickness in [0.0, 0.005, 0.01, 0.015, 0.02] {
            dressed(&some, thickness);
        }
    }
    Ok(())
}

fn rows(csv: &str) -> Result<Vec<Row>, Failure> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        header
            .iter()
            .position(|h| *h == name)
            .ok_or("a column is missing")
    };
    let mut rows = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let sex = if cells[column("sex")?] == "male" {
            Sex::Male
        } else {
            Sex::Female
        };
        let mut measures = [0.0; 10];
        for (measure, (name, ..)) in measures.iter_mut().zip(MEASURES) {
            *measure = 1e-3 * cells[column(&format!("{name}_mm"))?].parse::<f64>()?;
        }
        let weight = 0.1 * cells[column("weight_hg")?].parse::<f64>()?;
        rows.push((sex, measures, weight / measures[0].powi(2)));
    }
    Ok(rows)
}

fn noisy(row: &Row, sampler: &mut BodySampler, cloth: f64, on: &[usize]) -> Measures {
    let mut values: [f64; 10] =
        std::array::from_fn(|k| row.1[k] + 0.5 * MEASURES[k].1 * sampler.normal());
    on.iter()
        .for_each(|&k| values[k] += std::f64::consts::TAU * cloth);
    let [
        height,
        crotch_height,
        neck,
        chest,
        waist,
        hip,
        thigh,
        calf,
        ankle,
        wrist,
    ] = values;
    Measures {
        height,
        crotch_height,
        neck,
        chest,
        waist,
        hip,
        thigh,
        calf,
        ankle,
        wrist,
        ..Measures::default()
    }
}

fn sexes(rows: &[&Row]) {
    let mut sampler = BodySampler::new(1);
    let said: Vec<(f64, bool, f64)> = (rows.iter())
        .map(|row| {
            let odds = log_odds_of_man(&[noisy(row, &mut sampler, 0.0, &[])]);
            let sure = 1.0 / (1.0 + (-odds.abs()).exp());
            (sure, (odds > 0.0) == (row.0 == Sex::Male), row.2)
        })
        .collect();
    for (low, high) in [
        (0.5, 0.7),
        (0.7, 0.8),
        (0.8, 0.9),
        (0.9, 0.97),
        (0.97, 1.01),
    ] {
        class(
            &format!(
                "  said {:.0} to {:.0} % sure",
                100.0 * low,
                100.0 * f64::min(high, 1.0)
            ),
            &said,
            |s| (low..high).contains(&s.0),
        );
    }
    class("  all of body mass index 32 and more", &said, |s| {
        s.2 >= 32.0
    });
    class("  all of body mass index 22 and less", &said, |s| {
        s.2 <= 22.0
    });
}

fn class(name: &str, said: &[(f64, bool, f64)], wanted: impl Fn(&(f64, bool, f64)) -> bool) {
    let some: Vec<_> = said.iter().filter(|s| wanted(s)).collect();
    let share = |of: &dyn Fn(&(f64, bool, f64)) -> f64| {
        100.0 * some.iter().map(|s| of(s)).sum::<f64>() / some.len().max(1) as f64
    };
    println!(
        "{name}: {} people, said {:.1} %, right {:.1} %",
        some.len(),
        share(&|s| s.0),
        share(&|s| f64::from(s.1))
    );
}

fn dressed(rows: &[&Row], thickness: f64) {
    for (name, on) in [
        ("shirt and trousers", &[3, 4, 5, 6, 7, 8][..]),
        ("shirt and shorts", &[3, 4, 5, 6]),
    ] {
        let mut sampler = BodySampler::new(2);
        let noticed = (rows.iter())
            .filter(|row| {
                clothes(&noisy(row, &mut sampler, thickness, on))
                    .is_some_and(|clothes| clothes.are_noticed())
            })
            .count();
        println!(
            "  {name} {:.0} mm off the skin: noticed on {:.1} %",
            1e3 * thickness,
            100.0 * noticed as f64 / rows.len() as f64
        );
    }
}
