//! The full skin above the simulation mesh [3.2.4].

use glam::Vec3;
use supple_geom::TriMesh;
use supple_geom::mls::Basis;

use crate::normal_displacement::{NormalDisplacement, Workspace};
use crate::settings::Upsample;
use crate::upsample::{NEIGHBOURS, Samples, Upsampling, fill_samples};

/// How skin vertices follow simulated ones.
#[derive(Clone, Debug)]
pub enum Upsampler {
    /// Moving least squares.
    LeastSquares(Upsampling),
    /// Normal displacements.
    Normals(NormalDisplacement),
}

/// Everything between the simulation mesh and the full skin.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The full welded flesh in bind pose.
    pub mesh: TriMesh,
    /// For each simulated vertex (column) its vertex of the full skin.
    pub kept: Vec<u32>,
    /// How the others follow.
    pub upsampler: Upsampler,
    /// Original vertex that each vertex of the full skin stands for.
    pub(crate) original_of: Vec<u32>,
    /// Skin vertices that follow the pose alone, and how much.
    pub(crate) kinematic: Vec<(u32, f32)>,
}

/// Scratch space of a frame, to be kept from one to the next.
#[derive(Clone, Debug, Default)]
pub struct DetailWork {
    samples: Samples,
    displacement: Workspace,
}

impl Upsampler {
    /// Binds the vertices of `skin` to those of the simulation mesh, which are `kept`.
    pub fn new(skin: &TriMesh, kept: &[u32], coarse: &TriMesh, upsample: Upsample) -> Self {
        let basis = match upsample {
            Upsample::Quadratic => Basis::Quadratic,
            Upsample::Linear => Basis::Linear,
            Upsample::Normals => return Self::Normals(NormalDisplacement::new(skin, coarse)),
        };
        Self::LeastSquares(Upsampling::new(skin, kept, coarse, NEIGHBOURS, basis))
    }

    /// Positions and unit normals of all skin vertices, from positions of the simulated ones \[m\].
    pub fn apply(
        &self,
        coarse: &[[u32; 3]],
        simulated: &[Vec3],
        work: &mut DetailWork,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        match self {
            Self::LeastSquares(upsampling) => {
                fill_samples(coarse, simulated, &mut work.samples);
                upsampling.apply(&work.samples, positions, normals);
            }
            Self::Normals(displacement) => {
                displacement.apply(simulated, &mut work.displacement, positions, normals);
            }
        }
    }

    /// For every skin vertex how much of what it listens to is chosen.
    pub(crate) fn shares(&self, count: usize, chosen: &[bool]) -> Vec<f32> {
        let share = |entries: &mut dyn Iterator<Item = (usize, f32)>| {
            let (mut inside, mut all) = (0.0, 0.0);
            for (sample, weight) in entries {
                all += weight.max(0.0);
                inside += weight.max(0.0) * f32::from(chosen[sample]);
            }
            if all > 0.0 { inside / all } else { 0.0 }
        };
        (0..count)
            .map(|v| match self {
                Self::LeastSquares(upsampling) => share(&mut upsampling.of(v)),
                Self::Normals(displacement) => share(&mut displacement.of(v)),
            })
            .collect()
    }
}
