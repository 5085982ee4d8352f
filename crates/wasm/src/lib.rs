//! Supple for the browser: the API of the page's worker.
//!
//! [`Stage`](stage::Stage) is plain Rust and tested natively; `page.rs` and `page_inside.rs`, compiled only for
//! WebAssembly, export it to JavaScript.
// The bindings' macro generates `unsafe` code for its exports.
#![deny(unsafe_code)]

pub mod anatomy;
pub mod bake;
pub mod error;
pub mod files;
pub mod growth;
pub mod hands;
pub mod hints;
pub mod looks;
pub mod overlays;
#[cfg(target_arch = "wasm32")]
pub mod page;
#[cfg(target_arch = "wasm32")]
pub mod page_inside;
pub mod person;
pub mod posing;
pub mod rigging;
pub mod shape;
pub mod shells;
pub mod stage;
pub mod surroundings;
