//! The command line's grammar.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use supple::flesh::settings::Resolution;
use supple::rig::formats::parse_unit;

/// Makes characters soft: characters in, characters out.
///
/// FILE may be a glTF, GLB, VRM, FBX, OBJ, PLY, OFF, STL, BVH, or one of the embedded bodies, @male and @female.
#[derive(Debug, Parser)]
#[command(name = "supple", version, arg_required_else_help = true)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print results as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Move the embedded body over an embedded clip: out/demo.glb and out/demo.png.
    Demo(Demo),
    /// Tell what a file holds, and what is odd about it.
    Info(Info),
    /// Write a file in another format, with everything that fits.
    Convert(Convert),
    /// Move a character's skin with a clip and bake the result.
    Skin(Skin),
    /// Write the automatic tissue settings of a character beside it, ready to edit.
    Init(Init),
    /// Draw a character to a PNG, at rest or over a clip.
    Picture(Picture),
    /// Play several characters that touch each other and the things around them.
    Scene(ScenePlay),
    /// Show a character in the browser: play it, pull on it, build its rig. Serves this machine alone.
    View(ViewPage),
    /// Measure tissue, reading and welding on this machine.
    Bench(Bench),
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages.
    Man {
        /// Folder to write into; without it, the main page goes to standard output.
        folder: Option<PathBuf>,
    },
}

/// A character to read.
#[derive(Debug, ClapArgs)]
pub struct Input {
    /// Character file, or @male / @female.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Take the skeleton from this file (.skel, .bvh, .glb, …) instead of the mesh's own; a mesh without one gets a
    /// fitted humanoid's.
    #[arg(long, value_name = "FILE")]
    pub skeleton: Option<PathBuf>,
    /// Length of one unit of the file: m, cm, mm, in, ft, or a number of metres.
    #[arg(long, value_name = "UNIT", value_parser = parse_unit)]
    pub unit: Option<f32>,
    /// The file's up axis.
    #[arg(long, value_name = "AXIS")]
    pub up: Option<UpAxis>,
}

/// Which motion to play.
#[derive(Debug, ClapArgs)]
pub struct MotionArgs {
    /// Clip of the file, by name or number (from 0), or an embedded one: elbow, knee, squat, sit, twist, arms_crossed, jump, shake.
    #[arg(long, value_name = "NAME", conflicts_with = "motion")]
    pub clip: Option<String>,
    /// Motion from another file (.bvh, .glb, .fbx, .anim), retargeted by joint names.
    #[arg(long, value_name = "FILE")]
    pub motion: Option<PathBuf>,
    /// Joint map: lines such as `hips = "Bip01"` under `[source]` for the motion's skeleton and under `[target]` for the
    /// character's, overriding guesses.
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// Frames a second.
    #[arg(long, default_value_t = 30.0, value_parser = parse_fps)]
    pub fps: f32,
    /// Start at this time of the clip, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    pub from: f32,
    /// Stop at this time of the clip, in seconds.
    #[arg(long, value_name = "SECONDS")]
    pub to: Option<f32>,
}

/// Settings of the tissue.
#[derive(Debug, ClapArgs)]
pub struct TissueArgs {
    /// Tissue settings; left out, those beside FILE (hero.supple.toml), or automatic ones.
    #[arg(long, value_name = "TOML")]
    pub settings: Option<PathBuf>,
    /// Vertices to simulate: automatic (3 to 5 thousand), full, or a number; the rest of the skin follows them.
    #[arg(long, value_name = "COUNT")]
    pub resolution: Option<Resolution>,
    /// How the rest of the skin follows.
    #[arg(long)]
    pub upsample: Option<Upsample>,
    /// What the tissue must not go through, instead of what the settings say.
    #[arg(long, value_name = "WHAT")]
    pub contact: Option<Contact>,
    /// Put a floor under the character that it does not go through.
    #[arg(long)]
    pub ground: bool,
}

/// `supple demo`
#[derive(Debug, ClapArgs)]
pub struct Demo {
    /// Folder to write into.
    #[arg(long, short, default_value = "out")]
    pub output: PathBuf,
    /// What steps the tissue.
    #[arg(long, default_value = "auto")]
    pub backend: Backend,
}

