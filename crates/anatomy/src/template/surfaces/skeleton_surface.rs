//! The skeleton surface B: the skin shrunk onto the skeleton wrap by non-rigid registration (4.1)–(4.4).

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::adjacency::{Adjacency, Rows};
use supple_geom::normals::vertex_normals;
use supple_geom::sided::SidedSurface;
use supple_geom::sparse::SparseError;

use crate::inversion_guard::InversionGuard;
use crate::surface_fit::{Pull, SurfaceFit, VertexTarget};
use crate::template::places::limbs::{Limbs, point_limbs, skin_limbs};
use crate::template::places::mirror::{mirrored_vertices, symmetric};
use crate::template::surfaces::correspondence::WrapTargets;
use crate::template::wrapping::wrap::is_wrapped;
use crate::{Body, Bone};

/// Bending weights in turn, with the iterations at each; Laplacians are renewed at each. The thesis goes from 1 to 1e-7 in
/// its own units. In metres, on the embedded man the mean distance to the wrap is 25 mm after 1e-4, 12 after 1e-6 and 5 after
/// 1e-8. Smaller weights and other numbers of iterations have not been tried.
const SCHEDULE: [(f64, usize); 5] = [(1e-4, 3), (1e-5, 5), (1e-6, 7), (1e-7, 8), (1e-8, 12)];

/// Weights of (4.3).
const CLOSEST: f64 = 0.1;
const FIXED: f64 = 1.0;
const COLLISION: f64 = 100.0;

/// Weight of the place on the line along the mean normal. The thesis samples the one-ring for a better place where (4.4)
/// exceeds 0.01; this pull has the same minimum and acts before the score is bad. On the embedded man the mean score is 0.127
/// with closest points alone, 0.102 with fixed correspondences, 0.033 with both. The sampling has not been compared.
const ON_LINE: f64 = 0.2;

/// Below this distance from the skin \[m\] that weight grows with its inverse square, up to a factor: where the bone is near, a
/// small shift is a large angle.
const NEAR_SKIN: f64 = 0.02;
const NEAR_FACTOR: f64 = 25.0;

/// Weight of the skin against a vertex that comes too near.
const BELOW_SKIN: f64 = 50.0;

/// Weight of a point of the wrap or a bone that sticks out, times the area it stands for; it grows by a factor at each
/// iteration while it does, up to a bound.
const ENCLOSED: f64 = 5.0;
const ENCLOSE_GROWTH: f64 = 1.5;
const LARGEST_ENCLOSED: f64 = 2000.0;

/// The last iterations go on, up to a number, until no point sticks out farther than this \[m\]: weights of points outside grow
/// meanwhile. After the schedule alone 24 of 56,511 points of the embedded woman stuck out, by up to 6 mm.
const STICKS_OUT: f32 = 0.0015;
const MORE_ITERATIONS: usize = 30;

/// Bending weight from which on points of the wrap are enclosed.
const ENCLOSE_FROM: f64 = 1e-5;

/// Bending weight down to which both sides of a symmetric skin go the same way; below, each encloses its own side of the wrap, which is not quite
/// symmetric.
const SYMMETRIC_TO: f64 = 1e-7;

/// Distance kept from the wrap and from the skin, the latter where there is room \[m\].
const OFF_WRAP: f32 = 0.001;
const SKIN_DEPTH: f32 = 0.002;

/// How far points stick out at most that are looked for \[m\].
const REACH: f32 = 0.03;

/// Depth of the first inner surface \[m\].
const FIRST_DEPTH: f64 = 0.001;

/// Weight against shear of a prism that stops a vertex, how it grows while it does, how it fades when it no longer does, and
/// its bound, which is below the weight of collisions. One setting, not tuned.
const FIRST_STIFFNESS: f64 = 0.05;
const STIFFEN: f64 = 2.0;
const SOFTEN: f64 = 0.8;
const LARGEST_STIFFNESS: f64 = 50.0;

