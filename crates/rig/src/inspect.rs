//! Inspection of a character: counts for each part, and problems in plain words.

use std::collections::BTreeMap;

use supple_geom::adjacency::Adjacency;
use supple_geom::boundary::boundary_loops;
use supple_geom::shells::shells;
use supple_geom::tidy::turn_alike;
use supple_geom::weld::weld;
use supple_geom::{Surface, TriMesh};

use crate::character::{Character, Part, Problem, Remedy, Severity};
use crate::skeleton::{Joint, JointKind};

/// Counts for one part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartFacts {
    /// Name of the part.
    pub name: String,
    /// Number of vertices in the file.
    pub vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Connected components after welding.
    pub shells: usize,
    /// Vertices at the position of another one: texture seams and hard edges.
    pub seam_vertices: usize,
    /// Triangles with zero area.
    pub degenerate: usize,
    /// Non-manifold edges: shared by more than two triangles.
    pub non_manifold: usize,
    /// Boundary loops. A closed surface has none.
    pub holes: usize,
    /// Vertices without skin weights.
    pub unweighted: usize,
    /// Vertices whose skin weights do not sum to one.
    pub unnormalised: usize,
    /// Largest number of joints that move one vertex.
    pub most_influences: usize,
}

/// Counts for all parts, and the problems found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspection {
    /// One entry per part.
    pub parts: Vec<PartFacts>,
    /// Extent along Y at rest \[m\].
    pub height: f32,
    /// Problems in addition to [`Character::problems`].
    pub problems: Vec<Problem>,
}

/// Inspects all parts. Linear in the size of the skin, plus one winding number per joint.
pub fn inspect(character: &Character) -> Inspection {
    let mut inspection = Inspection {
        height: character.height(),
        ..Inspection::default()
    };
    for part in &character.parts {
        let facts = part_facts(part);
        part_problems(part, &facts, &mut inspection.problems);
        if character.is_scenery(part) {
            let text = "No bone moves it. It is treated as scenery and does not move.".into();
            (inspection.problems).push(problem(Severity::Note, &part.name, text));
        }
        inspection.parts.push(facts);
    }
    let problems = &mut inspection.problems;
    size_problems(inspection.height, problems);
    name_problems(character, problems);
    scale_problems(character, problems);
    skin_problems(character, problems);
    bind_problems(character, problems);
    problems.extend(crate::motion_warnings::motion_warnings(character));
    inspection
}

fn problem(severity: Severity, place: &str, text: String) -> Problem {
    Problem {
        severity,
        remedy: None,
        place: place.to_owned(),
        text,
    }
}

fn part_facts(part: &Part) -> PartFacts {
    let weights = &part.binding.influences;
    let vertices = part.mesh.positions.len();
    let own = |vertex: usize| {
        if vertex < weights.len() {
            weights.of(vertex)
        } else {
            &[]
        }
    };
    let sum = |vertex: usize| own(vertex).iter().map(|entry| entry.1).sum::<f32>();
    let skinned = !part.binding.joints.is_empty();
    let count = |test: &dyn Fn(usize) -> bool| (0..vertices).filter(|&v| test(v)).count();
    let mut facts = PartFacts {
        name: part.name.clone(),
        vertices,
        triangles: part.mesh.triangles.len(),
        unweighted: count(&|vertex| skinned && sum(vertex) <= 0.0),
        unnormalised: count(&|vertex| sum(vertex) > 0.0 && (sum(vertex) - 1.0).abs() > 1e-3),
        most_influences: (0..vertices)
            .map(|vertex| own(vertex).len())
            .max()
            .unwrap_or(0),
        ..PartFacts::default()
    };
    if part.mesh.check().is_ok() {
        let welded = weld(&part.mesh, 0.0);
        let adjacency = Adjacency::new(&welded.mesh);
        facts.seam_vertices = vertices - welded.mesh.positions.len();
        facts.shells = triangle_components(&welded.mesh);
        facts.degenerate = part.mesh.degenerate_count();
        facts.non_manifold = adjacency.non_manifold_edges().count();
        facts.holes = boundary_loops(&welded.mesh, &adjacency).len();
    }
    facts
}

/// Connected components that have triangles; unused vertices do not count.
fn triangle_components(mesh: &TriMesh) -> usize {
    let mut of_triangle = shells(mesh).of_triangle;
    of_triangle.sort_unstable();
    of_triangle.dedup();
    of_triangle.len()
}

