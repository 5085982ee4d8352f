//! Builds a [`Model`] from vertices and constraints given in the caller's own numbering.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::{DMat3, DVec3, Vec3};

use crate::constraints::cluster::NO_CLUSTER;
use crate::constraints::{
    AnchorKind, Anchors, Bendings, Clusters, Polyhedra, Springs, StretchLimits, TetStrains,
    TetVolumes, least_squares_gradients, surface_bending,
};
use crate::contact::{ContactSurface, SurfaceInput};
use crate::material::NO_MATERIAL;
use crate::model::SoftDriven;
use crate::{Material, Model, Weights};

/// Determinant, relative to the longest edge cubed, below which a tet is flat at rest and becomes inert. Thinner tets would
/// make the system matrix too ill-conditioned for single precision.
pub const FLAT_TET: f64 = 1e-6;

/// Collects vertices and constraints; [`ModelBuilder::build`] checks them. Vertices are numbered in the order they are added.
#[derive(Clone, Debug, Default)]
pub struct ModelBuilder {
    positions: Vec<Vec3>,
    driven: Vec<bool>,
    masses: Vec<f64>,
    total_mass: Option<f64>,
    soft_weight: Option<f64>,
    materials: Vec<Material>,
    tets: Vec<([u32; 4], f64)>,
    /// Material of each tet.
    made_of: Vec<u16>,
    volumes: Vec<(u32, f64, f64)>,
    springs: Vec<([u32; 2], f64, f64)>,
    bendings: Vec<(Vec<u32>, Vec<f64>, f64)>,
    anchors: Vec<(u32, f64, AnchorKind, Vec3)>,
    polyhedra: Vec<(Vec<u32>, f64, StretchLimits)>,
    clusters: Vec<Vec<u32>>,
    carrier_reach: Option<u32>,
}

/// Elements between a free vertex and fixed ones up to which it has a carrier frame. Farther ones, as in a tail that hangs on
/// nothing, move on their own.
const CARRIER_REACH: u32 = 2;

/// Why a model could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// There is nothing to solve for.
    #[error("the model has no free vertex; at least one must not be fixed")]
    NoFreeVertex,
    /// More vertices or constraints than 32-bit indices can name.
    #[error("the model is too large: {count} vertices")]
    TooLarge {
        /// Number of vertices.
        count: usize,
    },
    /// A position is NaN or infinite.
    #[error("vertex {vertex} has a position that is not finite")]
    Position {
        /// The caller's vertex.
        vertex: usize,
    },
    /// A mass is negative or not finite.
    #[error("vertex {vertex} has mass {mass} kg; it must be finite and at least 0")]
    Mass {
        /// The caller's vertex.
        vertex: usize,
        /// Its mass \[kg\].
        mass: f64,
    },
    /// A constraint names a vertex or tet that does not exist.
    #[error("{constraint} {index} refers to {what}, but there are only {count}")]
    Index {
        /// Constraint type.
        constraint: &'static str,
        /// Index of the constraint.
        index: usize,
        /// What it refers to.
        what: String,
        /// How many of these exist.
        count: usize,
    },
    /// A stiffness, length, ratio or limit is negative or not finite.
    #[error("{constraint} {index} has {parameter} {value}; it must be finite and at least 0")]
    Parameter {
        /// Constraint type.
        constraint: &'static str,
        /// Index of the constraint.
        index: usize,
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
    },
    /// The corners of a polyhedron or cluster are coplanar.
    #[error(
        "{constraint} {index} is flat and has no deformation gradient; its corners must not be coplanar"
    )]
    Flat {
        /// Constraint type.
        constraint: &'static str,
        /// Index of the constraint.
        index: usize,
    },
}

impl ModelBuilder {
    /// An empty model.
    pub fn new() -> ModelBuilder {
        ModelBuilder::default()
    }

    /// Adds a vertex without mass at a rest position \[m\]. A `fixed` vertex is driven by targets (Dirichlet condition).
    pub fn vertex(&mut self, position: Vec3, fixed: bool) -> u32 {
        self.positions.push(position);
        self.driven.push(fixed);
        self.masses.push(0.0);
        (self.positions.len() - 1) as u32
    }

    /// Sets the mass of a vertex \[kg\]. Free vertices need none; the mass of a fixed vertex is ignored.
    pub fn mass(&mut self, vertex: u32, mass: f64) {
        if let Some(m) = self.masses.get_mut(vertex as usize) {
            *m = mass;
        }
    }

