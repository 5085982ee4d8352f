//! Upsampling by normal displacements [Botsch and Sorkine 2008], for comparison.
//!
//! Every skin vertex is stored relative to its closest simulated triangle: barycentric coordinates in the triangle's plane
//! and a height along its normal. Skin normals are recomputed from the skin's triangles.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::ring_normals::RingNormals;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch, prefetch};
use supple_geom::{Surface, TriMesh};

use crate::upsampling::upsample::write;

/// Vertices per parallel task; a multiple of the lanes.
const CHUNK: usize = 1024;

/// Prefetch distance \[groups\]: 4 kB.
const PREFETCH_DISTANCE: usize = 16;

/// Displacements of eight skin vertices; the last group repeats its last vertex.
#[derive(Clone, Debug, PartialEq)]
struct DisplacementGroup {
    corners: [[u32; LANES]; 3],
    weights: [F32x8; 3],
    heights: F32x8,
}

/// Displacements of all skin vertices from simulated triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalDisplacement {
    count: usize,
    groups: Vec<DisplacementGroup>,
    /// Rings of the skin, for its normals.
    rings: RingNormals,
}

/// Scratch space of a frame.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    samples: Vec<Row>,
    places: Vec<Row>,
}

impl NormalDisplacement {
    /// Binds every vertex of `skin` to the closest triangle of `coarse`.
    pub fn new(skin: &TriMesh, coarse: &TriMesh) -> Self {
        let surface = Surface::new(coarse.clone());
        let groups: Vec<([u32; 3], [f32; 3], f32)> = (skin.positions.par_iter())
            .map(|&point| {
                let nearest = surface.closest_point(point);
                let corners =
                    nearest.map_or([0; 3], |near| coarse.triangles[near.triangle as usize]);
                displacement(
                    corners,
                    corners.map(|v| coarse.positions[v as usize]),
                    point,
                )
            })
            .collect();
        let grouped = groups.chunks(LANES).map(|group| {
            let of = |lane: usize| &group[lane.min(group.len() - 1)];
            let lanes = |pick: &dyn Fn(usize) -> f32| F32x8(std::array::from_fn(pick));
            DisplacementGroup {
                corners: [0, 1, 2].map(|k| std::array::from_fn(|lane| of(lane).0[k])),
                weights: [0, 1, 2].map(|k| lanes(&|lane| of(lane).1[k])),
                heights: lanes(&|lane| of(lane).2),
            }
        });
        Self {
            count: skin.positions.len(),
            groups: grouped.collect(),
            rings: RingNormals::new(skin),
        }
    }

    /// Skin vertices.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no skin vertex.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Simulated vertices that a skin vertex depends on, and their weights.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> {
        let (groups, lane) = (&self.groups[vertex / LANES], vertex % LANES);
        (0..3).map(move |k| (groups.corners[k][lane] as usize, groups.weights[k].0[lane]))
    }

    /// Least memory traffic of a frame \[bytes\].
    pub fn bytes_per_frame(&self, samples: usize) -> usize {
        // Skin positions are written once and read once.
        samples * (12 + 32) + self.count * (28 + 24 + 32) + self.rings.bytes()
    }

    /// Positions and unit normals of all skin vertices from the simulated ones \[m\].
    pub fn apply(
        &self,
        simulated: &[Vec3],
        work: &mut Workspace,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        work.samples.clear();
        work.samples
            .extend(simulated.iter().map(|p| Row::new(p.to_array())));
        work.places
            .resize(self.groups.len() * LANES, Row::default());
        let chunks = (work.places.par_chunks_mut(CHUNK))
            .zip(self.groups.par_chunks(CHUNK / LANES))
            .zip(positions.par_chunks_mut(CHUNK));
        chunks.for_each(|((places, groups), positions)| {
            dispatch(Place {
                groups,
                samples: &work.samples,
                places,
                positions: bytemuck::cast_slice_mut(positions),
            });
        });
        let chunks = normals.par_chunks_mut(CHUNK).enumerate();
        chunks.for_each(|(chunk, normals)| {
            dispatch(Normals {
                rings: &self.rings,
                first: chunk * (CHUNK / LANES),
                places: &work.places,
                normals: bytemuck::cast_slice_mut(normals),
            });
        });
    }
}

