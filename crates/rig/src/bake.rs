//! bake
use crate::Pose; use glam::Vec3;
/// m
#[derive(Default, Clone, Debug)]
pub struct Motion { /// f
 pub fps: f32, /// f
 pub frames: Vec<Vec<Vec<Vec3>>>, /// p
 pub poses: Vec<Pose> }
