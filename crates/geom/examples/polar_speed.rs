//! Millions of polar decompositions a second on one core.

use std::time::Instant;
use supple_geom::polar::{rotation_lanes, rotation_lanes_pair};
use supple_geom::simd::{F32x8, Kernel, Lanes, dispatch};

struct Speed<'a>(&'a [[F32x8; 9]]);

impl Kernel for Speed<'_> {
    type Output = f32;
    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let mut sum = L::splat(0.0);
        for f in self.0 {
            let row = |i: usize| {
                [
                    L::load(&f[3 * i]),
                    L::load(&f[3 * i + 1]),
                    L::load(&f[3 * i + 2]),
                ]
            };
            let r = rotation_lanes(&[row(0), row(1), row(2)]);
            for row in r {
                sum = sum + row[0] + row[1] + row[2];
            }
        }
        sum.store().0.iter().sum()
    }
}

struct PairSpeed<'a>(&'a [[F32x8; 9]]);

impl Kernel for PairSpeed<'_> {
    type Output = f32;
    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let mut sum = L::splat(0.0);
        for pair in self.0.chunks_exact(2) {
            let row = |f: &[F32x8; 9], i: usize| {
                [
                    L::load(&f[3 * i]),
                    L::load(&f[3 * i + 1]),
                    L::load(&f[3 * i + 2]),
                ]
            };
            let f = [row(&pair[0], 0), row(&pair[0], 1), row(&pair[0], 2)];
            let g = [row(&pair[1], 0), row(&pair[1], 1), row(&pair[1], 2)];
            let [r, q] = rotation_lanes_pair([&f, &g]);
            for i in 0..3 {
                sum = sum + r[i][0] + r[i][1] + r[i][2] + q[i][0] + q[i][1] + q[i][2];
            }
        }
        sum.store().0.iter().sum()
    }
}

fn main() {
    let strain = |i: usize, k: usize| ((i * 7 + k * 13) % 101) as f32 / 101.0 - 0.5;
    for amount in [0.1, 0.6, 2.0] {
        let f: Vec<[F32x8; 9]> = (0..4000)
            .map(|b| {
                std::array::from_fn(|e| {
                    let one = if e % 4 == 0 { 1.0 } else { 0.0 };
                    F32x8(std::array::from_fn(|lane| {
                        one + amount * strain(b * 8 + lane, e)
                    }))
                })
            })
            .collect();
        let time = |run: &dyn Fn() -> f32| {
            let best = (0..20).map(|_| {
                let start = Instant::now();
                std::hint::black_box(run());
                start.elapsed().as_secs_f64()
            });
            f.len() as f64 * 8.0 / best.fold(f64::MAX, f64::min) / 1e6
        };
        let fast = time(&|| dispatch(Speed(&f)));
        let twin = time(&|| Speed(&f).run::<F32x8>());
        let pair = time(&|| dispatch(PairSpeed(&f)));
        println!(
            "entries 1 ± {amount}: {fast:.0} M/s, in pairs {pair:.0} M/s, portable {twin:.0} M/s"
        );
    }
}
