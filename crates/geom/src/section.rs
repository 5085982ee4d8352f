//! Plane sections: the curves in which a plane cuts a mesh, and the area they enclose.

use glam::{DVec3, Vec3};

use crate::adjacency::{Adjacency, NONE};
use crate::chains::{self, Chain};
use crate::mesh::TriMesh;

/// A plane through a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// A point of the plane \[m\].
    pub point: Vec3,
    /// Its normal, of any length but zero.
    pub normal: Vec3,
}

/// One curve of a section, counter-clockwise seen from the side the normal points to where the mesh is outward.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionLoop {
    /// Points of the curve in order \[m\].
    pub points: Vec<DVec3>,
    /// Whether the last point is joined to the first; false if the mesh is open.
    pub closed: bool,
    /// Enclosed area \[m²\], negative around holes; an open curve is closed by a straight line.
    pub area: f64,
}

/// The section of a mesh with a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The unit normal of the plane.
    pub normal: DVec3,
    /// All curves.
    pub loops: Vec<SectionLoop>,
}

/// Cuts a mesh with a plane. Points exactly in the plane count as above it, so that every crossed triangle gives
/// exactly one segment, and curves follow the mesh's own edges: nothing is matched by distance. Weld the mesh first if
/// its vertices are split. A plane with a zero normal cuts nothing.
pub fn section(mesh: &TriMesh, adjacency: &Adjacency, plane: Plane) -> Section {
    let Some(normal) = plane.normal.as_dvec3().try_normalize() else {
        return Section {
            normal: DVec3::ZERO,
            loops: Vec::new(),
        };
    };
    let origin = plane.point.as_dvec3();
    let height = |p: &Vec3| (p.as_dvec3() - origin).dot(normal);
    let heights: Vec<f64> = mesh.positions.iter().map(height).collect();
    let (segments, crossed) = segments(mesh, adjacency, &heights);
    let point = |node: &u32| {
        crossing(
            mesh,
            adjacency.edges[crossed[*node as usize] as usize],
            &heights,
        )
    };
    let curve = |chain: Chain| {
        let points: Vec<DVec3> = chain.nodes.iter().map(point).collect();
        SectionLoop {
            area: polygon_area(&points, normal),
            closed: chain.closed,
            points,
        }
    };
    let loops = chains::join(&segments, crossed.len())
        .into_iter()
        .map(curve)
        .collect();
    Section { normal, loops }
}

/// A segment for each crossed triangle, between numbered crossings; and the edge of each crossing.
fn segments(mesh: &TriMesh, adjacency: &Adjacency, heights: &[f64]) -> (Vec<[u32; 2]>, Vec<u32>) {
    let mut crossing_of_edge = vec![NONE; adjacency.edges.len()];
    let mut crossed = Vec::new();
    let mut number = |edge: u32| {
        let crossing = &mut crossing_of_edge[edge as usize];
        if *crossing == NONE {
            *crossing = crossed.len() as u32;
            crossed.push(edge);
        }
        *crossing
    };
    let mut segments = Vec::new();
    for (triangle, edges) in mesh.triangles.iter().zip(&adjacency.triangle_edges) {
        let above = triangle.map(|v| heights[v as usize] >= 0.0);
        let finite = triangle.iter().all(|&v| heights[v as usize].is_finite());
        // Seen from outside with the normal up, the edge that goes down is the left one.
        let down = (0..3).find(|&k| above[k] && !above[(k + 1) % 3]);
        let up = (0..3).find(|&k| !above[k] && above[(k + 1) % 3]);
        if let (Some(down), Some(up), true) = (down, up, finite && edges[0] != NONE) {
            segments.push([number(edges[down]), number(edges[up])]);
        }
    }
    (segments, crossed)
}

fn crossing(mesh: &TriMesh, edge: [u32; 2], heights: &[f64]) -> DVec3 {
    let [a, b] = edge.map(|v| mesh.positions[v as usize].as_dvec3());
    let [ha, hb] = edge.map(|v| heights[v as usize]);
    // One is at or above the plane and the other below: the difference is never zero.
    a.lerp(b, ha / (ha - hb))
}

fn polygon_area(points: &[DVec3], normal: DVec3) -> f64 {
    let Some(&first) = points.first() else {
        return 0.0;
    };
    let fan = points
        .windows(2)
        .map(|pair| (pair[0] - first).cross(pair[1] - first));
    0.5 * fan.sum::<DVec3>().dot(normal)
}

impl SectionLoop {
    /// Length of the curve \[m\].
    pub fn length(&self) -> f64 {
        self.sides(self.closed).map(|[a, b]| a.distance(b)).sum()
    }

    /// Distance from a point to the curve \[m\].
    pub fn distance(&self, point: DVec3) -> f64 {
        let to_side = |[a, b]: [DVec3; 2]| {
            let side = b - a;
            let along = (point - a).dot(side) / side.length_squared().max(f64::MIN_POSITIVE);
            point.distance(a + along.clamp(0.0, 1.0) * side)
        };
        self.sides(self.closed)
            .map(to_side)
            .fold(f64::INFINITY, f64::min)
    }

