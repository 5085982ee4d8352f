//! The full skin, upsampled from the simulation mesh [3.2.4].

use glam::{DVec3, Vec3};
use supple_geom::TriMesh;
use supple_geom::decimate::Decimated;
use supple_geom::mls::Basis;

use crate::construction::simulation_mesh::{bending_points, simulation_mesh, target_count};
use crate::flesh::Flesh;
use crate::motion::regions::bending_joints;
use crate::settings::{self, Upsample};
use crate::upsampling::detail_cache::{CacheUse, DetailCache, Hasher, from_bytes, to_bytes};
use crate::upsampling::normal_displacement::{NormalDisplacement, Workspace};
use crate::upsampling::upsample::{NEIGHBOURS, Samples, Upsampling};

/// The scheme that moves skin vertices with the simulated ones.
#[derive(Clone, Debug)]
pub enum Upsampler {
    /// Moving least squares.
    LeastSquares(Box<Upsampling>),
    /// Normal displacements.
    Normals(NormalDisplacement),
}

/// The full skin and how it follows the simulation mesh.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The full welded flesh in bind pose.
    pub mesh: TriMesh,
    /// For each simulated vertex (column) the vertex of the full skin that it is.
    pub kept: Vec<u32>,
    /// How the full skin follows.
    pub upsampler: Upsampler,
    /// One original vertex of each welded vertex of the full skin.
    pub(crate) original_of: Vec<u32>,
    /// Skin vertices that are excluded from the simulation, by the file's weights.
    pub(crate) excluded: Vec<bool>,
    /// Skin vertices that follow the pose directly, and their blend factor.
    pub(crate) kinematic: Vec<(u32, f32)>,
}

/// Scratch space of an upsampling pass; reuse it between frames.
#[derive(Clone, Debug, Default)]
pub struct DetailWork {
    samples: Samples,
    displacement: Workspace,
}

impl Detail {
    /// For every vertex of the full skin whether it follows simulated vertices only, with no direct influence of the pose.
    pub fn is_upsampled(&self) -> Vec<bool> {
        let mut is_upsampled = vec![true; self.mesh.positions.len()];
        for &(v, _) in &self.kinematic {
            is_upsampled[v as usize] = false;
        }
        is_upsampled
    }
}

impl Upsampler {
    /// Binds the vertices of `skin` to the simulation mesh `coarse`, whose vertices are those `kept` of `skin`.
    pub fn new(skin: &TriMesh, kept: &[u32], coarse: &TriMesh, upsample: Upsample) -> Self {
        let basis = match upsample {
            Upsample::Quadratic => Basis::Quadratic,
            Upsample::Linear => Basis::Linear,
            Upsample::Normals => return Self::Normals(NormalDisplacement::new(skin, coarse)),
        };
        let upsampling = Upsampling::new(skin, kept, coarse, NEIGHBOURS, basis);
        Self::LeastSquares(Box::new(upsampling))
    }

    /// Positions and unit normals of all skin vertices, from positions of the simulated ones \[m\].
    pub fn apply(
        &self,
        simulated: &[Vec3],
        work: &mut DetailWork,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        match self {
            Self::LeastSquares(upsampling) => {
                work.samples.fill(&upsampling.rings, simulated);
                upsampling.apply(&work.samples, positions, normals);
            }
            Self::Normals(displacement) => {
                displacement.apply(simulated, &mut work.displacement, positions, normals);
            }
        }
    }

    /// For every skin vertex the share of its positive weights that falls on chosen simulated vertices.
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
                Self::LeastSquares(upsampling) => share(&mut upsampling.places.of(v)),
                Self::Normals(displacement) => share(&mut displacement.of(v)),
            })
            .collect()
    }
}

impl Flesh {
    /// Reads a cache as [`FleshBuilder::build`](crate::FleshBuilder::build) would, and returns what happened.
    pub fn reload_detail(&self, cache: &dyn DetailCache) -> CacheUse {
        let Some(detail) = &self.detail else {
            return CacheUse::Unused;
        };
        let bends = bending_points(&self.graph, &bending_joints(&self.character));
        let source = DetailSource {
            skin: &detail.mesh,
            bones: self.graph.bones.len(),
            bends: &bends,
            excluded: &detail.excluded,
            settings: &self.settings.detail,
        };
        source.load_or_build(Some(cache)).2
    }
}

/// Input of the simulation mesh and the upsampling weights.
pub(crate) struct DetailSource<'a> {
    pub skin: &'a TriMesh,
    /// Number of bones; skeletons with more bones get more vertices.
    pub bones: usize,
    /// Points where the body bends \[m\].
    pub bends: &'a [DVec3],
    /// Skin vertices that are excluded from the simulation; empty if not known.
    pub excluded: &'a [bool],
    pub settings: &'a settings::Detail,
}

impl DetailSource<'_> {
    /// The simulation mesh, and the upsampler unless the full skin is simulated. Read from the cache if it has them.
    pub fn load_or_build(
        &self,
        cache: Option<&dyn DetailCache>,
    ) -> (Decimated, Option<Upsampler>, CacheUse) {
        let vertices = self.skin.positions.len();
        let target = target_count(self.settings.resolution, vertices, self.bones);
        let is_kept = self.settings.upsample != Upsample::Normals;
        let Some(cache) = cache.filter(|_| is_kept && target < vertices) else {
            let (coarse, upsampler) = self.build(target);
            return (coarse, upsampler, CacheUse::Unused);
        };
        let key = self.key(target);
        let found = (cache.load()).map(|bytes| from_bytes(key, self.skin, &bytes));
        let cache_use = match found {
            Some(Ok((coarse, upsampling))) => {
                let upsampler = Upsampler::LeastSquares(Box::new(upsampling));
                return (coarse, Some(upsampler), CacheUse::Used);
            }
            Some(Err(reason)) => reason,
            None => CacheUse::Filled,
        };
        let (coarse, upsampler) = self.build(target);
        if let Some(Upsampler::LeastSquares(upsampling)) = &upsampler {
            cache.store(&to_bytes(key, &coarse, upsampling));
        }
        (coarse, upsampler, cache_use)
    }

    fn build(&self, target: usize) -> (Decimated, Option<Upsampler>) {
        let coarse = simulation_mesh(self.skin, self.bends, self.excluded, target);
        let upsampler = (coarse.kept.len() < self.skin.positions.len()).then(|| {
            Upsampler::new(
                self.skin,
                &coarse.kept,
                &coarse.mesh,
                self.settings.upsample,
            )
        });
        (coarse, upsampler)
    }

    /// A hash of everything the result depends on.
    fn key(&self, target: usize) -> u64 {
        let mut hasher = Hasher::default();
        hasher.slice(&self.skin.positions);
        hasher.slice(self.skin.triangles.as_flattened());
        for bend in self.bends {
            hasher.slice(&bend.to_array());
        }
        let excluded: Vec<u8> = self.excluded.iter().map(|&out| u8::from(out)).collect();
        hasher.bytes(&excluded);
        let basis = self.settings.upsample as u64;
        hasher.slice(&[target as u64, NEIGHBOURS as u64, basis]);
        hasher.finish()
    }
}
