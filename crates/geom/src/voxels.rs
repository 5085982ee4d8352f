//! Solids on a lattice of cubic cells: drawing meshes, filling, morphology by exact distances.

use glam::{DVec3, Vec3};

use crate::aabb::Aabb;
use crate::distance_transform::squared_distances;
use crate::mesh::TriMesh;

/// Most points drawn for one triangle along one side, to bound time on absurd triangles.
const MAX_STEPS: f64 = 4000.0;

/// A lattice of cubic cells, and which of them are filled. Cells are ordered by x, then y, then z.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Voxels {
    /// Lower corner of the first cell \[m\].
    pub origin: DVec3,
    /// Side of a cell \[m\].
    pub cell: f64,
    /// Cells along each axis.
    pub size: [usize; 3],
    /// Whether each cell is filled.
    pub filled: Vec<bool>,
}

impl Voxels {
    /// An empty lattice over a box and `margin` cells around it.
    pub fn over(bounds: Aabb, cell: f64, margin: usize) -> Voxels {
        let extent = bounds.size().as_dvec3();
        let count = |length: f64| (length.max(0.0) / cell).ceil() as usize + 1 + 2 * margin;
        let size = [count(extent.x), count(extent.y), count(extent.z)];
        Voxels {
            origin: bounds.min.as_dvec3() - cell * margin as f64,
            cell,
            size,
            filled: vec![false; size.iter().product()],
        }
    }

