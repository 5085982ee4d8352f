//! The skeleton surface inside a person's skin: (4.7) to (4.9), by a local/global solver.

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::higham::closest_rotation;
use supple_geom::sparse::SparseError;
use supple_geom::{Surface, TriMesh};

use super::rows::{Bending, Rigidity, Rows, Solver};
use super::scale::Scaled;
use super::sheet::Sheet;
use super::untangle::untangled_skeleton;
use super::{FitTemplate, PersonSkin};
use crate::inversion_guard::InversionGuard;

/// Weight of bending [4.2.4].
const BENDING: f64 = 0.1;
/// Weight of the prisms; the thesis has 0.01, without places and rigidity.
const FLESH: f64 = 1e-3;
/// Weight of rigidity \[1/m²\], which the thesis does not have: without it bones of heavy people shrink by 5 to 30 %, since
/// prisms whose skin is wider pull their inner triangles together.
const RIGIDITY: f64 = 1000.0;
/// Weight of a vertex's place in the scaled template \[1/m²\]: the rig's joints say where bones are. With rigidity it leaves
/// bends of less than about 20 cm to the rest.
const PLACE: f64 = 100.0;
/// Weight of a collision [4.2.4].
const COLLISION: f64 = 50.0;
/// Stretch of prisms along the skin's normal that costs nothing [4.2.4].
const FREE_STRETCH: [f64; 2] = [0.2, 5.0];
/// Depth below the skin to which collisions are projected \[m\] [4.2.4].
const DEPTH: f64 = 2e-3;
/// Thickness that prisms are taken to have at least \[m\]: below it their gradients are noise.
const LEAST_THICKNESS: f64 = 1e-3;
/// Iterations of one minimisation: it ends earlier once no vertex moves by more than `CONVERGED` \[m\].
const ITERATIONS: usize = 60;
const CONVERGED: f64 = 1e-4;
/// Rounds of minimisation and detection of collisions and inversions.
const ROUNDS: usize = 8;
/// Factor by which weights of collisions and inverted prisms grow each round they are not resolved. The thesis adds 1; its
/// 50 is small against bending of our meshes (8000 a vertex), and doubling gets there in fewer rounds.
const GROWTH: f64 = 2.0;
/// Most growth of a prism's weight: what is still inverted then is inverted at rest, or folded by the skin itself, and is
/// left to [`untangled_skeleton`].
const MOST_GROWTH: f64 = 256.0;

/// The skeleton surface and how its fit went.
#[derive(Clone, Debug)]
pub struct SkeletonFit {
    /// The skeleton surface \[m\], one position for each vertex of the body.
    pub skeleton: Vec<Vec3>,
    /// Rounds of minimisation.
    pub rounds: usize,
    /// Vertices outside the skin at the end.
    pub outside: usize,
    /// Inverted prisms between skin and skeleton surface at the end.
    pub inverted: usize,
    /// Vertices that were moved along their line to the skin at the end, to turn the last inverted prisms.
    pub repaired: usize,
}

