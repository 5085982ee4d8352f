//! A k-d tree over points of any dimension (Bentley 1975): nearest points, optionally only those that a test accepts.

use glam::Vec3;

/// Points sorted so that the middle of every range splits it along one axis.
#[derive(Clone, Debug, Default)]
pub struct KdTree<const D: usize = 3> {
    points: Vec<[f32; D]>,
    /// Index of each sorted point among those given.
    indices: Vec<u32>,
    /// Axis along which the point in the middle of a range splits it.
    axes: Vec<u8>,
}

/// A point that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its index among the points given.
    pub index: u32,
    /// Squared distance \[m²\].
    pub distance_squared: f32,
}

/// Ranges of at most this many points are searched one by one.
const LEAF: usize = 8;

impl KdTree {
    /// Builds the tree. Points that are not finite are never found.
    pub fn new(points: &[Vec3]) -> Self {
        let points: Vec<[f32; 3]> = points.iter().map(Vec3::to_array).collect();
        KdTree::of_arrays(&points)
    }

    /// The nearest point no further than `reach` \[m\]; of equally near ones the first.
    pub fn nearest(&self, point: Vec3, reach: f32) -> Option<Neighbour> {
        self.nearest_where(point, reach, |_| true)
    }

    /// The nearest point no further than `reach` \[m\] whose index is accepted.
    pub fn nearest_where(
        &self,
        point: Vec3,
        reach: f32,
        accept: impl Fn(u32) -> bool,
    ) -> Option<Neighbour> {
        self.nearest_accepted(&point.to_array(), reach, accept)
    }

    /// The `count` nearest points, nearest first; fewer if there are fewer.
    pub fn nearest_several(&self, point: Vec3, count: usize) -> Vec<Neighbour> {
        let mut found: Vec<Neighbour> = Vec::with_capacity(count + 1);
        if count == 0 {
            return found;
        }
        let point = point.to_array();
        self.visit(0, self.len(), &point, &mut |index, distance_squared| {
            let before = |n: &Neighbour| (n.distance_squared, n.index) < (distance_squared, index);
            let at = found.partition_point(before);
            if at < count {
                found.insert(
                    at,
                    Neighbour {
                        index,
                        distance_squared,
                    },
                );
                found.truncate(count);
            }
            match found.len() == count {
                true => found[count - 1].distance_squared,
                false => f32::INFINITY,
            }
        });
        found
    }
}

impl<const D: usize> KdTree<D> {
    /// Builds the tree over points of any dimension. Points that are not finite are never found.
    pub fn of_arrays(points: &[[f32; D]]) -> Self {
        let is_finite = |p: &[f32; D]| p.iter().all(|x| x.is_finite());
        let mut order: Vec<u32> = (0..points.len() as u32)
            .filter(|&i| is_finite(&points[i as usize]))
            .collect();
        let mut axes = vec![0; order.len()];
        split(points, &mut order, &mut axes);
        KdTree {
            points: order.iter().map(|&i| points[i as usize]).collect(),
            indices: order,
            axes,
        }
    }

    /// Number of points that can be found.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether nothing can be found.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The nearest point; of equally near ones the first.
    pub fn nearest_array(&self, point: &[f32; D]) -> Option<Neighbour> {
        self.nearest_accepted(point, f32::INFINITY, |_| true)
    }

    fn nearest_accepted(
        &self,
        point: &[f32; D],
        reach: f32,
        accept: impl Fn(u32) -> bool,
    ) -> Option<Neighbour> {
        let mut best = Neighbour {
            index: u32::MAX,
            distance_squared: reach * reach,
        };
        self.visit(0, self.len(), point, &mut |index, squared| {
            let nearer = squared < best.distance_squared
                || (squared == best.distance_squared && index < best.index);
            if nearer && accept(index) {
                best = Neighbour {
                    index,
                    distance_squared: squared,
                };
            }
            best.distance_squared
        });
        (best.index != u32::MAX).then_some(best)
    }

