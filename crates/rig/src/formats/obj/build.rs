//! Builds parts from parsed OBJ data.

use glam::{Vec2, Vec3, Vec4};
use supple_geom::TriMesh;

use super::super::FormatError;
use super::super::checks::note;
use super::super::load::Resolver;
use super::super::polygon::triangulate;
use super::super::seams::{Corner, NONE, Split, split_seams};
use super::mtl::read_materials;
use super::parse::{Obj, Section, parse};
use crate::{Character, Part};

/// The character in file units and axes, and the position index of each vertex of each part.
pub(in super::super) fn parse_obj(
    bytes: &[u8],
    resolve: Resolver,
) -> Result<(Character, Vec<Vec<u32>>), FormatError> {
    let obj = parse(bytes)?;
    if obj.positions.is_empty() {
        return Err(FormatError::Empty("no vertices"));
    }
    check_indices(&obj)?;
    let mut character = Character::default();
    let (sections, thin) = triangles_by_section(&obj);
    if thin + obj.lines_and_points > 0 {
        note(
            &mut character,
            format!(
                "{} points, lines and faces with fewer than three corners are ignored.",
                thin + obj.lines_and_points
            ),
        );
    }
    let used: Vec<&str> = obj
        .sections
        .iter()
        .map(|section| section.material.as_str())
        .collect();
    let materials = read_materials(&mut character, &obj.libraries, &used, resolve);
    let single = sections.len() <= 1;
    let mut map = Vec::new();
    let mut scratch = Vec::new();
    let mut covered = 0;
    for (section, corners) in &sections {
        let split = split_seams(corners, obj.positions.len(), single, &mut scratch);
        let about = &obj.sections[*section];
        let material = materials.get(*section).copied().flatten();
        map.push(split.vertices.iter().map(|vertex| vertex[0]).collect());
        covered += split.vertices.len();
        character.parts.push(part(&obj, about, material, split));
    }
    if sections.is_empty() {
        map.push((0..obj.positions.len() as u32).collect());
        let mut part = Part::default();
        if obj.normals.len() == obj.positions.len() {
            let units = obj.normals.iter().map(|normal| normal.normalize_or_zero());
            part.normals = units.collect();
        }
        part.mesh.positions = obj.positions;
        character.parts.push(part);
    } else if covered < obj.positions.len() {
        note(
            &mut character,
            "Some vertices are not used by any face. They are left out.",
        );
    }
    Ok((character, map))
}

