//! Interface of contact for backends: begin a step, one sweep per iteration, finish.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::simd::Row;

use super::detect::Detector;
use super::drag::{Hold, hold};
use super::external::{ExternalForce, carry_on};
use super::moment::Moment;
use super::persist::Next;
use super::rows::ContactRow;
use super::still::Searched;
use super::sweep::moved_at;
use super::tangle::is_tangled;
use super::world::{World, movable_body, padding};
use super::{
    Contact, ContactMode, ContactSurface, Kernels, LostContacts, Reach, Resolver, Side, Source,
    rules,
};
use crate::model::NO_CARRIER;
use crate::{Mode, Model, Settings, State, Targets};

/// Columns of A⁻¹ and memory for the contacts of one model.
#[derive(Clone, Debug)]
pub struct ContactSolver {
    kernels: Kernels,
    pub(super) detector: Option<Detector>,
    resolver: Resolver,
    pub(super) contacts: Vec<Contact>,
    /// Where this step was searched, if it was.
    pub(super) searched: Searched,
    pub(super) is_searched: bool,
    /// Scratch memory.
    pub(super) nexts: Vec<Next>,
    pub(super) memory: [Vec<Contact>; 2],
    own_rows: Vec<ContactRow>,
    last_rows: Vec<ContactRow>,
    pub(super) lost_contacts: LostContacts,
    external: Vec<ExternalForce>,
    world: World,
    /// Distance of each free vertex from the bone line at rest \[m\].
    depths: Vec<f32>,
    /// Positions of free vertices at the start of the iterations \[m\].
    pub start: Vec<Vec3>,
    /// Factor from forces \[N\] to those of the scaled system.
    scale: f32,
    /// Distance that contacts keep \[m\].
    gap: f32,
}

impl ContactSolver {
    /// Whether a step may have contacts.
    pub fn is_wanted(model: &Model, settings: &Settings, targets: &Targets) -> bool {
        let touches_itself = settings.contact.mode != ContactMode::Off;
        let touches_others = !(targets.external.is_empty() && targets.colliders.is_empty());
        touches_itself && surface_of(model, settings).is_some() || touches_others
    }

    /// Whether contacts are detected on one thread.
    pub fn finds_alone(settings: &Settings, targets: &Targets) -> bool {
        settings.contact.mode == ContactMode::Local && targets.colliders.is_empty()
    }

    /// For a model; without a contact surface it handles external contacts alone, on all free vertices. `solve` solves
    /// A X = B in place, where A is the system matrix times `scale`.
    pub fn new(
        model: &Model,
        scale: f64,
        reach: Reach,
        solve: &(dyn Fn(&mut [[f32; 3]]) + Sync),
    ) -> ContactSolver {
        let free = model.free_count();
        let surface = model.contact_surface();
        let mut wanted = vec![surface.is_none(); free];
        let mut depths = vec![f32::INFINITY; free];
        for (i, source) in surface
            .iter()
            .flat_map(|s| s.input.sources.iter().enumerate())
        {
            if let (Source::Vertex(v), Some(surface)) = (*source, surface)
                && let Some(slot) = wanted.get_mut(v as usize)
            {
                *slot = true;
                depths[v as usize] = surface.input.skin[i].distance(surface.input.bases[i]);
            }
        }
        let order = neighbours_together(free, surface);
        ContactSolver {
            kernels: Kernels::new(&order, &wanted, reach, solve),
            detector: surface.map(Detector::new),
            resolver: Resolver::new(order, surface.map_or(0.0, ContactSurface::mean_edge)),
            contacts: Vec::new(),
            searched: Searched::default(),
            is_searched: true,
            nexts: Vec::new(),
            memory: Default::default(),
            own_rows: Vec::new(),
            last_rows: Vec::new(),
            lost_contacts: LostContacts::default(),
            external: Vec::new(),
            world: World::default(),
            depths,
            start: vec![Vec3::ZERO; free],
            scale: scale as f32,
            gap: surface.map_or(0.0, ContactSurface::gap),
        }
    }

