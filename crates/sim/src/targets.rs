//! Input of a step: positions of fixed vertices, anchors, forces, colliders.

use glam::Vec3;

use crate::contact::{Collider, External};

/// Kinematic targets and forces at the end of a step. Made by [`Model::targets`](crate::Model::targets).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    /// Position of each fixed vertex \[m\].
    pub fixed: Vec<Vec3>,
    /// Target point of each anchor \[m\].
    pub anchors: Vec<Vec3>,
    /// Direction of each line anchor or normal of each plane anchor; if empty, those of the model.
    pub directions: Vec<Vec3>,
    /// External force on each free vertex \[N\], in addition to gravity; may be empty.
    pub forces: Vec<Vec3>,
    /// Base point of each point of the [contact surface](crate::ContactSurface) \[m\]; empty without one.
    pub bases: Vec<Vec3>,
    /// Skin points of the contact surface that are not in the model \[m\].
    pub outside: Vec<Vec3>,
    /// Contacts of the skin detected by the caller.
    pub external: Vec<External>,
    /// Colliders.
    pub colliders: Vec<Collider>,
}

impl Targets {
    /// Targets between `from` (0) and `to` (1); forces, directions and external contacts are those of `to`.
    pub fn lerp(from: &Targets, to: &Targets, t: f32) -> Targets {
        Targets {
            fixed: lerp(&from.fixed, &to.fixed, t),
            anchors: lerp(&from.anchors, &to.anchors, t),
            directions: to.directions.clone(),
            forces: to.forces.clone(),
            bases: lerp_or_last(&from.bases, &to.bases, t),
            outside: lerp_or_last(&from.outside, &to.outside, t),
            external: to.external.clone(),
            colliders: between(&from.colliders, &to.colliders, t),
        }
    }

    /// First entry that is not finite, or first invalid collider, as the name of its list and its index.
    pub fn first_non_finite(&self) -> Option<(&'static str, usize)> {
        let lists = [
            ("fixed", &self.fixed),
            ("anchors", &self.anchors),
            ("directions", &self.directions),
            ("forces", &self.forces),
            ("bases", &self.bases),
            ("outside", &self.outside),
        ];
        let colliders = || self.colliders.iter().position(|c| !c.is_sound());
        let external = || self.external.iter().position(|e| !e.is_finite());
        lists
            .iter()
            .find_map(|(name, list)| first_not_finite(list).map(|i| (*name, i)))
            .or_else(|| external().map(|i| ("external", i)))
            .or_else(|| colliders().map(|i| ("colliders", i)))
    }
}

/// First vector with a component that is NaN or infinite. Lists are checked in every step, and nearly all are sound: a
/// number is not finite if adding one to its exponent reaches the sign bit.
pub(crate) fn first_not_finite(list: &[Vec3]) -> Option<usize> {
    let overflow = |x: f32| (x.to_bits() & 0x7fff_ffff) + 0x0080_0000;
    let mut all = 0;
    for p in list {
        all |= overflow(p.x) | overflow(p.y) | overflow(p.z);
    }
    match all >> 31 {
        0 => None,
        _ => list.iter().position(|p| !p.is_finite()),
    }
}

/// Interpolated colliders; those of `to` if the numbers differ.
fn between(from: &[Collider], to: &[Collider], t: f32) -> Vec<Collider> {
    let mut result = to.to_vec();
    if from.len() == to.len() {
        for (collider, from) in result.iter_mut().zip(from) {
            collider.placement = from.placement.lerp(&collider.placement, t);
        }
    }
    result
}

/// [`lerp`], or `b` if the lengths differ.
fn lerp_or_last(a: &[Vec3], b: &[Vec3], t: f32) -> Vec<Vec3> {
    if a.len() == b.len() {
        lerp(a, b, t)
    } else {
        b.to_vec()
    }
}

fn lerp(a: &[Vec3], b: &[Vec3], t: f32) -> Vec<Vec3> {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| if t >= 1.0 { b } else { a.lerp(b, t) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_are_found() {
        let odd = [0.0, -0.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::MIN];
        let sound: Vec<Vec3> = odd.map(Vec3::splat).to_vec();
        assert_eq!(first_not_finite(&sound), None);
        for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for axis in 0..3 {
                let mut list = sound.clone();
                list[4][axis] = bad;
                assert_eq!(first_not_finite(&list), Some(4), "{bad} {axis}");
            }
        }
    }
}
