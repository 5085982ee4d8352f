//! The `supple` command line.
fn main() {}
