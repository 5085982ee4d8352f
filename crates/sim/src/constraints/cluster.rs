//! Clusters of tets that share one rotation: prisms, as in Projective Skinning §6.

use glam::{DMat3, DVec3};
use supple_geom::higham::closest_rotation;

use super::deformation_gradient;

/// Tet without a cluster.
pub const NO_CLUSTER: u32 = u32::MAX;

/// Groups of tets whose rotation is that of their common least-squares deformation gradient (2.18). Used only with
/// [`Rotations::PerCluster`](crate::Rotations::PerCluster).
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// Corners of cluster i run from `offsets[i]` to `offsets[i + 1]`.
    pub offsets: Vec<u32>,
    /// Corners.
    pub vertices: Vec<u32>,
    /// F = Σ xₐ gₐᵀ [1/m].
    pub gradients: Vec<DVec3>,
    /// Cluster of each tet, or [`NO_CLUSTER`]. Empty where the model has no clusters.
    pub cluster_of: Vec<u32>,
}

impl Clusters {
    /// Number of clusters.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Corners and gradients of cluster `i`.
    pub fn stencil(&self, i: usize) -> (&[u32], &[DVec3]) {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        (&self.vertices[range.clone()], &self.gradients[range])
    }

    pub(crate) fn push(&mut self, vertices: &[u32], gradients: &[DVec3]) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.vertices.extend_from_slice(vertices);
        self.gradients.extend_from_slice(gradients);
        self.offsets.push(self.vertices.len() as u32);
    }

    /// The rotation of every cluster.
    pub fn rotations(&self, z: &[DVec3]) -> Vec<DMat3> {
        let of = |i: usize| {
            let (vertices, gradients) = self.stencil(i);
            closest_rotation(deformation_gradient(vertices, gradients, z))
        };
        (0..self.len()).map(of).collect()
    }
}