    /// Distributes `total` kilograms over the free vertices in proportion to the rest volume of their tets [3.3]. A tet's
    /// share goes to its free corners only.
    pub fn distribute_mass(&mut self, total: f64) {
        self.total_mass = Some(total);
    }

    /// Adds a tet with strain stiffness \[Pa\] (Young's modulus at Poisson ratio 0, see [`crate::units`]).
    pub fn tet(&mut self, corners: [u32; 4], stiffness: f64) -> u32 {
        self.tets.push((corners, stiffness));
        self.made_of.push(NO_MATERIAL);
        (self.tets.len() - 1) as u32
    }

    /// Adds a material; returns its index for [`ModelBuilder::tet_of`].
    pub fn material(&mut self, material: Material) -> u16 {
        self.materials.push(material);
        (self.materials.len() - 1).min(NO_MATERIAL as usize) as u16
    }

    /// Adds a tet of a material, `factor` times as stiff. It keeps its volume if the material has a stiffness against changes
    /// of volume.
    pub fn tet_of(&mut self, corners: [u32; 4], material: u16, factor: f64) -> u32 {
        // An index out of range is reported by `build`.
        let found = self.materials.get(material as usize);
        let (strain, volume) = found.map_or((0.0, 0.0), |m| (m.stiffness, m.volume_stiffness));
        let stiffness = strain * factor;
        let tet = self.tet(corners, stiffness);
        self.made_of[tet as usize] = material;
        if volume * stiffness > 0.0 {
            self.tet_volume(tet, volume * stiffness, 1.0);
        }
        tet
    }

    /// Adds a volume constraint to a tet: it resists deviation from `ratio` × its rest volume with a stiffness \[Pa\].
    pub fn tet_volume(&mut self, tet: u32, stiffness: f64, ratio: f64) {
        self.volumes.push((tet, stiffness, ratio));
    }

    /// Adds a spring of rest length \[m\] and weight \[N/m\].
    pub fn spring(&mut self, ends: [u32; 2], length: f64, weight: f64) {
        self.springs.push((ends, length, weight));
    }

    /// Adds a bending constraint of weight [J m²]: the Laplacian Σ coefficient × position keeps its length.
    pub fn bending(&mut self, vertices: &[u32], coefficients: &[f64], weight: f64) {
        self.bendings
            .push((vertices.to_vec(), coefficients.to_vec(), weight));
    }

    /// Adds bending of a triangle surface over the vertices added so far; bending stiffness \[J\]. An index out of range is
    /// reported by [`ModelBuilder::build`].
    pub fn surface_bending(&mut self, triangles: &[[u32; 3]], stiffness: f64) {
        let count = self.positions.len();
        if let Some(bad) = triangles
            .iter()
            .find(|t| t.iter().any(|&v| v as usize >= count))
        {
            self.bendings.push((bad.to_vec(), vec![0.0; 3], 0.0));
            return;
        }
        for stencil in surface_bending(&self.positions, triangles) {
            self.bendings.push((
                stencil.vertices,
                stencil.coefficients,
                stiffness * stencil.area,
            ));
        }
    }

    /// Adds a soft anchor of weight \[N/m\] to a point: by default the vertex's rest position. Returns its index in
    /// [`Targets::anchors`](crate::Targets::anchors).
    pub fn anchor(&mut self, vertex: u32, weight: f64) -> usize {
        self.directed_anchor(vertex, weight, AnchorKind::Point, Vec3::ZERO)
    }

    /// Adds a soft anchor to a line along `direction` or a plane with normal `direction`.
    pub fn directed_anchor(
        &mut self,
        vertex: u32,
        weight: f64,
        kind: AnchorKind,
        direction: Vec3,
    ) -> usize {
        self.anchors.push((vertex, weight, kind, direction));
        self.anchors.len() - 1
    }

    /// Adds a polyhedron with strain stiffness × volume `weight` \[J\] and limits of free stretch.
    pub fn polyhedron(&mut self, corners: &[u32], weight: f64, limits: StretchLimits) {
        self.polyhedra.push((corners.to_vec(), weight, limits));
    }

    /// Groups tets (a prism's three) for [`Rotations::PerCluster`](crate::Rotations::PerCluster).
    pub fn cluster(&mut self, tets: &[u32]) {
        self.clusters.push(tets.to_vec());
    }

    /// Sets how many elements a free vertex may be away from fixed ones and still have a [carrier
    /// frame](crate::Model::carrier_frames); two by default. More is right where fixed vertices lie all around thick tissue.
    pub fn carrier_reach(&mut self, elements: u32) {
        self.carrier_reach = Some(elements);
    }

