//! Detection of self-contact in a step: which contacts of the last step persist, and which are new.

use glam::{Vec3, Vec3A};

use super::detect::{Detector, Filter};
use super::local_search::Now;
use super::moment::Moment;
use super::persist::{Next, Persistence, decide, is_usable, merge};
use super::solver::ContactSolver;
use super::{ContactMode, ContactSurface, LocalPairs, Source};
use crate::{Model, Settings, State, Targets};

impl ContactSolver {
    /// Detects self-contact.
    pub(super) fn detect_own(
        &mut self,
        surface: &ContactSurface,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &State,
    ) {
        let Some(mut detector) = self.detector.take() else {
            return;
        };
        let start = std::mem::take(&mut self.start);
        let step = Step {
            surface,
            model,
            targets,
            state,
            now: Moment::now(model, &start, targets),
            seconds: settings.step as f32,
            folds: match settings.contact.mode {
                ContactMode::Local => surface.local_pairs(),
                _ => None,
            },
        };
        (self.lost_contacts).begin(surface, step.seconds, &state.contact.bases, &targets.bases);
        let is_at_rest = step.folds.is_none() && self.lost_contacts.is_at_rest();
        if is_at_rest && step.is_where_it_was_searched() {
            self.is_searched = false;
            self.contacts.extend(step.known());
        } else {
            step.update(&mut detector);
            self.find_own(&step, &mut detector, is_at_rest);
        }
        self.start = start;
        self.detector = Some(detector);
    }

    /// Decides on the contacts of the last step, searches for new ones, and merges both.
    fn find_own(&mut self, step: &Step, detector: &mut Detector, is_at_rest: bool) {
        let (surface, last) = (step.surface, &step.state.contact.contacts);
        let options = self.persistence(step);
        let before = Moment::before(step.model, step.targets, step.state);
        let moved = |i: u32| step.moved(&before, i);
        let Self { nexts, memory, .. } = self;
        decide(surface, detector, last, &options, &moved, nexts);
        let settled = last.iter().zip(nexts.iter());
        detector.skip(settled.filter_map(|(old, next)| match next {
            Next::Settled(_) => Some(old.point),
            _ => None,
        }));
        match step.folds {
            Some(pairs) => detector.search_folds(surface, pairs, &step.here()),
            None => {
                if is_at_rest {
                    self.searched
                        .record(detector.all_skin(), &step.targets.bases);
                }
                detector.fit(surface);
                detector.search(surface, Filter::Facing);
            }
        }
        let contacts = &mut self.contacts;
        merge(surface, detector, (last, nexts), &options, memory, contacts);
        (self.lost_contacts).count(surface, step.seconds, (last, &self.contacts));
    }

    /// How contacts persist. Local contact knows only the skin of its folds, so feet cannot walk.
    fn persistence(&self, step: &Step) -> Persistence {
        match step.folds {
            Some(_) => Persistence {
                step: step.seconds,
                alone: true,
                ..Persistence::default()
            },
            None => Persistence {
                least: self.lost_contacts.least_blend(step.seconds),
                step: step.seconds,
                walks: true,
                keeps_folds: self.lost_contacts.keeps_folds(),
                alone: false,
            },
        }
    }
}

/// What a step's detection reads.
struct Step<'a> {
    surface: &'a ContactSurface,
    model: &'a Model,
    targets: &'a Targets,
    state: &'a State,
    /// Positions at the start of the iterations.
    now: Moment<'a>,
    /// Its length \[s\].
    seconds: f32,
    /// The folds of local contact.
    folds: Option<&'a LocalPairs>,
}

impl Step<'_> {
    fn position(&self, point: u32) -> Vec3 {
        self.now
            .position(self.surface.input.sources[point as usize])
    }

    fn here(&self) -> Now<'_> {
        Now {
            moment: &self.now,
            sources: &self.surface.input.sources,
            bases: &self.targets.bases,
        }
    }

    /// Whether skin and bones are where the body was searched last.
    fn is_where_it_was_searched(&self) -> bool {
        let count = self.surface.point_count() as u32;
        let skin = (0..count).map(|i| Vec3A::from(self.position(i)));
        let contact = &self.state.contact;
        let edge = self.surface.mean_edge();
        let known = contact.contacts.len();
        (contact.searched).is_valid(self.seconds, known, skin, &self.targets.bases, edge)
    }

    /// Contacts of the last step that fit the surface.
    fn known(&self) -> impl Iterator<Item = &super::Contact> {
        let last = self.state.contact.contacts.iter();
        last.filter(|old| is_usable(self.surface, old))
    }

    /// Sets the detector's positions: of all skin, or of that around active folds.
    fn update(&self, detector: &mut Detector) {
        let (surface, last) = (self.surface, &self.state.contact.contacts);
        let pressed = last.iter().filter(|old| old.force != Vec3::ZERO);
        detector.trust(pressed.map(|old| old.point));
        if let Some(pairs) = self.folds {
            let points = last.iter().filter_map(|old| {
                let corners = surface.triangles().get(old.triangle as usize)?;
                Some([old.point, corners[0], corners[1], corners[2]])
            });
            detector.update_folds(surface, pairs, &self.here(), points.flatten());
        } else {
            let bases = &self.targets.bases;
            let base = |i: usize| bases.get(i).copied().unwrap_or_default();
            detector.update_positions(surface, |i| self.position(i as u32), base);
        }
    }

    /// Motion of a skin point in this step: imposed by the bones, or its own if that is larger \[m\].
    fn moved(&self, before: &Moment, point: u32) -> Vec3 {
        let source = self.surface.input.sources[point as usize];
        let imposed = self.now.position(source) - before.position(source);
        match source {
            Source::Vertex(v) if (v as usize) < self.model.free_count() => {
                let own = self.state.velocities[v as usize] * self.seconds;
                if own.length_squared() > imposed.length_squared() {
                    own
                } else {
                    imposed
                }
            }
            _ => imposed,
        }
    }
}
