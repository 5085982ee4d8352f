//! Line segments with a width in pixels, clipped at the near plane.

use glam::{Vec2, Vec3};

use crate::camera::View;
use crate::colour::to_linear;
use crate::scene::Line;

/// A projected line; positions in samples.
pub(crate) struct ScreenLine {
    a: Vec2,
    b: Vec2,
    nearness: [f32; 2],
    half_width: f32,
    pub colour: Vec3,
    pub on_top: bool,
}

/// Depth offset of a line towards the eye, relative to its distance, so that it is visible on a surface.
const DEPTH_OFFSET: f32 = 2e-3;

/// Projects a line; `None` if it is behind the near plane or not finite.
pub(crate) fn project_line(line: &Line, view: &View, scale: f32) -> Option<ScreenLine> {
    let (mut p, mut q) = (
        view.view_from_world(line.from),
        view.view_from_world(line.to),
    );
    if !(p.is_finite() && q.is_finite() && line.width > 0.0) || p.z.max(q.z) < view.near {
        return None;
    }
    let cut =
        |inner: Vec3, outer: Vec3| inner.lerp(outer, (inner.z - view.near) / (inner.z - outer.z));
    if p.z < view.near {
        p = cut(q, p);
    } else if q.z < view.near {
        q = cut(p, q);
    }
    let lift = |v: Vec3| {
        view.project(Vec3::new(v.x, v.y, v.z - DEPTH_OFFSET * v.z.abs()))
            .nearness
    };
    let place = |v: Vec3| Vec2::new(view.project(v).x, view.project(v).y) * scale;
    let (a, b) = (place(p), place(q));
    (a.is_finite() && b.is_finite()).then(|| ScreenLine {
        a,
        b,
        nearness: [lift(p), lift(q)],
        half_width: line.width * scale * 0.5,
        colour: to_linear(line.colour),
        on_top: line.on_top,
    })
}

impl ScreenLine {
    /// Bounding box in samples.
    pub fn bounds(&self) -> (Vec2, Vec2) {
        (
            self.a.min(self.b) - self.half_width,
            self.a.max(self.b) + self.half_width,
        )
    }

    /// The line's depth at a sample, if it covers the sample.
    pub fn covers(&self, sample: Vec2) -> Option<f32> {
        let along = self.b - self.a;
        let t = ((sample - self.a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
        let inside =
            sample.distance_squared(self.a + along * t) <= self.half_width * self.half_width;
        inside.then(|| self.nearness[0] + (self.nearness[1] - self.nearness[0]) * t)
    }
}
