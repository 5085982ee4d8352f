//! Key lookup and interpolation.

use glam::{Quat, Vec3};

use super::Interpolation;

/// The key interval around a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    /// Key before the time.
    pub from: usize,
    /// Key after it; equal to `from` outside the keys.
    pub to: usize,
    /// Interpolation factor: 0 at `from`, 1 at `to`.
    pub t: f32,
    /// Duration of the interval \[s\].
    pub seconds: f32,
}

/// Finds the interval around `time` in ascending `times`; `None` without keys.
pub(super) fn span(times: &[f32], time: f32) -> Option<Span> {
    let last = times.len().checked_sub(1)?;
    let after = times.partition_point(|&key| key <= time);
    let hold = |key| Span {
        from: key,
        to: key,
        t: 0.0,
        seconds: 0.0,
    };
    if after == 0 {
        return Some(hold(0));
    }
    if after > last {
        return Some(hold(last));
    }
    let seconds = times[after] - times[after - 1];
    Some(Span {
        from: after - 1,
        to: after,
        t: (time - times[after - 1]) / seconds,
        seconds,
    })
}

/// Weights of value, out-tangent, next value and next in-tangent of the cubic Hermite spline
/// (glTF 2.0 specification, appendix C.5).
fn hermite(t: f32, seconds: f32) -> [f32; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [
        2.0 * t3 - 3.0 * t2 + 1.0,
        seconds * (t3 - 2.0 * t2 + t),
        -2.0 * t3 + 3.0 * t2,
        seconds * (t3 - t2),
    ]
}

/// A value that can be interpolated.
pub(super) trait Value: Copy {
    /// Linear (or spherical) interpolation towards `other`.
    fn mix(self, other: Self, t: f32) -> Self;
    /// Weighted sum of four values, normalised for rotations.
    fn combine(weights: [f32; 4], values: [Self; 4]) -> Self;
}

impl Value for f32 {
    fn mix(self, other: Self, t: f32) -> Self {
        self + (other - self) * t
    }
    fn combine(w: [f32; 4], v: [Self; 4]) -> Self {
        w[0] * v[0] + w[1] * v[1] + w[2] * v[2] + w[3] * v[3]
    }
}

impl Value for Vec3 {
    fn mix(self, other: Self, t: f32) -> Self {
        self.lerp(other, t)
    }
    fn combine(w: [f32; 4], v: [Self; 4]) -> Self {
        w[0] * v[0] + w[1] * v[1] + w[2] * v[2] + w[3] * v[3]
    }
}

impl Value for Quat {
    fn mix(self, other: Self, t: f32) -> Self {
        self.slerp(other, t)
    }
    fn combine(w: [f32; 4], v: [Self; 4]) -> Self {
        let sum = v[0] * w[0] + v[1] * w[1] + v[2] * w[2] + v[3] * w[3];
        if sum.length_squared() > 1e-12 {
            sum.normalize()
        } else {
            v[0]
        }
    }
}

/// The value at `time`. Key `k` with `stride` values per key is at `values[k * stride + offset]`; cubic keys are blocks of
/// in-tangents, values and out-tangents. `None` if keys are missing or incomplete.
pub(super) fn sample<T: Value>(
    times: &[f32],
    values: &[T],
    interpolation: Interpolation,
    (stride, offset): (usize, usize),
    time: f32,
) -> Option<T> {
    let blocks = if interpolation == Interpolation::Cubic {
        3
    } else {
        1
    };
    let keys = times.len().min(values.len() / (blocks * stride));
    let span = span(&times[..keys], time)?;
    let at = |key: usize, block: usize| values[(key * blocks + block) * stride + offset];
    Some(match interpolation {
        Interpolation::Step => at(span.from, 0),
        Interpolation::Linear if span.from == span.to => at(span.from, 0),
        Interpolation::Linear => at(span.from, 0).mix(at(span.to, 0), span.t),
        Interpolation::Cubic if span.from == span.to => at(span.from, 1),
        Interpolation::Cubic => T::combine(
            hermite(span.t, span.seconds),
            [
                at(span.from, 1),
                at(span.from, 2),
                at(span.to, 1),
                at(span.to, 0),
            ],
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_hold_outside_the_keys() {
        let times = [1.0, 2.0, 4.0];
        assert_eq!(span(&[], 0.0), None);
        assert_eq!(span(&times, 0.0).unwrap().to, 0);
        assert_eq!(span(&times, 9.0).unwrap().from, 2);
        let middle = span(&times, 3.0).unwrap();
        assert_eq!(
            (middle.from, middle.to, middle.t, middle.seconds),
            (1, 2, 0.5, 2.0)
        );
    }

    #[test]
    fn repeated_key_times_jump() {
        let times = [0.0, 1.0, 1.0, 2.0];
        let values = [0.0_f32, 1.0, 5.0, 6.0];
        let at = |time| sample(&times, &values, Interpolation::Linear, (1, 0), time).unwrap();
        assert_eq!(at(1.0), 5.0);
        assert_eq!(at(0.5), 0.5);
    }

    #[test]
    fn cubic_reproduces_a_cubic() {
        let value = |x: f32| x * x * x - 2.0 * x + 1.0;
        let slope = |x: f32| 3.0 * x * x - 2.0;
        let times = [0.0, 0.5, 2.0];
        let keys: Vec<f32> = times
            .iter()
            .flat_map(|&x| [slope(x), value(x), slope(x)])
            .collect();
        for i in 0..=20 {
            let x = i as f32 * 0.1;
            let found = sample(&times, &keys, Interpolation::Cubic, (1, 0), x).unwrap();
            assert!((found - value(x)).abs() < 1e-5, "{x}: {found}");
        }
    }

    #[test]
    fn rotations_take_the_shorter_arc() {
        let a = Quat::from_rotation_y(0.2);
        let b = -Quat::from_rotation_y(1.0);
        let middle = sample(&[0.0, 1.0], &[a, b], Interpolation::Linear, (1, 0), 0.25).unwrap();
        assert!(middle.angle_between(Quat::from_rotation_y(0.4)) < 1e-3);
    }
}
