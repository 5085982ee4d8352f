//! Eight single-precision lanes: one trait, a portable twin, AVX2 + FMA where the processor has it, and WebAssembly SIMD;
//! sixteen where that pays ([`Wide`]).
//!
//! Hot loops are written once, as a [`Kernel`] generic over [`Lanes`]; [`dispatch`] runs it with the widest
//! implementation found at run time. [`F32x8`] is both the storage type and the portable implementation: plain arrays,
//! which compilers turn into SSE2, NEON or WebAssembly SIMD.
//!
//! Only IEEE operations are offered: the approximate reciprocals of x86 differ between makers, and results must not.
//! Fused multiply-add is used where the instruction exists, so results differ between machines with and without it,
//! never between runs or thread counts on one machine.
//!
//! This file holds `unsafe` because vendor intrinsics cannot be called without it. Every use is sound because the AVX2
//! type is private and only [`dispatch`] creates it, after asking the processor.
#![allow(unsafe_code)]
// Lane by lane loops over several arrays, which compilers turn into vector instructions.
#![allow(clippy::needless_range_loop)]

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Lanes of a vector.
pub const LANES: usize = 8;

/// Eight floats, aligned for whole-register loads; also the portable [`Lanes`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct F32x8(pub [f32; LANES]);

/// A point or vector as `x, y, z, 0`; also the portable [`Quad`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub struct Row(pub [f32; 4]);

impl Row {
    /// `x, y, z, 0`.
    #[inline]
    pub fn new(v: [f32; 3]) -> Self {
        Row([v[0], v[1], v[2], 0.0])
    }

    /// The first three lanes.
    #[inline]
    pub fn xyz(self) -> [f32; 3] {
        [self.0[0], self.0[1], self.0[2]]
    }
}

/// Arithmetic on eight lanes. Methods must be `#[inline(always)]`, so that they take on the features of their kernel.
pub trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The four-lane type of the same instruction set.
    type Quad: Quad;
    /// All lanes the same value.
    fn splat(x: f32) -> Self;
    /// Reads eight lanes.
    fn load(x: &F32x8) -> Self;
    /// The lanes as an array.
    fn store(self) -> F32x8;
    /// `self * b + c`, fused where the machine can.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `self * b - c`, fused where the machine can.
    fn mul_sub(self, b: Self, c: Self) -> Self;
    /// `c - self * b`, fused where the machine can.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Larger of two; which one is unspecified when a lane is NaN.
    fn max(self, b: Self) -> Self;
    /// Bit i is set where lane i satisfies `self <= b` (never for NaN).
    fn le_mask(self, b: Self) -> u8;
    /// Rows `index[lane]` of `rows`, transposed to x, y and z lanes.
    ///
    /// # Panics
    /// If an index is out of range.
    fn gather(rows: &[Row], index: &[u32; LANES]) -> [Self; 3];
    /// Adds x, y and z lanes to rows `index[lane]`, lane after lane: an index may occur more than once.
    ///
    /// # Panics
    /// If an index is out of range.
    fn scatter_add(rows: &mut [Row], index: &[u32; LANES], v: [Self; 3]);
    /// Sums over the lanes of x, y and z, as a row.
    fn sum3(v: [Self; 3]) -> Self::Quad;
    /// Whole numbers as lanes.
    fn whole(x: &[i16; LANES]) -> Self;
    /// Lanes of x, y and z as rows.
    fn rows(v: [Self; 3]) -> [Row; LANES];
    /// Lanes of x, y and z as vectors.
    #[inline(always)]
    fn write(v: [Self; 3], vectors: &mut [[f32; 3]; LANES]) {
        for (vector, row) in vectors.iter_mut().zip(Self::rows(v)) {
            *vector = row.xyz();
        }
    }
}

