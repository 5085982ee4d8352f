//! AVX2 + FMA lanes, and sixteen of AVX-512.

use super::{F32x8, Kernel, LANES, Lanes, Quad, Row, WIDE, Wide, WideKernel};
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

// SAFETY, for the whole file: values of these types exist only inside the functions that run kernels, which are reached only
// where their features were detected, so the intrinsics are legal; pointers come from references, or from indices checked just before.

#[derive(Clone, Copy)]
pub struct Avx8(__m256);

#[derive(Clone, Copy)]
pub struct Avx4(__m128);

#[derive(Clone, Copy)]
pub struct Avx16(__m512);

#[target_feature(enable = "avx2,fma")]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx8>()
}

/// The same operations and results with twice the registers: large kernels spill less.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
pub fn run_with_more_registers<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx8>()
}

/// Runs a kernel on sixteen lanes.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
pub fn run_wide<K: WideKernel>(kernel: K) -> K::Output {
    kernel.run::<Avx16>()
}

/// The same on two vectors of eight.
#[target_feature(enable = "avx2,fma")]
pub fn run_in_halves<K: WideKernel>(kernel: K) -> K::Output {
    kernel.run::<[Avx8; 2]>()
}

/// Prefetches a memory location; any address is allowed.
#[inline(always)]
pub fn prefetch<T>(place: *const T) {
    // SAFETY: part of every x86-64 processor, and without effect on unmapped addresses.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) }
}

macro_rules! operator {
    ($t:ident, $trait:ident, $f:ident, $intrinsic:ident) => {
        impl $trait for $t {
            type Output = $t;
            #[inline(always)]
            fn $f(self, b: $t) -> $t {
                $t(unsafe { $intrinsic(self.0, b.0) })
            }
        }
    };
}
operator!(Avx8, Add, add, _mm256_add_ps);
operator!(Avx8, Sub, sub, _mm256_sub_ps);
operator!(Avx8, Mul, mul, _mm256_mul_ps);
operator!(Avx8, Div, div, _mm256_div_ps);
operator!(Avx4, Add, add, _mm_add_ps);
operator!(Avx4, Sub, sub, _mm_sub_ps);
operator!(Avx4, Mul, mul, _mm_mul_ps);

impl Neg for Avx8 {
    type Output = Avx8;
    #[inline(always)]
    fn neg(self) -> Avx8 {
        Avx8(unsafe { _mm256_xor_ps(self.0, _mm256_set1_ps(-0.0)) })
    }
}

/// Panics unless every index is below `len`.
#[inline(always)]
fn check(index: &[u32; LANES], len: usize) {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    let outside = unsafe {
        let index = _mm256_loadu_si256(index.as_ptr().cast());
        // index >= len, unsigned, is max(index, len) == index.
        let bound = _mm256_set1_epi32(len.cast_signed());
        _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(index, bound), index))
    };
    if outside != 0 {
        out_of_range();
    }
}

#[cold]
#[inline(never)]
fn out_of_range() -> ! {
    panic!("row index out of range");
}

/// Rows `i` and `i + 4` of the four result registers are the lanes `i` and `i + 4` of x, y, z (and a fourth of zeros).
#[inline(always)]
fn transpose(v: [__m256; 4]) -> [__m256; 4] {
    unsafe {
        let (xy_lo, xy_hi) = (
            _mm256_unpacklo_ps(v[0], v[1]),
            _mm256_unpackhi_ps(v[0], v[1]),
        );
        let (zw_lo, zw_hi) = (
            _mm256_unpacklo_ps(v[2], v[3]),
            _mm256_unpackhi_ps(v[2], v[3]),
        );
        [
            _mm256_shuffle_ps::<0x44>(xy_lo, zw_lo),
            _mm256_shuffle_ps::<0xEE>(xy_lo, zw_lo),
            _mm256_shuffle_ps::<0x44>(xy_hi, zw_hi),
            _mm256_shuffle_ps::<0xEE>(xy_hi, zw_hi),
        ]
    }
}

