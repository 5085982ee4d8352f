//! skinning
