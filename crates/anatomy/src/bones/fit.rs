//! The placing as one least-squares problem over all segments, solved by damped Gauss-Newton steps.
//!
//! Unknown are a shift, a turn and one to three scales of each segment. Residuals, each over its standard deviation:
//! joints (nearly hard), depth of bone vertices below their margin, depth at sites, distance of joints from the body's, scales from
//! the body's size and from their neighbours', turns from the start, and bends between vertebrae.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};
use supple_geom::Surface;

use super::articulations::Articulation;
use super::read::{BoneError, BoneSet};
use super::residuals::{Normal, System, Vertex};
use super::segments::Segment;
use super::sites::Site;
use super::targets::Targets;

/// Bounds of scales against the body's size: beyond them bones would look squashed or swollen.
pub(super) const SCALE_BOUNDS: [f64; 2] = [0.8, 1.2];
/// Most steps, and the step below which nothing changes that could be seen \[m\].
const STEPS: usize = 60;
const STILL: f64 = 1e-4;
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

/// Moves the segments to the minimum.
pub(super) fn fit(problem: &Problem, segments: &mut [Segment]) -> Result<(), BoneError> {
    let mut starts = Vec::new();
    let mut n = 0;
    for segment in segments.iter() {
        starts.push(n);
        n += 6 + segment.map.scales();
    }
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
    for round in 0..STEPS {
        let mut normal = Normal {
            n,
            matrix: vec![0.0; n * n],
            right: vec![0.0; n],
        };
        let system = System {
            problem,
            segments,
            starts: &starts,
            index: &index,
        };
        system.damping(&mut normal, round);
        system.joints(&mut normal);
        system.targets(&mut normal);
        system.sites(&mut normal);
        system.priors(&mut normal);
        system.neighbours(&mut normal);
        system.midline(&mut normal);
        system.bends(&mut normal);
        system.inside(&mut normal, &mut vertices);
        let step = normal
            .solve()
            .map_err(|reason| BoneError::Placing { reason })?;
        if step.iter().any(|x| !x.is_finite()) {
            let reason =
                "the equations have no finite solution; check the bones for far-off vertices"
                    .to_owned();
            return Err(BoneError::Placing { reason });
        }
        apply(segments, &starts, &step, problem.size);
        if largest(segments, &starts, &step) < STILL {
            break;
        }
    }
    Ok(())
}

/// Largest part of a step, as a length \[m\].
fn largest(segments: &[Segment], starts: &[usize], step: &[f64]) -> f64 {
    let mut most = 0.0_f64;
    for (segment, &start) in segments.iter().zip(starts) {
        for (k, d) in step[start..start + 6 + segment.map.scales()]
            .iter()
            .enumerate()
        {
            most = most.max(d.abs() * if k < 3 { 1.0 } else { LEVER });
        }
    }
    most
}

fn apply(segments: &mut [Segment], starts: &[usize], step: &[f64], size: f64) {
    for (segment, &start) in segments.iter_mut().zip(starts) {
        let d = &step[start..];
        let placed = &mut segment.placed;
        placed.at += DVec3::new(d[0], d[1], d[2]);
        let turn = DVec3::new(d[3], d[4], d[5]);
        // Long turns are cut: they come from residuals that are far from linear.
        let turn = turn.clamp_length_max(0.3);
        let quat = DQuat::from_scaled_axis(turn) * DQuat::from_mat3(&placed.turn);
        placed.turn = DMat3::from_quat(quat.normalize());
        for k in 0..segment.map.scales() {
            let [low, high] = SCALE_BOUNDS.map(|bound| bound * size);
            placed.scales[k] = (placed.scales[k] + d[6 + k]).clamp(low, high);
        }
    }
}
