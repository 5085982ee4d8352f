//! Many bodies of one character on the GPU. Poses go in; skins come out on request.
//!
//! The whole step runs on the device: targets from the frames of bones and joints, tissue, contact of each body with itself, full
//! skin and normals.

use std::sync::Arc;

use glam::Vec3;
use supple_flesh::settings::ContactMode;
use supple_flesh::{Flesh, FleshError, Settings};
use supple_gpu::tables::Tables;
use supple_gpu::{FollowTables, Gpu, GpuBodies, GpuError, GpuSkin, Pending, Solver, unpack_skin};
use supple_rig::Pose;
use supple_rig::skinning::Posed;
use supple_sim::State;

use crate::Subject;
use crate::crowd_tables::skin_tables;
use crate::tissue::{SoftBody, TissueError};

/// Why a crowd could not be built or stepped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// The device, the model or the settings.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The tissue could not be built.
    #[error(transparent)]
    Tissue(#[from] TissueError),
    /// A pose belongs to another character.
    #[error(transparent)]
    Flesh(#[from] FleshError),
    /// Normal displacements are implemented on the CPU only.
    #[error(
        "the GPU supports upsampling by moving least squares only; set `upsample` to \"quadratic\" or \"linear\""
    )]
    NormalDisplacements,
    /// The index of a body is too large.
    #[error("there is no body {body}: the crowd has {count}")]
    NoSuchBody {
        /// The index.
        body: u32,
        /// Number of bodies.
        count: u32,
    },
}

/// Many bodies of one character on the GPU.
pub struct Crowd {
    flesh: Arc<Flesh>,
    /// Pose of every body.
    poses: Vec<Pose>,
    bodies: GpuBodies,
    skin: GpuSkin,
}

/// The full welded flesh of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FullSkin {
    /// Positions \[m\].
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
}

/// A full skin that is being read back.
pub struct PendingSkin(Pending);

impl PendingSkin {
    /// The skin, if it has arrived. Does not block.
    pub fn poll(&self) -> Option<Result<FullSkin, GpuError>> {
        self.0.poll().map(|rows| rows.map(|rows| full_skin(&rows)))
    }

    /// Waits for the skin.
    pub fn wait(self) -> Result<FullSkin, GpuError> {
        self.0.wait().map(|rows| full_skin(&rows))
    }
}

fn full_skin(rows: &[[f32; 4]]) -> FullSkin {
    let (positions, normals) = rows.iter().map(|&row| unpack_skin(row)).unzip();
    FullSkin { positions, normals }
}

/// Builder of a [`Crowd`].
#[derive(Clone, Debug)]
pub struct CrowdBuilder {
    subject: Subject,
    settings: Settings,
    gpu: Option<Arc<Gpu>>,
}

impl CrowdBuilder {
    /// Sets all settings. Call it first: it replaces what other options have set.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Contact of every body with itself.
    pub fn contact(mut self, mode: ContactMode) -> Self {
        self.settings.contact.mode = mode;
        self
    }

    /// An open device. By default the best one is opened.
    pub fn gpu(mut self, gpu: &Arc<Gpu>) -> Self {
        self.gpu = Some(Arc::clone(gpu));
        self
    }

    /// Builds the tissue and puts `count` bodies at rest on the device.
    pub fn build(self, count: u32) -> Result<Crowd, CrowdError> {
        let gpu = match self.gpu {
            Some(gpu) => gpu,
            None => Gpu::open(supple_gpu::Options::default())?,
        };
        let flesh = SoftBody::new(self.subject, self.settings)?.shared_flesh();
        let solver = flesh.settings.solver_settings();
        Crowd::of_flesh(&gpu, flesh, &solver, count)
    }
}

impl Crowd {
    /// Builds the tissue of a subject and puts `count` bodies of it at rest on the best GPU there is.
    pub fn new(subject: impl Into<Subject>, count: u32) -> Result<Self, CrowdError> {
        Self::builder(subject).build(count)
    }

    /// Starts a crowd with options.
    pub fn builder(subject: impl Into<Subject>) -> CrowdBuilder {
        CrowdBuilder {
            subject: subject.into(),
            settings: Settings::default(),
            gpu: None,
        }
    }