/// What keeps triangles on top of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shrinking {
    /// Fixed correspondences [4.2.2].
    pub fixed: bool,
    /// Closest points are shifted towards better alignment.
    pub shifted: bool,
}

impl Default for Shrinking {
    fn default() -> Self {
        Shrinking {
            fixed: true,
            shifted: true,
        }
    }
}

/// Why there is no skeleton surface.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SkeletonSurfaceError {
    /// The wrap has no triangles.
    #[error("the skeleton wrap is empty; make it from placed bones first")]
    NoWrap,
    /// The solve failed.
    #[error(
        "the skin cannot be shrunk onto the skeleton wrap: {0}; check the skin for vertices without triangles"
    )]
    Solve(#[from] SparseError),
}

/// Shrinks the skin of a body onto the wrap of its placed bones. Vertices without layers stay on the skin.
pub fn skeleton_surface(
    body: &Body,
    bones: &[Bone],
    wrap: &TriMesh,
    shrinking: Shrinking,
) -> Result<Vec<Vec3>, SkeletonSurfaceError> {
    if wrap.triangles.is_empty() {
        return Err(SkeletonSurfaceError::NoWrap);
    }
    let targets = WrapTargets::new(wrap, point_limbs(&wrap.positions, bones));
    let points: Vec<Vec3> = (bones.iter().filter(|bone| is_wrapped(&bone.name)))
        .flat_map(|bone| bone.mesh.positions.iter().copied())
        .collect();
    let (layered, limbs) = (body.layered(), skin_limbs(body));
    shrunk(&body.mesh, &layered, &limbs, &targets, &points, shrinking)
}

/// The same for any skin, layered vertices and limbs, and points of bones to enclose beside those of the wrap.
pub fn shrunk(
    skin: &TriMesh,
    layered: &[bool],
    limbs: &[Limbs],
    wrap: &WrapTargets,
    bone_points: &[Vec3],
    shrinking: Shrinking,
) -> Result<Vec<Vec3>, SkeletonSurfaceError> {
    let mut shrink = Shrink::new(skin, layered, limbs, wrap, bone_points, shrinking);
    for (bending, iterations) in SCHEDULE {
        shrink.fit.renew(&shrink.x);
        for _ in 0..iterations {
            shrink.step(bending)?;
        }
    }
    let (last, _) = SCHEDULE[SCHEDULE.len() - 1];
    for _ in 0..MORE_ITERATIONS {
        if shrink.sticks_out <= STICKS_OUT {
            break;
        }
        shrink.step(last)?;
    }
    Ok(shrink.x.iter().map(|p| p.as_vec3()).collect())
}

struct Shrink<'a> {
    skin: SidedSurface,
    outer: Vec<DVec3>,
    limbs: &'a [Limbs],
    wrap: &'a WrapTargets,
    shrinking: Shrinking,
    /// Fixed correspondences, by vertex.
    fixed: Vec<Option<DVec3>>,
    ring: Rows,
    layered: &'a [bool],
    areas: Vec<f64>,
    fit: SurfaceFit,
    bar: InversionGuard,
    /// Points to enclose and their weights.
    enclosed: Vec<(Vec3, f64)>,
    /// How far one of them stuck out at most before the last iteration \[m\].
    sticks_out: f32,
    /// Weight of each prism against shear.
    stiffness: Vec<f64>,
    /// The other side of each vertex of a symmetric skin around a symmetric wrap. Where bones are far, as at the waist, a side would go for ribs or for the crest by chance.
    other: Option<Vec<u32>>,
    x: Vec<DVec3>,
}

