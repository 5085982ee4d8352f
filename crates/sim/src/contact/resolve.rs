//! Contact forces by projected Gauss–Seidel on c A⁻¹ cᵀ, with Coulomb friction.

use glam::{Vec3, Vec3A};
use supple_geom::simd::{F32x8, LANES, Row, dispatch};

use super::Kernels;
use super::rows::ContactRow;
use super::rules;
use super::sweep::{Side, Split, Sweep};

/// A rigid body that is moved by the contacts that press on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MovableBody {
    /// Displacement per unit of force.
    pub compliance: f32,
    /// Displacement in this step \[m\].
    pub moved: Vec3,
}

/// Contacts and positions of one step.
#[derive(Clone, Debug, Default)]
pub struct Resolver {
    /// The contacts.
    pub rows: Vec<ContactRow>,
    /// Rigid bodies that the contacts move.
    pub bodies: Vec<MovableBody>,
    /// Free vertices that occur in the rows, ascending.
    pub touched: Vec<u32>,
    /// Free vertices that a sweep may move.
    pub reached: Vec<bool>,
    /// Positions of free vertices \[m\]; only those of `touched` are read.
    pub positions: Vec<Row>,
    /// Displacement of each free vertex by the last sweep \[m\], in the kernels' blocks.
    pub moved: Vec<[F32x8; 3]>,
    /// Contact force on each free vertex, of the scaled system.
    pub forces: Vec<Row>,
    /// Vertices of the rows for which `touched` and `reached` were computed.
    vertices: Vec<[u32; 4]>,
    /// Scratch.
    is_touched: Vec<bool>,
    is_reached: Vec<bool>,
    /// Blocks that a sweep may move.
    reached_blocks: Vec<u32>,
    /// The rows during a step: two sides, and those between.
    sides: [Side; 3],
    split: Split,
    /// Vertices by block and lane.
    order: Vec<u32>,
    /// Motion below this is left to the next solve \[m\].
    negligible: f32,
}

impl Resolver {
    /// For the free vertices in the kernels' order, on skin with this mean edge \[m\].
    pub fn new(order: Vec<u32>, edge: f32) -> Resolver {
        let (count, blocks) = (order.len(), order.len().div_ceil(LANES));
        Resolver {
            positions: vec![Row::default(); count],
            forces: vec![Row::default(); count],
            reached: vec![false; count],
            is_touched: vec![false; count],
            is_reached: vec![false; blocks],
            sides: [Side::new(blocks), Side::new(blocks), Side::new(blocks)],
            moved: vec![Default::default(); blocks],
            order,
            negligible: rules::NEGLIGIBLE_MOVE * edge,
            ..Resolver::default()
        }
    }

    /// Starts a step after its rows have been set: finds the vertices they touch, and sums their initial forces.
    /// `places` are the positions of the free vertices.
    pub fn start(&mut self, kernels: &Kernels, places: &[Vec3]) {
        // A body at rest often has the same rows again.
        let vertices = self.rows.iter().map(|row| row.vertices);
        if !vertices.clone().eq(self.vertices.iter().copied()) {
            self.vertices.clear();
            self.vertices.extend(vertices);
            self.reach(kernels);
        }
        (self.split).split(&self.rows, kernels, places, &mut self.sides);
        self.sum_forces();
    }

    /// Finds the vertices that the rows touch, and those that they move.
    fn reach(&mut self, kernels: &Kernels) {
        for &v in &self.touched {
            self.forces[v as usize] = Row::default();
        }
        self.touched.clear();
        for (v, _) in self.rows.iter().flat_map(ContactRow::entries) {
            self.is_touched[v as usize] = true;
        }
        for (is_touched, v) in self.is_touched.iter_mut().zip(0..) {
            if std::mem::take(is_touched) {
                self.touched.push(v);
            }
        }
        self.reached.fill(false);
        for &block in &self.reached_blocks {
            self.is_reached[block as usize] = false;
            self.moved[block as usize] = Default::default();
        }
        self.reached_blocks.clear();
        for &block in self.touched.iter().flat_map(|&v| kernels.of(v).0) {
            if !std::mem::replace(&mut self.is_reached[block as usize], true) {
                self.reached_blocks.push(block);
                let first = block as usize * LANES;
                for &v in self.order[first..].iter().take(LANES) {
                    self.reached[v as usize] = true;
                }
            }
        }
    }

