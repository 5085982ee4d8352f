//! The filters of `KHR_meshopt_compression` and `EXT_meshopt_compression` (appendix B of the specification).

/// A filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

impl Filter {
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "" | "NONE" => Self::None,
            "OCTAHEDRAL" => Self::Octahedral,
            "QUATERNION" => Self::Quaternion,
            "EXPONENTIAL" => Self::Exponential,
            "COLOR" => Self::Color,
            _ => return None,
        })
    }

    /// Undoes the filter on elements of `stride` bytes. `None` if the stride does not fit.
    pub fn undo(self, bytes: &mut [u8], stride: usize) -> Option<()> {
        match (self, stride) {
            (Self::None, _) => {}
            (Self::Octahedral, 4) => each8(bytes, octahedral),
            (Self::Octahedral, 8) => each16(bytes, octahedral),
            (Self::Quaternion, 8) => each16(bytes, |input, _| quaternion(input)),
            (Self::Color, 4) => each8(bytes, color),
            (Self::Color, 8) => each16(bytes, color),
            (Self::Exponential, stride) if stride % 4 == 0 => {
                for word in bytes.chunks_exact_mut(4) {
                    let input = i32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                    word.copy_from_slice(&exponential(input).to_le_bytes());
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// Four bytes an element; the filter gets the number of bits.
fn each8(bytes: &mut [u8], filter: impl Fn([i32; 4], u32) -> [i32; 4]) {
    for element in bytes.chunks_exact_mut(4) {
        let input = [0, 1, 2, 3].map(|k| i32::from(element[k] as i8));
        for (byte, value) in element.iter_mut().zip(filter(input, 8)) {
            *byte = value as u8;
        }
    }
}

/// Four 16-bit numbers an element.
fn each16(bytes: &mut [u8], filter: impl Fn([i32; 4], u32) -> [i32; 4]) {
    for element in bytes.chunks_exact_mut(8) {
        let number = |k: usize| i16::from_le_bytes([element[2 * k], element[2 * k + 1]]);
        let input = [0, 1, 2, 3].map(|k| i32::from(number(k)));
        for (bytes, value) in element.chunks_exact_mut(2).zip(filter(input, 16)) {
            bytes.copy_from_slice(&(value as u16).to_le_bytes());
        }
    }
}

fn octahedral(input: [i32; 4], bits: u32) -> [i32; 4] {
    let one = input[2] as f32;
    let (mut x, mut y) = (input[0] as f32 / one, input[1] as f32 / one);
    let z = 1.0 - x.abs() - y.abs();
    let t = z.min(0.0);
    x -= t.copysign(x);
    y -= t.copysign(y);
    let length = (x * x + y * y + z * z).sqrt();
    let largest = ((1 << (bits - 1)) - 1) as f32;
    let [x, y, z] = [x, y, z].map(|value| (value / length * largest).round() as i32);
    [x, y, z, input[3]]
}

fn quaternion(input: [i32; 4]) -> [i32; 4] {
    let one = (input[3] | 3) as f32;
    let [x, y, z] = [0, 1, 2].map(|k| input[k] as f32 / one * std::f32::consts::FRAC_1_SQRT_2);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let mut output = [0; 4];
    let largest = (input[3] & 3) as usize;
    for (step, value) in [w, x, y, z].into_iter().enumerate() {
        output[(largest + step) % 4] = (value * 32767.0).round() as i32;
    }
    output
}

fn exponential(input: i32) -> f32 {
    let mantissa = (input << 8) >> 8;
    (f64::from(mantissa) * 2f64.powi(input >> 24)) as f32
}

fn color(input: [i32; 4], bits: u32) -> [i32; 4] {
    // Luma and alpha are unsigned.
    let mask = (1 << bits) - 1;
    let (y, alpha) = (input[0] & mask, input[3] & mask);
    let (co, cg) = (input[1], input[2]);
    let scale = (1i32 << (32 - alpha.leading_zeros()).min(16)) - 1;
    let a = alpha & (scale >> 1);
    let factor = mask as f32 / (scale.max(1)) as f32;
    let expand = |value: i32| (value as f32 * factor).round() as i32;
    [y + co - cg, y + cg, y - co - cg, a << 1 | (a & 1)].map(expand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_vectors_come_back() {
        // +Z, +X and -Z in octahedral form with eight bits.
        for (input, output) in [
            ([0, 0, 127, 5], [0, 0, 127, 5]),
            ([127, 0, 127, 0], [127, 0, 0, 0]),
            ([127, 127, 127, 0], [0, 0, -127, 0]),
        ] {
            assert_eq!(octahedral(input, 8), output);
        }
        // No length: no panic.
        octahedral([0, 0, 0, 0], 16);
    }

    #[test]
    fn the_largest_part_of_a_quaternion_is_derived() {
        let half = (32767.0 * 0.5 * std::f32::consts::SQRT_2).round() as i32;
        let one = 32767 & !3;
        let output = quaternion([half, half, half, one | 1]);
        assert!(output.iter().all(|v| (v - 16384).abs() < 4), "{output:?}");
        assert_eq!(quaternion([0, 0, 0, one | 2]), [0, 0, 32767, 0]);
    }

    #[test]
    fn exponents_and_colours() {
        assert_eq!(exponential(3), 3.0);
        assert_eq!(exponential((-2 << 24) | 0xff_ffff), -0.25);
        assert_eq!(exponential(i32::MIN), 0.0);
        // Grey of luma 255 and full alpha: seven bits and the marker.
        assert_eq!(color([-1, 0, 0, -1], 8), [255, 255, 255, 255]);
        color([0, 0, 0, 0], 8);
        let mut bytes = [0; 6];
        assert!(Filter::Quaternion.undo(&mut bytes, 6).is_none());
    }
}
