//! A body that rests is not searched in every step.
//!
//! What a search did not find was farther away than the [shell](super::SHELL), and nothing presses before it has come as near as the
//! [gap](super::GAP). As long as both sides have come by less than half of what is between, the contacts that are known are all that can
//! press: they go on as they are.

use glam::{Vec3, Vec3A};

use super::ways::Ways;

/// Steps in a row without a search, at most. With more, folds that turn over are noticed late.
const MOST_STEPS: u8 = 7;
/// How far everything may have come since the search, in mean edges: nothing new presses below 0.085.
const STILL: f32 = 0.06;

/// One point of so many may come farther: crushed folds tremble, and are known to touch. At 50 knees stay inside, at 200 thighs.
const FEW: usize = 500;
/// One of so many contacts may, where they are more than that: a body curled up has more such folds.
const FEW_CONTACTS: usize = 40;

/// Where a body was when it was searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Searched {
    skin: Vec<Vec3>,
    bases: Vec<Vec3>,
    /// Steps since.
    steps: u8,
}

impl Searched {
    /// Nothing is known.
    pub fn forget(&mut self) {
        self.skin.clear();
        self.bases.clear();
        self.steps = 0;
    }

    /// A search with the skin and base points here.
    pub fn note(&mut self, skin: impl Iterator<Item = Vec3A>, bases: &[Vec3]) {
        self.forget();
        self.skin.extend(skin.map(Vec3::from));
        self.bases.extend(bases);
    }

    /// A step without one.
    pub fn go_on(&mut self) {
        self.steps += 1;
    }

    /// Whether what was found then, so many contacts, is all that can press with the skin and base points here.
    pub fn is_enough(
        &self,
        contacts: usize,
        skin: impl ExactSizeIterator<Item = Vec3A>,
        bases: &[Vec3],
        edge: f32,
    ) -> bool {
        if self.skin.len() != skin.len() || self.steps >= MOST_STEPS {
            return false;
        }
        let Some(ways) = Ways::new(&self.bases, bases) else {
            return false;
        };
        let still = STILL * edge;
        let (before, together) = (&mut self.skin.iter(), Vec3A::from(ways.together));
        // What is not a number is not still.
        let mut is_still = |at: Vec3A| {
            let way = at - Vec3A::from(before.next().copied().unwrap_or(Vec3::NAN));
            way.distance_squared(together) <= still * still
        };
        let few = (self.skin.len() / FEW).max(contacts / FEW_CONTACTS);
        ways.farthest <= still && skin.filter(|at| !is_still(*at)).count() <= few
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 200;
    const EDGE: f32 = 0.02;

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
        let is_enough = |searched: &Searched, skin: &[Vec3A], bases: &[Vec3]| {
            searched.is_enough(0, skin.iter().copied(), bases, EDGE)
        };
        assert!(!is_enough(&searched, &still, &bases));
        searched.note(still.iter().copied(), &bases);
        assert!(is_enough(&searched, &still, &bases));
        // Carried along as a whole.
        let along = skin(&|_| Vec3::X);
        let carried: Vec<Vec3> = bases.iter().map(|b| *b + Vec3::X).collect();
        assert!(is_enough(&searched, &along, &carried));
        assert!(!is_enough(&searched, &along, &bases));
        // A point moves, little and far; a bone moves; a number is none.
        let far = Vec3::Y * EDGE;
        let moved = |far: Vec3| skin(&move |i| far * f32::from(i == 70));
        assert!(is_enough(&searched, &moved(far * 0.5 * STILL), &bases));
        assert!(!is_enough(&searched, &moved(far), &bases));
        let among = |contacts: usize| {
            searched.is_enough(contacts, moved(far).iter().copied(), &bases, EDGE)
        };
        assert!(!among(FEW_CONTACTS - 1) && among(FEW_CONTACTS));
        let mut bent = bases.clone();
        bent[3] += far;
        assert!(!is_enough(&searched, &still, &bent));
        assert!(!is_enough(&searched, &skin(&|_| Vec3::NAN), &bases));
        for _ in 0..MOST_STEPS {
            assert!(is_enough(&searched, &still, &bases));
            searched.go_on();
        }
        assert!(!is_enough(&searched, &still, &bases));
    }
}
