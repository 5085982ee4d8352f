//! A motion without and with contact, what lies inside the body in red.

use supple::glam::Vec3;
use supple::{Character, Clip, skin};
use supple_lab::compare_contact::{INSIDE, compare_contact};
use supple_lab::sheet::{Look, Tile, sheet};
use supple_picture::{Image, Tint};

use crate::args;
use crate::console::{Console, Failure};

pub(super) fn draw_contact(
    character: &Character,
    args: &args::Picture,
    look: &Look,
    clip: &Clip,
    (start, shown): (f32, skin::Span),
    console: &Console,
) -> Result<Image, Failure> {
    let settings = super::super::settings(&args.input, &args.tissue)?;
    let times = shown.times();
    let progress = console.progress("simulating with and without contact", 3 * times.len());
    let step = &mut |_| progress.step();
    let variants = compare_contact(character, clip, &settings, start, &times, step)?;
    drop(progress);
    let mut tiles = Vec::new();
    for variant in &variants {
        for (frame, time) in variant.frames.iter().zip(&times) {
            let caption = format!(
                "{} {time:.2} s: {} inside, {:.1} mm deep",
                variant.name, frame.count, frame.worst_mm
            );
            tiles.push(Tile {
                caption,
                positions: &frame.positions,
                pose: Some(&frame.pose),
                tints: Some(red_tints(&frame.colours)),
                legend: None,
                colliders: &frame.colliders,
            });
        }
    }
    // One frame: the modes side by side; several: one row per mode.
    let columns = match times.len() {
        1 => variants.len(),
        more => more,
    };
    let title = format!("{}: {}; red: inside", character.name, clip.name);
    Ok(sheet(character, &title, &tiles, columns, look))
}

/// Vertices inside something are red; the rest looks as it does.
fn red_tints(colours: &[Vec<Vec3>]) -> Vec<Tint> {
    let tint = |colours: &Vec<Vec3>| {
        let strengths = colours.iter().map(|&colour| f32::from(colour == INSIDE));
        Tint {
            strengths: strengths.collect(),
            colours: colours.clone(),
        }
    };
    colours.iter().map(tint).collect()
}
