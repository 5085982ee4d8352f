//! Contact: tissue that touches itself, other bodies and the world [3.2.5].
//!
//! # Where things touch
//!
//! A [`ContactSurface`] is the skin with a *base point* below every skin point, on the bones' lines: the prisms between
//! skin triangles and base points fill the body, so that nothing hides inside a limb. Every step
//!
//! 1. [`Detector::update`] takes skin points, base points and normals, and refits a tree over the prisms: every node has
//!    the box of its prisms, blown up by the shell, and the box of its triangles' normals, eight children at a time;
//! 2. every skin point is looked for in the prisms ([`Detector::search`]): down the tree while the point is in the box and
//!    some normal there can oppose its own, then in the three tets of each prism. The weights of the tet's corners,
//!    base points counted as the skin points above them, are the point's *foot* on the skin triangle: a projection along the
//!    tissue's columns, continuous from tet to tet. Points and prisms that were found apart are left alone until both have come
//!    as far as they were apart (`search.rs`);
//! 3. a point keeps one contact, the least deep. Triangles at the point and around its neighbours are left out, and so are
//!    triangles that face the same way as the point: what has come in from one side goes out on that side. Where limbs bend, prisms
//!    lean over skin that they are not below: deep contacts count only if a ray says that the point is inside (`crossings.rs`).
//!
//! A body that rests is searched in every eighth step (`still.rs`).
//!
//! Local contact knows beforehand who may meet whom (`local.rs`), and looks at limbs that are bent alone; what it finds is
//! resolved in the same way.
//!
//! Contacts that press go on until they stop pressing, and their feet hold still when they do not slide (`persist.rs`), so that
//! folds come to rest. Feet that are left behind walk over the skin to where their points are. Points are pushed along the skin's
//! normal, drawn a little to the tissue's column: skin in a crease is crumpled, columns are not.
//!
//! Prisms are blown up by a quarter edge, the papers' distance of keeping a pair, so that a contact is known before and
//! after it presses. A known contact does nothing unless it presses: there is no matrix for it to stiffen, and nothing sticks.
//!
//! # What holds them apart
//!
//! A contact is one row c (the point minus its foot) with a normal n and asks for n·(c x) ≥ gap at the end of the step. Its
//! force λ is found with the iterations of the step, without a change of the system matrix A: in every iteration
//!
//! - the forces Cᵀλ found so far are part of the right-hand side, and A dx = g + Cᵀλ is solved with the kept factor;
//! - [`Resolver::sweep`] goes over the contacts once (projected Gauss–Seidel). A contact that is violated by r changes its force by
//!   r/s, s = c A⁻¹ cᵀ, never to a pull; its tangential part brings the slip of this step to zero, up to μ times the
//!   normal force (Coulomb). The positions answer at once with A⁻¹cᵀΔλ.
//!
//! A⁻¹ is known column by column from the start, cut off where it has decayed ([`Kernels`]): tissue is thin, and inertia and
//! bones hold it everywhere. What is cut off comes with the next solve, so the end of the iteration is exact. This is the Schur
//! complement of the contacts, applied without forming it: cost grows with the contacts that press, not with
//! their square, and not with the size of the body.
//!
//! # Colliders
//!
//! A [`Collider`] is a rigid [`Shape`] that [`Targets`](crate::Targets) place. Its contacts are rows with nothing free on the other
//! side (`collide.rs`). One with a mass has three unknowns more, that every row against it shares: a change of force moves it by
//! h²/m at once.
//!
//! # From step to step
//!
//! Forces are kept in the [`State`](crate::State) for the next step to start from. Depth that was there at the beginning of a step is
//! taken back no faster than [`ContactSettings::recovery`]: nothing pops out. Points that lose their contacts over and over while the
//! bones hold still are held where they are ([`Lapses`]). After four fifths of a second, folds that turn over keep their
//! contacts: nothing snaps in a pose that has been held.

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
