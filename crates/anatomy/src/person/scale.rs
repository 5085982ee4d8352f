//! A template at a person's height and limb lengths [4.2.4, "Global and Local Scaling"].
//!
//! Everything is first scaled by half of the difference in height, which is what thickens bones; then every segment is
//! stretched along its bone, which is not. Segments are joined by the weights of the rig.

use glam::{DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;

use super::{PersonSkin, Template};
use crate::{Body, BodyError};

/// Part of the difference in height that scales everything: a person 20 % taller has bones 10 % thicker [4.2.4].
const HEIGHT_SHARE: f64 = 0.5;

/// Segments: prefixes of the joints that move with them, first and last joint of the bone. `.S` is either side.
const SEGMENTS: [(&[&str], &str, &str); 10] = [
    (&["root", "pelvis", "spine"], "root", "neck01"),
    (&["neck"], "neck01", "head"),
    (&["head", "eye", "jaw", "tongue"], "head", "eye.L"),
    (
        &["clavicle.S", "shoulder01.S"],
        "clavicle.S",
        "upperarm01.S",
    ),
    (
        &["upperarm01.S", "upperarm02.S"],
        "upperarm01.S",
        "lowerarm01.S",
    ),
    (&["lowerarm01.S", "lowerarm02.S"], "lowerarm01.S", "wrist.S"),
    (
        &["wrist.S", "finger.S", "metacarpal.S"],
        "wrist.S",
        "finger3-1.S",
    ),
    (
        &["upperleg01.S", "upperleg02.S"],
        "upperleg01.S",
        "lowerleg01.S",
    ),
    (&["lowerleg01.S", "lowerleg02.S"], "lowerleg01.S", "foot.S"),
    (&["foot.S", "toe.S"], "foot.S", "toe3-1.S"),
];

/// How one segment of the template is brought to a person's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// First joint in the template \[m\].
    pub from: DVec3,
    /// First joint in the person \[m\].
    pub to: DVec3,
    /// Rotation, scale and stretch about them.
    pub linear: DMat3,
    /// Stretch along the bone beyond the scale of all.
    pub stretch: f64,
}

impl Segment {
    /// Where a point of the template goes if it moves with this segment alone.
    pub fn apply(&self, point: DVec3) -> DVec3 {
        self.to + self.linear * (point - self.from)
    }
}

/// The map of each joint of the rig.
pub fn segments(body: &Body, person: &PersonSkin) -> Result<Vec<Segment>, BodyError> {
    let rest: Vec<DVec3> = (body.skeleton.rest_worlds().iter())
        .map(|world| Vec3::from(world.translation).as_dvec3())
        .collect();
    let scale = global_scale(body, person);
    let place = |name: &str| {
        (body.skeleton.find(name)).ok_or_else(|| BodyError::NoJoint {
            name: name.to_owned(),
        })
    };
    let person_at = |joint: usize| person.joints[joint].as_dvec3();
    let segment = |first: &str, last: &str| {
        let (first, last) = (place(first)?, place(last)?);
        let (a, b) = (rest[last] - rest[first], person_at(last) - person_at(first));
        Ok(Segment::between(rest[first], person_at(first), a, b, scale))
    };
    let mut of_joint = vec![None; body.skeleton.len()];
    for (prefixes, first, last) in SEGMENTS {
        for side in [".L", ".R"] {
            let sided = |name: &str| name.replace(".S", side);
            let found = segment(&sided(first), &sided(last))?;
            for (joint, slot) in body.skeleton.joints().iter().zip(&mut of_joint) {
                let belongs = |prefix: &&str| match prefix.strip_suffix(".S") {
                    Some(stem) => joint.name.starts_with(stem) && joint.name.ends_with(side),
                    None => joint.name.starts_with(prefix),
                };
                if slot.is_none() && prefixes.iter().any(belongs) {
                    *slot = Some(found);
                }
            }
        }
    }
    let trunk = segment("root", "neck01")?;
    Ok(of_joint.into_iter().map(|s| s.unwrap_or(trunk)).collect())
}

/// The scale of everything: dh ← 0.5 (dh − 1) + 1 [4.2.4].
fn global_scale(body: &Body, person: &PersonSkin) -> f64 {
    let heights = person.skin.iter().map(|p| f64::from(p.y));
    let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| {
        (low.min(y), high.max(y))
    });
    1.0 + HEIGHT_SHARE * ((high - low) / f64::from(body.height()) - 1.0)
}

impl Segment {
    /// Turns bone `a` to bone `b` on the shortest way, scales all and stretches along it.
    fn between(from: DVec3, to: DVec3, a: DVec3, b: DVec3, scale: f64) -> Segment {
        let (axis, target) = (a.normalize_or(DVec3::Y), b.normalize_or(DVec3::Y));
        let stretch = b.length() / (scale * a.length().max(1e-6));
        let along = DMat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z);
        let turn = DMat3::from_quat(DQuat::from_rotation_arc(axis, target));
        Segment {
            from,
            to,
            linear: turn * (DMat3::IDENTITY + along * (stretch - 1.0)) * scale,
            stretch,
        }
    }
}

/// The template's skin, muscle surface and skeleton surface \[m\] at the person's height and limb lengths.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// Skin.
    pub skin: Vec<DVec3>,
    /// Muscle surface.
    pub muscle: Vec<DVec3>,
    /// Skeleton surface.
    pub skeleton: Vec<DVec3>,
}

/// Scales all three surfaces.
pub fn scaled_template(template: &Template, person: &PersonSkin) -> Result<Scaled, BodyError> {
    let segments = segments(template.body, person)?;
    let moved = |positions: &[Vec3]| -> Vec<DVec3> {
        (positions.par_iter().zip(&template.body.influences))
            .map(|(point, influences)| blended(&segments, influences, point.as_dvec3()))
            .collect()
    };
    Ok(Scaled {
        skin: moved(&template.layers.skin),
        muscle: moved(&template.layers.muscle),
        skeleton: moved(&template.layers.skeleton),
    })
}

fn blended(segments: &[Segment], influences: &[(u32, f32)], point: DVec3) -> DVec3 {
    let (mut sum, mut total) = (DVec3::ZERO, 0.0);
    for &(joint, weight) in influences {
        sum += f64::from(weight) * segments[joint as usize].apply(point);
        total += f64::from(weight);
    }
    if total > 0.0 { sum / total } else { point }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_brings_both_joints_to_their_places_and_keeps_its_width() {
        let (from, to) = (DVec3::new(0.1, 1.0, 0.0), DVec3::new(0.2, 1.1, 0.3));
        let (a, b) = (DVec3::new(0.0, -0.4, 0.02), DVec3::new(0.05, -0.5, 0.0));
        let segment = Segment::between(from, to, a, b, 1.05);
        assert!((segment.apply(from) - to).length() < 1e-12);
        assert!((segment.apply(from + a) - to - b).length() < 1e-12);
        let across = a.any_orthonormal_vector();
        assert!(((segment.linear * across).length() - 1.05).abs() < 1e-12);
    }
}