/// Barycentric coordinates in the plane of a triangle and height above it. A triangle without area gives its first corner.
fn displacement(corners: [u32; 3], places: [Vec3; 3], point: Vec3) -> ([u32; 3], [f32; 3], f32) {
    let [a, b, c] = places.map(|p| p.as_dvec3());
    let (u, v, w): (DVec3, DVec3, DVec3) = (b - a, c - a, point.as_dvec3() - a);
    let normal = u.cross(v);
    let square = normal.length_squared();
    if square <= 0.0 {
        return (corners, [1.0, 0.0, 0.0], 0.0);
    }
    let y = w.cross(v).dot(normal) / square;
    let z = u.cross(w).dot(normal) / square;
    let height = w.dot(normal) / square.sqrt();
    (
        corners,
        [1.0 - y - z, y, z].map(|x| x as f32),
        height as f32,
    )
}

struct Place<'a> {
    groups: &'a [DisplacementGroup],
    samples: &'a [Row],
    places: &'a mut [Row],
    positions: &'a mut [[f32; 3]],
}

// Loops, not closures: a closure would not be compiled with the SIMD features of its kernel.
impl Kernel for Place<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let output = (self.places.chunks_exact_mut(LANES)).zip(self.positions.chunks_mut(LANES));
        for (group, (groups, (places, positions))) in self.groups.iter().zip(output).enumerate() {
            prefetch(self.groups, group + PREFETCH_DISTANCE);
            let a = L::gather(self.samples, &groups.corners[0]);
            let b = L::gather(self.samples, &groups.corners[1]);
            let c = L::gather(self.samples, &groups.corners[2]);
            let normal = cross(a, b, c);
            let square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
            let height = L::load(&groups.heights) / square.max(L::splat(1e-30)).sqrt();
            let (u, v, w) = (
                L::load(&groups.weights[0]),
                L::load(&groups.weights[1]),
                L::load(&groups.weights[2]),
            );
            let mut place = [L::splat(0.0); 3];
            for axis in 0..3 {
                let in_plane = u.mul_add(a[axis], v.mul_add(b[axis], w * c[axis]));
                place[axis] = normal[axis].mul_add(height, in_plane);
            }
            places.copy_from_slice(&L::rows(place));
            write(positions, place);
        }
    }
}

struct Normals<'a> {
    rings: &'a RingNormals,
    first: usize,
    places: &'a [Row],
    normals: &'a mut [[f32; 3]],
}

impl Kernel for Normals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (group, normals) in self.normals.chunks_mut(LANES).enumerate() {
            write(
                normals,
                self.rings.group::<L>(self.first + group, self.places),
            );
        }
    }
}

#[inline(always)]
fn cross<L: Lanes>(a: [L; 3], b: [L; 3], c: [L; 3]) -> [L; 3] {
    let u = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    let v = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
    [
        u[1].mul_sub(v[2], u[2] * v[1]),
        u[2].mul_sub(v[0], u[0] * v[2]),
        u[0].mul_sub(v[1], u[1] * v[0]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::decimate::{Decimation, decimate};
    use supple_geom::{normals::vertex_normals, shapes};

    #[test]
    fn rigid_motions_are_exact() {
        let skin = shapes::icosphere(0.5, 4);
        let settings = Decimation {
            target: 300,
            ..Decimation::default()
        };
        let small = decimate(&skin, &settings);
        let bound = NormalDisplacement::new(&skin, &small.mesh);
        let turn = glam::Quat::from_rotation_x(0.9);
        let motion = |p: Vec3| turn * p + Vec3::new(1.0, 2.0, 0.0);
        let moved: Vec<Vec3> = small.mesh.positions.iter().map(|&p| motion(p)).collect();
        let mut positions = vec![Vec3::ZERO; skin.positions.len()];
        let mut normals = positions.clone();
        bound.apply(
            &moved,
            &mut Workspace::default(),
            &mut positions,
            &mut normals,
        );
        let expected = vertex_normals(&skin);
        for (v, &rest) in skin.positions.iter().enumerate() {
            assert!(positions[v].distance(motion(rest)) < 2e-6);
            assert!(normals[v].angle_between(turn * expected[v]) < 0.02);
        }
    }
}
