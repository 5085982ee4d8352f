//! Units and axes of formats that do not declare them: guessed, reported, and overridable.

use std::collections::HashSet;

use glam::Vec3;
use supple_geom::TriMesh;

use super::checks::{check_meshes, note, remedy, warn};
use super::floor::{Floor, find_floor};
use super::unit_conversion::convert;
use super::{FormatError, ReadOptions};
use crate::Pose;
use crate::character::{Character, Remedy, Units, Up};
use crate::clip::Values;
use crate::markers::Markers;
use crate::skeleton_fit::fit_humanoid;

/// Content of a file that declares no units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Any mesh, with or without a skeleton.
    Mesh,
    /// Motion capture of a person.
    Person,
}

/// Range into which a power-of-ten unit brings the largest extent of a mesh \[m\].
const PLAUSIBLE_EXTENT: std::ops::Range<f64> = 0.3..3.0;
/// Meshes with this largest extent are taken to be in metres: a hand or a bone is small, and no other unit fits better.
const METRE_EXTENT: std::ops::Range<f64> = 0.03..3.0;

/// Units of motion capture: metres, centimetres, millimetres, inches, and the CMU library's inches / 0.45.
const PERSON_UNITS: [f64; 5] = [1.0, 0.01, 0.001, 0.0254, 0.0254 / 0.45];

/// Largest extent of an adult's skeleton \[m\].
const PERSON_EXTENT: f64 = 1.7;

/// Chooses unit and up axis, converts the character to metres and Y up, and reports assumptions and problems.
pub(super) fn normalise_units(
    character: &mut Character,
    options: &ReadOptions,
    content: Content,
) -> Result<(), FormatError> {
    let floor = find_floor(character);
    let points = shape_points(character, floor.as_ref());
    let extent = largest_extent(&points);
    let metres_per_unit = match options.metres_per_unit {
        Some(given) => valid_unit(given)?,
        None => guess_unit(extent, content) as f32,
    };
    let up = options.up.unwrap_or_else(|| match content {
        Content::Mesh => guess_up(&points)
            .or(floor.as_ref().and_then(up_of_floor))
            .or_else(|| up_of_person(character))
            .unwrap_or(Up::Y),
        Content::Person => guess_motion_up(character, &points),
    });
    convert(character, metres_per_unit, up);
    character.units = Units {
        metres_per_unit,
        up,
        declared: options.metres_per_unit.is_some() && options.up.is_some(),
    };
    if extent > 0.0 {
        report_assumptions(character, options, extent);
    }
    if floor.is_some() {
        let text = "The mesh contains a floor. Size and up axis are guessed without it, but tissue would treat it as skin. Delete the floor from the file.";
        warn(character, text);
    }
    check_finite(character)?;
    check_meshes(character);
    Ok(())
}

fn valid_unit(metres_per_unit: f32) -> Result<f32, FormatError> {
    if metres_per_unit.is_finite() && metres_per_unit > 0.0 {
        Ok(metres_per_unit)
    } else {
        Err(FormatError::invalid(
            "the given unit",
            format!("{metres_per_unit} m is not a length; give a positive number of metres"),
        ))
    }
}

fn report_assumptions(character: &mut Character, options: &ReadOptions, extent: f64) {
    let Units {
        metres_per_unit,
        up,
        ..
    } = character.units;
    if !(1e-4..=1e5).contains(&extent) {
        warn(
            character,
            format!("The largest extent is {extent:.3e} units. The file may be damaged."),
        );
    }
    if options.metres_per_unit.is_none() || options.up.is_none() {
        let up = if up == Up::Y { "Y" } else { "Z" };
        note(
            character,
            format!(
                "The format declares no units or axes. Assumed {metres_per_unit} m per unit (largest extent {:.2} m) and {up} up.",
                extent * f64::from(metres_per_unit)
            ),
        );
        remedy(character, Remedy::UnitAndUp);
    }
}

/// Vertices outside the floor; without vertices, joints and bone ends at rest.
fn shape_points(character: &Character, floor: Option<&Floor>) -> Vec<Vec3> {
    let vertices = || character.parts.iter().flat_map(|part| &part.mesh.positions);
    if vertices().next().is_some() {
        let stands = |point: &Vec3| floor.is_none_or(|floor| !floor.contains(*point));
        return vertices().copied().filter(stands).collect();
    }
    joint_points(character, &Pose::rest(&character.skeleton))
}

fn joint_points(character: &Character, pose: &Pose) -> Vec<Vec3> {
    let worlds = pose.worlds(&character.skeleton);
    let tails = character.skeleton.joints().iter().zip(&worlds);
    let tails = tails.filter_map(|(joint, world)| Some(world.transform_point3(joint.tail?)));
    worlds
        .iter()
        .map(|world| Vec3::from(world.translation))
        .chain(tails)
        .collect()
}

fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    points.iter().fold(
        (Vec3::INFINITY, Vec3::NEG_INFINITY),
        |(low, high), &point| (low.min(point), high.max(point)),
    )
}

