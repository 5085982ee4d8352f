//! Serialised simulation mesh and upsampling weights, so that they are built once per character.
//!
//! The key is a hash of everything they depend on; a checksum detects damage. Bytes of another character, other settings
//! or another format version are never used.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use supple_geom::TriMesh;
use supple_geom::decimate::Decimated;
use supple_geom::ring_normals::RingNormals;
use supple_geom::simd::WIDE;

use crate::upsampling::upsample::{Offset, Upsampling};
use crate::upsampling::upsample_groups::{Groups, Indices};

/// Storage for the serialised bytes between runs.
pub trait DetailCache {
    /// The bytes stored last, whatever their key.
    fn load(&self) -> Option<Vec<u8>>;
    /// Replaces the stored bytes. A failure is not an error: they are built again next time.
    fn store(&self, bytes: &[u8]);
}

/// What happened to a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheUse {
    /// There was none, or there was nothing to store.
    #[default]
    Unused,
    /// Simulation mesh and weights were read from it.
    Used,
    /// They were built and stored.
    Filled,
    /// It belonged to another mesh, other settings or another version; it was rebuilt.
    Stale,
    /// It was damaged; it was rebuilt.
    Damaged,
}

const MAGIC: [u8; 8] = *b"SUPPLEDT";
/// Raise this whenever construction or layout changes.
const VERSION: u32 = 10;

/// A fast 64-bit hash; not cryptographic.
#[derive(Clone, Copy, Debug)]
pub struct Hasher([u64; 4]);

impl Default for Hasher {
    fn default() -> Self {
        // Digits of π: arbitrary.
        Self([
            0x243f6a8885a308d3,
            0x13198a2e03707344,
            0xa4093822299f31d0,
            0x082efa98ec4e6c89,
        ])
    }
}

