//! The frames of a motion: stored, or generated on demand.
//!
//! All frames of a long motion with many vertices may exceed memory. The coarse simulation they come from does not.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

/// World positions of one frame, by part and vertex \[m\].
pub type Frame = Vec<Vec<Vec3>>;

/// Generates any frame of a motion. Repeated calls return the same frame.
pub trait FrameSource: Send + Sync {
    /// Number of frames.
    fn count(&self) -> usize;
    /// Generates one frame.
    fn frame(&self, frame: usize) -> Frame;
}

/// Positions of all vertices over time.
#[derive(Clone)]
pub enum Frames {
    /// All frames in memory.
    Kept(Vec<Frame>),
    /// All frames in memory, shared by copies of a motion.
    Shared(Arc<Vec<Frame>>),
    /// Frames generated on demand.
    Made(Arc<dyn FrameSource>),
}

impl Frames {
    /// Number of frames.
    pub fn len(&self) -> usize {
        match self {
            Self::Kept(frames) => frames.len(),
            Self::Shared(frames) => frames.len(),
            Self::Made(source) => source.count(),
        }
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One frame.
    ///
    /// # Panics
    /// If there is no such frame.
    pub fn get(&self, frame: usize) -> Cow<'_, [Vec<Vec3>]> {
        match self {
            Self::Kept(frames) => Cow::Borrowed(&frames[frame]),
            Self::Shared(frames) => Cow::Borrowed(&frames[frame]),
            Self::Made(source) => Cow::Owned(source.frame(frame)),
        }
    }

    /// The frames in memory, each made once. `None` if they are in memory already, or would take more than `most` bytes. `done` is
    /// called after each.
    pub fn kept(&self, most: usize, done: &(dyn Fn() + Sync)) -> Option<Self> {
        let Self::Made(source) = self else {
            return None;
        };
        if self.is_empty() {
            return None;
        }
        let first = source.frame(0);
        let size: usize = first.iter().map(|part| 12 * part.len()).sum();
        done();
        if size.saturating_mul(self.len()) > most {
            return None;
        }
        let rest = (1..self.len()).into_par_iter().map(|frame| {
            let made = source.frame(frame);
            done();
            made
        });
        let mut frames = vec![first];
        frames.extend(rest.collect::<Vec<Frame>>());
        Some(Self::Shared(Arc::new(frames)))
    }

    /// All frames in order.
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Counted(AtomicUsize);

    impl FrameSource for Counted {
        fn count(&self) -> usize {
            7
        }

        fn frame(&self, frame: usize) -> Frame {
            self.0.fetch_add(1, Ordering::Relaxed);
            vec![vec![Vec3::splat(frame as f32); 10]]
        }
    }

    #[test]
    fn kept_frames_are_made_once() {
        let source = Arc::new(Counted(AtomicUsize::new(0)));
        let made = Frames::Made(source.clone());
        let done = AtomicUsize::new(0);
        let kept = made
            .kept(7 * 120, &|| {
                done.fetch_add(1, Ordering::Relaxed);
            })
            .unwrap();
        for frame in (0..7).chain(0..7) {
            assert_eq!(kept.get(frame)[0][9].x, frame as f32);
        }
        assert_eq!((source.0.load(Ordering::Relaxed), kept.len()), (7, 7));
        assert_eq!(done.load(Ordering::Relaxed), 7);
        assert!(made.kept(7 * 120 - 1, &|| ()).is_none());
        assert!(kept.kept(usize::MAX, &|| ()).is_none());
    }
}
