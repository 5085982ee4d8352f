//! A layered template from a rigged skin and placed bones [4.2.2], one file a step.

pub mod areas;
pub mod atlas;
pub mod dense;
pub mod fat;
pub mod fat_scale;
pub mod fibres;
pub mod frame;
pub mod grid;
pub mod muscles;
pub mod paths;
pub mod segments;
pub mod share;
pub mod thickness;
pub mod volumes;
