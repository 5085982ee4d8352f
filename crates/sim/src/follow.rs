//! How driven vertices follow moving frames, as plain data: for backends that compute targets themselves.
//!
//! All frames are of one kind: a turn, a scale, a line that the frame stands on and a twist along it. What the frames are is
//! the caller's: bones, joints, the hand of a user.

use glam::Vec3;

/// A frame in twelve numbers: turn (x, y, z, w); position, scale; line, twist at its end. Or the rows of an affine matrix.
pub type Frame = [[f32; 4]; 3];

/// A point that a frame carries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Anchor {
    /// The frame.
    pub frame: u32,
    /// Where its foot is along the frame's line, from 0 to 1.
    pub t: f32,
    /// From the foot to the point at rest; for a matrix the point itself \[m\].
    pub offset: Vec3,
    /// Its share.
    pub weight: f32,
}

/// A point that slides between a ring around a joint and a ring around a bone [3.2.2].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slide {
    /// Anchor on the joint ring; its weight is the point's way to the bone ring.
    pub joint: Anchor,
    /// Anchor on the bone ring.
    pub bone: Anchor,
    /// From the blended anchors to the point at rest \[m\].
    pub offset: Vec3,
    /// Unit direction of the bone at rest.
    pub axis: Vec3,
    /// Where the axis of the bone's capsule runs along the bone.
    pub capsule: [f32; 2],
    /// Distances it keeps from that axis and from the joint \[m\].
    pub clearances: [f32; 2],
}

/// What one vertex follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Follows {
    /// Blended linearly.
    pub anchors: Vec<Anchor>,
    /// Sliding, instead of the anchors.
    pub slide: Option<Slide>,
    /// Blended as dual quaternions.
    pub held: Vec<Anchor>,
    /// How much of the place those give.
    pub share: f32,
}

impl From<Vec<Anchor>> for Follows {
    fn from(anchors: Vec<Anchor>) -> Self {
        Self {
            anchors,
            ..Self::default()
        }
    }
}