impl<'a> Shrink<'a> {
    fn new(
        skin: &TriMesh,
        layered: &'a [bool],
        limbs: &'a [Limbs],
        wrap: &'a WrapTargets,
        bone_points: &[Vec3],
        shrinking: Shrinking,
    ) -> Self {
        let outer: Vec<DVec3> = skin.positions.iter().map(|p| p.as_dvec3()).collect();
        let held: Vec<bool> = layered.iter().map(|l| !l).collect();
        let normals = vertex_normals(skin);
        let mut fixed = vec![None; outer.len()];
        if shrinking.fixed {
            for (v, point) in wrap.fixed(&skin.positions, &normals, limbs, layered) {
                fixed[v as usize] = Some(point);
            }
        }
        let points = &wrap.surface.surface().mesh().positions;
        let enclosed = (points.iter().chain(bone_points))
            .map(|p| (*p, ENCLOSED))
            .collect();
        let fit = SurfaceFit::new(&skin.triangles, &held, &outer);
        let bar = InversionGuard::below(&skin.triangles, &outer, layered);
        let mut x = outer.clone();
        let inset: Vec<DVec3> = (0..x.len())
            .map(|v| {
                if layered[v] {
                    x[v] - FIRST_DEPTH * normals[v].as_dvec3()
                } else {
                    x[v]
                }
            })
            .collect();
        bar.advance(&mut x, &inset);
        Shrink {
            skin: SidedSurface::new(skin.clone()),
            ring: Adjacency::new(skin).vertex_vertices,
            areas: fit.areas().to_vec(),
            outer,
            limbs,
            wrap,
            shrinking,
            fixed,
            layered,
            enclosed,
            sticks_out: 0.0,
            fit,
            stiffness: vec![0.0; bar.prisms().len()],
            other: mirrored_vertices(&skin.positions).filter(|_| wrap.is_symmetric()),
            bar,
            x,
        }
    }

    /// One iteration: targets, solve, and as much of the way as inverts no prism.
    fn step(&mut self, bending: f64) -> Result<(), SkeletonSurfaceError> {
        let surface = SidedSurface::new(TriMesh {
            positions: self.x.iter().map(|p| p.as_vec3()).collect(),
            triangles: self.skin.surface().mesh().triangles.clone(),
        });
        let lines = self.lines(surface.normals());
        let targets: Vec<VertexTarget> = (0..self.x.len())
            .into_par_iter()
            .map(|v| {
                if self.layered[v] {
                    self.target(v, surface.normals()[v], lines[v])
                } else {
                    VertexTarget::default()
                }
            })
            .collect();
        let mut pulls = if bending <= ENCLOSE_FROM {
            self.enclosing(&surface)
        } else {
            Vec::new()
        };
        pulls.extend(self.shears());
        let mut wanted = self.fit.solve(&self.x, bending, &targets, &pulls)?;
        if let Some(other) = self.other.as_ref().filter(|_| bending >= SYMMETRIC_TO) {
            wanted = symmetric(&wanted, other);
        }
        let wanted = self.below_skin(wanted);
        let has_stopped = self.bar.advance(&mut self.x, &wanted);
        for (stiffness, has_stopped) in self.stiffness.iter_mut().zip(has_stopped) {
            *stiffness = match has_stopped {
                true => (STIFFEN * *stiffness).clamp(FIRST_STIFFNESS, LARGEST_STIFFNESS),
                false if *stiffness > FIRST_STIFFNESS => SOFTEN * *stiffness,
                false => 0.0,
            };
        }
        Ok(())
    }

    /// Unit mean normals of skin and inner surface, smoothed a little.
    fn lines(&self, normals: &[Vec3]) -> Vec<DVec3> {
        let mut lines: Vec<DVec3> = (self.skin.normals().iter().zip(normals))
            .map(|(a, b)| a.as_dvec3() + b.as_dvec3())
            .collect();
        for _ in 0..3 {
            lines = (self.ring.iter().zip(&lines))
                .map(|(ring, line)| {
                    let sum: DVec3 = ring.iter().map(|&v| lines[v as usize]).sum();
                    0.5 * (*line + sum / ring.len().max(1) as f64)
                })
                .collect();
        }
        lines.iter().map(|l| l.normalize_or_zero()).collect()
    }

