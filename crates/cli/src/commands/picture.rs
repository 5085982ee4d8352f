//! `supple picture`

use supple::anatomy::Template;
use supple::flesh::Flesh;
use supple::glam::Vec3;
use supple::inside::Inside;
use supple::layers::Layered;
use supple::morphs::add_morphs;
use supple::play::follow;
use supple::rig::Part;
use supple::rig::joint_lookup::{find_joint, places};
use supple::sim::{Backend, Collider};
use supple::skin::Method;
use supple::tissue::SoftBody;
use supple::{Character, Clip, skin};
use supple_lab::compare_contact::{INSIDE, compare_contact};
use supple_lab::sheet::{Look, Tile, sheet};
use supple_lab::template_sheet::{layers_sheet, muscle_colours, regions_sheet};
use supple_lab::upsampling::{NEIGHBOURS, UpsamplingStudy, upsampling_sheet};
use supple_picture::colour::to_srgb;
use supple_picture::{Image, Legend, Ramp, Tint, heat_colours};

use super::Anatomy;
use crate::args::{self, Compare, View};
use crate::console::{Console, Failure};
use crate::output::check_png;

/// Enlargement of a joint in focus.
const FOCUS_ZOOM: f32 = 4.0;
/// Most pixels of a sheet: 1 GB.
const MOST_PIXELS: f64 = 250e6;
/// Share of the colour scale at which a colour covers a texture completely.
const COVERED: f32 = 0.25;

/// Draws a character.
pub fn run(args: &args::Picture, console: &Console) -> Result<(), Failure> {
    check_png(&args.output)?;
    check_size(args)?;
    let wants_motion = args.motion.clip.is_some() || args.motion.motion.is_some();
    let is_layered = args.layers || super::is_template(&args.input.file);
    if args.regions || (is_layered && !wants_motion) {
        return draw_layers(args, console);
    }
    let moves = wants_motion || args.compare.is_some();
    let anatomy = super::load_anatomy(&args.input, args.layers)?;
    let character = match &anatomy {
        Some(anatomy) => anatomy.body.character.clone(),
        None if moves || args.bones || args.focus.is_some() => {
            super::load_bound(&args.input, false, console)?
        }
        None => super::load(&args.input)?,
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
        draw_motion(&character, anatomy.as_ref(), args, &look, console)?
    };
    image.save_png(&args.output)?;
    let path = args.output.display().to_string();
    console.result(
        format!("wrote {path}"),
        &serde_json::json!({ "output": path }),
    );
    Ok(())
}

