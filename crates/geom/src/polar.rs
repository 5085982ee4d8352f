//! polar
