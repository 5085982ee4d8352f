//! Cameras: position, projection, and framing of a scene.

use glam::Vec3;

/// From the front, slightly from the side and above: the default view direction for a character that faces +Z.
pub const THREE_QUARTER: Vec3 = Vec3::new(0.55, 0.22, 1.0);
/// View direction from the front of a character that faces +Z.
pub const FRONT: Vec3 = Vec3::Z;
/// View direction from the character's left side.
pub const SIDE: Vec3 = Vec3::X;

/// An axis-aligned box; empty when `min > max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Minimum corner \[m\].
    pub min: Vec3,
    /// Maximum corner \[m\].
    pub max: Vec3,
}

impl Bounds {
    /// The empty box.
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// The box around the finite points.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> Self {
        let finite = points.into_iter().filter(|p| p.is_finite());
        finite.fold(Self::EMPTY, |b, &p| Self {
            min: b.min.min(p),
            max: b.max.max(p),
        })
    }

    /// The box around both.
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// Whether it contains no point.
    pub fn is_empty(&self) -> bool {
        !(self.min.cmple(self.max).all() && self.min.is_finite() && self.max.is_finite())
    }

    /// The centre; the origin for an empty box.
    pub fn centre(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            (self.min + self.max) * 0.5
        }
    }

    /// Half the diagonal; zero for an empty box.
    pub fn radius(&self) -> f32 {
        if self.is_empty() {
            0.0
        } else {
            (self.max - self.min).length() * 0.5
        }
    }

    fn corners(&self) -> [Vec3; 8] {
        let [a, b] = [self.min, self.max];
        std::array::from_fn(|i| {
            let pick = |bit: usize, lo: f32, hi: f32| if i & bit == 0 { lo } else { hi };
            Vec3::new(pick(1, a.x, b.x), pick(2, a.y, b.y), pick(4, a.z, b.z))
        })
    }
}

/// Projection of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// Perspective projection.
    Perspective {
        /// Vertical angle of view \[rad\].
        fov_y: f32,
    },
    /// Orthographic projection.
    Orthographic {
        /// Height of the view \[m\].
        height: f32,
    },
}

/// A camera that looks at a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position of the eye \[m\].
    pub eye: Vec3,
    /// The point at the centre of the picture \[m\].
    pub target: Vec3,
    /// Up direction of the picture.
    pub up: Vec3,
    /// Projection.
    pub lens: Lens,
    /// Distance of the near clipping plane \[m\].
    pub near: f32,
}

/// Angle of view of [`Camera::frame`]: narrow enough that a body keeps its proportions.
const FRAME_FOV: f32 = 0.42;
/// Fraction of the picture that [`Camera::frame`] fills.
const FRAME_FILL: f32 = 0.86;

impl Camera {
    /// A perspective camera with the vertical angle of view `fov_y` \[rad\].
    pub fn perspective(eye: Vec3, target: Vec3, fov_y: f32) -> Self {
        let near = ((target - eye).length() * 1e-3).max(1e-4);
        Self {
            eye,
            target,
            up: Vec3::Y,
            lens: Lens::Perspective { fov_y },
            near,
        }
    }

    /// An orthographic camera with a view of the given `height` \[m\].
    pub fn orthographic(eye: Vec3, target: Vec3, height: f32) -> Self {
        Self {
            eye,
            target,
            up: Vec3::Y,
            lens: Lens::Orthographic { height },
            near: 0.0,
        }
    }

    /// A perspective camera that shows the whole box from `direction` (from the box to the eye), for a picture with
    /// the given `aspect` ratio (width / height).
    pub fn frame(bounds: Bounds, direction: Vec3, aspect: f32) -> Self {
        Self::fit(
            &bounds.corners(),
            direction,
            aspect,
            Lens::Perspective { fov_y: FRAME_FOV },
            FRAME_FILL,
        )
    }

    /// Like [`Camera::frame`], with orthographic projection.
    pub fn frame_orthographic(bounds: Bounds, direction: Vec3, aspect: f32) -> Self {
        Self::fit(
            &bounds.corners(),
            direction,
            aspect,
            Lens::Orthographic { height: 1.0 },
            FRAME_FILL,
        )
    }

    /// Frames the finite points themselves, tighter than their bounding box. `fill` is the fraction of the picture they span;
    /// the height of an orthographic lens is computed.
    pub fn fit(points: &[Vec3], direction: Vec3, aspect: f32, lens: Lens, fill: f32) -> Self {
        let points: Vec<Vec3> = points.iter().copied().filter(|p| p.is_finite()).collect();
        let bounds = Bounds::of(&points);
        let radius = bounds.radius().max(1e-3);
        let back = direction.try_normalize().unwrap_or(Vec3::Z);
        let aspect = if aspect.is_finite() && aspect > 0.0 {
            aspect
        } else {
            1.0
        };
        let mut camera = Self {
            eye: Vec3::ZERO,
            target: bounds.centre(),
            up: Vec3::Y,
            lens,
            near: radius * 1e-3,
        };
        let mut distance = radius * 4.0;
        if let Lens::Perspective { fov_y } = lens {
            distance = radius / (fov_y * 0.5 * fill).tan().clamp(1e-3, 1e3);
        }
        // Each iteration centres the projected points and sets the distance. The
        // centre depends only weakly on the distance, so a few iterations converge.
        for _ in 0..6 {
            camera.eye = camera.target + back * distance;
            let view = View::new(&camera, 2.0 * aspect, 2.0);
            let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            for &point in &points {
                let v = view.view_from_world(point);
                let flat = if view.perspective {
                    v / v.z.max(radius * 1e-2)
                } else {
                    v
                };
                low = low.min(flat);
                high = high.max(flat);
            }
            if points.is_empty() {
                break;
            }
            let unit = if view.perspective { distance } else { 1.0 };
            let middle = (low + high) * 0.5 * unit;
            camera.target += view.right * middle.x + view.up * middle.y;
            let half = ((high.x - low.x) / aspect).max(high.y - low.y).max(1e-6) * 0.5 / fill;
            match &mut camera.lens {
                Lens::Perspective { fov_y } => {
                    distance = (distance * half / (*fov_y * 0.5).tan()).max(radius * 1.02);
                }
                Lens::Orthographic { height } => *height = half * 2.0,
            }
        }
        camera.eye = camera.target + back * distance;
        camera
    }
}

