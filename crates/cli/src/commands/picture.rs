//! `supple picture`

use glam::Vec3;
use supple::picture::heat::{Legend, Ramp, heat_colours};
use supple::rig::skinning::Method;
use supple::sheet::{Look, Tile, sheet};
use supple::{Character, motion, skin};

use crate::args::{self, Compare, View};
use crate::console::{Console, Failure};

/// Draws a character.
pub fn run(args: &args::Picture, console: &Console) -> Result<(), Failure> {
    let character = super::load(&args.input)?;
    if character.parts.is_empty() {
        return Err(Failure::new(
            format!("{} has no mesh to draw", args.input.file.display()),
            "play it on a body: supple picture @male --motion FILE",
        ));
    }
    let look = Look {
        size: args.size.into(),
        direction: direction(args.view),
        bones: args.bones,
    };
    let wants_motion = args.motion.clip.is_some() || args.motion.motion.is_some();
    let image = if !wants_motion && args.compare.is_none() {
        draw_rest(&character, &look)
    } else {
        draw_motion(&character, args, &look, console)?
    };
    image.save_png(&args.output)?;
    let path = args.output.display().to_string();
    console.result(format!("wrote {path}"), &serde_json::json!({ "output": path }));
    Ok(())
}
