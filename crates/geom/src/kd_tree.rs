//! Nearest neighbours among points of any dimension (Bentley 1975).

/// A tree over points.
#[derive(Clone, Debug, Default)]
pub struct KdTree<const D: usize> {
    /// Points in tree order, with their index as given: the middle of a range splits it.
    points: Vec<([f32; D], u32)>,
    /// Axis that each splits along.
    axes: Vec<u8>,
}

impl<const D: usize> KdTree<D> {
    /// Builds the tree. Points that are not finite are never found.
    pub fn new(points: &[[f32; D]]) -> Self {
        let finite = |p: &[f32; D]| p.iter().all(|x| x.is_finite());
        let mut entries: Vec<_> = (points.iter().copied().zip(0u32..))
            .filter(|(p, _)| finite(p))
            .collect();
        let mut axes = vec![0; entries.len()];
        split(&mut entries, &mut axes);
        KdTree {
            points: entries,
            axes,
        }
    }

    /// Index of the nearest point and its squared distance; the smallest index in case of a tie. None if there are no points.
    pub fn nearest(&self, to: &[f32; D]) -> Option<(u32, f32)> {
        let mut best = (u32::MAX, f32::INFINITY);
        self.search(0, self.points.len(), to, &mut best);
        (best.0 != u32::MAX).then_some(best)
    }

    fn search(&self, from: usize, end: usize, to: &[f32; D], best: &mut (u32, f32)) {
        if from >= end {
            return;
        }
        let middle = usize::midpoint(from, end);
        let (point, index) = &self.points[middle];
        let squared = (0..D).map(|k| (point[k] - to[k]).powi(2)).sum::<f32>();
        if squared < best.1 || squared == best.1 && *index < best.0 {
            *best = (*index, squared);
        }
        let axis = usize::from(self.axes[middle]);
        let apart = to[axis] - point[axis];
        let (near, far) = if apart <= 0.0 {
            ((from, middle), (middle + 1, end))
        } else {
            ((middle + 1, end), (from, middle))
        };
        self.search(near.0, near.1, to, best);
        if apart * apart <= best.1 {
            self.search(far.0, far.1, to, best);
        }
    }
}

fn split<const D: usize>(entries: &mut [([f32; D], u32)], axes: &mut [u8]) {
    if entries.len() < 2 {
        return;
    }
    let extent = |k: usize| {
        let along = entries.iter().map(|(p, _)| p[k]);
        along.clone().fold(f32::NEG_INFINITY, f32::max) - along.fold(f32::INFINITY, f32::min)
    };
    let axis = (0..D).fold(0, |a, b| if extent(b) > extent(a) { b } else { a });
    let middle = entries.len() / 2;
    entries.select_nth_unstable_by(middle, |a, b| {
        a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1))
    });
    axes[middle] = axis as u8;
    let (low, high) = entries.split_at_mut(middle);
    let (low_axes, high_axes) = axes.split_at_mut(middle);
    split(low, low_axes);
    split(&mut high[1..], &mut high_axes[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn equals_brute_force() {
        let mut random = Random::new(4);
        let mut point = || std::array::from_fn::<f32, 5, _>(|_| random.signed());
        let mut points: Vec<[f32; 5]> = (0..500).map(|_| point()).collect();
        points.extend_from_within(..50);
        points.push([f32::NAN; 5]);
        let tree = KdTree::new(&points);
        for _ in 0..200 {
            let to = point();
            let squared = |p: &[f32; 5]| (0..5).map(|k| (p[k] - to[k]).powi(2)).sum::<f32>();
            let mut best = (0, f32::INFINITY);
            for (i, p) in points.iter().enumerate() {
                if squared(p) < best.1 {
                    best = (i as u32, squared(p));
                }
            }
            assert_eq!(tree.nearest(&to), Some(best));
        }
        assert_eq!(KdTree::<3>::new(&[]).nearest(&[0.0; 3]), None);
    }
}
