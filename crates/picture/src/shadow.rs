//! Shadow maps (Williams 1978) with bilinear comparison (Reeves et al. 1987).

use glam::Vec3;

use crate::prepare::Prepared;
use crate::raster::{Rect, scan, snap};

/// Depth map of a directional light: heights of the nearest surfaces towards it.
pub(crate) struct DepthMap {
    /// Unit direction towards the light.
    pub direction: Vec3,
    u: Vec3,
    v: Vec3,
    centre: Vec3,
    /// Texels per metre.
    scale: f32,
    size: usize,
    heights: Vec<f32>,
}

impl DepthMap {
    /// Renders the meshes as seen by the light; the map covers the ball around `centre`.
    pub fn new(
        direction: Vec3,
        centre: Vec3,
        radius: f32,
        size: usize,
        casters: &[&Prepared],
    ) -> Self {
        let (u, v) = direction.any_orthonormal_pair();
        let scale = size as f32 * 0.5 / radius.max(1e-6);
        let mut map = Self {
            direction,
            u,
            v,
            centre,
            scale,
            size,
            heights: vec![f32::NEG_INFINITY; size * size],
        };
        let rect = Rect {
            x0: 0,
            y0: 0,
            x1: size,
            y1: size,
        };
        let mut corners = Vec::new();
        for mesh in casters {
            corners.clear();
            corners.extend(mesh.positions.iter().map(|&p| map.place(p)));
            for triangle in &mesh.triangles {
                let c = triangle.map(|i| corners[i as usize]);
                let heights = Vec3::new(c[0].z, c[1].z, c[2].z);
                scan(c.map(|p| snap(p.x, p.y)), rect, |x, y, b| {
                    let texel = &mut map.heights[y * size + x];
                    *texel = texel.max(b.dot(heights));
                });
            }
        }
        map
    }

    /// Size of a texel \[m\].
    pub fn texel(&self) -> f32 {
        1.0 / self.scale
    }

    /// Position in the map, and height towards the light \[m\].
    fn place(&self, point: Vec3) -> Vec3 {
        let d = point - self.centre;
        let half = self.size as f32 * 0.5;
        Vec3::new(
            half + d.dot(self.u) * self.scale,
            half + d.dot(self.v) * self.scale,
            d.dot(self.direction),
        )
    }

    /// 1 if `point` is lit according to the nearest texel, else 0; `bias` is in metres.
    pub fn lit(&self, point: Vec3, bias: f32) -> f32 {
        let p = self.place(point);
        if !(p.x >= 0.0 && p.y >= 0.0) {
            return 1.0;
        }
        self.compare(p.x as usize, p.y as usize, p.z + bias)
    }

    /// Like [`DepthMap::lit`], interpolated over the four nearest texels.
    pub fn lit_smooth(&self, point: Vec3, bias: f32) -> f32 {
        let p = self.place(point);
        let (x, y, height) = (p.x - 0.5, p.y - 0.5, p.z + bias);
        if !(x >= 0.0 && y >= 0.0) {
            return 1.0;
        }
        let (i, j) = (x as usize, y as usize);
        let (s, t) = (x - i as f32, y - j as f32);
        let top = self.compare(i, j, height) * (1.0 - s) + self.compare(i + 1, j, height) * s;
        let bottom =
            self.compare(i, j + 1, height) * (1.0 - s) + self.compare(i + 1, j + 1, height) * s;
        top * (1.0 - t) + bottom * t
    }

    fn compare(&self, x: usize, y: usize, height: f32) -> f32 {
        if x >= self.size || y >= self.size || self.heights[y * self.size + x] <= height {
            1.0
        } else {
            0.0
        }
    }
}
