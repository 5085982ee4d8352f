//! Contact of tissue with itself, other bodies and colliders [3.2.5].
//!
//! `docs/method/contact.md` describes the method with equations and sources, and what each constant of [`rules`] does.
//! The stages of a step:
//!
//! 1. [`ContactSolver::detect`] updates a [`Detector`] (skin points, base points, normals, the tree over prisms),
//!    decides which contacts of the last step persist (`persist.rs`), searches for new ones, and merges both. Contacts
//!    with colliders come from `world.rs`, local contact from `local_search.rs`.
//! 2. [`ContactSolver::assemble`] turns every contact into a row: point minus foot, normal, target distance, compliance
//!    (`rows.rs`).
//! 3. [`Resolver::sweep`], once per iteration, updates the forces of the rows and moves the tissue around them by
//!    columns of A⁻¹ ([`Kernels`]).
//! 4. [`ContactSolver::finish`] writes contacts, forces and the record of held poses ([`LostContacts`], [`Searched`]) to the
//!    state.

mod close;
mod collide;
mod collider;
mod collider_mesh;
mod collider_shapes;
mod covers;
mod crossings;
mod descent;
mod detect;
mod drag;
mod external;
mod fit;
mod inside;
mod kernels;
mod land;
mod local;
mod local_search;
mod lost_contacts;
mod measure;
mod moment;
mod own_contacts;
mod persist;
pub(crate) mod relative_motion;
mod resolve;
mod rest_overlaps;
mod rows;
pub mod rules;
mod search;
mod solver;
mod still;
mod surface;
mod sweep;
mod tangle;
mod tree;
mod world;

use glam::Vec3;

pub use collide::FIRST_COLLIDER;
pub use collider::{Collider, ColliderState, Motion, Placed, Placement};
pub use collider_mesh::ColliderMesh;
pub use collider_shapes::{Near, Shape};
pub use detect::{Detector, Filter, Found};
pub use external::{External, ExternalForce};
pub use kernels::{Kernels, Reach};
pub use local::{LocalPair, LocalPairs};
pub use lost_contacts::LostContacts;
pub use measure::{Penetration, measure_in_colliders, measure_penetration};
pub use resolve::{MovableBody, Resolver};
pub use rules::{GAP, SHELL};
pub use solver::ContactSolver;
pub use still::Searched;
pub use surface::{ContactSurface, Source, SurfaceInput};
pub use sweep::Side;

/// Settings of contact.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSettings {
    /// Which contacts are detected.
    pub mode: ContactMode,
    /// Coulomb's coefficient; about 0.5 for skin on skin.
    pub friction: f32,
    /// Speed at which existing depth is resolved \[m/s\]. At 1, crushed folds are thrown about, and a squat never comes
    /// to rest; at 0.02, a hand that was inside a belly stays there for seconds.
    pub recovery: f32,
}

/// Which contacts are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContactMode {
    /// Nothing.
    #[default]
    Off,
    /// Self-contact around joints, between pairs that are known beforehand ([`LocalPairs`]).
    Local,
    /// All self-contact.
    Global,
}

impl Default for ContactSettings {
    fn default() -> ContactSettings {
        ContactSettings {
            mode: ContactMode::Off,
            friction: 0.5,
            recovery: 0.1,
        }
    }
}

/// A skin point that touches other skin, or is close to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The skin point.
    pub point: u32,
    /// The surface triangle that it touches.
    pub triangle: u32,
    /// Barycentric weights of the foot, the touched point of the triangle.
    pub weights: [f32; 3],
    /// Direction in which the point is pushed.
    pub normal: Vec3,
    /// Force on the point \[N\].
    pub force: Vec3,
    /// Distance from the foot along the normal \[m\]; negative inside.
    pub distance: f32,
}

/// What a state stores about its contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactState {
    /// Contacts after the last step, by point.
    pub contacts: Vec<Contact>,
    /// Base points in the last step \[m\].
    pub bases: Vec<Vec3>,
    /// Skin points outside the model in the last step \[m\].
    pub outside: Vec<Vec3>,
    /// Contacts with other bodies and colliders, sorted by body and vertices.
    pub external: Vec<ExternalForce>,
    /// Colliders after the last step.
    pub colliders: Vec<ColliderState>,
    /// Record of pressing contacts that were lost.
    pub lost_contacts: LostContacts,
    /// Where the body was last searched.
    pub searched: Searched,
}
