//! Colour ramps for errors and other scalars, and their legend.

use glam::Vec3;

use crate::colour::hex;
use crate::image::Image;
use crate::text::{draw_text, text_width};

/// A colour ramp over 0..1. `Ember` and `Viridis` are monotone in lightness, so they also read in greyscale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ramp {
    /// Pale clay at zero, then yellow, red and dark plum. Zero error looks like the uncoloured surface.
    #[default]
    Ember,
    /// Matplotlib's viridis: dark violet to yellow.
    Viridis,
    /// Google's turbo: a rainbow that separates many levels.
    Turbo,
}

const EMBER: [u32; 7] = [
    0xe6e1d8, 0xf5dc8c, 0xf6b455, 0xec7f3c, 0xcf4433, 0x97203f, 0x4e1042,
];
const VIRIDIS: [u32; 9] = [
    0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725,
];
const TURBO: [u32; 15] = [
    0x30123b, 0x4145ab, 0x4675ed, 0x39a2fc, 0x1bcfd4, 0x24eca6, 0x61fc6c, 0xa4fc3b, 0xd1e834,
    0xf3c63a, 0xfe9b2d, 0xf36315, 0xd93806, 0xb11901, 0x7a0402,
];

/// Colour of values that are not a number.
pub const NOT_A_NUMBER: Vec3 = hex(0xff00ff);

impl Ramp {
    /// The sRGB colour at `t`, clamped to 0..1; NaN gives [`NOT_A_NUMBER`].
    pub fn at(self, t: f32) -> Vec3 {
        if t.is_nan() {
            return NOT_A_NUMBER;
        }
        let stops: &[u32] = match self {
            Self::Ember => &EMBER,
            Self::Viridis => &VIRIDIS,
            Self::Turbo => &TURBO,
        };
        let place = t.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
        let index = (place as usize).min(stops.len() - 2);
        hex(stops[index]).lerp(hex(stops[index + 1]), place - index as f32)
    }
}

/// One colour per value; `low` and `high` map to the ends of the ramp.
pub fn heat_colours(values: &[f32], low: f32, high: f32, ramp: Ramp) -> Vec<Vec3> {
    let span = if high > low { high - low } else { 1.0 };
    values.iter().map(|v| ramp.at((v - low) / span)).collect()
}

/// A colour bar with numbers at the right edge of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legend {
    /// The colour ramp.
    pub ramp: Ramp,
    /// Value at the bottom.
    pub low: f32,
    /// Value at the top.
    pub high: f32,
    /// Title with unit, such as "error \[mm\]".
    pub title: String,
}

/// Number of ticks, including both ends.
const TICKS: usize = 5;

impl Legend {
    /// Draws the legend at the right of `image`, scaled to the image height.
    pub fn draw(&self, image: &mut Image, ink: Vec3) {
        let unit = image.width.min(image.height) as f32 / 100.0;
        let size = (2.0 * unit).max(7.0);
        let (bar, height) = ((2.4 * unit).max(6.0) as usize, (42.0 * unit) as usize);
        let labels: Vec<String> = (0..TICKS).map(|i| self.label(i)).collect();
        let widest = labels
            .iter()
            .map(|l| text_width(l, size))
            .fold(0.0, f32::max);
        let left = image.width as f32 - 4.0 * unit - widest - 1.2 * unit - bar as f32;
        let top = (image.height as f32 - height as f32) * 0.5;
        for row in 0..height {
            let t = 1.0 - (row as f32 + 0.5) / height as f32;
            image.fill(
                left as i64,
                top as i64 + row as i64,
                bar,
                1,
                self.ramp.at(t),
            );
        }
        for (i, label) in labels.iter().enumerate() {
            let y = top + height as f32 * (1.0 - i as f32 / (TICKS - 1) as f32);
            draw_text(
                image,
                label,
                left + bar as f32 + 1.2 * unit,
                y - 0.5 * size,
                size,
                ink,
            );
        }
        let right = image.width as f32 - 4.0 * unit;
        let title = right - text_width(&self.title, size);
        draw_text(
            image,
            &self.title,
            title.min(left),
            top - 2.6 * size,
            size,
            ink,
        );
    }

    fn label(&self, tick: usize) -> String {
        let value = self.low + (self.high - self.low) * tick as f32 / (TICKS - 1) as f32;
        let largest = self.low.abs().max(self.high.abs());
        match largest {
            l if l >= 100.0 => format!("{value:.0}"),
            l if l >= 10.0 => format!("{value:.1}"),
            l if l >= 0.1 => format!("{value:.2}"),
            _ => format!("{value:.1e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::to_linear;

    fn luminance(colour: Vec3) -> f32 {
        to_linear(colour).dot(Vec3::new(0.2126, 0.7152, 0.0722))
    }

    #[test]
    fn ember_and_viridis_are_monotone_in_lightness() {
        for i in 0..100 {
            let (a, b) = (i as f32 / 100.0, (i + 1) as f32 / 100.0);
            assert!(luminance(Ramp::Ember.at(a)) > luminance(Ramp::Ember.at(b)));
            assert!(luminance(Ramp::Viridis.at(a)) < luminance(Ramp::Viridis.at(b)));
        }
    }

    #[test]
    fn ends_and_invalid_values() {
        assert_eq!(Ramp::Viridis.at(-3.0), hex(0x440154));
        assert_eq!(Ramp::Viridis.at(f32::INFINITY), hex(0xfde725));
        assert_eq!(Ramp::Turbo.at(f32::NAN), NOT_A_NUMBER);
        let colours = heat_colours(&[0.0, 5.0, 10.0], 0.0, 10.0, Ramp::Viridis);
        assert_eq!(colours, [hex(0x440154), hex(0x21918c), hex(0xfde725)]);
        assert_eq!(
            heat_colours(&[1.0], 1.0, 1.0, Ramp::Viridis),
            [hex(0x440154)]
        );
    }
}
