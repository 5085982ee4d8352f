//! Surface nets: a closed mesh of a level set (Gibson 1998, "Constrained elastic surface nets").

use glam::{DVec3, Vec3};

use crate::aabb::Aabb;
use crate::adjacency::NONE;
use crate::mesh::TriMesh;
use crate::shapes::push_quad;
use crate::voxels::Voxels;

/// Largest number of cells along one side, to bound memory; larger cells are used if it is exceeded.
const MAX_CELLS: f64 = 400.0;

/// Meshes the surface where `value` is zero, negative inside, over cubic cells of about the given size \[m\].
///
/// One vertex in each cell the surface crosses, at the mean of its crossings with the cell's edges; one quad for each
/// crossed grid edge. Closed if the surface stays within the bounds. Features thinner than a cell are lost, and two
/// sheets in one cell are pinched together.
pub fn surface_nets(bounds: Aabb, cell: f32, value: impl Fn(DVec3) -> f64) -> TriMesh {
    let Some(grid) = Grid::new(bounds, f64::from(cell)) else {
        return TriMesh::default();
    };
    let values: Vec<f64> = grid
        .nodes()
        .map(|node| value(grid.position(node)))
        .collect();
    grid.net(&values)
}

/// The surface between the filled and the empty cells of a lattice; its nodes are the middles of the cells, and it passes
/// halfway between them. Closed if no cell on the lattice's border is filled, a manifold if the cells are well-composed (see
/// [`crate::carve`]).
pub fn voxel_net(voxels: &Voxels) -> TriMesh {
    let grid = Grid {
        origin: voxels.origin + 0.5 * voxels.cell,
        cell: voxels.cell,
        size: voxels.size,
    };
    let value = |filled: &bool| if *filled { -1.0 } else { 1.0 };
    grid.net(&voxels.filled.iter().map(value).collect::<Vec<f32>>())
}

/// Moves vertices onto the zero level of `value` by Newton steps along its numeric gradient.
pub fn project_onto(mesh: &mut TriMesh, value: impl Fn(DVec3) -> f64) {
    let step = 1e-4 * f64::from(mesh.bounds().diagonal()).max(f64::MIN_POSITIVE);
    for position in &mut mesh.positions {
        let mut p = position.as_dvec3();
        for _ in 0..4 {
            let slope = |d: DVec3| (value(p + step * d) - value(p - step * d)) / (2.0 * step);
            let gradient = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
            let moved = p - value(p) * gradient / gradient.length_squared();
            p = if moved.is_finite() { moved } else { p };
        }
        *position = p.as_vec3();
    }
}

/// A lattice of `size` nodes along each axis; each node is also the lower corner of a cell.
struct Grid {
    origin: DVec3,
    cell: f64,
    size: [usize; 3],
}

impl Grid {
    fn net<T: Copy + Into<f64>>(&self, values: &[T]) -> TriMesh {
        let mut mesh = TriMesh::default();
        let mut vertex_of_cell = vec![NONE; values.len()];
        for node in self.nodes() {
            if let Some(p) = self.cell_vertex(values, node) {
                vertex_of_cell[self.index(node)] = mesh.positions.len() as u32;
                mesh.positions.push(p);
            }
        }
        for node in self.nodes() {
            for axis in 0..3 {
                if let Some((cells, forward)) = self.crossing(values, node, axis) {
                    push_quad(&mut mesh, cells.map(|c| vertex_of_cell[c]), forward);
                }
            }
        }
        mesh
    }

    /// `None` for empty or infinite bounds, and for cells of no size.
    fn new(bounds: Aabb, cell: f64) -> Option<Self> {
        let extent = bounds.size().as_dvec3();
        let cell = cell.max(extent.max_element() / MAX_CELLS);
        let usable = extent.is_finite() && cell > 0.0 && cell.is_finite() && !bounds.is_empty();
        let size = [extent.x, extent.y, extent.z].map(|e| (e / cell).ceil() as usize + 3);
        usable.then_some(Self {
            origin: bounds.min.as_dvec3() - cell,
            cell,
            size,
        })
    }

    fn nodes(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [nx, ny, nz] = self.size;
        (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.size[0] * (y + self.size[1] * z)
    }

    fn position(&self, node: [usize; 3]) -> DVec3 {
        self.origin + self.cell * DVec3::from(node.map(|i| i as f64))
    }

    fn cell_vertex<T: Copy + Into<f64>>(&self, values: &[T], node: [usize; 3]) -> Option<Vec3> {
        if (0..3).any(|k| node[k] + 1 >= self.size[k]) {
            return None;
        }
        let corner = |c: usize| {
            [
                node[0] + (c & 1),
                node[1] + (c >> 1 & 1),
                node[2] + (c >> 2),
            ]
        };
        let (mut sum, mut count) = (DVec3::ZERO, 0);
        for (a, axis) in (0..8).flat_map(|c| (0..3).map(move |axis| (c, axis))) {
            let b = a | 1 << axis;
            let at = |c: usize| -> f64 { values[self.index(corner(c))].into() };
            let (va, vb) = (at(a), at(b));
            if a != b && (va < 0.0) != (vb < 0.0) {
                let share = (va / (va - vb)).clamp(0.0, 1.0);
                let share = if share.is_nan() { 0.5 } else { share };
                sum += self
                    .position(corner(a))
                    .lerp(self.position(corner(b)), share);
                count += 1;
            }
        }
        (count > 0).then(|| (sum / f64::from(count)).as_vec3())
    }

    /// The four cells around a crossed edge, counter-clockwise seen along the axis, and whether the inside is behind.
    fn crossing<T: Copy + Into<f64>>(
        &self,
        values: &[T],
        node: [usize; 3],
        axis: usize,
    ) -> Option<([usize; 4], bool)> {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let last = |k: usize| node[k] + 1 >= self.size[k];
        if node[u] == 0 || node[v] == 0 || (0..3).any(last) {
            return None;
        }
        let mut end = node;
        end[axis] += 1;
        let inside = [node, end].map(|n| values[self.index(n)].into() < 0.0);
        let cell = |du: usize, dv: usize| {
            let mut cell = node;
            cell[u] -= du;
            cell[v] -= dv;
            self.index(cell)
        };
        let around = [cell(0, 0), cell(1, 0), cell(1, 1), cell(0, 1)];
        (inside[0] != inside[1]).then_some((around, inside[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Adjacency;
    use std::f64::consts::PI;

    #[test]
    fn sphere_is_closed_with_its_volume() {
        let bounds = Aabb {
            min: Vec3::NEG_ONE,
            max: Vec3::ONE,
        };
        let value = |p: DVec3| p.length() - 0.9;
        let mut mesh = surface_nets(bounds, 0.1, value);
        project_onto(&mut mesh, value);
        let adjacency = Adjacency::new(&mesh);
        assert!(adjacency.is_closed_and_oriented(&mesh));
        assert_eq!(adjacency.euler_characteristic(), 2);
        let exact = 4.0 / 3.0 * PI * 0.9f64.powi(3);
        assert!((mesh.signed_volume() / exact - 1.0).abs() < 0.01);
    }

    #[test]
    fn senseless_grids_are_empty() {
        let bounds = Aabb {
            min: Vec3::NEG_ONE,
            max: Vec3::ONE,
        };
        let value = |p: DVec3| p.length() - 0.5;
        assert!(surface_nets(Aabb::EMPTY, 0.1, value).positions.is_empty());
        assert!(surface_nets(bounds, 0.5, |_| f64::NAN).positions.is_empty());
        assert!(
            surface_nets(bounds, f32::INFINITY, value)
                .positions
                .is_empty()
        );
    }
}
