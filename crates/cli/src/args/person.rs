//! Options of `supple person`, `supple people` and `supple composition`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use supple::person::GivenFat;
use supple::rig::formats::parse_unit;

use super::{Sex, UpAxis};

/// `supple person`
#[derive(Debug, ClapArgs)]
pub struct MakePerson {
    /// Scan of a standing adult: a mesh or points (.ply, .obj, .stl, .off, .glb, .fbx, .xyz), in any unit, axis and heading.
    #[arg(value_name = "SCAN")]
    pub scan: PathBuf,
    /// File to write: a GLB with skin, surfaces, bones and muscles on one rig, and what Supple reads back. Default:
    /// the scan's name with .person, in this folder.
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Sex. Default: by the shape.
    #[arg(long)]
    pub sex: Option<Sex>,
    /// Age in years; improves the estimates of fat and muscle.
    #[arg(long, value_name = "YEARS", value_parser = parse_positive)]
    pub age: Option<f64>,
    /// Height in metres or centimetres, if it is known better than from the scan.
    #[arg(long, value_name = "HEIGHT", value_parser = parse_height)]
    pub height: Option<f64>,
    /// Weight in kilograms. Default: by the volume.
    #[arg(long, value_name = "KG", value_parser = parse_positive)]
    pub weight: Option<f64>,
    /// Fat in kilograms, or with % of the weight. Default: by height, weight, waist and age.
    #[arg(long, value_name = "KG|%", value_parser = parse_fat)]
    pub fat: Option<GivenFat>,
    /// Skeletal muscle in kilograms. Default: by weight, height and age.
    #[arg(long, value_name = "KG", value_parser = parse_positive)]
    pub muscle: Option<f64>,
    #[command(flatten)]
    pub frame: Frame,
    /// Known places in the scan's own unit and axes: lines such as `wrist.L 0.31 1.02 0.05`, with a joint's name or vertex:NUMBER.
    #[arg(long, value_name = "FILE")]
    pub landmarks: Option<PathBuf>,
    /// Write all measures, estimates, distances and times to this file.
    #[arg(long, value_name = "JSON")]
    pub report: Option<PathBuf>,
    /// Draw layers, bones, muscles and sections to this file.
    #[arg(long, value_name = "PNG")]
    pub picture: Option<PathBuf>,
    /// Width of one tile of the picture in pixels.
    #[arg(long, default_value_t = 420, value_parser = clap::value_parser!(u16).range(32..=2048))]
    pub size: u16,
}

/// How scans are to be read, and fat to be estimated.
#[derive(Debug, ClapArgs)]
pub struct Frame {
    /// Length of one unit of the scan: m, cm, mm, in, ft, or a number of metres. Default: found.
    #[arg(long, value_name = "UNIT", value_parser = parse_unit)]
    pub unit: Option<f32>,
    /// Up axis of the scan. Default: found.
    #[arg(long, value_name = "AXIS")]
    pub up: Option<UpAxis>,
    /// Models of fat mass that `supple composition fit` wrote. Default: the embedded ones (NHANES 2017–18).
    #[arg(long, value_name = "TOML")]
    pub regressors: Option<PathBuf>,
    /// Study whose percentiles of fat are given: nhanes (US, x-ray) or kyle (Swiss, impedance; medians 8 to 11 points lower). Default: both.
    #[arg(long, value_name = "STUDY")]
    pub population: Option<Study>,
}

/// Studies of fat.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Study {
    /// US adults of 2017-18, dual-energy x-ray.
    Nhanes,
    /// Healthy Swiss, bioelectrical impedance.
    Kyle,
}

/// `supple people`
#[derive(Debug, ClapArgs)]
pub struct MakePeople {
    /// A folder of scans, a text file with one scan a line, or a CSV with the columns scan and any of sex, age, height_cm,
    /// weight_kg, fat_percent, fat_kg and muscle_kg.
    #[arg(value_name = "FOLDER|LIST")]
    pub scans: PathBuf,
    /// Output folder: one .person and one .json a scan, people.csv, people.md and people.png.
    #[arg(long, short, value_name = "OUT", default_value = "out")]
    pub output: PathBuf,
    #[command(flatten)]
    pub frame: Frame,
    /// Scans that are worked on at a time; each needs about half a gigabyte. Default: one a thread.
    #[arg(long, short, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Do scans again that were done or refused before.
    #[arg(long)]
    pub again: bool,
}

/// `supple composition`
#[derive(Debug, ClapArgs)]
pub struct Composition {
    /// What to do.
    #[command(subcommand)]
    pub what: CompositionCommand,
}

/// Subcommands of `supple composition`.
#[derive(Debug, Subcommand)]
pub enum CompositionCommand {
    /// Fit models of fat mass to measured people, with cross-validated errors.
    Fit(FitRegressors),
}

/// `supple composition fit`
#[derive(Debug, ClapArgs)]
pub struct FitRegressors {
    /// Table with the columns sex, age, height_cm, weight_kg, waist_cm and fat_percent; at least 100 women and 100 men.
    #[arg(value_name = "CSV")]
    pub table: PathBuf,
    /// File to write, for `supple person --regressors`.
    #[arg(long, short, value_name = "TOML", default_value = "regressors.toml")]
    pub output: PathBuf,
    /// Who the people are, for reports. Default: the table's name.
    #[arg(long, value_name = "TEXT")]
    pub source: Option<String>,
    /// Write the errors of all models to this file.
    #[arg(long, value_name = "JSON")]
    pub report: Option<PathBuf>,
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("must be a number above zero".to_owned()),
    }
}

/// Adults are less than 3 m and more than 3 cm tall.
fn parse_height(text: &str) -> Result<f64, String> {
    let number = parse_positive(text)?;
    Ok(if number > 3.0 { 0.01 * number } else { number })
}

fn parse_fat(text: &str) -> Result<GivenFat, String> {
    match text.strip_suffix('%') {
        Some(percent) => match parse_positive(percent.trim_end())? {
            percent if percent < 90.0 => Ok(GivenFat::Percent(percent)),
            _ => Err("must be less than 90 %".to_owned()),
        },
        None => Ok(GivenFat::Mass(parse_positive(text)?)),
    }
}
