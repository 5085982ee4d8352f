//! The template: an average man or woman whose skin, muscles and bones are known and nested [4.2.2].

pub mod assemble;
pub mod build;
#[doc(hidden)]
pub mod example;
pub mod format;
pub mod info;
pub mod musculature;
pub mod places;
pub mod report;
pub mod sources;
pub mod surfaces;
pub mod wrapping;

pub use crate::bones::Landmark;
pub use crate::layered_body::{LayeredBody, Rig, RiggedBone, RiggedMuscle, Weights};
pub use format::file::{
    TemplateError, load_template, read_template, save_template, write_template,
};
pub use musculature::atlas::Group;
pub use places::frame::Side;
pub use places::regions::{FatRegion, Regions};