/// `supple info`
#[derive(Debug, ClapArgs)]
pub struct Info {
    #[command(flatten)]
    pub input: Input,
    /// List every joint.
    #[arg(long)]
    pub joints: bool,
}

/// `supple convert`
#[derive(Debug, ClapArgs)]
pub struct Convert {
    #[command(flatten)]
    pub input: Input,
    /// File to write: .glb, .obj, .ply, .off, .stl, .bvh or .skel.
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Split every triangle into four first, so many times.
    #[arg(long, value_name = "TIMES", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=4))]
    pub subdivide: u8,
}

/// `supple skin`
#[derive(Debug, ClapArgs)]
pub struct Skin {
    #[command(flatten)]
    pub input: Input,
    /// File to write; for sequences, frame numbers go before the ending.
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// How the skin moves.
    #[arg(long, default_value = "tissue")]
    pub method: Method,
    #[command(flatten)]
    pub tissue: TissueArgs,
    #[command(flatten)]
    pub motion: MotionArgs,
    /// How the result is written; guessed from the ending of OUT.
    #[arg(long)]
    pub bake: Option<Bake>,
    /// Largest error allowed to the correctives, in millimetres.
    #[arg(long, value_name = "MM", default_value_t = 1.0, value_parser = parse_bound, allow_negative_numbers = true)]
    pub bound: f32,
    /// Compute weights anew even where the file has some.
    #[arg(long)]
    pub auto_weights: bool,
    /// With contact: simulate a second time without it, and report what contact keeps out.
    #[arg(long)]
    pub compare: bool,
    /// What steps the tissue.
    #[arg(long, default_value = "auto")]
    pub backend: Backend,
}

/// `supple init`
#[derive(Debug, ClapArgs)]
pub struct Init {
    #[command(flatten)]
    pub input: Input,
    /// File to write; left out, hero.supple.toml beside hero.glb.
    #[arg(long, short, value_name = "TOML")]
    pub output: Option<PathBuf>,
    /// Overwrite a settings file that is already there.
    #[arg(long)]
    pub force: bool,
}

/// `supple picture`
#[derive(Debug, ClapArgs)]
pub struct Picture {
    #[command(flatten)]
    pub input: Input,
    /// PNG to write.
    #[arg(long, short, value_name = "OUT", default_value = "out/picture.png")]
    pub output: PathBuf,
    /// How the skin moves.
    #[arg(long, default_value = "tissue")]
    pub method: Method,
    #[command(flatten)]
    pub tissue: TissueArgs,
    /// Draw all methods, a row each.
    #[arg(long, value_name = "WHAT")]
    pub compare: Option<Compare>,
    #[command(flatten)]
    pub motion: MotionArgs,
    /// Moments of the clip to draw; without a clip, the character at rest is drawn once.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub frames: u16,
    /// Width and height of one tile in pixels.
    #[arg(long, default_value_t = 420, value_parser = clap::value_parser!(u16).range(32..=4096))]
    pub size: u16,
    /// Where the camera stands.
    #[arg(long, default_value = "three-quarter")]
    pub view: View,
    /// Draw the bones through the skin.
    #[arg(long)]
    pub bones: bool,
    /// What steps the tissue.
    #[arg(long, default_value = "auto")]
    pub backend: Backend,
}

/// `supple scene`
#[derive(Debug, ClapArgs)]
pub struct ScenePlay {
    /// Scene: a TOML file with [[character]] and [[collider]] tables; the README has an example.
    #[arg(value_name = "TOML")]
    pub file: PathBuf,
    /// Folder to write into: a GLB a character, and scene.png.
    #[arg(long, short, default_value = "out")]
    pub output: PathBuf,
    /// Largest error allowed to the correctives, in millimetres.
    #[arg(long, value_name = "MM", default_value_t = 1.0, value_parser = parse_bound, allow_negative_numbers = true)]
    pub bound: f32,
    /// Moments to draw.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub frames: u16,
}

/// `supple view`
#[derive(Debug, ClapArgs)]
pub struct ViewPage {
    /// Character file; left out, an embedded body.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Port to listen on; 0 takes any that is free.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Do not open a browser.
    #[arg(long)]
    pub no_open: bool,
}

