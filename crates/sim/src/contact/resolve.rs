//! Forces of contacts: projected Gauss–Seidel on c A⁻¹ cᵀ, with Coulomb's friction.

use glam::Vec3;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use super::Kernels;
use super::rows::ContactRow;

/// Softness of a contact, relative to its compliance: it gives way by this share of what it holds back. At 0, tissue caught
/// between two bones builds up force without end; at 0.2 the depth left can be seen.
const SOFTNESS: f32 = 0.02;
/// Share of a violation that one sweep takes back. Above 1, columns that were cut off make forces swing; below 0.5, ten
/// iterations leave contacts of a fast hand open.
const RELAXATION: f32 = 0.8;
/// Moves below this are not passed on to the surroundings at once, but with the next solve \[m\]: a hundredth of what anyone can see.
const NEGLIGIBLE: f32 = 1e-6;

/// A rigid thing that gives way to the contacts that press on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GivingWay {
    /// How far a unit of force moves it.
    pub compliance: f32,
    /// How far it has been moved in this step \[m\].
    pub moved: Vec3,
}

/// Contacts and positions of one step.
#[derive(Clone, Debug, Default)]
pub struct Resolver {
    /// The contacts.
    pub rows: Vec<ContactRow>,
    /// What gives way on their other side.
    pub bodies: Vec<GivingWay>,
    /// Free vertices that occur in them, ascending.
    pub touched: Vec<u32>,
    /// Free vertices that a sweep may move.
    pub reached: Vec<bool>,
    /// Positions of free vertices \[m\]; only those of `touched` are read.
    pub positions: Vec<Row>,
    /// How far the last sweep moved each free vertex \[m\].
    pub shifts: Vec<Row>,
    /// Forces of contacts on each free vertex, of the scaled system.
    pub forces: Vec<Row>,
    /// Memory.
    is_touched: Vec<bool>,
    blocks: Vec<bool>,
    /// `shifts` during a sweep, by the blocks of the kernels.
    moved: Vec<[F32x8; 3]>,
    /// Blocks that this sweep moves, and those that the last one did.
    marks: [Vec<bool>; 2],
    /// Vertices by block and lane.
    order: Vec<u32>,
}

impl Resolver {
    /// For the free vertices in the order of the kernels.
    pub fn new(order: Vec<u32>) -> Resolver {
        let (count, blocks) = (order.len(), order.len().div_ceil(LANES));
        Resolver {
            positions: vec![Row::default(); count],
            shifts: vec![Row::default(); count],
            forces: vec![Row::default(); count],
            reached: vec![false; count],
            is_touched: vec![false; count],
            blocks: vec![false; blocks],
            moved: vec![Default::default(); blocks],
            marks: [vec![false; blocks], vec![false; blocks]],
            order,
            ..Resolver::default()
        }
    }

    /// Takes over rows that were set: which vertices they touch, and the forces they start with.
    pub fn start(&mut self, kernels: &Kernels) {
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
        self.blocks.fill(false);
        for &block in self.touched.iter().flat_map(|&v| kernels.of(v).0) {
            if !std::mem::replace(&mut self.blocks[block as usize], true) {
                let first = block as usize * LANES;
                for &v in self.order[first..].iter().take(LANES) {
                    self.reached[v as usize] = true;
                }
            }
        }
        self.sum_forces();
    }

    /// Goes over all contacts once: changes their forces, and moves the tissue around them as it will answer.
    pub fn sweep(&mut self, kernels: &Kernels) {
        self.marks.swap(0, 1);
        self.marks[0].fill(false);
        dispatch(Sweep {
            rows: &mut self.rows,
            bodies: &mut self.bodies,
            positions: &self.positions,
            moved: &mut self.moved,
            marks: &mut self.marks[0],
            kernels,
        });
        for (block, vertices) in self.order.chunks(LANES).enumerate() {
            if !(self.marks[0][block] || self.marks[1][block]) {
                continue;
            }
            let moved = std::mem::take(&mut self.moved[block]);
            for (&v, row) in vertices.iter().zip(F32x8::rows(moved)) {
                self.shifts[v as usize] = row;
            }
        }
        self.sum_forces();
    }

    fn sum_forces(&mut self) {
        for &v in &self.touched {
            self.forces[v as usize] = Row::default();
        }
        for body in &mut self.bodies {
            body.moved = Vec3::ZERO;
        }
        for row in &self.rows {
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

struct Sweep<'a> {
    rows: &'a mut [ContactRow],
    bodies: &'a mut [GivingWay],
    positions: &'a [Row],
    moved: &'a mut [[F32x8; 3]],
    marks: &'a mut [bool],
    kernels: &'a Kernels,
}

impl Kernel for Sweep<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for row in self.rows.iter_mut() {
            let mut apart = row.constant;
            for (v, c) in row.entries() {
                let slot = self.kernels.slot(v) as usize;
                let [x, y, z] = &self.moved[slot / LANES];
                let lane = slot % LANES;
                let moved = Vec3::new(x.0[lane], y.0[lane], z.0[lane]);
                apart += (Vec3::from(self.positions[v as usize].xyz()) + moved) * c;
            }
            let mut body = self.bodies.get_mut(row.body as usize);
            if let Some(body) = &body {
                apart -= body.moved;
            }
            let change = change_of_force(row, apart);
            row.force += change;
            if let Some(body) = &mut body {
                body.moved -= change * body.compliance;
            }
            if change.length_squared() * row.compliance * row.compliance > NEGLIGIBLE * NEGLIGIBLE {
                // The surroundings move by A⁻¹ cᵀ × force.
                for (v, c) in row.entries() {
                    let force = (change * c).to_array();
                    self.kernels.add::<L>(v, force, self.moved, self.marks);
                }
            }
        }
    }
}

/// The force that makes up for the violation, projected to the friction cone, less the one that is there.
#[inline(always)]
fn change_of_force(row: &ContactRow, apart: Vec3) -> Vec3 {
    let (n, per_metre) = (row.normal, RELAXATION / (row.compliance * (1.0 + SOFTNESS)));
    let pressed = row.force.dot(n);
    let missing = row.target - apart.dot(n) - SOFTNESS * row.compliance * pressed;
    let normal = (pressed + missing * per_metre).clamp(0.0, row.limit);
    let slip = apart - row.before;
    let slip = slip - n * slip.dot(n);
    let held = row.force - n * pressed;
    let tangential = (held - slip * per_metre).clamp_length_max(row.friction * normal);
    n * normal + tangential - row.force
}
