//! Options of `supple grow`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// `supple grow`
#[derive(Debug, ClapArgs)]
pub struct Grow {
    /// Layered body: a .person, a .template, or @male or @female.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Fat to gain or lose in kilograms: +8kg, 8, -5.
    #[arg(long, value_name = "KG", value_parser = parse_kilograms, allow_hyphen_values = true, conflicts_with_all = ["weight", "bmi"])]
    pub fat: Option<f64>,
    /// Weight to reach by fat, in kilograms.
    #[arg(long, value_name = "KG", value_parser = parse_kilograms, allow_hyphen_values = true, conflicts_with = "bmi")]
    pub weight: Option<f64>,
    /// Body mass index to reach by fat: weight in kilograms over squared height in metres.
    #[arg(long, value_name = "INDEX", value_parser = parse_number, allow_hyphen_values = true)]
    pub bmi: Option<f64>,
    /// Muscle to gain or lose in kilograms.
    #[arg(long, value_name = "KG", value_parser = parse_kilograms, allow_hyphen_values = true)]
    pub muscle: Option<f64>,
    /// Region that changes; may be repeated. Default: the whole body but head, hands and feet.
    #[arg(long, value_name = "REGION", value_delimiter = ',')]
    pub region: Vec<Region>,
    /// Where fat grows: where there is fat already, as a balloon, or half of each.
    #[arg(long, default_value = "both")]
    pub method: GrowthMethod,
    /// Grow where this person or template has its fat.
    #[arg(long, value_name = "FILE")]
    pub like: Option<PathBuf>,
    /// File to write: .person (from a person), .template, or .glb.
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Overwrite the file that is read.
    #[arg(long)]
    pub force: bool,
    /// Write this many bodies on the way as morph targets of one GLB, with a clip that is a slider: a second a kilogram.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub steps: Option<u16>,
    /// Write masses, nesting and times to this file.
    #[arg(long, value_name = "JSON")]
    pub report: Option<PathBuf>,
    /// Draw the body before and after to this file.
    #[arg(long, value_name = "PNG")]
    pub picture: Option<PathBuf>,
    /// Width of one tile of the picture in pixels.
    #[arg(long, default_value_t = 420, value_parser = clap::value_parser!(u16).range(32..=2048))]
    pub size: u16,
}

/// Regions that can grow alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Region {
    /// Legs and buttocks.
    Legs,
    /// Belly, flanks and the small of the back.
    Belly,
    /// Chest, upper back and neck.
    Chest,
    /// Arms with the deltoids.
    Arms,
}

/// Where fat grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GrowthMethod {
    /// Where there is fat already.
    Volume,
    /// As a balloon under pressure.
    Pressure,
    /// Half of each.
    Both,
}

fn parse_kilograms(text: &str) -> Result<f64, String> {
    let text = text.trim();
    parse_number(text.strip_suffix("kg").unwrap_or(text).trim_end())
}

fn parse_number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("must be a number, such as 30, +8kg or -5".to_owned()),
    }
}