fn largest_extent(points: &[Vec3]) -> f64 {
    let (low, high) = bounds(points);
    if points.is_empty() {
        return 0.0;
    }
    (high.as_dvec3() - low.as_dvec3()).max_element()
}

fn guess_unit(extent: f64, content: Content) -> f64 {
    if !extent.is_finite() || extent <= f64::from(f32::MIN_POSITIVE) {
        return 1.0;
    }
    match content {
        Content::Mesh if METRE_EXTENT.contains(&extent) => 1.0,
        Content::Mesh => {
            let power = (extent / PLAUSIBLE_EXTENT.start).log10().floor();
            10.0f64.powf(-power)
        }
        Content::Person => {
            let known = PERSON_UNITS.into_iter().min_by(|a, b| {
                let miss = |unit: f64| (unit * extent / PERSON_EXTENT).ln().abs();
                miss(*a).total_cmp(&miss(*b))
            });
            known.unwrap_or(1.0)
        }
    }
}

/// The up axis implied by a floor at the low end of Y or Z.
fn up_of_floor(floor: &Floor) -> Option<Up> {
    match (floor.axis, floor.is_low) {
        (1, true) => Some(Up::Y),
        (2, true) => Some(Up::Z),
        _ => None,
    }
}

/// Z if a humanoid can be fitted along Z but not along Y.
fn up_of_person(character: &Character) -> Option<Up> {
    let mut mesh = TriMesh::default();
    for part in &character.parts {
        part.mesh.check().ok()?;
        mesh.append(&part.mesh);
    }
    let none = Markers::default();
    if fit_humanoid(&mesh, &none).is_ok() {
        return Some(Up::Y);
    }
    for point in &mut mesh.positions {
        *point = Vec3::new(point.x, point.z, -point.y);
    }
    fit_humanoid(&mesh, &none).ok().map(|_| Up::Z)
}

/// The longer one of Y and Z, if the shape is mirror-symmetric across exactly one other axis: bodies are
/// symmetric from left to right and taller than deep. `None` if that is ambiguous.
fn guess_up(points: &[Vec3]) -> Option<Up> {
    let (low, high) = bounds(points);
    let size = high - low;
    if points.len() < 8 || !size.is_finite() || size.max_element() <= 0.0 {
        return None;
    }
    let mirror: [f32; 3] = std::array::from_fn(|axis| mirror_share(points, low, high, axis));
    let best = (0..3).fold(0, |best, axis| {
        if mirror[axis] > mirror[best] {
            axis
        } else {
            best
        }
    });
    let second = (0..3)
        .filter(|&axis| axis != best)
        .fold(0.0f32, |s, axis| s.max(mirror[axis]));
    let clear = mirror[best] > 0.8 && mirror[best] > second + 0.1;
    let is_z = match best {
        0 => size.z > size.y,
        1 => size.z > size.x,
        _ => false,
    };
    clear.then_some(if is_z { Up::Z } else { Up::Y })
}

/// BVH is usually Y up. Z only if both the rest pose and the first frame are longer along Z.
fn guess_motion_up(character: &Character, rest: &[Vec3]) -> Up {
    let mut pose = Pose::rest(&character.skeleton);
    for track in character.clips.iter().flat_map(|clip| &clip.tracks) {
        let Some(local) = pose.locals.get_mut(track.joint) else {
            continue;
        };
        match &track.values {
            Values::Rotation(keys) => local.rotation = keys.first().copied().unwrap_or_default(),
            Values::Translation(keys) => {
                local.translation = keys.first().copied().unwrap_or_default();
            }
            _ => {}
        }
    }
    let (low, high) = bounds(&joint_points(character, &pose));
    let posed = high - low;
    match guess_up(rest) {
        Some(Up::Z) if posed.z > posed.y => Up::Z,
        _ => Up::Y,
    }
}

/// Fraction of points with another point near their mirror image across the middle of an axis.
fn mirror_share(points: &[Vec3], low: Vec3, high: Vec3, axis: usize) -> f32 {
    const CELLS: f32 = 40.0;
    const MAX_SAMPLES: usize = 4000;
    let cell = (high - low).max_element() / CELLS;
    let place = |p: Vec3| ((p - low) / cell).floor().as_ivec3();
    let filled: HashSet<glam::IVec3> = points.iter().map(|&p| place(p)).collect();
    let step = points.len().div_ceil(MAX_SAMPLES);
    let sample = || points.iter().step_by(step);
    let has_twin = |&&point: &&Vec3| {
        let mut twin = point;
        twin[axis] = low[axis] + high[axis] - point[axis];
        let center = place(twin);
        (0..27).any(|i| {
            filled.contains(&(center + glam::IVec3::new(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1)))
        })
    };
    sample().filter(has_twin).count() as f32 / sample().count() as f32
}

