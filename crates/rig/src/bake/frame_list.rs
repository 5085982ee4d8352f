//! The frames of a motion: kept as they are, or made anew whenever one is looked at.
//!
//! A long motion of many vertices is larger than memory; what it is made from (a coarse simulation) is not.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use glam::Vec3;

/// World positions of a moment: part, vertex \[m\].
pub type Frame = Vec<Vec<Vec3>>;

/// Something that can make any frame of a motion, the same every time it is asked.
pub trait FrameSource: Send + Sync {
    /// Frames that there are.
    fn count(&self) -> usize;
    /// One of them.
    fn frame(&self, frame: usize) -> Frame;
}

/// Positions of all vertices over time.
#[derive(Clone)]
pub enum Frames {
    /// All at hand.
    Kept(Vec<Frame>),
    /// Made one by one.
    Made(Arc<dyn FrameSource>),
}

impl Frames {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::Kept(frames) => frames.len(),
            Self::Made(source) => source.count(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    ///
    /// # Panics
    /// If there is no such frame.
    pub fn get(&self, frame: usize) -> Cow<'_, [Vec<Vec3>]> {
        match self {
            Self::Kept(frames) => Cow::Borrowed(&frames[frame]),
            Self::Made(source) => Cow::Owned(source.frame(frame)),
        }
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, [Vec<Vec3>]>> {
        (0..self.len()).map(|frame| self.get(frame))
    }
}

impl Default for Frames {
    fn default() -> Self {
        Self::Kept(Vec::new())
    }
}

impl From<Vec<Frame>> for Frames {
    fn from(frames: Vec<Frame>) -> Self {
        Self::Kept(frames)
    }
}

impl FromIterator<Frame> for Frames {
    fn from_iter<I: IntoIterator<Item = Frame>>(frames: I) -> Self {
        Self::Kept(frames.into_iter().collect())
    }
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} frames", self.len())
    }
}
