//! Substeps for fast motion, against tunnelling.
//!
//! A hand that passes through a chest in one step is in front of it before and behind it afterwards: no point is ever
//! detected inside. If two parts of a body move farther relative to each other in one step than half the thickness of the
//! tissue between them, the step is split into substeps.
//!
//! A substep uses the matrix of a whole step, because that is the one that is factorised. The motion is slowed down instead:
//! with n substeps velocities are divided by n, and masses of free colliders are multiplied by n². Paths, impulses and damping
//! of the whole are then those of one step. Only tissue is effectively lighter, so that it follows its bones more closely, and
//! penetration is resolved in every substep.

use glam::{Mat3, Vec3};
use supple_geom::Aabb;

use crate::carrier::turn;
use crate::contact::relative_motion::RelativeMotion;
use crate::contact::{ContactSurface, Motion, Source, rules};
use crate::model::NO_CARRIER;
use crate::{Backend, ContactMode, Mode, Model, Settings, SolveError, State, StepReport, Targets};

/// Most substeps of a step. A hand at 30 m/s then moves by a belly's thickness in each.
pub const MAX_SUBSTEPS: u32 = 8;

/// Number of substeps of a step from the state to `targets`: 1, 2, 4 or 8. `bases` are the base points before it.
pub fn substep_count(
    model: &Model,
    settings: &Settings,
    state: &State,
    bases: &[Vec3],
    targets: &Targets,
) -> u32 {
    let is_asked = settings.contact.mode == ContactMode::Global && settings.mode == Mode::Dynamic;
    let Some(surface) = model.contact_surface().filter(|_| is_asked) else {
        return 1;
    };
    let count = surface.point_count();
    if bases.len() != count || count == 0 {
        return 1;
    }
    let Some(RelativeMotion { together, farthest }) = RelativeMotion::new(bases, &targets.bases)
    else {
        return 1;
    };
    // Motion within the contact shell is detected without substeps.
    if 2.0 * farthest <= surface.shell() {
        return 1;
    }
    let group =
        |points: &Vec<u32>| Group::new(model, surface, state, (bases, targets), together, points);
    let groups: Vec<Group> = surface.groups.iter().map(group).collect();
    let mut most = 1.0_f32;
    for (i, a) in groups.iter().enumerate() {
        for b in &groups[..i] {
            if a.swept.overlaps(&b.swept) {
                let thickness = a.thickness.max(b.thickness).max(surface.mean_edge());
                let way = a.way_against(b).max(b.way_against(a));
                most = most.max(way / (rules::SUBSTEP_DISTANCE * thickness));
            }
        }
    }
    (most.ceil() as u32).next_power_of_two().min(MAX_SUBSTEPS)
}

/// Takes a step from `from` to `to` in `count` substeps.
pub fn step_in_substeps(
    backend: &mut dyn Backend,
    model: &Model,
    settings: &Settings,
    (from, to): (&Targets, &Targets),
    count: u32,
    state: &mut State,
) -> Result<StepReport, SolveError> {
    let n = count as f32;
    let slow = Settings {
        damping_half_life: settings.damping_half_life * f64::from(count),
        max_relative_speed: settings.max_relative_speed / f64::from(count),
        substeps: settings.substeps.max(1) * count,
        ..settings.clone()
    };
    state.scale_time(1.0 / n);
    let mut result = Ok(StepReport::default());
    for k in 1..=count {
        let (begin, end) = ((k - 1) as f32 / n, k as f32 / n);
        let mut at = Targets::lerp(from, to, end);
        for contact in &mut at.external {
            *contact = contact.between(begin, end);
        }
        for collider in &mut at.colliders {
            if let Motion::Free {
                mass,
                velocity,
                acceleration,
            } = &mut collider.motion
            {
                *mass *= n * n;
                *velocity /= n;
                *acceleration /= n * n;
            }
        }
        result = backend.step(model, &slow, &at, state);
        if result.is_err() {
            break;
        }
    }
    state.scale_time(n);
    result
}

/// A rigid motion: a point before and after, and a rotation.
#[derive(Clone, Copy)]
struct Rigid {
    from: Vec3,
    to: Vec3,
    turn: Mat3,
}

/// A group of neighbouring skin points with their base points.
struct Group {
    /// Bounds before the step \[m\].
    before: Aabb,
    /// Bounds of the motion, without the translation common to all \[m\].
    swept: Aabb,
    /// Some base points, before and after \[m\].
    samples: [(Vec3, Vec3); 4],
    /// Mean distance from skin to base points at rest \[m\].
    thickness: f32,
    motion: Rigid,
}

impl Group {
    fn new(
        model: &Model,
        surface: &ContactSurface,
        state: &State,
        (bases, targets): (&[Vec3], &Targets),
        together: Vec3,
        points: &[u32],
    ) -> Group {
        let input = surface.input();
        let (mut before, mut swept) = (Aabb::EMPTY, Aabb::EMPTY);
        let mut thickness = 0.0;
        for &point in points {
            let i = point as usize;
            let depth = input.skin[i].distance(input.bases[i]);
            let radius = depth + surface.shell();
            let here = Aabb::around(bases[i], radius);
            before = before.union(here);
            swept = swept.union(here);
            swept = swept.union(Aabb::around(targets.bases[i] - together, radius));
            thickness += depth / points.len() as f32;
        }
        let at = |share: usize| {
            let i = points[(points.len() - 1) * share / 3] as usize;
            (bases[i], targets.bases[i])
        };
        let samples = [0, 1, 2, 3].map(at);
        let carried = points.iter().find_map(|&point| {
            let Source::Vertex(v) = input.sources[point as usize] else {
                return None;
            };
            let corners = *model.carrier_frames().get(v as usize)?;
            if corners[0] == NO_CARRIER {
                return None;
            }
            let [before, now] = [&state.fixed, &targets.fixed].map(|list| {
                let corner = |k: u32| list.get(k as usize).copied();
                Some([
                    corner(corners[0])?,
                    corner(corners[1])?,
                    corner(corners[2])?,
                ])
            });
            let (before, now) = (before?, now?);
            Some(Rigid {
                from: before[0],
                to: now[0],
                turn: turn(before, now)?,
            })
        });
        let (from, to) = samples[0];
        let still = Rigid {
            from,
            to,
            turn: Mat3::IDENTITY,
        };
        Group {
            before,
            swept,
            samples,
            thickness,
            motion: carried.unwrap_or(still),
        }
    }

    /// Largest motion relative to another group, if the two may meet on the way \[m\].
    fn way_against(&self, other: &Group) -> f32 {
        let Rigid { from, to, turn } = other.motion;
        let mut longest = 0.0_f32;
        for (before, now) in self.samples {
            let way = from + turn.transpose() * (now - to) - before;
            let swept = Aabb {
                min: self.before.min + way.min(Vec3::ZERO),
                max: self.before.max + way.max(Vec3::ZERO),
            };
            if swept.overlaps(&other.before) {
                longest = longest.max(way.length());
            }
        }
        longest
    }
}
