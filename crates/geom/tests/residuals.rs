//! Derivatives of the shared residuals against finite differences, and their values against closed forms.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::least_squares::residuals::point_to_plane::Pull;
use supple_geom::least_squares::residuals::*;
use supple_geom::least_squares::{Operator, Points, Residual, Rows, Variables};
use supple_geom::shapes::icosphere;

/// A row as it was written: weight, derivatives and value.
type Row<const D: usize> = (f64, Vec<(u32, f64)>, [f64; D]);

struct Collected<const D: usize>(Vec<Row<D>>);

impl<const D: usize> Rows<D> for Collected<D> {
    fn row(&mut self, weight: f64, derivatives: &[(u32, f64)], value: [f64; D]) {
        self.0.push((weight, derivatives.to_vec(), value));
    }

    fn operator(&mut self, _: Arc<dyn Operator<D>>, _: &[[f64; D]]) {
        panic!("no operator expected");
    }
}

fn rows<S, const D: usize>(residual: &dyn Residual<S, D>, state: &S) -> Vec<Row<D>> {
    let mut collected = Collected(Vec::new());
    (0..residual.pieces()).for_each(|piece| residual.linearise(state, piece, &mut collected));
    collected.0
}

/// The slope of the cost as the rows have it.
fn slope<S: Variables<D>, const D: usize>(
    residual: &dyn Residual<S, D>,
    state: &S,
) -> Vec<[f64; D]> {
    let mut slope = vec![[0.0; D]; state.unknowns()];
    for (weight, derivatives, value) in rows(residual, state) {
        for (unknown, d) in derivatives {
            (0..D).for_each(|k| slope[unknown as usize][k] += weight * d * value[k]);
        }
    }
    slope
}

fn assert_slope<S: Variables<D>, const D: usize>(residual: &dyn Residual<S, D>, state: &S) {
    let found = slope(residual, state);
    let scale = found
        .as_flattened()
        .iter()
        .fold(0.0_f64, |m, x| m.max(x.abs()));
    assert!(scale > 0.0, "nothing to compare");
    let h = 1e-6;
    for unknown in (0..found.len()).step_by(found.len().div_ceil(40)) {
        for k in 0..D {
            let cost = |sign: f64| {
                let mut step = vec![[0.0; D]; found.len()];
                step[unknown][k] = sign * h;
                let mut moved = state.clone();
                moved.advance(&step);
                residual.cost(&moved)
            };
            let expected = (cost(1.0) - cost(-1.0)) / (2.0 * h);
            let off = (found[unknown][k] - expected).abs();
            assert!(
                off < 1e-5 * scale,
                "{unknown}: {} for {expected}",
                found[unknown][k]
            );
        }
    }
}

fn noise(i: usize) -> f64 {
    ((i as f64 * 12.9898).sin() * 43_758.545).fract()
}

/// A ball of a metre at rest, its triangles, and a state that is bent, with some points held.
fn ball() -> (Vec<DVec3>, Vec<[u32; 3]>, Points) {
    let mesh = icosphere(1.0, 2);
    let rest: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let bent = (rest.iter().enumerate()).map(|(i, p)| {
        let off = DVec3::new(noise(3 * i), noise(3 * i + 1), noise(3 * i + 2));
        DQuat::from_rotation_z(0.4 * p.y) * *p + 0.03 * off
    });
    let held: Vec<bool> = rest.iter().map(|p| p.y < -0.8).collect();
    let points = Points::with_held(bent.collect(), &held);
    (rest, mesh.triangles, points)
}

#[test]
fn bending_that_keeps_lengths() {
    let (rest, triangles, points) = ball();
    let laplacian = cotan_laplacian(&rest, &triangles, Clamp::NON_NEGATIVE);
    assert_slope::<_, 3>(&Bending::new(&laplacian, &rest, &points, 0.3), &points);
}

#[test]
fn rigidity_with_one_weight_is_a_sum_of_closest_rotations() {
    let (rest, triangles, mut points) = ball();
    let laplacian = cotan_laplacian(&rest, &triangles, Clamp::NON_NEGATIVE);
    // All points free and all weights one: the rotation of each fan is the best for its rows, and its change costs nothing.
    points = Points::with_free(points.at, rest.len());
    let rigidity = Rigidity::new(&laplacian, [1.0, 1.0], &rest, &points, 2.0);
    assert_slope::<_, 3>(&rigidity, &points);
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -1.0).normalize(), 2.0);
    let turned = rest.iter().map(|p| turn * *p + DVec3::X).collect();
    assert!(rigidity.cost(&Points::with_free(turned, rest.len())) < 1e-20);
}

