//! The figures of `docs/gallery.md` are the programs in `examples/` at the root: `cargo run --release --example sliding`.
