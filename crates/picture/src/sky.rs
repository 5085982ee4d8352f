//! Studio lighting: lamp directions, and the sky and key light that reaches vertices and ground.
//!
//! Occlusion is computed from one depth map per sampled sky direction.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::camera::{Bounds, View};
use crate::prepare::Prepared;
use crate::scene::{Ground, Quality};
use crate::shadow::DepthMap;

/// Resolution of a sky depth map: 1 cm on an adult body, finer than visible creases.
const SKY_MAP: usize = 224;
/// Resolution of a key light depth map.
const KEY_MAP: usize = 640;
/// Resolution of the ground light map.
const GROUND_MAP: usize = 256;
/// Half-angle of the key light \[rad\]: a large soft box a few metres away.
const KEY_SPREAD: f32 = 0.085;

/// Sky radiance at the zenith and the horizon, and light reflected by a bright floor.
const ZENITH: Vec3 = Vec3::new(0.40, 0.42, 0.46);
const HORIZON: Vec3 = Vec3::new(0.33, 0.335, 0.35);
const BOUNCE: Vec3 = Vec3::new(0.17, 0.155, 0.14);
/// Fraction of key light in the light on unshadowed ground.
const GROUND_KEY: f32 = 0.42;

/// Lamp directions. They turn with the camera about the vertical, so every view is well lit.
pub(crate) struct Lamps {
    pub key: Vec3,
    pub fill: Vec3,
    pub rim: Vec3,
}

impl Lamps {
    pub fn new(view: &View) -> Self {
        let back = (-view.forward)
            .with_y(0.0)
            .try_normalize()
            .unwrap_or(Vec3::Z);
        let right = Vec3::Y.cross(back);
        let place = |r: f32, u: f32, b: f32| (right * r + Vec3::Y * u + back * b).normalize();
        Self {
            key: place(-0.62, 0.95, 0.62),
            fill: place(0.95, 0.25, 0.55),
            rim: place(0.75, 0.55, -0.85),
        }
    }
}

/// Key light depth maps and the ground's light map.
pub(crate) struct Studio {
    pub lamps: Lamps,
    key: Vec<DepthMap>,
    pub ground: Option<GroundLight>,
}

/// Fraction of the unoccluded light that each point of the ground receives.
pub(crate) struct GroundLight {
    pub height: f32,
    pub grid: Option<f32>,
    pub centre: Vec2,
    /// Half the size of the map \[m\].
    pub half: f32,
    shadow: f32,
    light: Vec<f32>,
}

/// `n` evenly spread directions of the upper hemisphere (Fibonacci lattice).
fn sky_directions(n: usize) -> Vec<Vec3> {
    let golden = std::f32::consts::PI * (3.0 - 5.0_f32.sqrt());
    let direction = |i: usize| {
        let y = (i as f32 + 0.5) / n as f32;
        let (sin, cos) = (i as f32 * golden).sin_cos();
        let flat = (1.0 - y * y).sqrt();
        Vec3::new(cos * flat, y, sin * flat)
    };
    (0..n).map(direction).collect()
}

/// `n` directions in a cone about `axis` (Vogel's spiral).
fn cone_directions(axis: Vec3, n: usize) -> Vec<Vec3> {
    let golden = std::f32::consts::PI * (3.0 - 5.0_f32.sqrt());
    let (u, v) = axis.any_orthonormal_pair();
    let direction = |i: usize| {
        let radius = ((i as f32 + 0.5) / n as f32).sqrt() * KEY_SPREAD;
        let (sin, cos) = (i as f32 * golden).sin_cos();
        (axis + (u * cos + v * sin) * radius).normalize()
    };
    (0..n).map(direction).collect()
}

impl Studio {
    /// Computes the lighting; stores the sky light in the meshes.
    pub fn new(
        view: &View,
        meshes: &mut [Prepared],
        ground: Option<&Ground>,
        quality: Quality,
    ) -> Self {
        let lamps = Lamps::new(view);
        let casters: Vec<&Prepared> = meshes
            .iter()
            .filter(|m| m.source.casts_shadow && !m.source.on_top && !m.triangles.is_empty())
            .collect();
        let used = |m: &Prepared| {
            Bounds::of(
                m.triangles
                    .iter()
                    .flatten()
                    .map(|&i| &m.positions[i as usize]),
            )
        };
        let bounds = casters.iter().fold(Bounds::EMPTY, |b, m| b.union(used(m)));
        let maps = |directions: Vec<Vec3>, size: usize| -> Vec<DepthMap> {
            if bounds.is_empty() {
                return Vec::new();
            }
            let (centre, radius) = (bounds.centre(), bounds.radius() * 1.01);
            directions
                .into_par_iter()
                .map(|d| DepthMap::new(d, centre, radius, size, &casters))
                .collect()
        };
        let sky = maps(sky_directions(quality.sky), SKY_MAP);
        let key = maps(cone_directions(lamps.key, quality.key), KEY_MAP);
        let ground = ground.map(|g| GroundLight::new(g, bounds, &sky, &key));
        for mesh in meshes {
            let maps: &[DepthMap] = if mesh.source.on_top { &[] } else { &sky };
            mesh.sky = [1.0, -1.0].map(|side| {
                let vertices = mesh.positions.par_iter().zip(&mesh.normals);
                match side > 0.0 || mesh.source.double_sided {
                    true => vertices
                        .map(|(&p, &n)| sky_light(p, n * side, maps))
                        .collect(),
                    false => Vec::new(),
                }
            });
        }
        Self { lamps, key, ground }
    }

