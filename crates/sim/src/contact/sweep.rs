//! Sweeps over contacts on two threads.
//!
//! Contacts are split into two sides that hardly affect each other, and the rest between them. Both sides are swept in
//! parallel, then the rest. The split depends on the contacts alone, so results have the same bits for any number of
//! threads.

use glam::{Vec3, Vec3A, Vec4};
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row};

use super::Kernels;
use super::kernels::Part;
use super::resolve::{MovableBody, change_of_force, force_per_metre};
use super::rows::{ContactRow, NONE};

/// Least number of contacts that are split.
const MIN_SPLIT: usize = 64;
/// Number of contacts from which corners with a small weight use fewer blocks of their columns: sweeps dominate the
/// cost there. With a lower number, one more point of a knee stays inside.
const PARTIAL_COLUMNS_FROM: usize = 512;
/// Share of the contacts on the first side; about a third of the others are between the sides.
const FIRST_SIDE_SHARE: f32 = 0.35;

/// Contacts that are swept in sequence.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The contacts.
    pub rows: Vec<SweptRow>,
    /// Displacement of each free vertex by this sweep, in the kernels' blocks.
    pub moved: Vec<[F32x8; 3]>,
    /// Blocks that it has moved.
    pub marks: Vec<bool>,
}

/// A contact with the data that sweeps need.
#[derive(Clone, Copy, Debug)]
pub struct SweptRow {
    /// The contact.
    pub row: ContactRow,
    /// Its index among all contacts.
    pub number: u32,
    /// Number of its vertices.
    count: u32,
    /// Their slots.
    slots: [u32; 4],
    /// The parts of their columns that are used.
    parts: [Part; 4],
    /// Their positions before contacts of this side move them \[m\].
    places: [Vec3A; 4],
    /// Force per metre of violation.
    per_metre: f32,
}

impl SweptRow {
    /// Corners with a small weight move little, and use whole columns only if there are `few` contacts.
    fn new(row: &ContactRow, number: u32, kernels: &Kernels, few: bool) -> SweptRow {
        let mut swept = SweptRow {
            row: *row,
            number,
            count: 0,
            slots: [0; 4],
            parts: [Part::default(); 4],
            places: [Vec3A::ZERO; 4],
            per_metre: force_per_metre(row.compliance),
        };
        for (k, (v, c)) in row.entries().enumerate() {
            swept.count += 1;
            swept.slots[k] = kernels.slot(v);
            swept.parts[k] = kernels.part(v, if few { 1.0 } else { c });
        }
        swept
    }

    #[inline(always)]
    fn count(&self) -> usize {
        (self.count as usize).min(self.slots.len())
    }
}

impl Side {
    /// Without contacts, for a number of blocks.
    pub fn new(blocks: usize) -> Side {
        Side {
            rows: Vec::new(),
            moved: vec![Default::default(); blocks],
            marks: vec![false; blocks],
        }
    }
}

/// Scratch memory of [`Split::split`].
#[derive(Clone, Debug, Default)]
pub struct Split {
    keys: Vec<(f32, u32)>,
    is_first: Vec<bool>,
    felt: Vec<bool>,
}

impl Split {
    /// Splits contacts into the first side, the second, and those between. `places` are the positions of the free
    /// vertices.
    ///
    /// The first side takes the first contacts along the longest axis of all; contacts that it is [strongly
    /// coupled](Kernels::strong) to are between. The weak coupling of the sides is applied at the end of the sweep.
    pub fn split(
        &mut self,
        rows: &[ContactRow],
        kernels: &Kernels,
        places: &[Vec3],
        sides: &mut [Side; 3],
    ) {
        sides.iter_mut().for_each(|side| side.rows.clear());
        self.is_first.clear();
        if rows.len() < MIN_SPLIT {
            self.is_first.resize(rows.len(), true);
        } else {
            self.is_first.resize(rows.len(), false);
            self.choose_first(rows, places);
        }
        self.felt.clear();
        self.felt.resize(sides[0].moved.len(), false);
        for (row, _) in rows.iter().zip(&self.is_first).filter(|(_, first)| **first) {
            for block in row.entries().flat_map(|(v, _)| kernels.strong(v)) {
                self.felt[*block as usize] = true;
            }
        }
        let few = rows.len() < PARTIAL_COLUMNS_FROM;
        let block = |v: u32| kernels.slot(v) as usize / LANES;
        for ((row, &is_first), number) in rows.iter().zip(&self.is_first).zip(0..) {
            // A rigid body is shared by all contacts with it.
            let side = if row.body != NONE {
                2
            } else if is_first {
                0
            } else if row.entries().any(|(v, _)| self.felt[block(v)]) {
                2
            } else {
                1
            };
            sides[side]
                .rows
                .push(SweptRow::new(row, number, kernels, few));
        }
    }

    fn choose_first(&mut self, rows: &[ContactRow], places: &[Vec3]) {
        let place = |row: &ContactRow| places.get(row.vertices[0] as usize).copied();
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for place in rows.iter().filter_map(place) {
            low = low.min(place);
            high = high.max(place);
        }
        let axis = (high - low).max_position();
        let key = |row: &ContactRow| place(row).map_or(0.0, |place| place[axis]);
        self.keys.clear();
        self.keys.extend(rows.iter().map(key).zip(0..));
        let count = (FIRST_SIDE_SHARE * rows.len() as f32) as usize;
        self.keys
            .select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(_, number) in &self.keys[..count] {
            self.is_first[number as usize] = true;
        }
    }
}

