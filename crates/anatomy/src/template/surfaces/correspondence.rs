//! Where on the skeleton wrap a vertex should go: closest points of its limb and side, and fixed correspondences (4.4).

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::adjacency::{Adjacency, Rows};
use supple_geom::kd_tree::KdTree;
use supple_geom::sided::SidedSurface;

use crate::layers::alignment_score;
use crate::template::places::limbs::Limbs;

/// What normals at right angles count as, about \[m\], so that thin bones do not attract vertices from their other side.
const NORMAL_LENGTH: f32 = 0.05;

/// What another limb counts as \[m\], so that skin of the arm pit does not go for the wrong side of it.
const LIMB_LENGTH: f32 = 0.08;

/// How far a closest point may be from the wrap vertex that was found, along the wrap \[m\]: about a cell of it.
const ALONG: f64 = 0.003;

/// Rounds of smoothing for the wrap's normals.
const NORMAL_ROUNDS: usize = 5;

/// Skin nearer to the wrap than this can get a fixed correspondence \[m\] [4.2.2].
const FIXED_WITHIN: f32 = 0.03;

/// Least distance between two of them \[m\] [4.2.2].
const FIXED_APART: f32 = 0.05;

/// Radius of the neighbourhood on the wrap that is searched \[m\].
const SEARCHED: f32 = 0.03;

/// Mean distance of a symmetric wrap from its mirror image, and what farther points count as \[m\]: the image of a lattice's surface is off by
/// part of a cell.
const SYMMETRY: f32 = 0.002;
const FAR_SIDE: f32 = 0.02;

/// The wrap to find points on.
pub struct WrapTargets {
    /// Its surface.
    pub surface: SidedSurface,
    /// Smoothed normals of its vertices.
    normals: Vec<Vec3>,
    limbs: Vec<Limbs>,
    ring: Rows,
    tree: KdTree<10>,
}

/// A point of the wrap with its normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Position \[m\].
    pub point: DVec3,
    /// Unit normal, smoothed.
    pub normal: DVec3,
    /// The wrap's vertex nearby.
    pub vertex: u32,
}

fn key(point: Vec3, normal: Vec3, limbs: &Limbs) -> [f32; 10] {
    let (p, n) = (point, NORMAL_LENGTH * normal);
    let l = limbs.map(|l| LIMB_LENGTH * l);
    [p.x, p.y, p.z, n.x, n.y, n.z, l[0], l[1], l[2], l[3]]
}

impl WrapTargets {
    /// A wrap whose vertices belong to limbs.
    pub fn new(wrap: &TriMesh, limbs: Vec<Limbs>) -> Self {
        let surface = SidedSurface::new(wrap.clone());
        let ring = Adjacency::new(wrap).vertex_vertices;
        let mut normals = surface.normals().to_vec();
        for _ in 0..NORMAL_ROUNDS {
            normals = (ring.iter().zip(&normals))
                .map(|(ring, n)| {
                    let sum: Vec3 = ring.iter().map(|&v| normals[v as usize]).sum();
                    (*n + sum).normalize_or(*n)
                })
                .collect();
        }
        let keys: Vec<[f32; 10]> = (0..wrap.positions.len())
            .map(|v| key(wrap.positions[v], normals[v], &limbs[v]))
            .collect();
        WrapTargets {
            tree: KdTree::of_arrays(&keys),
            surface,
            normals,
            limbs,
            ring,
        }
    }

    /// Whether both sides of x = 0 are alike, but for a few cells where handles were carved away.
    pub fn is_symmetric(&self) -> bool {
        let surface = self.surface.surface();
        let points = &surface.mesh().positions;
        let distance = |p: &Vec3| {
            let image = Vec3::new(-p.x, p.y, p.z);
            let found = surface.closest_point_within(image, FAR_SIDE);
            found.map_or(FAR_SIDE, |at| at.distance)
        };
        let distances: Vec<f32> = points.par_iter().map(distance).collect();
        let sum: f64 = distances.iter().map(|d| f64::from(*d)).sum();
        sum <= f64::from(SYMMETRY) * points.len() as f64
    }

    fn position(&self, vertex: u32) -> Vec3 {
        self.surface.surface().mesh().positions[vertex as usize]
    }

    /// The point closest to one, with regard to normals and limbs.
    pub fn closest(&self, point: DVec3, normal: Vec3, limbs: &Limbs) -> Option<Found> {
        let nearest = self
            .tree
            .nearest_array(&key(point.as_vec3(), normal, limbs))?;
        let vertex = nearest.index;
        let (at, normal) = (
            self.position(vertex).as_dvec3(),
            self.normals[vertex as usize].as_dvec3(),
        );
        let along = (point - at) - (point - at).dot(normal) * normal;
        Some(Found {
            point: at + along.clamp_length_max(ALONG),
            normal,
            vertex,
        })
    }

