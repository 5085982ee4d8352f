//! Skeleton surface and muscle surface below a skin [4.2.2].

pub mod correspondence;
pub mod fat;
pub mod fat_scale;
pub mod fps_shrinking;
pub mod muscle_surface;
pub mod skeleton_surface;
pub mod thickness;