#[test]
fn turned_bending_is_linear_where_the_rest_shape_is_flat() {
    let side = 6;
    let flat: Vec<DVec3> = (0..side * side)
        .map(|k| DVec3::new((k % side) as f64, (k / side) as f64, 0.0))
        .collect();
    let triangles: Vec<[u32; 3]> = (0..(side - 1) * (side - 1))
        .flat_map(|k| {
            let v = (k / (side - 1) * side + k % (side - 1)) as u32;
            let up = v + side as u32;
            [[v, v + 1, up + 1], [v, up + 1, up]]
        })
        .collect();
    let mut points = Points::with_free(flat, side * side);
    let bending = TurnedBending::new(&triangles, &points, Clamp::COTANGENTS, 1e-6);
    for (i, p) in points.at.iter_mut().enumerate() {
        *p += 0.2 * DVec3::new(noise(i), noise(2 * i), noise(5 * i));
    }
    let before = rows::<_, 3>(&bending, &points);
    let inner =
        |v: usize| (1..side - 1).contains(&(v % side)) && (1..side - 1).contains(&(v / side));
    for unknown in 0..side * side {
        let mut moved = points.clone();
        moved.at[unknown].y += 0.5;
        let after = rows::<_, 3>(&bending, &moved);
        for v in (0..side * side).filter(|&v| inner(v)) {
            let found = before[v].1.iter().find(|d| d.0 as usize == unknown);
            let expected = (after[v].2[1] - before[v].2[1]) / 0.5;
            assert!((found.map_or(0.0, |d| d.1) - expected).abs() < 1e-10);
        }
    }
}

#[test]
fn turned_bending_turns_with_the_surface() {
    let (rest, triangles, points) = ball();
    let at_rest = Points::with_free(rest.clone(), rest.len());
    let bending = TurnedBending::new(&triangles, &at_rest, Clamp::COTANGENTS, 1e-6);
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -1.0).normalize(), 2.0);
    let turned = rest.iter().map(|p| turn * *p + DVec3::X).collect();
    let cost = |points: &Points| Residual::<Points, 3>::cost(&bending, points);
    assert!(cost(&Points::with_free(turned, rest.len())) < 1e-18);
    assert!(cost(&points) > 1e-3);
}

#[test]
fn places_and_smooth_displacements() {
    let (rest, triangles, points) = ball();
    let mut places = PointToPoint::new(&points);
    let mut smooth = Smoothness::new(&points);
    for (k, corners) in triangles.iter().enumerate() {
        let shares = [0.2, 0.3, 0.5];
        let place = rest[k % rest.len()];
        places.push(
            1.0 + k as f64,
            corners.iter().copied().zip(shares),
            place,
            &points,
        );
        smooth.push(2.0, corners.iter().copied().zip([1.0, -2.0, 1.0]), &points);
    }
    places.set_place(0, DVec3::splat(0.3));
    assert_slope::<_, 3>(&places, &points);
    assert_eq!(Residual::<Points, 3>::cost(&smooth, &points), 0.0);
    let mut moved = points.clone();
    for (i, p) in moved.at.iter_mut().enumerate() {
        if points.free().contains(&(i as u32)) {
            *p *= 1.0 + 0.1 * noise(i);
        }
    }
    assert_slope::<_, 3>(&smooth, &moved);
}