/// Draws the layers of a template.
fn draw_layers(args: &args::Picture, console: &Console) -> Result<(), Failure> {
    let template = super::load_template(&args.input.file)?;
    let draw = if args.regions {
        regions_sheet
    } else {
        layers_sheet
    };
    draw(&template, args.size.into()).save_png(&args.output)?;
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

fn draw_motion(
    character: &Character,
    anatomy: Option<&Anatomy>,
    args: &args::Picture,
    look: &Look,
    console: &Console,
) -> Result<Image, Failure> {
    let (clip, span) = super::choose(character, &args.motion, Method::Tissue, console)?;
    if let Some(Compare::Upsample) = args.compare {
        if args.focus.is_some() || args.zoom.is_some() {
            return Err(Failure::new(
                "--compare upsample shows the place of its largest error",
                "leave out --focus and --zoom",
            ));
        }
        let settings = super::settings(&args.input, &args.tissue)?;
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
        _ => vec![super::method(args.method)],
    };
    let settings = super::settings(&args.input, &args.tissue)?;
    if let Some(anatomy) = anatomy {
        return draw_moving_layers(anatomy, args, look, &settings, &clip, chosen, console);
    }
    let progress = console.progress("skinning", frames * methods.len());
    let motions = methods
        .iter()
        .map(|&method| {
            let open = |flesh: &Flesh| {
                super::say_shells(&flesh.report.shells, console);
                super::backend(args.backend, &flesh.model, console).backend
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
    super::say_choice(character, &args.motion, &clip, console);
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
fn even_rows(frames: usize) -> usize {
    frames.div_ceil(frames.div_ceil(6))
}

/// A layered body in frames of a clip: its skin, and with --layers also its muscles and bones.
fn draw_moving_layers(
    anatomy: &Anatomy,
    args: &args::Picture,
    look: &Look,
    settings: &supple::flesh::Settings,
    clip: &Clip,
    span: skin::Span,
    console: &Console,
) -> Result<Image, Failure> {
    let Layered { character, layers } = &anatomy.body;
    let builder = SoftBody::builder(character).settings(settings.clone());
    let mut body = builder.layers(layers).build()?;
    body.set_backend(super::backend(args.backend, &body.flesh().model, console).backend);
    let times = span.times();
    let progress = console.progress("simulating", times.len());
    let mut moments = Vec::new();
    let inside = (args.layers).then(|| Inside::new(&anatomy.template, body.flesh()));
    follow(&mut body, character, clip, &times, &mut |_, body| {
        let mut positions = body.positions();
        if let Some(inside) = &inside {
            positions.extend(inside.positions(body));
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
    let shown = match &inside {
        Some(_) => &[(0..1, "skin"), (1..3, "muscles"), (2..3, "bones")][..],
        None => &[(0..1, "")][..],
    };
    let whole = match &inside {
        Some(inside) => inside.character(character),
        None => character.clone(),
    };
    let tints = muscle_tints(&anatomy.template, &whole);
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

/// Colours of skin, muscles and bones.
fn muscle_tints(template: &Template, whole: &Character) -> Vec<Tint> {
    let tint = |(index, part): (usize, &Part)| {
        let count = part.mesh.positions.len();
        let material = part.material.and_then(|m| whole.materials.get(m));
        let own = material.map_or(Vec3::ONE, |m| to_srgb(m.base_color.truncate()));
        Tint {
            colours: match index {
                1 => muscle_colours(template),
                _ => vec![own; count],
            },
            strengths: vec![1.0; count],
        }
    };
    whole.parts.iter().enumerate().map(tint).collect()
}

/// A character in one frame.
struct Moment {
    positions: Vec<Vec<Vec3>>,
    pose: supple::Pose,
    colliders: Vec<Collider>,
}

/// Moves a character's skin at the times of a span; `open` makes the backend for tissue.
fn moments(
    character: &Character,
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

fn draw_contact(
    character: &Character,
    args: &args::Picture,
    look: &Look,
    clip: &Clip,
    (start, shown): (f32, skin::Span),
    console: &Console,
) -> Result<Image, Failure> {
    let settings = super::settings(&args.input, &args.tissue)?;
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

/// Distances of every vertex to the same vertex of the first method, with one scale for all of them.
struct Differences {
    /// By method, frame, part and vertex \[m\].
    distances: Vec<Vec<Vec<Vec<f32>>>>,
    largest: f32,
}

impl Differences {
    fn from_first(motions: &[Vec<Moment>]) -> Self {
        let between = |a: &Moment, b: &Moment| -> Vec<Vec<f32>> {
            let parts = a.positions.iter().zip(&b.positions);
            parts
                .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a.distance(*b)).collect())
                .collect()
        };
        let of = |moments: &Vec<Moment>| {
            let pairs = moments.iter().zip(&motions[0]);
            pairs.map(|(own, first)| between(own, first)).collect()
        };
        let distances: Vec<Vec<Vec<Vec<f32>>>> = motions.iter().map(of).collect();
        let all = distances.iter().flatten().flatten().flatten();
        let largest = all.fold(1e-4f32, |largest, &distance| largest.max(distance));
        Self { distances, largest }
    }

    /// Colours of every part; on a texture they show where there is a difference.
    fn tints(&self, method: usize, frame: usize) -> Vec<Tint> {
        let parts = self.distances[method][frame].iter();
        let tint = |part: &Vec<f32>| Tint {
            colours: heat_colours(part, 0.0, self.largest, Ramp::default()),
            strengths: (part.iter())
                .map(|distance| (distance / (COVERED * self.largest)).min(1.0))
                .collect(),
        };
        parts.map(tint).collect()
    }

    fn legend(&self) -> Legend {
        Legend {
            high: self.largest * 1000.0,
            title: "from linear blend [mm]".to_owned(),
            ..Legend::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tiles_share_one_colour_scale() {
        let moment = |x: f32| Moment {
            positions: vec![vec![Vec3::ZERO, Vec3::X * x]],
            pose: supple::Pose::rest(&Default::default()),
            colliders: Vec::new(),
        };
        let first = vec![moment(0.0), moment(0.0)];
        let second = vec![moment(0.1), moment(0.4)];
        let differences = Differences::from_first(&[first, second]);
        assert_eq!(differences.legend().high, 400.0);
        let [near, far] = [0, 1].map(|frame| differences.tints(1, frame).remove(0));
        let ramp = |t: f32| Ramp::default().at(t);
        assert_eq!(near.colours, [ramp(0.0), ramp(0.25)]);
        assert_eq!(far.colours, [ramp(0.0), ramp(1.0)]);
        assert_eq!((near.strengths, far.strengths[0]), (vec![0.0, 1.0], 0.0));
    }
}