/// One sweep over the contacts of a side: updates their forces, and moves the tissue around them by its response.
pub struct Sweep<'a> {
    pub side: &'a mut Side,
    /// Displacements by the other sides in this sweep.
    pub others: &'a [&'a [[F32x8; 3]]],
    pub bodies: &'a mut [MovableBody],
    pub positions: &'a [Row],
    pub kernels: &'a Kernels,
    /// Motion below this is left to the next solve \[m\].
    pub negligible: f32,
}

impl Kernel for Sweep<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Side { rows, moved, marks } = self.side;
        // All loads first, so that none waits for another contact's result.
        for swept in rows.iter_mut() {
            for k in 0..swept.count() {
                let place = &self.positions[swept.row.vertices[k] as usize];
                let mut place = Vec3A::from_vec4(Vec4::from_array(place.0));
                for other in self.others {
                    place += moved_at(other, swept.slots[k]);
                }
                swept.places[k] = place;
            }
        }
        for swept in rows.iter_mut() {
            let count = swept.count();
            let row = &mut swept.row;
            let mut apart = Vec3A::from(row.constant);
            for k in 0..count {
                apart += (swept.places[k] + moved_at(moved, swept.slots[k])) * row.coefficients[k];
            }
            let mut body = self.bodies.get_mut(row.body as usize);
            if let Some(body) = &body {
                apart -= Vec3A::from(body.moved);
            }
            let change = change_of_force(row, swept.per_metre, apart);
            row.force += Vec3::from(change);
            if let Some(body) = &mut body {
                body.moved -= Vec3::from(change) * body.compliance;
            }
            let moves = change * row.compliance;
            if moves.length_squared() > self.negligible * self.negligible {
                // The surroundings move by A⁻¹ cᵀ × force.
                for k in 0..count {
                    let force = (change * row.coefficients[k]).to_array();
                    self.kernels.add::<L>(swept.parts[k], force, moved, marks);
                }
            }
        }
    }
}

/// Displacement of the vertex in a slot.
#[inline(always)]
pub fn moved_at(moved: &[[F32x8; 3]], slot: u32) -> Vec3A {
    let slot = slot as usize;
    let [x, y, z] = &moved[slot / LANES];
    let lane = slot % LANES;
    Vec3A::new(x.0[lane], y.0[lane], z.0[lane])
}

#[cfg(test)]
mod tests {
    use super::super::Reach;
    use super::*;

    const COUNT: usize = 600;

    /// Vertices in a line; each moves the next by three quarters of its own motion.
    fn line() -> (Kernels, Vec<Vec3>) {
        let order: Vec<u32> = (0..COUNT as u32).collect();
        let solve = |x: &mut [[f32; 3]]| {
            let forces = x.to_vec();
            for (i, x) in x.iter_mut().enumerate() {
                *x = [0.0; 3];
                for (j, force) in forces.iter().enumerate() {
                    let moved = 0.75_f32.powi(i.abs_diff(j) as i32);
                    (0..3).for_each(|axis| x[axis] += moved * force[axis]);
                }
            }
        };
        let kernels = Kernels::new(&order, &[true; COUNT], Reach::default(), &solve);
        let places = order.iter().map(|&i| Vec3::new(0.0, i as f32, 0.0));
        (kernels, places.collect())
    }

    fn rows(count: usize) -> Vec<ContactRow> {
        let row = |i: usize| {
            let mut row = ContactRow::default();
            row.push((i * 7 % COUNT) as u32, 1.0);
            row
        };
        (0..count).map(row).collect()
    }

    fn sides(rows: &[ContactRow], kernels: &Kernels, places: &[Vec3]) -> [Side; 3] {
        let blocks = COUNT.div_ceil(LANES);
        let mut sides = [0; 3].map(|_| Side::new(blocks));
        Split::default().split(rows, kernels, places, &mut sides);
        sides
    }

    #[test]
    fn sides_do_not_move_each_other_much() {
        let (kernels, places) = line();
        let rows = rows(COUNT);
        let sides = sides(&rows, &kernels, &places);
        let mut numbers: Vec<u32> = sides
            .iter()
            .flat_map(|side| side.rows.iter().map(|row| row.number))
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..COUNT as u32).collect::<Vec<_>>());
        let [first, second, _] = &sides;
        assert!(first.rows.len() >= COUNT / 4 && second.rows.len() >= COUNT / 4);
        for a in &first.rows {
            for b in &second.rows {
                let block = kernels.slot(b.row.vertices[0]) / LANES as u32;
                assert!(!kernels.strong(a.row.vertices[0]).contains(&block));
            }
        }
    }

    #[test]
    fn few_contacts_stay_together_and_those_with_a_body_are_swept_alone() {
        let (kernels, places) = line();
        let mut rows = rows(MIN_SPLIT - 1);
        rows[3].body = 0;
        let sides = sides(&rows, &kernels, &places);
        assert_eq!(
            sides.each_ref().map(|side| side.rows.len()),
            [MIN_SPLIT - 2, 0, 1]
        );
        assert_eq!(sides[2].rows[0].number, 3);
    }
}
