//! Contacts between skin and colliders.
//!
//! Every free skin point is tested against every collider at the end of the step. A point that moves far relative to a
//! collider in one step is traced by conservative advancement (advances as long as the remaining distance), so that
//! neither passes through the other; the first point of contact is its foot.
//!
//! Colliders with a mass are also stopped by rigid parts: skin that is not simulated, and the bones.

use glam::Vec3;
use rayon::prelude::*;

use super::collider::{Collider, Placed, Placement};
use super::collider_shapes::{Near, Shape};
use super::external::External;
use super::rows::NONE;
use super::rules;
use super::surface::{ContactSurface, Source};

/// Body indices of colliders start here; those of other external contacts are below.
pub const FIRST_COLLIDER: u32 = 1 << 31;
/// Points per task.
const CHUNK: usize = 256;

/// The skin before and after a step, and the bones below it.
#[derive(Clone, Copy)]
pub struct Skin<'a> {
    /// The contact surface.
    pub surface: &'a ContactSurface,
    /// Number of free vertices of the model.
    pub free: usize,
    /// Skin points where the iterations start \[m\].
    pub now: &'a [Vec3],
    /// Skin points before the step \[m\].
    pub before: &'a [Vec3],
    /// Base points \[m\].
    pub bases: &'a [Vec3],
    /// Base points before the step \[m\].
    pub bases_before: &'a [Vec3],
}

/// The part of a skin point's column that touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Skin,
    /// The base point on the bone. It stops colliders with a mass that have pressed the tissue flat.
    Bone,
}

/// Appends a contact for every skin point that touches a collider, or is close to it. `slots` is scratch memory.
pub fn collide(
    skin: &Skin,
    colliders: &[Collider],
    placed: &[Placed],
    slots: &mut Vec<Option<External>>,
    found: &mut Vec<External>,
) {
    slots.resize(skin.surface.point_count(), None);
    for (number, (collider, placed)) in colliders.iter().zip(placed).enumerate() {
        let bounds = swept_bounds(&collider.shape, placed, skin.surface.shell());
        for layer in [Layer::Skin, Layer::Bone] {
            if layer == Layer::Bone && placed.compliance == 0.0 {
                continue;
            }
            slots
                .par_chunks_mut(CHUNK)
                .enumerate()
                .for_each(|(chunk, slots)| {
                    for (i, slot) in slots.iter_mut().enumerate() {
                        let point = chunk * CHUNK + i;
                        *slot = touch(skin, layer, collider, placed, &bounds, point);
                    }
                });
            found.extend(slots.iter().flatten().map(|&contact| External {
                body: FIRST_COLLIDER + number as u32,
                ..contact
            }));
        }
    }
}

fn touch(
    skin: &Skin,
    layer: Layer,
    collider: &Collider,
    placed: &Placed,
    (low, high): &(Vec3, Vec3),
    point: usize,
) -> Option<External> {
    let (before, now) = match layer {
        Layer::Skin => (skin.before[point], skin.now[point]),
        Layer::Bone => (*skin.bases_before.get(point)?, *skin.bases.get(point)?),
    };
    let is_apart = before.max(now).cmplt(*low) | before.min(now).cmpgt(*high);
    if is_apart.any() {
        return None;
    }
    let input = skin.surface.input();
    let vertex = match input.sources[point] {
        Source::Vertex(v) if layer == Layer::Skin && (v as usize) < skin.free => Some(v),
        _ if placed.compliance > 0.0 => None,
        _ => return None,
    };
    let normal = skin_normal(skin, point);
    let path = Path {
        from: placed.before.local(before),
        to: placed.now.local(now),
        out: placed.now.rotation.conjugate() * -normal,
        reach: skin.surface.shell(),
        trace_from: rules::TRACED_DISTANCE * input.skin[point].distance(input.bases[point]),
    };
    let near = path.contact(&collider.shape)?;
    let out = placed.now.rotation * near.normal;
    // A point that came in on one side goes out on that side.
    if out.dot(normal) > rules::FACING_COSINE {
        return None;
    }
    let foot = near.foot + near.normal * skin.surface.gap();
    let (foot_before, foot) = (placed.before.point(foot), placed.now.point(foot));
    Some(match vertex {
        Some(vertex) => External {
            foot_before,
            friction: collider.friction,
            ..External::vertex(vertex, out, foot)
        },
        // The point is not free: it is part of the constant.
        None => External {
            vertices: [NONE, point as u32, layer as u32],
            weights: [0.0; 3],
            normal: out,
            foot: foot - now,
            foot_before: foot_before - before,
            friction: collider.friction,
            body: 0,
        },
    })
}

