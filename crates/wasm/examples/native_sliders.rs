//! Prints what the page's sliders for fat and muscle take natively \[s\]: `native_sliders FILE.person`. The first touch of a region waits for its
//! shapes unless the page has made them before; every further movement is a sum of them.

use std::time::Instant;

use supple_wasm::growth::{Change, grown_file, shapes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args()
        .nth(1)
        .ok_or("native_sliders FILE.person")?;
    let person = std::fs::read(file)?;
    for region in ["", "belly", "legs"] {
        let clock = Instant::now();
        let made = shapes(&person, region, &|_| {})?;
        let count = made.fat.len() + made.muscle.len();
        let seconds = clock.elapsed().as_secs_f64();
        println!("{count} shapes of '{region}': {seconds:.3} s");
    }
    let clock = Instant::now();
    let change = Change {
        fat: 10.0,
        ..Change::default()
    };
    grown_file(&person, &[change], &|_| {})?;
    println!(
        "10 kg, fine, with the file: {:.3} s",
        clock.elapsed().as_secs_f64()
    );
    Ok(())
}
