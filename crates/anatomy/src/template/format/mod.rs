//! The file of a layered body.

pub(crate) mod blocks;
pub mod bytes;
pub mod file;
pub(crate) mod header;
pub mod mesh_code;
