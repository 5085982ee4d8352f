//! Readers and writers of character files. Units and axes are converted here and nowhere else.
//!
//! [`load`] and [`load_bytes`] detect the format; every format also has its own `read_…` function.

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
mod unit_conversion;
mod units;
pub mod xyz;

pub use bvh_write::write_bvh;
pub use checks::check_meshes;
pub use error::FormatError;
pub use load::{Resolver, load, load_bytes, load_character};
pub use options::{ReadOptions, parse_unit};
pub use save::{save, save_with};
pub use save_character::save_character;

/// The document a character was read from, kept if it can be written back unchanged.
#[derive(Clone, Debug, Default)]
pub enum Source {
    /// None: the character was made in memory, or its format is written from scratch.
    #[default]
    None,
    /// A glTF, GLB or VRM document, written back with all its content.
    Gltf(std::sync::Arc<gltf::Document>),
}
