//! Renews the regions of templates, and what moves their bones, without building them: `rerig FILE.template…`.

use std::path::Path;

use supple_anatomy::template::{load_template, save_template};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args_os().skip(1) {
        let path = Path::new(&file);
        save_template(path, &load_template(path)?.rerigged()?)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
