//! The table of guests: `cargo run --release -p supple-lab --example guests -- [FILE or FOLDER]…`
use std::time::Instant;

use supple_lab::guests::{Measure, motions};

fn main() {
    for path in std::env::args().skip(1) {
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let started = Instant::now();
        let character = match path
            .strip_prefix('=')
            .and_then(supple_lab::guests::made)
            .map_or_else(|| supple::load(&path), Ok)
        {
            Ok(character) => character,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let mut measure = match Measure::new(&character) {
            Ok(measure) => measure,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        if let Some(f) = std::env::var("FRICTION").ok().and_then(|f| f.parse().ok()) {
            measure.body().solver_settings().contact.friction = f;
        }
        let guest = match measure.all(&motions(&character)) {
            Ok(guest) => guest,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        println!(
            "{name}: {} vertices, {} shells, {:.2} m, bind {:.5} %, {:.0} s",
            guest.vertices,
            guest.shells,
            guest.size,
            1e2 * guest.in_bind,
            started.elapsed().as_secs_f32()
        );
        for moved in &guest.motions {
            println!(
                "  {:12} blend {:5.2} {:5.2} %, left {:6.3} {:6.3} %, depth {:5.2} {:5.2} %, sum {:6.2} {:6.2}",
                moved.clip,
                1e2 * moved.off.from_blend,
                1e2 * moved.on.from_blend,
                1e2 * moved.off.left,
                1e2 * moved.on.left,
                1e2 * moved.off.depth,
                1e2 * moved.on.depth,
                moved.off.depth_sum,
                moved.on.depth_sum,
            );
        }
        for complaint in guest.complaints() {
            println!("  ! {complaint}");
        }
    }
}