impl Lanes for Avx8 {
    type Quad = Avx4;
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Avx8(unsafe { _mm256_set1_ps(x) })
    }
    #[inline(always)]
    fn load(x: &F32x8) -> Self {
        Avx8(unsafe { _mm256_load_ps(x.0.as_ptr()) })
    }
    #[inline(always)]
    fn store(self) -> F32x8 {
        let mut o = F32x8::default();
        unsafe { _mm256_store_ps(o.0.as_mut_ptr(), self.0) };
        o
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Avx8(unsafe { _mm256_fmadd_ps(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        Avx8(unsafe { _mm256_fmsub_ps(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Avx8(unsafe { _mm256_fnmadd_ps(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Avx8(unsafe { _mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Avx8(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Avx8(unsafe { _mm256_max_ps(self.0, b.0) })
    }
    #[inline(always)]
    fn le_mask(self, b: Self) -> u8 {
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, b.0)) as u8 }
    }
    #[inline(always)]
    fn gather(rows: &[Row], index: &[u32; LANES]) -> [Self; 3] {
        check(index, rows.len());
        let row = |lane: usize| unsafe {
            // Volatile: from the register of the check, each index would cost two more instructions than a load.
            let at = std::ptr::read_volatile(&index[lane]) as usize;
            _mm_load_ps(rows.as_ptr().add(at).cast())
        };
        let pair = |lane: usize| unsafe { _mm256_set_m128(row(lane + 4), row(lane)) };
        let [x, y, z, _] = transpose([pair(0), pair(1), pair(2), pair(3)]);
        [Avx8(x), Avx8(y), Avx8(z)]
    }
    #[inline(always)]
    fn scatter_add(rows: &mut [Row], index: &[u32; LANES], v: [Self; 3]) {
        check(index, rows.len());
        let r = transpose([v[0].0, v[1].0, v[2].0, unsafe { _mm256_setzero_ps() }]);
        let rows = rows.as_mut_ptr();
        let add = |lane: usize, value: __m128| unsafe {
            let row = rows.add(index[lane] as usize).cast();
            _mm_store_ps(row, _mm_add_ps(_mm_load_ps(row), value));
        };
        for (lane, r) in r.into_iter().enumerate() {
            add(lane, unsafe { _mm256_castps256_ps128(r) });
        }
        for (lane, r) in r.into_iter().enumerate() {
            add(lane + 4, unsafe { _mm256_extractf128_ps::<1>(r) });
        }
    }
    #[inline(always)]
    fn sum3(v: [Self; 3]) -> Avx4 {
        unsafe {
            let [a, b, c, d] = transpose([v[0].0, v[1].0, v[2].0, _mm256_setzero_ps()]);
            let s = _mm256_add_ps(_mm256_add_ps(a, c), _mm256_add_ps(b, d));
            Avx4(_mm_add_ps(
                _mm256_castps256_ps128(s),
                _mm256_extractf128_ps::<1>(s),
            ))
        }
    }
    #[inline(always)]
    fn whole(x: &[i16; LANES]) -> Self {
        Avx8(unsafe {
            let x = _mm_loadu_si128(x.as_ptr().cast());
            _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(x))
        })
    }
    #[inline(always)]
    fn rows(v: [Self; 3]) -> [Row; LANES] {
        let mut o = [Row::default(); LANES];
        let r = transpose([v[0].0, v[1].0, v[2].0, unsafe { _mm256_setzero_ps() }]);
        for (lane, r) in r.into_iter().enumerate() {
            unsafe {
                _mm_store_ps(o[lane].0.as_mut_ptr(), _mm256_castps256_ps128(r));
                _mm_store_ps(o[lane + 4].0.as_mut_ptr(), _mm256_extractf128_ps::<1>(r));
            }
        }
        o
    }
    #[inline(always)]
    fn write(v: [Self; 3], vectors: &mut [[f32; 3]; LANES]) {
        let [x, y, z] = v.map(|lanes| lanes.0);
        let out = vectors.as_flattened_mut();
        unsafe {
            let xy = _mm256_shuffle_ps::<0b10_00_10_00>(x, y);
            let yz = _mm256_shuffle_ps::<0b11_01_11_01>(y, z);
            let zx = _mm256_shuffle_ps::<0b11_01_10_00>(z, x);
            let thirds = [
                _mm256_shuffle_ps::<0b10_00_10_00>(xy, zx),
                _mm256_shuffle_ps::<0b11_01_10_00>(yz, xy),
                _mm256_shuffle_ps::<0b11_01_11_01>(zx, yz),
            ];
            for (k, third) in thirds.into_iter().enumerate() {
                let [low, high] = [4 * k, 4 * k + 12];
                _mm_storeu_ps(
                    out[low..low + 4].as_mut_ptr(),
                    _mm256_castps256_ps128(third),
                );
                _mm_storeu_ps(
                    out[high..high + 4].as_mut_ptr(),
                    _mm256_extractf128_ps::<1>(third),
                );
            }
        }
    }
}

impl Wide for Avx16 {
    type Half = Avx8;
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Avx16(unsafe { _mm512_set1_ps(x) })
    }
    #[inline(always)]
    fn whole(x: &[i16; WIDE]) -> Self {
        Avx16(unsafe {
            let x = _mm256_loadu_si256(x.as_ptr().cast());
            _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(x))
        })
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Avx16(unsafe { _mm512_fmadd_ps(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn add_mul(self, b: Self, c: Self) -> Self {
        Avx16(unsafe { _mm512_mul_ps(_mm512_add_ps(self.0, b.0), c.0) })
    }
    #[inline(always)]
    fn halves(self) -> [Avx8; 2] {
        unsafe {
            let high = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(self.0));
            [
                Avx8(_mm512_castps512_ps256(self.0)),
                Avx8(_mm256_castpd_ps(high)),
            ]
        }
    }
}

impl Quad for Avx4 {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Avx4(unsafe { _mm_set1_ps(x) })
    }
    #[inline(always)]
    fn load(x: &Row) -> Self {
        Avx4(unsafe { _mm_load_ps(x.0.as_ptr()) })
    }
    #[inline(always)]
    fn store(self) -> Row {
        let mut o = Row::default();
        unsafe { _mm_store_ps(o.0.as_mut_ptr(), self.0) };
        o
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Avx4(unsafe { _mm_fmadd_ps(self.0, b.0, c.0) })
    }
}