    /// Makes driven vertices unknowns held by soft anchors of this weight \[N/m\] instead of eliminating them, to compare
    /// both as in [2.2.3].
    pub fn soften_driven(&mut self, weight: f64) {
        self.soft_weight = Some(weight);
    }

    /// Checks everything and builds the model.
    pub fn build(&self) -> Result<Model, BuildError> {
        self.check()?;
        let fixed: Vec<bool> = self
            .driven
            .iter()
            .map(|&d| d && self.soft_weight.is_none())
            .collect();
        let mut caller_of: Vec<u32> = (0..self.positions.len() as u32).collect();
        caller_of.sort_by_key(|&v| fixed[v as usize]);
        let mut index_of = vec![0; caller_of.len()];
        for (i, &v) in caller_of.iter().enumerate() {
            index_of[v as usize] = i as u32;
        }
        let free_count = fixed.iter().filter(|&&f| !f).count();
        if free_count == 0 {
            return Err(BuildError::NoFreeVertex);
        }
        let rest: Vec<Vec3> = caller_of
            .iter()
            .map(|&v| self.positions[v as usize])
            .collect();
        let map = Map {
            index_of: &index_of,
            rest: &rest,
        };
        let tets = self.build_tets(&map);
        let mut model = Model {
            id: next_id(),
            free_count,
            masses: self.build_masses(&caller_of[..free_count], &tets),
            volumes: self.build_volumes(&tets),
            springs: self.build_springs(&map),
            bendings: self.build_bendings(&map),
            anchors: self.build_anchors(&map),
            polyhedra: self.build_polyhedra(&map)?,
            clusters: self.build_clusters(&map, &tets)?,
            contact: None,
            soft_driven: self.soft_weight.map(|_| SoftDriven {
                count: self.driven.iter().filter(|&&d| d).count(),
            }),
            carriers: Vec::new(),
            carrier_frames: Vec::new(),
            wave_speeds: Vec::new(),
            fixed_size: Model::size_of(&rest[free_count..]),
            materials: self.materials.clone(),
            tets,
            rest,
            index_of,
            caller_of,
        };
        model.carriers = crate::carrier::find_carriers(&model);
        let reach = self.carrier_reach.unwrap_or(CARRIER_REACH);
        model.carrier_frames = crate::carrier::find_carrier_frames(&model, &model.carriers, reach);
        model.wave_speeds = crate::inertia::wave_speeds(&model, &Weights::default());
        Ok(model)
    }

    /// As [`ModelBuilder::build`], with skin that may touch: `input` is given the model, in whose numbering the
    /// [sources](SurfaceInput::sources) of the skin points are.
    pub fn build_with_surface(
        &self,
        input: impl FnOnce(&Model) -> SurfaceInput,
    ) -> Result<Model, BuildError> {
        let mut model = self.build()?;
        model.contact = Some(ContactSurface::new(input(&model)));
        Ok(model)
    }

    fn build_tets(&self, map: &Map) -> TetStrains {
        let mut tets = TetStrains {
            materials: self.made_of.clone(),
            ..TetStrains::default()
        };
        for &(corners, stiffness) in &self.tets {
            let corners = corners.map(|v| map.index(v));
            let [a, b, c, d] = corners.map(|v| map.rest(v));
            let edges = DMat3::from_cols(b - a, c - a, d - a);
            let longest = [b - a, c - a, d - a, c - b, d - b, d - c]
                .map(DVec3::length)
                .into_iter()
                .fold(0.0, f64::max);
            let determinant = edges.determinant();
            let flat = determinant.abs() <= FLAT_TET * longest.powi(3);
            let volume = if flat { 0.0 } else { determinant.abs() / 6.0 };
            tets.vertices.push(corners);
            tets.inverse_rest
                .push(if flat { DMat3::ZERO } else { edges.inverse() });
            tets.weights.push(stiffness * volume);
            tets.volumes.push(volume);
        }
        let solid = tets.volumes.iter().filter(|&&v| v > 0.0).count().max(1);
        tets.mean_size = (tets.volumes.iter().sum::<f64>() / solid as f64).cbrt();
        tets
    }