fn check_indices(obj: &Obj) -> Result<(), FormatError> {
    let counts = [obj.positions.len(), obj.uvs.len(), obj.normals.len()];
    let names = ["vertex", "texture coordinate", "normal"];
    for (corner, indices) in obj.corners.iter().enumerate() {
        for which in 0..3 {
            let index = indices[which];
            if index as usize >= counts[which] && (index != NONE || which == 0) {
                let known = counts[which];
                return Err(FormatError::invalid(
                    format!("face corner {corner}"),
                    format!(
                        "it refers to {} {}, but there are {known}",
                        names[which],
                        u64::from(index) + 1
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// Triangle corners of every non-empty section, and the number of faces with fewer than three corners.
fn triangles_by_section(obj: &Obj) -> (Vec<(usize, Vec<Corner>)>, usize) {
    let mut lists: Vec<Vec<Corner>> = vec![Vec::new(); obj.sections.len()];
    let mut left = obj.corners.as_slice();
    let mut thin = 0;
    let mut places: Vec<Vec3> = Vec::new();
    for run in &obj.runs {
        let list = &mut lists[run.section as usize];
        let (mine, rest) = left.split_at(run.sides as usize * run.faces as usize);
        left = rest;
        match run.sides {
            0..3 => thin += run.faces as usize,
            3 => list.extend_from_slice(mine),
            sides => {
                for face in mine.chunks_exact(sides as usize) {
                    places.clear();
                    places.extend(face.iter().map(|corner| obj.positions[corner[0] as usize]));
                    triangulate(&places, |triangle| list.extend(triangle.map(|i| face[i])));
                }
            }
        }
    }
    let lists = lists.into_iter().enumerate();
    (lists.filter(|(_, list)| !list.is_empty()).collect(), thin)
}

fn part(obj: &Obj, about: &Section, material: Option<usize>, split: Split) -> Part {
    let vertices = &split.vertices;
    let positions = vertices
        .iter()
        .map(|vertex| obj.positions[vertex[0] as usize]);
    let triangles = split.corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]]);
    let any = |which: usize| vertices.iter().any(|vertex| vertex[which] != NONE);
    let mut part = Part {
        name: name(about),
        mesh: TriMesh {
            positions: positions.collect(),
            triangles: triangles.collect(),
        },
        material,
        ..Part::default()
    };
    if any(1) {
        let uv = |vertex: &Corner| obj.uvs.get(vertex[1] as usize).copied();
        part.uvs = vertices
            .iter()
            .map(|v| uv(v).unwrap_or(Vec2::ZERO))
            .collect();
    }
    if any(2) {
        let normal = |vertex: &Corner| obj.normals.get(vertex[2] as usize).copied();
        part.normals = vertices
            .iter()
            .map(|v| normal(v).unwrap_or(Vec3::ZERO))
            .collect();
    }
    if !obj.colors.is_empty() {
        let color = |vertex: &Corner| obj.colors.get(vertex[0] as usize).copied();
        part.colors = vertices
            .iter()
            .map(|v| color(v).unwrap_or(Vec4::ONE))
            .collect();
    }
    part
}

fn name(section: &Section) -> String {
    let words = [&section.object, &section.group, &section.material];
    let words: Vec<&str> = words
        .into_iter()
        .map(String::as_str)
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(name: &str) -> Result<Vec<u8>, FormatError> {
        Err(FormatError::invalid(name, "not there"))
    }

    fn read(text: &str) -> Result<(Character, Vec<Vec<u32>>), FormatError> {
        parse_obj(text.as_bytes(), &none)
    }

    const SQUARE: &str = "v 0 0 0\r\nv 1 0 0 1\nv 1 1 0\n\nv 0 1 0 # corner\n";

    #[test]
    fn order_negative_indices_and_polygons() {
        let (character, map) = read(&format!("{SQUARE}v 9 9 9\nf -5 -4 -3 \\\n -2\n")).unwrap();
        let part = &character.parts[0];
        assert_eq!(part.mesh.positions.len(), 5, "unused vertices are kept");
        assert_eq!(part.mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(map[0], [0, 1, 2, 3, 4]);
        assert!(part.uvs.is_empty() && part.normals.is_empty());
    }

    #[test]
    fn seams_add_vertices_behind() {
        let text =
            format!("{SQUARE}vt 0 0\nvt 1 0.25\nvn 0 0 2\nf 1/1/1 2/1/1 3/1/1\nf 1/2/1 3/1/1 4//1");
        let (character, map) = read(&text).unwrap();
        let part = &character.parts[0];
        assert_eq!(map[0], [0, 1, 2, 3, 0]);
        assert_eq!(part.mesh.triangles, [[0, 1, 2], [4, 2, 3]]);
        assert_eq!(part.uvs[4], Vec2::new(1.0, 0.75));
        assert_eq!(part.normals[3], Vec3::Z);
    }

    #[test]
    fn materials_and_objects_make_parts() {
        let text = format!(
            "mtllib a.mtl\n{SQUARE}o body\nusemtl red\nf 1 2 3\nusemtl blue\nf 1 3 4\nusemtl red\nf 4 3 1\n"
        );
        let library = |_: &str| {
            Ok(
                b"newmtl red\nKd 1 0 0\nd 0.5\nnewmtl blue\nTr 0.25\nmap_Kd -s 1 1 1 x.png"
                    .to_vec(),
            )
        };
        let (character, map) = parse_obj(text.as_bytes(), &library).unwrap();
        assert_eq!(character.parts.len(), 2);
        assert_eq!(character.parts[0].name, "body red");
        assert_eq!(character.parts[0].mesh.triangles.len(), 2);
        assert_eq!(map[1], [0, 2, 3]);
        let red = &character.materials[character.parts[0].material.unwrap()];
        assert_eq!(red.base_color, Vec4::new(1.0, 0.0, 0.0, 0.5));
        assert_eq!(character.materials[1].base_color.w, 0.75);
    }

    #[test]
    fn vertex_colours() {
        let (character, _) = read("v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3").unwrap();
        assert_eq!(character.parts[0].colors[1], Vec4::new(0.0, 1.0, 0.0, 1.0));
    }

    #[test]
    fn bad_files_give_errors() {
        let fails = |text: &str, why: &str| {
            let error = read(text)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(error.contains(why), "{text:?}: {error}");
        };
        fails("# nothing", "no vertices");
        fails("hello world", "no vertices");
        fails("v 0 0", "line 1: 2 numbers");
        fails("v 0 0 nan", "finite");
        fails("v 0 0 1e39", "finite");
        fails(&format!("{SQUARE}f 1 2 5"), "vertex 5, but there are 4");
        fails(&format!("{SQUARE}f 1 2 0"), "zero");
        fails(&format!("{SQUARE}f 1 2 -9"), "before the first");
        fails(&format!("{SQUARE}f 1 2 x"), "found 'x'");
        fails(&format!("{SQUARE}f 1/1 2/1 3/1"), "texture coordinate 1");
        fails(&format!("{SQUARE}f 1 2 99999999999999999999"), "zero or");
    }
}
