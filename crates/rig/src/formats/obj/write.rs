//! Writing OBJ text.

use std::fmt::Write;

use crate::Character;

/// Writes every part as an object with its texture coordinates and normals, in metres and Y up. Vertices keep their
/// order; colours follow positions.
pub fn write_obj(character: &Character) -> String {
    let mut out = String::from("# metres, Y up\n");
    let (mut first, mut first_uv, mut first_normal) = (1, 1, 1);
    for (index, part) in character.parts.iter().enumerate() {
        let name = part.name.replace(['\r', '\n'], " ");
        let _ = match name.is_empty() {
            true => writeln!(out, "o part{index}"),
            false => writeln!(out, "o {name}"),
        };
        for (vertex, p) in part.mesh.positions.iter().enumerate() {
            let _ = write!(out, "v {} {} {}", p.x, p.y, p.z);
            if let Some(c) = part.colors.get(vertex) {
                let _ = write!(out, " {} {} {}", c.x, c.y, c.z);
            }
            out.push('\n');
        }
        for uv in &part.uvs {
            let _ = writeln!(out, "vt {} {}", uv.x, 1.0 - uv.y);
        }
        for normal in &part.normals {
            let _ = writeln!(out, "vn {} {} {}", normal.x, normal.y, normal.z);
        }
        for triangle in &part.mesh.triangles {
            out.push('f');
            for corner in triangle {
                let _ = write!(out, " {}", corner + first);
                let (uv, normal) = (corner + first_uv, corner + first_normal);
                let _ = match (part.uvs.is_empty(), part.normals.is_empty()) {
                    (true, true) => Ok(()),
                    (false, true) => write!(out, "/{uv}"),
                    (true, false) => write!(out, "//{normal}"),
                    (false, false) => write!(out, "/{uv}/{normal}"),
                };
            }
            out.push('\n');
        }
        first += part.mesh.positions.len() as u32;
        first_uv += part.uvs.len() as u32;
        first_normal += part.normals.len() as u32;
    }
    out
}
