//! glTF 2.0, GLB and VRM (0.x and 1.0).
//!
//! The file is kept as a [`Document`]: raw JSON (in its key order) and raw buffers, read through small bounds-checked
//! accessors. The `gltf` crate is not used, because it drops unknown extensions, so a file
//! could not be written back unchanged, and because it can panic on malformed files.
//!
//! Reading: `document` (container, buffers) → `compression` → `accessor` (numbers) → `nodes`, `skins`, `primitives`, `animations`,
//! `materials`, `vrm` → `read` (the [`Character`](crate::Character)). Writing: `write` (the original document with
//! additions) or `fresh` (a new one), both through `append`.

mod accessor;
mod animations;
pub(crate) mod append;
mod base64;
mod compare;
mod compression;
mod document;
mod faults;
mod fresh;
mod json;
mod links;
mod materials;
mod nodes;
mod primitives;
mod read;
mod skins;
pub(super) mod units;
mod uri;
mod vrm;
mod write;
mod write_clips;

pub use compare::{Difference, compare};
pub use document::Document;
pub use links::{Links, PartLink};
pub use read::{read_document, read_glb, read_gltf};
pub use uri::folder_resolver;
pub use write::{document_of, write_glb};
pub use write_clips::append_clip;
pub(crate) use write_clips::plain_pose;
