//! A harmonic warp of space with the skin as its only constraint (Dicko et al. 2013): displacements on a grid, those of the skin
//! where it passes, without sources elsewhere.

use std::collections::BTreeMap;

use supple::geom::TriMesh;
use supple::glam::{DVec3, IVec3, Vec3};

/// Width of a cell [m].
const CELL: f32 = 0.015;
/// Sweeps of relaxation, and its overrelaxation factor.
const SWEEPS: usize = 400;
const FACTOR: f64 = 1.85;

pub struct HarmonicWarp {
    origin: Vec3,
    size: IVec3,
    values: Vec<DVec3>,
}

impl HarmonicWarp {
    /// The warp that brings a skin to another of the same connectivity.
    pub fn new(from: &TriMesh, to: &[Vec3]) -> Self {
        let bounds = from.bounds();
        let origin = bounds.min - Vec3::splat(2.0 * CELL);
        let size = ((bounds.max - origin) / CELL).ceil().as_ivec3() + IVec3::splat(3);
        // Mean displacement of the skin near each node that it passes.
        let mut on_skin: BTreeMap<usize, (DVec3, f64)> = BTreeMap::new();
        for triangle in &from.triangles {
            let corners = triangle.map(|v| v as usize);
            let longest = (0..3)
                .map(|k| from.positions[corners[k]].distance(from.positions[corners[(k + 1) % 3]]));
            let steps = (longest.fold(0.0, f32::max) / (0.5 * CELL)).ceil().max(1.0) as usize;
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let w = [i, j, steps - i - j].map(|n| n as f32 / steps as f32);
                    let at = |of: &dyn Fn(usize) -> Vec3| -> Vec3 {
                        (0..3).map(|k| w[k] * of(corners[k])).sum()
                    };
                    let point = at(&|v| from.positions[v]);
                    let shift = at(&|v| to[v] - from.positions[v]);
                    let node = ((point - origin) / CELL).round().as_ivec3();
                    let entry = on_skin.entry(index(size, node)).or_default();
                    *entry = (entry.0 + shift.as_dvec3(), entry.1 + 1.0);
                }
            }
        }
        let count = (size.x * size.y * size.z) as usize;
        let mut values = vec![DVec3::ZERO; count];
        let mut held = vec![false; count];
        for (node, (sum, weight)) in on_skin {
            (values[node], held[node]) = (sum / weight, true);
        }
        let mut warp = HarmonicWarp {
            origin,
            size,
            values,
        };
        (0..SWEEPS).for_each(|_| warp.relax(&held));
        warp
    }

    /// One sweep: each free node becomes the mean of its neighbours.
    fn relax(&mut self, held: &[bool]) {
        let (dx, dy, dz) = (
            1,
            self.size.x as usize,
            (self.size.x * self.size.y) as usize,
        );
        for z in 1..self.size.z - 1 {
            for y in 1..self.size.y - 1 {
                for x in 1..self.size.x - 1 {
                    let node = index(self.size, IVec3::new(x, y, z));
                    if !held[node] {
                        let v = &self.values;
                        let mean = (v[node - dx]
                            + v[node + dx]
                            + v[node - dy]
                            + v[node + dy]
                            + v[node - dz]
                            + v[node + dz])
                            / 6.0;
                        self.values[node] = v[node] + FACTOR * (mean - v[node]);
                    }
                }
            }
        }
    }

    /// Where a point goes: trilinear between nodes.
    pub fn at(&self, point: Vec3) -> Vec3 {
        let place = ((point - self.origin) / CELL)
            .clamp(Vec3::ZERO, (self.size - IVec3::splat(2)).as_vec3());
        let (low, part) = (place.floor().as_ivec3(), place - place.floor());
        let mut shift = DVec3::ZERO;
        for corner in 0..8 {
            let offset = IVec3::new(corner & 1, corner >> 1 & 1, corner >> 2);
            let weight = (0..3).map(|k| match offset[k] {
                0 => 1.0 - part[k],
                _ => part[k],
            });
            let weight: f32 = weight.product();
            shift += f64::from(weight) * self.values[index(self.size, low + offset)];
        }
        point + shift.as_vec3()
    }

    pub fn mesh(&self, mesh: &TriMesh) -> TriMesh {
        TriMesh {
            positions: mesh.positions.iter().map(|p| self.at(*p)).collect(),
            triangles: mesh.triangles.clone(),
        }
    }
}

fn index(size: IVec3, node: IVec3) -> usize {
    (node.x + size.x * (node.y + size.y * node.z)) as usize
}