    /// Detects the contacts of a step; `self.start` must be set.
    pub fn detect(&mut self, model: &Model, settings: &Settings, targets: &Targets, state: &State) {
        let given = (self.world).find(model, settings, targets, state, &self.start);
        carry_on(given, &state.contact.external, &mut self.external);
        self.contacts.clear();
        self.searched.forget();
        self.is_searched = true;
        self.lost_contacts.clone_from(&state.contact.lost_contacts);
        if let Some(surface) = surface_of(model, settings) {
            self.detect_own(surface, model, settings, targets, state);
        }
    }

    /// Turns the contacts into rows of the system.
    pub fn assemble(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &State,
    ) {
        let recovery = match settings.mode {
            Mode::Dynamic => settings.contact.recovery * settings.step as f32,
            Mode::Static => f32::INFINITY,
        };
        self.resolver.rows.clear();
        self.resolver.bodies.clear();
        self.resolver
            .bodies
            .extend(self.world.movable_bodies(self.scale));
        if let Some(surface) = model.contact_surface() {
            self.assemble_own(surface, model, settings, targets, state, recovery);
        }
        self.assemble_external(state, recovery);
        self.resolver.start(&self.kernels, &self.start);
    }

    /// Rows of external contacts, after those of self-contact.
    fn assemble_external(&mut self, state: &State, recovery: f32) {
        let (kernels, depths) = (&self.kernels, &self.depths);
        let Resolver { rows, bodies, .. } = &mut self.resolver;
        let (free, scale) = (self.start.len(), self.scale);
        self.external
            .retain(|ExternalForce { contact, force, .. }| {
                let mut row = ContactRow {
                    constant: -contact.foot,
                    before: -contact.foot_before,
                    normal: contact.normal,
                    force: *force * scale,
                    friction: contact.friction.max(0.0),
                    body: movable_body(contact, bodies),
                    ..ContactRow::default()
                };
                let mut depth = f32::INFINITY;
                for (v, weight) in contact.entries().filter(|&(v, _)| (v as usize) < free) {
                    row.push(v, weight);
                    row.before += state.positions[v as usize] * weight;
                    depth = depth.min(depths[v as usize]);
                }
                row.compliance = row.measured_compliance(kernels);
                row.target = row.before.dot(row.normal).min(0.0) + recovery;
                row.target = row.target.min(0.0);
                row.limit = rules::MAX_PUSH * depth / row.compliance;
                if let Some(body) = bodies.get(row.body as usize) {
                    // A body that moves cannot tear tissue, so the force is not limited.
                    row.compliance += body.compliance;
                    row.limit = f32::INFINITY;
                }
                let is_sound = row.compliance > 0.0;
                if is_sound {
                    rows.push(row);
                }
                is_sound
            });
    }

