//! The simulated body: rest shape, masses, constraints. Immutable once built.

use glam::{DVec3, Vec3};

use crate::constraints::{Anchors, Bendings, Clusters, Polyhedra, Springs, TetStrains, TetVolumes};
use crate::contact::ContactSurface;
use crate::{Material, State, Targets};

/// Marks a free vertex without a carrier in [`Model::carriers`].
pub const NO_CARRIER: u32 = u32::MAX;

/// The simulated body: built by [`ModelBuilder`](crate::ModelBuilder), never changed.
///
/// Vertices are numbered *free first, then fixed*, each in the caller's order: index `i < free_count()` is an unknown
/// of the system, index `free_count() + k` is fixed vertex `k` (Dirichlet, eliminated [2.2.3]). Every constraint
/// stores these indices; [`Model::index_of`] and [`Model::caller_of`] translate.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) id: u64,
    pub(crate) free_count: usize,
    pub(crate) rest: Vec<Vec3>,
    pub(crate) masses: Vec<f64>,
    pub(crate) index_of: Vec<u32>,
    pub(crate) caller_of: Vec<u32>,
    pub(crate) carriers: Vec<u32>,
    pub(crate) carrier_frames: Vec<[u32; 3]>,
    pub(crate) wave_speeds: Vec<f32>,
    pub(crate) fixed_size: f32,
    pub(crate) soft_driven: Option<SoftDriven>,
    pub(crate) materials: Vec<Material>,
    pub(crate) tets: TetStrains,
    pub(crate) volumes: TetVolumes,
    pub(crate) springs: Springs,
    pub(crate) bendings: Bendings,
    pub(crate) anchors: Anchors,
    pub(crate) polyhedra: Polyhedra,
    pub(crate) clusters: Clusters,
    pub(crate) contact: Option<ContactSurface>,
}

/// Driven vertices that were made free and held by soft anchors, to compare with hard elimination [2.2.3].
#[derive(Clone, Debug)]
pub(crate) struct SoftDriven {
    /// Their anchors are the last `count` of [`Model::anchors`].
    pub count: usize,
}

impl Model {
    /// Identity of this model, shared by its clones: the key of backends' cached factorisations.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Number of free vertices, the unknowns.
    pub fn free_count(&self) -> usize {
        self.free_count
    }

    /// Number of fixed vertices, whose positions are given (Dirichlet).
    pub fn fixed_count(&self) -> usize {
        self.rest.len() - self.free_count
    }

    /// Number of vertices that the caller marked as driven: the fixed ones, or the softly anchored ones of a comparison
    /// model.
    pub fn driven_count(&self) -> usize {
        self.soft_driven
            .as_ref()
            .map_or(self.fixed_count(), |soft| soft.count)
    }

    /// Number of all vertices.
    pub fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    /// Rest positions \[m\], free then fixed.
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// Rest positions of the free vertices \[m\].
    pub fn rest_free(&self) -> &[Vec3] {
        &self.rest[..self.free_count]
    }

    /// Rest positions of the fixed vertices \[m\].
    pub fn rest_fixed(&self) -> &[Vec3] {
        &self.rest[self.free_count..]
    }

    /// Rest position of vertex `index` in double precision \[m\].
    pub fn rest_f64(&self, index: u32) -> DVec3 {
        self.rest[index as usize].as_dvec3()
    }

    /// Mass of each free vertex \[kg\]; zero is allowed.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Model index of each of the caller's vertices.
    pub fn index_of(&self) -> &[u32] {
        &self.index_of
    }

    /// Caller's index of each model vertex (free then fixed).
    pub fn caller_of(&self) -> &[u32] {
        &self.caller_of
    }

    /// For each free vertex the fixed vertex (0-based among the fixed) that is nearest along constraints, or
    /// [`NO_CARRIER`]. Damping and output prediction are relative to its motion, so that neither slows down a body that
    /// moves as a whole.
    pub fn carriers(&self) -> &[u32] {
        &self.carriers
    }

