//! shells
