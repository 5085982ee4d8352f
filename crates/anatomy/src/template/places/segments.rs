//! Places in cross-sections of limbs and trunk, as an anatomy book draws them.

use glam::{Vec2, Vec3};
use supple_geom::Surface;
use supple_geom::surface::Ray;

use crate::template::places::frame::Half;

/// A stretch of the body with cross-sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Segment {
    /// From the femur's top to its end.
    Thigh,
    /// From the tibia's top to its end.
    Shank,
    /// From the humerus' top to its end.
    Arm,
    /// From the ulna's top to the wrist.
    Forearm,
    /// From the top of the sternum to the lower end of the hip bones.
    Trunk,
}

impl Segment {
    /// By its name in an atlas.
    pub fn named(name: &str) -> Option<Segment> {
        Some(match name {
            "thigh" => Segment::Thigh,
            "shank" => Segment::Shank,
            "arm" => Segment::Arm,
            "forearm" => Segment::Forearm,
            "trunk" => Segment::Trunk,
            _ => return None,
        })
    }

    /// Bones that its axis is found by.
    pub fn bones(self) -> [&'static str; 2] {
        match self {
            Segment::Thigh => ["femur", "femur"],
            Segment::Shank => ["tibia", "tibia"],
            Segment::Arm => ["humerus", "humerus"],
            Segment::Forearm => ["ulna", "radius"],
            Segment::Trunk => ["sternum_costal_cartilage", "pelvis"],
        }
    }

    /// Top and lower end of its axis \[m\]; none if a bone is missing.
    pub fn axis(self, half: &Half) -> Option<[Vec3; 2]> {
        let [first, second] = self.bones().map(|name| half.bone(name));
        let (top, end) = (first?.at(Vec3::Y), second?.at(-Vec3::Y));
        Some(match self {
            Segment::Trunk => [top, Vec3::new(0.0, end.y, end.z)],
            _ => [top, end],
        })
    }

    /// Length of its axis \[m\]; none if a bone is missing.
    pub fn length(self, half: &Half) -> Option<f32> {
        self.axis(half).map(|[top, end]| top.distance(end))
    }
}

/// Rays that find a section's centre.
const RAYS: usize = 24;
/// Furthest that a section's edge is looked for \[m\].
const REACH: f32 = 0.4;

/// A cross-section: centre, directions and the surface that bounds it.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Centre of the section \[m\].
    pub centre: Vec3,
    /// Direction of lateral and forward.
    pub directions: [Vec3; 2],
}

impl Section {
    /// The cross-section at `t` (0 at the top, 1 at the lower end) of a segment bounded by `surface`; none if a bone is missing.
    pub fn new(half: &Half, surface: &Surface, segment: Segment, t: f32) -> Option<Section> {
        let [first, second] = segment.bones().map(|name| half.bone(name));
        let (first, second) = (first?, second?);
        let (top, end) = match segment {
            Segment::Trunk => {
                let z = 0.5 * (first.centre.z + second.centre.z);
                let height = |y: f32| Vec3::new(0.0, y, z);
                (height(first.at(Vec3::Y).y), height(second.at(-Vec3::Y).y))
            }
            Segment::Forearm => (first.at(Vec3::Y), {
                0.5 * (first.at(-Vec3::Y) + second.at(-Vec3::Y))
            }),
            _ => (first.at(Vec3::Y), first.at(-Vec3::Y)),
        };
        let axes = first.axes;
        let directions = [axes.x_axis, axes.z_axis];
        let mut section = Section {
            centre: top.lerp(end, t),
            directions,
        };
        // The axis may lie anywhere inside; the middle of the surface around it is the centre.
        for _ in 0..3 {
            let mut sum = Vec2::ZERO;
            let mut weights = 0.0;
            let radii: Vec<f32> = (0..RAYS)
                .map(|k| {
                    let direction =
                        Vec2::from_angle(k as f32 * std::f32::consts::TAU / RAYS as f32);
                    section.radius(surface, direction)
                })
                .collect();
            for (k, radius) in radii.iter().enumerate() {
                let direction = Vec2::from_angle(k as f32 * std::f32::consts::TAU / RAYS as f32);
                // Centroid of the sectors' triangles: area ½ r², at ⅔ r.
                sum += direction * radius.powi(3) * (2.0 / 3.0);
                weights += radius.powi(2);
            }
            if weights > 0.0 {
                let shift = sum / weights;
                let shift = if segment == Segment::Trunk {
                    Vec2::new(0.0, shift.y)
                } else {
                    shift
                };
                section.centre += directions[0] * shift.x + directions[1] * shift.y;
            }
        }
        Some(section)
    }

    fn direction(&self, direction: Vec2) -> Vec3 {
        self.directions[0] * direction.x + self.directions[1] * direction.y
    }

    /// Distance from the centre to the surface in a unit direction (lateral, forward) \[m\].
    pub fn radius(&self, surface: &Surface, direction: Vec2) -> f32 {
        let ray = Ray {
            origin: self.centre,
            direction: self.direction(direction),
        };
        surface.first_hit(ray, REACH).map_or(0.0, |hit| hit.t)
    }

    /// The place with the given coordinates (lateral, forward) in the section, whose edge is at length 1 \[m\].
    pub fn at(&self, surface: &Surface, place: Vec2) -> Vec3 {
        let length = place.length();
        if length < 1e-6 {
            return self.centre;
        }
        let direction = place / length;
        self.centre + self.direction(direction) * (length * self.radius(surface, direction))
    }
}
