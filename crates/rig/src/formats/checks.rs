//! Mesh checks: notes and warnings that do not prevent loading.

use std::collections::HashSet;

use supple_geom::TriMesh;

use crate::character::{Character, Problem, Remedy, Severity};

/// Adds a note about the whole file.
pub(super) fn note(character: &mut Character, text: impl Into<String>) {
    add(character, Severity::Note, String::new(), text.into());
}

/// Adds a warning about the whole file.
pub(super) fn warn(character: &mut Character, text: impl Into<String>) {
    add(character, Severity::Warning, String::new(), text.into());
}

/// Tells what may mend the problem that was added last.
pub(super) fn remedy(character: &mut Character, remedy: Remedy) {
    if let Some(last) = character.problems.last_mut() {
        last.remedy = Some(remedy);
    }
}

fn add(character: &mut Character, severity: Severity, place: String, text: String) {
    character.problems.push(Problem {
        severity,
        remedy: None,
        place,
        text,
    });
}

/// Reports degenerate faces, unused vertices, coincident vertices, and parts without faces.
pub fn check_meshes(character: &mut Character) {
    for part in 0..character.parts.len() {
        let part = &character.parts[part];
        let place = part.name.clone();
        for (severity, text) in mesh_problems(&part.mesh) {
            add(character, severity, place.clone(), text);
        }
    }
}

fn mesh_problems(mesh: &TriMesh) -> Vec<(Severity, String)> {
    let mut found = Vec::new();
    if mesh.triangles.is_empty() {
        found.push((
            Severity::Warning,
            "The mesh has no faces. Points cannot be skinned.".to_owned(),
        ));
        return found;
    }
    let flat = mesh
        .triangles
        .iter()
        .filter(|t| has_no_area(mesh, t))
        .count();
    if flat > 0 {
        found.push((
            Severity::Warning,
            format!("{flat} faces have zero area. They are kept but have no normal."),
        ));
    }
    let mut used = vec![false; mesh.positions.len()];
    for &corner in mesh.triangles.as_flattened() {
        if let Some(used) = used.get_mut(corner as usize) {
            *used = true;
        }
    }
    let unused = used.iter().filter(|used| !**used).count();
    if unused > 0 {
        found.push((
            Severity::Note,
            format!("{unused} vertices are not used by any face. They are kept."),
        ));
    }
    let places: HashSet<[u32; 3]> = mesh.positions.iter().map(|&p| key(p)).collect();
    let twins = mesh.positions.len() - places.len();
    if twins > 0 {
        found.push((
            Severity::Note,
            format!(
                "{twins} vertices coincide with others (seams or unwelded faces). The file keeps them; the simulation welds them."
            ),
        ));
    }
    found
}

/// Bit pattern of a position, with both zeros equal.
fn key(position: glam::Vec3) -> [u32; 3] {
    (position + 0.0).to_array().map(f32::to_bits)
}

fn has_no_area(mesh: &TriMesh, triangle: &[u32; 3]) -> bool {
    let corner = |i: usize| mesh.positions.get(triangle[i] as usize);
    match (corner(0), corner(1), corner(2)) {
        (Some(a), Some(b), Some(c)) => {
            let (a, b, c) = (a.as_dvec3(), b.as_dvec3(), c.as_dvec3());
            let edges = (b - a).length_squared().max((c - a).length_squared());
            // The height over the longest edge is below the resolution of f32 coordinates.
            (b - a).cross(c - a).length() <= 1e-7 * edges
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn each_problem_is_reported_once() {
        let mesh = TriMesh {
            positions: vec![
                Vec3::ZERO,
                Vec3::X,
                Vec3::Y,
                Vec3::Y,
                Vec3::new(2.0, 0.0, 0.0),
                Vec3::Z,
            ],
            triangles: vec![[0, 1, 2], [0, 1, 4], [1, 2, 3]],
        };
        let texts: Vec<String> = mesh_problems(&mesh).into_iter().map(|p| p.1).collect();
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert!(texts[0].starts_with("2 faces have zero area"));
        assert!(texts[1].starts_with("1 vertices are not used"));
        assert!(texts[2].starts_with("1 vertices coincide"));
    }
}
