//! Whether bones stay inside the layers, and ribs out of the muscles.

use std::fmt;

use rayon::prelude::*;
use supple_anatomy::Layers;
use supple_anatomy::template::{Group, Template};
use supple_geom::surface::Ray;
use supple_geom::{Surface, TriMesh};

/// Where bones leave the surfaces around them. Bones of head, hands and toes, which have no layers, count for the skin alone.
pub struct Inside {
    vertices: usize,
    /// For skeleton surface, muscle surface and skin: vertices outside, and how far the farthest is out \[m\] of which bone.
    outside: [(usize, f32, String); 3],
}

/// Vertices that may leave a surface beyond those of the template, over all, and how far \[m\].
const SHARE: f64 = 0.01;
const FAR: f32 = 2e-3;

impl Inside {
    pub fn of(template: &Template, layers: &Layers, bones: &[TriMesh]) -> Inside {
        let surfaces = [
            layers.skeleton_mesh(),
            layers.muscle_mesh(),
            layers.skin_mesh(),
        ]
        .map(Surface::new);
        let named = || template.bones.iter().map(|b| &b.bone.name).zip(bones);
        let outside = surfaces.map(|surface| {
            let mut sum = (0, 0.0, String::new());
            for (name, mesh) in named() {
                let distances: Vec<f32> = (mesh.positions.par_iter())
                    .map(|p| surface.signed_distance(*p).unwrap_or(f32::INFINITY))
                    .collect();
                sum.0 += distances.iter().filter(|d| **d > 1e-4).count();
                let most = distances.into_iter().fold(f32::MIN, f32::max);
                if most > sum.1 {
                    (sum.1, sum.2) = (most, name.clone());
                }
            }
            sum
        });
        Inside {
            vertices: bones.iter().map(|m| m.positions.len()).sum(),
            outside,
        }
    }

    /// Whether it is about as good as the template's own.
    pub fn beyond(&self, template: &Inside) -> bool {
        let share = |of: &Inside, k: usize| of.outside[k].0 as f64 / of.vertices as f64;
        (1..3).all(|k| {
            share(self, k) <= share(template, k) + SHARE
                && self.outside[k].1 <= template.outside[k].1 + FAR
        })
    }
}

impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "bones out of")?;
        for (what, (count, far, bone)) in ["skeleton surface", "muscle surface", "skin"]
            .iter()
            .zip(&self.outside)
        {
            let share = 100.0 * *count as f64 / self.vertices as f64;
            write!(f, " {what} {share:.2} % ({:.1} mm {bone})", 1e3 * far)?;
        }
        Ok(())
    }
}

/// Where ribs and sternum cut through muscles of the trunk.
pub struct RibCuts {
    /// Edges of ribs that pass through a muscle's surface, and the other way round.
    edges: usize,
    /// How deep a vertex of a rib lies in a muscle, and a vertex of a muscle in a rib \[m\], with its name.
    depth: [(f32, String); 2],
    /// Muscles with a vertex of a rib deeper inside than [`TOUCH`].
    muscles: Vec<String>,
}

/// Depth up to which surfaces only touch \[m\].
const TOUCH: f32 = 1e-3;

impl RibCuts {
    pub fn of(template: &Template, bones: &[TriMesh], muscles: &[TriMesh]) -> RibCuts {
        let is_rib = |name: &str| name.starts_with("rib") || name.starts_with("sternum");
        let ribs: Vec<&TriMesh> = (template.bones.iter().zip(bones))
            .filter(|(bone, _)| is_rib(&bone.bone.name))
            .map(|(_, mesh)| mesh)
            .collect();
        let cage = Surface::new(TriMesh::merged(ribs));
        let trunk = |group: Group| {
            matches!(
                group,
                Group::Chest | Group::Abdomen | Group::Back | Group::Shoulder
            )
        };
        let mut cuts = RibCuts {
            edges: 0,
            depth: Default::default(),
            muscles: Vec::new(),
        };
        for (muscle, mesh) in template.muscles.iter().zip(muscles) {
            if !trunk(muscle.group) {
                continue;
            }
            cuts.edges += crossings(mesh, &cage);
            let surface = Surface::new(mesh.clone());
            let near: TriMesh = near(cage.mesh(), &surface);
            cuts.edges += crossings(&near, &surface);
            let depths = [deepest(&near, &surface), deepest(mesh, &cage)];
            for (slot, depth) in cuts.depth.iter_mut().zip(depths) {
                if depth > slot.0 {
                    *slot = (depth, muscle.name.clone());
                }
            }
            if depths[0] > TOUCH || depths[1] > TOUCH {
                cuts.muscles.push(muscle.name.clone());
            }
        }
        cuts
    }

    /// Whether no more muscles are cut than in the template.
    pub fn beyond(&self, template: &RibCuts) -> bool {
        let depth = |of: &RibCuts| of.depth[0].0.max(of.depth[1].0);
        self.muscles.len() <= template.muscles.len() && depth(self) <= depth(template) + TOUCH
    }
}

impl fmt::Display for RibCuts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [rib, muscle] = &self.depth;
        write!(
            f,
            "ribs and muscles: {} crossings, rib {:.1} mm in {}, {} {:.1} mm in rib, {} cut",
            self.edges,
            1e3 * rib.0,
            rib.1,
            muscle.1,
            1e3 * muscle.0,
            self.muscles.len()
        )
    }
}

/// The triangles of a mesh within the box of a surface.
fn near(mesh: &TriMesh, surface: &Surface) -> TriMesh {
    let bounds = surface.bounds();
    let inside = |t: &u32| {
        let corners = mesh.corners(*t as usize);
        let (low, high) = corners
            .iter()
            .fold((corners[0], corners[0]), |(low, high), p| {
                (low.min(*p), high.max(*p))
            });
        low.cmple(bounds.max).all() && high.cmpge(bounds.min).all()
    };
    let all = 0..mesh.triangles.len() as u32;
    mesh.extract(all.filter(inside)).mesh
}

/// Edges of a mesh that pass through a surface.
fn crossings(mesh: &TriMesh, surface: &Surface) -> usize {
    let passes = |[a, b]: [u32; 2]| {
        let (origin, end) = (mesh.positions[a as usize], mesh.positions[b as usize]);
        let ray = Ray {
            origin,
            direction: end - origin,
        };
        a < b && origin != end && surface.any_hit(ray, 1.0)
    };
    (mesh.triangles.par_iter())
        .map(|&[a, b, c]| {
            let edges = [[a, b], [b, c], [c, a]];
            edges.into_iter().filter(|e| passes(*e)).count()
        })
        .sum()
}

/// How deep the deepest vertex of a mesh lies inside a surface \[m\].
fn deepest(mesh: &TriMesh, surface: &Surface) -> f32 {
    let bounds = surface.bounds();
    (mesh.positions.par_iter())
        .filter(|p| p.cmple(bounds.max).all() && p.cmpge(bounds.min).all())
        .map(|p| -surface.signed_distance(*p).unwrap_or(0.0))
        .reduce(|| 0.0, f32::max)
}
