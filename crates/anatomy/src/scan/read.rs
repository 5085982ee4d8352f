//! Scans from files.

use std::path::Path;

use supple_rig::Character;
use supple_rig::character::Up;
use supple_rig::formats::{ReadOptions, load, load_bytes};

use super::{Scan, ScanError};

impl Scan {
    /// Reads a mesh (glb, obj, ply, off, stl, …) or points (ply, obj, xyz) in the file's own unit and axes.
    pub fn load(path: &Path) -> Result<Scan, ScanError> {
        Ok(Scan::of_character(&load(
            path,
            &raw(&path.to_string_lossy()),
        )?))
    }

    /// Like [`Scan::load`], from memory; the name provides the extension.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Scan, ScanError> {
        let none = |name: &str| {
            Err(supple_rig::formats::FormatError::Unsupported(format!(
                "the file refers to '{name}'; give one file"
            )))
        };
        let character = load_bytes(name, bytes, &none, &raw(name))?;
        Ok(Scan::of_character(&character))
    }

    /// All parts of a character in their rest pose.
    pub fn of_character(character: &Character) -> Scan {
        let mut scan = Scan::default();
        let worlds = character.skeleton.rest_worlds();
        for part in &character.parts {
            let first = scan.points.len() as u32;
            let posed = supple_rig::skinning::linear_blend(part, &worlds, &part.morph_weights);
            scan.points.extend(&posed.positions);
            let triangles = part.mesh.triangles.iter();
            scan.triangles
                .extend(triangles.map(|t| t.map(|v| v + first)));
            if posed.normals.len() == posed.positions.len() {
                scan.normals.extend(&posed.normals);
            }
        }
        if scan.normals.len() != scan.points.len() {
            scan.normals.clear();
        }
        if character.units.declared {
            scan.metres_per_unit = Some(1.0);
        }
        scan
    }
}

/// Formats without units are read as they are; registration finds unit and axis better than the reader's guess.
fn raw(name: &str) -> ReadOptions {
    let extension = name
        .rsplit_once('.')
        .map_or("", |(_, end)| end)
        .to_ascii_lowercase();
    match extension.as_str() {
        "glb" | "gltf" | "vrm" | "fbx" => ReadOptions::default(),
        _ => ReadOptions {
            metres_per_unit: Some(1.0),
            up: Some(Up::Y),
        },
    }
}
