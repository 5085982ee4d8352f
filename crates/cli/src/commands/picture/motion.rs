//! Frames of a motion, by one method or several.

use supple::flesh::Flesh;
use supple::glam::Vec3;
use supple::morphs::add_morphs;
use supple::play::follow;
use supple::sim::{Backend, Collider};
use supple::skin::Method;
use supple::tissue::SoftBody;
use supple::{Clip, Subject, skin};
use supple_lab::sheet::{Look, Tile, sheet};
use supple_lab::upsampling::{NEIGHBOURS, UpsamplingStudy, upsampling_sheet};
use supple_picture::Image;

use super::super as commands;
use super::contact::draw_contact;
use super::differences::Differences;
use super::layers::draw_moving_layers;
use crate::args::{self, Compare};
use crate::console::{Console, Failure};

pub(super) fn draw_motion(
    character: &Subject,
    args: &args::Picture,
    look: &Look,
    console: &Console,
) -> Result<Image, Failure> {
    let (clip, span) = commands::choose(character, &args.motion, Method::Tissue, console)?;
    if let Some(Compare::Upsample) = args.compare {
        if args.focus.is_some() || args.zoom.is_some() {
            return Err(Failure::new(
                "--compare upsample shows the place of its largest error",
                "leave out --focus and --zoom",
            ));
        }
        let settings = commands::settings(&args.input, &args.tissue)?;
        let progress = console.progress("simulating twice", span.times().len());
        let mut study = UpsamplingStudy::new(character, &settings, NEIGHBOURS)?;
        let variants = study.over(&clip, span, &mut |_| progress.step())?;
        drop(progress);
        for variant in &variants {
            console.say(variant.caption());
        }
        let title = format!("{}: {}", character.name, clip.name);
        let height = character.height();
        return Ok(upsampling_sheet(
            &title,
            &variants,
            height,
            look.direction,
            look.size,
        ));
    }
    let frames = usize::from(args.frames);
    // A single frame shows the middle of the clip; several are spread over all of it.
    let seconds = span.to - span.from;
    let (from, step) = match frames {
        1 => (span.from + 0.5 * seconds, 1.0),
        _ => (span.from, (seconds / (frames - 1) as f32).max(1e-3)),
    };
    let chosen = skin::Span {
        from,
        to: from + step * (frames - 1) as f32,
        fps: 1.0 / step,
    };
    if let Some(Compare::Contact) = args.compare {
        return draw_contact(character, args, look, &clip, (span.from, chosen), console);
    }
    let methods = match args.compare {
        Some(Compare::Methods) => vec![Method::Lbs, Method::Dqs, Method::Cor, Method::Tissue],
        _ => vec![commands::method(args.method)],
    };
    let settings = commands::settings(&args.input, &args.tissue)?;
    if character.body().is_some() {
        return draw_moving_layers(character, args, look, &settings, &clip, chosen, console);
    }
    let progress = console.progress("skinning", frames * methods.len());
    let motions = methods
        .iter()
        .map(|&method| {
            let open = |flesh: &Flesh| {
                commands::say_shells(&flesh.report.shells, console);
                commands::backend(args.backend, &flesh.model, console).backend
            };
            let done = &mut |_| progress.step();
            moments(character, &clip, method, &settings, chosen, &open, done)
        })
        .collect::<Result<Vec<_>, _>>()?;
    drop(progress);
    let differences = Differences::from_first(&motions);
    let mut tiles = Vec::new();
    for (row, (moments, method)) in motions.iter().zip(&methods).enumerate() {
        let name = if methods.len() > 1 { method.name() } else { "" };
        for (frame, moment) in moments.iter().enumerate() {
            let time = chosen.from + frame as f32 / chosen.fps;
            let is_compared = row > 0;
            tiles.push(Tile {
                caption: format!("{name} {time:.2} s").trim_start().to_owned(),
                positions: &moment.positions,
                pose: Some(&moment.pose),
                tints: is_compared.then(|| differences.tints(row, frame)),
                legend: is_compared.then(|| differences.legend()),
                // Only tissue touches colliders; they are drawn for every method.
                colliders: motions.last().map_or(&[], |last| &last[frame].colliders),
            });
        }
    }
    let columns = match methods.len() {
        1 => even_rows(frames),
        _ => frames,
    };
    commands::say_choice(character, &args.motion, &clip, console);
    let _drawing = console.progress("drawing", 1);
    Ok(sheet(
        character,
        &format!("{}: {}", character.name, clip.name),
        &tiles,
        columns,
        look,
    ))
}

/// Rows of equal length, at most six tiles.
pub(super) fn even_rows(frames: usize) -> usize {
    frames.div_ceil(frames.div_ceil(6))
}

/// A character in one frame.
pub(super) struct Moment {
    pub positions: Vec<Vec<Vec3>>,
    pub pose: supple::Pose,
    pub colliders: Vec<Collider>,
}

/// Moves a character's skin at the times of a span; `open` makes the backend for tissue.
fn moments(
    character: &Subject,
    clip: &Clip,
    method: Method,
    settings: &supple::flesh::Settings,
    span: skin::Span,
    open: &dyn Fn(&Flesh) -> Box<dyn Backend>,
    frame_done: &mut dyn FnMut(usize),
) -> Result<Vec<Moment>, Failure> {
    if method != Method::Tissue {
        let motion = skin::skin(character, clip, method, settings, span, frame_done)?;
        let frames = motion.frames.iter().zip(&motion.poses);
        let moments = frames.map(|(positions, pose)| Moment {
            positions: positions.into_owned(),
            pose: pose.clone(),
            colliders: Vec::new(),
        });
        return Ok(moments.collect());
    }
    let mut body = SoftBody::new(character, settings.clone())?;
    body.set_backend(open(body.flesh()));
    let mut moments = Vec::new();
    let times = span.times();
    follow(&mut body, character, clip, &times, &mut |frame, body| {
        let mut positions = body.positions();
        add_morphs(character, clip, times[frame], body.pose(), &mut positions);
        moments.push(Moment {
            positions,
            pose: body.pose().clone(),
            colliders: body.colliders_now(),
        });
        frame_done(frame);
        Ok(())
    })?;
    Ok(moments)
}
