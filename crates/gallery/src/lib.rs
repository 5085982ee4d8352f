//! The figures of `docs/gallery.md` are the programs in `crates/gallery/examples/`: `cargo run --release --example sliding`.