impl Hasher {
    /// Adds bytes: four words at a time, one per lane, which keeps up with memory bandwidth.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let mix = |lane: &mut u64, word: u64| {
            *lane = (*lane ^ word)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(29);
        };
        let mut blocks = bytes.chunks_exact(32);
        for block in &mut blocks {
            for (lane, word) in self.0.iter_mut().zip(block.as_chunks::<8>().0) {
                mix(lane, u64::from_le_bytes(*word));
            }
        }
        for &byte in blocks.remainder() {
            mix(&mut self.0[0], u64::from(byte) | 0x100);
        }
        mix(&mut self.0[1], bytes.len() as u64);
    }

    /// Adds plain numbers.
    pub fn slice<T: Pod>(&mut self, values: &[T]) {
        self.bytes(bytemuck::cast_slice(values));
    }

    /// The hash.
    pub fn finish(self) -> u64 {
        self.0.into_iter().fold(0, |hash: u64, lane| {
            let mixed = (hash ^ lane ^ (lane >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed ^ (mixed >> 29)
        })
    }
}

/// Serialises under a key.
pub fn to_bytes(key: u64, coarse: &Decimated, upsampling: &Upsampling) -> Vec<u8> {
    let mut payload = Vec::new();
    write(&mut payload, &coarse.kept);
    write(&mut payload, coarse.mesh.triangles.as_flattened());
    for groups in [&upsampling.places, &upsampling.normals] {
        write(&mut payload, &groups.starts);
        match &groups.indices {
            Indices::Short(list) => write(&mut payload, list),
            Indices::Long(list) => write(&mut payload, list),
        }
        write(&mut payload, &groups.units);
        write(&mut payload, &groups.weights);
    }
    let vertices: Vec<[u32; 2]> = (upsampling.offsets.iter())
        .map(|offset| [offset.vertex, offset.normals.len() as u32])
        .collect();
    let entries = || upsampling.offsets.iter().flat_map(|offset| &offset.normals);
    write(&mut payload, vertices.as_flattened());
    write(
        &mut payload,
        &entries().map(|entry| entry.0).collect::<Vec<u32>>(),
    );
    write(
        &mut payload,
        &entries().map(|entry| entry.1).collect::<Vec<f32>>(),
    );
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(key.to_le_bytes());
    bytes.extend(checksum(&payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// Reads what [`to_bytes`] wrote for this skin and key.
pub fn from_bytes(
    key: u64,
    skin: &TriMesh,
    bytes: &[u8],
) -> Result<(Decimated, Upsampling), CacheUse> {
    let mut input = bytes;
    let damaged = || CacheUse::Damaged;
    if take(&mut input, 8).ok_or_else(damaged)? != MAGIC {
        return Err(CacheUse::Damaged);
    }
    let version = take(&mut input, 4).ok_or_else(damaged)? == VERSION.to_le_bytes();
    if !version || take(&mut input, 8).ok_or_else(damaged)? != key.to_le_bytes() {
        return Err(CacheUse::Stale);
    }
    if take(&mut input, 8).ok_or_else(damaged)? != checksum(input).to_le_bytes() {
        return Err(CacheUse::Damaged);
    }
    read_payload(skin, &mut input).ok_or(CacheUse::Damaged)
}

fn read_payload(skin: &TriMesh, input: &mut &[u8]) -> Option<(Decimated, Upsampling)> {
    let vertices = skin.positions.len();
    let kept: Vec<u32> = read(input)?;
    let positions: Option<Vec<Vec3>> = (kept.iter())
        .map(|&v| skin.positions.get(v as usize).copied())
        .collect();
    let corners: Vec<u32> = read(input)?;
    let samples = kept.len();
    let in_range = |index: usize| index < samples;
    let places = read_groups(input, vertices, samples)?;
    let normals = read_groups(input, vertices, samples)?;
    let owners: Vec<[u32; 2]> = read(input)?;
    let entries: Vec<(u32, f32)> = read(input)?.into_iter().zip(read::<f32>(input)?).collect();
    let mut left = entries.as_slice();
    let mut offsets = Vec::new();
    for [vertex, count] in owners {
        let normals;
        (normals, left) = left.split_at_checked(count as usize)?;
        offsets.push(Offset {
            vertex,
            normals: normals.to_vec(),
        });
    }
    let sound = corners.iter().all(|&i| in_range(i as usize))
        && entries.iter().all(|entry| in_range(entry.0 as usize))
        && offsets.is_sorted_by_key(|offset: &Offset| offset.vertex)
        && (offsets.last()).is_none_or(|offset| (offset.vertex as usize) < vertices);
    let mesh = TriMesh {
        positions: positions?,
        triangles: corners.as_chunks::<3>().0.to_vec(),
    };
    if !sound {
        return None;
    }
    let upsampling = Upsampling {
        rings: RingNormals::new(&mesh),
        count: vertices,
        places,
        normals,
        offsets,
    };
    Some((Decimated { mesh, kept }, upsampling))
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = Hasher::default();
    hasher.bytes(bytes);
    hasher.finish()
}

/// Writes a list, preceded by its length.
fn write<T: Pod>(bytes: &mut Vec<u8>, values: &[T]) {
    let list: &[u8] = bytemuck::cast_slice(values);
    bytes.extend((list.len() as u64).to_le_bytes());
    bytes.extend(list);
}

fn read<T: Pod + Zeroable>(input: &mut &[u8]) -> Option<Vec<T>> {
    let length = u64::from_le_bytes(take(input, 8)?.try_into().ok()?);
    let bytes = take(input, usize::try_from(length).ok()?)?;
    let size = size_of::<T>();
    if !bytes.len().is_multiple_of(size) {
        return None;
    }
    let mut values = vec![T::zeroed(); bytes.len() / size];
    bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
    Some(values)
}

/// Reads groups and checks counts and index ranges.
fn read_groups(input: &mut &[u8], vertices: usize, samples: usize) -> Option<Groups> {
    let starts: Vec<u32> = read(input)?;
    let indices = if samples <= 1 << 16 {
        Indices::Short(read(input)?)
    } else {
        Indices::Long(read(input)?)
    };
    let units: Vec<f32> = read(input)?;
    let weights: Vec<[i16; WIDE]> = read(input)?;
    let in_range = (0..indices.len()).all(|entry| indices.get(entry) < samples);
    let sound = in_range
        && indices.len() == weights.len()
        && units.len() == vertices.div_ceil(WIDE)
        && starts.len() == units.len() + 1
        && starts.is_sorted()
        && starts.last().map(|&end| end as usize) == Some(weights.len());
    sound.then_some(Groups {
        starts,
        units,
        indices,
        weights,
    })
}

fn take<'a>(input: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = input.split_at_checked(count)?;
    *input = tail;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::decimate::{Decimation, decimate};
    use supple_geom::mls::Basis;
    use supple_geom::shapes;

    #[test]
    fn bytes_round_trip_and_damage_is_detected() {
        let skin = shapes::icosphere(1.0, 3);
        let settings = Decimation {
            target: 100,
            ..Decimation::default()
        };
        let coarse = decimate(&skin, &settings);
        let upsampling = Upsampling::new(&skin, &coarse.kept, &coarse.mesh, 8, Basis::Quadratic);
        let bytes = to_bytes(7, &coarse, &upsampling);
        assert!(from_bytes(7, &skin, &bytes) == Ok((coarse, upsampling)));
        assert_eq!(from_bytes(8, &skin, &bytes).unwrap_err(), CacheUse::Stale);
        assert_eq!(from_bytes(7, &skin, b"").unwrap_err(), CacheUse::Damaged);
        for cut in [7, 30, bytes.len() - 1] {
            assert!(from_bytes(7, &skin, &bytes[..cut]).is_err());
        }
        for at in (0..bytes.len()).step_by(997) {
            let mut broken = bytes.clone();
            broken[at] ^= 4;
            assert!(from_bytes(7, &skin, &broken).is_err(), "byte {at}");
        }
    }
}