fn part_problems(part: &Part, facts: &PartFacts, problems: &mut Vec<Problem>) {
    let mut add = |severity, count: usize, text: &str| {
        if count > 0 {
            problems.push(problem(severity, &part.name, format!("{count} {text}")));
        }
    };
    add(
        Severity::Warning,
        facts.unweighted,
        "vertices have no skin weights. They follow the part's first joint.",
    );
    add(
        Severity::Note,
        facts.unnormalised,
        "vertices have skin weights that do not sum to one. They drift off the body as it moves.",
    );
    add(
        Severity::Note,
        facts.non_manifold,
        "edges are shared by more than two triangles (non-manifold). Inside and outside are ambiguous there.",
    );
    add(
        Severity::Note,
        facts.holes,
        match facts.holes {
            1 => "hole: the skin is not closed and encloses no volume by itself.",
            _ => "holes: the skin is not closed and encloses no volume by itself.",
        },
    );
    if facts.shells > 1 {
        add(
            Severity::Note,
            facts.shells,
            "separate pieces (eyes, teeth, clothes). They are not connected and move independently.",
        );
    }
}

fn size_problems(height: f32, problems: &mut Vec<Problem>) {
    if height > 0.0 && !(0.1..=10.0).contains(&height) {
        let text =
            format!("The character is {height:.3} m tall. If it is a person, its unit is wrong.");
        problems.push(Problem {
            remedy: Some(Remedy::Unit),
            ..problem(Severity::Warning, "", text)
        });
    }
}

fn name_problems(character: &Character, problems: &mut Vec<Problem>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for joint in character.skeleton.joints() {
        *counts.entry(joint.name.as_str()).or_default() += 1;
    }
    if let Some(count) = counts.remove("") {
        let text = format!(
            "{} without a name. Motions and map files cannot refer to them.",
            joints(count)
        );
        problems.push(problem(Severity::Note, "", text));
    }
    counts.retain(|_, count| *count > 1);
    let twice: Vec<&str> = counts.into_keys().collect();
    if !twice.is_empty() {
        let text = format!(
            "Several joints have the same name ({}). References by name use the first one.",
            some_of(&twice)
        );
        problems.push(problem(Severity::Note, "", text));
    }
}

/// Scale of the bones. Helpers above them may be scaled; many files convert units there.
fn scale_problems(character: &Character, problems: &mut Vec<Problem>) {
    for joint in character.skeleton.joints() {
        let scale = joint.rest.scale;
        if joint.kind == JointKind::Helper || scale.abs_diff_eq(glam::Vec3::ONE, 1e-3) {
            continue;
        }
        let uneven = scale.max_element() - scale.min_element() > 1e-3 * scale.abs().max_element();
        let (severity, text) = if scale.min_element() <= 0.0 {
            (
                Severity::Warning,
                "mirrors or flattens its children, which turns their skin inside out",
            )
        } else if uneven {
            (
                Severity::Warning,
                "has a non-uniform scale, so joints below it shear when they rotate",
            )
        } else {
            (Severity::Note, "scales its children")
        };
        problems.push(problem(
            severity,
            &joint.name,
            format!("The joint {text} (scale {scale})."),
        ));
    }
}

/// Joints without skin, joints outside the skin, and triangle orientation.
fn skin_problems(character: &Character, problems: &mut Vec<Problem>) {
    if character.parts.is_empty() || character.skeleton.is_empty() {
        return;
    }
    let mut moves = vec![false; character.skeleton.len()];
    let mut skin = TriMesh::default();
    let rest = character.skeleton.rest_worlds();
    for part in &character.parts {
        for &(slot, weight) in &part.binding.influences.entries {
            let joint = part.binding.joints.get(slot as usize).copied();
            if let Some(moves) = joint.and_then(|joint| moves.get_mut(joint)) {
                *moves |= weight > 0.0;
            }
        }
        if part.mesh.check().is_ok() && !character.is_scenery(part) {
            let posed = crate::skinning::linear_blend(part, &rest, &part.morph_weights);
            skin.append(&TriMesh {
                positions: posed.positions,
                triangles: part.mesh.triangles.clone(),
            });
        }
    }
    let bones = || {
        (character.skeleton.joints().iter().enumerate())
            .filter(|(_, joint)| joint.kind == JointKind::Bone)
    };
    let name = |(index, joint): (usize, &Joint)| match joint.name.as_str() {
        "" => format!("number {index}"),
        name => name.to_owned(),
    };
    let idle: Vec<String> = bones()
        .filter(|&(index, _)| !moves[index])
        .map(name)
        .collect();
    // Without any weights in the file they are computed, so no joint is idle.
    if !idle.is_empty() && moves.contains(&true) {
        let text = format!(
            "{} without skin weights: {}.",
            joints(idle.len()),
            some_of(&idle)
        );
        problems.push(problem(Severity::Note, "", text));
    }
    let mut skin = weld(&skin, 0.0).mesh;
    let turned = turn_alike(&mut skin);
    if turned > 0 {
        let text = format!(
            "{turned} triangles are oriented against their neighbours. Tissue and pictures use corrected orientations; the file keeps its own."
        );
        problems.push(problem(Severity::Note, "", text));
    }
    if skin.signed_volume() < 0.0 {
        skin.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let text =
            "The skin is inside out. Tissue and pictures use corrected orientations; the file keeps its own."
                .to_owned();
        problems.push(problem(Severity::Note, "", text));
    }
    let surface = Surface::new(skin);
    let outside: Vec<String> = bones()
        .filter(|&(index, _)| moves[index] && !surface.contains(rest[index].translation.into()))
        .map(name)
        .collect();
    if !outside.is_empty() {
        let text = format!(
            "{} outside the skin ({}). No tissue is built around them.",
            joints(outside.len()),
            some_of(&outside)
        );
        problems.push(problem(Severity::Note, "", text));
    }
}