fn skin_normal(skin: &Skin, point: usize) -> Vec3 {
    let fan = skin.surface.triangles_at(point as u32);
    let face = |t: u32| {
        let [a, b, c] = skin.surface.triangles()[t as usize].map(|v| skin.now[v as usize]);
        (b - a).cross(c - a)
    };
    fan.map(face).sum::<Vec3>().normalize_or(Vec3::Y)
}

/// Box around a shape at the start and the end of the step, grown by `reach` \[m\].
fn swept_bounds(shape: &Shape, placed: &Placed, reach: f32) -> (Vec3, Vec3) {
    let (middle, half) = shape.bounds();
    if !half.is_finite() {
        return (Vec3::NEG_INFINITY, Vec3::INFINITY);
    }
    let around = |placement: &Placement| {
        let turn = glam::Mat3::from_quat(placement.rotation);
        let size =
            turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
        let centre = placement.point(middle);
        (centre - size - reach, centre + size + reach)
    };
    let (a, b) = (around(&placed.before), around(&placed.now));
    (a.0.min(b.0), a.1.max(b.1))
}

/// Path of a point in the frame of a shape.
struct Path {
    from: Vec3,
    to: Vec3,
    /// Fallback normal, for points where the nearest surface point is not unique.
    out: Vec3,
    /// Distance at which a contact is detected \[m\].
    reach: f32,
    /// Longer paths are traced \[m\].
    trace_from: f32,
}

impl Path {
    /// Point of contact with a shape: at the end of the path, unless the path entered through another side.
    fn contact(&self, shape: &Shape) -> Option<Near> {
        let end = shape.nearest(self.to, self.out, self.reach);
        if self.from.distance(self.to) <= self.trace_from {
            return end;
        }
        let entry = self.first_touch(shape);
        match (end, entry) {
            (Some(end), Some(entry)) if end.normal.dot(entry.normal) > rules::FACING_COSINE => {
                Some(end)
            }
            (_, Some(entry)) => Some(entry),
            (end, None) => end,
        }
    }

    fn first_touch(&self, shape: &Shape) -> Option<Near> {
        let length = self.from.distance(self.to);
        let mut t = 0.0;
        for _ in 0..rules::MAX_ADVANCES {
            let near = shape.nearest(self.from.lerp(self.to, t), self.out, f32::INFINITY)?;
            // Half of the reach, so that the last advances are not endlessly small.
            if near.distance <= 0.5 * self.reach {
                return Some(near);
            }
            t += near.distance / length;
            if t >= 1.0 {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(from: Vec3, to: Vec3) -> Path {
        Path {
            from,
            to,
            out: Vec3::X,
            reach: 0.005,
            trace_from: 0.05,
        }
    }

    #[test]
    fn a_fast_point_hits_the_collider_on_its_path() {
        let ball = Shape::Sphere { radius: 0.1 };
        let through = path(Vec3::new(-1.0, 0.02, 0.0), Vec3::new(1.0, 0.02, 0.0));
        let near = through.contact(&ball).expect("met");
        assert!(near.normal.x < -0.9, "{near:?}");
        assert!((near.distance).abs() <= 0.005);
        let beside = path(Vec3::new(-1.0, 0.2, 0.0), Vec3::new(1.0, 0.2, 0.0));
        assert!(beside.contact(&ball).is_none());
        // Past the centre: pushed out on the side it came from.
        let inside = path(Vec3::new(-1.0, 0.0, 0.0), Vec3::new(0.05, 0.0, 0.0));
        assert!(inside.contact(&ball).expect("met").normal.x < -0.9);
        // A short path is not traced.
        let short = path(Vec3::new(0.06, 0.0, 0.0), Vec3::new(0.08, 0.0, 0.0));
        let near = short.contact(&ball).expect("inside");
        assert!((near.distance + 0.02).abs() < 1e-6 && near.normal.x > 0.99);
    }

    #[test]
    fn boxes_follow_a_turned_shape() {
        let half = Vec3::new(0.1, 0.2, 0.3);
        let placement = Placement {
            rotation: glam::Quat::from_rotation_y(std::f32::consts::FRAC_PI_2),
            translation: Vec3::X,
        };
        let placed = Placed {
            before: Placement::default(),
            now: placement,
            compliance: 0.0,
        };
        let (low, high) = swept_bounds(&Shape::Box { half }, &placed, 0.0);
        assert!(low.abs_diff_eq(Vec3::new(-0.1, -0.2, -0.3), 1e-6), "{low}");
        assert!(high.abs_diff_eq(Vec3::new(1.3, 0.2, 0.3), 1e-6), "{high}");
    }
}
