//! Reading and writing character files. The only place where units and axes are converted.
//!
//! [`load`] and [`load_bytes`] find out what a file is; every format also has its own `read_…` function.

pub mod anim;
pub mod bvh;
mod bvh_write;
mod checks;
mod error;
#[cfg(feature = "fbx")]
pub mod fbx;
mod floor;
pub mod gltf;
mod ini;
mod load;
pub mod obj;
pub mod off;
mod options;
pub mod ply;
mod polygon;
mod save;
mod save_character;
mod seams;
pub mod skel;
mod sniff;
pub mod stl;
mod text;
mod units;

pub use bvh_write::write_bvh;
pub use checks::check_meshes;
pub use error::FormatError;
pub use load::{Resolver, load, load_bytes, load_character};
pub use options::{ReadOptions, parse_unit};
pub use save::{save, save_with};
pub use save_character::save_character;

/// The file a character came from, kept where it can be written back whole.
#[derive(Clone, Debug, Default)]
pub enum Source {
    /// Nothing to keep: made in memory, or from a format that is written anew.
    #[default]
    None,
    /// A glTF, GLB or VRM file: written back with everything it came with.
    Gltf(std::sync::Arc<gltf::Document>),
}