/// Fits the skeleton surface of a scaled template into a person's skin.
pub fn fitted_skeleton(
    template: &FitTemplate,
    scaled: &Scaled,
    person: &PersonSkin,
) -> Result<SkeletonFit, SparseError> {
    let layers = template.layers;
    let sheet = Sheet::new(&layers.triangles, &layers.layered);
    let skin: Vec<DVec3> = sheet
        .gather(person.skin)
        .iter()
        .map(|p| p.as_dvec3())
        .collect();
    let (rest_skin, rest) = (sheet.gather(&scaled.skin), sheet.gather(&scaled.skeleton));
    // On the rim all surfaces are the skin.
    let mut x = rest.clone();
    x[sheet.free..].copy_from_slice(&skin[sheet.free..]);

    let mut rows = Rows::new(sheet.free);
    let bending = Bending::append(&mut rows, &sheet, &rest, &x, BENDING);
    let rigidity = Rigidity::append(&mut rows, &sheet, &rest, &x, RIGIDITY);
    let mut prisms = Prisms::append(&mut rows, &sheet, &rest_skin, &rest, &skin, &x);
    let surface = Surface::new(TriMesh {
        positions: person.skin.to_vec(),
        triangles: layers.triangles.clone(),
    });
    let depths: Vec<f64> = (0..sheet.free)
        .map(|v| DEPTH.min(0.5 * rest_skin[v].distance(rest[v])))
        .collect();

    x.truncate(sheet.free);
    let outer: Vec<DVec3> = person.skin.iter().map(|p| p.as_dvec3()).collect();
    let bar = InversionGuard::below(&layers.triangles, &outer, &layers.layered);
    let mut collisions = vec![0.0; sheet.free];
    let places: Vec<(f64, DVec3)> = rest[..sheet.free].iter().map(|p| (PLACE, *p)).collect();
    let mut targets = places.clone();
    let mut solver = Solver::default();
    let mut rounds = 0;
    for round in 0..ROUNDS {
        rounds = round + 1;
        let diagonal: Vec<f64> = collisions.iter().map(|w| w + PLACE).collect();
        solver.factorise(&rows.matrix(&diagonal))?;
        let points: Vec<(f64, DVec3)> = (places.iter().zip(&targets).zip(&collisions))
            .map(|(((_, place), (_, target)), weight)| {
                let sum = PLACE + weight;
                (sum, (PLACE * *place + *weight * *target) / sum)
            })
            .collect();
        let local = |x: &[DVec3], targets: &mut [DVec3]| {
            bending.targets(&rows, x, targets);
            rigidity.targets(&rows, x, targets);
            prisms.targets(&rows, x, targets);
        };
        minimise(&rows, &local, &solver, &points, &mut x);
        let found = collisions_of(&surface, &x, &depths);
        let inverted = bar.inverted_prisms(&spread(&sheet, &x, &outer));
        if found.iter().all(Option::is_none) && inverted.is_empty() {
            break;
        }
        for (v, target) in found.into_iter().enumerate() {
            if let Some(target) = target {
                collisions[v] = (collisions[v] * GROWTH).max(COLLISION);
                targets[v].1 = target;
            } else if collisions[v] > 0.0 {
                // Once resolved it is held, or it would come back next round.
                targets[v].1 = deepest(&surface, x[v], targets[v].1);
            }
        }
        prisms.stiffen(&mut rows, &inverted);
    }
    let wanted = spread(&sheet, &x, &outer);
    let (whole, repaired) = untangled_skeleton(&bar, layers, &surface, &wanted);
    let found = collisions_of(
        &surface,
        &sheet.gather(&whole)[..sheet.free],
        &vec![0.0; sheet.free],
    );
    let inverted = bar.inverted_prisms(&whole);
    Ok(SkeletonFit {
        skeleton: whole.iter().map(|p| p.as_vec3()).collect(),
        rounds,
        outside: found.iter().flatten().count(),
        inverted: inverted.len(),
        repaired,
    })
}

/// Positions of the whole body with those of the sheet's free vertices.
fn spread(sheet: &Sheet, free: &[DVec3], outer: &[DVec3]) -> Vec<DVec3> {
    let mut whole = outer.to_vec();
    for (&v, p) in sheet.whole.iter().zip(free) {
        whole[v as usize] = *p;
    }
    whole
}

/// A held vertex keeps its target unless it has moved deeper by itself.
fn deepest(surface: &Surface, x: DVec3, target: DVec3) -> DVec3 {
    let depth = |p: DVec3| surface.signed_distance(p.as_vec3()).unwrap_or(0.0);
    if depth(x) < depth(target) { x } else { target }
}

