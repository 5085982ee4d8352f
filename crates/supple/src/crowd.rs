//! Any number of bodies of one character on the graphics processor: poses go in, skins come out when asked.
//!
//! The whole step stays on the device: targets from the frames of bones and joints, tissue, contact of each body with itself, full
//! skin and normals.

use std::sync::Arc;

use glam::Vec3;
use supple_flesh::detail::Upsampler;
use supple_flesh::target_table::TargetTable;
use supple_flesh::{Flesh, FleshError};
use supple_geom::adjacency::NONE;
use supple_gpu::tables::Tables;
use supple_gpu::{
    FollowTables, Gpu, GpuBodies, GpuError, GpuSkin, Pending, SkinTables, Solver, unpack_skin,
};
use supple_rig::Pose;
use supple_sim::{Settings, State};

/// Why a crowd could not be made or moved.
#[derive(Debug, thiserror::Error)]
pub enum CrowdError {
    /// Device, model or settings.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A pose is not of this character.
    #[error(transparent)]
    Flesh(#[from] FleshError),
    /// Normal displacements are made on the processor alone.
    #[error("the graphics backend makes the full skin by moving least squares alone")]
    NormalDisplacements,
}

/// Bodies of one character.
pub struct Crowd<'a> {
    flesh: &'a Flesh,
    follows: TargetTable,
    bodies: GpuBodies,
    skin: GpuSkin,
}

/// The full welded flesh of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FullSkin {
    /// Where its vertices are \[m\].
    pub positions: Vec<Vec3>,
    /// Where they face, unit vectors.
    pub normals: Vec<Vec3>,
}

/// A full skin on its way back.
pub struct PendingSkin(Pending);

impl PendingSkin {
    /// The skin, if it has arrived; does not block.
    pub fn poll(&self) -> Option<Result<FullSkin, GpuError>> {
        self.0.poll().map(|rows| rows.map(|rows| full_skin(&rows)))
    }

    /// Waits for it.
    pub fn wait(self) -> Result<FullSkin, GpuError> {
        self.0.wait().map(|rows| full_skin(&rows))
    }
}

fn full_skin(rows: &[[f32; 4]]) -> FullSkin {
    let (positions, normals) = rows.iter().map(|&row| unpack_skin(row)).unzip();
    FullSkin { positions, normals }
}

impl<'a> Crowd<'a> {
    /// Puts `count` bodies at rest on the device.
    pub fn new(
        gpu: &Arc<Gpu>,
        flesh: &'a Flesh,
        settings: &Settings,
        count: u32,
    ) -> Result<Self, CrowdError> {
        let tables = Tables::new(&flesh.model, settings).map_err(GpuError::from)?;
        Self::with_tables(gpu, flesh, settings, tables, count, Solver::Patches)
    }

    /// The same with tables made before, and one of the solvers that are compared.
    pub fn with_tables(
        gpu: &Arc<Gpu>,
        flesh: &'a Flesh,
        settings: &Settings,
        tables: Tables,
        count: u32,
        solver: Solver,
    ) -> Result<Self, CrowdError> {
        let follows = flesh.target_table();
        let skin = skin_tables(flesh, &follows).ok_or(CrowdError::NormalDisplacements)?;
        let mut bodies =
            GpuBodies::with_tables(gpu, &flesh.model, settings, tables, count, solver)?;
        let mut table = FollowTables::default();
        let kinematic = follows.kinematic.iter().map(|(_, _, follows)| follows);
        let all = follows.driven.iter().chain(&follows.outside);
        all.chain(kinematic).for_each(|vertex| table.push(vertex));
        for &(frame, t) in &follows.bases {
            table.push_base(frame, t);
        }
        let frames = follows.rigid + follows.matrices.len() as u32;
        bodies.follow(&table, follows.rigid, frames)?;
        let skin = GpuSkin::new(&bodies, &skin)?;
        let crowd = Self {
            flesh,
            follows,
            bodies,
            skin,
        };
        for body in 0..count {
            crowd.set_pose(body, &flesh.rest_pose())?;
        }
        Ok(crowd)
    }

    /// The bodies on the device.
    pub fn bodies(&self) -> &GpuBodies {
        &self.bodies
    }

    /// Their skins there.
    pub fn skin(&self) -> &GpuSkin {
        &self.skin
    }

    /// Bytes of device memory held.
    pub fn memory(&self) -> u64 {
        self.bodies.memory() + self.skin.memory()
    }

