//! WebAssembly SIMD lanes: two registers of four. Compilers do not find them in the portable twin's arrays once kernels
//! are large, which makes tets ten times slower.

use super::{F32x8, LANES, Lanes, Quad, Row};
use std::arch::wasm32::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy)]
pub struct Wasm8(v128, v128);

#[derive(Clone, Copy)]
pub struct Wasm4(v128);

macro_rules! operator {
    ($trait:ident, $f:ident, $intrinsic:ident) => {
        impl $trait for Wasm8 {
            type Output = Wasm8;
            #[inline(always)]
            fn $f(self, b: Wasm8) -> Wasm8 {
                Wasm8($intrinsic(self.0, b.0), $intrinsic(self.1, b.1))
            }
        }
        impl $trait for Wasm4 {
            type Output = Wasm4;
            #[inline(always)]
            fn $f(self, b: Wasm4) -> Wasm4 {
                Wasm4($intrinsic(self.0, b.0))
            }
        }
    };
}
operator!(Add, add, f32x4_add);
operator!(Sub, sub, f32x4_sub);
operator!(Mul, mul, f32x4_mul);
operator!(Div, div, f32x4_div);

impl Neg for Wasm8 {
    type Output = Wasm8;
    #[inline(always)]
    fn neg(self) -> Wasm8 {
        Wasm8(f32x4_neg(self.0), f32x4_neg(self.1))
    }
}

#[inline(always)]
fn row(row: &Row) -> v128 {
    bytemuck::cast(row.0)
}

/// Lanes of x, y, z of four rows, and of their fourth numbers; its own inverse.
#[inline(always)]
fn transpose([a, b, c, d]: [v128; 4]) -> [v128; 4] {
    let (ab_lo, ab_hi) = (
        i32x4_shuffle::<0, 4, 1, 5>(a, b),
        i32x4_shuffle::<2, 6, 3, 7>(a, b),
    );
    let (cd_lo, cd_hi) = (
        i32x4_shuffle::<0, 4, 1, 5>(c, d),
        i32x4_shuffle::<2, 6, 3, 7>(c, d),
    );
    [
        i64x2_shuffle::<0, 2>(ab_lo, cd_lo),
        i64x2_shuffle::<1, 3>(ab_lo, cd_lo),
        i64x2_shuffle::<0, 2>(ab_hi, cd_hi),
        i64x2_shuffle::<1, 3>(ab_hi, cd_hi),
    ]
}

impl Lanes for Wasm8 {
    type Quad = Wasm4;
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Wasm8(f32x4_splat(x), f32x4_splat(x))
    }
    #[inline(always)]
    fn load(x: &F32x8) -> Self {
        let [low, high]: [v128; 2] = bytemuck::cast(x.0);
        Wasm8(low, high)
    }
    #[inline(always)]
    fn store(self) -> F32x8 {
        F32x8(bytemuck::cast([self.0, self.1]))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        self * b - c
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        c - self * b
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Wasm8(f32x4_sqrt(self.0), f32x4_sqrt(self.1))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Wasm8(f32x4_abs(self.0), f32x4_abs(self.1))
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Wasm8(f32x4_pmax(self.0, b.0), f32x4_pmax(self.1, b.1))
    }
    #[inline(always)]
    fn le_mask(self, b: Self) -> u8 {
        let low = i32x4_bitmask(f32x4_le(self.0, b.0));
        low | i32x4_bitmask(f32x4_le(self.1, b.1)) << 4
    }
    #[inline(always)]
    fn gather(rows: &[Row], index: &[u32; LANES]) -> [Self; 3] {
        let at = |lane: usize| row(&rows[index[lane] as usize]);
        let [x, y, z, _] = transpose([at(0), at(1), at(2), at(3)]);
        let [u, v, w, _] = transpose([at(4), at(5), at(6), at(7)]);
        [Wasm8(x, u), Wasm8(y, v), Wasm8(z, w)]
    }
    #[inline(always)]
    fn scatter_add(rows: &mut [Row], index: &[u32; LANES], [x, y, z]: [Self; 3]) {
        let zero = f32x4_splat(0.0);
        let low = transpose([x.0, y.0, z.0, zero]);
        let high = transpose([x.1, y.1, z.1, zero]);
        for (lane, added) in low.into_iter().chain(high).enumerate() {
            let place = &mut rows[index[lane] as usize];
            place.0 = bytemuck::cast(f32x4_add(row(place), added));
        }
    }
    #[inline(always)]
    fn sum3([x, y, z]: [Self; 3]) -> Wasm4 {
        let zero = f32x4_splat(0.0);
        let sum = |v: [v128; 4]| f32x4_add(f32x4_add(v[0], v[2]), f32x4_add(v[1], v[3]));
        let low = sum(transpose([x.0, y.0, z.0, zero]));
        let high = sum(transpose([x.1, y.1, z.1, zero]));
        Wasm4(f32x4_add(low, high))
    }
    #[inline(always)]
    fn whole(x: &[i16; LANES]) -> Self {
        let x: v128 = bytemuck::cast(*x);
        Wasm8(
            f32x4_convert_i32x4(i32x4_extend_low_i16x8(x)),
            f32x4_convert_i32x4(i32x4_extend_high_i16x8(x)),
        )
    }
    #[inline(always)]
    fn rows([x, y, z]: [Self; 3]) -> [Row; LANES] {
        let zero = f32x4_splat(0.0);
        let low = transpose([x.0, y.0, z.0, zero]);
        let high = transpose([x.1, y.1, z.1, zero]);
        let mut o = [Row::default(); LANES];
        for (row, lanes) in o.iter_mut().zip(low.into_iter().chain(high)) {
            *row = Row(bytemuck::cast(lanes));
        }
        o
    }
}

impl Quad for Wasm4 {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Wasm4(f32x4_splat(x))
    }
    #[inline(always)]
    fn load(x: &Row) -> Self {
        Wasm4(row(x))
    }
    #[inline(always)]
    fn store(self) -> Row {
        Row(bytemuck::cast(self.0))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
}