    /// Fixed correspondences [4.2.2]: for chosen skin vertices near the wrap, nearest first and 5 cm apart, the wrap's vertex
    /// around their closest point with the best alignment (4.4).
    pub fn fixed(
        &self,
        skin: &[Vec3],
        normals: &[Vec3],
        limbs: &[Limbs],
        chosen: &[bool],
    ) -> Vec<(u32, DVec3)> {
        let mut near: Vec<(f32, u32, u32)> = (0..skin.len())
            .into_par_iter()
            .filter(|&v| chosen[v])
            .filter_map(|v| {
                let found = self.closest(skin[v].as_dvec3(), normals[v], &limbs[v])?;
                let distance = skin[v].distance(self.position(found.vertex));
                (distance < FIXED_WITHIN).then_some((distance, v as u32, found.vertex))
            })
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut taken: Vec<(u32, u32)> = Vec::new();
        for (_, v, start) in near {
            let apart = |(other, _): &(u32, u32)| skin[v as usize].distance(skin[*other as usize]);
            if taken.iter().all(|t| apart(t) >= FIXED_APART) {
                taken.push((v, start));
            }
        }
        (taken.par_iter())
            .map(|&(v, start)| {
                let place = (skin[v as usize].as_dvec3(), normals[v as usize].as_dvec3());
                (v, self.best_aligned(place, start))
            })
            .collect()
    }

    /// Searches the neighbourhood of a vertex along the wrap.
    fn best_aligned(&self, skin: (DVec3, DVec3), start: u32) -> DVec3 {
        let mut seen = vec![start];
        let mut is_seen = std::collections::HashSet::from([start]);
        let (mut best, mut at) = ((f64::INFINITY, start), 0);
        while at < seen.len() {
            let v = seen[at];
            at += 1;
            let place = (
                self.position(v).as_dvec3(),
                self.normals[v as usize].as_dvec3(),
            );
            let score = alignment_score(skin, place);
            if score < best.0 {
                best = (score, v);
            }
            for &n in self.ring.row(v as usize) {
                let is_near = self.position(n).distance(self.position(start)) < SEARCHED;
                let same = self.limbs[n as usize] == self.limbs[start as usize];
                if is_near && same && is_seen.insert(n) {
                    seen.push(n);
                }
            }
        }
        self.position(best.1).as_dvec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    #[test]
    fn closest_points_keep_to_side_and_limb() {
        // A flat disc-like ball, 4 mm thick: from above its upper side, even from below its middle.
        let mut thin = icosphere(0.1, 4);
        thin.positions.iter_mut().for_each(|p| p.y *= 0.02);
        let count = thin.positions.len();
        let wrap = WrapTargets::new(&thin, vec![Limbs::default(); count]);
        let found = wrap
            .closest(DVec3::new(0.01, -0.003, 0.0), Vec3::Y, &Limbs::default())
            .unwrap();
        assert!(found.point.y > 0.0 && found.normal.y > 0.9);
        let limbs = (thin.positions.iter())
            .map(|p| {
                if p.x > 0.0 {
                    [1.0, 0.0, 0.0, 0.0]
                } else {
                    Limbs::default()
                }
            })
            .collect();
        let wrap = WrapTargets::new(&thin, limbs);
        let arm = wrap.closest(DVec3::new(-0.02, 0.01, 0.0), Vec3::Y, &[1.0, 0.0, 0.0, 0.0]);
        assert!(arm.unwrap().point.x > -0.004);
    }

    #[test]
    fn fixed_correspondences_are_aligned_and_apart() {
        // A ball in a shifted ball: the best point is not the closest one, but on the mean normal's line.
        let inner = icosphere(0.09, 5);
        let skin = icosphere(0.1, 3);
        let normals: Vec<Vec3> = skin.positions.iter().map(|p| p.normalize()).collect();
        let shifted: Vec<Vec3> = skin
            .positions
            .iter()
            .map(|p| *p + 0.004 * Vec3::X)
            .collect();
        let limbs = vec![Limbs::default(); inner.positions.len()];
        let wrap = WrapTargets::new(&inner, limbs);
        let chosen = vec![true; shifted.len()];
        let fixed = wrap.fixed(
            &shifted,
            &normals,
            &vec![Limbs::default(); shifted.len()],
            &chosen,
        );
        assert!(fixed.len() > 10);
        for (k, (v, point)) in fixed.iter().enumerate() {
            let s = shifted[*v as usize];
            let score = alignment_score(
                (s.as_dvec3(), normals[*v as usize].as_dvec3()),
                (*point, point.normalize()),
            );
            assert!(score < 0.05, "{score}");
            for (other, _) in &fixed[..k] {
                assert!(s.distance(shifted[*other as usize]) >= FIXED_APART);
            }
        }
    }
}
