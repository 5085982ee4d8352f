//! Supple for the browser: what the page's worker calls.
//!
//! [`Stage`](stage::Stage) is plain Rust and tested as such; `page.rs`, which only exists in WebAssembly, hands it to
//! JavaScript.
// The bindings' macro writes `unsafe` for its exports.
#![deny(unsafe_code)]

pub mod bake;
pub mod error;
pub mod files;
pub mod hands;
pub mod looks;
pub mod overlays;
#[cfg(target_arch = "wasm32")]
pub mod page;
pub mod rigging;
pub mod stage;
pub mod surroundings;
