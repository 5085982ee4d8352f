//! Options of `supple bench`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::Backend;

/// `supple bench`
#[derive(Debug, ClapArgs)]
pub struct Bench {
    /// Also measure the textbook step (double precision, one tet at a time) and print the ratio.
    #[arg(long)]
    pub baseline: bool,
    /// Numbers of threads to measure.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    pub threads: Vec<usize>,
    /// Folder of the papers' models (cylinder/, tbone/, male/). They are skipped if it does not exist.
    #[arg(long, value_name = "FOLDER")]
    pub models: Option<PathBuf>,
    /// What to measure.
    #[arg(long, value_delimiter = ',', default_values = ["tissue", "contact", "skin", "obj"])]
    pub parts: Vec<BenchPart>,
    /// Vertices of the largest generated OBJ.
    #[arg(long, default_value_t = 1_000_000)]
    pub vertices: usize,
    /// Backend to measure. GPU times are by the device's own clock.
    #[arg(long, default_value = "cpu")]
    pub backend: Backend,
    /// With gpu: numbers of bodies stepped together.
    #[arg(long, value_delimiter = ',', default_values_t = [1])]
    pub bodies: Vec<u32>,
    /// With gpu: solvers of the global step.
    #[arg(long, value_delimiter = ',', default_value = "patches")]
    pub solver: Vec<GpuSolver>,
    /// With gpu: measure the embedded bodies in every embedded clip.
    #[arg(long)]
    pub clips: bool,
    /// With gpu: measure contact; with --clips, compare held poses to the CPU.
    #[arg(long)]
    pub contact: bool,
    /// Models to measure, by name. Default: all.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub only: Vec<String>,
}

/// What `supple bench` measures on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchPart {
    /// Steps of tissue.
    Tissue,
    /// Steps with contact.
    Contact,
    /// The full skin.
    Skin,
    /// Reading of OBJ files.
    Obj,
}

/// Solvers of the global step on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GpuSolver {
    /// Stored local inverses.
    Patches,
    /// The papers' Jacobi-preconditioned conjugate gradients, three dispatches per iteration.
    Pcg,
    /// Pipelined conjugate gradients, one dispatch per iteration.
    Pipelined,
    /// Chebyshev iteration, without dot products.
    Chebyshev,
}