    /// All targets of one vertex (4.3).
    fn target(&self, v: usize, normal: Vec3, line: DVec3) -> VertexTarget {
        let (x, area) = (self.x[v], self.areas[v]);
        let mut target = VertexTarget::default();
        if let Some(found) = self.wrap.closest(x, normal, &self.limbs[v]) {
            match self.fixed[v] {
                Some(point) => target.add(point, FIXED * area),
                None => target.add(found.point, CLOSEST * area),
            }
            if self.shrinking.shifted {
                let along = (found.point - self.outer[v]).dot(line);
                let short = NEAR_SKIN / x.distance(self.outer[v]).max(1e-4);
                let weight = ON_LINE * (short * short).clamp(1.0, NEAR_FACTOR);
                target.add(self.outer[v] + along * line, weight * area);
            }
        }
        if let Some(near) = self.wrap.surface.near(x.as_vec3(), REACH)
            && near.signed < OFF_WRAP
        {
            let out = near.closest.position + OFF_WRAP * near.normal;
            target.add(out.as_dvec3(), COLLISION * area);
        }
        if let Some(near) = self.skin.near(x.as_vec3(), 2.0 * SKIN_DEPTH)
            && near.signed > -SKIN_DEPTH
        {
            let below = near.closest.position - SKIN_DEPTH * near.normal;
            target.add(below.as_dvec3(), BELOW_SKIN * area);
        }
        target
    }

    /// Points outside the inner surface pull the nearest triangle out.
    fn enclosing(&mut self, surface: &SidedSurface) -> Vec<Pull> {
        let wrap = self.wrap.surface.surface().mesh();
        let area = wrap.area() / wrap.positions.len().max(1) as f64;
        let layered = self.layered;
        let found: Vec<(f32, Pull)> = (self.enclosed.par_iter_mut())
            .filter_map(|(point, weight)| {
                let near = surface.near(*point, REACH)?;
                let vertices = surface.surface().mesh().triangles[near.closest.triangle as usize];
                let is_layered = vertices.iter().all(|&v| layered[v as usize]);
                if near.signed < -0.5 * OFF_WRAP || !is_layered {
                    return None;
                }
                if near.signed > 0.0 {
                    *weight = (ENCLOSE_GROWTH * *weight).min(LARGEST_ENCLOSED);
                }
                let out = (*point - near.closest.position).normalize_or(near.normal);
                let out = near.signed.signum() * out;
                let pull = Pull {
                    vertices,
                    shares: near.closest.barycentric.map(f64::from),
                    target: (*point + 0.5 * OFF_WRAP * out).as_dvec3(),
                    weight: *weight * area,
                };
                Some((near.signed, pull))
            })
            .collect();
        self.sticks_out = found.iter().map(|(out, _)| *out).fold(0.0, f32::max);
        found.into_iter().map(|(_, pull)| pull).collect()
    }

    /// Moves vertices back that would leave the skin.
    fn below_skin(&self, mut wanted: Vec<DVec3>) -> Vec<DVec3> {
        (wanted.par_iter_mut().enumerate())
            .filter(|(v, _)| self.layered[*v])
            .for_each(|(_, x)| {
                if let Some(near) = self.skin.near(x.as_vec3(), REACH)
                    && near.signed > -0.5 * SKIN_DEPTH
                {
                    let below = near.closest.position - 0.5 * SKIN_DEPTH * near.normal;
                    *x = below.as_dvec3();
                }
            });
        wanted
    }

