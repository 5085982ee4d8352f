//! Layers of a body, at rest and in motion.

use supple::anatomy::LayeredBody;
use supple::glam::Vec3;
use supple::inside::Inside;
use supple::play::follow;
use supple::rig::Part;
use supple::tissue::SoftBody;
use supple::{Character, Clip, Subject, skin};
use supple_lab::sheet::{Look, Tile, sheet};
use supple_lab::template_sheet::{layers_sheet, muscle_colours, regions_sheet};
use supple_picture::colour::to_srgb;
use supple_picture::{Image, Tint};

use super::super as commands;
use super::motion::{Moment, even_rows};
use crate::args;
use crate::console::{Console, Failure};

/// Draws the layers of a template.
pub(super) fn draw_layers(args: &args::Picture, console: &Console) -> Result<(), Failure> {
    let subject = commands::load_layered(&args.input)?;
    let draw = if args.regions {
        regions_sheet
    } else {
        layers_sheet
    };
    if let Some(body) = subject.body() {
        draw(body, args.size.into()).save_png(&args.output)?;
    }
    let path = args.output.display().to_string();
    console.result(
        format!("wrote {path}"),
        &serde_json::json!({ "output": path }),
    );
    Ok(())
}

/// A layered body in frames of a clip: its skin, and with --layers also its muscles and bones.
pub(super) fn draw_moving_layers(
    subject: &Subject,
    args: &args::Picture,
    look: &Look,
    settings: &supple::flesh::Settings,
    clip: &Clip,
    span: skin::Span,
    console: &Console,
) -> Result<Image, Failure> {
    let character = subject.character();
    let mut body = SoftBody::new(subject, settings.clone())?;
    body.set_backend(commands::backend(args.backend, &body.flesh().model, console).backend);
    let times = span.times();
    let progress = console.progress("simulating", times.len());
    let mut moments = Vec::new();
    let layered = subject.body().filter(|_| args.layers);
    let inside = layered.map(|layered| Inside::new(layered, body.flesh()));
    follow(&mut body, character, clip, &times, &mut |_, body| {
        let mut positions = body.positions();
        if let Some(inside) = &inside {
            positions.extend(body.inside(inside));
        }
        moments.push(Moment {
            positions,
            pose: body.pose().clone(),
            colliders: body.colliders_now(),
        });
        progress.step();
        Ok(())
    })?;
    drop(progress);
    let title = format!("{}: {}", character.name, clip.name);
    // A person's skin is followed by eyes and tongue, a template's by nothing.
    let skins = character.parts.len();
    let shown = match &inside {
        Some(_) => vec![
            (0..skins, "skin"),
            (skins..skins + 2, "muscles"),
            (skins + 1..skins + 2, "bones"),
        ],
        None => vec![(0..skins, "")],
    };
    let whole = match &inside {
        Some(inside) => inside.character(character),
        None => character.clone(),
    };
    let tints = layered.map_or_else(Vec::new, |layered| muscle_tints(layered, &whole, skins));
    let rows: Vec<Vec<Vec<Vec<Vec3>>>> = (shown.iter())
        .map(|(parts, _)| moments.iter().map(|m| only(&m.positions, parts)).collect())
        .collect();
    let mut tiles = Vec::new();
    for ((_, name), row) in shown.iter().zip(&rows) {
        for ((positions, moment), time) in row.iter().zip(&moments).zip(&times) {
            tiles.push(Tile {
                caption: format!("{name} {time:.2} s").trim_start().to_owned(),
                positions,
                pose: Some(&moment.pose),
                tints: inside.is_some().then(|| tints.clone()),
                legend: None,
                colliders: &moment.colliders,
            });
        }
    }
    let columns = match inside.is_some() {
        true => times.len(),
        false => even_rows(times.len()),
    };
    let _drawing = console.progress("drawing", 1);
    Ok(sheet(&whole, &title, &tiles, columns, look))
}

/// The positions with all parts but the chosen ones drawn together to a point, which draws nothing.
fn only(positions: &[Vec<Vec3>], parts: &std::ops::Range<usize>) -> Vec<Vec<Vec3>> {
    let middle = (positions.first().and_then(|skin| skin.first())).copied();
    let each = positions.iter().enumerate();
    each.map(|(index, part)| match parts.contains(&index) {
        true => part.clone(),
        false => vec![middle.unwrap_or_default(); part.len()],
    })
    .collect()
}

/// Colours of skin, muscles and bones; `muscles` is the part of the muscles.
fn muscle_tints(template: &LayeredBody, whole: &Character, muscles: usize) -> Vec<Tint> {
    let tint = |(index, part): (usize, &Part)| {
        let count = part.mesh.positions.len();
        let material = part.material.and_then(|m| whole.materials.get(m));
        let own = material.map_or(Vec3::ONE, |m| to_srgb(m.base_color.truncate()));
        Tint {
            colours: match index == muscles {
                true => muscle_colours(template),
                false => vec![own; count],
            },
            strengths: vec![1.0; count],
        }
    };
    whole.parts.iter().enumerate().map(tint).collect()
}