    /// Winding number of the curve, closed by a straight line if needed, around a point; seen along `normal`.
    pub fn winding(&self, point: DVec3, normal: DVec3) -> i64 {
        let angle = |[a, b]: [DVec3; 2]| {
            let (u, v) = (
                (a - point).reject_from(normal),
                (b - point).reject_from(normal),
            );
            u.cross(v).dot(normal).atan2(u.dot(v))
        };
        (self.sides(true).map(angle).sum::<f64>() / std::f64::consts::TAU).round() as i64
    }

    fn sides(&self, closed: bool) -> impl Iterator<Item = [DVec3; 2]> {
        let count = self.points.len();
        let sides = if closed {
            count
        } else {
            count.saturating_sub(1)
        };
        (0..sides).map(move |i| [self.points[i], self.points[(i + 1) % count]])
    }
}

impl Section {
    /// Area of all curves together \[m²\], holes subtracted.
    pub fn area(&self) -> f64 {
        self.loops.iter().map(|l| l.area).sum()
    }

    /// The curve nearest to a point among those that enclose it, or among all if none does: the cut through one limb,
    /// not through others that the plane also crosses.
    pub fn nearest(&self, point: Vec3) -> Option<&SectionLoop> {
        let point = point.as_dvec3();
        let key = |l: &&SectionLoop| (l.winding(point, self.normal) == 0, l.distance(point));
        let keyed = self.loops.iter().map(|l| (key(&l), l));
        let smaller = |a: &(bool, f64), b: &(bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        keyed.min_by(|(a, _), (b, _)| smaller(a, b)).map(|(_, l)| l)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use std::f64::consts::{PI, TAU};

    fn cut(mesh: &TriMesh, point: Vec3, normal: Vec3) -> Section {
        section(mesh, &Adjacency::new(mesh), Plane { point, normal })
    }

    #[test]
    fn tube_gives_its_polygon_open_or_closed_and_through_vertices() {
        let polygon = 12.0 * (TAU / 24.0).sin() * 0.25;
        for mesh in [
            shapes::tube(0.5, 2.0, 24, 4),
            shapes::capped_tube(0.5, 2.0, 24, 4),
        ] {
            // Height 0 passes exactly through a ring of vertices.
            for height in [0.0, 0.1, -0.73] {
                let section = cut(&mesh, Vec3::new(7.0, height, 0.0), Vec3::Y * 3.0);
                assert_eq!(section.loops.len(), 1);
                assert!(section.loops[0].closed);
                assert!((section.area() - polygon).abs() < 1e-6);
                assert!((section.loops[0].length() - 24.0 * (PI / 24.0).sin()).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn oblique_cut_of_a_box_and_reversed_plane() {
        let mesh = shapes::cuboid(Vec3::ONE, 3);
        for normal in [Vec3::ONE, Vec3::NEG_ONE] {
            // The hexagon through a unit cube's centre has area 3√3/4.
            let area = cut(&mesh, Vec3::ZERO, normal).area();
            assert!((area - 0.75 * 3f64.sqrt()).abs() < 1e-5);
        }
    }

    #[test]
    fn lengthwise_cut_of_an_open_tube_is_closed_by_lines() {
        let section = cut(&shapes::tube(0.5, 2.0, 16, 3), Vec3::ZERO, Vec3::Z);
        assert_eq!(section.loops.len(), 2);
        assert!(
            section
                .loops
                .iter()
                .all(|l| !l.closed && l.area.abs() < 1e-9)
        );
    }

    #[test]
    fn holes_are_subtracted_and_the_limb_is_found() {
        let mut hole = shapes::icosphere(0.5, 3);
        hole.flip();
        let mut arm = shapes::icosphere(0.4, 3);
        arm.positions.iter_mut().for_each(|p| p.x += 1.5);
        let mesh = TriMesh::merged([&shapes::icosphere(1.0, 3), &hole, &arm]);
        let section = cut(&mesh, Vec3::ZERO, Vec3::Y);
        assert_eq!(section.loops.len(), 3);
        let exact = PI * (1.0 - 0.25 + 0.16);
        assert!((section.area() / exact - 1.0).abs() < 0.02);
        let near = section
            .nearest(Vec3::new(1.2, 0.1, 0.0))
            .map_or(0.0, |l| l.area);
        assert!((near / (PI * 0.16) - 1.0).abs() < 0.02);
        let near = section
            .nearest(Vec3::new(0.9, 0.1, 0.0))
            .map_or(0.0, |l| l.area);
        assert!((near / PI - 1.0).abs() < 0.02);
    }

    #[test]
    fn nothing_to_cut() {
        let mesh = shapes::cuboid(Vec3::ONE, 1);
        for normal in [Vec3::ZERO, Vec3::NAN] {
            assert!(cut(&mesh, Vec3::ZERO, normal).loops.is_empty());
        }
        let missed = cut(&mesh, Vec3::Y * 9.0, Vec3::Y);
        assert!(missed.loops.is_empty() && missed.nearest(Vec3::ZERO).is_none());
    }
}