    /// One Gauss–Seidel sweep: updates the forces of all contacts, and moves the tissue around them by its response.
    pub fn sweep(&mut self, kernels: &Kernels) {
        let mut sides = self.lend_sides();
        let positions = std::mem::take(&mut self.positions);
        for side in &mut sides {
            self.sweep_side(side, &positions, kernels);
        }
        self.end_sweep(sides.each_mut(), &positions, kernels);
        self.positions = positions;
        self.take_back(sides);
    }

    /// Lends the two sides out, to be swept in parallel.
    pub fn lend_sides(&mut self) -> [Side; 2] {
        let [first, second, _] = &mut self.sides;
        [std::mem::take(first), std::mem::take(second)]
    }

    /// Takes the sides back after the last sweep.
    pub fn take_back(&mut self, [first, second]: [Side; 2]) {
        self.sides[0] = first;
        self.sides[1] = second;
    }

    /// Sweeps one side.
    pub fn sweep_side(&self, side: &mut Side, positions: &[Row], kernels: &Kernels) {
        dispatch(Sweep {
            side,
            others: &[],
            bodies: &mut [],
            positions,
            kernels,
            negligible: self.negligible,
        });
    }

    /// Sweeps the contacts between both sides, after these.
    pub fn end_sweep(
        &mut self,
        [first, second]: [&mut Side; 2],
        positions: &[Row],
        kernels: &Kernels,
    ) {
        let between = &mut self.sides[2];
        dispatch(Sweep {
            side: between,
            others: &[&first.moved, &second.moved],
            bodies: &mut self.bodies,
            positions,
            kernels,
            negligible: self.negligible,
        });
        for &block in &self.reached_blocks {
            let block = block as usize;
            let mut sum = <[F32x8; 3]>::default();
            for side in [&mut *first, &mut *second, &mut *between] {
                if std::mem::take(&mut side.marks[block]) {
                    let moved = std::mem::take(&mut side.moved[block]);
                    for (sum, moved) in sum.iter_mut().zip(moved) {
                        *sum = *sum + moved;
                    }
                }
            }
            self.moved[block] = sum;
        }
        self.sum_forces_of([first, second]);
    }

    /// Copies the forces of the last sweep to the rows.
    pub fn finish(&mut self) {
        for swept in self.sides.iter().flat_map(|side| &side.rows) {
            self.rows[swept.number as usize].force = swept.row.force;
        }
    }

    fn sum_forces(&mut self) {
        let sides = self.lend_sides();
        self.sum_forces_of(sides.each_ref());
        self.take_back(sides);
    }

    fn sum_forces_of(&mut self, [first, second]: [&Side; 2]) {
        for &v in &self.touched {
            self.forces[v as usize] = Row::default();
        }
        for body in &mut self.bodies {
            body.moved = Vec3::ZERO;
        }
        let between = &self.sides[2];
        let sides = [first, second, between].into_iter();
        for row in sides.flat_map(|side| &side.rows).map(|swept| &swept.row) {
            if row.force == Vec3::ZERO {
                continue;
            }
            if let Some(body) = self.bodies.get_mut(row.body as usize) {
                body.moved -= row.force * body.compliance;
            }
            let force = Row::new(row.force.to_array());
            for (v, c) in row.entries() {
                let sum = &mut self.forces[v as usize];
                *sum = *sum + force * Row([c; 4]);
            }
        }
    }
}

/// Force per metre of violation in one sweep.
pub fn force_per_metre(compliance: f32) -> f32 {
    rules::RELAXATION / (compliance * (1.0 + rules::SOFTNESS))
}

/// Change of force that corrects the violation, projected to the friction cone.
#[inline(always)]
pub fn change_of_force(row: &ContactRow, per_metre: f32, apart: Vec3A) -> Vec3A {
    let (n, force) = (Vec3A::from(row.normal), Vec3A::from(row.force));
    let pressed = force.dot(n);
    let missing = row.target - apart.dot(n) - rules::SOFTNESS * row.compliance * pressed;
    let normal = (pressed + missing * per_metre).clamp(0.0, row.limit);
    let slip = apart - Vec3A::from(row.before);
    let slip = slip - n * slip.dot(n);
    let held = force - n * pressed;
    let tangential = (held - slip * per_metre).clamp_length_max(row.friction * normal);
    n * normal + tangential - force
}
