//! The embedded bones: named meshes in few bytes.
//!
//! Little endian: `SBON`, version 1, number of bones (u16); for each its name (u8 length, bytes), vertices (u16), triangles (u16), lower
//! corner and size of its box (6 × f32), positions as u16 shares of the box, and corners as varints of the zigzag
//! difference to the corner before; number of joints (u16), for each its name and position (3 × f32). Made by
//! `cargo run --release -p supple-anatomy --example bone_asset FOLDER assets/bones.bin`.

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};
use supple_geom::TriMesh;

use super::read::{BoneError, BoneSet, bone_set};

const EMBEDDED: &[u8] = include_bytes!("../../assets/bones.bin");
const MAGIC: &[u8; 4] = b"SBON";
const VERSION: u8 = 1;
const STEPS: f32 = 65535.0;

/// Meshes by name, and joint centres.
pub type NamedMeshes = (Vec<(String, TriMesh)>, BTreeMap<String, DVec3>);

/// The bones that come with Supple: 178 of one man, mended. Source and licence: `assets/README.md`.
pub fn embedded_bones() -> Result<BoneSet, BoneError> {
    let (meshes, joints) = decoded(EMBEDDED).ok_or_else(|| BoneError::Placing {
        reason: "the embedded bones are damaged".to_owned(),
    })?;
    bone_set(meshes, joints)
}

/// Meshes and joints in the format of the asset. Meshes of more than 65,535 vertices or triangles are not kept.
pub fn encoded((meshes, joints): &NamedMeshes) -> Vec<u8> {
    let fits = |mesh: &TriMesh| {
        mesh.positions.len() <= usize::from(u16::MAX)
            && mesh.triangles.len() <= usize::from(u16::MAX)
    };
    let kept: Vec<_> = meshes.iter().filter(|(_, mesh)| fits(mesh)).collect();
    let mut out = MAGIC.to_vec();
    out.push(VERSION);
    out.extend((kept.len() as u16).to_le_bytes());
    for (name, mesh) in kept {
        push_name(&mut out, name);
        out.extend((mesh.positions.len() as u16).to_le_bytes());
        out.extend((mesh.triangles.len() as u16).to_le_bytes());
        let (low, size) = (mesh.bounds().min, mesh.bounds().size());
        for value in low.to_array().into_iter().chain(size.to_array()) {
            out.extend(value.to_le_bytes());
        }
        for p in &mesh.positions {
            for k in 0..3 {
                let share = if size[k] > 0.0 {
                    (p[k] - low[k]) / size[k]
                } else {
                    0.0
                };
                out.extend(((share * STEPS).round() as u16).to_le_bytes());
            }
        }
        let mut last = 0;
        for corner in mesh.triangles.as_flattened() {
            let difference = *corner as i32 - last;
            last = *corner as i32;
            push_varint(&mut out, ((difference << 1) ^ (difference >> 31)) as u32);
        }
    }
    out.extend((joints.len() as u16).to_le_bytes());
    for (name, at) in joints {
        push_name(&mut out, name);
        at.to_array()
            .iter()
            .for_each(|x| out.extend((*x as f32).to_le_bytes()));
    }
    out
}

/// Meshes and joints of bytes in the format of the asset; `None` if they are damaged.
pub fn decoded(bytes: &[u8]) -> Option<NamedMeshes> {
    let mut read = Reader { bytes };
    if read.take(4)? != MAGIC || read.take(1)?[0] != VERSION {
        return None;
    }
    let mut meshes = Vec::new();
    for _ in 0..read.u16()? {
        let name = read.name()?;
        let (vertices, triangles) = (read.u16()?, read.u16()?);
        let low = read.vec3()?;
        let size = read.vec3()?;
        let mut mesh = TriMesh::default();
        for _ in 0..vertices {
            let share = [read.u16()?, read.u16()?, read.u16()?].map(|x| f32::from(x) / STEPS);
            mesh.positions.push(low + Vec3::from(share) * size);
        }
        let mut last = 0i32;
        for _ in 0..triangles {
            let mut corners = [0; 3];
            for corner in &mut corners {
                let code = read.varint()?;
                last = last.checked_add((code >> 1) as i32 ^ -((code & 1) as i32))?;
                *corner = u32::try_from(last)
                    .ok()
                    .filter(|&v| v < u32::from(vertices))?;
            }
            mesh.triangles.push(corners);
        }
        meshes.push((name, mesh));
    }
    let mut joints = BTreeMap::new();
    for _ in 0..read.u16()? {
        joints.insert(read.name()?, read.vec3()?.as_dvec3());
    }
    Some((meshes, joints))
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    let bytes = &name.as_bytes()[..name.len().min(255)];
    out.push(bytes.len() as u8);
    out.extend(bytes);
}

fn push_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn vec3(&mut self) -> Option<Vec3> {
        let mut vector = Vec3::ZERO;
        for k in 0..3 {
            vector[k] = f32::from_le_bytes(self.take(4)?.try_into().ok()?);
        }
        Some(vector)
    }

    fn name(&mut self) -> Option<String> {
        let length = usize::from(self.take(1)?[0]);
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn varint(&mut self) -> Option<u32> {
        let mut value = 0;
        for shift in (0..32).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes;

    #[test]
    fn meshes_come_back_to_a_few_micrometres_and_damage_is_noticed() {
        let mesh = shapes::icosphere(0.2, 3);
        let joints = BTreeMap::from([("hip_l".to_owned(), DVec3::new(0.5, -1.0, 2.0))]);
        let bytes = encoded(&(vec![("femur_l".to_owned(), mesh.clone())], joints.clone()));
        let (meshes, found) = decoded(&bytes).unwrap();
        assert_eq!(found, joints);
        assert_eq!(meshes[0].0, "femur_l");
        assert_eq!(meshes[0].1.triangles, mesh.triangles);
        let pairs = meshes[0].1.positions.iter().zip(&mesh.positions);
        assert!(pairs.into_iter().all(|(a, b)| a.distance(*b) < 1e-5));
        for length in 0..bytes.len() {
            assert!(decoded(&bytes[..length]).is_none(), "cut at {length}");
        }
    }
}
