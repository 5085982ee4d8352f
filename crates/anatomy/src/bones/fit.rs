//! The placing as one least-squares problem over all segments, solved by damped Gauss-Newton steps.
//!
//! Unknown are a shift, a turn and one to three scales of each segment. Residuals, each over its standard deviation:
//! joints (nearly hard), depth of bone vertices below their margin, depth at sites, distance of joints from the body's, scales from
//! the body's size and from their neighbours', turns from the start, and bends between vertebrae.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use glam::{DMat3, DQuat, DVec3};
use supple_geom::Surface;
use supple_geom::least_squares::{
    Damping, FitError, Residual, Rows, Settings, SparseNormal, Variables, minimise,
};

use super::articulations::Articulation;
use super::read::{BoneError, BoneSet};
use super::residuals::{System, Vertex};
use super::segments::Segment;
use super::sites::Site;
use super::targets::Targets;

/// Bounds of scales against the body's size: beyond them bones would look squashed or swollen.
pub(super) const SCALE_BOUNDS: [f64; 2] = [0.8, 1.2];
/// Most steps, and the step below which nothing changes that could be seen \[m\].
const STEPS: usize = 60;
const STILL: f64 = 1e-4;
/// Most that one step measures \[m\]: a bound for bones that are far off. Steps of sound bones are below 0.1.
const LARGEST_STEP: f64 = 0.5;
/// Longest turn of a segment in one step \[rad\]: longer ones come from residuals that are far from linear.
const LONGEST_TURN: f64 = 0.3;
/// Length by which turns and scales are compared with shifts \[m\].
const LEVER: f64 = 0.1;

/// A body's skin and what is asked of the bones in it.
pub(super) struct Problem<'a> {
    pub set: &'a BoneSet,
    pub skin: &'a Surface,
    pub joints: &'a [Articulation],
    pub sites: &'a [Site],
    pub targets: &'a Targets,
    pub size: f64,
    /// How far the body's joints are from being symmetric \[m\].
    pub asymmetry: f64,
}

/// The segments as what is fitted.
#[derive(Clone)]
struct Placed {
    segments: Vec<Segment>,
    /// First unknown of each.
    starts: Vec<u32>,
    unknowns: usize,
    size: f64,
}

impl Placed {
    fn new(segments: &[Segment], size: f64) -> Placed {
        let (mut starts, mut unknowns) = (Vec::new(), 0);
        for segment in segments {
            starts.push(unknowns as u32);
            unknowns += 6 + segment.map.scales();
        }
        Placed {
            segments: segments.to_vec(),
            starts,
            unknowns,
            size,
        }
    }
}

impl Variables<1> for Placed {
    fn unknowns(&self) -> usize {
        self.unknowns
    }

    fn advance(&mut self, step: &[[f64; 1]]) {
        for (segment, &start) in self.segments.iter_mut().zip(&self.starts) {
            let d = |k: usize| step[start as usize + k][0];
            let placed = &mut segment.placed;
            placed.at += DVec3::new(d(0), d(1), d(2));
            let turn = DVec3::new(d(3), d(4), d(5)).clamp_length_max(LONGEST_TURN);
            let quat = DQuat::from_scaled_axis(turn) * DQuat::from_mat3(&placed.turn);
            placed.turn = DMat3::from_quat(quat.normalize());
            for k in 0..segment.map.scales() {
                let [low, high] = SCALE_BOUNDS.map(|bound| bound * self.size);
                placed.scales[k] = (placed.scales[k] + d(6 + k)).clamp(low, high);
            }
        }
    }

    /// Largest part of a step, as a length \[m\].
    fn length(&self, step: &[[f64; 1]]) -> f64 {
        let mut most = 0.0_f64;
        for (segment, &start) in self.segments.iter().zip(&self.starts) {
            let own = &step[start as usize..][..6 + segment.map.scales()];
            for (k, [d]) in own.iter().enumerate() {
                most = most.max(d.abs() * if k < 3 { 1.0 } else { LEVER });
            }
        }
        most
    }
}

/// All residuals at once.
struct All<'a> {
    problem: &'a Problem<'a>,
    index: &'a BTreeMap<String, usize>,
    /// Vertices of bones, with what is known of their depths.
    vertices: Mutex<Vec<Vertex>>,
    /// Steps so far.
    round: AtomicUsize,
}

impl Residual<Placed, 1> for All<'_> {
    fn linearise(&self, placed: &Placed, _: usize, rows: &mut dyn Rows<1>) {
        let system = System {
            problem: self.problem,
            segments: &placed.segments,
            starts: &placed.starts,
            index: self.index,
        };
        system.damping(rows, self.round.load(Ordering::Relaxed));
        system.joints(rows);
        system.targets(rows);
        system.sites(rows);
        system.priors(rows);
        system.neighbours(rows);
        system.midline(rows);
        system.bends(rows);
        let mut vertices = (self.vertices.lock()).unwrap_or_else(PoisonError::into_inner);
        system.inside(rows, &mut vertices);
    }
}

/// Moves the segments to the minimum.
pub(super) fn fit(problem: &Problem, segments: &mut [Segment]) -> Result<(), BoneError> {
    let index: BTreeMap<String, usize> = (segments.iter().enumerate())
        .map(|(i, segment)| (segment.name.clone(), i))
        .collect();
    let mut vertices = Vec::new();
    for (s, segment) in segments.iter().enumerate() {
        for &bone in &segment.bones {
            for p in &problem.set.bones[bone].mesh.positions {
                let basis = segment.map.basis(p.as_dvec3());
                vertices.push(Vertex {
                    segment: s,
                    basis,
                    known: (DVec3::INFINITY, 0.0),
                });
            }
        }
    }
    let all = All {
        problem,
        index: &index,
        vertices: Mutex::new(vertices),
        round: AtomicUsize::new(0),
    };
    let settings = Settings {
        steps: STEPS,
        // Residuals of their own hold every step.
        damping: Damping::NONE,
        largest_step: LARGEST_STEP,
        still: STILL,
    };
    let mut placed = Placed::new(segments, problem.size);
    let residuals: [&dyn Residual<Placed, 1>; 1] = [&all];
    let mut equations = SparseNormal::new();
    let fitted = minimise(
        &mut placed,
        &residuals,
        &mut equations,
        &settings,
        &mut |progress| {
            all.round.store(progress.steps, Ordering::Relaxed);
            ControlFlow::Continue(())
        },
    );
    fitted.map_err(|error| BoneError::Placing {
        reason: match error {
            FitError::NotFinite => {
                "the equations have no finite solution; check the bones for far-off vertices"
                    .to_owned()
            }
            other => other.to_string(),
        },
    })?;
    segments.clone_from_slice(&placed.segments);
    Ok(())
}
