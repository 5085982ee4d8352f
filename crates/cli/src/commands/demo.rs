//! `supple demo`

use std::time::Instant;

use serde::Serialize;
use supple::bake::Motion;
use supple::embedded::{Body, body, clip};
use supple::export::{Bake, export};
use supple::sheet::{Look, Tile, sheet};
use supple::skin::{Method, Span, skin_geometric};
use supple::tissue::{SoftBody, simulate};
use supple::{Character, Clip, rig};

use crate::args;
use crate::console::{Console, Failure};

/// One line of the table.
#[derive(Serialize)]
struct Row {
    method: &'static str,
    /// Volume of the body against rest, at its least over the clip.
    volume_kept: f64,
    ms_per_frame: f64,
    /// Least determinant of a tet against rest; only tissue has tets.
    worst_tet: Option<f64>,
}

/// Moves the embedded body over an embedded clip by three methods.
pub fn run(args: &args::Demo, console: &Console) -> Result<(), Failure> {
    let character = body(Body::Male)?;
    let clip = clip("squat", &character)?;
    let span = Span::all(&clip, 30.0);
    let frames = span.times().len();
    let progress = console.progress("simulating", 3 * frames);
    let mut soft = SoftBody::new(&character, Default::default())?;
    let shown = frames / 2;

    let mut motions = Vec::new();
    let mut rows = Vec::new();
    for method in [Method::Lbs, Method::Dqs, Method::Tissue] {
        let mut worst = None;
        let start = Instant::now();
        let motion = match method {
            Method::Tissue => {
                let motion =
                    simulate(&mut soft, &character, &clip, span, &mut |_| progress.step())?;
                worst = Some(f64::from(soft.quality().worst));
                motion
            }
            Method::Dqs => geometric(&character, &clip, rig::skinning::Method::Dqs, span, &|| {
                progress.step()
            }),
            _ => geometric(&character, &clip, rig::skinning::Method::Lbs, span, &|| {
                progress.step()
            }),
        };
        let ms_per_frame = start.elapsed().as_secs_f64() * 1e3 / frames as f64;
        rows.push(Row {
            method: method.name(),
            volume_kept: 0.0,
            ms_per_frame,
            worst_tet: worst,
        });
        motions.push((method, motion));
    }
    drop(progress);
    Ok(())
}
