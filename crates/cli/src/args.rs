//! Commands and options of the command line.

mod bench;
mod grow;
mod person;
mod template;

use std::path::PathBuf;

pub use bench::{Bench, BenchPart, GpuSolver};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
pub use grow::{Grow, GrowthMethod, Region};
pub use person::{Composition, CompositionCommand, Frame, MakePeople, MakePerson, Study};
use supple::flesh::settings::Resolution;
use supple::flesh::shells::shell_kinds::Kind;
use supple::glam::Vec3;
use supple::rig::formats::parse_unit;
use supple::rig::markers::{Marker, parse_marker};
pub use template::{MakeTemplate, Sex};

/// Makes characters soft: builds tissue between skin and bones, and simulates it.
///
/// FILE may be a glTF, GLB, VRM, FBX, OBJ, PLY, OFF, STL, BVH, a .person, or one of the embedded bodies, @male and @female.
#[derive(Debug, Parser)]
#[command(name = "supple", version, arg_required_else_help = true)]
pub struct Args {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
    /// Print results as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    /// Print errors only.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate an embedded body in a squat; writes out/demo.glb and out/demo.png. With --person, from a scan to a layered person.
    Demo(Demo),
    /// List the contents of a file, and what is unusual.
    Info(Info),
    /// Convert a file to another format.
    Convert(Convert),
    /// Play a clip on a character and write the moving skin.
    Skin(Skin),
    /// Write the automatic tissue settings of a character to a file, to edit.
    Init(Init),
    /// Build a skeleton for a mesh: a fitted humanoid, or a template to edit; writes it with weights.
    Rig(Rig),
    /// Let a layered body gain or lose fat and muscle, in kilograms.
    Grow(Grow),
    /// Build a layered template: bones and muscles inside a rigged skin, with the surfaces around them.
    Template(MakeTemplate),
    /// Make a layered person of a body scan: skin, fat, muscles and bones, measured and rigged.
    Person(MakePerson),
    /// Make layered people of many scans; continues where it was stopped.
    People(MakePeople),
    /// Fit models of body fat to measured people.
    Composition(Composition),
    /// Draw a character to a PNG, at rest or in frames of a clip.
    Picture(Picture),
    /// Simulate several characters that touch each other and colliders.
    Scene(ScenePlay),
    /// Show a character in the browser: play, pull, build a rig. Serves 127.0.0.1 only.
    View(ViewPage),
    /// Measure tissue, contact, upsampling, and reading of files on this machine.
    Bench(Bench),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages.
    Man {
        /// Output folder. Default: print the main page.
        folder: Option<PathBuf>,
    },
}

/// A character to read.
#[derive(Debug, ClapArgs)]
pub struct Input {
    /// Character file, or @male or @female.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Take the skeleton from this file (.skel, .bvh, .glb, …). Default: the character's own, or a fitted humanoid
    /// skeleton if it has none.
    #[arg(long, value_name = "FILE")]
    pub skeleton: Option<PathBuf>,
    /// Length of one unit of the file: m, cm, mm, in, ft, or a number of metres.
    #[arg(long, value_name = "UNIT", value_parser = parse_unit)]
    pub unit: Option<f32>,
    /// Up axis of the file.
    #[arg(long, value_name = "AXIS")]
    pub up: Option<UpAxis>,
}

/// The motion to play.
#[derive(Debug, ClapArgs)]
pub struct MotionArgs {
    /// Clip of the file, by name or number (from 0), or an embedded clip: elbow, knee, squat, sit, twist, arms_crossed, jump, shake.
    /// With --motion, a clip of that file.
    #[arg(long, value_name = "NAME")]
    pub clip: Option<String>,
    /// Motion from another file (.bvh, .glb, .fbx, .anim): played joint by joint if it was made for this skeleton, else retargeted. Default: its first
    /// clip.
    #[arg(long, value_name = "FILE")]
    pub motion: Option<PathBuf>,
    /// Joint map that overrides recognised joints: lines such as `hips = "Bip01"`, under `[source]` for the motion's
    /// skeleton and under `[target]` for the character's.
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// Fit the motion to the body from bone to bone, even if it was made for this skeleton.
    #[arg(long, requires = "motion")]
    pub retarget: bool,
    /// Frames per second.
    #[arg(long, default_value_t = 30.0, value_parser = parse_fps)]
    pub fps: f32,
    /// Start at this time of the clip, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = parse_seconds)]
    pub from: f32,
    /// Stop at this time of the clip, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub to: Option<f32>,
    /// Hold the last pose for this many seconds while the tissue settles.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = parse_seconds)]
    pub hold: f32,
}

