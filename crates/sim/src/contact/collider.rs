//! Colliders: rigid bodies that the skin must not go through, either driven by targets or free to be pushed.

use glam::{Quat, Vec3};

use super::collider_shapes::Shape;
use crate::{Mode, Settings};

/// Pose of a shape: world from shape, without scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Rotation.
    pub rotation: Quat,
    /// Position of the shape's origin \[m\].
    pub translation: Vec3,
}

impl Default for Placement {
    fn default() -> Placement {
        Placement::at(Vec3::ZERO)
    }
}

impl Placement {
    /// Without rotation.
    pub fn at(translation: Vec3) -> Placement {
        Placement {
            rotation: Quat::IDENTITY,
            translation,
        }
    }

    /// World position of a point in the shape's frame.
    pub fn point(&self, point: Vec3) -> Vec3 {
        self.rotation * point + self.translation
    }

    /// Point in the shape's frame of a world position.
    pub fn local(&self, point: Vec3) -> Vec3 {
        self.rotation.conjugate() * (point - self.translation)
    }

    /// Interpolates to another placement.
    pub fn lerp(&self, to: &Placement, t: f32) -> Placement {
        if t >= 1.0 {
            return *to;
        }
        Placement {
            rotation: self.rotation.slerp(to.rotation, t),
            translation: self.translation.lerp(to.translation, t),
        }
    }

    /// Whether the translation is finite and the rotation is a unit quaternion.
    pub fn is_sound(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.rotation.is_normalized()
    }
}

/// A rigid body that the skin must not go through.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Its shape.
    pub shape: Shape,
    /// Pose at the end of the step; for a free collider, its initial pose.
    pub placement: Placement,
    /// Coulomb's coefficient against skin.
    pub friction: f32,
    /// What moves it.
    pub motion: Motion,
}

/// How a collider moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Motion {
    /// Driven: it follows its placement.
    #[default]
    Driven,
    /// Free: moved by its weight and by the skin it meets. It does not rotate.
    Free {
        /// Mass \[kg\].
        mass: f32,
        /// Initial velocity \[m/s\].
        velocity: Vec3,
        /// Acceleration by gravity or another uniform field \[m/s²\].
        acceleration: Vec3,
    },
}

impl Collider {
    /// A driven collider.
    pub fn driven(shape: Shape, placement: Placement) -> Collider {
        Collider {
            shape,
            placement,
            friction: 0.5,
            motion: Motion::Driven,
        }
    }

    /// A free collider that falls under gravity.
    pub fn falling(shape: Shape, placement: Placement, mass: f32) -> Collider {
        Collider {
            motion: Motion::Free {
                mass,
                velocity: Vec3::ZERO,
                acceleration: Vec3::NEG_Y * 9.81,
            },
            ..Collider::driven(shape, placement)
        }
    }

    /// Ground plane at a height \[m\].
    pub fn ground(height: f32) -> Collider {
        Collider::driven(Shape::Plane, Placement::at(Vec3::Y * height))
    }

    /// Whether all its numbers are valid.
    pub fn is_sound(&self) -> bool {
        let motion = match self.motion {
            Motion::Driven => true,
            Motion::Free {
                mass,
                velocity,
                acceleration,
            } => mass > 0.0 && mass.is_finite() && (velocity + acceleration).is_finite(),
        };
        let friction = self.friction.is_finite() && self.friction >= 0.0;
        self.shape.is_sound() && self.placement.is_sound() && friction && motion
    }
}

/// What a state stores about a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColliderState {
    /// Pose after the last step.
    pub placement: Placement,
    /// Velocity of a free one \[m/s\].
    pub velocity: Vec3,
}

impl ColliderState {
    /// State of a collider that is new.
    pub fn of(collider: &Collider) -> ColliderState {
        ColliderState {
            placement: collider.placement,
            velocity: match collider.motion {
                Motion::Driven => Vec3::ZERO,
                Motion::Free { velocity, .. } => velocity,
            },
        }
    }
}

/// A collider during a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Pose before the step.
    pub before: Placement,
    /// Pose after the step without contact.
    pub now: Placement,
    /// Displacement per force in this step \[m/N\]; zero for driven colliders.
    pub compliance: f32,
}

/// Poses of all colliders in a step.
pub fn place_colliders(
    colliders: &[Collider],
    last: &[ColliderState],
    settings: &Settings,
    placed: &mut Vec<Placed>,
) {
    let h = settings.step as f32;
    placed.clear();
    placed.extend(colliders.iter().enumerate().map(|(i, collider)| {
        let was = last.get(i).copied();
        let ColliderState {
            placement: before,
            velocity,
        } = was.unwrap_or(ColliderState::of(collider));
        match (collider.motion, settings.mode) {
            (Motion::Driven, _) => Placed {
                before,
                now: collider.placement,
                compliance: 0.0,
            },
            // Without inertia there is no falling.
            (Motion::Free { .. }, Mode::Static) => Placed {
                before,
                now: before,
                compliance: 0.0,
            },
            (
                Motion::Free {
                    mass, acceleration, ..
                },
                Mode::Dynamic,
            ) => Placed {
                before,
                now: Placement {
                    translation: before.translation + (velocity + acceleration * h) * h,
                    ..before
                },
                compliance: h * h / mass,
            },
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_rigid() {
        let placement = Placement {
            rotation: Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.1),
            translation: Vec3::new(1.0, -2.0, 0.5),
        };
        let p = Vec3::new(0.3, 0.2, -0.7);
        assert!(placement.local(placement.point(p)).abs_diff_eq(p, 1e-6));
        let half = Placement::default().lerp(&placement, 0.5);
        let turn = half.rotation.angle_between(Quat::IDENTITY);
        assert!((turn - 0.55).abs() < 1e-4);
        assert_eq!(half.translation, 0.5 * placement.translation);
    }

    #[test]
    fn invalid_colliders_are_rejected() {
        let ball = Collider::driven(Shape::Sphere { radius: 0.1 }, Placement::default());
        assert!(ball.is_sound());
        let mut bad = ball.clone();
        bad.placement.translation.y = f32::NAN;
        assert!(!bad.is_sound());
        let mut bad = ball.clone();
        bad.friction = -1.0;
        assert!(!bad.is_sound());
        for mass in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let free = Collider::falling(ball.shape.clone(), ball.placement, mass);
            assert!(!free.is_sound(), "{mass}");
        }
    }

    /// Free fall by implicit Euler: v = g h k, x = g h² k (k + 1) / 2.
    #[test]
    fn free_colliders_fall() {
        let settings = Settings::default();
        let colliders = [Collider::falling(Shape::Plane, Placement::default(), 2.0)];
        let mut last = vec![ColliderState::of(&colliders[0])];
        let mut placed = Vec::new();
        let h = settings.step as f32;
        for _ in 0..30 {
            place_colliders(&colliders, &last, &settings, &mut placed);
            let now = placed[0].now;
            last[0].velocity = (now.translation - last[0].placement.translation) / h;
            last[0].placement = now;
        }
        let expected = -9.81 * h * h * 30.0 * 31.0 / 2.0;
        assert!((last[0].placement.translation.y - expected).abs() < 1e-4);
        assert_eq!(placed[0].compliance, h * h / 2.0);
    }
}
