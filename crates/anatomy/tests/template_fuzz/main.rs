//! Template files handle mutated and random bytes without panic, hang or unbounded memory.
//!
//! Mutations come from a fixed generator, so failures are reproducible. A checksum keeps most damage out; here it is made to fit,
//! so that what is behind it is tested too. Seconds: `SUPPLE_FUZZ_SECONDS` (1 by default).

#[path = "../../../rig/tests/fuzz/counting.rs"]
mod counting;

use std::time::{Duration, Instant};

use supple_anatomy::template::example::example;
use supple_anatomy::template::format::file::{MAGIC, VERSION};
use supple_anatomy::template::{TemplateError, read_template, write_template};

/// Longest time for one input.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// Memory limit per input: this plus [`MEMORY_FACTOR`] times its content.
const MEMORY_FLOOR: usize = 64 << 20;
const MEMORY_FACTOR: usize = 64;

/// Xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count.max(1) as u64) as usize
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        match self.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, self.below(256) as u8),
            2 if !bytes.is_empty() => drop(bytes.remove(at)),
            3 => {
                let end = (at + self.below(9)).min(bytes.len());
                bytes[at.min(end)..end].fill(0xff);
            }
            4 => {
                let end = (at + self.below(200)).min(bytes.len());
                let piece = bytes[at.min(end)..end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
            _ => {}
        }
    }
}

/// A file around a content, with a checksum that fits.
fn file(content: &[u8], length: u64) -> Vec<u8> {
    let mut rest = length.to_le_bytes().to_vec();
    rest.extend(miniz_oxide::deflate::compress_to_vec(content, 1));
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(crc32fast::hash(&rest).to_le_bytes());
    bytes.extend(rest);
    bytes
}

#[test]
fn any_bytes_are_read_or_refused() {
    let seconds = std::env::var("SUPPLE_FUZZ_SECONDS").ok();
    let seconds: f64 = seconds.and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let whole = write_template(&example());
    let content = miniz_oxide::inflate::decompress_to_vec(&whole[24..]).unwrap();
    assert!(read_template(&file(&content, content.len() as u64)).is_ok());
    let mut random = Random(0x5EED_1234_5678_9ABC);
    let (start, mut count, mut accepted) = (Instant::now(), 0, 0);
    while start.elapsed().as_secs_f64() < seconds {
        let mut inner = content.clone();
        for _ in 0..=random.below(4) {
            random.mutate(&mut inner);
        }
        let mut input = match random.below(5) {
            0 => whole.clone(),
            1 => file(&inner, random.below(1 << 40) as u64),
            _ => file(&inner, inner.len() as u64),
        };
        if input == whole || random.below(8) == 0 {
            random.mutate(&mut input);
        }
        let before = counting::reset_peak();
        let began = Instant::now();
        let read = std::panic::catch_unwind(|| read_template(&input));
        let peak = counting::peak().saturating_sub(before);
        let read = read.unwrap_or_else(|_| panic!("input {count} panics"));
        assert!(began.elapsed() < TIME_LIMIT, "input {count} takes too long");
        assert!(
            peak < MEMORY_FLOOR + MEMORY_FACTOR * content.len(),
            "input {count} takes {peak} bytes"
        );
        if let Ok(template) = &read {
            accepted += 1;
            // What was accepted can be used.
            let _ = (template.surfaces(), write_template(template));
        }
        count += 1;
    }
    println!("{count} inputs, {accepted} accepted");
    assert!(count > 20 && accepted > 0);
}

#[test]
fn what_is_wrong_is_told_with_its_block() {
    let whole = write_template(&example());
    let content = miniz_oxide::inflate::decompress_to_vec(&whole[24..]).unwrap();
    let at = content.windows(4).position(|tag| tag == b"LAYR").unwrap();
    let mut broken = content.clone();
    broken[at] = b'X';
    let error = read_template(&file(&broken, broken.len() as u64)).unwrap_err();
    assert!(
        matches!(error, TemplateError::Malformed { block: "LAYR", .. }),
        "{error}"
    );
    let short = read_template(&file(&content, content.len() as u64 + 1)).unwrap_err();
    assert!(matches!(short, TemplateError::Malformed { .. }), "{short}");
}
