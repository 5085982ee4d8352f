//! Benchmarks, comparisons of methods, and picture sheets of Supple.
//!
//! The command line and the gallery use it. Programs that need soft bodies depend on [`supple`] only.
#![forbid(unsafe_code)]

pub mod bench;
pub mod collider_drawing;
pub mod compare;
pub mod compare_contact;
pub mod growth_sheet;
pub mod guests;
pub mod layered_motion;
pub mod limbs;
pub mod people;
pub mod people_sheet;
pub mod person_sheet;
pub mod scene_sheet;
pub mod section_drawing;
pub mod sheet;
pub mod story_sheet;
pub mod template_sheet;
pub mod trials;
pub mod upsampling;
