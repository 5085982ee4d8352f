//! Writing binary PLY.

use crate::{Character, Part};

/// Writes all parts as one little-endian PLY, in metres and Y up, with the normals, colours and texture coordinates that all
/// parts have.
pub fn write_ply(character: &Character) -> Vec<u8> {
    let parts = &character.parts;
    let all = |test: fn(&Part) -> bool| parts.iter().all(test);
    let normals = all(|part| part.normals.len() == part.mesh.positions.len());
    let colors = all(|part| part.colors.len() == part.mesh.positions.len());
    let uvs = all(|part| part.uvs.len() == part.mesh.positions.len());
    let vertices: usize = parts.iter().map(|part| part.mesh.positions.len()).sum();
    let faces: usize = parts.iter().map(|part| part.mesh.triangles.len()).sum();
    let mut header = String::from("ply\nformat binary_little_endian 1.0\ncomment metres, Y up\n");
    header += &format!("element vertex {vertices}\n");
    let mut floats = |names: &[&str]| {
        names
            .iter()
            .for_each(|name| header += &format!("property float {name}\n"))
    };
    floats(&["x", "y", "z"]);
    if normals {
        floats(&["nx", "ny", "nz"]);
    }
    if uvs {
        floats(&["u", "v"]);
    }
    if colors {
        floats(&["red", "green", "blue", "alpha"]);
    }
    header +=
        &format!("element face {faces}\nproperty list uchar uint vertex_indices\nend_header\n");
    let mut out = header.into_bytes();
    for part in parts {
        for (i, position) in part.mesh.positions.iter().enumerate() {
            put(&mut out, &position.to_array());
            if normals {
                put(&mut out, &part.normals[i].to_array());
            }
            if uvs {
                put(&mut out, &[part.uvs[i].x, 1.0 - part.uvs[i].y]);
            }
            if colors {
                put(&mut out, &part.colors[i].to_array());
            }
        }
    }
    let mut first = 0;
    for part in parts {
        for triangle in &part.mesh.triangles {
            out.push(3);
            out.extend(
                triangle
                    .iter()
                    .flat_map(|corner| (corner + first).to_le_bytes()),
            );
        }
        first += part.mesh.positions.len() as u32;
    }
    out
}

fn put(out: &mut Vec<u8>, values: &[f32]) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}
