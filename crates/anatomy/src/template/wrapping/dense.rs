//! A box of nodes with a number each.

use glam::IVec3;

/// Numbers at the nodes of a box.
#[derive(Clone, Debug)]
pub struct Dense {
    low: IVec3,
    size: IVec3,
    values: Vec<f32>,
}

impl Dense {
    /// From `low` to `high`, both included, less the margins where no number is above zero.
    pub fn new(low: IVec3, high: IVec3, value: impl Fn(IVec3) -> f32) -> Dense {
        let size = (high - low + 1).max(IVec3::ONE);
        let whole = Dense {
            low,
            size,
            values: (0..(size.x * size.y * size.z))
                .map(|k| value(low + unflatten(k, size)))
                .collect(),
        };
        let Some((first, last)) = whole.inside() else {
            return whole;
        };
        let (low, high) = (first - 3, last + 3);
        let size = high - low + 1;
        Dense {
            low,
            size,
            values: (0..(size.x * size.y * size.z))
                .map(|k| whole.at(low + unflatten(k, size)))
                .collect(),
        }
    }

    /// The number at a node; -1 outside the box.
    pub fn at(&self, node: IVec3) -> f32 {
        let local = node - self.low;
        if local.cmplt(IVec3::ZERO).any() || local.cmpge(self.size).any() {
            return -1.0;
        }
        self.values[((local.z * self.size.y + local.y) * self.size.x + local.x) as usize]
    }

    /// Smallest box around the numbers above zero.
    pub fn inside(&self) -> Option<(IVec3, IVec3)> {
        let (mut first, mut last) = (self.low + self.size, self.low);
        for (k, &value) in self.values.iter().enumerate() {
            if value > 0.0 {
                let node = self.low + unflatten(k as i32, self.size);
                first = first.min(node);
                last = last.max(node);
            }
        }
        first.cmple(last).all().then_some((first, last))
    }

    /// The level above which there is the given volume \[m³\], for numbers that are distances \[m\] on nodes a `step` apart \[m\].
    pub fn level(&self, volume: f64, step: f32) -> f32 {
        let wanted = volume / f64::from(step).powi(3);
        let above = |level: f32| -> f64 {
            let share = |v: &f32| f64::from((0.5 + (v - level) / step).clamp(0.0, 1.0));
            self.values.iter().map(share).sum()
        };
        let (mut low, mut high) = (-step, step);
        for _ in 0..12 {
            let middle = 0.5 * (low + high);
            if above(middle) > wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Bounds the numbers, so that a blur moves no border by what is far from it.
    pub fn clamp(&mut self, bound: f32) {
        self.values
            .iter_mut()
            .for_each(|v| *v = v.clamp(-bound, bound));
    }

    /// Binomial weights ¼, ½, ¼ along each axis.
    pub fn blur(&mut self) {
        let size = self.size;
        for stride in [1, size.x, size.x * size.y] {
            let before = self.values.clone();
            let count = before.len() as i32;
            for k in stride..count - stride {
                let [a, b, c] = [k - stride, k, k + stride].map(|k| before[k as usize]);
                self.values[k as usize] = 0.25 * (a + c) + 0.5 * b;
            }
        }
    }
}

fn unflatten(k: i32, size: IVec3) -> IVec3 {
    IVec3::new(k % size.x, k / size.x % size.y, k / (size.x * size.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blur_keeps_planes_and_drops_crumbs() {
        let plane = |n: IVec3| 0.3 - n.x as f32 * 0.1;
        let mut dense = Dense::new(IVec3::splat(-8), IVec3::splat(8), plane);
        dense.blur();
        assert!((dense.at(IVec3::new(2, 1, 0)) - 0.1).abs() < 1e-6);
        // A slab of 5 nodes' worth.
        let slab = |n: IVec3| {
            if n.y.abs() < 5 && n.z.abs() < 5 {
                2.5 - (n.x as f32).abs()
            } else {
                -9.0
            }
        };
        let dense = Dense::new(IVec3::splat(-8), IVec3::splat(8), slab);
        assert!(dense.level(81.0 * 5.0, 1.0).abs() < 1e-2);
        assert!((dense.level(81.0 * 6.0, 1.0) + 0.5).abs() < 1e-2);
        let crumb = |n: IVec3| if n == IVec3::ZERO { 1.0 } else { -1.0 };
        let mut dense = Dense::new(IVec3::splat(-8), IVec3::splat(8), crumb);
        assert_eq!(dense.inside(), Some((IVec3::ZERO, IVec3::ZERO)));
        dense.blur();
        assert_eq!(dense.inside(), None);
    }
}
