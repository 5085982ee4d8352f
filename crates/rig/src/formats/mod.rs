//! Reading and writing character files. The only place where units and axes are converted.

pub mod anim;
pub mod bvh;
mod checks;
mod error;
pub mod gltf;
mod ini;
mod load;
pub mod off;
mod options;
mod polygon;
mod save;
pub mod skel;
mod text;
mod units;

pub use checks::check_meshes;
pub use error::FormatError;
pub use load::{Resolver, load, load_bytes, load_character};
pub use options::ReadOptions;
pub use save::{save, save_with};

/// The file a character came from, kept where it can be written back whole.
#[derive(Clone, Debug, Default)]
pub enum Source {
    /// Nothing to keep: made in memory, or from a format that is written anew.
    #[default]
    None,
    /// A glTF, GLB or VRM file: written back with everything it came with.
    Gltf(std::sync::Arc<gltf::Document>),
}
