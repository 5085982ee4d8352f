//! Comparison of methods on the same motion, measured with the same tets.

use std::time::Instant;

use serde::Serialize;
use supple_flesh::Flesh;
use supple_rig::bake::Motion;
use supple_rig::{Character, Clip};
use supple_sim::{State, measure};

use supple::morphs::with_morphs;
use supple::play::{Recording, follow};
use supple::skin::{Method, Span, skin};
use supple::tissue::{SoftBody, TissueError};

/// Stride of the measured frames. Measuring takes as long as a frame, and poses change little in between.
const SAMPLE_STRIDE: usize = 4;

/// Result of one method.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Its name.
    pub method: &'static str,
    /// Smallest tissue volume around the joint over the motion, relative to rest.
    pub joint_volume: f64,
    /// Smallest volume of a tet over the motion, relative to rest; negative if inverted.
    pub worst_tet: f64,
    /// Largest share of inverted tets over the motion.
    pub inverted: f64,
    /// Median time of a frame \[ms\].
    pub ms_per_frame: f64,
    /// The motion.
    #[serde(skip)]
    pub motion: Motion,
}

/// Plays a clip with several methods and measures each around a joint.
///
/// Geometric methods have no tissue, so the tets of `body` are placed between its bones and their skin.
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
                frame_done(frame);
                last = Instant::now();
            };
            let (motion, worst) = match method {
                Method::Tissue => of_tissue(body, character, clip, joint, span, &mut timed)?,
                _ => {
                    let settings = &body.flesh().settings;
                    let motion = skin(character, clip, method, settings, span, &mut timed)?;
                    let worst = of_skin(body.flesh(), joint, &motion)?;
                    (motion, worst)
                }
            };
            times.sort_by(f64::total_cmp);
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

/// Worst values over a motion.
struct Worst {
    joint_volume: f64,
    tet: f64,
    inverted: f64,
}

impl Worst {
    const NONE: Worst = Worst {
        joint_volume: f64::INFINITY,
        tet: f64::INFINITY,
        inverted: 0.0,
    };

    fn add(&mut self, flesh: &Flesh, joint: usize, state: &State) {
        let volume = flesh.joint_volume(joint, state);
        let quality = measure(&flesh.model, state);
        let share = quality.inverted as f64 / flesh.model.tets().len().max(1) as f64;
        self.joint_volume = self.joint_volume.min(volume.map_or(f64::NAN, |(v, _)| v));
        self.tet = self.tet.min(quality.worst);
        self.inverted = self.inverted.max(share);
    }
}

/// Simulated tissue, measured.
fn of_tissue(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    joint: usize,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Result<(Motion, Worst), TissueError> {
    let (mut recording, mut worst) = (Recording::of(body), Worst::NONE);
    let times = span.times();
    follow(body, character, clip, &times, &mut |frame, body| {
        recording.push(body);
        frame_done(frame);
        if frame % SAMPLE_STRIDE == 0 {
            worst.add(body.flesh(), joint, body.state());
        }
        Ok(())
    })?;
    let motion = with_morphs(recording.motion(span.fps), character, clip, &times);
    Ok((motion, worst))
}

/// Tets between the bones and a skin by a geometric method.
fn of_skin(flesh: &Flesh, joint: usize, motion: &Motion) -> Result<Worst, TissueError> {
    let mut worst = Worst::NONE;
    for (parts, pose) in motion
        .frames
        .iter()
        .zip(&motion.poses)
        .step_by(SAMPLE_STRIDE)
    {
        let state = flesh.state_of_skin(pose, &parts)?;
        worst.add(flesh, joint, &state);
    }
    Ok(worst)
}