/// Settings of the tissue.
#[derive(Debug, ClapArgs)]
pub struct TissueArgs {
    /// Tissue settings. Default: hero.supple.toml beside hero.glb if it exists, else automatic settings.
    #[arg(long, value_name = "TOML")]
    pub settings: Option<PathBuf>,
    /// Number of simulated vertices: automatic (3 to 5 thousand), full, or a number. The rest of the skin follows them.
    #[arg(long, value_name = "COUNT")]
    pub resolution: Option<Resolution>,
    /// How the rest of the skin follows the simulated vertices.
    #[arg(long)]
    pub upsample: Option<Upsample>,
    /// Contact of the skin with itself; overrides the settings.
    #[arg(long, value_name = "MODE")]
    pub contact: Option<Contact>,
    /// Put a floor below the character.
    #[arg(long)]
    pub ground: bool,
    /// Set how a shell (connected piece) moves: flesh, cloth, rigid, rigid:JOINT, hair or skinned. SHELL is its name or number in
    /// `supple info --shells`; a final * matches any ending. May be repeated.
    #[arg(long, visible_alias = "part", value_name = "SHELL=KIND", value_parser = parse_shell)]
    pub shell: Vec<(String, Kind)>,
}

/// `supple demo`
#[derive(Debug, ClapArgs)]
pub struct Demo {
    /// From a body scan to a layered person that moves and gains ten kilograms; writes person.glb and person.png.
    #[arg(long)]
    pub person: bool,
    /// Output folder.
    #[arg(long, short, default_value = "out")]
    pub output: PathBuf,
    /// Where the tissue is simulated.
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
    /// List every shell (connected piece), and how it moves: flesh, cloth, rigid, hair or skinned.
    #[arg(long)]
    pub shells: bool,
}

/// `supple convert`
#[derive(Debug, ClapArgs)]
pub struct Convert {
    #[command(flatten)]
    pub input: Input,
    /// Overwrite the file that is read.
    #[arg(long)]
    pub force: bool,
    /// File to write: .glb, .obj, .ply, .off, .stl, .bvh or .skel. Of a .person also a folder, which gets surfaces, bones and
    /// muscles as meshes, and fat and muscle as tets (VTK).
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Format of the meshes in a folder.
    #[arg(long, value_name = "FORMAT", default_value = "ply")]
    pub meshes: MeshFormat,
    /// Split every triangle into four, this many times.
    #[arg(long, value_name = "TIMES", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=4))]
    pub subdivide: u8,
}

/// `supple skin`
#[derive(Debug, ClapArgs)]
pub struct Skin {
    #[command(flatten)]
    pub input: Input,
    /// File to write. Sequences get a frame number before the extension.
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Overwrite the file that is read.
    #[arg(long)]
    pub force: bool,
    /// How the skin moves.
    #[arg(long, default_value = "tissue")]
    pub method: Method,
    #[command(flatten)]
    pub tissue: TissueArgs,
    #[command(flatten)]
    pub motion: MotionArgs,
    /// How the motion is written. Default: by the extension of OUT, which must fit.
    #[arg(long)]
    pub bake: Option<Bake>,
    /// Largest error of the correctives, in millimetres. Default: a millimetre for 1.8 m of size.
    #[arg(long, value_name = "MM", value_parser = parse_bound, allow_negative_numbers = true)]
    pub bound: Option<f32>,
    /// Write the correctives even if their error exceeds the bound.
    #[arg(long)]
    pub allow_error: bool,
    /// Recompute skinning weights even if the file has some.
    #[arg(long)]
    pub auto_weights: bool,
    /// With contact: simulate again without it, and report both.
    #[arg(long)]
    pub compare: bool,
    /// Simulate fat and muscle over a detailed skeleton: FILE is a .template, @male or @female. A .template always is.
    #[arg(long)]
    pub layers: bool,
    /// Write muscles and bones too, as two more meshes that move along; implies --layers.
    #[arg(long, conflicts_with = "compare")]
    pub bake_layers: bool,
    /// Where the tissue is simulated.
    #[arg(long, default_value = "auto")]
    pub backend: Backend,
}

/// `supple init`
#[derive(Debug, ClapArgs)]
pub struct Init {
    #[command(flatten)]
    pub input: Input,
    /// File to write. Default: hero.supple.toml beside hero.glb.
    #[arg(long, short, value_name = "TOML")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing settings file.
    #[arg(long)]
    pub force: bool,
}

