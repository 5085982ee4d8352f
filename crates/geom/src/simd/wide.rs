//! Sixteen lanes, for sums limited by memory: AVX-512 if the processor has it, otherwise two vectors of eight. Results
//! are the same.

use super::Lanes;

/// Lanes of a wide vector.
pub const WIDE: usize = 16;

/// Arithmetic on sixteen lanes. Methods must be `#[inline(always)]`, as those of [`Lanes`].
pub trait Wide: Copy {
    /// Eight lanes of the same instruction set.
    type Half: Lanes;
    /// All lanes the same value.
    fn splat(x: f32) -> Self;
    /// Whole numbers as lanes.
    fn whole(x: &[i16; WIDE]) -> Self;
    /// `self * b + c`, fused where the machine can.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `(self + b) * c`.
    fn add_mul(self, b: Self, c: Self) -> Self;
    /// The first and the last eight lanes.
    fn halves(self) -> [Self::Half; 2];
}

impl<L: Lanes> Wide for [L; 2] {
    type Half = L;
    #[inline(always)]
    fn splat(x: f32) -> Self {
        [L::splat(x); 2]
    }
    #[inline(always)]
    fn whole(x: &[i16; WIDE]) -> Self {
        let [low, high] = x.as_chunks().0 else {
            unreachable!("sixteen are two times eight");
        };
        [L::whole(low), L::whole(high)]
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        [self[0].mul_add(b[0], c[0]), self[1].mul_add(b[1], c[1])]
    }
    #[inline(always)]
    fn add_mul(self, b: Self, c: Self) -> Self {
        [(self[0] + b[0]) * c[0], (self[1] + b[1]) * c[1]]
    }
    #[inline(always)]
    fn halves(self) -> [L; 2] {
        self
    }
}

/// Prefetches an element of a list; harmless beyond its end. Data that is read once per frame has left the caches since
/// the last frame, and the hardware prefetcher stops at page boundaries.
#[inline(always)]
pub fn prefetch<T>(list: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        const LINE: usize = 64;
        let place: *const u8 = list.as_ptr().wrapping_add(at).cast();
        for offset in (0..size_of::<T>()).step_by(LINE) {
            super::x86::prefetch(place.wrapping_add(offset));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (list, at);
}

/// A hot loop that runs on any [`Wide`]. Implement `run` as `#[inline(always)]`.
pub trait WideKernel {
    /// What the loop returns.
    type Output;
    /// The loop.
    fn run<W: Wide>(self) -> Self::Output;
}

/// Runs a kernel with the widest instruction set of this machine.
#[inline]
pub fn dispatch_wide<K: WideKernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: all four features were just detected.
            return unsafe { super::x86::run_wide(kernel) };
        }
        // SAFETY: both features were just detected.
        return unsafe { super::x86::run_in_halves(kernel) };
    }
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return kernel.run::<[super::wasm::Wasm8; 2]>();
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    kernel.run::<[super::F32x8; 2]>()
}

#[cfg(test)]
mod tests {
    use super::super::F32x8;
    use super::*;

    struct Everything;

    impl WideKernel for Everything {
        type Output = Vec<f32>;
        #[inline(always)]
        fn run<W: Wide>(self) -> Vec<f32> {
            let x: [i16; WIDE] = std::array::from_fn(|k| (k as i16 - 7) * 4001);
            let (x, y) = (W::whole(&x), W::splat(0.3));
            let all = [x, x.mul_add(y, y), x.add_mul(y, x)].map(W::halves);
            let lanes = all.into_iter().flatten();
            lanes.flat_map(|half| half.store().0).collect()
        }
    }

    #[test]
    fn dispatched_lanes_match_the_portable_twin() {
        let (fast, twin) = (dispatch_wide(Everything), Everything.run::<[F32x8; 2]>());
        assert_eq!(fast.len(), twin.len());
        for (a, b) in fast.iter().zip(&twin) {
            assert!((a - b).abs() <= 1e-6 * b.abs(), "{a} against {b}");
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: both features were just detected.
            let halves = unsafe { super::super::x86::run_in_halves(Everything) };
            assert_eq!(fast, halves);
        }
    }
}
