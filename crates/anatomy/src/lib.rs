//! Layered anatomy: bones, muscles, fat and skin of a body.
//!
//! Three surfaces of one connectivity, nested everywhere: the *skin*, the *muscle surface* that wraps all muscles, and the
//! *skeleton surface* that wraps all bones ([`Layers`]). Fat lies between skin and muscle surface, muscle between muscle
//! surface and skeleton surface. Head, hands and toes are not layered: there all three are the skin.
//!
//! Section and equation numbers in brackets are those of chapter 4 of the thesis named in `docs/references.md`.
#![deny(unsafe_code)]

pub mod body;
pub mod body_model;
pub mod bone;
pub mod bones;
mod clock;
pub mod composition;
pub mod growth;
pub mod inside;
pub mod inversion_guard;
pub mod layered_body;
pub mod layers;
pub mod mesh_folder;
pub mod person;
pub mod progress;
pub mod scan;
pub mod surface_fit;
pub mod template;
pub mod tissue_layers;

pub use body::{Body, BodyError, Sex};
pub use bone::Bone;
pub use layered_body::LayeredBody;
pub use layers::Layers;