fn check_finite(character: &Character) -> Result<(), FormatError> {
    let bad = |what: String| {
        Err(FormatError::invalid(
            what,
            "it overflows when converted to metres; set a smaller unit",
        ))
    };
    for part in &character.parts {
        if let Some(vertex) = part.mesh.positions.iter().position(|p| !p.is_finite()) {
            return bad(format!("vertex {vertex}"));
        }
    }
    for joint in character.skeleton.joints() {
        if !joint.rest.translation.is_finite() || joint.tail.is_some_and(|t| !t.is_finite()) {
            return bad(format!("joint '{}'", joint.name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Part;

    fn cloud(points: Vec<Vec3>) -> Character {
        let mut part = Part::default();
        part.mesh.positions = points;
        Character {
            parts: vec![part],
            ..Character::default()
        }
    }

    #[test]
    fn units_land_in_the_plausible_range() {
        for power in -6..7 {
            for mantissa in [0.3001, 1.0, 1.75, 2.9999] {
                let extent = mantissa * 10.0f64.powi(power);
                let metres = extent * guess_unit(extent, Content::Mesh);
                assert!(METRE_EXTENT.contains(&metres), "{extent} → {metres}");
            }
        }
        assert_eq!(guess_unit(0.0, Content::Mesh), 1.0);
        assert_eq!(guess_unit(0.084, Content::Mesh), 1.0);
        assert!((guess_unit(20.9, Content::Mesh) - 0.1).abs() < 1e-12);
        assert_eq!(guess_unit(175.0, Content::Person), 0.01);
        assert_eq!(guess_unit(31.0, Content::Person), 0.0254 / 0.45);
    }

    /// An asymmetric body: symmetric in x alone, tall in z.
    fn body() -> Vec<Vec3> {
        let mut points = Vec::new();
        for i in 0..100 {
            let z = i as f32 * 0.2;
            for x in [-1.0, 1.0] {
                points.push(Vec3::new(x * (1.0 + z * 0.2), (z * 0.7).sin() + z * 0.1, z));
            }
        }
        points
    }

    #[test]
    fn a_body_tall_in_z_is_rotated_upright() {
        let mut character = cloud(body());
        normalise_units(&mut character, &ReadOptions::default(), Content::Mesh).unwrap();
        assert_eq!(character.units.up, Up::Z);
        assert!(!character.units.declared);
        let (low, high) = bounds(&character.parts[0].mesh.positions);
        let size = high - low;
        assert!(size.y > size.x && size.y > size.z);
        assert_eq!(character.problems[0].remedy, Some(Remedy::UnitAndUp));
    }

    #[test]
    fn options_override_guesses_and_invalid_units_fail() {
        let mut options = ReadOptions {
            metres_per_unit: Some(2.0),
            up: Some(Up::Y),
        };
        let mut character = cloud(body());
        normalise_units(&mut character, &options, Content::Mesh).unwrap();
        assert_eq!(character.parts[0].mesh.positions[2], body()[2] * 2.0);
        for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            options.metres_per_unit = Some(bad);
            assert!(normalise_units(&mut cloud(body()), &options, Content::Mesh).is_err());
        }
        options.metres_per_unit = Some(1e38);
        assert!(normalise_units(&mut cloud(body()), &options, Content::Mesh).is_err());
    }

    /// A floor wider than the body is tall, off-centre, as a fine grid and as two triangles.
    #[test]
    fn a_floor_changes_neither_size_nor_up() {
        for cells in [1, 40] {
            let mut floor = supple_geom::shapes::cuboid(Vec3::new(70.0, 60.0, 0.1), cells);
            for point in &mut floor.positions {
                *point += Vec3::new(9.0, 6.0, -0.05);
            }
            let first = body().len() as u32;
            let mut character = cloud([body(), floor.positions.clone()].concat());
            let turned = floor.triangles.iter().map(|t| t.map(|v| v + first));
            character.parts[0].mesh.triangles = turned.collect();
            let mut alone = cloud(body());
            normalise_units(&mut character, &ReadOptions::default(), Content::Mesh).unwrap();
            normalise_units(&mut alone, &ReadOptions::default(), Content::Mesh).unwrap();
            assert_eq!(character.units, alone.units);
            assert!(character.problems.iter().any(|p| p.text.contains("floor")));
        }
    }

    #[test]
    fn a_fitted_humanoid_decides_ambiguous_shapes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../supple/assets/male.glb");
        let bytes = std::fs::read(path).unwrap();
        let mut male = crate::formats::gltf::read_glb(&bytes, &ReadOptions::default()).unwrap();
        assert_eq!(up_of_person(&male), Some(Up::Y));
        for part in &mut male.parts {
            for point in &mut part.mesh.positions {
                *point = Vec3::new(point.x, -point.z, point.y);
            }
        }
        assert_eq!(up_of_person(&male), Some(Up::Z));
        let mut ball = cloud(Vec::new());
        ball.parts[0].mesh = supple_geom::shapes::icosphere(1.0, 3);
        assert_eq!(up_of_person(&ball), None);
    }
}
