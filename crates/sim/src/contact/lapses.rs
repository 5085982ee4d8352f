//! Held poses come to rest.
//!
//! Skin that is crushed between bones has no place to go: it is pushed out on one side, turns over, loses its contact while that
//! still presses, and is found again, for ever. A point that has lost so many contacts in a held pose is held where it is, and no
//! longer pushed out, until the bones move on. Others are pushed out slowly when bones have held still for a while, and feet of
//! contacts stop then. So there are only so many pushes in a held pose, and it comes to rest.

use glam::Vec3;

use super::persist::shares_point;
use super::ways::Ways;
use super::{Contact, ContactSurface};

/// Pressing contacts that a point may lose before it is only held. With 1, points that need a second push stay inside
/// (a knee); from 5 on, crushed folds tremble for a second.
const PATIENCE: u8 = 3;
/// Way of the bones against the body after which all points begin anew \[m\].
const MOVED_ON: f32 = 0.02;

/// Bones hold still that come no farther in a step \[m\].
const STILL: f32 = 1e-4;
/// Least share by which feet of contacts follow while bones move; it goes to zero in so many steps after they have stopped. With shares of
/// 0.05 or 0.2, groins keep points inside; with 40 steps, they are not always at rest after a second.
const FOLLOWING: (f32, f32) = (0.1, 20.0);
/// Steps after bones have stopped in which nothing is counted yet: what is lost on the way is not lost in the pose. At 0, and from 15
/// on, groins keep points inside or tremble.
const STOPPED: u8 = 10;
/// Steps after bones have stopped from which on folds keep their contacts as they turn over: four fifths of a second. At 30, squats stay three times as
/// deep inside; without it, a fold of a sitting body now and then snaps over a second after it sat down.
const HOLDING: u8 = 48;
/// Share of the usual speed with which points are pushed out after feet have stopped. From 0.1 on, a point that slips lets a squat
/// tremble for long; at 0, points sink in by and by.
const SLOWLY: f32 = 0.02;

/// Steps after which a body is at rest if its bones have held still: a second.
const RESTED: u8 = 60;

/// Contacts that were lost while they pressed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lapses {
    /// How many each point has lost; empty: none.
    counts: Vec<u8>,
    /// How far bones have come since points began anew \[m\].
    way: f32,
    /// For how many steps bones have held still.
    still: u8,
}

impl Lapses {
    /// Whether a point is held, and not pushed out.
    pub fn only_holds(&self, point: u32) -> bool {
        let lost = self.counts.get(point as usize);
        lost.is_some_and(|&lost| lost >= PATIENCE)
    }

    /// Begins a step in which base points go from `before` to `bases`.
    pub fn begin(&mut self, before: &[Vec3], bases: &[Vec3]) {
        let way = match is_moving(before, bases) {
            true => f32::INFINITY,
            false => Ways::new(before, bases).map_or(f32::INFINITY, |ways| ways.farthest),
        };
        self.still = match way < STILL {
            true => self.still.saturating_add(1),
            false => 0,
        };
        self.way += way;
        if self.way > MOVED_ON || self.still <= STOPPED {
            self.way = 0.0;
            self.counts.clear();
        }
    }

    /// Whether bones have held still for so long that hardly anything moves any more.
    pub fn is_rested(&self) -> bool {
        self.still >= RESTED
    }

    /// Whether bones have held still for so long that folds keep their contacts as they turn.
    pub fn holds(&self) -> bool {
        self.still >= HOLDING
    }

    /// Least share by which feet of contacts follow their points.
    pub fn least_share(&self) -> f32 {
        let (share, steps) = FOLLOWING;
        share * (1.0 - f32::from(self.still) / steps).max(0.0)
    }

    /// Share of the usual speed with which points are pushed out.
    pub fn haste(&self) -> f32 {
        if self.least_share() > 0.0 {
            1.0
        } else {
            SLOWLY
        }
    }

    /// Counts what was lost from `last` to `now`, contacts by point.
    pub fn count(&mut self, surface: &ContactSurface, (last, now): (&[Contact], &[Contact])) {
        for old in last.iter().filter(|old| old.force != Vec3::ZERO) {
            let at = now.binary_search_by_key(&old.point, |new| new.point);
            if at.is_ok_and(|at| shares_point(surface, &now[at], old)) {
                continue;
            }
            self.counts.resize(surface.point_count(), 0);
            if let Some(lost) = self.counts.get_mut(old.point as usize) {
                *lost = lost.saturating_add(1);
            }
        }
    }
}

/// Whether two points go ways so different that one of them is not [still](STILL), whatever all do together. While bones move that is seen
/// sooner than what all do.
fn is_moving(before: &[Vec3], now: &[Vec3]) -> bool {
    let mut ways = now.iter().zip(before).map(|(a, b)| *a - *b);
    let Some(first) = ways.next() else {
        return false;
    };
    ways.any(|way| way.distance_squared(first) > 4.0 * STILL * STILL)
}

#[cfg(test)]
mod tests {
    use super::super::{Source, SurfaceInput};
    use super::*;

    /// Two triangles far from each other.
    fn surface() -> ContactSurface {
        let skin: Vec<Vec3> = (0..6)
            .map(|i| Vec3::new((i % 3) as f32, (i / 3) as f32, (i % 2) as f32))
            .collect();
        ContactSurface::new(SurfaceInput {
            sources: (0..6).map(Source::Vertex).collect(),
            bases: skin.clone(),
            skin,
            triangles: vec![[0, 1, 2], [3, 4, 5]],
            tets: Vec::new(),
        })
    }

    fn pressing(triangle: u32) -> [Contact; 1] {
        [Contact {
            point: 2,
            triangle,
            weights: [1.0, 0.0, 0.0],
            normal: Vec3::Y,
            force: Vec3::Y,
            distance: 0.0,
        }]
    }

    #[test]
    fn a_point_that_changes_sides_is_held_until_bones_move() {
        let surface = surface();
        let still = [Vec3::ZERO, Vec3::X];
        let mut lapses = Lapses::default();
        // It goes on for a step, then is found on the other side.
        let lose = |lapses: &mut Lapses, step: u32| {
            let (last, now) = (pressing(step / 2 % 2), pressing(step.div_ceil(2) % 2));
            lapses.begin(&still, &still);
            lapses.count(&surface, (&last, &now));
        };
        // What is lost just after bones have stopped does not count.
        for step in 1..u32::from(STOPPED) {
            lose(&mut lapses, step);
        }
        for step in 0..2 * u32::from(PATIENCE) {
            assert!(!lapses.only_holds(2), "{step}");
            lose(&mut lapses, step);
        }
        assert!(lapses.only_holds(2) && !lapses.only_holds(1));
        // Carried along, the body has not moved on.
        let carried = still.map(|p| p + Vec3::Y);
        lapses.begin(&still, &carried);
        assert!(lapses.only_holds(2));
        let bent = [Vec3::ZERO, Vec3::X + Vec3::Y * 0.01];
        lapses.begin(&still, &bent);
        assert!(!lapses.only_holds(2));
    }
}
