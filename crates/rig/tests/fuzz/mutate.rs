//! Seeded mutations of files.

/// Numbers that often break parsers.
const NUMBERS: [&str; 16] = [
    "0",
    "-1",
    "-0",
    "1e38",
    "1e39",
    "-1e308",
    "1e999",
    "nan",
    "inf",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "-2147483648",
    "1e-45",
    "65536",
    "999999999",
];

/// Xorshift (Marsaglia 2003).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// An input: usually a seed with a few mutations, sometimes noise.
    pub fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        if self.below(40) == 0 {
            let length = self.below(2000);
            return (0..length).map(|_| self.next() as u8).collect();
        }
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(6) {
            self.mutate(&mut bytes);
        }
        bytes
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        if length == 0 {
            return;
        }
        let at = self.below(length);
        // Headers are mutated most often: they matter most in binary files.
        let at = if self.below(3) == 0 {
            at.min(self.below(400))
        } else {
            at
        };
        match self.below(8) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.next() as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + self.below(200)).min(length);
                let chunk = bytes[at..end].to_vec();
                let place = self.below(length);
                let times = 1 + self.below(4);
                (0..times).for_each(|_| drop(bytes.splice(place..place, chunk.iter().copied())));
            }
            4 => {
                let end = (at + self.below(100)).min(length);
                bytes.drain(at..end);
            }
            5 => self.number(bytes, at),
            6 => self.swap_words(bytes),
            _ => {
                let value =
                    [0u32, 1, u32::MAX, 1 << 31, 1 << 24, self.next() as u32][self.below(6)];
                let end = (at + 4).min(length);
                bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
            }
        }
    }

    /// Replaces the next number by an awkward one.
    fn number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'e');
        let Some(start) = bytes[at..].iter().position(is_number).map(|skip| at + skip) else {
            return;
        };
        let count = bytes[start..].iter().position(|byte| !is_number(byte));
        let end = count.map_or(bytes.len(), |count| start + count);
        let number = NUMBERS[self.below(NUMBERS.len())];
        bytes.splice(start..end, number.bytes());
    }

    fn swap_words(&mut self, bytes: &mut Vec<u8>) {
        let word = |random: &mut Self| {
            let start = random.below(bytes.len());
            let end = bytes[start..].iter().position(u8::is_ascii_whitespace);
            start..end.map_or(bytes.len(), |end| start + end).min(start + 60)
        };
        let (a, b) = (word(self), word(self));
        let (first, second) = (bytes[a.clone()].to_vec(), bytes[b.clone()].to_vec());
        if a.end <= b.start {
            bytes.splice(b, first);
            bytes.splice(a, second);
        }
    }
}