    fn build_masses(&self, caller_of_free: &[u32], tets: &TetStrains) -> Vec<f64> {
        let mut masses: Vec<f64> = caller_of_free
            .iter()
            .map(|&v| self.masses[v as usize])
            .collect();
        let Some(total) = self.total_mass else {
            return masses;
        };
        let mut shares = vec![0.0; masses.len()];
        for (corners, &volume) in tets.vertices.iter().zip(&tets.volumes) {
            let free: Vec<usize> = corners
                .iter()
                .map(|&v| v as usize)
                .filter(|&v| v < shares.len())
                .collect();
            for &v in &free {
                shares[v] += volume / free.len() as f64;
            }
        }
        let sum: f64 = shares.iter().sum();
        if sum > 0.0 {
            for (mass, share) in masses.iter_mut().zip(shares) {
                *mass += total * share / sum;
            }
        }
        masses
    }

    fn build_volumes(&self, tets: &TetStrains) -> TetVolumes {
        let mut volumes = TetVolumes::default();
        for &(tet, stiffness, ratio) in &self.volumes {
            volumes.tets.push(tet);
            volumes.weights.push(stiffness * tets.volumes[tet as usize]);
            volumes.ratios.push(ratio);
        }
        volumes
    }

    fn build_springs(&self, map: &Map) -> Springs {
        let mut springs = Springs::default();
        for &(ends, length, weight) in &self.springs {
            let ends = ends.map(|v| map.index(v));
            springs.vertices.push(ends);
            springs.lengths.push(length);
            springs.weights.push(weight);
            springs.rest.push(map.rest(ends[1]) - map.rest(ends[0]));
        }
        springs
    }

    fn build_bendings(&self, map: &Map) -> Bendings {
        let mut bendings = Bendings::default();
        for (vertices, coefficients, weight) in &self.bendings {
            let vertices: Vec<u32> = vertices.iter().map(|&v| map.index(v)).collect();
            let laplacian = vertices
                .iter()
                .zip(coefficients)
                .map(|(&v, &c)| map.rest(v) * c)
                .sum();
            bendings.push(&vertices, coefficients, *weight, laplacian);
        }
        bendings
    }

    fn build_anchors(&self, map: &Map) -> Anchors {
        let mut anchors = Anchors::default();
        let soft = self.soft_weight.into_iter().flat_map(|w| {
            let driven = self.driven.iter().enumerate().filter(|(_, d)| **d);
            driven.map(move |(v, _)| (v as u32, w, AnchorKind::Point, Vec3::ZERO))
        });
        for (vertex, weight, kind, direction) in self.anchors.iter().copied().chain(soft) {
            anchors.vertices.push(map.index(vertex));
            anchors.weights.push(weight);
            anchors.kinds.push(kind);
            anchors.points.push(self.positions[vertex as usize]);
            anchors.directions.push(direction.normalize_or_zero());
        }
        anchors
    }

    fn build_polyhedra(&self, map: &Map) -> Result<Polyhedra, BuildError> {
        let mut polyhedra = Polyhedra::default();
        for (index, (corners, weight, limits)) in self.polyhedra.iter().enumerate() {
            let corners: Vec<u32> = corners.iter().map(|&v| map.index(v)).collect();
            let gradients = map.gradients(&corners).ok_or(BuildError::Flat {
                constraint: "polyhedron",
                index,
            })?;
            polyhedra.push(&corners, &gradients, *weight, *limits);
        }
        Ok(polyhedra)
    }

    fn build_clusters(&self, map: &Map, tets: &TetStrains) -> Result<Clusters, BuildError> {
        let mut clusters = Clusters::default();
        if self.clusters.is_empty() {
            return Ok(clusters);
        }
        clusters.cluster_of = vec![NO_CLUSTER; tets.len()];
        for members in &self.clusters {
            let mut corners: Vec<u32> = members
                .iter()
                .flat_map(|&t| tets.vertices[t as usize])
                .collect();
            corners.sort_unstable();
            corners.dedup();
            // A flat cluster has no rotation of its own: its tets keep theirs.
            let Some(gradients) = map.gradients(&corners) else {
                continue;
            };
            for &t in members {
                clusters.cluster_of[t as usize] = clusters.len() as u32;
            }
            clusters.push(&corners, &gradients);
        }
        Ok(clusters)
    }
}

/// Model indices and rest positions.
struct Map<'a> {
    index_of: &'a [u32],
    rest: &'a [Vec3],
}

impl Map<'_> {
    fn index(&self, caller: u32) -> u32 {
        self.index_of[caller as usize]
    }

    fn rest(&self, index: u32) -> DVec3 {
        self.rest[index as usize].as_dvec3()
    }

    fn gradients(&self, corners: &[u32]) -> Option<Vec<DVec3>> {
        let rest: Vec<DVec3> = corners.iter().map(|&v| self.rest(v)).collect();
        least_squares_gradients(&rest)
    }
}

pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Checks of the caller's input.
mod check;
