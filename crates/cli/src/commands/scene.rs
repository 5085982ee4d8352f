//! `supple scene`

use supple::export::{Bake, bound_of, write_motion};
use supple::scene_file::{play, read_scene};
use supple_lab::scene_sheet::scene_sheet;

use crate::args;
use crate::console::{Console, Failure};
use crate::output::check_folder;

/// Width and height of a drawn frame \[px\].
const TILE: usize = 420;

/// Simulates a scene and writes every character's motion.
pub fn run(args: &args::ScenePlay, console: &Console) -> Result<(), Failure> {
    let file = read_scene(&args.file)?;
    check_folder(&args.output)?;
    let mut progress = None;
    let played = play(&file, &args.file, &mut |_, count| {
        progress
            .get_or_insert_with(|| console.progress("simulating the scene", count))
            .step();
    })?;
    drop(progress);
    let baking = console.progress("baking", played.characters.len());
    let mut text = Vec::new();
    let mut written = Vec::new();
    for (character, motion) in &played.characters {
        let path = args.output.join(format!("{}.glb", character.name));
        let bake = Bake::Correctives {
            bound_mm: args.bound.unwrap_or_else(|| bound_of(character)),
            allow_error: args.allow_error,
        };
        let one = write_motion(character, motion, bake, &path, "scene")
            .map_err(|error| super::with_bound_hint(error, None))?;
        baking.step();
        text.push(super::describe(&one));
        written.push(one);
    }
    drop(baking);
    let last = played.inside.len() - 1;
    let count = usize::from(args.frames).min(last + 1);
    let shown: Vec<usize> = (0..count).map(|k| k * last / (count.max(2) - 1)).collect();
    let title = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let picture = args.output.join("scene.png");
    scene_sheet(&title, &played, &shown, TILE).save_png(&picture)?;
    let worst = played.inside.iter().fold((0, 0.0), |worst, now| {
        (worst.0.max(now.0), f32::max(worst.1, now.1))
    });
    text.push(format!(
        "wrote {}\nworst frame: {} vertices inside a body, up to {:.1} mm deep",
        picture.display(),
        worst.0,
        1000.0 * worst.1
    ));
    let frames = played.inside.iter().map(|&(vertices, depth)| {
        serde_json::json!({ "vertices": vertices, "worst_mm": 1000.0 * depth })
    });
    console.result(
        text.join("\n"),
        &serde_json::json!({
            "characters": written,
            "picture": picture.display().to_string(),
            "inside": frames.collect::<Vec<_>>(),
        }),
    );
    Ok(())
}
