//! Forces of contacts: projected Gauss–Seidel on c A⁻¹ cᵀ, with Coulomb's friction.

use glam::Vec3;
use supple_geom::simd::Row;

use super::Kernels;
use super::rows::ContactRow;

/// Softness of a contact, relative to its compliance: it gives way by this share of what it holds back. At 0, tissue caught
/// between two bones builds up force without end; at 0.2 the depth left can be seen.
const SOFTNESS: f32 = 0.02;
/// Share of a violation that one sweep takes back. Above 1, columns that were cut off make forces swing; below 0.5, ten
/// iterations leave contacts of a fast hand open.
const RELAXATION: f32 = 0.8;
/// Moves below this are not passed on to the surroundings \[m\]: a hundredth of what anyone can see.
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
    /// Positions of free vertices \[m\]; only those of `touched` are read.
    pub positions: Vec<Row>,
    /// How far the last sweep moved each free vertex \[m\].
    pub shifts: Vec<Row>,
    /// Forces of contacts on each free vertex, of the scaled system.
    pub forces: Vec<Row>,
}

impl Resolver {
    /// For a model of `count` free vertices.
    pub fn new(count: usize) -> Resolver {
        Resolver {
            positions: vec![Row::default(); count],
            shifts: vec![Row::default(); count],
            forces: vec![Row::default(); count],
            ..Resolver::default()
        }
    }

    /// Takes over rows that were set: which vertices they touch, and the forces they start with.
    pub fn start(&mut self) {
        self.touched.clear();
        for row in &self.rows {
            self.touched.extend(row.entries().map(|(v, _)| v));
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        self.sum_forces();
    }

    /// Goes over all contacts once: changes their forces, and moves the tissue around them as it will answer.
    pub fn sweep(&mut self, kernels: &Kernels) {
        self.shifts.fill(Row::default());
        let Resolver {
            rows,
            bodies,
            positions,
            shifts,
            ..
        } = self;
        for row in rows.iter_mut() {
            let mut apart = row.constant;
            for (v, c) in row.entries() {
                let at = positions[v as usize] + shifts[v as usize];
                apart += Vec3::from(at.xyz()) * c;
            }
            let mut body = bodies.get_mut(row.body as usize);
            if let Some(body) = &body {
                apart -= body.moved;
            }
            let change = change_of_force(row, apart);
            row.force += change;
            if let Some(body) = &mut body {
                body.moved -= change * body.compliance;
            }
            if change.length_squared() * row.compliance * row.compliance > NEGLIGIBLE * NEGLIGIBLE {
                push(row, change, kernels, shifts);
            }
        }
        self.sum_forces();
    }

    fn sum_forces(&mut self) {
        self.forces.fill(Row::default());
        for body in &mut self.bodies {
            body.moved = Vec3::ZERO;
        }
        for row in &self.rows {
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

/// The force that makes up for the violation, projected to the friction cone, less the one that is there.
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

/// Moves the surroundings by A⁻¹ cᵀ × force.
#[inline]
fn push(row: &ContactRow, force: Vec3, kernels: &Kernels, shifts: &mut [Row]) {
    let force = Row::new(force.to_array());
    for (v, c) in row.entries() {
        let scaled = force * Row([c; 4]);
        let (vertices, values) = kernels.of(v);
        for (&j, &value) in vertices.iter().zip(values) {
            let shift = &mut shifts[j as usize];
            *shift = *shift + scaled * Row([value; 4]);
        }
    }
}
