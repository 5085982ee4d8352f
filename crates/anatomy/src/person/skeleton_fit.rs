//! The skeleton surface inside a person's skin: (4.7) to (4.9), by a local/global solver.

use std::ops::ControlFlow;

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::least_squares::residuals::{Bending, PointToPoint, PrismShape, Rigidity};
use supple_geom::least_squares::{
    Damping, FitError, Points, Residual, Settings, SparseNormal, minimise,
};
use supple_geom::sparse::SparseError;
use supple_geom::{Surface, TriMesh};

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
/// Bounds of its cotangents: well-shaped triangles have about 0.6 for each of two; without the lower one slivers would fold.
const COTANGENTS: [f64; 2] = [0.1, 3.0];
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
/// Most that a vertex moves in one iteration \[m\]: a bound for bodies whose equations go wrong. Iterations move vertices by
/// centimetres at first.
const LARGEST_STEP: f64 = 0.5;
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

    // Vertices of the skin hold still: they are numbered after those of the sheet.
    let mut points = Points::with_free([&x[..], &skin[..]].concat(), sheet.free);
    let laplacian = cotan_laplacian(&rest, &sheet.triangles, Clamp::NON_NEGATIVE);
    let bending = Bending::new(&laplacian, &rest, &points, BENDING);
    let rigidity = Rigidity::new(&laplacian, COTANGENTS, &rest, &points, RIGIDITY);
    let mut prisms = Prisms::new(&sheet, &rest_skin, &rest, &points);
    let mut places = PointToPoint::new(&points);
    for (v, place) in (0u32..).zip(&rest[..sheet.free]) {
        places.push(PLACE, [(v, 1.0)], *place, &points);
    }
    let surface = Surface::new(TriMesh {
        positions: person.skin.to_vec(),
        triangles: layers.triangles.clone(),
    });
    let depths: Vec<f64> = (0..sheet.free)
        .map(|v| DEPTH.min(0.5 * rest_skin[v].distance(rest[v])))
        .collect();

    let outer: Vec<DVec3> = person.skin.iter().map(|p| p.as_dvec3()).collect();
    let bar = InversionGuard::below(&layers.triangles, &outer, &layers.layered);
    let mut collisions = vec![0.0; sheet.free];
    let mut targets = rest[..sheet.free].to_vec();
    let mut equations = SparseNormal::new();
    let settings = Settings {
        steps: ITERATIONS,
        damping: Damping::NONE,
        largest_step: LARGEST_STEP,
        still: CONVERGED,
    };
    let mut rounds = 0;
    for round in 0..ROUNDS {
        rounds = round + 1;
        let mut held = PointToPoint::new(&points);
        for (v, weight) in (0u32..).zip(&collisions).filter(|(_, w)| **w > 0.0) {
            held.push(*weight, [(v, 1.0)], targets[v as usize], &points);
        }
        let residuals: [&dyn Residual<Points, 3>; 5] =
            [&bending, &rigidity, &prisms.shape, &places, &held];
        let go_on = &mut |_| ControlFlow::Continue(());
        minimise(&mut points, &residuals, &mut equations, &settings, go_on)
            .map_err(FitError::into_sparse)?;
        let x = &points.at[..sheet.free];
        let found = collisions_of(&surface, x, &depths);
        let inverted = bar.inverted_prisms(&spread(&sheet, x, &outer));
        if found.iter().all(Option::is_none) && inverted.is_empty() {
            break;
        }
        for (v, target) in found.into_iter().enumerate() {
            if let Some(target) = target {
                collisions[v] = (collisions[v] * GROWTH).max(COLLISION);
                targets[v] = target;
            } else if collisions[v] > 0.0 {
                // Once resolved it is held, or it would come back next round.
                targets[v] = deepest(&surface, x[v], targets[v]);
            }
        }
        prisms.stiffen(&inverted);
    }
    let wanted = spread(&sheet, &points.at[..sheet.free], &outer);
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

/// The prisms between skin and skeleton surface.
struct Prisms {
    shape: PrismShape,
    /// Growth of each prism's weight so far.
    growth: Vec<f64>,
    /// Prism of each triangle; a few are no bodies.
    of_triangle: Vec<Option<usize>>,
}

impl Prisms {
    fn new(sheet: &Sheet, rest_skin: &[DVec3], rest: &[DVec3], points: &Points) -> Prisms {
        let mut shape = PrismShape::new(points, FREE_STRETCH);
        let count = sheet.whole.len() as u32;
        let of_triangle: Vec<Option<usize>> = (sheet.triangles.iter())
            .map(|corners| {
                let outer = corners.map(|v| rest_skin[v as usize]);
                let inner = corners.map(|v| rest[v as usize]);
                let vertices = [corners.map(|v| v + count), *corners];
                shape.push(FLESH, vertices, [outer, inner], LEAST_THICKNESS, points)
            })
            .collect();
        Prisms {
            shape,
            growth: vec![1.0; of_triangle.iter().flatten().count()],
            of_triangle,
        }
    }

    /// Stiffens the prisms of some triangles.
    fn stiffen(&mut self, triangles: &[u32]) {
        let prisms = triangles
            .iter()
            .filter_map(|&t| self.of_triangle[t as usize]);
        for prism in prisms {
            if self.growth[prism] < MOST_GROWTH {
                self.growth[prism] *= GROWTH;
                self.shape.scale_weight(prism, GROWTH);
            }
        }
    }
}