/// A camera prepared for one picture size. View space: x right, y up, z forward.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub eye: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    pub forward: Vec3,
    pub perspective: bool,
    pub near: f32,
    /// Pixels per metre (orthographic) or per unit of slope (perspective).
    scale: f32,
    half: [f32; 2],
}

/// A projected point: pixel position, a depth that increases towards the eye and is linear in screen space, and the weight
/// for perspective-correct interpolation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Projected {
    pub x: f32,
    pub y: f32,
    pub nearness: f32,
    pub weight: f32,
}

impl View {
    pub fn new(camera: &Camera, width: f32, height: f32) -> Self {
        let forward = (camera.target - camera.eye)
            .try_normalize()
            .unwrap_or(Vec3::NEG_Z);
        let right = forward
            .cross(camera.up)
            .try_normalize()
            .unwrap_or_else(|| forward.any_orthonormal_vector());
        let (perspective, scale) = match camera.lens {
            Lens::Perspective { fov_y } => {
                (true, 0.5 * height / (fov_y * 0.5).clamp(1e-3, 1.5).tan())
            }
            Lens::Orthographic { height: span } => (false, height / span.max(1e-9)),
        };
        let near = if perspective {
            camera.near.max(1e-6)
        } else {
            camera.near
        };
        let up = right.cross(forward);
        Self {
            eye: camera.eye,
            right,
            up,
            forward,
            perspective,
            near,
            scale,
            half: [width * 0.5, height * 0.5],
        }
    }

    pub fn view_from_world(&self, point: Vec3) -> Vec3 {
        let d = point - self.eye;
        Vec3::new(d.dot(self.right), d.dot(self.up), d.dot(self.forward))
    }

    pub fn project(&self, v: Vec3) -> Projected {
        let weight = if self.perspective { 1.0 / v.z } else { 1.0 };
        Projected {
            x: self.half[0] + self.scale * v.x * weight,
            y: self.half[1] - self.scale * v.y * weight,
            nearness: if self.perspective { weight } else { -v.z },
            weight,
        }
    }

    /// Origin and unit direction of the ray through a pixel position.
    pub fn ray(&self, x: f32, y: f32) -> (Vec3, Vec3) {
        let offset = (self.right * (x - self.half[0]) + self.up * (self.half[1] - y)) / self.scale;
        if self.perspective {
            (self.eye, (self.forward + offset).normalize())
        } else {
            (self.eye + offset, self.forward)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_fits_every_corner_to_the_margin() {
        let bounds = Bounds {
            min: Vec3::new(-0.3, 0.0, -0.2),
            max: Vec3::new(0.5, 1.8, 0.4),
        };
        for direction in [
            THREE_QUARTER,
            FRONT,
            SIDE,
            Vec3::Y,
            Vec3::new(-1.0, 2.0, -0.3),
        ] {
            for aspect in [0.4, 1.0, 2.5] {
                for camera in [
                    Camera::frame(bounds, direction, aspect),
                    Camera::frame_orthographic(bounds, direction, aspect),
                ] {
                    let view = View::new(&camera, 2.0 * aspect, 2.0);
                    let reach = bounds.corners().map(|c| {
                        let p = view.project(view.view_from_world(c));
                        (p.x / aspect - 1.0).abs().max((p.y - 1.0).abs())
                    });
                    let most = reach.into_iter().fold(0.0, f32::max);
                    assert!(
                        (most - FRAME_FILL).abs() < 0.02,
                        "{direction} {aspect}: {most}"
                    );
                }
            }
        }
    }

    #[test]
    fn rays_pass_through_projected_points() {
        let eye = Vec3::new(1.0, 2.0, 5.0);
        for camera in [
            Camera::perspective(eye, Vec3::ZERO, 0.6),
            Camera::orthographic(eye, Vec3::ZERO, 3.0),
        ] {
            let view = View::new(&camera, 300.0, 200.0);
            let point = Vec3::new(0.3, -0.4, 0.2);
            let p = view.project(view.view_from_world(point));
            let (origin, direction) = view.ray(p.x, p.y);
            assert!((point - origin).cross(direction).length() < 1e-5);
        }
    }

    #[test]
    fn empty_and_flat_boxes_give_finite_cameras() {
        let flat = Bounds {
            min: Vec3::ONE,
            max: Vec3::ONE,
        };
        for bounds in [Bounds::EMPTY, flat] {
            assert!(Camera::frame(bounds, Vec3::ZERO, f32::NAN).eye.is_finite());
        }
    }
}
