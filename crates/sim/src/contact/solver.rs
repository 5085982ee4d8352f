//! Contact as a backend sees it: begin a step, one sweep an iteration, finish.

use glam::Vec3;
use supple_geom::simd::Row;

use super::detect::{Detector, Filter};
use super::persist::merge;
use super::rows::ContactRow;
use super::{Contact, ContactMode, Kernels, Reach, Resolver, Source};
use crate::{Mode, Model, Settings, State, Targets};

/// Largest force on a contact, as the distance it would move the point at once, relative to the depth from skin to bone
/// line. More turns tissue inside out where bones themselves overlap.
const LARGEST_PUSH: f32 = 1.0;

/// Kernels and memory for the contacts of one model.
#[derive(Clone, Debug)]
pub struct ContactSolver {
    kernels: Kernels,
    detector: Detector,
    resolver: Resolver,
    contacts: Vec<Contact>,
    /// Positions of free vertices at the start of the iterations \[m\].
    pub start: Vec<Vec3>,
    /// Factor between forces \[N\] and those of the system.
    scale: f32,
}

impl ContactSolver {
    /// For a model with a contact surface, where the settings ask for contact. `solve` solves A X = B in place, where A is the
    /// system matrix times `scale`.
    pub fn new(
        model: &Model,
        settings: &Settings,
        scale: f64,
        reach: Reach,
        solve: &(dyn Fn(&mut [[f32; 3]]) + Sync),
    ) -> Option<ContactSolver> {
        let surface = model.contact_surface()?;
        if settings.contact.mode == ContactMode::Off {
            return None;
        }
        let free = model.free_count();
        let mut wanted = vec![false; free];
        for source in &surface.input.sources {
            if let Source::Vertex(v) = *source
                && let Some(slot) = wanted.get_mut(v as usize)
            {
                *slot = true;
            }
        }
        Some(ContactSolver {
            kernels: Kernels::new(free, &wanted, reach, solve),
            detector: Detector::new(surface),
            resolver: Resolver::new(free),
            contacts: Vec::new(),
            start: vec![Vec3::ZERO; free],
            scale: scale as f32,
        })
    }

    /// Finds the contacts of a step; `self.start` has been set.
    pub fn detect(&mut self, model: &Model, targets: &Targets, state: &State) {
        let Some(surface) = model.contact_surface() else {
            return;
        };
        let now = Moment {
            model,
            free: &self.start,
            fixed: &targets.fixed,
            outside: &targets.outside,
        };
        self.detector.update(
            surface,
            |i| now.position(surface.input.sources[i]),
            |i| targets.bases.get(i).copied().unwrap_or_default(),
        );
        self.detector.search(surface, Filter::Facing);
        let last = &state.contact.contacts;
        merge(surface, &self.detector, last, &mut self.contacts);
    }

    /// Makes the contacts rows of the system.
    pub fn assemble(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &State,
    ) {
        let Some(surface) = model.contact_surface() else {
            return;
        };
        let now = Moment {
            model,
            free: &self.start,
            fixed: &targets.fixed,
            outside: &targets.outside,
        };
        let before = Moment {
            model,
            free: &state.positions,
            fixed: &state.fixed,
            outside: if state.contact.outside.len() == targets.outside.len() {
                &state.contact.outside
            } else {
                &targets.outside
            },
        };
        let recovery = match settings.mode {
            Mode::Dynamic => settings.contact.recovery * settings.step as f32,
            Mode::Static => f32::INFINITY,
        };
        self.resolver.rows.clear();
        let kernels = &self.kernels;
        let mut kept = 0;
        for k in 0..self.contacts.len() {
            let contact = self.contacts[k];
            let mut row = ContactRow {
                normal: contact.normal,
                force: contact.force * self.scale,
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
            row.compliance = row.measured_compliance(kernels);
            if row.compliance.is_nan() || row.compliance <= 0.0 {
                continue;
            }
            let gap = surface.gap() - surface.overlaps()[contact.point as usize];
            row.target = gap.min(row.before.dot(row.normal).min(gap) + recovery);
            let depth = |v: u32| {
                let v = v as usize;
                surface.input.skin[v].distance(surface.input.bases[v])
            };
            let depth = depth(contact.point).max(depth(corners[0]));
            row.limit = LARGEST_PUSH * depth / row.compliance;
            self.resolver.rows.push(row);
            self.contacts[kept] = contact;
            kept += 1;
        }
        self.contacts.truncate(kept);
        self.resolver.start();
    }

    /// Contacts of this step.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Whether anything touches.
    pub fn is_active(&self) -> bool {
        !self.resolver.rows.is_empty()
    }

    /// Forces of contacts on each free vertex, of the scaled system.
    pub fn forces(&self) -> &[Row] {
        &self.resolver.forces
    }

    /// How far the last sweep moved each free vertex \[m\].
    pub fn shifts(&self) -> &[Row] {
        &self.resolver.shifts
    }

    /// One sweep at the positions that `position` tells for free vertices.
    pub fn sweep(&mut self, settings: &Settings, position: impl Fn(u32) -> Row) {
        for &v in &self.resolver.touched {
            self.resolver.positions[v as usize] = position(v);
        }
        self.resolver
            .sweep(&self.kernels, settings.contact.friction);
    }

    /// Writes contacts and their forces to the state, whose positions are those of the end of the step.
    pub fn finish(&mut self, targets: &Targets, state: &mut State) {
        for (contact, row) in self.contacts.iter_mut().zip(&self.resolver.rows) {
            contact.force = row.force / self.scale;
            let mut apart = row.constant;
            for (v, c) in row.entries() {
                apart += state.positions[v as usize] * c;
            }
            contact.distance = apart.dot(row.normal);
        }
        state.contact.contacts.clone_from(&self.contacts);
        state.contact.bases.clone_from(&targets.bases);
        state.contact.outside.clone_from(&targets.outside);
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.kernels.memory()
    }
}

/// Positions of everything at one moment.
struct Moment<'a> {
    model: &'a Model,
    free: &'a [Vec3],
    fixed: &'a [Vec3],
    outside: &'a [Vec3],
}

impl Moment<'_> {
    fn position(&self, source: Source) -> Vec3 {
        let free = self.model.free_count();
        let found = match source {
            Source::Vertex(v) if (v as usize) < free => self.free.get(v as usize),
            Source::Vertex(v) => self.fixed.get(v as usize - free),
            Source::Outside(i) => self.outside.get(i as usize),
        };
        found.copied().unwrap_or_default()
    }
}
