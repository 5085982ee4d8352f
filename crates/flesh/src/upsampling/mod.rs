//! From the simulated skin to every vertex of the file [3.2.4].

pub mod detail;
pub mod detail_cache;
pub mod normal_displacement;
pub mod posed_skin;
pub mod upsample;
pub mod upsample_groups;
pub(crate) mod upsample_weights;
