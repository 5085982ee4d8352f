//! Held poses come to rest.
//!
//! Skin that is crushed between bones has no place to go: it is pushed out on one side, turns over, loses its contact while that
//! still presses, and is found again, for ever. A point that has lost so many contacts is held where it is, and no longer
//! pushed out, until the bones have moved on. So there are only so many pushes in a held pose, and it comes to rest.

use glam::Vec3;

use super::persist::shares_point;
use super::ways::Ways;
use super::{Contact, ContactSurface};

/// Pressing contacts that a point may lose before it is only held. With 1, points that need a second push stay inside
/// (a knee); with 3, crushed folds tremble for a second.
const PATIENCE: u8 = 2;
/// Way of the bones against the body after which all points begin anew \[m\].
const MOVED_ON: f32 = 0.02;

/// Contacts that were lost while they pressed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lapses {
    /// How many each point has lost; empty: none.
    counts: Vec<u8>,
    /// How far bones have come since points began anew \[m\].
    way: f32,
}

impl Lapses {
    /// Whether a point is held, and not pushed out.
    pub fn only_holds(&self, point: u32) -> bool {
        let lost = self.counts.get(point as usize);
        lost.is_some_and(|&lost| lost >= PATIENCE)
    }

    /// Counts what was lost from `last` to `now`, contacts by point, in a step in which base points went from `before` to `bases`.
    pub fn count(
        &mut self,
        surface: &ContactSurface,
        (last, now): (&[Contact], &[Contact]),
        (before, bases): (&[Vec3], &[Vec3]),
    ) {
        self.way += Ways::new(before, bases).map_or(f32::INFINITY, |ways| ways.farthest);
        if self.way > MOVED_ON {
            self.way = 0.0;
            self.counts.clear();
        }
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
        for step in 0..2 * u32::from(PATIENCE) {
            assert_eq!(
                lapses.only_holds(2),
                step >= 2 * u32::from(PATIENCE),
                "{step}"
            );
            // It goes on for a step, then is found on the other side.
            let (last, now) = (pressing(step / 2 % 2), pressing(step.div_ceil(2) % 2));
            lapses.count(&surface, (&last, &now), (&still, &still));
        }
        assert!(lapses.only_holds(2) && !lapses.only_holds(1));
        // Carried along, the body has not moved on.
        let carried = still.map(|p| p + Vec3::Y);
        lapses.count(&surface, (&[], &[]), (&still, &carried));
        assert!(lapses.only_holds(2));
        let bent = [Vec3::ZERO, Vec3::X + Vec3::Y * 0.01];
        for _ in 0..6 {
            lapses.count(&surface, (&[], &[]), (&still, &bent));
        }
        assert!(!lapses.only_holds(2));
    }
}