    /// Rows of self-contact.
    fn assemble_own(
        &mut self,
        surface: &ContactSurface,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &State,
        recovery: f32,
    ) {
        let (now, before) = (
            Moment::now(model, &self.start, targets),
            Moment::before(model, targets, state),
        );
        let (kernels, lost_contacts) = (&self.kernels, &self.lost_contacts);
        let (scale, friction) = (self.scale, settings.contact.friction);
        // Contacts carried over without a search were not tangled in the last step.
        let may_tangle = settings.contact.mode == ContactMode::Global && self.is_searched;
        std::mem::swap(&mut self.own_rows, &mut self.last_rows);
        let last = &self.last_rows;
        let row = |(number, contact): (usize, &Contact)| {
            if may_tangle && is_tangled(model, surface, targets, contact) {
                return ContactRow::default();
            }
            let hold = match contact.force == Vec3::ZERO {
                true => Hold::FULL,
                false => hold(model, surface, targets, &now, contact),
            };
            let mut row = ContactRow {
                normal: contact.normal,
                force: contact.force * scale,
                friction: friction * hold.grip,
                ..ContactRow::default()
            };
            let corners = surface.triangles()[contact.triangle as usize];
            let [u, v, w] = contact.weights;
            let terms = [
                (contact.point, 1.0),
                (corners[0], -u),
                (corners[1], -v),
                (corners[2], -w),
            ];
            for (point, coefficient) in terms {
                let source = surface.input.sources[point as usize];
                row.before += before.position(source) * coefficient;
                match source {
                    Source::Vertex(v) if (v as usize) < model.free_count() => {
                        row.push(v, coefficient);
                    }
                    _ => row.constant += now.position(source) * coefficient,
                }
            }
            let known = last.get(number).filter(|last| last.is_same_row(&row));
            row.compliance = match known {
                Some(known) => known.compliance,
                None => row.measured_compliance(kernels),
            };
            let gap = surface.gap();
            let mut reached = row.before.dot(row.normal).min(gap);
            // Points that are outside recover at full speed, or they would sink in over time.
            if reached > gap - rules::OUTSIDE_SHARE * gap {
                reached += recovery;
            } else if !lost_contacts.is_held(contact.point) {
                reached += recovery * lost_contacts.recovery_factor();
            }
            row.target = gap.min(reached);
            let depth = |v: u32| {
                let v = v as usize;
                surface.input.skin[v].distance(surface.input.bases[v])
            };
            let depth = depth(contact.point).max(depth(corners[0]));
            row.limit = rules::MAX_PUSH * hold.push * depth / row.compliance;
            row
        };
        let least = match settings.contact.mode {
            ContactMode::Local => usize::MAX,
            _ => 64,
        };
        (self.contacts.par_iter().enumerate())
            .with_min_len(least)
            .map(row)
            .collect_into_vec(&mut self.own_rows);
        let is_sound = |row: &ContactRow| row.compliance > 0.0;
        let mut rows = self.own_rows.iter();
        self.contacts.retain(|_| rows.next().is_some_and(is_sound));
        let sound = self.own_rows.iter().filter(|row| is_sound(row));
        self.resolver.rows.extend(sound);
    }

    /// Contacts of this step.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Whether there are contacts.
    pub fn is_active(&self) -> bool {
        !self.resolver.rows.is_empty()
    }

    /// Contact force on each free vertex, of the scaled system.
    pub fn forces(&self) -> &[Row] {
        &self.resolver.forces
    }

    /// Slot of a free vertex in [`shift`](ContactSolver::shift).
    #[inline]
    pub fn slot(&self, vertex: u32) -> u32 {
        self.kernels.slot(vertex)
    }

    /// Displacement by the last sweep of the free vertex in a slot \[m\].
    #[inline]
    pub fn shift(&self, slot: u32) -> Vec3 {
        moved_at(&self.resolver.moved, slot).into()
    }

    /// Mask of the free vertices that a sweep may move.
    pub fn reached(&self) -> &[bool] {
        &self.resolver.reached
    }

    /// Free vertices in contacts, ascending.
    pub fn touched(&self) -> &[u32] {
        &self.resolver.touched
    }

    /// Free vertices in contacts, ascending, and storage for the positions of all.
    pub fn positions(&mut self) -> (&[u32], &mut Vec<Row>) {
        (&self.resolver.touched, &mut self.resolver.positions)
    }

    /// One sweep at the [positions](ContactSolver::positions) of the touched vertices.
    pub fn sweep(&mut self) {
        self.resolver.sweep(&self.kernels);
    }

    /// Lends out both sides of the contacts, for [`sweep_side`](ContactSolver::sweep_side).
    pub fn lend_sides(&mut self) -> [Side; 2] {
        self.resolver.lend_sides()
    }

    /// Takes the sides back after the last sweep.
    pub fn take_back(&mut self, sides: [Side; 2]) {
        self.resolver.take_back(sides);
    }

