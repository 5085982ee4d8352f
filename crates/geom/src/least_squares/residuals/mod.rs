//! Residuals that fits share, one a file. Those of one kind of state live with it.

pub mod bending;
pub mod point_to_plane;
pub mod point_to_point;
pub mod prism_shape;
pub mod rigidity;
pub mod smoothness;
mod stencils;
pub mod turned_bending;

pub use bending::Bending;
pub use point_to_plane::{Placement, PointToPlane};
pub use point_to_point::PointToPoint;
pub use prism_shape::PrismShape;
pub use rigidity::Rigidity;
pub use smoothness::Smoothness;
pub use stencils::Stencils;
pub use turned_bending::TurnedBending;
