//! Welding: merges vertices at one position.
//!
//! Files split vertices where texture coordinates or normals are discontinuous; topology needs them merged. Time is
//! linear in the size of the mesh: positions go through a hash table of cells, and each cell has a bounded number of
//! vertices.

use glam::{DVec3, Vec3};

use crate::adjacency::NONE;
use crate::mesh::TriMesh;

/// A welded mesh and its relation to the original.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Welded {
    /// The welded mesh; its vertices are in order of first appearance.
    pub mesh: TriMesh,
    /// Welded vertex of each original vertex.
    pub welded_from_original: Vec<u32>,
    /// First original vertex of each welded vertex, whose position it has.
    pub original_from_welded: Vec<u32>,
    /// Original triangle of each welded triangle.
    pub original_triangle: Vec<u32>,
    /// Number of triangles dropped because welding merged two of their corners.
    pub dropped_triangles: usize,
}

impl Welded {
    /// Expands one value per welded vertex to every original vertex.
    pub fn spread<T: Clone>(&self, welded: &[T]) -> Vec<T> {
        let value = |&w: &u32| welded[w as usize].clone();
        self.welded_from_original.iter().map(value).collect()
    }
}

/// Merges vertices at equal positions, or no further than `tolerance` \[m\] from the first vertex of a group.
///
/// With tolerance 0 positions must be equal (−0 equals 0). Equal positions are always joined; with a tolerance, a
/// vertex joins the nearest group begun before it, so groups do not grow along rows of close vertices. Vertices
/// whose position is not finite stay alone. A tolerance that is negative or not a number counts as 0.
pub fn weld(mesh: &TriMesh, tolerance: f32) -> Welded {
    let mut groups = equal_groups(&mesh.positions);
    if tolerance > 0.0 {
        let firsts: Vec<Vec3> = groups
            .firsts
            .iter()
            .map(|&v| mesh.positions[v as usize])
            .collect();
        let near = near_groups(&firsts, f64::from(tolerance.min(f32::MAX)));
        for group in &mut groups.of {
            *group = near.of[*group as usize];
        }
        groups.firsts = near
            .firsts
            .iter()
            .map(|&g| groups.firsts[g as usize])
            .collect();
    }
    joined(mesh, groups)
}

/// Groups of vertices, numbered by first appearance.
#[derive(Default)]
struct Groups {
    of: Vec<u32>,
    firsts: Vec<u32>,
}

impl Groups {
    fn begin(&mut self, vertex: usize) -> u32 {
        self.firsts.push(vertex as u32);
        self.firsts.len() as u32 - 1
    }
}

fn equal_groups(positions: &[Vec3]) -> Groups {
    let mut groups = Groups::default();
    let mut table = CellTable::with_capacity(positions.len());
    for (vertex, &p) in positions.iter().enumerate() {
        if !p.is_finite() {
            let alone = groups.begin(vertex);
            table.push_hidden();
            groups.of.push(alone);
            continue;
        }
        let cell = Cell::of((p + Vec3::ZERO).as_dvec3());
        let group = table.first(&cell).unwrap_or_else(|| {
            table.push(cell);
            groups.begin(vertex)
        });
        groups.of.push(group);
    }
    groups
}

fn near_groups(positions: &[Vec3], tolerance: f64) -> Groups {
    // A ball of radius `tolerance` must not span three cells even after rounding: hence a little more than twice.
    let size = 2.5 * tolerance;
    let mut groups = Groups::default();
    let mut table = CellTable::with_capacity(positions.len());
    for (vertex, &position) in positions.iter().enumerate() {
        let p = position.as_dvec3();
        let nearest = if position.is_finite() {
            nearest_group(positions, &groups, &table, p, tolerance, size)
        } else {
            None
        };
        let group = nearest.unwrap_or_else(|| {
            if position.is_finite() {
                table.push(Cell::of((p / size).floor()));
            } else {
                table.push_hidden();
            }
            groups.begin(vertex)
        });
        groups.of.push(group);
    }
    groups
}

