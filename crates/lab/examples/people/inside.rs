//! Whether bones stay inside the layers, and ribs out of the muscles.

use std::fmt;

use glam::Vec3;
use rayon::prelude::*;
use supple_anatomy::Layers;
use supple_anatomy::template::{Group, LayeredBody};
use supple_geom::{Surface, TriMesh};

/// Distances up to which surfaces only touch \[m\].
const TOUCH: f32 = 1e-3;

/// Bones that are left out: the mouth's inside belongs to the skin, and they lie around it.
const AROUND_MOUTH: [&str; 6] = [
    "skull",
    "mandible",
    "vertebra_C1",
    "vertebra_C2",
    "vertebra_C3",
    "vertebra_C4",
];

/// Where bones leave the surfaces around them.
pub struct Inside {
    vertices: usize,
    /// For skeleton surface, muscle surface and skin: vertices farther out than [`TOUCH`], and how far the farthest is out \[m\] of
    /// which bone.
    outside: [(usize, f32, String); 3],
}

/// Share of the bones' vertices that may leave skeleton surface, muscle surface and skin, and how far \[m\].
const SHARES: [f64; 3] = [0.03, 0.005, 0.002];
const FAR: [f32; 3] = [20e-3, 4e-3, 3e-3];

impl Inside {
    pub fn of(template: &LayeredBody, layers: &Layers, bones: &[TriMesh]) -> Inside {
        let surfaces = [
            layers.skeleton_mesh(),
            layers.muscle_mesh(),
            layers.skin_mesh(),
        ]
        .map(Surface::new);
        let named = || {
            (template
                .bones
                .iter()
                .map(|b| b.bone.name.as_str())
                .zip(bones))
            .filter(|(name, _)| !AROUND_MOUTH.contains(name))
        };
        let outside = surfaces.map(|surface| {
            let mut sum = (0, 0.0, String::new());
            for (name, mesh) in named() {
                let out = outward(&surface, &mesh.positions);
                sum.0 += out.iter().filter(|d| **d > TOUCH).count();
                let most = out.into_iter().fold(f32::MIN, f32::max);
                if most > sum.1 {
                    (sum.1, sum.2) = (most, name.to_owned());
                }
            }
            sum
        });
        Inside {
            vertices: named().map(|(_, mesh)| mesh.positions.len()).sum(),
            outside,
        }
    }

    /// Whether few vertices leave the surfaces, and not far.
    pub fn holds(&self) -> bool {
        (0..3).all(|k| {
            let (count, far, _) = &self.outside[k];
            *count as f64 <= SHARES[k] * self.vertices as f64 && *far <= FAR[k]
        })
    }
}

impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "bones out of")?;
        let names = ["skeleton surface", "muscle surface", "skin"];
        for (what, (count, far, bone)) in names.iter().zip(&self.outside) {
            let share = 100.0 * *count as f64 / self.vertices as f64;
            write!(f, " {what} {share:.2} % ({:.1} mm {bone})", 1e3 * far)?;
        }
        Ok(())
    }
}

/// How far points are outside a closed surface \[m\]; negative inside.
fn outward(surface: &Surface, points: &[Vec3]) -> Vec<f32> {
    (points.par_iter())
        .map(|p| surface.signed_distance(*p).unwrap_or(f32::INFINITY))
        .collect()
}

/// Where ribs and sternum leave the muscle surface, and how deep they are in muscles of the trunk.
pub struct Ribs {
    /// For each vertex how far it is out of the muscle surface \[m\].
    out: Vec<f32>,
    /// For each vertex how deep it is in a muscle \[m\]; negative outside.
    depth: Vec<f32>,
}

impl Ribs {
    pub fn of(
        template: &LayeredBody,
        layers: &Layers,
        bones: &[TriMesh],
        muscles: &[TriMesh],
    ) -> Ribs {
        let is_rib = |name: &str| name.starts_with("rib") || name.starts_with("sternum");
        let points: Vec<Vec3> = (template.bones.iter().zip(bones))
            .filter(|(bone, _)| is_rib(&bone.bone.name))
            .flat_map(|(_, mesh)| mesh.positions.iter().copied())
            .collect();
        let trunk = |group: Group| {
            let trunk = [Group::Chest, Group::Abdomen, Group::Back, Group::Shoulder];
            trunk.contains(&group)
        };
        let flesh = (template.muscles.iter().zip(muscles))
            .filter(|(muscle, _)| trunk(muscle.group))
            .map(|(_, mesh)| mesh);
        let flesh = Surface::new(TriMesh::merged(flesh));
        Ribs {
            out: outward(&Surface::new(layers.muscle_mesh()), &points),
            depth: outward(&flesh, &points).iter().map(|d| -d).collect(),
        }
    }

    /// How much deeper in muscles each vertex is than in the template \[m\], ascending.
    fn deeper(&self, template: &Ribs) -> Vec<f32> {
        let mut deeper: Vec<f32> = (self.depth.iter().zip(&template.depth))
            .map(|(a, b)| a.max(0.0) - b.max(0.0))
            .collect();
        deeper.sort_by(f32::total_cmp);
        deeper
    }

    /// Whether ribs stay below the muscle surface and in no muscle deeper than in the template.
    pub fn holds(&self, template: &Ribs) -> bool {
        let deeper = self.deeper(template);
        self.out.iter().all(|d| *d <= TOUCH) && deeper[deeper.len() * 95 / 100] <= 3.0 * TOUCH
    }

    pub fn text(&self, template: &Ribs) -> String {
        let deeper = self.deeper(template);
        let at = |share: usize| 1e3 * deeper[(deeper.len() - 1) * share / 1000];
        let count = self.out.iter().filter(|d| **d > TOUCH).count();
        let in_muscle = self.depth.iter().filter(|d| **d > TOUCH).count();
        format!(
            "ribs: {count} of {} vertices out of the muscle surface ({:.1} mm), {in_muscle} in muscles; deeper than in the template by {:.1} mm at the 95th, {:.1} at the 99th percentile, {:.1} at most",
            self.out.len(),
            1e3 * self.out.iter().copied().fold(f32::MIN, f32::max),
            at(950),
            at(990),
            at(1000)
        )
    }
}
