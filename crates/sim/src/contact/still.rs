//! Skips searches of a body at rest.
//!
//! A point that a search did not find was farther away than the [shell](super::SHELL), and a contact presses only when
//! it is nearer than the [gap](super::GAP). As long as both sides have moved by less than half of the difference, no
//! new contact can press, and the known ones are kept.

use glam::{Vec3, Vec3A};

use super::relative_motion::RelativeMotion;
use super::rules;

/// Where a body was when it was last searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Searched {
    skin: Vec<Vec3>,
    bases: Vec<Vec3>,
    /// Time since then \[s\].
    time: f32,
}

impl Searched {
    /// Discards the record.
    pub fn forget(&mut self) {
        self.skin.clear();
        self.bases.clear();
        self.time = 0.0;
    }

    /// Records a search with these skin and base points.
    pub fn record(&mut self, skin: impl Iterator<Item = Vec3A>, bases: &[Vec3]) {
        self.forget();
        self.skin.extend(skin.map(Vec3::from));
        self.bases.extend(bases);
    }

    /// Records a step of `step` seconds without a search.
    pub fn record_skip(&mut self, step: f32) {
        self.time += step;
    }

    /// Whether the contacts of the last search, `contacts` in number, are still all that can press with these skin and
    /// base points, after a step of `step` seconds.
    pub fn is_valid(
        &self,
        step: f32,
        contacts: usize,
        skin: impl ExactSizeIterator<Item = Vec3A>,
        bases: &[Vec3],
        edge: f32,
    ) -> bool {
        if self.skin.len() != skin.len() || self.time + 1.5 * step > rules::SEARCH_PERIOD {
            return false;
        }
        let Some(motion) = RelativeMotion::new(&self.bases, bases) else {
            return false;
        };
        let still = rules::SEARCH_DISTANCE * edge;
        let (before, together) = (&mut self.skin.iter(), Vec3A::from(motion.together));
        // NaN counts as moving.
        let mut is_still = |at: Vec3A| {
            let way = at - Vec3A::from(before.next().copied().unwrap_or(Vec3::NAN));
            way.distance_squared(together) <= still * still
        };
        let allowed = (rules::RESTLESS_POINTS * self.skin.len() as f32)
            .max(rules::RESTLESS_CONTACTS * contacts as f32 + 1e-3);
        let allowed = allowed as usize;
        motion.farthest <= still && skin.filter(|at| !is_still(*at)).count() <= allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 200;
    const EDGE: f32 = 0.02;
    const STEP: f32 = 1.0 / 60.0;

    fn place(i: usize) -> Vec3 {
        Vec3::new(i as f32, (i % 7) as f32, 0.0) * EDGE
    }

    #[test]
    fn a_still_body_is_searched_now_and_then_and_one_that_moves_at_once() {
        let bases: Vec<Vec3> = (0..COUNT).map(|i| place(i) - Vec3::Z).collect();
        let skin = |shift: &dyn Fn(usize) -> Vec3| -> Vec<Vec3A> {
            let at = |i| Vec3A::from(place(i) + shift(i));
            (0..COUNT).map(at).collect()
        };
        let still = skin(&|_| Vec3::ZERO);
        let mut searched = Searched::default();
        let is_valid = |searched: &Searched, skin: &[Vec3A], bases: &[Vec3]| {
            searched.is_valid(STEP, 0, skin.iter().copied(), bases, EDGE)
        };
        assert!(!is_valid(&searched, &still, &bases));
        searched.record(still.iter().copied(), &bases);
        assert!(is_valid(&searched, &still, &bases));
        // Moved as a whole.
        let along = skin(&|_| Vec3::X);
        let carried: Vec<Vec3> = bases.iter().map(|b| *b + Vec3::X).collect();
        assert!(is_valid(&searched, &along, &carried));
        assert!(!is_valid(&searched, &along, &bases));
        // A point moves a little, then far; a bone moves; NaN.
        let far = Vec3::Y * EDGE;
        let moved = |far: Vec3| skin(&move |i| far * f32::from(i == 70));
        assert!(is_valid(
            &searched,
            &moved(far * 0.5 * rules::SEARCH_DISTANCE),
            &bases
        ));
        assert!(!is_valid(&searched, &moved(far), &bases));
        let among = |contacts: usize| {
            searched.is_valid(STEP, contacts, moved(far).iter().copied(), &bases, EDGE)
        };
        assert!(!among(39) && among(40));
        let mut bent = bases.clone();
        bent[3] += far;
        assert!(!is_valid(&searched, &still, &bent));
        assert!(!is_valid(&searched, &skin(&|_| Vec3::NAN), &bases));
        // Seven steps of eight are not searched.
        for _ in 0..7 {
            assert!(is_valid(&searched, &still, &bases));
            searched.record_skip(STEP);
        }
        assert!(!is_valid(&searched, &still, &bases));
    }
}