/// Arithmetic on one [`Row`].
pub trait Quad: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// All lanes the same value.
    fn splat(x: f32) -> Self;
    /// Reads a row.
    fn load(x: &Row) -> Self;
    /// The lanes as a row.
    fn store(self) -> Row;
    /// `self * b + c`, fused where the machine can.
    fn mul_add(self, b: Self, c: Self) -> Self;
}

/// A hot loop that runs on any [`Lanes`]. Implement `run` as `#[inline(always)]`.
pub trait Kernel {
    /// What the loop returns.
    type Output;
    /// The loop.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Runs a kernel with the widest instruction set of this machine.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: all four features were just detected.
            return unsafe { x86::run_with_more_registers(kernel) };
        }
        // SAFETY: both features were just detected.
        return unsafe { x86::run(kernel) };
    }
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return kernel.run::<wasm::Wasm8>();
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    kernel.run::<F32x8>()
}

/// `a * b + c`, fused only where that is one instruction: the library call costs a hundred times more.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

macro_rules! lanewise {
    ($t:ident, $n:literal, $trait:ident, $f:ident) => {
        impl $trait for $t {
            type Output = $t;
            #[inline(always)]
            fn $f(self, b: $t) -> $t {
                let mut o = [0.0; $n];
                for i in 0..$n {
                    o[i] = self.0[i].$f(b.0[i]);
                }
                $t(o)
            }
        }
    };
}
lanewise!(F32x8, 8, Add, add);
lanewise!(F32x8, 8, Sub, sub);
lanewise!(F32x8, 8, Mul, mul);
lanewise!(F32x8, 8, Div, div);
lanewise!(Row, 4, Add, add);
lanewise!(Row, 4, Sub, sub);
lanewise!(Row, 4, Mul, mul);

impl Neg for F32x8 {
    type Output = F32x8;
    #[inline(always)]
    fn neg(self) -> F32x8 {
        F32x8(self.0.map(|x| -x))
    }
}

impl Lanes for F32x8 {
    type Quad = Row;
    #[inline(always)]
    fn splat(x: f32) -> Self {
        F32x8([x; LANES])
    }
    #[inline(always)]
    fn load(x: &F32x8) -> Self {
        *x
    }
    #[inline(always)]
    fn store(self) -> F32x8 {
        self
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        let mut o = [0.0; LANES];
        for i in 0..LANES {
            o[i] = fused(self.0[i], b.0[i], c.0[i]);
        }
        F32x8(o)
    }
    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        self.mul_add(b, -c)
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        (-self).mul_add(b, c)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        F32x8(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        F32x8(self.0.map(f32::abs))
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        let mut o = [0.0; LANES];
        for i in 0..LANES {
            o[i] = if self.0[i] > b.0[i] {
                self.0[i]
            } else {
                b.0[i]
            };
        }
        F32x8(o)
    }
    #[inline(always)]
    fn le_mask(self, b: Self) -> u8 {
        let mut mask = 0;
        for i in 0..LANES {
            mask |= u8::from(self.0[i] <= b.0[i]) << i;
        }
        mask
    }
    #[inline(always)]
    fn gather(rows: &[Row], index: &[u32; LANES]) -> [Self; 3] {
        let mut o = [F32x8::default(); 3];
        for i in 0..LANES {
            let row = &rows[index[i] as usize];
            for c in 0..3 {
                o[c].0[i] = row.0[c];
            }
        }
        o
    }
    #[inline(always)]
    fn scatter_add(rows: &mut [Row], index: &[u32; LANES], v: [Self; 3]) {
        for i in 0..LANES {
            let row = &mut rows[index[i] as usize];
            for c in 0..3 {
                row.0[c] += v[c].0[i];
            }
        }
    }
    #[inline(always)]
    fn sum3(v: [Self; 3]) -> Row {
        let sum =
            |a: [f32; LANES]| ((a[0] + a[2]) + (a[1] + a[3])) + ((a[4] + a[6]) + (a[5] + a[7]));
        Row::new([sum(v[0].0), sum(v[1].0), sum(v[2].0)])
    }
    #[inline(always)]
    fn whole(x: &[i16; LANES]) -> Self {
        let mut o = [0.0; LANES];
        for i in 0..LANES {
            o[i] = f32::from(x[i]);
        }
        F32x8(o)
    }
    #[inline(always)]
    fn rows(v: [Self; 3]) -> [Row; LANES] {
        let mut o = [Row::default(); LANES];
        for i in 0..LANES {
            o[i] = Row::new([v[0].0[i], v[1].0[i], v[2].0[i]]);
        }
        o
    }
}