    /// Sets the pose that a body goes to in the next step.
    pub fn set_pose(&self, body: u32, pose: &Pose) -> Result<(), FleshError> {
        let frames = self.flesh.pose_frames(&self.follows, pose)?;
        self.bodies.set_frames(body, &frames);
        Ok(())
    }

    /// Sets positions, velocities and contacts of a body.
    pub fn set_state(&self, body: u32, state: &State) {
        self.bodies.upload(body, state);
        let rest = self.flesh.model.rest_targets();
        self.bodies.upload_contacts(body, state, &rest);
    }

    /// One step of all bodies; returns at once.
    pub fn step(&self) -> Result<(), GpuError> {
        self.bodies.step()
    }

    /// Makes the full skins of all bodies and asks for that of one.
    pub fn request_skin(&self, body: u32) -> Result<PendingSkin, GpuError> {
        self.skin.update()?;
        Ok(PendingSkin(self.skin.request(body)))
    }
}

/// Weights of the full skin; `None` where it is made by normal displacements.
fn skin_tables(flesh: &Flesh, follows: &TargetTable) -> Option<SkinTables> {
    let index_of = flesh.model.index_of();
    let columns = flesh.columns().iter();
    let vertices: Vec<Option<u32>> = columns
        .map(|column| (column.skin != NONE).then(|| index_of[column.skin as usize]))
        .collect();
    let samples = vertices.len();
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    match flesh.detail().map(|detail| &detail.upsampler) {
        None => rows.extend((0..samples as u32).map(|v| vec![Entry::whole(v)])),
        Some(Upsampler::Normals(_)) => return None,
        Some(Upsampler::LeastSquares(upsampling)) => {
            for v in 0..upsampling.count {
                let mut row: Vec<Entry> = Vec::new();
                for (sample, weight) in upsampling.places.of(v) {
                    entry(&mut row, sample as u32).weights[0] += weight;
                }
                for (sample, weight) in upsampling.normals.of(v) {
                    entry(&mut row, sample as u32).weights[1] += weight;
                }
                // Those that give the normal come first: fewer are then read for it.
                row.sort_by_key(|entry| entry.weights[1] == 0.0);
                rows.push(row);
            }
            for offset in &upsampling.offsets {
                for &(sample, weight) in &offset.normals {
                    entry(&mut rows[offset.vertex as usize], sample).extra += weight;
                }
            }
        }
    }
    let kinematic = follows.kinematic.iter();
    let kinematic = kinematic.map(|&(v, share, _)| (v, share)).collect();
    Some(padded(
        vertices,
        &flesh.skin_mesh().triangles,
        &rows,
        kinematic,
    ))
}

/// What a skin vertex takes from one sample: weights of its place and of its normal, and of its normal for the place.
#[derive(Clone, Copy, Default)]
struct Entry {
    sample: u32,
    weights: [f32; 2],
    extra: f32,
}

impl Entry {
    fn whole(sample: u32) -> Self {
        Self {
            sample,
            weights: [1.0; 2],
            extra: 0.0,
        }
    }
}

fn entry(row: &mut Vec<Entry>, sample: u32) -> &mut Entry {
    let at = row.iter().position(|entry| entry.sample == sample);
    let at = at.unwrap_or_else(|| {
        row.push(Entry {
            sample,
            ..Entry::default()
        });
        row.len() - 1
    });
    &mut row[at]
}

/// Rows of equal length.
fn padded(
    vertices: Vec<Option<u32>>,
    triangles: &[[u32; 3]],
    rows: &[Vec<Entry>],
    kinematic: Vec<(u32, f32)>,
) -> SkinTables {
    let neighbours = rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut tables = SkinTables {
        vertices,
        triangles: triangles.to_vec(),
        neighbours,
        kinematic,
        ..SkinTables::default()
    };
    for (v, row) in rows.iter().enumerate() {
        let spare = row.first().map_or(0, |entry| entry.sample);
        for k in 0..neighbours {
            let entry = row.get(k).copied().unwrap_or(Entry {
                sample: spare,
                ..Entry::default()
            });
            tables.indices.push(entry.sample);
            tables.weights.push(entry.weights);
        }
        if row.iter().any(|entry| entry.extra != 0.0) {
            let extras = row.iter().map(|entry| entry.extra).collect();
            tables.extras.push((v as u32, extras));
        }
    }
    tables
}
