//! Procedural shapes for tests, examples and template bodies.
//!
//! All are oriented outward and, unless stated otherwise, closed. Bodies of revolution stand along Y; all are centred
//! at the origin. Resolutions below the smallest valid one are raised to it.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, TAU};

use glam::{DVec3, Vec2, Vec3};

use crate::mesh::TriMesh;
use crate::subdivide;

mod t_shape;

pub use t_shape::t_shape;

/// A profile of `(radius, height)` points, bottom to top, revolved around Y with `around` vertices per ring. Points of
/// radius 0 become poles: with one at each end the surface is closed, otherwise it is open there.
pub fn lathe(profile: &[Vec2], around: u32) -> TriMesh {
    let around = around.max(3);
    let mut mesh = TriMesh::default();
    let mut below = None;
    for point in profile {
        let count = if point.x > 0.0 { around } else { 1 };
        let first = mesh.positions.len() as u32;
        mesh.positions
            .extend((0..count).map(|j| on_ring(*point, j, around)));
        let ring = (first, count);
        if let Some(below) = below {
            stitch(&mut mesh, below, ring, around);
        }
        below = Some(ring);
    }
    mesh
}

fn on_ring(point: Vec2, j: u32, around: u32) -> Vec3 {
    let angle = TAU * f64::from(j) / f64::from(around);
    let radius = f64::from(point.x);
    Vec3::new(
        (radius * angle.cos()) as f32,
        point.y,
        (radius * angle.sin()) as f32,
    )
}

/// Two triangles for each step around; one if a ring is a pole.
fn stitch(mesh: &mut TriMesh, below: (u32, u32), above: (u32, u32), around: u32) {
    let vertex = |(first, count): (u32, u32), j: u32| first + j % count;
    for j in 0..around {
        let [a, b] = [j, j + 1].map(|j| vertex(below, j));
        let [d, c] = [j, j + 1].map(|j| vertex(above, j));
        mesh.triangles.extend((c != d).then_some([a, d, c]));
        mesh.triangles.extend((a != b).then_some([a, c, b]));
    }
}

/// A tube open at both ends: `along` rows of quads between `around`-sided rings. \[m\]
pub fn tube(radius: f32, length: f32, around: u32, along: u32) -> TriMesh {
    lathe(&straight(radius, length, along), around)
}

/// A tube with flat ends: a prism over a regular polygon.
pub fn capped_tube(radius: f32, length: f32, around: u32, along: u32) -> TriMesh {
    let mut profile = vec![Vec2::new(0.0, -0.5 * length)];
    profile.extend(straight(radius, length, along));
    profile.push(Vec2::new(0.0, 0.5 * length));
    lathe(&profile, around)
}

fn straight(radius: f32, length: f32, along: u32) -> Vec<Vec2> {
    let along = along.max(1);
    let height = |i: u32| length * (i as f32 / along as f32 - 0.5);
    (0..=along).map(|i| Vec2::new(radius, height(i))).collect()
}

/// A tube with round ends; `length` is the distance between the centres of the two half spheres, so the whole is
/// `length + 2 radius` long. The half spheres have a quarter as many rows as the tube has vertices around.
pub fn capsule(radius: f32, length: f32, around: u32, along: u32) -> TriMesh {
    let rows = (around / 4).max(2);
    let cap = |i: u32| {
        let angle = FRAC_PI_2 * f64::from(i) / f64::from(rows);
        let r = if i == rows {
            0.0
        } else {
            radius * angle.cos() as f32
        };
        Vec2::new(r, 0.5 * length + radius * angle.sin() as f32)
    };
    let mut profile: Vec<Vec2> = (1..=rows)
        .rev()
        .map(|i| cap(i) * Vec2::new(1.0, -1.0))
        .collect();
    profile.extend(straight(radius, length, along));
    profile.extend((1..=rows).map(cap));
    lathe(&profile, around)
}

/// A sphere: the icosahedron, split `levels` times (at most 9: five million triangles) and pushed out to the radius.
pub fn icosphere(radius: f32, levels: u32) -> TriMesh {
    let mut mesh = icosahedron();
    for _ in 0..levels.min(9) {
        mesh = subdivide::midpoint(&mesh).mesh;
        mesh.positions
            .iter_mut()
            .for_each(|p| *p = p.as_dvec3().normalize_or_zero().as_vec3());
    }
    mesh.positions.iter_mut().for_each(|p| *p *= radius);
    mesh
}

/// Two poles and two rings of five, a tenth of a turn apart, at heights ±1/√5.
fn icosahedron() -> TriMesh {
    let height = 0.2f64.sqrt();
    let ring = |up: f64, turn: f64| {
        (0..5).map(move |j| {
            let angle = TAU * (f64::from(j) + turn) / 5.0;
            DVec3::new(
                2.0 * height * angle.cos(),
                up * height,
                2.0 * height * angle.sin(),
            )
            .as_vec3()
        })
    };
    let mut mesh = TriMesh::default();
    mesh.positions.push(Vec3::NEG_Y);
    mesh.positions.extend(ring(-1.0, 0.0).chain(ring(1.0, 0.5)));
    mesh.positions.push(Vec3::Y);
    for j in 0..5 {
        let (low, low_next) = (1 + j, 1 + (j + 1) % 5);
        let (high, high_next) = (6 + j, 6 + (j + 1) % 5);
        mesh.triangles
            .extend([[0, low, low_next], [low, high, low_next]]);
        mesh.triangles
            .extend([[low_next, high, high_next], [11, high_next, high]]);
    }
    mesh
}