impl Quad for Row {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Row([x; 4])
    }
    #[inline(always)]
    fn load(x: &Row) -> Self {
        *x
    }
    #[inline(always)]
    fn store(self) -> Row {
        self
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        let mut o = [0.0; 4];
        for i in 0..4 {
            o[i] = fused(self.0[i], b.0[i], c.0[i]);
        }
        Row(o)
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use wide::{WIDE, Wide, WideKernel, dispatch_wide, prefetch};

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation once, on data with repeated scatter indices; the lanes of the result as plain numbers.
    struct Everything;

    impl Kernel for Everything {
        type Output = Vec<f32>;
        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<f32> {
            let a = L::load(&F32x8([1.0, -2.0, 3.5, 4.0, 0.25, -6.0, 7.0, 8.0]));
            let b = L::load(&F32x8([2.0, 2.0, -1.0, 4.0, 0.5, 3.0, 7.5, 0.125]));
            let c = L::splat(0.5);
            let mut rows: Vec<Row> = (0..16)
                .map(|i| Row::new([i as f32, 100.0 + i as f32, -(i as f32)]))
                .collect();
            let index = [3, 1, 1, 15, 0, 7, 1, 8];
            let g = L::gather(&rows, &index);
            L::scatter_add(&mut rows, &index, [a, b, c]);
            let mut out = vec![a.le_mask(b) as f32, L::splat(f32::NAN).le_mask(b) as f32];
            let lanes = [
                a + b,
                a - b,
                a * b,
                a / b,
                -a,
                a.mul_add(b, c),
                a.mul_sub(b, c),
                a.neg_mul_add(b, c),
                b.abs().sqrt(),
                a.max(b),
            ];
            out.extend(lanes.into_iter().chain(g).flat_map(|v| v.store().0));
            out.extend(rows.iter().flat_map(|r| r.0));
            let q = L::Quad::splat(2.0).mul_add(L::sum3([a, b, c]), L::Quad::load(&rows[2]));
            out.extend((q * q - q + q).store().0);
            let whole = L::whole(&[0, 1, -1, 300, i16::MAX, i16::MIN, 7, -8]);
            out.extend(L::rows([whole, a, b]).into_iter().flat_map(|row| row.0));
            let mut vectors = [[0.0; 3]; LANES];
            L::write([whole, a, b], &mut vectors);
            out.extend(vectors.as_flattened());
            out
        }
    }

    #[test]
    fn dispatched_lanes_match_the_portable_twin() {
        let (fast, twin) = (dispatch(Everything), Everything.run::<F32x8>());
        assert_eq!(fast.len(), twin.len());
        for (i, (a, b)) in fast.iter().zip(&twin).enumerate() {
            assert!(
                (a - b).abs() <= 1e-6 * b.abs(),
                "value {i}: {a} against {b}"
            );
        }
    }

    #[test]
    #[should_panic]
    fn gather_out_of_range_panics() {
        struct Bad;
        impl Kernel for Bad {
            type Output = f32;
            #[inline(always)]
            fn run<L: Lanes>(self) -> f32 {
                L::gather(&[Row::default(); 4], &[0, 1, 2, 3, 0, 1, 2, 4])[0]
                    .store()
                    .0[0]
            }
        }
        dispatch(Bad);
    }
}