    /// First part of a sweep: one side. Both sides may run in parallel. `positions` are those of the touched vertices.
    pub fn sweep_side(&self, side: &mut Side, positions: &[Row]) {
        self.resolver.sweep_side(side, positions, &self.kernels);
    }

    /// Last part of a sweep: the contacts between the sides.
    pub fn end_sweep(&mut self, sides: [&mut Side; 2], positions: &[Row]) {
        self.resolver.end_sweep(sides, positions, &self.kernels);
    }

    /// Writes contacts and forces to the state, whose positions are those at the end of the step.
    pub fn finish(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &mut State,
    ) {
        self.resolver.finish();
        let bodies = &self.resolver.bodies;
        let distance = |row: &ContactRow| {
            let point = |(v, c): (u32, f32)| state.positions[v as usize] * c;
            let moved = bodies
                .get(row.body as usize)
                .map_or(Vec3::ZERO, |b| b.moved);
            (row.constant - moved + row.entries().map(point).sum::<Vec3>()).dot(row.normal)
        };
        let (own, external) = self.resolver.rows.split_at(self.contacts.len());
        for (contact, row) in self.contacts.iter_mut().zip(own) {
            contact.force = row.force / self.scale;
            contact.distance = distance(row);
        }
        for (contact, row) in self.external.iter_mut().zip(external) {
            contact.force = row.force / self.scale;
            contact.distance = distance(row) + padding(&contact.contact, self.gap);
        }
        self.damp_pressed(model, settings.step as f32, state);
        self.world
            .finish(targets, settings.step as f32, bodies, state);
        match self.is_searched {
            true => state.contact.searched.clone_from(&self.searched),
            false => state.contact.searched.record_skip(settings.step as f32),
        }
        state.contact.lost_contacts.clone_from(&self.lost_contacts);
        state.contact.contacts.clone_from(&self.contacts);
        state.contact.external.clone_from(&self.external);
        state.contact.bases.clone_from(&targets.bases);
        state.contact.outside.clone_from(&targets.outside);
    }

    /// Damps the velocity of pressed vertices relative to their bones.
    fn damp_pressed(&self, model: &Model, step: f32, state: &mut State) {
        let kept = rules::decay(rules::PRESSED_HALF_LIFE, step);
        for &v in &self.resolver.touched {
            let v = v as usize;
            if self.resolver.forces[v] == Row::default() {
                continue;
            }
            let carried = match model.carriers()[v] {
                NO_CARRIER => continue,
                k => (state.fixed[k as usize] - state.fixed_previous[k as usize]) / step,
            };
            state.velocities[v] = carried + (state.velocities[v] - carried) * kept;
        }
    }

    /// Memory in bytes.
    pub fn memory(&self) -> usize {
        self.kernels.memory()
    }
}

/// The surface on which self-contact is wanted.
fn surface_of<'a>(model: &'a Model, settings: &Settings) -> Option<&'a ContactSurface> {
    let surface = model.contact_surface();
    surface.filter(|surface| match settings.contact.mode {
        ContactMode::Off => false,
        ContactMode::Local => surface.local_pairs().is_some(),
        ContactMode::Global => true,
    })
}

/// Free vertices in an order that keeps neighbours on the skin together.
fn neighbours_together(free: usize, surface: Option<&ContactSurface>) -> Vec<u32> {
    let on_skin = surface.iter().flat_map(|s| {
        let sources = s.tree.points.iter().map(|&p| s.input.sources[p as usize]);
        sources.filter_map(|source| match source {
            Source::Vertex(v) if (v as usize) < free => Some(v),
            _ => None,
        })
    });
    let mut seen = vec![false; free];
    let mut order: Vec<u32> = on_skin.chain(0..free as u32).collect();
    order.retain(|&v| !std::mem::replace(&mut seen[v as usize], true));
    order
}