fn nearest_group(
    positions: &[Vec3],
    groups: &Groups,
    table: &CellTable,
    p: DVec3,
    tolerance: f64,
    size: f64,
) -> Option<u32> {
    let low = ((p - tolerance) / size).floor();
    let high = ((p + tolerance) / size).floor();
    let mut best = (tolerance * tolerance, NONE);
    for corner in 0..8 {
        let upper = [corner & 1 != 0, corner & 2 != 0, corner & 4 != 0];
        if (0..3).any(|k| upper[k] && high[k] == low[k]) {
            continue;
        }
        let pick = |k: usize| if upper[k] { high[k] } else { low[k] };
        let cell = Cell::of(DVec3::new(pick(0), pick(1), pick(2)));
        let mut member = table.first(&cell);
        while let Some(group) = member {
            let first = positions[groups.firsts[group as usize] as usize].as_dvec3();
            let candidate = (first.distance_squared(p), group);
            if candidate <= best {
                best = candidate;
            }
            member = table.after(group);
        }
    }
    (best.1 != NONE).then_some(best.1)
}

/// Bits of a cell's coordinates: floats, so that no position and tolerance can overflow them.
#[derive(Clone, Copy, PartialEq)]
struct Cell([u64; 3]);

impl Cell {
    fn of(coordinates: DVec3) -> Self {
        // Adding zero turns −0 into 0.
        Self([coordinates.x, coordinates.y, coordinates.z].map(|c| (c + 0.0).to_bits()))
    }

    /// Multiply and fold, twice a word: cheap, and every input bit reaches every output bit.
    fn hash(&self) -> u64 {
        let mix = |h: u64, word: u64| {
            let product =
                u128::from(h ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
            (product >> 64) as u64 ^ product as u64
        };
        mix(
            self.0
                .iter()
                .fold(0x243F_6A88_85A3_08D3, |h, &word| mix(h, word)),
            0,
        )
    }
}

/// Open-addressing hash table from cells to the list of groups in them.
struct CellTable {
    slots: Vec<u32>,
    cells: Vec<Cell>,
    next: Vec<u32>,
}

impl CellTable {
    fn with_capacity(count: usize) -> Self {
        Self {
            slots: vec![NONE; (2 * count).next_power_of_two().max(2)],
            cells: Vec::new(),
            next: Vec::new(),
        }
    }