/// `supple rig`
#[derive(Debug, ClapArgs)]
pub struct Rig {
    #[command(flatten)]
    pub input: Input,
    /// File to write: .glb with the mesh and its weights, or .skel.
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Overwrite the file that is read.
    #[arg(long)]
    pub force: bool,
    /// Position of a part of the body, in metres with Y up: chin, groin, wrist.L, wrist.R, elbow.L, elbow.R, knee.L or knee.R.
    /// The fitted joints lie there. May be repeated.
    #[arg(long = "marker", value_name = "NAME=X,Y,Z", value_parser = parse_marker)]
    pub markers: Vec<(Marker, Vec3)>,
    /// Take a template, scaled to the mesh's box, instead of fitting a humanoid.
    #[arg(long, value_name = "KIND", conflicts_with = "markers")]
    pub template: Option<Template>,
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
    /// Draw several variants, one row each.
    #[arg(long, value_name = "WHAT")]
    pub compare: Option<Compare>,
    #[command(flatten)]
    pub motion: MotionArgs,
    /// Number of frames to draw. Without a clip, the character is drawn once, at rest.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub frames: u16,
    /// Width and height of one tile in pixels.
    #[arg(long, default_value_t = 420, value_parser = clap::value_parser!(u16).range(32..=4096))]
    pub size: u16,
    /// Camera direction.
    #[arg(long, default_value = "three-quarter")]
    pub view: View,
    /// Joint at the centre of every picture: a joint's name, or a place such as knee.L, elbow.R, chest or head.
    #[arg(long, value_name = "JOINT")]
    pub focus: Option<String>,
    /// Enlargement. Default: 1; 4 with --focus, which shows a quarter of the height.
    #[arg(long, value_name = "TIMES", value_parser = parse_zoom)]
    pub zoom: Option<f32>,
    /// Draw the layers of a body from skin to bone: FILE is a .person, a .template, @male or @female. With a clip, skin, muscles and
    /// bones in motion, one row each.
    #[arg(long, conflicts_with = "compare")]
    pub layers: bool,
    /// Draw the body's regions: muscle groups, fat, what bones hold and what slides.
    #[arg(long, conflicts_with_all = ["layers", "compare", "clip", "motion", "bones", "focus"])]
    pub regions: bool,
    /// Draw the bones through the skin.
    #[arg(long)]
    pub bones: bool,
    /// Where the tissue is simulated.
    #[arg(long, default_value = "auto")]
    pub backend: Backend,
}

/// `supple scene`
#[derive(Debug, ClapArgs)]
pub struct ScenePlay {
    /// Scene file (TOML) with [[character]] and [[collider]] tables. The README has an example.
    #[arg(value_name = "TOML")]
    pub file: PathBuf,
    /// Output folder: one GLB per character, and scene.png.
    #[arg(long, short, default_value = "out")]
    pub output: PathBuf,
    /// Largest error of the correctives, in millimetres. Default: a millimetre for 1.8 m of size.
    #[arg(long, value_name = "MM", value_parser = parse_bound, allow_negative_numbers = true)]
    pub bound: Option<f32>,
    /// Write the correctives even if their error exceeds the bound.
    #[arg(long)]
    pub allow_error: bool,
    /// Number of frames to draw.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub frames: u16,
}

/// `supple view`
#[derive(Debug, ClapArgs)]
pub struct ViewPage {
    /// Character file. Default: an embedded body.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Port to listen on; 0 takes any free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Do not open a browser.
    #[arg(long)]
    pub no_open: bool,
}

/// Formats of plain meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MeshFormat {
    /// PLY.
    Ply,
    /// OBJ.
    Obj,
}

/// Where the tissue is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A GPU if there is one and the model has at least 10,000 free vertices, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU, or the CPU if there is none.
    Gpu,
}

/// Template skeletons.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Template {
    /// A person in T-pose.
    Humanoid,
    /// An animal on four legs.
    Quadruped,
}

/// Up axes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum UpAxis {
    /// Y up, as in glTF.
    Y,
    /// Z up, as in Blender.
    Z,
}

/// Contact modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Contact {
    /// No contact.
    Off,
    /// Contact in folds at joints only.
    Local,
    /// Contact of the whole skin with itself.
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
    /// Simulated tissue; needs no weights.
    Tissue,
}

/// Upsampling methods.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Upsample {
    /// Quadratic moving least squares.
    Quadratic,
    /// Linear moving least squares.
    Linear,
    /// Normal displacements.
    Normals,
}

/// What a picture compares.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Compare {
    /// Linear blend, dual quaternions, centres of rotation and tissue; colours show the distance to linear blend, on one scale.
    Methods,
    /// Upsampling methods and a simulation of the full skin; colours show the distance to it.
    Upsample,
    /// No contact, local and global contact; vertices that are inside something are red.
    Contact,
}

/// Ways to write a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bake {
    /// The original skin plus principal corrective morph targets (.glb).
    Correctives,
    /// One morph target per frame (.glb).
    Morphs,
    /// PC2 point cache.
    Pc2,
    /// MDD point cache.
    Mdd,
    /// One OBJ per frame.
    Obj,
    /// One PLY per frame.
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

fn parse_shell(text: &str) -> Result<(String, Kind), String> {
    match text.rsplit_once('=') {
        Some((shell, kind)) if !shell.is_empty() => Ok((shell.to_owned(), kind.parse()?)),
        _ => Err("must be SHELL=KIND, such as hat=rigid".to_owned()),
    }
}

fn parse_bound(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(bound) if bound > 0.0 && bound.is_finite() => Ok(bound),
        _ => Err("must be a number of millimetres above zero".to_owned()),
    }
}

fn parse_seconds(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds from 0 to 86400".to_owned()),
    }
}

fn parse_zoom(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(zoom) if (0.1..=100.0).contains(&zoom) => Ok(zoom),
        _ => Err("must be a number from 0.1 to 100".to_owned()),
    }
}

fn parse_fps(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(fps) if (0.1..=1000.0).contains(&fps) => Ok(fps),
        _ => Err("must be a number from 0.1 to 1000".to_owned()),
    }
}
