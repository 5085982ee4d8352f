//! Repeatable random numbers for tests.

use glam::Vec3;

/// The SplitMix64 generator (Steele, Lea and Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in −1 … 1.
    pub(crate) fn signed(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// Uniform in the cube of the given half width around the origin.
    pub(crate) fn in_cube(&mut self, half: f32) -> Vec3 {
        half * Vec3::new(self.signed(), self.signed(), self.signed())
    }
}
