//! What a pose prescribes: targets of the bone surface, sliding, colliders [3.2.2].

pub mod colliders;
pub mod extreme_poses;
pub mod follow;
pub mod frames;
pub mod hanging_joints;
pub mod holds;
pub mod joint_use;
pub mod local_pairs;
pub mod regions;
pub mod sliding;
pub mod sliding_core;
pub mod target_table;
pub mod targets;
