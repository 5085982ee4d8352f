//! What the shells of a character are: flesh, cloth, rigid, hair; and how those that are not flesh ride on it.

pub mod covers;
pub mod riders;
pub mod rides;
pub mod rigid_pieces;
pub mod shell_kinds;
pub mod shell_measures;