#[test]
fn prisms_are_free_to_stretch_within_bounds() {
    let outer = [DVec3::ZERO, DVec3::X, DVec3::Y].map(|p| 0.02 * p);
    let inner = outer.map(|p| p - 0.05 * DVec3::Z);
    let rest: Vec<DVec3> = [outer, inner].concat();
    let at = |map: DMat3| {
        let moved = rest.iter().map(|p| map * *p + DVec3::ONE).collect();
        Points::with_free(moved, 6)
    };
    let still = at(DMat3::IDENTITY);
    let mut prism = PrismShape::new(&still, [0.2, 5.0]);
    let vertices = [[0, 1, 2], [3, 4, 5]];
    // The least thickness takes a hundredth of a percent off the gradient along the normal.
    assert_eq!(
        prism.push(2.0, vertices, [outer, inner], 1e-5, &still),
        Some(0)
    );
    let cost = |map: DMat3| Residual::<Points, 3>::cost(&prism, &at(map));
    let turn = DMat3::from_rotation_y(0.7);
    let stretched = |x: f64, y: f64, z: f64| turn * DMat3::from_diagonal(DVec3::new(x, y, z));
    for z in [0.3, 0.5, 1.0, 4.9] {
        assert!(cost(stretched(1.0, 1.0, z)) < 1e-9);
        assert!(cost(stretched(1.5, 0.7, z)) < 1e-9);
    }
    // Beyond the bounds the excess counts: half of weight 2 times 3².
    assert!((cost(stretched(1.0, 1.0, 8.0)) - 9.0).abs() < 1e-3);
    assert!((cost(stretched(1.0, 1.0, -0.5)) - 0.49).abs() < 1e-3);
    let shear = DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::new(0.6, 0.0, 1.0));
    assert!(cost(turn * shear) > 0.01);
    // Derivatives times positions are the deformation gradient.
    let map = DMat3::from_cols(
        DVec3::new(1.0, 0.2, 0.0),
        DVec3::new(0.0, 2.0, 0.1),
        DVec3::new(0.3, 0.0, 0.7),
    );
    let state = at(map);
    for (axis, (_, derivatives, _)) in rows::<_, 3>(&prism, &state).into_iter().enumerate() {
        let f: DVec3 = derivatives
            .iter()
            .map(|(u, d)| *d * state.unknown(*u))
            .sum();
        assert!(f.distance(map.col(axis)) < 1e-3, "{f}");
    }
}

/// Points that a translation and a stretch of each axis place.
struct Stretched {
    rest: Vec<DVec3>,
    x: Vec<f64>,
}

impl Placement for Stretched {
    fn place(&self, point: usize) -> DVec3 {
        let p = self.rest[point];
        let axis = |k: usize| self.x[k] + (1.0 + self.x[3 + k]) * p[k];
        DVec3::new(axis(0), axis(1), axis(2))
    }

    fn derivatives(&self, point: usize, derivatives: &mut Vec<(u32, DVec3)>) {
        derivatives.clear();
        for k in 0..3 {
            derivatives.push((k as u32, DVec3::AXES[k]));
            derivatives.push((3 + k as u32, DVec3::AXES[k] * self.rest[point][k]));
        }
    }
}

#[test]
fn points_on_planes() {
    let (rest, ..) = ball();
    let planes: Vec<(usize, DVec3, DVec3)> = (0..rest.len())
        .map(|i| (i, rest[i].normalize(), rest[i] * 1.1 + 0.01 * DVec3::Y))
        .chain((0..40).map(|i| (i, DVec3::Z, rest[i] + 0.02 * DVec3::ONE)))
        .collect();
    let (weight, tangential) = (0.7, 0.1);
    let residual_at = |placement: &Stretched| -> (Vec<Pull>, f64) {
        let mut pulls = vec![Pull::NONE; rest.len()];
        let mut cost = 0.0;
        for &(point, normal, place) in &planes {
            let miss = place - placement.place(point);
            pulls[point].add(weight, normal, miss, tangential);
            let squares = normal.dot(miss).powi(2) + tangential * miss.length_squared();
            cost += 0.5 * weight * squares;
        }
        (pulls, cost)
    };
    let x = vec![0.02, -0.01, 0.03, 0.05, -0.02, 0.01];
    let placed = |x: &[f64]| Stretched {
        rest: rest.clone(),
        x: x.to_vec(),
    };
    let placement = placed(&x);
    let (pulls, cost) = residual_at(&placement);
    let residual = PointToPlane::new(&placement, pulls.into_iter().enumerate(), 3.0, cost);
    let found = slope::<Vec<f64>, 1>(&residual, &x);
    for k in 0..6 {
        let at = |h: f64| {
            let mut moved = x.clone();
            moved[k] += h;
            3.0 * residual_at(&placed(&moved)).1
        };
        let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((found[k][0] - expected).abs() < 1e-6 * expected.abs().max(1.0));
    }
    assert!((Residual::<Vec<f64>, 1>::cost(&residual, &x) - 3.0 * cost).abs() < 1e-12);
}