    /// Calls `found` with points and their squared distances; it returns the squared distance within which to go on.
    fn visit(
        &self,
        low: usize,
        high: usize,
        point: &[f32; D],
        found: &mut impl FnMut(u32, f32) -> f32,
    ) -> f32 {
        let mut bound = f32::INFINITY;
        if high - low <= LEAF {
            for i in low..high {
                bound = found(self.indices[i], distance_squared(&self.points[i], point));
            }
            return bound;
        }
        let middle = (low + high) / 2;
        let axis = self.axes[middle] as usize;
        let side = point[axis] - self.points[middle][axis];
        let (near, far) = match side < 0.0 {
            true => ((low, middle), (middle + 1, high)),
            false => ((middle + 1, high), (low, middle)),
        };
        self.visit(near.0, near.1, point, found);
        let squared = distance_squared(&self.points[middle], point);
        bound = found(self.indices[middle], squared);
        if side * side <= bound {
            bound = self.visit(far.0, far.1, point, found);
        }
        bound
    }
}

fn distance_squared<const D: usize>(a: &[f32; D], b: &[f32; D]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn split<const D: usize>(points: &[[f32; D]], order: &mut [u32], axes: &mut [u8]) {
    if order.len() <= LEAF {
        return;
    }
    let extent = |k: usize| {
        let along = order.iter().map(|&i| points[i as usize][k]);
        let (low, high) = along.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        high - low
    };
    let extents: [f32; D] = std::array::from_fn(extent);
    let axis = (0..D).fold(0, |a, b| if extents[b] > extents[a] { b } else { a });
    let middle = order.len() / 2;
    order.select_nth_unstable_by(middle, |&a, &b| {
        let (x, y) = (points[a as usize][axis], points[b as usize][axis]);
        x.total_cmp(&y).then(a.cmp(&b))
    });
    axes[middle] = axis as u8;
    let (left, right) = order.split_at_mut(middle);
    let (left_axes, right_axes) = axes.split_at_mut(middle);
    split(points, left, left_axes);
    split(points, &mut right[1..], &mut right_axes[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn queries_match_brute_force() {
        let mut random = Random::new(3);
        let mut points: Vec<Vec3> = (0..500).map(|_| random.in_cube(1.0)).collect();
        points.extend_from_within(..40);
        points.push(Vec3::NAN);
        let tree = KdTree::new(&points);
        for _ in 0..200 {
            let at = random.in_cube(1.3);
            let mut sorted: Vec<(f32, u32)> = (points[..540].iter().enumerate())
                .map(|(i, p)| (p.distance_squared(at), i as u32))
                .collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let found = tree.nearest_several(at, 9);
            let indices: Vec<u32> = found.iter().map(|n| n.index).collect();
            let expected: Vec<u32> = sorted[..9].iter().map(|s| s.1).collect();
            assert_eq!(indices, expected);
            let nearest = tree.nearest(at, 10.0).unwrap();
            assert_eq!(nearest.index, sorted[0].1);
            let odd = tree.nearest_where(at, 10.0, |i| i % 2 == 1).unwrap();
            let expected = sorted.iter().find(|s| s.1 % 2 == 1).unwrap();
            assert_eq!(odd.index, expected.1);
            assert!(tree.nearest(at, 0.99 * sorted[0].0.sqrt()).is_none());
        }
        assert!(KdTree::new(&[]).nearest(Vec3::ZERO, 1.0).is_none());
    }

    #[test]
    fn any_dimension_matches_brute_force() {
        let mut random = Random::new(4);
        let mut point = || std::array::from_fn::<f32, 5, _>(|_| random.signed());
        let mut points: Vec<[f32; 5]> = (0..500).map(|_| point()).collect();
        points.extend_from_within(..50);
        points.push([f32::NAN; 5]);
        let tree = KdTree::of_arrays(&points);
        for _ in 0..200 {
            let to = point();
            let squared =
                |p: &[f32; 5]| (0..5).map(|k| (p[k] - to[k]) * (p[k] - to[k])).sum::<f32>();
            let mut best = (0, f32::INFINITY);
            for (i, p) in points.iter().enumerate() {
                if squared(p) < best.1 {
                    best = (i as u32, squared(p));
                }
            }
            let found = tree.nearest_array(&to).unwrap();
            assert_eq!((found.index, found.distance_squared), best);
        }
    }
}
