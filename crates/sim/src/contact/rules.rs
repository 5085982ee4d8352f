//! All constants that affect contact results.
//!
//! Lengths are relative to the mean skin edge or to the body size, times are in seconds: nothing depends on the step
//! rate or on the size of a character. `docs/method/contact.md` lists the same constants with what fails below and
//! above each value; a test compares the two. The kernels of `supple-gpu` get their constants from here.

/// Distance at which a point is detected as a contact \[mean edges\]; 25 % in the papers.
pub const SHELL: f32 = 0.25;
/// Distance that contacts keep \[mean edges\].
pub const GAP: f32 = 0.08;

/// A point that is inside another shell at rest, or closer to it than this and does not face it, is never in contact with
/// that shell \[mean edges\].
pub const COVER_DISTANCE: f32 = 1.5;
/// Cosine between the normals of a point and a triangle above which they face the same way and cannot be in contact.
pub const FACING_COSINE: f32 = 0.5;
/// Depth above which a new contact is accepted only if a ray test confirms that the point is inside \[mean edges\].
pub const RAY_CHECK_DEPTH: f32 = 0.25;
/// Cosine between the two normals below which local contact accepts such deep contacts, without a ray test.
pub const LOCAL_DEEP_COSINE: f32 = -0.3;
/// Blend factor from the skin's normal (0) to the tissue column's direction (1) in the push direction.
pub const COLUMN_SHARE: f32 = 0.25;
/// A tet is flat if its determinant is below this times the cube of its longest edge from the first corner.
pub const FLAT_TET: f32 = 1e-5;
/// Smallest barycentric weight that counts as inside.
pub const TET_TOLERANCE: f32 = -1e-5;

/// Sliding distance after which foot and normal are those of the new detection \[mean edges\].
pub const SLIDE_LENGTH: f32 = 0.3;
/// Sliding speed above which a contact adopts the new detection at once \[mean edges a second\].
pub const SLIDE_SPEED: f32 = 9.0;
/// Least blend factor of the new normal when a contact slides to another triangle.
pub const NEW_TRIANGLE_BLEND: f32 = 0.5;
/// Tangential distance between a point and its foot above which the contact ends \[mean edges\].
pub const TANGENTIAL_LIMIT: f32 = 3.0;
/// Cosine between the normals at foot and point above which the fold has turned over, and the contact ends.
pub const TURNED_COSINE: f32 = 0.8;
/// Tangential distance between a point and its foot above which the foot walks to the closest skin \[mean edges\].
pub const WALK_DISTANCE: f32 = 0.5;
/// A contact deeper than this is replaced by a detected one that is shallower by as much \[mean edges\].
pub const WRONG_SIDE_DEPTH: f32 = 0.5;

/// Bone speed below which the pose is held \[body sizes a second\].
pub const STILL_SPEED: f32 = 0.0035;
/// Bone motion after which lost contacts are forgotten \[body sizes\].
pub const FORGET_DISTANCE: f32 = 0.012;
/// A point is held, and no longer pushed out, once the steps in which it lost a pressing contact sum up to this \[s\].
pub const LOST_CONTACT_TIME: f32 = 3.0 / 60.0;
/// Time after the bones have stopped during which lost contacts do not count \[s\].
pub const LOST_CONTACT_DELAY: f32 = 1.0 / 6.0;
/// Rate at which feet and normals are blended toward the new detection while bones move \[1/s\].
pub const FOLLOW_RATE: f32 = 6.3;
/// Time after the bones have stopped in which that rate falls to zero \[s\].
pub const FOLLOW_TIME: f32 = 1.0 / 3.0;
/// Factor of the recovery speed after that time.
pub const SLOW_RECOVERY: f32 = 0.02;
/// Time after the bones have stopped from which folds that turn over keep their contacts \[s\].
pub const FOLD_HOLD_TIME: f32 = 0.8;
/// Points that lack less than this share of the gap count as outside, and always recover at full speed.
pub const OUTSIDE_SHARE: f32 = 0.5;

/// Time after the bones have stopped from which the body is at rest and is not searched in every step \[s\].
pub const REST_TIME: f32 = 1.0;
/// Time between two searches of a body at rest \[s\].
pub const SEARCH_PERIOD: f32 = 8.0 / 60.0;
/// Motion of skin and bones that triggers the next search \[mean edges\]. Below (SHELL − GAP) / 2 no new contact can
/// press.
pub const SEARCH_DISTANCE: f32 = 0.06;
/// Share of the points that may move farther without a search.
pub const RESTLESS_POINTS: f32 = 1.0 / 500.0;
/// The same as a share of the contacts; the larger count applies.
pub const RESTLESS_CONTACTS: f32 = 1.0 / 40.0;

/// Compliance of a contact relative to that of the tissue.
pub const SOFTNESS: f32 = 0.02;
/// Relaxation factor of a sweep.
pub const RELAXATION: f32 = 0.8;
/// Largest normal force, given as the distance that it would push the point at once \[depths from skin to base point\].
pub const MAX_PUSH: f32 = 1.0;
/// Distance along the skin from where its bone carries it at which skin begins to slip \[sizes\].
pub const DRAG_START: f32 = 0.04;
/// Distance at which it has no friction \[sizes\].
pub const DRAG_END: f32 = 0.08;
/// Distance from where its bone carries it at which the largest normal force on skin begins to fall \[thicknesses of its tissue\].
pub const MOVE_START: f32 = 1.5;
/// Distance at which there is no normal force \[thicknesses\].
pub const MOVE_END: f32 = 3.0;
/// Half-life of a pressed vertex's velocity relative to its bone \[s\].
pub const PRESSED_HALF_LIFE: f32 = 0.0096;
/// Blocks of a column of A⁻¹ whose entries are all below this share of the diagonal entry are dropped.
pub const COLUMN_CUTOFF: f32 = 0.03;
/// Most blocks of a column.
pub const COLUMN_BLOCKS: usize = 20;
/// Contacts on different sides of a sweep move each other by less than this share of their own motion.
pub const SIDE_COUPLING: f32 = 0.3;
/// Motion below this is left to the next solve \[mean edges\].
pub const NEGLIGIBLE_MOVE: f32 = 4e-5;

/// Tolerance of the test that the bones of both sides stand as at rest, relative to the distance between point and foot
/// at rest.
pub const TANGLE_TOLERANCE: f32 = 0.1;

/// Motion in a step above which a point is traced against colliders (continuous detection) \[depths from skin to base
/// point\].
pub const TRACED_DISTANCE: f32 = 0.5;
/// Most advances along a traced path: enough for a grazing one, which is a miss if it has met nothing by then.
pub const MAX_ADVANCES: usize = 32;
/// Largest relative motion of two parts of a body in a substep \[thickness of the tissue\].
pub const SUBSTEP_DISTANCE: f32 = 0.5;

/// Factor by which a quantity with a half-life decays in a step \[both s\].
pub fn decay(half_life: f32, step: f32) -> f32 {
    (-step / half_life).exp2()
}

/// Blend factor of a step that approaches a goal at a rate \[1/s\].
pub fn blend(rate: f32, step: f32) -> f32 {
    1.0 - (-rate * step).exp()
}