    fn slot(&self, cell: &Cell) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = cell.hash() as usize & mask;
        while self.slots[slot] != NONE && self.cells[self.slots[slot] as usize] != *cell {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn first(&self, cell: &Cell) -> Option<u32> {
        Some(self.slots[self.slot(cell)]).filter(|&group| group != NONE)
    }

    fn after(&self, group: u32) -> Option<u32> {
        Some(self.next[group as usize]).filter(|&group| group != NONE)
    }

    /// Gives the next group number to a cell.
    fn push(&mut self, cell: Cell) {
        let slot = self.slot(&cell);
        self.next.push(self.slots[slot]);
        self.slots[slot] = self.cells.len() as u32;
        self.cells.push(cell);
    }

    /// Reserves the next group number for a group that is not to be found.
    fn push_hidden(&mut self) {
        self.next.push(NONE);
        self.cells.push(Cell([u64::MAX; 3]));
    }
}

fn joined(mesh: &TriMesh, groups: Groups) -> Welded {
    let mut welded = Welded {
        welded_from_original: groups.of,
        original_from_welded: groups.firsts,
        ..Welded::default()
    };
    let position = |&v: &u32| mesh.positions[v as usize];
    welded.mesh.positions = welded.original_from_welded.iter().map(position).collect();
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|v| welded.welded_from_original[v as usize]);
        if a == b || b == c || c == a {
            welded.dropped_triangles += 1;
        } else {
            welded.mesh.triangles.push([a, b, c]);
            welded.original_triangle.push(t as u32);
        }
    }
    welded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adjacency, random::Random, shapes};

    fn exploded(mesh: &TriMesh) -> TriMesh {
        let positions = mesh
            .triangles
            .iter()
            .flatten()
            .map(|&v| mesh.positions[v as usize]);
        TriMesh {
            positions: positions.collect(),
            triangles: (0..mesh.triangles.len() as u32)
                .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
                .collect(),
        }
    }

    #[test]
    fn split_cube_gives_eight_vertices() {
        let split = exploded(&shapes::cuboid(Vec3::ONE, 1));
        assert_eq!(split.positions.len(), 36);
        for tolerance in [0.0, 1e-4, -1.0, f32::NAN] {
            let welded = weld(&split, tolerance);
            assert_eq!(welded.mesh.positions.len(), 8);
            assert_eq!(welded.dropped_triangles, 0);
            assert!(Adjacency::new(&welded.mesh).is_closed_and_oriented(&welded.mesh));
            assert_eq!(welded.spread(&welded.mesh.positions), split.positions);
        }
    }

    #[test]
    fn a_split_mesh_welds_to_the_original() {
        let mesh = shapes::icosphere(0.3, 4);
        let welded = weld(&exploded(&mesh), 0.0);
        assert_eq!(welded.mesh.positions.len(), mesh.positions.len());
        assert_eq!(Adjacency::new(&welded.mesh).euler_characteristic(), 2);
    }

    #[test]
    fn negative_zero_is_zero_and_nan_stays_alone() {
        let inf = Vec3::splat(f32::INFINITY);
        let positions = vec![Vec3::ZERO, -Vec3::ZERO, Vec3::NAN, Vec3::NAN, inf, inf];
        let mesh = TriMesh {
            positions,
            triangles: vec![[0, 1, 2]],
        };
        for tolerance in [0.0, 0.1, f32::INFINITY] {
            let welded = weld(&mesh, tolerance);
            assert_eq!(welded.welded_from_original, [0, 0, 1, 2, 3, 4]);
            assert_eq!(welded.dropped_triangles, 1);
        }
    }

    #[test]
    fn tolerance_bounds_every_move_and_separates_the_rest() {
        let mut random = Random::new(7);
        let positions: Vec<Vec3> = (0..4000).map(|_| random.in_cube(1.0)).collect();
        let mesh = TriMesh {
            positions,
            triangles: vec![],
        };
        let tolerance = 0.07;
        let welded = weld(&mesh, tolerance);
        assert!(welded.mesh.positions.len() < 3500);
        for (p, q) in mesh
            .positions
            .iter()
            .zip(welded.spread(&welded.mesh.positions))
        {
            assert!(p.distance(q) <= tolerance * 1.000_01);
        }
        for (i, p) in welded.mesh.positions.iter().enumerate() {
            let others = &welded.mesh.positions[..i];
            assert!(
                others
                    .iter()
                    .all(|q| q.distance(*p) >= tolerance * 0.999_99)
            );
        }
    }

    #[test]
    fn equal_positions_stay_together_whatever_the_tolerance() {
        // The second vertex joins the first group; its twin at the end would be nearer to the third.
        let x = |x: f32| Vec3::new(x, 0.0, 0.0);
        let mesh = TriMesh {
            positions: vec![x(0.0), x(0.9), x(1.2), x(0.9)],
            triangles: vec![],
        };
        let welded = weld(&mesh, 1.0);
        assert_eq!(welded.welded_from_original, [0, 0, 1, 0]);
    }

    #[test]
    fn extreme_tolerances_and_positions_terminate() {
        let mesh = shapes::icosphere(1e30, 2);
        assert_eq!(
            weld(&mesh, 1e-40).mesh.positions.len(),
            mesh.positions.len()
        );
        assert_eq!(weld(&mesh, f32::MAX).mesh.positions.len(), 1);
    }
}
