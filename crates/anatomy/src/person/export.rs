//! A person as plain meshes for other programs: surfaces, bones, muscles, and a tet mesh of fat and muscle.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use supple_geom::TriMesh;
use supple_rig::character::Part;
use supple_rig::formats::{FormatError, save, save_character};
use supple_rig::{Character, Skeleton};

use crate::Layers;
use crate::template::LayeredBody;

/// Writes `skin`, `muscle_surface`, `skeleton_surface`, `bones/…`, `muscles/…` with an ending (ply, obj, off, stl), and
/// `tissue.vtk`, into a folder; metres, Y up, in the rest pose. Returns what was written.
pub fn save_layers(
    anatomy: &LayeredBody,
    folder: &Path,
    ending: &str,
) -> Result<Vec<PathBuf>, FormatError> {
    let mut written = Vec::new();
    let mut mesh = |name: String, mesh: TriMesh| -> Result<(), FormatError> {
        let path = folder.join(format!("{name}.{ending}"));
        save_character(&path, &plain(mesh))?;
        written.push(path);
        Ok(())
    };
    let [skin, muscle, skeleton] = anatomy.surfaces();
    mesh("skin".to_owned(), skin)?;
    mesh("muscle_surface".to_owned(), muscle)?;
    mesh("skeleton_surface".to_owned(), skeleton)?;
    for entry in &anatomy.bones {
        mesh(
            format!("bones/{}", file_name(&entry.bone.name)),
            entry.bone.mesh.clone(),
        )?;
    }
    for muscle in &anatomy.muscles {
        mesh(
            format!("muscles/{}", file_name(&muscle.name)),
            muscle.mesh.clone(),
        )?;
    }
    let path = folder.join("tissue.vtk");
    save(&path, tissue_vtk(&anatomy.layers, &anatomy.name).as_bytes())?;
    written.push(path);
    Ok(written)
}

/// A name that stays in its folder, whatever a file calls it.
pub fn file_name(name: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let name: String = (name.chars())
        .map(|c| if safe(c) { c } else { '_' })
        .take(120)
        .collect();
    match name.starts_with('.') || name.is_empty() {
        true => format!("_{name}"),
        false => name,
    }
}

fn plain(mesh: TriMesh) -> Character {
    Character {
        skeleton: Skeleton::default(),
        parts: vec![Part {
            mesh,
            ..Part::default()
        }],
        ..Character::default()
    }
}

/// Fat and muscle layer as a legacy VTK file of tets. `layer` of a tet is 1 for fat and 2 for muscle (with the organs);
/// `surface` of a point is 0 on the skin, 1 on the muscle surface, 2 on the skeleton surface, and `vertex` its number there.
pub fn tissue_vtk(layers: &Layers, name: &str) -> String {
    let mesh = layers.tet_mesh();
    let count = layers.skin.len() as u32;
    let mut place = vec![u32::MAX; mesh.positions.len()];
    let mut points = Vec::new();
    let mut tets = Vec::with_capacity(mesh.tets.len());
    for tet in &mesh.tets {
        tets.push(tet.map(|v| {
            let slot = &mut place[v as usize];
            if *slot == u32::MAX {
                *slot = points.len() as u32;
                points.push(v);
            }
            *slot
        }));
    }
    let title: String = (name.chars())
        .filter(|c| !c.is_control())
        .take(80)
        .collect();
    let mut text = format!(
        "# vtk DataFile Version 3.0\n{title}: fat and muscle [m]\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} float\n",
        points.len()
    );
    // Writing to a string cannot fail.
    for &v in &points {
        let p = mesh.positions[v as usize];
        let _ = writeln!(text, "{} {} {}", p.x, p.y, p.z);
    }
    let _ = writeln!(text, "CELLS {} {}", tets.len(), 5 * tets.len());
    for [a, b, c, d] in &tets {
        let _ = writeln!(text, "4 {a} {b} {c} {d}");
    }
    let _ = writeln!(text, "CELL_TYPES {}", tets.len());
    text.push_str(&"10\n".repeat(tets.len()));
    let _ = writeln!(
        text,
        "CELL_DATA {}\nSCALARS layer int 1\nLOOKUP_TABLE default",
        tets.len()
    );
    for tet in &mesh.tets {
        // Only tets of the muscle layer touch the skeleton surface, and all of them do.
        let is_muscle = tet.iter().any(|&v| v >= 2 * count);
        text.push_str(if is_muscle { "2\n" } else { "1\n" });
    }
    let _ = writeln!(text, "POINT_DATA {}", points.len());
    for (what, of) in [
        ("surface", (|v, count| v / count) as fn(u32, u32) -> u32),
        ("vertex", |v, count| v % count),
    ] {
        let _ = writeln!(text, "SCALARS {what} int 1\nLOOKUP_TABLE default");
        for &v in &points {
            let _ = writeln!(text, "{}", of(v, count));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::example::example;

    #[test]
    fn names_stay_in_their_folder() {
        assert_eq!(file_name("femur_l"), "femur_l");
        assert_eq!(file_name("../../etc/x"), "_.._.._etc_x");
        assert_eq!(file_name(""), "_");
    }

    #[test]
    fn tets_of_the_file_have_the_volumes_of_the_layers() {
        let template = example();
        let text = tissue_vtk(&template.layers, &template.name);
        let mut lines = text.lines().skip(4);
        let count = |line: &str| line.split(' ').nth(1).unwrap().parse::<usize>().unwrap();
        let points: Vec<glam::DVec3> = {
            let number = count(lines.next().unwrap());
            let of = |line: &str| {
                let p: Vec<f64> = line.split(' ').map(|x| x.parse().unwrap()).collect();
                glam::DVec3::new(p[0], p[1], p[2])
            };
            lines.by_ref().take(number).map(of).collect()
        };
        let number = count(lines.next().unwrap());
        let tets: Vec<Vec<usize>> = (lines.by_ref().take(number))
            .map(|line| {
                line.split(' ')
                    .skip(1)
                    .map(|v| v.parse().unwrap())
                    .collect()
            })
            .collect();
        assert_eq!(count(lines.next().unwrap()), number);
        let mut lines = lines.skip(number + 3);
        let mut volumes = [0.0; 3];
        for tet in &tets {
            let layer: usize = lines.next().unwrap().parse().unwrap();
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| points[tet[k]]);
            let volume = (b - a).cross(c - a).dot(d - a) / 6.0;
            assert!(volume > 0.0);
            volumes[layer] += volume;
        }
        let measures = template.layers.measures();
        assert!((volumes[1] / measures.fat_volume - 1.0).abs() < 1e-5);
        assert!((volumes[2] / measures.muscle_volume - 1.0).abs() < 1e-5);
    }
}
