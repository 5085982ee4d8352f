//! A region of the body, processed by one thread at a time: the columns of a part of the factor, and their elements.

use glam::Vec3;
use supple_geom::simd::Row;
use supple_geom::sparse::{Factor, Part};

use super::load::{self, Load};
use super::other_constraints::{OtherConstraints, distribute};
use super::rows::{Rows, distribute_tets};
use super::tet_batch::TetBatches;
use super::{Clock, Step, Timings};
use crate::contact::ContactSolver;
use crate::material::{damping_time, dampings, wave_speeds};
use crate::model::NO_CARRIER;
use crate::{Mode, Model, Settings, State};

/// A region. Its local rows are: own vertices, border (copies of rows of the top), one padding row, copies of fixed vertices.
#[derive(Clone, Debug)]
pub struct Region {
    part: Part,
    is_top: bool,
    /// Fixed vertices (0-based among the fixed), in the order of their rows.
    fixed: Vec<u32>,
    /// Mass of own and border rows \[kg\].
    masses: Vec<f32>,
    /// Mass/h² of own rows, scaled.
    inertia: Vec<f32>,
    /// Wave speed of own and border rows \[m/s\].
    speeds: Vec<f32>,
    /// [Damping](dampings) of own rows \[1/s\]; empty for none.
    dampings: Vec<f32>,
    scale: f32,
    tets: TetBatches,
    others: OtherConstraints,
    /// Current positions \[m\].
    x: Vec<Row>,
    /// Inertial prediction of the own rows \[m\].
    inertial: Vec<Row>,
    /// External forces on own rows, scaled.
    external: Vec<Row>,
    /// Forces, then the solution dx \[m\].
    b: Vec<Row>,
    /// Own rows in contact, and their vertices.
    pub touched: Vec<(u32, u32)>,
    /// Rows that contact forces move, and the contact solver's slots of their vertices.
    reached: Vec<(u32, u32)>,
    /// Largest motion of an own row in the last iteration \[m\].
    pub moved: f32,
    pub timings: Timings,
}

/// One region for each part of the factor and, last, the top.
pub fn build(model: &Model, settings: &Settings, factor: Factor, scale: f64) -> Vec<Region> {
    let parts = factor.parts.len();
    let speeds = wave_speeds(model, &settings.weights);
    let dampings = dampings(model, &settings.weights);
    let mut regions: Vec<Region> = Vec::with_capacity(parts + 1);
    for part in factor.parts.into_iter().chain([factor.top]) {
        let mass = |&v: &u32| model.masses()[v as usize];
        let inertia = |v: &u32| (mass(v) * settings.inertia() * scale) as f32;
        regions.push(Region {
            masses: part.matrix_rows.iter().map(|v| mass(v) as f32).collect(),
            inertia: part.matrix_rows[..part.own].iter().map(inertia).collect(),
            speeds: (part.matrix_rows.iter())
                .map(|&v| speeds[v as usize])
                .collect(),
            dampings: match dampings.is_empty() {
                true => Vec::new(),
                false => (part.matrix_rows[..part.own].iter())
                    .map(|&v| dampings[v as usize])
                    .collect(),
            },
            scale: scale as f32,
            is_top: regions.len() == parts,
            part,
            fixed: Vec::new(),
            tets: TetBatches::default(),
            others: OtherConstraints::default(),
            x: Vec::new(),
            inertial: Vec::new(),
            external: Vec::new(),
            b: Vec::new(),
            touched: Vec::new(),
            reached: Vec::new(),
            moved: 0.0,
            timings: Timings::default(),
        });
    }
    let parts: Vec<&Part> = regions.iter().map(|region| &region.part).collect();
    let mut rows = Rows::new(model, &parts);
    let weights = (&settings.weights, scale);
    let tets = distribute_tets(model, weights, &mut rows, parts.len());
    for (region, tets) in regions.iter_mut().zip(tets) {
        region.tets = tets;
    }
    let mut others: Vec<&mut OtherConstraints> = regions
        .iter_mut()
        .map(|region| &mut region.others)
        .collect();
    distribute(
        model,
        &settings.weights,
        scale,
        &mut |vertices| rows.place(vertices),
        &mut others,
    );
    for (region, fixed) in regions.iter_mut().zip(rows.fixed) {
        region.fixed = fixed;
        region.x = vec![Row::default(); region.part.len() + region.fixed.len()];
        region.b = region.x.clone();
        region.inertial = vec![Row::default(); region.part.own];
        region.external = region.inertial.clone();
    }
    regions
}

impl Region {
    /// Number of own vertices.
    pub fn own(&self) -> usize {
        self.part.own
    }

    /// Its part of the factor.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// Memory \[bytes\].
    pub fn memory(&self) -> usize {
        let rows = self.x.len() + self.b.len() + self.inertial.len() + self.external.len();
        let numbers = self.fixed.len()
            + self.inertia.len()
            + self.dampings.len()
            + 4 * self.part.matrix_rows.len();
        self.part.bytes() + self.tets.memory() + self.others.memory() + 16 * rows + 4 * numbers
    }

    /// Starts a step. Free rows, including border rows, get the initial guess: [`carried`](crate::start::carried), or the
    /// prediction of Eq. (2.9) without a carrier. Fixed rows get their targets.
    pub fn load(&mut self, step: &Step, state: &State) {
        load::load(Load {
            model: step.model,
            settings: step.settings,
            targets: step.targets,
            state,
            vertices: &self.part.matrix_rows,
            masses: &self.masses,
            speeds: &self.speeds,
            scale: self.scale,
            x: &mut self.x,
            inertial: &mut self.inertial,
            external: &mut self.external,
        });
        let first = self.part.len();
        for (row, &k) in self.x[first..].iter_mut().zip(&self.fixed) {
            *row = Row::new(step.targets.fixed[k as usize].to_array());
        }
        self.timings = Timings::default();
    }