/// A box with the given edge lengths \[m\] and `cells` × `cells` quads on each side.
pub fn cuboid(size: Vec3, cells: u32) -> TriMesh {
    let cells = cells.max(1);
    let mut mesh = TriMesh::default();
    let mut vertices = HashMap::new();
    let mut vertex = |mesh: &mut TriMesh, lattice: [u32; 3]| {
        *vertices.entry(lattice).or_insert_with(|| {
            let unit = Vec3::from(lattice.map(|i| i as f32 / cells as f32 - 0.5));
            mesh.positions.push(unit * size);
            mesh.positions.len() as u32 - 1
        })
    };
    for side in 0..6 {
        let (axis, upper) = (side / 2, side % 2 == 1);
        for (i, j) in (0..cells).flat_map(|i| (0..cells).map(move |j| (i, j))) {
            let quad = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(u, v)| {
                let mut lattice = [0; 3];
                lattice[axis] = if upper { cells } else { 0 };
                lattice[(axis + 1) % 3] = u;
                lattice[(axis + 2) % 3] = v;
                vertex(&mut mesh, lattice)
            });
            push_quad(&mut mesh, quad, upper);
        }
    }
    mesh
}

/// Two triangles of a quad given counter-clockwise, or clockwise if `forward` is false.
pub(crate) fn push_quad(mesh: &mut TriMesh, [a, b, c, d]: [u32; 4], forward: bool) {
    let pair = if forward {
        [[a, b, c], [a, c, d]]
    } else {
        [[a, c, b], [a, d, c]]
    };
    mesh.triangles.extend(pair);
}

/// A flat rectangle in the plane of X and Z facing up, of `nx` × `nz` quads; open.
pub fn plane_grid(size: Vec2, nx: u32, nz: u32) -> TriMesh {
    let (nx, nz) = (nx.max(1), nz.max(1));
    let mut mesh = TriMesh::default();
    for (j, i) in (0..=nz).flat_map(|j| (0..=nx).map(move |i| (j, i))) {
        let unit = Vec2::new(i as f32 / nx as f32, j as f32 / nz as f32) - 0.5;
        mesh.positions
            .push(Vec3::new(unit.x * size.x, 0.0, unit.y * size.y));
    }
    for (j, i) in (0..nz).flat_map(|j| (0..nx).map(move |i| (j, i))) {
        let a = j * (nx + 1) + i;
        push_quad(&mut mesh, [a, a + nx + 1, a + nx + 2, a + 1], true);
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Adjacency;
    use std::f64::consts::PI;

    fn assert_closed(mesh: &TriMesh) {
        assert_eq!(mesh.check(), Ok(()));
        let adjacency = Adjacency::new(mesh);
        assert!(adjacency.is_closed_and_oriented(mesh));
        assert_eq!(adjacency.euler_characteristic(), 2);
        assert_eq!(mesh.degenerate_count(), 0);
        assert!(mesh.signed_volume() > 0.0 && mesh.unreferenced().is_empty());
    }

    #[test]
    fn closed_shapes_are_closed_at_every_resolution() {
        for n in [0, 1, 3, 7] {
            assert_closed(&capped_tube(0.2, 1.0, n, n));
            assert_closed(&capsule(0.2, 1.0, n, n));
            assert_closed(&cuboid(Vec3::new(1.0, 2.0, 3.0), n));
            assert_closed(&icosphere(0.7, n.min(4)));
        }
    }

    #[test]
    fn prism_has_its_closed_form() {
        let (r, l, n) = (0.5, 2.0, 24.0f64);
        let mesh = capped_tube(r, l, 24, 5);
        let polygon = 0.5 * n * (TAU / n).sin() * 0.25;
        let perimeter = n * (PI / n).sin();
        assert!((mesh.signed_volume() - 2.0 * polygon).abs() < 1e-6);
        assert!((mesh.area() - 2.0 * polygon - 2.0 * perimeter).abs() < 1e-5);
    }

    #[test]
    fn round_shapes_converge_with_the_square_of_the_resolution() {
        let sphere = |levels| 4.0 / 3.0 * PI - icosphere(1.0, levels).signed_volume();
        let ratio = sphere(3) / sphere(4);
        assert!((ratio - 4.0).abs() < 0.1, "{ratio}");
        let exact = PI * 0.01 * (1.0 + 4.0 / 3.0 * 0.1);
        let capsule = |n| exact - capsule(0.1, 1.0, n, n).signed_volume();
        let ratio = capsule(32) / capsule(64);
        assert!((ratio - 4.0).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn icosahedron_has_equal_edges_and_known_volume() {
        let mesh = icosphere(1.0, 0);
        let edge = 1.0 / (TAU / 5.0).sin();
        assert!((mesh.mean_edge_length() - edge).abs() < 1e-6);
        let volume = 5.0 * (3.0 + 5f64.sqrt()) / 12.0 * edge.powi(3);
        assert!((mesh.signed_volume() - volume).abs() < 1e-6);
    }

    #[test]
    fn open_shapes_have_their_area_and_face_outward() {
        let grid = plane_grid(Vec2::new(2.0, 3.0), 4, 6);
        assert!((grid.area() - 6.0).abs() < 1e-6);
        assert_eq!(grid.triangle_normal(0), Vec3::Y);
        let tube = tube(1.0, 2.0, 12, 3);
        assert_eq!(Adjacency::new(&tube).euler_characteristic(), 0);
        assert!(
            (0..tube.triangles.len())
                .all(|t| tube.triangle_normal(t).dot(tube.corners(t)[0]) > 0.0)
        );
    }
}