    /// For each free vertex three fixed ones, its carrier first, whose motion gives the initial guess of a step's
    /// iterations ([`carried`](crate::start::carried)); [`NO_CARRIER`] if it has no carrier.
    pub fn carrier_frames(&self) -> &[[u32; 3]] {
        &self.carrier_frames
    }

    /// Wave speed √(E/ρ) of the tissue at each free vertex \[m/s\], which bounds its [inertia](crate::inertia); infinite
    /// without mass, zero without tets.
    pub fn wave_speeds(&self) -> &[f32] {
        &self.wave_speeds
    }

    /// Longest side of the box around the fixed vertices at rest \[m\]; zero without any.
    pub fn fixed_size(&self) -> f32 {
        self.fixed_size
    }

    /// [`Model::fixed_size`] of fixed vertices.
    pub(crate) fn size_of(fixed: &[Vec3]) -> f32 {
        let (low, high) = fixed
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
                (low.min(p), high.max(p))
            });
        (high - low).max_element().max(0.0)
    }

    /// Materials, to which [`TetStrains::materials`] point.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// Tetrahedra and their strain.
    pub fn tets(&self) -> &TetStrains {
        &self.tets
    }

    /// Volume constraints of tetrahedra.
    pub fn volumes(&self) -> &TetVolumes {
        &self.volumes
    }

    /// Springs.
    pub fn springs(&self) -> &Springs {
        &self.springs
    }

    /// Bending constraints.
    pub fn bendings(&self) -> &Bendings {
        &self.bendings
    }

    /// Soft anchors to points, lines and planes.
    pub fn anchors(&self) -> &Anchors {
        &self.anchors
    }

    /// Polyhedra with strain limits.
    pub fn polyhedra(&self) -> &Polyhedra {
        &self.polyhedra
    }

    /// Groups of tets that may share one rotation.
    pub fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// The skin for contact, if there is one.
    pub fn contact_surface(&self) -> Option<&ContactSurface> {
        self.contact.as_ref()
    }

    /// Whether tet strain is the only constraint, the minimum that a fast backend supports.
    pub fn is_tets_only(&self) -> bool {
        self.volumes.is_empty()
            && self.springs.is_empty()
            && self.bendings.is_empty()
            && self.anchors.is_empty()
            && self.polyhedra.is_empty()
    }

    /// Targets from the positions of the driven vertices and of the caller's own anchors, both in the order they were
    /// given to the builder. Missing entries stay at rest.
    pub fn targets(&self, driven: &[Vec3], anchors: &[Vec3]) -> Targets {
        let mut targets = self.rest_targets();
        let own = self.anchors.len() - self.soft_driven.as_ref().map_or(0, |soft| soft.count);
        copy_prefix(&mut targets.anchors[..own], anchors);
        match self.soft_driven {
            Some(_) => copy_prefix(&mut targets.anchors[own..], driven),
            None => copy_prefix(&mut targets.fixed, driven),
        }
        targets
    }

    /// Targets that hold every driven vertex and anchor at its rest position.
    pub fn rest_targets(&self) -> Targets {
        Targets {
            fixed: self.rest_fixed().to_vec(),
            anchors: self.anchors.rest_targets(),
            bases: self
                .contact
                .as_ref()
                .map_or_else(Vec::new, |surface| surface.input().bases.clone()),
            outside: self
                .contact
                .as_ref()
                .map_or_else(Vec::new, ContactSurface::rest_outside),
            ..Targets::default()
        }
    }

    /// Positions of `state` in the caller's vertex order.
    pub fn caller_positions(&self, state: &State) -> Vec<Vec3> {
        let at = |&i: &u32| {
            let i = i as usize;
            if i < self.free_count {
                state.positions[i]
            } else {
                state.fixed[i - self.free_count]
            }
        };
        self.index_of.iter().map(at).collect()
    }
}

fn copy_prefix(to: &mut [Vec3], from: &[Vec3]) {
    let n = to.len().min(from.len());
    to[..n].copy_from_slice(&from[..n]);
}
