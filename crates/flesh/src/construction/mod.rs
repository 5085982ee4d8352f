//! From a skin mesh and a skeleton to a tissue of tets [3.2.1].

pub(crate) mod assemble;
pub mod base_points;
pub mod body;
pub mod bone_graph;
pub mod bone_surface;
pub mod collision_tets;
pub mod embedded_points;
pub(crate) mod full_flesh;
pub mod heat_flow;
pub mod layered_prisms;
pub mod layers;
pub mod masses;
pub mod measures;
pub mod prisms;
pub mod rest_skin;
pub mod simulation_mesh;
pub mod skeleton_volume;
pub mod stretched;
pub(crate) mod tissue;
pub mod untangle;
