//! `supple convert`

use supple::rig::formats;
use supple::rig::subdivision::subdivided;

use crate::args;
use crate::console::{Console, Failure};

/// Writes a file in another format.
pub fn run(args: &args::Convert, console: &Console) -> Result<(), Failure> {
    let mut character = super::load(&args.input)?;
    for _ in 0..args.subdivide {
        character = subdivided(&character);
    }
    formats::save_character(&args.output, &character)?;
    let path = args.output.display().to_string();
    console.result(
        format!("wrote {path}"),
        &serde_json::json!({ "output": path }),
    );
    Ok(())
}