fn minimise(
    rows: &Rows,
    local: &dyn Fn(&[DVec3], &mut [DVec3]),
    solver: &Solver,
    points: &[(f64, DVec3)],
    x: &mut Vec<DVec3>,
) {
    let mut targets = vec![DVec3::ZERO; rows.len()];
    for _ in 0..ITERATIONS {
        local(x, &mut targets);
        let next = solver.solve(&rows.right_side(&targets, points));
        let moved = (next.iter().zip(x.iter())).map(|(a, b)| a.distance_squared(*b));
        let largest = moved.fold(0.0, f64::max);
        *x = next;
        if largest < CONVERGED * CONVERGED {
            break;
        }
    }
}

/// For each point nearer to the skin than half its depth, or outside: the point at its depth below the closest triangle (4.9).
fn collisions_of(surface: &Surface, points: &[DVec3], depths: &[f64]) -> Vec<Option<DVec3>> {
    (points.par_iter().zip(depths))
        .map(|(point, &depth)| {
            let at = point.as_vec3();
            let closest = surface.closest_point(at)?;
            let inside = surface.contains(at);
            if inside && f64::from(closest.distance) >= 0.5 * depth {
                return None;
            }
            let normal = surface.mesh().triangle_normal(closest.triangle as usize);
            Some(closest.position.as_dvec3() - depth * normal.as_dvec3())
        })
        .collect()
}

/// The prisms between skin and skeleton surface: three rows each, the columns of the deformation gradient (2.18).
struct Prisms {
    first: usize,
    /// The skin's normal at rest.
    normals: Vec<DVec3>,
    /// Growth of each prism's weight so far.
    growth: Vec<f64>,
    /// Rows of triangles without a prism are not there: index among the prisms for each triangle.
    of_triangle: Vec<Option<u32>>,
}

impl Prisms {
    fn append(
        rows: &mut Rows,
        sheet: &Sheet,
        rest_skin: &[DVec3],
        rest: &[DVec3],
        skin: &[DVec3],
        x: &[DVec3],
    ) -> Prisms {
        let mut prisms = Prisms {
            first: rows.len(),
            normals: Vec::new(),
            growth: Vec::new(),
            of_triangle: vec![None; sheet.triangles.len()],
        };
        // Vertices of the skin hold still: they are numbered after those of the sheet.
        let count = x.len() as u32;
        let positions = [x, skin].concat();
        for (t, corners) in sheet.triangles.iter().enumerate() {
            let outer = corners.map(|v| rest_skin[v as usize]);
            let normal = (outer[1] - outer[0])
                .cross(outer[2] - outer[0])
                .normalize_or_zero();
            let inner = corners.map(|v| rest[v as usize]);
            let Some(gradients) = gradients(outer, inner, normal) else {
                continue;
            };
            let numbers = corners.map(|v| v + count);
            let vertices = [numbers, *corners].concat();
            for axis in 0..3 {
                let terms = vertices.iter().zip(&gradients).map(|(&v, g)| (v, g[axis]));
                rows.push(FLESH, terms, &positions);
            }
            prisms.of_triangle[t] = Some(prisms.normals.len() as u32);
            prisms.normals.push(normal);
            prisms.growth.push(1.0);
        }
        prisms
    }

    /// Projections of all prisms (4.8): the closest rotation times a stretch along the normal, free within bounds.
    fn targets(&self, rows: &Rows, x: &[DVec3], targets: &mut [DVec3]) {
        let range = self.first..self.first + 3 * self.normals.len();
        (targets[range].par_chunks_mut(3).enumerate()).for_each(|(k, columns)| {
            let row = self.first + 3 * k;
            let f = DMat3::from_cols(
                rows.value(row, x),
                rows.value(row + 1, x),
                rows.value(row + 2, x),
            );
            let projected = projection(f, self.normals[k]);
            columns.copy_from_slice(&[projected.x_axis, projected.y_axis, projected.z_axis]);
        });
    }

    /// Stiffens the prisms of some triangles.
    fn stiffen(&mut self, rows: &mut Rows, triangles: &[u32]) {
        let prisms = triangles
            .iter()
            .filter_map(|&t| self.of_triangle[t as usize]);
        for prism in prisms.map(|p| p as usize) {
            if self.growth[prism] < MOST_GROWTH {
                self.growth[prism] *= GROWTH;
                (0..3).for_each(|axis| rows.scale_weight(self.first + 3 * prism + axis, GROWTH));
            }
        }
    }
}

