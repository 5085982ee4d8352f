//! Meshes and the small mathematics they need: no files, no skeletons.
//!
//! Lengths are metres, Y is up. Meshes are plain data ([`TriMesh`]); each algorithm is a free function in a file of
//! its own name.
#![deny(unsafe_code)]

pub mod adjacency;
pub mod boundary;
pub mod bvh;
pub mod higham;
pub mod mesh;
pub mod normals;
pub mod polar;
pub mod shapes;
pub mod shells;
pub mod sparse;
pub mod svd3;
pub mod weld;

pub use mesh::TriMesh;