fn bind_problems(character: &Character, problems: &mut Vec<Problem>) {
    let pairs = character.skeleton.rest_worlds().into_iter();
    let height = character.height().max(1e-6);
    let moved = pairs
        .zip(character.bind_worlds())
        .filter(|(rest, bind)| rest.translation.distance(bind.translation) > 1e-3 * height)
        .count();
    if moved > 0 {
        let text = format!(
            "The rest pose differs from the bind pose ({moved} joints). Tissue is built in the bind pose; the rest pose is shown."
        );
        problems.push(problem(Severity::Note, "", text));
    }
}

/// "1 joint" or "{count} joints".
fn joints(count: usize) -> String {
    match count {
        1 => "1 joint".to_owned(),
        _ => format!("{count} joints"),
    }
}

/// The first few names of a list.
fn some_of<S: AsRef<str>>(names: &[S]) -> String {
    const MAX_NAMES: usize = 8;
    let few: Vec<&str> = names.iter().take(MAX_NAMES).map(S::as_ref).collect();
    let mut text = few.join(", ");
    if names.len() > MAX_NAMES {
        text.push_str(", …");
    }
    text
}

#[cfg(test)]
mod tests {
    use glam::{Affine3A, Vec3};
    use supple_geom::shapes::{icosphere, tube};

    use super::*;
    use crate::character::{Binding, Influences};
    use crate::{Joint, Skeleton, Transform};

    fn joint(name: &str, parent: Option<usize>, offset: Vec3) -> Joint {
        Joint {
            name: name.into(),
            parent,
            rest: Transform::from_translation(offset),
            tail: None,
            kind: JointKind::Bone,
        }
    }

    fn ball() -> Character {
        let mut outside = joint("twin", Some(0), Vec3::X * 3.0);
        outside.rest.scale = Vec3::new(1.0, 2.0, 1.0);
        let joints = vec![joint("twin", None, Vec3::ZERO), outside];
        let mut mesh = icosphere(1.0, 2);
        mesh.append(&tube(0.2, 1.0, 8, 4));
        let count = mesh.positions.len();
        let mut influences = Influences::rigid(0, count);
        influences.entries[0].1 = 0.5;
        influences.entries[1].1 = 0.0;
        influences.entries[2].0 = 1;
        Character {
            skeleton: Skeleton::from_unordered(joints).unwrap().0,
            parts: vec![Part {
                name: "ball".into(),
                mesh,
                binding: Binding {
                    joints: vec![0, 1],
                    inverse_binds: vec![
                        Affine3A::IDENTITY,
                        Affine3A::from_scale(Vec3::new(1.0, 0.5, 1.0))
                            * Affine3A::from_translation(-Vec3::X * 3.0),
                    ],
                    influences,
                    computed: false,
                },
                ..Part::default()
            }],
            ..Character::default()
        }
    }

    #[test]
    fn every_problem_is_reported() {
        let found = inspect(&ball());
        let facts = &found.parts[0];
        assert_eq!((facts.shells, facts.holes), (2, 2));
        assert_eq!((facts.unweighted, facts.unnormalised), (1, 1));
        let text: String = (found.problems.iter())
            .map(|problem| format!("{}: {}\n", problem.place, problem.text))
            .collect();
        for expected in [
            "no skin weights",
            "sum to one",
            "holes",
            "2 separate pieces",
            "the same name (twin)",
            "non-uniform scale",
            "1 joint outside",
        ] {
            assert!(text.contains(expected), "{expected} is not in\n{text}");
        }
        assert!(!text.contains("differs from the bind pose"), "{text}");
    }

    #[test]
    fn an_empty_character_has_no_problems() {
        assert_eq!(inspect(&Character::default()), Inspection::default());
    }
}
