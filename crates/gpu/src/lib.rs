//! Projective dynamics on the graphics processor: the step of `supple-sim` through wgpu (Vulkan, Metal, DX12, WebGPU).
//!
//! On a fast GPU a step is bound by dispatches, about two microseconds each, not by arithmetic. So a local/global iteration takes
//! only two: the [projection](kernels) of all elements and the sum of their forces, and the global solve as one dense product per
//! patch of vertices ([`patch_inverse`]). [`GpuBodies`] steps any number of bodies of one model in one submission and keeps their
//! states on the device; [`GpuBackend`] is the [`Backend`](supple_sim::Backend) for one body.
//!
//! Kernels are `.wgsl` files within WebGPU's default limits. `docs/method/device.md` describes the method, `docs/benchmarks.md` its
//! cost.
#![forbid(unsafe_code)]

pub mod backend;
pub mod bodies;
mod buffers;
mod colliders;
mod contact;
mod contact_buffers;
mod contact_rules;
mod contact_tables;
pub mod device;
mod error;
pub mod follow;
pub mod kernels;
pub mod krylov;
pub mod patch_inverse;
pub mod patches;
mod readback;
mod skin;
mod stage_times;
pub mod tables;
mod tet_table;

pub use backend::GpuBackend;
pub use bodies::{GpuBodies, Solver};
pub use device::{Gpu, Options};
pub use error::GpuError;
pub use follow::FollowTables;
pub use readback::Pending;
pub use skin::{GpuSkin, SkinTables, unpack_skin};
pub use stage_times::StageTimes;
