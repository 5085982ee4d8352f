//! A template at a person's height and limb lengths [4.2.4, "Global and Local Scaling"].
//!
//! Everything is first scaled by half of the difference in height, which is what thickens bones; then every segment is
//! stretched along its bone, which is not. Segments are joined by the weights of the rig. Past the thesis, a segment whose bones
//! do not fit into the skin is narrowed as a whole: thin people have narrow cages, not dented ones.

use glam::{DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::{Surface, TriMesh};

use super::{FitTemplate, PersonSkin};
use crate::{Body, BodyError};

/// Part of the difference in height that scales everything: a person 20 % taller has bones 10 % thicker [4.2.4].
const HEIGHT_SHARE: f64 = 0.5;

/// Segments: prefixes of the joints that move with them, first and last joint of the bone. `.S` is either side.
const SEGMENTS: [(&[&str], &str, &str); 11] = [
    (&["root", "pelvis", "spine05"], "root", "neck01"),
    (&["spine"], "root", "neck01"),
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

/// Depth below the skin that all but a few vertices of a segment's skeleton surface should have \[m\].
const DEPTH: f64 = 2e-3;
/// Share of a segment's vertices that may still be above it: below a tenth, single bumps narrow whole cages.
const SHALLOW: f64 = 0.1;
/// Least width of a segment against its usual one.
const NARROWEST: f64 = 0.8;

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
    /// Scale across the bone beyond the scale of all: 1, or less where the bones would not fit.
    pub width: f64,
    /// Which segment it is: joints that move as one have the same.
    pub number: usize,
    /// Unit direction of the bone in the template.
    axis: DVec3,
    turn: DMat3,
    scale: f64,
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
    for (number, (prefixes, first, last)) in SEGMENTS.into_iter().enumerate() {
        for (right, side) in [".L", ".R"].into_iter().enumerate() {
            let sided = |name: &str| name.replace(".S", side);
            let mut found = segment(&sided(first), &sided(last))?;
            found.number = 2 * number + right;
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
        let segment = Segment {
            from,
            to,
            linear: DMat3::IDENTITY,
            stretch: b.length() / (scale * a.length().max(1e-6)),
            width: 1.0,
            number: 0,
            axis,
            turn: DMat3::from_quat(DQuat::from_rotation_arc(axis, target)),
            scale,
        };
        segment.with_width(1.0)
    }

    fn with_width(self, width: f64) -> Segment {
        let along = DMat3::from_cols(
            self.axis * self.axis.x,
            self.axis * self.axis.y,
            self.axis * self.axis.z,
        );
        let across = DMat3::IDENTITY - along;
        Segment {
            linear: self.turn * (across * width + along * self.stretch) * self.scale,
            width,
            ..self
        }
    }

    /// Distance of a point of the person from the bone's line \[m\].
    fn radius(&self, point: DVec3) -> f64 {
        (point - self.to)
            .reject_from_normalized(self.turn * self.axis)
            .length()
    }
}

/// Narrows the segments whose skeleton surface, at `placed`, does not fit into the skin; whether there was any.
fn narrow(
    template: &FitTemplate,
    person: &PersonSkin,
    placed: &[DVec3],
    segments: &mut [Segment],
) -> bool {
    let surface = Surface::new(TriMesh {
        positions: person.skin.to_vec(),
        triangles: template.layers.triangles.clone(),
    });
    let needed: Vec<Option<(usize, f64)>> = (placed.par_iter().enumerate())
        .map(|(v, point)| {
            let influences = &template.body.influences[v];
            let (joint, _) = influences.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
            let segment = &segments[*joint as usize];
            let radius = segment.radius(*point);
            let distance = surface.signed_distance(point.as_vec3())?;
            let excess = (f64::from(distance) + DEPTH).max(0.0);
            (template.layers.layered[v] && radius > 0.01).then(|| (segment.number, excess / radius))
        })
        .collect();
    let mut widths = vec![1.0; 2 * SEGMENTS.len()];
    for (number, width) in widths.iter_mut().enumerate() {
        let of_segment = needed.iter().flatten().filter(|(n, _)| *n == number);
        let mut shares: Vec<f64> = of_segment.map(|(_, share)| *share).collect();
        shares.sort_by(f64::total_cmp);
        let place = ((1.0 - SHALLOW) * shares.len() as f64) as usize;
        *width = (1.0 - shares.get(place).copied().unwrap_or(0.0)).max(NARROWEST);
    }
    for segment in segments.iter_mut() {
        *segment = segment.with_width(widths[segment.number]);
    }
    widths.iter().any(|width| *width < 1.0)
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
    /// The map of each joint of the rig.
    pub segments: Vec<Segment>,
}

/// Scales all three surfaces.
pub fn scaled_template(template: &FitTemplate, person: &PersonSkin) -> Result<Scaled, BodyError> {
    let mut segments = segments(template.body, person)?;
    let moved = |segments: &[Segment], positions: &[Vec3]| -> Vec<DVec3> {
        (positions.par_iter().zip(&template.body.influences))
            .map(|(point, influences)| blended(segments, influences, point.as_dvec3()))
            .collect()
    };
    let mut skeleton = moved(&segments, &template.layers.skeleton);
    if narrow(template, person, &skeleton, &mut segments) {
        skeleton = moved(&segments, &template.layers.skeleton);
    }
    Ok(Scaled {
        skin: moved(&segments, &template.layers.skin),
        muscle: moved(&segments, &template.layers.muscle),
        skeleton,
        segments,
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
        let across = a.normalize().any_orthonormal_vector();
        assert!(((segment.linear * across).length() - 1.05).abs() < 1e-12);
        let narrow = segment.with_width(0.9);
        assert!((narrow.apply(from + a) - to - b).length() < 1e-12);
        assert!(((narrow.linear * across).length() - 0.9 * 1.05).abs() < 1e-12);
    }
}
