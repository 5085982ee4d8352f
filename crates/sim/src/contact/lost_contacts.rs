//! Brings held poses to rest.
//!
//! Skin that is crushed between bones has no room: it is pushed out on one side, turns over, loses its pressing
//! contact, and is detected again, without end. A point that has lost enough contacts in a held pose is held where it
//! is, and no longer pushed out, until the bones move. In a pose held for a while all other points are pushed out
//! slowly, and feet of contacts stop. This bounds the number of pushes, so the pose comes to rest.

use glam::Vec3;

use super::persist::shares_point;
use super::relative_motion::RelativeMotion;
use super::{Contact, ContactSurface, rules};

/// Relative rounding error of sums of steps.
const ROUNDING: f32 = 1e-4;

/// Record of pressing contacts that were lost in a held pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LostContacts {
    /// Sum of the steps in which each point has lost one \[s\]; empty if none has.
    lost: Vec<f32>,
    /// Motion of the bones since the record was cleared \[m\].
    moved: f32,
    /// Time for which the bones have been still \[s\].
    still: f32,
}

impl LostContacts {
    /// Whether a point is held where it is, and not pushed out.
    pub fn is_held(&self, point: u32) -> bool {
        let lost = self.lost.get(point as usize);
        lost.is_some_and(|&lost| lost > rules::LOST_CONTACT_TIME * (1.0 - ROUNDING))
    }

    /// Begins a step of `step` seconds in which base points move from `before` to `bases`.
    pub fn begin(&mut self, surface: &ContactSurface, step: f32, before: &[Vec3], bases: &[Vec3]) {
        let still = rules::STILL_SPEED * surface.size() * step;
        let moved = match is_moving(before, bases, still) {
            true => f32::INFINITY,
            false => {
                RelativeMotion::new(before, bases).map_or(f32::INFINITY, |motion| motion.farthest)
            }
        };
        self.still = match moved < still {
            true => self.still + step,
            false => 0.0,
        };
        self.moved += moved;
        let is_far = self.moved > rules::FORGET_DISTANCE * surface.size();
        if is_far || !self.is_still_for(rules::LOST_CONTACT_DELAY) {
            self.moved = 0.0;
            self.lost.clear();
        }
    }

    /// Whether the bones have been still for longer than this \[s\], up to rounding of the sum of steps.
    fn is_still_for(&self, time: f32) -> bool {
        self.still > time * (1.0 + ROUNDING)
    }

    /// Whether the bones have been still for [`rules::REST_TIME`], after which hardly anything moves.
    pub fn is_at_rest(&self) -> bool {
        self.is_still_for(rules::REST_TIME)
    }

    /// Whether the bones have been still for [`rules::FOLD_HOLD_TIME`], after which folds that turn over keep their
    /// contacts.
    pub fn keeps_folds(&self) -> bool {
        self.is_still_for(rules::FOLD_HOLD_TIME)
    }

    /// Least blend factor of feet and normals toward the new detection in a step of `step` seconds.
    pub fn least_blend(&self, step: f32) -> f32 {
        let left = (1.0 - self.still / rules::FOLLOW_TIME).max(0.0);
        rules::blend(rules::FOLLOW_RATE * left, step)
    }

    /// Factor of the recovery speed.
    pub fn recovery_factor(&self) -> f32 {
        match self.is_still_for(rules::FOLLOW_TIME) {
            false => 1.0,
            true => rules::SLOW_RECOVERY,
        }
    }

    /// Adds contacts lost between `last` and `now`, both sorted by point, in a step of `step` seconds.
    pub fn count(
        &mut self,
        surface: &ContactSurface,
        step: f32,
        (last, now): (&[Contact], &[Contact]),
    ) {
        for old in last.iter().filter(|old| old.force != Vec3::ZERO) {
            let at = now.binary_search_by_key(&old.point, |new| new.point);
            if at.is_ok_and(|at| shares_point(surface, &now[at], old)) {
                continue;
            }
            self.lost.resize(surface.point_count(), 0.0);
            if let Some(lost) = self.lost.get_mut(old.point as usize) {
                *lost += step;
            }
        }
    }
}

/// Whether two points move so differently that one of them moves farther than `still` \[m\] relative to any common
/// motion. A quick test: while bones move it ends before the common motion is computed.
fn is_moving(before: &[Vec3], now: &[Vec3], still: f32) -> bool {
    let mut motions = now.iter().zip(before).map(|(a, b)| *a - *b);
    let Some(first) = motions.next() else {
        return false;
    };
    motions.any(|moved| moved.distance_squared(first) > 4.0 * still * still)
}

#[cfg(test)]
mod tests {
    use super::super::{Source, SurfaceInput};
    use super::*;

    /// Two triangles far apart.
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
        // It persists for a step, then is detected on the other side.
        let lose = |lost_contacts: &mut LostContacts, rate: f32, step: u32| {
            let (last, now) = (pressing(step / 2 % 2), pressing(step.div_ceil(2) % 2));
            lost_contacts.begin(&surface, 1.0 / rate, &still, &still);
            lost_contacts.count(&surface, 1.0 / rate, (&last, &now));
        };
        for rate in [30.0, 60.0, 240.0] {
            let mut lost_contacts = LostContacts::default();
            // Contacts lost just after the bones have stopped do not count, at any step rate.
            for step in 1..(rules::LOST_CONTACT_DELAY * rate).round() as u32 {
                lose(&mut lost_contacts, rate, step);
            }
            let losses = (rules::LOST_CONTACT_TIME * rate - ROUNDING).ceil() as u32;
            for step in 0..2 * losses {
                assert!(!lost_contacts.is_held(2), "{step} at {rate}");
                lose(&mut lost_contacts, rate, step);
            }
            assert!(lost_contacts.is_held(2) && !lost_contacts.is_held(1));
            // Moved as a whole, the body is still in the same pose.
            let carried = still.map(|p| p + Vec3::Y);
            lost_contacts.begin(&surface, 1.0 / rate, &still, &carried);
            assert!(lost_contacts.is_held(2));
            let bent = [Vec3::ZERO, Vec3::X + Vec3::Y * 0.5];
            lost_contacts.begin(&surface, 1.0 / rate, &still, &bent);
            assert!(!lost_contacts.is_held(2));
        }
    }
}
