//! Which sex a body has, after both have been bent to it.
//!
//! The body space is a made one: that the one or the other is nearer to a scan says little about real people. What decides are the
//! body's measures among those of real men and women ([`soldiers`]); the distances of both skins from the scan add a little.

use std::sync::OnceLock;

use glam::{DVec3, Vec3};
use supple_geom::shells::shells;

use super::quality::Measured;
use super::unpose::Unposed;
use crate::body_model::{BodyModel, Figure};
use crate::composition::{Measures, Tape, soldiers};
use crate::{Body, Sex};

/// Relative difference of the distances of both skins from the scan that makes one sex e times as likely, and the most they add to the
/// logarithm of the odds. Where real men were bent to by both spaces, the difference was 0.064 for the right sex; bodies of the space
/// differ by more, which says nothing about people, so that the distances alone never make anybody sure.
const MISS_SCALE: f64 = 0.06;
const MOST_OF_MISSES: f64 = 1.2;
/// Factor on the logarithm of the odds. See `examples/scans --soldiers`.
const TEMPERATURE: f64 = 0.9;
/// Nobody is surer by the shape: 2 % of soldiers are on the wrong side of their ten measures.
const SUREST: f64 = 0.99;

/// A body of one sex bent to a scan.
pub(super) struct Candidate {
    pub model: &'static BodyModel,
    pub figure: Figure,
    pub skin: Vec<DVec3>,
    pub measured: Measured,
    pub unposed: Unposed,
}

/// Probability that the body is a man's, by two candidates.
pub(super) fn probability_of_man(male: &Candidate, female: &Candidate) -> f64 {
    let measures: Vec<Measures> = [male, female].iter().filter_map(|c| c.measures()).collect();
    let shape = soldiers::log_odds_of_man(&measures);
    let regions = male.measured.regions.iter().zip(&female.measured.regions);
    let differences = regions.map(|(m, f)| (f - m) / (f + m).max(1e-9));
    let mean = differences.sum::<f64>() / male.measured.regions.len() as f64;
    let misses = (mean / MISS_SCALE).clamp(-MOST_OF_MISSES, MOST_OF_MISSES);
    let odds = TEMPERATURE * (shape + misses);
    (1.0 / (1.0 + (-odds).exp())).clamp(1.0 - SUREST, SUREST)
}

impl Candidate {
    /// Girths and lengths in the rest pose.
    pub fn measures(&self) -> Option<Measures> {
        let (tape, vertices) = tape(self.model)?;
        let skin: Vec<Vec3> = (vertices.iter())
            .map(|&v| self.unposed.vertices[v as usize].as_vec3())
            .collect();
        let joints: Vec<Vec3> = (self.unposed.rest_joints.iter())
            .map(|j| j.as_vec3())
            .collect();
        Some(tape.measures(&skin, &joints))
    }
}

/// The tape of a body space, and the space's vertices that it measures; made once.
fn tape(model: &BodyModel) -> Option<&'static (Tape, Vec<u32>)> {
    type Made = OnceLock<Option<(Tape, Vec<u32>)>>;
    static TAPES: [Made; 2] = [OnceLock::new(), OnceLock::new()];
    let slot = match model.sex {
        Sex::Male => &TAPES[0],
        Sex::Female => &TAPES[1],
    };
    slot.get_or_init(|| {
        let body = mean_body(model);
        Some((Tape::new(&body).ok()?, body.file_vertices))
    })
    .as_ref()
}

/// The mean body of a space with its rig, feet at y = 0.
fn mean_body(model: &BodyModel) -> Body {
    let count = model.vertex_count();
    let mut mesh = model.mesh(&(0..count).map(|v| model.mean_point(v)).collect::<Vec<_>>());
    let low = mesh.bounds().min.y;
    mesh.positions.iter_mut().for_each(|p| p.y -= low);
    let joints: Vec<DVec3> = (count..count + model.joint_count())
        .map(|point| model.mean_point(point) - f64::from(low) * DVec3::Y)
        .collect();
    let found = shells(&mesh);
    let rows = found.triangles();
    let largest = (0..rows.len()).max_by_key(|&shell| rows.row(shell).len());
    let shell = found.extract(&mesh, largest.unwrap_or(0) as u32);
    let influences = (shell.whole_vertex.iter())
        .map(|&v| {
            let weights = model.weights[v as usize].iter();
            let weights = weights.filter(|(_, weight)| *weight > 0.0);
            weights.map(|&(joint, w)| (u32::from(joint), w)).collect()
        })
        .collect();
    Body {
        sex: model.sex,
        mesh: shell.mesh,
        file_vertices: shell.whole_vertex,
        skeleton: model.skeleton(&joints),
        influences,
    }
}
