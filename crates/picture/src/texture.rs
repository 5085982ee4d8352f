//! Textures with mip maps, sampled in linear light.

use glam::{Vec2, Vec3, Vec4};

use crate::colour::linear_from_srgb;
use crate::image::Image;

/// A repeating texture; `(0, 0)` is the top left corner, as in glTF.
#[derive(Clone, Debug)]
pub struct Texture {
    levels: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Level {
    width: usize,
    height: usize,
    /// Linear colour, straight alpha.
    texels: Vec<Vec4>,
}

impl Texture {
    /// Builds the mip chain.
    pub fn new(image: &Image) -> Self {
        let table: Vec<f32> = (0..256)
            .map(|b| linear_from_srgb(b as f32 / 255.0))
            .collect();
        let linear = |p: &[u8]| {
            let [r, g, b] = [p[0], p[1], p[2]].map(|c| table[usize::from(c)]);
            Vec4::new(r, g, b, f32::from(p[3]) / 255.0)
        };
        let mut texels: Vec<Vec4> = image.rgba.chunks_exact(4).map(linear).collect();
        texels.resize(image.width * image.height, Vec4::ONE);
        let mut levels = vec![Level {
            width: image.width,
            height: image.height,
            texels,
        }];
        while let Some(smaller) = levels.last().and_then(halved) {
            levels.push(smaller);
        }
        Self { levels }
    }

    /// Width and height of the full image \[px\].
    pub fn size(&self) -> [usize; 2] {
        self.levels.first().map_or([0, 0], |l| [l.width, l.height])
    }

    /// Linear colour and alpha at `uv`; `lod` is the binary logarithm of texels per sample.
    pub fn sample(&self, uv: Vec2, lod: f32) -> (Vec3, f32) {
        let level = (lod.max(0.0) + 0.5) as usize;
        let Some(level) = self
            .levels
            .get(level.min(self.levels.len().saturating_sub(1)))
        else {
            return (Vec3::ONE, 1.0);
        };
        let texel = level.bilinear(uv);
        (texel.truncate(), texel.w)
    }
}

impl Level {
    fn bilinear(&self, uv: Vec2) -> Vec4 {
        if self.texels.is_empty() || !uv.is_finite() {
            return Vec4::ONE;
        }
        let at = (uv - uv.floor()) * Vec2::new(self.width as f32, self.height as f32) - 0.5;
        let (base, t) = (at.floor(), at - at.floor());
        let wrap = |i: f32, n: usize| (i as i64).rem_euclid(n as i64) as usize;
        let [x0, x1] = [wrap(base.x, self.width), wrap(base.x + 1.0, self.width)];
        let [y0, y1] = [wrap(base.y, self.height), wrap(base.y + 1.0, self.height)];
        let row =
            |y: usize| self.texels[y * self.width + x0].lerp(self.texels[y * self.width + x1], t.x);
        row(y0).lerp(row(y1), t.y)
    }
}

fn halved(level: &Level) -> Option<Level> {
    if level.width <= 1 && level.height <= 1 || level.texels.is_empty() {
        return None;
    }
    let (width, height) = (level.width.div_ceil(2), level.height.div_ceil(2));
    let texel = |x: usize, y: usize| {
        level.texels[y.min(level.height - 1) * level.width + x.min(level.width - 1)]
    };
    let average = |i: usize| {
        let (x, y) = (2 * (i % width), 2 * (i / width));
        (texel(x, y) + texel(x + 1, y) + texel(x, y + 1) + texel(x + 1, y + 1)) * 0.25
    };
    Some(Level {
        width,
        height,
        texels: (0..width * height).map(average).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    #[test]
    fn texel_centres_are_exact_and_the_last_mip_is_the_mean() {
        let mut image = Image::new(2, 2, hex(0x000000));
        image.fill(1, 0, 1, 1, hex(0xffffff));
        let texture = Texture::new(&image);
        assert_eq!(texture.sample(Vec2::new(0.75, 0.25), 0.0).0, Vec3::ONE);
        assert_eq!(texture.sample(Vec2::new(-0.75, 1.75), 0.0).0, Vec3::ZERO);
        assert_eq!(
            texture.sample(Vec2::new(0.1, 0.9), 9.0).0,
            Vec3::splat(0.25)
        );
    }

    #[test]
    fn empty_textures_and_invalid_coordinates_do_not_panic() {
        assert_eq!(
            Texture::new(&Image::default()).sample(Vec2::ZERO, 0.0),
            (Vec3::ONE, 1.0)
        );
        let texture = Texture::new(&Image::new(3, 1, hex(0x808080)));
        for uv in [Vec2::NAN, Vec2::INFINITY, Vec2::splat(-1e30)] {
            assert!(texture.sample(uv, f32::NAN).0.is_finite());
        }
    }
}