/// The closest rotation times a stretch that is free across the normal, free within [`FREE_STRETCH`] along it, and without
/// shear between both. The thesis holds the stretch across at one; but the skin's triangles are given, and where they are
/// wider than the template's those of the skeleton surface would have to be narrower.
fn projection(f: DMat3, normal: DVec3) -> DMat3 {
    let rotation = closest_rotation(f);
    let stretch = rotation.transpose() * f;
    let alpha = normal
        .dot(stretch * normal)
        .clamp(FREE_STRETCH[0], FREE_STRETCH[1]);
    let along = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
    let across = DMat3::IDENTITY - along;
    rotation * (across * stretch * across + along * alpha)
}

/// Gradients gᵢ with F = Σ xᵢ gᵢᵀ, the best affine map of a prism's corners, skin first.
fn gradients(outer: [DVec3; 3], inner: [DVec3; 3], normal: DVec3) -> Option<[DVec3; 6]> {
    let corners = [outer[0], outer[1], outer[2], inner[0], inner[1], inner[2]];
    let centre = corners.iter().sum::<DVec3>() / 6.0;
    let outward = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
    // A flat prism, as at the rim, resists as one of least thickness.
    let mut spread = outward * (1.5 * LEAST_THICKNESS * LEAST_THICKNESS);
    for corner in corners {
        let d = corner - centre;
        spread += DMat3::from_cols(d * d.x, d * d.y, d * d.z);
    }
    let inverse = spread.inverse();
    inverse
        .is_finite()
        .then(|| corners.map(|corner| inverse * (corner - centre)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretch_is_free_within_bounds_and_shear_is_not() {
        let turn = DMat3::from_rotation_y(0.7);
        let free = |x: f64, y: f64, z: f64| turn * DMat3::from_diagonal(DVec3::new(x, y, z));
        let distance = |f: DMat3| {
            (projection(f, DVec3::Z) - f)
                .to_cols_array()
                .iter()
                .fold(0.0_f64, |m, x| m.max(x.abs()))
        };
        for stretch in [0.2, 0.5, 1.0, 5.0] {
            assert!(distance(free(1.0, 1.0, stretch)) < 1e-9);
        }
        assert!(
            (distance(free(1.0, 1.0, 8.0)) - 3.0 * 0.7f64.cos().max(0.7f64.sin())).abs() < 1e-6
        );
        assert!(distance(free(1.5, 0.7, 1.0)) < 1e-9);
        let shear = DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::new(0.6, 0.0, 1.0));
        assert!(distance(turn * shear) > 0.1);
        // An inverted prism is pulled back to positive thickness.
        assert!(projection(free(1.0, 1.0, -0.5), DVec3::Z).determinant() > 0.0);
    }

    #[test]
    fn gradients_reproduce_affine_maps() {
        let outer = [DVec3::ZERO, DVec3::X, DVec3::Y].map(|p| 0.02 * p);
        let inner = outer.map(|p| p - 0.05 * DVec3::Z);
        let gradients = gradients(outer, inner, DVec3::Z).unwrap();
        let map = DMat3::from_cols(
            DVec3::new(1.0, 0.2, 0.0),
            DVec3::new(0.0, 2.0, 0.1),
            DVec3::new(0.3, 0.0, 0.7),
        );
        let corners = [outer[0], outer[1], outer[2], inner[0], inner[1], inner[2]];
        let mut found = DMat3::ZERO;
        for (x, g) in corners.iter().map(|p| map * *p + DVec3::ONE).zip(gradients) {
            found += DMat3::from_cols(x * g.x, x * g.y, x * g.z);
        }
        assert!((found - map).to_cols_array().iter().all(|e| e.abs() < 1e-2));
    }
}