/// `supple bench`
#[derive(Debug, ClapArgs)]
pub struct Bench {
    /// Also run a textbook step (double precision, one tet at a time) and print the ratio.
    #[arg(long)]
    pub baseline: bool,
    /// Threads to step with.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    pub threads: Vec<usize>,
    /// Folder of the papers' models (cylinder/, tbone/, male/); left out where it is missing.
    #[arg(long, value_name = "FOLDER")]
    pub models: Option<PathBuf>,
    /// Vertices of the largest generated OBJ.
    #[arg(long, default_value_t = 1_000_000)]
    pub vertices: usize,
    /// What is measured: gpu is the graphics processor, by its own clock.
    #[arg(long, default_value = "cpu")]
    pub backend: Backend,
    /// With gpu: bodies stepped together.
    #[arg(long, value_delimiter = ',', default_values_t = [1])]
    pub bodies: Vec<u32>,
    /// With gpu: how the global step is solved; several to compare.
    #[arg(long, value_delimiter = ',', default_value = "patches")]
    pub solver: Vec<GpuSolver>,
    /// With gpu: the embedded bodies in every embedded clip instead of the models.
    #[arg(long)]
    pub clips: bool,
    /// With gpu: bodies that touch themselves; with --clips, held poses against the processor.
    #[arg(long)]
    pub contact: bool,
    /// Models to measure, by name; left out, all.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub only: Vec<String>,
}

/// What steps the tissue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The GPU for models of 10,000 free vertices and more, if there is one; else the CPU.
    Auto,
    /// The processor.
    Cpu,
    /// The graphics processor; the processor where there is none.
    Gpu,
}

/// Global solvers on the graphics processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GpuSolver {
    /// Stored local inverses.
    Patches,
    /// The papers' Jacobi-preconditioned conjugate gradients, three dispatches an iteration.
    Pcg,
    /// Pipelined conjugate gradients, one dispatch an iteration.
    Pipelined,
    /// Chebyshev's iteration, without dot products.
    Chebyshev,
}

/// Up axes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum UpAxis {
    /// Y up, as in glTF.
    Y,
    /// Z up, as in Blender.
    Z,
}

/// What the tissue must not go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Contact {
    /// It goes through everything.
    Off,
    /// The skin does not go through itself where limbs fold.
    Local,
    /// The skin does not go through itself.
    Global,
}

/// Skinning methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Linear blend.
    Lbs,
    /// Dual quaternions.
    Dqs,
    /// Optimised centres of rotation.
    Cor,
    /// Simulated soft tissue: no weights needed.
    Tissue,
}

/// Ways from simulated vertices to the full skin.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Upsample {
    /// Quadratic moving least squares.
    Quadratic,
    /// Linear moving least squares.
    Linear,
    /// Normal displacements.
    Normals,
}

/// What a picture sets side by side.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Compare {
    /// Linear blend, dual quaternions, centres of rotation, tissue; colours show the distance to linear blend.
    Methods,
    /// Ways from simulated vertices to the full skin, against a simulation of all of it; colours show the distance.
    Upsample,
    /// Without contact, with local and with global contact; what is inside is red.
    Contact,
}

/// Ways to write a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bake {
    /// The original skin plus principal corrective morph targets (.glb).
    Correctives,
    /// One morph target a frame (.glb).
    Morphs,
    /// PC2 point cache.
    Pc2,
    /// MDD point cache.
    Mdd,
    /// One OBJ a frame.
    Obj,
    /// One PLY a frame.
    Ply,
}

/// Camera directions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum View {
    /// From the front.
    Front,
    /// From the character's left.
    Side,
    /// From the back.
    Back,
    /// Between front and left.
    ThreeQuarter,
}

fn parse_bound(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(bound) if bound > 0.0 && bound.is_finite() => Ok(bound),
        _ => Err("must be a number of millimetres above zero".to_owned()),
    }
}

fn parse_fps(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(fps) if (0.1..=1000.0).contains(&fps) => Ok(fps),
        _ => Err("must be a number from 0.1 to 1000".to_owned()),
    }
}