    /// Index of a cell.
    pub fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.size[0] * (y + self.size[1] * z)
    }

    /// The cell of an index.
    pub fn place(&self, index: usize) -> [usize; 3] {
        let [nx, ny, _] = self.size;
        [index % nx, index / nx % ny, index / (nx * ny)]
    }

    /// Middle of a cell \[m\].
    pub fn center(&self, index: usize) -> Vec3 {
        let place = DVec3::from(self.place(index).map(|i| i as f64 + 0.5));
        (self.origin + self.cell * place).as_vec3()
    }

    /// The cell that contains a point; none outside of the lattice.
    pub fn cell_at(&self, point: DVec3) -> Option<usize> {
        let at = ((point - self.origin) / self.cell).floor();
        let inside = |i: usize| at[i] >= 0.0 && at[i] < self.size[i] as f64;
        (0..3)
            .all(inside)
            .then(|| self.index([at.x as usize, at.y as usize, at.z as usize]))
    }

    /// Volume of the filled cells \[m³\].
    pub fn volume(&self) -> f64 {
        self.filled.iter().filter(|f| **f).count() as f64 * self.cell.powi(3)
    }

    /// Fills all cells that the triangles of a mesh pass through (sampled twice a cell).
    pub fn draw(&mut self, mesh: &TriMesh) {
        for triangle in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(triangle).map(|p| p.as_dvec3());
            let longest = (b - a).length().max((c - a).length()).max((c - b).length());
            if !longest.is_finite() {
                continue;
            }
            let steps = (2.0 * longest / self.cell).ceil().clamp(1.0, MAX_STEPS) as usize;
            for i in 0..=steps {
                for j in 0..=steps - i {
                    let (u, v) = (i as f64 / steps as f64, j as f64 / steps as f64);
                    if let Some(cell) = self.cell_at(a + u * (b - a) + v * (c - a)) {
                        self.filled[cell] = true;
                    }
                }
            }
        }
    }

    /// Fills everything that cannot be reached from the lattice's border through faces of empty cells.
    pub fn fill_cavities(&mut self) {
        let mut outside = vec![false; self.filled.len()];
        let mut stack = Vec::new();
        for index in 0..self.filled.len() {
            let place = self.place(index);
            let on_border = (0..3).any(|k| place[k] == 0 || place[k] + 1 == self.size[k]);
            if on_border && !self.filled[index] {
                outside[index] = true;
                stack.push(index);
            }
        }
        while let Some(index) = stack.pop() {
            self.for_each_neighbour(index, |next| {
                if !self.filled[next] && !outside[next] {
                    outside[next] = true;
                    stack.push(next);
                }
            });
        }
        for (filled, outside) in self.filled.iter_mut().zip(outside) {
            *filled = !outside;
        }
    }

    /// Calls with the up to six cells that share a face with a cell.
    pub fn for_each_neighbour(&self, index: usize, mut call: impl FnMut(usize)) {
        let place = self.place(index);
        let steps = [1, self.size[0], self.size[0] * self.size[1]];
        for k in 0..3 {
            if place[k] > 0 {
                call(index - steps[k]);
            }
            if place[k] + 1 < self.size[k] {
                call(index + steps[k]);
            }
        }
    }

    /// Fills the cells whose middles lie within `radius` \[m\] of a filled cell's middle. The lattice does not grow.
    pub fn dilate(&mut self, radius: f64) {
        let limit = ((radius / self.cell).powi(2) + 1e-6) as f32;
        let near = squared_distances(self.size, &self.filled);
        self.filled = near.iter().map(|squared| *squared <= limit).collect();
    }

    /// Morphological closing with a ball: fills what no ball of `radius` \[m\] that avoids the filled cells can reach, and the
    /// cavities left. Beyond the lattice everything is empty: give it a margin of `radius`.
    pub fn close(&mut self, radius: f64) {
        let limit = ((radius / self.cell).powi(2) + 1e-6) as f32;
        let near = squared_distances(self.size, &self.filled);
        let mut grown = self.clone();
        grown.filled = near.iter().map(|squared| *squared <= limit).collect();
        grown.fill_cavities();
        let open: Vec<bool> = grown.filled.iter().map(|f| !f).collect();
        let depth = squared_distances(self.size, &open);
        for (filled, squared) in self.filled.iter_mut().zip(depth) {
            *filled |= squared > limit;
        }
    }

    /// Fills the cells that are filled in another lattice of the same cells that lies within this one.
    pub fn unite(&mut self, other: &Voxels) {
        let shift = ((other.origin - self.origin) / self.cell).round();
        for (index, _) in other.filled.iter().enumerate().filter(|(_, f)| **f) {
            let place = DVec3::from(other.place(index).map(|i| i as f64 + 0.5)) + shift;
            if let Some(cell) = self.cell_at(self.origin + self.cell * place) {
                self.filled[cell] = true;
            }
        }
    }

    /// An empty lattice of the same cells over a box and `margin` cells around it.
    pub fn aligned(&self, bounds: Aabb, margin: usize) -> Voxels {
        let mut part = Voxels::over(bounds, self.cell, margin + 1);
        let shift = ((part.origin - self.origin) / self.cell).floor();
        part.origin = self.origin + self.cell * shift;
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::icosphere;

    /// A drawn and filled ball of radius 0.2, with room for closing.
    fn ball(margin: usize) -> Voxels {
        let mesh = icosphere(0.2, 4);
        let mut voxels = Voxels::over(mesh.bounds(), 0.01, margin);
        voxels.draw(&mesh);
        voxels.fill_cavities();
        voxels
    }

    #[test]
    fn a_drawn_ball_has_its_volume() {
        // Cells that the surface touches are filled: half a cell more on average.
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.205_f64.powi(3);
        assert!((ball(1).volume() / exact - 1.0).abs() < 0.03);
    }

    #[test]
    fn dilation_adds_the_radius_and_closing_a_convex_solid_nothing() {
        let small = ball(8);
        let mut grown = small.clone();
        grown.dilate(0.05);
        let radius = |v: &Voxels| (v.volume() * 0.75 / std::f64::consts::PI).cbrt();
        assert!((radius(&grown) - radius(&small) - 0.05).abs() < 0.002);
        let mut closed = small.clone();
        closed.close(0.05);
        let added = closed.volume() / small.volume() - 1.0;
        assert!((0.0..0.01).contains(&added), "{added}");
    }

    #[test]
    fn closing_bridges_a_gap_as_wide_as_its_ball() {
        // Two slabs 4 cm apart: closed by a ball of 2.5 cm radius, not by one of 1 cm.
        let bounds = Aabb {
            min: Vec3::ZERO,
            max: Vec3::splat(0.2),
        };
        let mut slabs = Voxels::over(bounds, 0.01, 6);
        for index in 0..slabs.filled.len() {
            let p = slabs.center(index);
            let inside = p.min_element() > 0.0 && p.max_element() < 0.2;
            slabs.filled[index] = inside && !(0.08..0.12).contains(&p.x);
        }
        let gap = slabs.cell_at(DVec3::splat(0.101)).unwrap();
        let is_bridged = |radius: f64| {
            let mut closed = slabs.clone();
            closed.close(radius);
            closed.filled[gap]
        };
        assert!(is_bridged(0.025) && !is_bridged(0.01));
    }

    #[test]
    fn parts_fit_into_the_whole() {
        let mesh = icosphere(0.1, 3);
        let bounds = Aabb {
            min: Vec3::splat(-0.3),
            max: Vec3::splat(0.333),
        };
        let mut whole = Voxels::over(bounds, 0.01, 2);
        let mut part = whole.aligned(mesh.bounds(), 1);
        part.draw(&mesh);
        let mut direct = whole.clone();
        direct.draw(&mesh);
        whole.unite(&part);
        assert_eq!(whole, direct);
    }
}
