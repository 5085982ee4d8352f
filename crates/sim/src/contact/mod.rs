//! Contact: tissue that touches itself, other bodies and the world [3.2.5].
//!
//! `docs/method/contact.md` tells the method, its equations and sources, and what every constant of [`rules`] is for. A reader of the
//! code needs the way of a step:
//!
//! 1. [`ContactSolver::detect`] updates a [`Detector`] (skin points, base points, normals, the tree over prisms), decides which contacts of
//!    the last step go on (`persist.rs`), searches for the others, and merges both. Colliders come from `world.rs`, local contact from
//!    `watch.rs`.
//! 2. [`ContactSolver::assemble`] makes every contact a row: the point minus its foot, a normal, a target, a compliance (`rows.rs`).
//! 3. [`Resolver::sweep`], once in each iteration, changes the forces of the rows and moves the tissue around them by columns of A⁻¹
//!    ([`Kernels`]).
//! 4. [`ContactSolver::finish`] writes contacts, forces and what held poses need ([`Lapses`], [`Searched`]) to the state.

mod close;
mod collide;
mod collider;
mod collider_mesh;
mod collider_shapes;
mod crossings;
mod descent;
mod detect;
mod external;
mod fit;
mod inside;
mod kernels;
mod land;
mod lapses;
mod local;
mod measure;
mod persist;
mod resolve;
mod rows;
pub mod rules;
mod search;
mod solver;
mod still;
mod surface;
mod sweep;
mod tangle;
mod tree;
mod watch;
pub(crate) mod ways;
mod world;

use glam::Vec3;

pub use collide::FIRST_COLLIDER;
pub use collider::{Collider, ColliderState, Motion, Placed, Placement};
pub use collider_mesh::ColliderMesh;
pub use collider_shapes::{Near, Shape};
pub use detect::{Detector, Filter, Found};
pub use external::{External, ExternalForce};
pub use kernels::{Kernels, Reach};
pub use lapses::Lapses;
pub use local::{LocalPair, LocalPairs};
pub use measure::{Penetration, measure_in_colliders, measure_penetration};
pub use resolve::{GivingWay, Resolver};
pub use rules::{GAP, SHELL};
pub use solver::ContactSolver;
pub use still::Searched;
pub use surface::{ContactSurface, Source, SurfaceInput};
pub use sweep::Side;

/// How bodies touch.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSettings {
    /// What is looked for.
    pub mode: ContactMode,
    /// Coulomb's coefficient; skin on skin has about 0.5.
    pub friction: f32,
    /// How fast depth that is already there is taken back \[m/s\]. At 1, crushed folds are thrown about (a squat never comes to
    /// rest); at 0.02, a hand that was inside a belly stays there for seconds.
    pub recovery: f32,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContactMode {
    /// Nothing.
    #[default]
    Off,
    /// Skin around joints, by pairs that are known beforehand ([`LocalPairs`]).
    Local,
    /// Everything.
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

/// A skin point that touches, or is about to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The skin point.
    pub point: u32,
    /// What it touches: a triangle of the surface.
    pub triangle: u32,
    /// Weights of the triangle's corners in the foot.
    pub weights: [f32; 3],
    /// Direction in which the point is pushed.
    pub normal: Vec3,
    /// Force on the point \[N\].
    pub force: Vec3,
    /// Distance from the foot along the normal \[m\]; negative: inside.
    pub distance: f32,
}

/// What a state remembers of its contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactState {
    /// Contacts after the last step, by point.
    pub contacts: Vec<Contact>,
    /// Base points of the last step \[m\].
    pub bases: Vec<Vec3>,
    /// Skin points outside the model in the last step \[m\].
    pub outside: Vec<Vec3>,
    /// Contacts with what is outside the model, by body and vertices.
    pub external: Vec<ExternalForce>,
    /// Colliders after the last step.
    pub colliders: Vec<ColliderState>,
    /// Contacts that were lost while they pressed.
    pub lapses: Lapses,
    /// The last search.
    pub searched: Searched,
}