    /// Fraction of the key light that reaches a point with this normal.
    pub fn key_light(&self, point: Vec3, normal: Vec3) -> f32 {
        let Some(first) = self.key.first() else {
            return 1.0;
        };
        let point = point + normal * first.texel() * 1.5;
        let lit: f32 = self
            .key
            .iter()
            .map(|map| map.lit_smooth(point, map.texel()))
            .sum();
        lit / self.key.len() as f32
    }
}

/// Light from sky and floor at a point.
fn sky_light(point: Vec3, normal: Vec3, maps: &[DepthMap]) -> Vec3 {
    let open = HORIZON.lerp(ZENITH, 0.5 + 0.5 * normal.y) * (0.5 + 0.5 * normal.y);
    let bounce = BOUNCE * (0.5 - 0.5 * normal.y);
    let (mut seen, mut all) = (0.0, 1e-6);
    for map in maps {
        // Wrapped, because interpolated normals of coarse meshes extend past the horizon.
        let cos = normal.dot(map.direction).max(0.0) + 0.02;
        all += cos;
        seen += cos * map.lit(point + normal * map.texel(), map.texel());
    }
    let visible = if maps.is_empty() { 1.0 } else { seen / all };
    open * visible + bounce * (0.35 + 0.65 * visible)
}

impl GroundLight {
    fn new(ground: &Ground, bounds: Bounds, sky: &[DepthMap], key: &[DepthMap]) -> Self {
        let floor = if bounds.is_empty() { 0.0 } else { bounds.min.y };
        let height = ground.height.filter(|h| h.is_finite()).unwrap_or(floor);
        let size = if bounds.is_empty() {
            Vec3::ONE
        } else {
            bounds.max - bounds.min
        };
        let centre = Vec2::new(bounds.centre().x, bounds.centre().z);
        let half = size.x.max(size.z) * 0.5 + size.y * 0.8 + 1e-3;
        let mut light = Self {
            height,
            grid: ground.grid,
            centre,
            half,
            shadow: ground.shadow,
            light: Vec::new(),
        };
        if !(sky.is_empty() && key.is_empty()) {
            let texels = (0..GROUND_MAP * GROUND_MAP).into_par_iter();
            light.light = texels
                .map(|i| received(light.texel_centre(i), sky, key))
                .collect();
            light.soften();
        }
        light
    }

    fn texel_centre(&self, i: usize) -> Vec3 {
        let at = |k: usize| ((k as f32 + 0.5) / GROUND_MAP as f32 * 2.0 - 1.0) * self.half;
        Vec3::new(
            self.centre.x + at(i % GROUND_MAP),
            self.height,
            self.centre.y + at(i / GROUND_MAP),
        )
    }

    /// A 3 × 3 box filter, which hides steps between sky directions.
    fn soften(&mut self) {
        let old = std::mem::take(&mut self.light);
        let last = GROUND_MAP - 1;
        let mean = |i: usize| {
            let (x, y) = (i % GROUND_MAP, i / GROUND_MAP);
            let row = |y: usize| {
                let y = y.min(last) * GROUND_MAP;
                old[y + x.saturating_sub(1)] + 2.0 * old[y + x] + old[y + (x + 1).min(last)]
            };
            (row(y.saturating_sub(1)) + 2.0 * row(y) + row(y + 1)) / 16.0
        };
        self.light = (0..GROUND_MAP * GROUND_MAP)
            .into_par_iter()
            .map(mean)
            .collect();
    }

    /// Fraction of the light that a ground point receives; 1 far away.
    pub fn at(&self, x: f32, z: f32) -> f32 {
        let offset = (Vec2::new(x, z) - self.centre) / self.half;
        let place = (offset * 0.5 + 0.5) * GROUND_MAP as f32 - 0.5;
        if self.light.is_empty()
            || !(place.min_element() >= 0.0 && place.max_element() < (GROUND_MAP - 1) as f32)
        {
            return 1.0;
        }
        let (i, j) = (place.x as usize, place.y as usize);
        let t = place - place.floor();
        let row = |j: usize| {
            let k = j * GROUND_MAP + i;
            self.light[k] * (1.0 - t.x) + self.light[k + 1] * t.x
        };
        let light = row(j) * (1.0 - t.y) + row(j + 1) * t.y;
        // Fade out towards the map's border, which long shadows reach.
        let fade = ((1.0 - offset.length()) * 2.5).clamp(0.0, 1.0);
        1.0 - (1.0 - light) * self.shadow * fade * fade * (3.0 - 2.0 * fade)
    }
}

/// Fraction of the unoccluded light that a ground point receives.
fn received(point: Vec3, sky: &[DepthMap], key: &[DepthMap]) -> f32 {
    let (mut seen, mut all) = (0.0, 0.0);
    for map in sky {
        all += map.direction.y;
        seen += map.direction.y * map.lit_smooth(point, map.texel() * 0.5);
    }
    let blocked = if all > 0.0 { 1.0 - seen / all } else { 0.0 };
    // Suppresses faint shadows of single sky directions, whose outlines would be visible.
    let sky_part = 1.0 - blocked * blocked / (blocked + 0.05);
    let lit: f32 = key
        .iter()
        .map(|map| map.lit_smooth(point, map.texel() * 0.5))
        .sum();
    let key_part = if key.is_empty() {
        1.0
    } else {
        lit / key.len() as f32
    };
    GROUND_KEY * key_part + (1.0 - GROUND_KEY) * sky_part
}
