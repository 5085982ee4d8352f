//! What Supple measures and draws of itself: benchmarks, comparisons of methods, and picture sheets.
//!
//! The command line and the gallery use it; programs that only need soft bodies depend on [`supple`] alone.
#![forbid(unsafe_code)]

pub mod bench;
pub mod collider_drawing;
pub mod compare;
pub mod compare_contact;
pub mod contact_report;
pub mod scene_sheet;
pub mod sheet;
pub mod upsampling;
