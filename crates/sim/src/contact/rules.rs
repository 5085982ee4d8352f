//! Every constant that changes what contact does, in one place.
//!
//! Lengths are relative to the mean edge of the skin or to the size of the body, times are in seconds: nothing depends on the step
//! rate or on the size of a character. `docs/method/contact.md` has the same list with what breaks below and above each value; a test
//! compares the two. The kernels of `supple-gpu` get their constants from here.

/// Distance at which a pair is known \[mean edges\]; the papers' 25 %.
pub const SHELL: f32 = 0.25;
/// Distance that a contact keeps \[mean edges\].
pub const GAP: f32 = 0.08;

/// A triangle whose normal's cosine with the point's is above this faces the same way, and is no contact.
pub const FACING_COSINE: f32 = 0.5;
/// Depth from which on new contacts need a ray that says that the point is inside \[mean edges\].
pub const RAY_CHECK_DEPTH: f32 = 0.25;
/// The same in local contact: the point has to face the triangle by this cosine.
pub const LOCAL_DEEP_COSINE: f32 = -0.3;
/// Share of the tissue's column in the direction in which points are pushed; the rest is the skin's normal.
pub const COLUMN_SHARE: f32 = 0.25;
/// A tet is flat where its determinant is below this times its longest edge from the first corner cubed.
pub const FLAT_TET: f32 = 1e-5;
/// Barycentric weights down to this count as inside.
pub const TET_TOLERANCE: f32 = -1e-5;

/// Way a contact slides until foot and normal are where they are found \[mean edges\].
pub const SLIDE_LENGTH: f32 = 0.3;
/// Speed from which on a contact slides fast: it takes over what is found \[mean edges a second\].
pub const SLIDE_SPEED: f32 = 9.0;
/// Share of a new normal in that of a contact that slides to another triangle, at least.
pub const NEW_TRIANGLE_BLEND: f32 = 0.5;
/// How far a point may be beside its foot before its contact ends \[mean edges\].
pub const BESIDE_LIMIT: f32 = 3.0;
/// A contact ends when the skin at its foot and at its point have normals with a cosine above this: the fold has turned over.
pub const TURNED_COSINE: f32 = 0.8;
/// A foot that its point has left by this much walks to where the skin is closest \[mean edges\].
pub const WALK_DISTANCE: f32 = 0.5;
/// A contact deeper than this gives way to one that is found as much less deep \[mean edges\].
pub const WRONG_SIDE_DEPTH: f32 = 0.5;

/// Bones that move slower than this hold still \[body sizes a second\].
pub const STILL_SPEED: f32 = 0.0035;
/// Way of the bones after which lost contacts are forgotten \[body sizes\].
pub const FORGET_WAY: f32 = 0.012;
/// Steps in which a point loses a pressing contact in a held pose, in sum, after which it is only held \[s\].
pub const LOST_CONTACT_TIME: f32 = 3.0 / 60.0;
/// Time after bones have stopped in which lost contacts do not count \[s\].
pub const LOST_CONTACT_DELAY: f32 = 1.0 / 6.0;
/// Rate at which feet and normals are blended toward what is found while bones move \[1/s\].
pub const FOLLOW_RATE: f32 = 6.3;
/// Time in which that rate goes to zero after bones have stopped \[s\].
pub const FOLLOW_TIME: f32 = 1.0 / 3.0;
/// Share of the usual recovery speed after that.
pub const SLOW_RECOVERY: f32 = 0.02;
/// Time after bones have stopped from which on folds that turn over keep their contacts \[s\].
pub const FOLD_HOLD_TIME: f32 = 0.8;
/// Points that lack less than this share of the gap are outside, and always recover at full speed.
pub const OUTSIDE_SHARE: f32 = 0.5;

/// Time after bones have stopped from which on a body rests, and is not searched in every step \[s\].
pub const REST_TIME: f32 = 1.0;
/// Time between two searches of a body that rests \[s\].
pub const SEARCH_PERIOD: f32 = 8.0 / 60.0;
/// How far skin and bones may come before the next search \[mean edges\]; nothing new presses below (SHELL − GAP) / 2.
pub const SEARCH_WAY: f32 = 0.06;
/// Share of the points that may come farther.
pub const RESTLESS_POINTS: f32 = 1.0 / 500.0;
/// The same as a share of the contacts, where that is more.
pub const RESTLESS_CONTACTS: f32 = 1.0 / 40.0;

/// Softness of a contact: it gives way by this share of what it holds back.
pub const SOFTNESS: f32 = 0.02;
/// Share of a violation that one sweep takes back.
pub const RELAXATION: f32 = 0.8;
/// Largest force on a contact, as the way it would push the point at once \[depths from skin to base point\].
pub const LARGEST_PUSH: f32 = 1.0;
/// Time in which a pressed vertex loses half of its speed against its bone \[s\].
pub const PRESSED_HALF_LIFE: f32 = 0.0096;
/// Blocks of a column of A⁻¹ without an entry above this share of its own are dropped.
pub const COLUMN_CUTOFF: f32 = 0.03;
/// Blocks of a column at most.
pub const COLUMN_BLOCKS: usize = 20;
/// Contacts on different sides of a sweep move each other by less than this share of what they move themselves.
pub const SIDE_COUPLING: f32 = 0.3;
/// Moves below this are passed on with the next solve, not at once \[mean edges\].
pub const NEGLIGIBLE_MOVE: f32 = 4e-5;

/// How far a point that follows its bones is from where the bones of its foot would take it, if these stand as at rest \[distances\].
pub const TANGLE_TOLERANCE: f32 = 0.1;

/// Motion in a step that is followed along its way to a collider \[depths from skin to base point\].
pub const FOLLOWED_WAY: f32 = 0.5;
/// Advances along such a way at most: enough for a grazing way, which is a miss if nothing is met by then.
pub const ADVANCES: usize = 32;
/// Motion of parts of a body against each other in one substep \[thickness of the tissue\].
pub const SUBSTEP_WAY: f32 = 0.5;

/// What is left of something with a half-life after a step \[both s\].
pub fn kept(half_life: f32, step: f32) -> f32 {
    (-step / half_life).exp2()
}

/// Share of the way to its goal that something goes in a step at a rate \[1/s\].
pub fn blend(rate: f32, step: f32) -> f32 {
    1.0 - (-rate * step).exp()
}
