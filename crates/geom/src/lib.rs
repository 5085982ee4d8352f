//! Meshes and numerics: no files, no skeletons.
//!
//! Lengths are metres, Y is up. Meshes are plain data ([`TriMesh`]); each algorithm is a free function in a file of its
//! own name. Every algorithm expects indices in range, which [`TriMesh::check`] checks once for a mesh from outside.
//! Positions that are not finite, degenerate triangles and non-manifold edges never cause a panic.
#![deny(unsafe_code)]

pub mod aabb;
pub mod adjacency;
pub mod bisection;
pub mod boundary;
mod bvh;
pub mod carve;
mod chains;

pub mod convex_hull;
pub mod decimate;
pub mod dense;
pub mod distance_transform;
pub mod eigen;
pub mod geodesic;
pub mod higham;
pub mod kd_tree;
pub mod laplace;
pub mod least_squares;
pub mod mesh;
pub mod mls;
pub mod normals;
pub mod pca;
pub mod polar;
mod quadric;
#[cfg(test)]
mod random;
pub mod ring_normals;
pub mod section;
pub mod shapes;
pub mod shells;
pub mod sided;
pub mod simd;
pub mod solid;
pub mod sparse;
pub mod subdivide;
pub mod surface;
pub mod surface_nets;
pub mod svd3;
pub mod tet_mesh;
pub mod tidy;
pub mod turns;
pub mod voxels;
pub mod weld;

pub use aabb::Aabb;
pub use adjacency::Adjacency;
pub use mesh::{MeshError, TriMesh};
pub use surface::Surface;
pub use tet_mesh::{TetMesh, TetMeshError};
