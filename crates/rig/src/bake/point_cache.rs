//! Point caches: positions of all vertices, frame by frame, in the file's vertex order.
//!
//! A character is one cache: its parts in order, each with its vertices in file order.
//! Positions are in world space, metres, Y up.

use std::io::{self, Read, Write};

use glam::Vec3;

use super::Motion;
use crate::formats::FormatError;

/// Number of vertices of all parts.
fn points(motion: &Motion) -> usize {
    match motion.frames.is_empty() {
        true => 0,
        false => motion.frames.get(0).iter().map(Vec::len).sum(),
    }
}

fn count(number: usize, what: &str) -> io::Result<u32> {
    let limit = |_| io::Error::other(format!("too many {what} for a point cache"));
    u32::try_from(number).map_err(limit)
}

/// Writes a PC2 cache ("POINTCACHE2"): little-endian header and floats, frame by frame. Positions are stored exactly.
///
/// The format counts time in frames; the reader sets the frame rate.
pub fn write_pc2(motion: &Motion, out: &mut dyn Write) -> io::Result<()> {
    let mut header = b"POINTCACHE2\0".to_vec();
    header.extend(1u32.to_le_bytes());
    header.extend(count(points(motion), "vertices")?.to_le_bytes());
    header.extend(0f32.to_le_bytes());
    header.extend(1f32.to_le_bytes());
    header.extend(count(motion.frames.len(), "frames")?.to_le_bytes());
    write_frames(motion, &header, f32::to_le_bytes, out)
}

/// Writes an MDD cache (LightWave): big-endian counts, frame times in seconds, floats, frame by frame. Positions are
/// stored exactly.
pub fn write_mdd(motion: &Motion, out: &mut dyn Write) -> io::Result<()> {
    let mut header = count(motion.frames.len(), "frames")?.to_be_bytes().to_vec();
    header.extend(count(points(motion), "vertices")?.to_be_bytes());
    for frame in 0..motion.frames.len() {
        header.extend(motion.time(frame).to_be_bytes());
    }
    write_frames(motion, &header, f32::to_be_bytes, out)
}

fn write_frames(
    motion: &Motion,
    header: &[u8],
    number: fn(f32) -> [u8; 4],
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(header)?;
    for frame in motion.frames.iter() {
        let positions = frame.iter().flatten();
        let numbers = positions.flat_map(|position| position.to_array());
        let bytes: Vec<u8> = numbers.flat_map(number).collect();
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// A point cache, read frame by frame.
#[derive(Clone, Debug)]
pub struct PointCache<R> {
    /// Frames per second.
    pub fps: f32,
    /// Number of frames according to the header.
    pub frames: u32,
    /// Vertices per frame.
    pub vertices: u32,
    input: R,
    number: fn([u8; 4]) -> f32,
}

/// Opens a PC2 cache. The format stores no frame rate, so it is given as `fps`.
pub fn read_pc2<R: Read>(mut input: R, fps: f32) -> Result<PointCache<R>, FormatError> {
    let header = bytes(&mut input, 32, "PC2 header")?;
    if !header.starts_with(b"POINTCACHE2\0") {
        return Err(FormatError::invalid("header", "is not a PC2 header"));
    }
    let word = |at: usize| u32::from_le_bytes(four(&header[at..]));
    Ok(PointCache {
        fps,
        frames: word(28),
        vertices: word(16),
        input,
        number: f32::from_le_bytes,
    })
}

/// Opens an MDD cache.
pub fn read_mdd<R: Read>(mut input: R) -> Result<PointCache<R>, FormatError> {
    let header = bytes(&mut input, 8, "MDD header")?;
    let word = |at: usize| u32::from_be_bytes(four(&header[at..]));
    let (frames, vertices) = (word(0), word(4));
    let times = bytes(&mut input, 4 * u64::from(frames), "MDD header")?;
    let second = times.get(4..8).map(|step| f32::from_be_bytes(four(step)));
    Ok(PointCache {
        fps: match second {
            Some(step) if step > 0.0 => 1.0 / step,
            _ => 1.0,
        },
        frames,
        vertices,
        input,
        number: f32::from_be_bytes,
    })
}

impl<R: Read> PointCache<R> {
    /// The next frame \[m\].
    pub fn next_frame(&mut self) -> Result<Vec<Vec3>, FormatError> {
        let bytes = bytes(&mut self.input, 12 * u64::from(self.vertices), "frame")?;
        let number = |bytes: &[u8]| (self.number)(four(bytes));
        let vector = |at: &[u8]| Vec3::new(number(at), number(&at[4..]), number(&at[8..]));
        Ok(bytes.chunks_exact(12).map(vector).collect())
    }
}

/// The first four bytes, padded with zeros.
fn four(bytes: &[u8]) -> [u8; 4] {
    bytes.first_chunk().copied().unwrap_or_default()
}

/// Reads exactly `count` bytes. Allocates no more than the input holds.
fn bytes(input: &mut impl Read, count: u64, what: &str) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    let read = input.take(count).read_to_end(&mut bytes);
    match read {
        Ok(read) if read as u64 == count => Ok(bytes),
        _ => Err(FormatError::Truncated {
            reason: format!("{what} of a point cache"),
        }),
    }
}
