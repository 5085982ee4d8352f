//! The same motion by several methods, measured with the same tets.

use std::time::Instant;

use serde::Serialize;
use supple_rig::bake::Motion;
use supple_rig::{Character, Clip};
use supple_sim::measure;

use crate::skin::{Method, Span, skin};
use crate::tissue::{SoftBody, TissueError, simulate};

/// Every so many frames are measured: poses change little in between, and a measure costs as much as a frame.
const SAMPLING: usize = 4;

/// How one method did.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Its name.
    pub method: &'static str,
    /// Tissue volume around the joint against rest, at its least over the motion.
    pub joint_volume: f64,
    /// Volume of the worst tet against rest, at its least over the motion; negative where it is inverted.
    pub worst_tet: f64,
    /// Share of the tets that are inverted, at its most over the motion.
    pub inverted: f64,
    /// Median time of a frame \[ms\].
    pub ms_per_frame: f64,
    /// The motion itself.
    #[serde(skip)]
    pub motion: Motion,
}

/// Plays a clip by several methods and measures each around a joint.
///
/// Geometric methods have no tissue of their own, so the tets of `body` are put between its bones and their skin.
pub fn compare(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    methods: &[Method],
    joint: usize,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Result<Vec<Comparison>, TissueError> {
    methods
        .iter()
        .map(|&method| {
            let mut times = Vec::new();
            let mut last = Instant::now();
            let mut timed = |frame: usize| {
                times.push(last.elapsed().as_secs_f64() * 1e3);
                last = Instant::now();
                frame_done(frame);
            };
            let motion = match method {
                Method::Tissue => simulate(body, character, clip, span, &mut timed)?,
                _ => skin(
                    character,
                    clip,
                    method,
                    &body.flesh().settings,
                    span,
                    &mut timed,
                )?,
            };
            times.sort_by(f64::total_cmp);
            let worst = worst(body, joint, &motion)?;
            Ok(Comparison {
                method: method.name(),
                joint_volume: worst.joint_volume,
                worst_tet: worst.tet,
                inverted: worst.inverted,
                ms_per_frame: times.get(times.len() / 2).copied().unwrap_or(0.0),
                motion,
            })
        })
        .collect()
}

struct Worst {
    joint_volume: f64,
    tet: f64,
    inverted: f64,
}

fn worst(body: &SoftBody, joint: usize, motion: &Motion) -> Result<Worst, TissueError> {
    let flesh = body.flesh();
    let mut worst = Worst {
        joint_volume: f64::INFINITY,
        tet: f64::INFINITY,
        inverted: 0.0,
    };
    for (parts, pose) in motion.frames.iter().zip(&motion.poses).step_by(SAMPLING) {
        let state = flesh.state_of_skin(pose, parts)?;
        let volume = flesh
            .joint_volume(joint, &state)
            .map_or(f64::NAN, |(volume, _)| volume);
        let quality = measure(&flesh.model, &state);
        let share = quality.inverted as f64 / flesh.model.tets().len().max(1) as f64;
        worst.joint_volume = worst.joint_volume.min(volume);
        worst.tet = worst.tet.min(quality.worst);
        worst.inverted = worst.inverted.max(share);
    }
    Ok(worst)
}
