//! Point caches: positions of all vertices, frame after frame, in the file's vertex order.
//!
//! A whole character is one cache: its parts one after the other, in order, each with its vertices as the file has
//! them. Positions are world space, metres, Y up.

use glam::Vec3;

use super::{BakeError, Motion};
use crate::formats::FormatError;

/// Positions read back from a cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCache {
    /// Frames a second.
    pub fps: f32,
    /// Frame, vertex \[m\].
    pub frames: Vec<Vec<Vec3>>,
}

fn points(motion: &Motion) -> usize {
    motion
        .frames
        .first()
        .map_or(0, |frame| frame.iter().map(Vec::len).sum())
}

fn count(number: usize, what: &str) -> Result<u32, BakeError> {
    let limit = |_| FormatError::Unsupported(format!("too many {what} for a point cache"));
    Ok(u32::try_from(number).map_err(limit)?)
}

/// PC2 ("POINTCACHE2"): little-endian header and floats. Positions are stored as they are: the error is zero.
///
/// The format counts time in frames, so the speed is the reader's to set.
pub fn pc2(motion: &Motion) -> Result<Vec<u8>, BakeError> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(count(points(motion), "vertices")?.to_le_bytes());
    bytes.extend(0f32.to_le_bytes());
    bytes.extend(1f32.to_le_bytes());
    bytes.extend(count(motion.frames.len(), "frames")?.to_le_bytes());
    for position in motion.frames.iter().flatten().flatten() {
        position
            .to_array()
            .iter()
            .for_each(|number| bytes.extend(number.to_le_bytes()));
    }
    Ok(bytes)
}

/// MDD (LightWave): big-endian counts, frame times in seconds, floats. Positions are stored as they are: the error is
/// zero.
pub fn mdd(motion: &Motion) -> Result<Vec<u8>, BakeError> {
    let mut bytes = count(motion.frames.len(), "frames")?.to_be_bytes().to_vec();
    bytes.extend(count(points(motion), "vertices")?.to_be_bytes());
    for frame in 0..motion.frames.len() {
        bytes.extend(motion.time(frame).to_be_bytes());
    }
    for position in motion.frames.iter().flatten().flatten() {
        position
            .to_array()
            .iter()
            .for_each(|number| bytes.extend(number.to_be_bytes()));
    }
    Ok(bytes)
}

/// Reads a PC2 cache; it does not say how fast it is, so `fps` is given.
pub fn read_pc2(bytes: &[u8], fps: f32) -> Result<PointCache, FormatError> {
    let header = bytes
        .get(..32)
        .filter(|header| header.starts_with(b"POINTCACHE2\0"));
    let header =
        header.ok_or_else(|| FormatError::invalid("header", "is not that of a PC2 file"))?;
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let frames = split(&bytes[32..], word(16), word(28), f32::from_le_bytes)?;
    Ok(PointCache { fps, frames })
}

/// Reads an MDD cache.
pub fn read_mdd(bytes: &[u8]) -> Result<PointCache, FormatError> {
    let truncated = || FormatError::Truncated {
        reason: "MDD header".into(),
    };
    let word =
        |at: usize| -> Option<[u8; 4]> { bytes.get(at..at.checked_add(4)?)?.try_into().ok() };
    let frames = u32::from_be_bytes(word(0).ok_or_else(truncated)?);
    let vertices = u32::from_be_bytes(word(4).ok_or_else(truncated)?);
    let times = (frames as usize)
        .checked_mul(4)
        .and_then(|size| size.checked_add(8));
    let data = times
        .and_then(|start| bytes.get(start..))
        .ok_or_else(truncated)?;
    let fps = match (frames > 1)
        .then(|| word(12))
        .flatten()
        .map(f32::from_be_bytes)
    {
        Some(step) if step > 0.0 => 1.0 / step,
        _ => 1.0,
    };
    let frames = split(data, vertices, frames, f32::from_be_bytes)?;
    Ok(PointCache { fps, frames })
}

fn split(
    data: &[u8],
    vertices: u32,
    frames: u32,
    number: fn([u8; 4]) -> f32,
) -> Result<Vec<Vec<Vec3>>, FormatError> {
    let size = (vertices as usize).checked_mul(12).filter(|&size| size > 0);
    let whole = size.and_then(|size| size.checked_mul(frames as usize));
    let (Some(size), Some(data)) = (size, whole.and_then(|whole| data.get(..whole))) else {
        return Err(FormatError::Truncated {
            reason: format!("{frames} frames of {vertices} points"),
        });
    };
    let vector = |bytes: &[u8]| {
        let at = |axis: usize| {
            number([
                bytes[4 * axis],
                bytes[4 * axis + 1],
                bytes[4 * axis + 2],
                bytes[4 * axis + 3],
            ])
        };
        Vec3::new(at(0), at(1), at(2))
    };
    Ok(data
        .chunks_exact(size)
        .map(|frame| frame.chunks_exact(12).map(vector).collect())
        .collect())
}
