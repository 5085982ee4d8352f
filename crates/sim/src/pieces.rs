//! Fast motion, taken in pieces.
//!
//! A hand that goes through a chest in one step is in front of it before and behind it afterwards: no point is ever found inside. Where
//! parts of a body that could meet move farther against each other in a step than half the tissue that is there to catch
//! them, the step is taken in pieces.
//!
//! A piece uses the matrix of a whole step, for which everything is prepared: what moves is slowed down instead. With n pieces,
//! velocities are n times smaller and bodies with a mass n² times heavier while they last, so that paths, impulses and
//! damping of the whole are those of one step; tissue alone is lighter than it should be, that is, follows its bones more closely,
//! and depth is taken back in every piece.

use glam::{Mat3, Vec3};
use supple_geom::Aabb;

use crate::carrier::turn;
use crate::contact::ways::Ways;
use crate::contact::{ContactSurface, Motion, Source, rules};
use crate::model::NO_CARRIER;
use crate::{Backend, ContactMode, Mode, Model, Settings, SolveError, State, StepReport, Targets};

/// Most pieces of a step. A hand at thirty metres a second moves by a belly's depth in each.
pub const MOST_PIECES: u32 = 8;
/// How many pieces a step from the state to `targets` takes: 1, 2, 4 or 8. `bases` are base points before it.
pub fn pieces(
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
    let Some(Ways { together, farthest }) = Ways::new(bases, &targets.bases) else {
        return 1;
    };
    // What comes no farther than the shell in a step is seen in it.
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
                most = most.max(way / (rules::PIECE_WAY * thickness));
            }
        }
    }
    (most.ceil() as u32).next_power_of_two().min(MOST_PIECES)
}

/// Takes a step to `to` in so many pieces.
pub fn step_in_pieces(
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

/// A rigid motion: where a point goes, and how directions turn.
#[derive(Clone, Copy)]
struct Rigid {
    from: Vec3,
    to: Vec3,
    turn: Mat3,
}

/// Neighbours on the skin, around their base points.
struct Group {
    /// Before the step \[m\].
    before: Aabb,
    /// From before to after, where all that move together stand still \[m\].
    swept: Aabb,
    /// Some base points before and after \[m\].
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

    /// How far it moves as another sees it, if it may meet it on the way \[m\].
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
