//! Millions of polar decompositions a second on one core.

use std::time::Instant;
use supple_geom::polar::rotation_lanes;
use supple_geom::simd::{F32x8, Kernel, Lanes, dispatch};

struct Speed<'a>(&'a [[F32x8; 9]]);

impl Kernel for Speed<'_> {
    type Output = f32;
    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let mut sum = L::splat(0.0);
        for f in self.0 {
            let column = |i: usize| {
                [
                    L::load(&f[3 * i]),
                    L::load(&f[3 * i + 1]),
                    L::load(&f[3 * i + 2]),
                ]
            };
            let r = rotation_lanes(&[column(0), column(1), column(2)]);
            for column in r {
                sum = sum + column[0] + column[1] + column[2];
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
        println!("entries 1 ± {amount}: {fast:.0} M/s, portable {twin:.0} M/s");
    }
}
