//! Surface shading: soft diffuse light with a warm terminator, a broad highlight and a rim light.

use glam::{Vec2, Vec3};

use crate::camera::View;
use crate::prepare::{Paint, Prepared};
use crate::raster::ScreenTriangle;
use crate::sky::Studio;

const KEY: Vec3 = Vec3::new(1.02, 0.97, 0.90);
const FILL: Vec3 = Vec3::new(0.10, 0.115, 0.14);
const RIM: Vec3 = Vec3::new(0.62, 0.64, 0.68);
/// Wrap lighting per colour channel: red wraps most, as in skin. Above 0.3 forms look flat.
const WRAP: Vec3 = Vec3::new(0.22, 0.12, 0.09);

/// Linear colour of a triangle at the given screen barycentrics.
pub(crate) fn shade(
    mesh: &Prepared,
    triangle: &ScreenTriangle,
    screen: Vec3,
    view: &View,
    studio: &Studio,
) -> Vec3 {
    let b = triangle.barycentrics(screen);
    let corners = mesh.triangles[triangle.triangle as usize];
    let mix = |values: &[Vec3]| {
        let [p, q, r] = corners.map(|i| values[i as usize]);
        p * b.x + q * b.y + r * b.z
    };
    let point = mix(mesh.positions);
    let to_eye = if view.perspective {
        (view.eye - point).normalize_or_zero()
    } else {
        -view.forward
    };
    let (side, sky) = match triangle.front {
        true => (1.0, &mesh.sky[0]),
        false => (-1.0, &mesh.sky[1]),
    };
    let normal = mix(&mesh.normals)
        .try_normalize()
        .map_or(to_eye, |n| n * side);
    let albedo = match &mesh.paint {
        Paint::Uniform(colour) => *colour,
        Paint::Vertices(colours) => mix(colours),
        Paint::Textured { texture, .. } => {
            let (uv, lod) = texture_place(mesh, triangle, b).unwrap_or_default();
            texture.sample(uv, lod).0
        }
    };
    let albedo = match &mesh.tint {
        Some([colours, strengths]) => albedo.lerp(mix(colours), mix(strengths).x),
        None => albedo,
    };
    let key = if mesh.source.on_top {
        1.0
    } else {
        key_light(point, normal, studio)
    };
    let light = lit(
        normal,
        to_eye,
        mix(sky),
        key,
        mesh.source.gloss,
        albedo,
        studio,
    );
    tone_map(light)
}

fn key_light(point: Vec3, normal: Vec3, studio: &Studio) -> f32 {
    let facing = normal.dot(studio.lamps.key);
    if facing < -WRAP.x {
        0.0
    } else {
        studio.key_light(point, normal)
    }
}

fn lit(
    normal: Vec3,
    to_eye: Vec3,
    sky: Vec3,
    key: f32,
    gloss: f32,
    albedo: Vec3,
    studio: &Studio,
) -> Vec3 {
    let lamps = &studio.lamps;
    let wrapped = (Vec3::splat(normal.dot(lamps.key)) + WRAP).max(Vec3::ZERO) / (Vec3::ONE + WRAP);
    let openness = (sky.y * 2.6).min(1.0);
    let diffuse = KEY * wrapped * key + FILL * normal.dot(lamps.fill).max(0.0) * openness + sky;
    // Schlick's Fresnel term: edges reflect more rim light.
    let grazing = (1.0 - normal.dot(to_eye).clamp(0.0, 1.0)).powi(4);
    let rim = RIM * (normal.dot(lamps.rim).max(0.0) * grazing * openness * 0.55);
    let half = (lamps.key + to_eye).normalize_or_zero();
    let highlight = normal.dot(half).max(0.0).powi(22) * 0.20 * key + grazing * 0.06 * openness;
    albedo * diffuse + rim + KEY * (highlight * gloss)
}

/// Tone curve: keeps dark values and compresses bright ones below white.
fn tone_map(colour: Vec3) -> Vec3 {
    const KNEE: f32 = 0.7;
    let bend = |c: f32| {
        if c <= KNEE {
            c
        } else {
            KNEE + (1.0 - KNEE) * (1.0 - (-(c - KNEE) / (1.0 - KNEE)).exp())
        }
    };
    Vec3::new(bend(colour.x), bend(colour.y), bend(colour.z))
}

/// Texture coordinates and the level of detail for the triangle's size on screen.
fn texture_place(mesh: &Prepared, triangle: &ScreenTriangle, b: Vec3) -> Option<(Vec2, f32)> {
    let Paint::Textured { uvs, texture, .. } = &mesh.paint else {
        return None;
    };
    let [p, q, r] = mesh.triangles[triangle.triangle as usize].map(|i| uvs[i as usize]);
    let [width, height] = texture.size();
    let texels = ((q - p).perp_dot(r - p) * 0.5).abs() * (width * height) as f32;
    let lod = 0.5 * (texels / triangle.area().max(1e-3)).max(1e-6).log2();
    Some((p * b.x + q * b.y + r * b.z, lod))
}

/// Whether the texture is cut out here.
pub(crate) fn is_hole(mesh: &Prepared, triangle: &ScreenTriangle, screen: Vec3) -> bool {
    let Paint::Textured {
        texture,
        alpha_cutoff,
        ..
    } = &mesh.paint
    else {
        return false;
    };
    if *alpha_cutoff <= 0.0 {
        return false;
    }
    let place = texture_place(mesh, triangle, triangle.barycentrics(screen));
    place.is_some_and(|(uv, lod)| texture.sample(uv, lod).1 < *alpha_cutoff)
}
