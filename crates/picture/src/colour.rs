//! Colour spaces: sRGB (IEC 61966-2-1) and linear light.

use glam::Vec3;

/// An sRGB colour from `0xRRGGBB`, with components in 0..1.
pub const fn hex(rgb: u32) -> Vec3 {
    Vec3::new(
        ((rgb >> 16) & 255) as f32 / 255.0,
        ((rgb >> 8) & 255) as f32 / 255.0,
        (rgb & 255) as f32 / 255.0,
    )
}

/// Linear value of an sRGB component.
pub fn linear_from_srgb(c: f32) -> f32 {
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

/// sRGB value of a linear component.
pub fn srgb_from_linear(c: f32) -> f32 {
    if c <= 0.003_130_8 {
        c * 12.92
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    }
}

/// Linear value of an sRGB colour; NaN becomes black.
pub fn to_linear(colour: Vec3) -> Vec3 {
    let clean = |c: f32| {
        if c.is_finite() {
            linear_from_srgb(c.clamp(0.0, 1.0))
        } else {
            0.0
        }
    };
    Vec3::new(clean(colour.x), clean(colour.y), clean(colour.z))
}

/// sRGB value of a linear colour.
pub fn to_srgb(colour: Vec3) -> Vec3 {
    Vec3::new(
        srgb_from_linear(colour.x.clamp(0.0, 1.0)),
        srgb_from_linear(colour.y.clamp(0.0, 1.0)),
        srgb_from_linear(colour.z.clamp(0.0, 1.0)),
    )
}

/// sRGB colour as bytes.
pub fn to_bytes(colour: Vec3) -> [u8; 3] {
    let byte = |c: f32| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    [byte(colour.x), byte(colour.y), byte(colour.z)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_the_round_trip() {
        for byte in 0..=255_u32 {
            let colour = hex(byte << 16 | byte << 8 | byte);
            assert_eq!(to_bytes(to_srgb(to_linear(colour))), [byte as u8; 3]);
        }
    }

    #[test]
    fn nan_is_black() {
        assert_eq!(to_linear(Vec3::splat(f32::NAN)), Vec3::ZERO);
    }
}
