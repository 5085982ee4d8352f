//! `supple picture`

mod contact;
mod differences;
mod layers;
mod motion;

use supple::Character;
use supple::glam::Vec3;
use supple::rig::joint_lookup::{find_joint, places};
use supple_lab::sheet::{Look, Tile, sheet};
use supple_picture::Image;

use crate::args::{self, Compare, View};
use crate::console::{Console, Failure};
use crate::output::check_png;

/// Enlargement of a joint in focus.
const FOCUS_ZOOM: f32 = 4.0;
/// Most pixels of a sheet: 1 GB.
const MOST_PIXELS: f64 = 250e6;

/// Draws a character.
pub fn run(args: &args::Picture, console: &Console) -> Result<(), Failure> {
    check_png(&args.output)?;
    check_size(args)?;
    let wants_motion = args.motion.clip.is_some() || args.motion.motion.is_some();
    let is_layered = args.layers || supple::is_template(&args.input.file);
    if args.regions || (is_layered && !wants_motion) {
        return layers::draw_layers(args, console);
    }
    let moves = wants_motion || args.compare.is_some();
    let character = if args.layers {
        super::load_layered(&args.input)?
    } else if moves || args.bones || args.focus.is_some() {
        super::load_bound(&args.input, console)?
    } else {
        super::load(&args.input)?
    };
    if character.parts.is_empty() {
        return Err(Failure::new(
            format!("{} has no mesh to draw", args.input.file.display()),
            "to play its motion on an embedded body: supple picture @male --motion FILE",
        ));
    }
    let focus = args.focus.as_deref();
    let focus = focus.map(|name| joint(&character, name)).transpose()?;
    let look = Look {
        size: args.size.into(),
        direction: direction(args.view),
        bones: args.bones,
        focus,
        zoom: (args.zoom).unwrap_or(if focus.is_some() { FOCUS_ZOOM } else { 1.0 }),
    };
    let image = if !moves {
        draw_rest(&character, &look)
    } else {
        motion::draw_motion(&character, args, &look, console)?
    };
    image.save_png(&args.output)?;
    let path = args.output.display().to_string();
    console.result(
        format!("wrote {path}"),
        &serde_json::json!({ "output": path }),
    );
    Ok(())
}

/// Refuses sheets that would not fit into memory.
fn check_size(args: &args::Picture) -> Result<(), Failure> {
    let rows = match args.compare {
        Some(Compare::Methods) => 4,
        Some(Compare::Contact) => 3,
        _ => 1,
    };
    let tiles = f64::from(rows) * f64::from(args.frames);
    let pixels = tiles * f64::from(args.size).powi(2);
    if pixels > MOST_PIXELS {
        let text = format!(
            "{tiles} tiles of {} × {} pixels are {:.0} million pixels; at most {:.0} million are drawn",
            args.size,
            args.size,
            pixels / 1e6,
            MOST_PIXELS / 1e6
        );
        return Err(Failure::new(text, "use fewer --frames or a smaller --size"));
    }
    Ok(())
}

/// The joint that the user named.
fn joint(character: &Character, name: &str) -> Result<usize, Failure> {
    find_joint(character, name).ok_or_else(|| {
        Failure::new(
            format!("{} has no joint `{name}`", character.name),
            format!(
                "`supple info --joints` lists the joints of a file; places of a humanoid are {}",
                places()
            ),
        )
    })
}

fn direction(view: View) -> Vec3 {
    match view {
        View::Front => Vec3::new(0.0, 0.06, 1.0),
        View::Side => Vec3::new(1.0, 0.06, 0.0),
        View::Back => Vec3::new(0.0, 0.06, -1.0),
        View::ThreeQuarter => Look::default().direction,
    }
}

fn draw_rest(character: &Character, look: &Look) -> Image {
    let pose = supple::Pose::rest(&character.skeleton);
    let positions: Vec<_> = character
        .skin(&pose, supple::rig::skinning::Method::Lbs)
        .into_iter()
        .map(|part| part.positions)
        .collect();
    let tile = Tile {
        caption: character.name.clone(),
        positions: &positions,
        pose: Some(&pose),
        ..Tile::default()
    };
    sheet(character, "", &[tile], 1, look)
}