    /// A crowd of tissue that is built already.
    pub fn of_flesh(
        gpu: &Arc<Gpu>,
        flesh: impl Into<Arc<Flesh>>,
        settings: &supple_sim::Settings,
        count: u32,
    ) -> Result<Self, CrowdError> {
        let flesh = flesh.into();
        if settings.contact.mode == supple_sim::ContactMode::Local {
            flesh.find_local_pairs();
        }
        let tables = Tables::new(&flesh.model, settings).map_err(GpuError::from)?;
        Self::with_tables(gpu, flesh, settings, tables, count, Solver::Patches)
    }

    /// As [`Crowd::of_flesh`], with prepared tables and a choice of the global solver.
    pub fn with_tables(
        gpu: &Arc<Gpu>,
        flesh: impl Into<Arc<Flesh>>,
        settings: &supple_sim::Settings,
        tables: Tables,
        count: u32,
        solver: Solver,
    ) -> Result<Self, CrowdError> {
        let flesh = flesh.into();
        let follows = flesh.target_table();
        let skin = skin_tables(&flesh, &follows).ok_or(CrowdError::NormalDisplacements)?;
        let mut bodies =
            GpuBodies::with_tables(gpu, &flesh.model, settings, tables, count, solver)?;
        let mut table = FollowTables::default();
        let kinematic = follows.kinematic.iter().map(|(_, _, follows)| follows);
        let all = follows.driven.iter().chain(&follows.outside);
        all.chain(kinematic).for_each(|vertex| table.push(vertex));
        for &(frame, t) in &follows.bases {
            table.push_base(frame, t);
        }
        let frames = follows.rigid + follows.matrices;
        bodies.follow(&table, follows.rigid, frames)?;
        let skin = GpuSkin::new(&bodies, &skin)?;
        let rest = flesh.rest_pose();
        let mut crowd = Self {
            poses: vec![rest.clone(); count as usize],
            flesh,
            bodies,
            skin,
        };
        for body in 0..count {
            crowd.set_pose(body, &rest)?;
        }
        Ok(crowd)
    }

    /// Number of bodies.
    pub fn len(&self) -> u32 {
        self.bodies.count()
    }

    /// Whether the crowd is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tissue that all bodies share.
    pub fn flesh(&self) -> &Flesh {
        &self.flesh
    }

    /// The bodies on the device.
    pub fn gpu_bodies(&self) -> &GpuBodies {
        &self.bodies
    }

    /// Their skins on the device.
    pub fn gpu_skin(&self) -> &GpuSkin {
        &self.skin
    }

    /// Bytes of device memory held.
    pub fn memory(&self) -> u64 {
        self.bodies.memory() + self.skin.memory()
    }

    /// Sets the pose of a body for the next step.
    pub fn set_pose(&mut self, body: u32, pose: &Pose) -> Result<(), CrowdError> {
        let count = self.len();
        let Some(kept) = self.poses.get_mut(body as usize) else {
            return Err(CrowdError::NoSuchBody { body, count });
        };
        let frames = self.flesh.pose_frames(pose)?;
        kept.clone_from(pose);
        self.bodies.set_frames(body, &frames);
        Ok(())
    }

    /// Sets positions, velocities and contacts of a body.
    pub fn set_state(&self, body: u32, state: &State) {
        self.bodies.upload(body, state);
        let rest = self.flesh.model.rest_targets();
        self.bodies.upload_contacts(body, state, &rest);
    }

    /// Steps all bodies. Does not wait for the device.
    pub fn step(&self) -> Result<(), GpuError> {
        self.bodies.step()
    }

    /// Computes the full skins of all bodies and waits for that of one: positions \[m\] and unit normals of every vertex of every part, in
    /// the file's order.
    pub fn skin(&self, body: u32) -> Result<Vec<Posed>, CrowdError> {
        let count = self.len();
        let pose = self.poses.get(body as usize);
        let pose = pose.ok_or(CrowdError::NoSuchBody { body, count })?;
        let full = self.request_skin(body)?.wait()?;
        let mut parts = Vec::new();
        self.flesh
            .skin_from_full(pose, &full.positions, &full.normals, &mut parts);
        Ok(parts)
    }

    /// Computes the full skins of all bodies and starts to read back that of one.
    pub fn request_skin(&self, body: u32) -> Result<PendingSkin, GpuError> {
        self.skin.update()?;
        Ok(PendingSkin(self.skin.request(body)))
    }
}
