//! `supple demo`

use supple::embedded::{Body, body, clip};
use supple::export::{Bake, export};
use supple::rig::skinning::Method;
use supple::sheet::{Look, Tile, sheet};
use supple::skin::{Span, skin};

use crate::args;
use crate::console::{Console, Failure};

/// Skins the embedded body over an embedded clip.
pub fn run(args: &args::Demo, console: &Console) -> Result<(), Failure> {
    let character = body(Body::Male)?;
    let clip = clip("squat", &character)?;
    let span = Span::all(&clip, 30.0);
    let motion = skin(&character, &clip, Method::Dqs, span, &mut |_| ());
    let glb = args.output.join("demo.glb");
    let written = export(
        &character,
        &motion,
        Bake::Correctives { bound_mm: 1.0 },
        &glb,
        &clip.name,
    )?;

    let shown = [0, motion.frames.len() / 4, motion.frames.len() / 2];
    let tiles = shown.map(|frame| Tile {
        caption: format!("{:.2} s", span.times()[frame]),
        positions: &motion.frames[frame],
        pose: Some(&motion.poses[frame]),
        ..Tile::default()
    });
    let png = args.output.join("demo.png");
    sheet(&character, "", &tiles, 3, &Look::default()).save_png(&png)?;

    let text = format!(
        "{}\nwrote {}\n\nWhat to try next:\n  \
         supple info YOUR.glb                       what is in your character\n  \
         supple skin YOUR.glb --clip squat -o out/squat.glb\n  \
         supple skin YOUR.vrm --motion WALK.bvh -o out/walk.glb\n  \
         supple picture @male --clip arms_crossed --compare methods\n\
         (from a checkout, `cargo run --release --` stands for `supple`)",
        super::describe(&written),
        png.display()
    );
    console.result(text, &serde_json::json!({ "glb": written, "picture": png }));
    Ok(())
}
