//! normals