    /// Updates the elements' terms of fixed vertices, once per step.
    pub fn set_fixed(&mut self) {
        self.tets.set_fixed(&self.x);
    }

    /// Forward substitution, with contact forces on [touched](Region::touched) rows.
    pub fn start_solve(&mut self, contact: &[Row], clock: Option<Clock>) {
        let start = now(clock);
        if !contact.is_empty() {
            for &(row, v) in &self.touched {
                let b = &mut self.b[row as usize];
                *b = *b + contact[v as usize];
            }
        }
        if !self.is_top {
            self.part.forward(&mut self.b);
        }
        self.timings.global += now(clock) - start;
    }

    /// Local step: the right-hand side −g at the current positions. Border rows get the contributions of this region's elements.
    pub fn gather(&mut self, step: &Step) {
        let start = now(step.clock);
        let own = self.part.own;
        let pulls = self.inertial.iter().zip(&self.external).zip(&self.inertia);
        for ((b, x), ((inertial, external), &mass)) in
            self.b[..own].iter_mut().zip(&self.x).zip(pulls)
        {
            *b = (*inertial - *x) * Row([mass; 4]) + *external;
        }
        self.b[own..].fill(Row::default());
        self.tets.add_forces(&self.x, &mut self.b);
        self.others
            .add_forces(step.model, step.targets, &self.x, &mut self.b);
        self.timings.local += now(step.clock) - start;
    }

    /// Adds the border of a part to the top.
    pub fn add_border_of(&mut self, part: &Region) {
        part.part.add_border_to_top(&part.b, &mut self.b);
    }

    /// Forward and backward substitution in the top, after the borders of all parts were added.
    pub fn solve_as_top(&mut self, clock: Option<Clock>) {
        let start = now(clock);
        self.part.forward(&mut self.b);
        self.part.backward(&mut self.b);
        self.timings.global += now(clock) - start;
    }

    /// Copies the solution on the border from the top.
    pub fn read_border_from(&mut self, top: &Region) {
        self.part.read_border_from_top(&mut self.b, &top.b);
    }

    /// Backward substitution, then moves the vertices.
    pub fn apply(&mut self, clock: Option<Clock>) {
        let start = now(clock);
        if !self.is_top {
            self.part.backward(&mut self.b);
        }
        let free = self.part.matrix_rows.len();
        for (x, dx) in self.x.iter_mut().zip(&self.b[..free]) {
            *x = *x + *dx;
        }
        let squares = self.b[..self.part.own]
            .iter()
            .map(|dx| Vec3::from(dx.xyz()).length_squared());
        let moved = squares.fold(0.0, f32::max);
        self.moved = moved.sqrt();
        self.timings.global += now(clock) - start;
    }

    /// Writes positions and velocities, Eq. (2.14), of the own vertices.
    pub fn store(&self, step: &Step, state: &mut State) {
        let per_second = match step.settings.mode {
            Mode::Dynamic => (1.0 / step.settings.step) as f32,
            Mode::Static => 0.0,
        };
        let (kept, time) = (step.settings.damping_factor(), damping_time(step.settings));
        let carriers = step.model.carriers();
        for (row, (x, &v)) in self.x.iter().zip(self.own_vertices()).enumerate() {
            let v = v as usize;
            let kept = match self.dampings.get(row) {
                Some(&damping) => (kept * (-time * f64::from(damping)).exp2()) as f32,
                None => kept as f32,
            };
            let x = Vec3::from(x.xyz());
            let moved = x - state.positions[v];
            let carried = match carriers[v] {
                NO_CARRIER => Vec3::ZERO,
                k => step.targets.fixed[k as usize] - state.fixed[k as usize],
            };
            state.velocities[v] = (carried + (moved - carried) * kept) * per_second;
            state.positions[v] = x;
        }
    }

    /// Finds the rows that contact forces move.
    pub fn note_reached(&mut self, contact: &ContactSolver) {
        self.reached.clear();
        let rows = self.part.matrix_rows.iter().zip(0..);
        let reached = rows.filter(|(v, _)| contact.reached()[**v as usize]);
        self.reached
            .extend(reached.map(|(&v, row)| (row, contact.slot(v))));
    }

    /// Moves these rows by the displacement due to contact.
    pub fn shift(&mut self, contact: &ContactSolver) {
        for &(row, slot) in &self.reached {
            let x = &mut self.x[row as usize];
            *x = *x + Row::new(contact.shift(slot).to_array());
        }
    }

    /// Writes the positions of [touched](Region::touched) rows.
    pub fn write_touched(&self, positions: &mut [Row]) {
        for &(row, v) in &self.touched {
            positions[v as usize] = self.x[row as usize];
        }
    }

    /// Vertices of the own rows.
    pub fn own_vertices(&self) -> &[u32] {
        &self.part.matrix_rows[..self.part.own]
    }

    /// Copies the positions of the own vertices to `z`.
    pub fn read_positions<T>(&self, z: &mut [T], convert: impl Fn(&Vec3) -> T) {
        for (x, &v) in self.x.iter().zip(self.own_vertices()) {
            z[v as usize] = convert(&Vec3::from(x.xyz()));
        }
    }
}

/// Time of the clock, or 0 without one.
pub fn now(clock: Option<Clock>) -> f64 {
    clock.map_or(0.0, |clock| clock())
}
