//! Fits the embedded models of fat mass: `cargo run -p supple-lab --example fat_mass -- nhanes_dxa.csv > assets/fat_mass.toml`.

use supple_anatomy::composition::{fit_regressors, read_table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("give a table of measured adults")?;
    let people = read_table(&std::fs::read_to_string(path)?)?;
    let source = "NHANES 2017–18 (United States, 2,217 adults of 18 to 59, dual-energy x-ray absorptiometry)";
    print!("{}", fit_regressors(&people, source)?.to_toml());
    Ok(())
}
