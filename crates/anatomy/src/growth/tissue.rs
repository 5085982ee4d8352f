//! The layers while they change, and their volumes.

use glam::{DVec3, Vec3};

use crate::layers::{Layers, layered_triangles, prism_volumes};
use crate::template::LayeredBody;

/// Iterations that find the wall's thickness.
const THICKNESS_ITERATIONS: usize = 6;

/// Skin, muscle surface and the thickness of muscles, by vertex of the body.
#[derive(Clone, Debug, PartialEq)]
pub struct Tissue {
    /// Skin \[m\].
    pub skin: Vec<DVec3>,
    /// Muscle surface \[m\].
    pub muscle: Vec<DVec3>,
    /// Length of the line from skin to skeleton surface inside muscles \[m\].
    pub thickness: Vec<f64>,
}

impl Tissue {
    /// That of an anatomy.
    pub fn of(anatomy: &LayeredBody) -> Self {
        Tissue {
            skin: double(&anatomy.layers.skin),
            muscle: double(&anatomy.layers.muscle),
            thickness: anatomy.thickness.iter().map(|t| f64::from(*t)).collect(),
        }
    }

    /// The layers around a skeleton surface.
    pub fn layers(&self, before: &Layers) -> Layers {
        // Held vertices keep their bits.
        let single = |points: &[DVec3], before: &[Vec3]| -> Vec<Vec3> {
            (points.iter().zip(before))
                .map(|(p, b)| if *p == b.as_dvec3() { *b } else { p.as_vec3() })
                .collect()
        };
        Layers {
            triangles: before.triangles.clone(),
            skin: single(&self.skin, &before.skin),
            muscle: single(&self.muscle, &before.muscle),
            skeleton: before.skeleton.clone(),
            layered: before.layered.clone(),
        }
    }
}

pub(super) fn double(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}

/// What does not change: connectivity and skeleton surface.
#[derive(Clone, Debug)]
pub struct TissueMesh {
    /// Triangles with a layered corner.
    pub triangles: Vec<[u32; 3]>,
    /// Of those, the ones whose corners are all over the belly's wall.
    belly: Vec<[u32; 3]>,
    /// Layered vertices over the belly's wall.
    pub is_belly: Vec<bool>,
    /// Skeleton surface \[m\].
    pub skeleton: Vec<DVec3>,
}

impl TissueMesh {
    /// That of an anatomy.
    pub fn new(anatomy: &LayeredBody) -> Self {
        let layers = &anatomy.layers;
        let chosen = layered_triangles(&layers.triangles, &layers.layered);
        let triangles: Vec<[u32; 3]> = (chosen.iter())
            .map(|&t| layers.triangles[t as usize])
            .collect();
        let is_belly: Vec<bool> = (anatomy.regions.abdomen.iter().zip(&layers.layered))
            .map(|(a, l)| *a && *l)
            .collect();
        TissueMesh {
            belly: (triangles.iter())
                .filter(|t| t.iter().all(|&v| is_belly[v as usize]))
                .copied()
                .collect(),
            is_belly,
            triangles,
            skeleton: double(&layers.skeleton),
        }
    }

    /// Volume between skin and muscle surface \[m³\]: beyond the layers both are one and cancel.
    pub fn fat_volume(&self, tissue: &Tissue) -> f64 {
        self.between(&tissue.skin, &tissue.muscle)
    }

    /// Volume between muscle surface and skeleton surface \[m³\].
    pub fn muscle_volume(&self, tissue: &Tissue) -> f64 {
        self.between(&tissue.muscle, &self.skeleton)
    }

    fn between(&self, outer: &[DVec3], inner: &[DVec3]) -> f64 {
        let cone = |points: &[DVec3], t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        (self.triangles.iter())
            .map(|t| cone(outer, t) - cone(inner, t))
            .sum()
    }

    /// Area of the skin over the layers \[m²\].
    pub fn skin_area(&self, tissue: &Tissue) -> f64 {
        (self.triangles.iter())
            .map(|t| {
                let [a, b, c] = t.map(|v| tissue.skin[v as usize]);
                0.5 * (b - a).cross(c - a).length()
            })
            .sum()
    }

    /// Volume of the belly between its wall and the skeleton surface \[m³\]: organs and the fat among them.
    pub fn cavity(&self, tissue: &Tissue) -> f64 {
        let wall = |v: u32| {
            let v = v as usize;
            let line = self.skeleton[v] - tissue.muscle[v];
            tissue.muscle[v] + line.clamp_length_max(tissue.thickness[v])
        };
        (self.belly.iter())
            .map(|t| {
                let tets = prism_volumes(*t, wall, |v| self.skeleton[v as usize]);
                tets.iter().sum::<f64>()
            })
            .sum()
    }

    /// Volume of muscles: the muscle layer less the belly's cavity \[m³\].
    pub fn lean_volume(&self, tissue: &Tissue) -> f64 {
        self.muscle_volume(tissue) - self.cavity(tissue)
    }

    /// Makes the belly's wall thinner or thicker until muscles have a volume \[m³\] again: a wall that is stretched gets thinner.
    pub fn settle_wall(&self, tissue: &mut Tissue, lean_volume: f64) {
        let start = tissue.thickness.clone();
        let layer = self.muscle_volume(tissue);
        let with = |factor: f64, tissue: &mut Tissue| {
            for (v, t) in tissue.thickness.iter_mut().enumerate() {
                if self.is_belly[v] {
                    *t = factor * start[v];
                }
            }
            layer - self.cavity(tissue) - lean_volume
        };
        let (mut a, mut b) = (1.0, 0.98);
        let (mut fa, mut fb) = (with(a, tissue), with(b, tissue));
        for _ in 0..THICKNESS_ITERATIONS {
            if (fb - fa).abs() < 1e-12 || fb.abs() < 1e-9 {
                break;
            }
            let next = (b - fb * (b - a) / (fb - fa)).clamp(0.2, 3.0);
            (a, fa) = (b, fb);
            (b, fb) = (next, with(next, tissue));
        }
        let _ = with(b, tissue);
    }
}
