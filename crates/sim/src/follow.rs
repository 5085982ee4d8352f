//! Plain data that describes how driven vertices follow moving frames, for backends that compute targets themselves.
//!
//! Every frame has a rotation, a scale, an axis segment and a twist along it. What a frame stands for is up to the caller: a
//! bone, a joint, the hand of a user.

use glam::Vec3;

/// A frame in twelve numbers: rotation quaternion (x, y, z, w); position and scale; axis vector and twist at its end. Or the
/// rows of an affine matrix.
pub type Frame = [[f32; 4]; 3];

/// A point that follows a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Anchor {
    /// The frame.
    pub frame: u32,
    /// Position along the frame's axis, from 0 to 1.
    pub t: f32,
    /// From the axis at `t` to the point, at rest; for a matrix the point itself \[m\].
    pub offset: Vec3,
    /// Its weight in a blend.
    pub weight: f32,
}

/// A point that slides between a ring around a joint and a ring around a bone [3.2.2].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slide {
    /// Anchor on the joint ring; its weight is the blend factor from the joint ring (0) to the bone ring (1).
    pub joint: Anchor,
    /// Anchor on the bone ring.
    pub bone: Anchor,
    /// From the blended anchors to the point at rest \[m\].
    pub offset: Vec3,
    /// Unit direction of the bone at rest.
    pub axis: Vec3,
    /// Start and end of the capsule's axis, as parameters along the bone.
    pub capsule: [f32; 2],
    /// Least distances from that axis and from the joint \[m\].
    pub clearances: [f32; 2],
}

/// How one vertex follows frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Follows {
    /// Frames that are blended linearly.
    pub anchors: Vec<Anchor>,
    /// Sliding, used instead of `anchors`.
    pub slide: Option<Slide>,
    /// Frames that are blended as dual quaternions.
    pub held: Vec<Anchor>,
    /// Blend factor towards the result of `held`, from 0 to 1.
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
