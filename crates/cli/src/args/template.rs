//! Options of `supple template`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// `supple template`
#[derive(Debug, ClapArgs)]
pub struct MakeTemplate {
    /// Rigged skin: a file with the joints of the embedded bodies, or @male or @female.
    #[arg(long, value_name = "FILE", default_value = "@male")]
    pub skin: PathBuf,
    /// Sex of the skin. Default: that of the embedded body.
    #[arg(long)]
    pub sex: Option<Sex>,
    /// Folder of bones, one mesh each, named femur_l, left_femur and the like. Default: the embedded bones.
    #[arg(long, value_name = "FOLDER")]
    pub bones: Option<PathBuf>,
    /// Folder of muscles, one mesh each, in the bones' frame; or an atlas (TOML). Default: the embedded atlas.
    #[arg(long, value_name = "FOLDER|ATLAS")]
    pub muscles: Option<PathBuf>,
    /// File to write.
    #[arg(long, short, value_name = "OUT", default_value = "out/body.template")]
    pub output: PathBuf,
    /// Write times, distances, nesting and volumes to this file.
    #[arg(long, value_name = "JSON")]
    pub report: Option<PathBuf>,
    /// Draw skin, surfaces, muscles, bones and sections to this file.
    #[arg(long, value_name = "PNG")]
    pub picture: Option<PathBuf>,
    /// Draw muscle groups, regions of fat and what slides to this file.
    #[arg(long, value_name = "PNG")]
    pub regions: Option<PathBuf>,
    /// Width of one tile of the pictures in pixels.
    #[arg(long, default_value_t = 420, value_parser = clap::value_parser!(u16).range(32..=2048))]
    pub size: u16,
}

/// Sexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sex {
    /// Male.
    Male,
    /// Female.
    Female,
}
