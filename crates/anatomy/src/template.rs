//! A layered template from a rigged skin and placed bones [4.2.2], one file a step.

pub mod muscle_surface;