    /// Prisms that stopped a vertex resist shear: the ways of their corners from the skin become alike, until they are
    /// prisms that cannot invert.
    fn shears(&self) -> Vec<Pull> {
        let triangles = &self.skin.surface().mesh().triangles;
        let stiff = self.bar.prisms().iter().zip(&self.stiffness);
        (stiff.filter(|(_, stiffness)| **stiffness > 0.0))
            .flat_map(|(&t, &stiffness)| {
                let [a, b, c] = triangles[t as usize];
                [[a, b, c], [b, c, a], [c, a, b]].map(|vertices| {
                    let [a, b, _] = vertices.map(|v| v as usize);
                    Pull {
                        vertices,
                        shares: [1.0, -1.0, 0.0],
                        target: self.outer[a] - self.outer[b],
                        weight: stiffness * 0.5 * (self.areas[a] + self.areas[b]),
                    }
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layers;
    use crate::layers::outside;
    use crate::template::wrapping::enclosure::enclosure;
    use supple_geom::shapes;

    /// A capsule of skin around a bent, knobbly wrap, its lower end without layers.
    fn shapes() -> (TriMesh, Vec<bool>, TriMesh) {
        let skin = shapes::capsule(0.08, 0.5, 28, 36);
        let layered = skin.positions.iter().map(|p| p.y > -0.2).collect();
        let mut wrap = shapes::capsule(0.025, 0.42, 40, 70);
        for p in &mut wrap.positions {
            let knob = 1.0 + 0.5 * (25.0 * p.y).cos().max(0.0);
            p.x = p.x * knob + 0.02 * (8.0 * p.y).cos();
            p.z *= knob;
        }
        (skin, layered, wrap)
    }

    fn shrunk_in(threads: usize, shrinking: Shrinking) -> (Layers, TriMesh) {
        let (skin, layered, wrap) = shapes();
        let targets = WrapTargets::new(&wrap, vec![Limbs::default(); wrap.positions.len()]);
        let limbs = vec![Limbs::default(); skin.positions.len()];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let skeleton = (pool.unwrap())
            .install(|| shrunk(&skin, &layered, &limbs, &targets, &[], shrinking))
            .unwrap();
        let layers = Layers {
            muscle: skeleton.clone(),
            skeleton,
            skin: skin.positions,
            triangles: skin.triangles,
            layered,
        };
        (layers, wrap)
    }

    #[test]
    fn the_skin_shrinks_around_the_wrap_without_inverted_prisms() {
        let (layers, wrap) = shrunk_in(2, Shrinking::default());
        let found = layers.measures();
        assert_eq!(found.inverted_soft, 0);
        assert_eq!(
            outside(&layers.skin_mesh(), &layers.skeleton, &layers.layered),
            0
        );
        assert!(found.alignment.mean < 0.03, "{:?}", found.alignment);
        let inside = enclosure(&layers.skeleton_mesh(), &layers.layered, &wrap.positions);
        assert!(
            inside.inside > 0.99 && inside.farthest < 0.001,
            "{inside:?}"
        );
        // Not just inside: near.
        let inner: Vec<f32> = {
            let surface = SidedSurface::new(wrap);
            let chosen = (0..layers.skin.len()).filter(|v| layers.skin[*v].y > -0.1);
            chosen
                .map(|v| surface.near(layers.skeleton[v], 1.0).unwrap().signed)
                .collect()
        };
        let mean = inner.iter().sum::<f32>() / inner.len() as f32;
        assert!(mean < 0.004, "{mean}");
        for v in (0..layers.skin.len()).filter(|v| !layers.layered[*v]) {
            assert_eq!(layers.skin[v], layers.skeleton[v]);
        }
    }

    #[test]
    fn alignment_pays_and_threads_do_not_matter() {
        let plain = Shrinking {
            fixed: false,
            shifted: false,
        };
        let (plain, _) = shrunk_in(1, plain);
        let (full, _) = shrunk_in(1, Shrinking::default());
        assert!(plain.measures().alignment.mean > 2.0 * full.measures().alignment.mean);
        assert_eq!(full, shrunk_in(2, Shrinking::default()).0);
    }

    #[test]
    fn an_empty_wrap_is_refused() {
        let body = Body {
            sex: crate::Sex::Male,
            mesh: shapes::icosphere(0.1, 1),
            file_vertices: Vec::new(),
            skeleton: Default::default(),
            influences: Vec::new(),
        };
        let error = skeleton_surface(&body, &[], &TriMesh::default(), Shrinking::default());
        assert_eq!(error.unwrap_err(), SkeletonSurfaceError::NoWrap);
    }
}
