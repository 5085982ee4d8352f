//! Prints the native time of the page's step of the embedded body \[ms\], to compare with the browser.
//! `native_step [STEPS]`; set RAYON_NUM_THREADS=1 for one thread.

use std::time::Instant;

use supple_wasm::stage::Stage;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let steps: u32 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(60);
    let mut stage = Stage::embedded("male")?;
    stage.build(Default::default())?;
    let mut advance = |steps: u32| -> Result<f64, Box<dyn std::error::Error>> {
        let begin = Instant::now();
        for _ in 0..steps {
            stage.advance(1.0 / 60.0, 1.0 / 60.0, true)?;
        }
        Ok(begin.elapsed().as_secs_f64() * 1e3 / f64::from(steps.max(1)))
    };
    advance(5)?;
    println!("{:.3}", advance(steps)?);
    Ok(())
}
