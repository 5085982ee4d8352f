//! `supple init`

use supple::flesh::Settings;
use supple::rig::formats::save;
use supple::settings::settings_path;

use crate::args;
use crate::console::{Console, Failure};

/// Writes the automatic settings of a character.
pub fn run(args: &args::Init, console: &Console) -> Result<(), Failure> {
    let character = super::load_rigged(&args.input, console)?;
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| settings_path(&args.input.file));
    if path.exists() && !args.force {
        return Err(Failure::new(
            format!("{} exists already", path.display()),
            "--force overwrites it; -o writes another file",
        ));
    }
    let text = Settings::automatic(&character)?.to_toml()?;
    save(&path, text.as_bytes())?;
    let path = path.display().to_string();
    console.result(
        format!("wrote {path}\n`supple skin` reads it if it is beside the character"),
        &serde_json::json!({ "output": path }),
    );
    Ok(())
}
