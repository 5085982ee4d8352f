//! Units and axes of formats that do not declare them: guessed, said, and overridable.

use std::collections::HashSet;

use glam::{Affine3A, Mat3A, Quat, Vec3};
use supple_geom::TriMesh;

use super::checks::{check_meshes, note, warn};
use super::floor::{Floor, find_floor};
use super::{FormatError, ReadOptions};
use crate::character::{Character, Units, Up};
use crate::clip::Values;
use crate::fit::fit_humanoid;
use crate::{Pose, Transform};

/// What a file that declares no units is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// A shape of any kind, with or without a skeleton.
    Mesh,
    /// A recorded person.
    Person,
}

/// Largest extents that are taken for metres as they are; outside, the unit is a power of ten of a metre.
const PLAUSIBLE: std::ops::Range<f64> = 0.3..3.0;
/// Meshes of this extent are taken as metres: a hand or a bone is small, and no other unit says so better.
const METRES: std::ops::Range<f64> = 0.03..3.0;

/// Units that motion capture comes in: metres, centimetres, millimetres, inches, and the CMU library's inches / 0.45.
const PERSON_UNITS: [f64; 5] = [1.0, 0.01, 0.001, 0.0254, 0.0254 / 0.45];

/// What a skeleton of a grown person measures along its largest extent \[m\].
const PERSON: f64 = 1.7;

/// Chooses unit and up axis, converts the character to metres and Y up, and notes what was assumed and what is odd.
pub(super) fn settle(
    character: &mut Character,
    options: &ReadOptions,
    holds: Holds,
) -> Result<(), FormatError> {
    let floor = find_floor(character);
    let points = shape_points(character, floor.as_ref());
    let extent = largest_extent(&points);
    let metres_per_unit = match options.metres_per_unit {
        Some(given) => checked(given)?,
        None => guess_unit(extent, holds) as f32,
    };
    let up = options.up.unwrap_or_else(|| match holds {
        Holds::Mesh => guess_up(&points)
            .or(floor.as_ref().and_then(up_of_floor))
            .or_else(|| up_of_person(character))
            .unwrap_or(Up::Y),
        Holds::Person => guess_motion_up(character, &points),
    });
    convert(character, metres_per_unit, up);
    character.units = Units {
        metres_per_unit,
        up,
        declared: options.metres_per_unit.is_some() && options.up.is_some(),
    };
    if extent > 0.0 {
        say(character, options, extent);
    }
    if floor.is_some() {
        let text = "There is a floor in it: size and up axis go by what stands on it. Tissue takes it for skin; cut it off for the character alone.";
        warn(character, text);
    }
    check_finite(character)?;
    check_meshes(character);
    Ok(())
}

fn checked(metres_per_unit: f32) -> Result<f32, FormatError> {
    if metres_per_unit.is_finite() && metres_per_unit > 0.0 {
        Ok(metres_per_unit)
    } else {
        Err(FormatError::invalid(
            "the given unit",
            format!("{metres_per_unit} m is no length; give a positive number of metres"),
        ))
    }
}

fn say(character: &mut Character, options: &ReadOptions, extent: f64) {
    let Units {
        metres_per_unit,
        up,
        ..
    } = character.units;
    if !(1e-4..=1e5).contains(&extent) {
        warn(
            character,
            format!("Its largest extent is {extent:.3e} units, which suggests broken numbers."),
        );
    }
    if options.metres_per_unit.is_none() || options.up.is_none() {
        let up = if up == Up::Y { "Y" } else { "Z" };
        note(
            character,
            format!(
                "The format declares no units or axes; taken as {metres_per_unit} m a unit (largest extent {:.2} m) with {up} up. `--unit` and `--up` say otherwise.",
                extent * f64::from(metres_per_unit)
            ),
        );
    }
}

/// Vertices off the floor, or where there are none, joints and bone ends at rest.
fn shape_points(character: &Character, floor: Option<&Floor>) -> Vec<Vec3> {
    let vertices = || character.parts.iter().flat_map(|part| &part.mesh.positions);
    if vertices().next().is_some() {
        let stands = |point: &Vec3| floor.is_none_or(|floor| !floor.holds(*point));
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

fn guess_unit(extent: f64, holds: Holds) -> f64 {
    if !extent.is_finite() || extent <= f64::from(f32::MIN_POSITIVE) {
        return 1.0;
    }
    match holds {
        Holds::Mesh if METRES.contains(&extent) => 1.0,
        Holds::Mesh => {
            let power = (extent / PLAUSIBLE.start).log10().floor();
            10.0f64.powf(-power)
        }
        Holds::Person => {
            let known = PERSON_UNITS.into_iter().min_by(|a, b| {
                let miss = |unit: f64| (unit * extent / PERSON).ln().abs();
                miss(*a).total_cmp(&miss(*b))
            });
            known.unwrap_or(1.0)
        }
    }
}

/// What a floor is below; nothing where it is above or beside.
fn up_of_floor(floor: &Floor) -> Option<Up> {
    match (floor.axis, floor.is_low) {
        (1, true) => Some(Up::Y),
        (2, true) => Some(Up::Z),
        _ => None,
    }
}

/// Z where a person stands along it and none along Y.
fn up_of_person(character: &Character) -> Option<Up> {
    let mut mesh = TriMesh::default();
    for part in &character.parts {
        part.mesh.check().ok()?;
        mesh.append(&part.mesh);
    }
    if fit_humanoid(&mesh).is_some() {
        return Some(Up::Y);
    }
    for point in &mut mesh.positions {
        *point = Vec3::new(point.x, point.z, -point.y);
    }
    fit_humanoid(&mesh).map(|_| Up::Z)
}

/// Y or Z, whichever is longer, where the shape is a mirror image of itself across one other axis only: bodies are
/// symmetric from left to right and taller than deep. Nothing where that is not clear.
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

/// BVH is Y up by custom; Z only where both the rest pose and the first frame are longer along it.
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

/// The share of points with another point near their mirror image across the middle of an axis.
fn mirror_share(points: &[Vec3], low: Vec3, high: Vec3, axis: usize) -> f32 {
    const CELLS: f32 = 40.0;
    const MOST: usize = 4000;
    let cell = (high - low).max_element() / CELLS;
    let place = |p: Vec3| ((p - low) / cell).floor().as_ivec3();
    let filled: HashSet<glam::IVec3> = points.iter().map(|&p| place(p)).collect();
    let step = points.len().div_ceil(MOST);
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

/// Scales and turns everything: positions become `metres_per_unit · R · p`, and frames are carried along so that an
/// unrotated joint stays unrotated.
pub(super) fn convert(character: &mut Character, metres_per_unit: f32, up: Up) {
    let change = Change {
        scale: metres_per_unit,
        turn: match up {
            Up::Y => Quat::IDENTITY,
            Up::Z => Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        },
        up,
    };
    for part in &mut character.parts {
        part.mesh
            .positions
            .iter_mut()
            .for_each(|p| *p = change.point(*p));
        part.normals.iter_mut().for_each(|n| *n = change.axes(*n));
        for morph in &mut part.morphs {
            morph
                .positions
                .iter_mut()
                .for_each(|p| *p = change.point(*p));
            morph.normals.iter_mut().for_each(|n| *n = change.axes(*n));
        }
        for bind in &mut part.binding.inverse_binds {
            *bind = change.affine(bind);
        }
    }
    change_skeleton(character, &change);
    for track in character.clips.iter_mut().flat_map(|clip| &mut clip.tracks) {
        match &mut track.values {
            Values::Translation(values) => values.iter_mut().for_each(|v| *v = change.point(*v)),
            Values::Rotation(values) => values.iter_mut().for_each(|q| *q = change.rotation(*q)),
            Values::Scale(values) => values.iter_mut().for_each(|s| *s = change.factors(*s)),
            Values::Twist(_) | Values::Stretch(_) => {}
        }
    }
}

fn change_skeleton(character: &mut Character, change: &Change) {
    let joints = character
        .skeleton
        .joints()
        .iter()
        .cloned()
        .map(|mut joint| {
            joint.rest = Transform {
                translation: change.point(joint.rest.translation),
                rotation: change.rotation(joint.rest.rotation),
                scale: change.factors(joint.rest.scale),
            };
            joint.tail = joint.tail.map(|tail| change.point(tail));
            joint
        });
    // Parents are before children already, so the order stays and this cannot fail.
    if let Ok((skeleton, _)) = crate::Skeleton::from_unordered(joints.collect()) {
        character.skeleton = skeleton;
    }
}

struct Change {
    scale: f32,
    turn: Quat,
    up: Up,
}

impl Change {
    /// Swaps axes exactly; a quaternion would leave rounding in every coordinate.
    fn axes(&self, v: Vec3) -> Vec3 {
        match self.up {
            Up::Y => v,
            Up::Z => Vec3::new(v.x, v.z, -v.y),
        }
    }

    /// Factors along the axes, which keep their signs.
    fn factors(&self, v: Vec3) -> Vec3 {
        match self.up {
            Up::Y => v,
            Up::Z => Vec3::new(v.x, v.z, v.y),
        }
    }

    fn point(&self, p: Vec3) -> Vec3 {
        self.axes(p) * self.scale
    }

    fn rotation(&self, q: Quat) -> Quat {
        let axis = self.axes(Vec3::new(q.x, q.y, q.z));
        Quat::from_xyzw(axis.x, axis.y, axis.z, q.w)
    }

    fn affine(&self, a: &Affine3A) -> Affine3A {
        let turn = Mat3A::from_quat(self.turn);
        Affine3A {
            matrix3: turn * a.matrix3 * turn.transpose(),
            translation: self.point(a.translation.into()).into(),
        }
    }
}

fn check_finite(character: &Character) -> Result<(), FormatError> {
    let bad = |what: String| {
        Err(FormatError::invalid(
            what,
            "it overflows when converted to metres; give a smaller unit",
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
                let metres = extent * guess_unit(extent, Holds::Mesh);
                assert!(METRES.contains(&metres), "{extent} → {metres}");
            }
        }
        assert_eq!(guess_unit(0.0, Holds::Mesh), 1.0);
        assert_eq!(guess_unit(0.084, Holds::Mesh), 1.0);
        assert!((guess_unit(20.9, Holds::Mesh) - 0.1).abs() < 1e-12);
        assert_eq!(guess_unit(175.0, Holds::Person), 0.01);
        assert_eq!(guess_unit(31.0, Holds::Person), 0.0254 / 0.45);
    }

    /// A lopsided body: symmetric in x alone, tall in z.
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
    fn a_body_that_stands_along_z_is_turned() {
        let mut character = cloud(body());
        settle(&mut character, &ReadOptions::default(), Holds::Mesh).unwrap();
        assert_eq!(character.units.up, Up::Z);
        assert!(!character.units.declared);
        let (low, high) = bounds(&character.parts[0].mesh.positions);
        let size = high - low;
        assert!(size.y > size.x && size.y > size.z);
        assert!(character.problems[0].text.contains("--up"));
    }

    #[test]
    fn options_win_and_absurd_ones_fail() {
        let mut options = ReadOptions {
            metres_per_unit: Some(2.0),
            up: Some(Up::Y),
        };
        let mut character = cloud(body());
        settle(&mut character, &options, Holds::Mesh).unwrap();
        assert_eq!(character.parts[0].mesh.positions[2], body()[2] * 2.0);
        for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            options.metres_per_unit = Some(bad);
            assert!(settle(&mut cloud(body()), &options, Holds::Mesh).is_err());
        }
        options.metres_per_unit = Some(1e38);
        assert!(settle(&mut cloud(body()), &options, Holds::Mesh).is_err());
    }

    /// A floor that is wider than the body is tall and not centred below it, as a fine grid and as two triangles.
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
            settle(&mut character, &ReadOptions::default(), Holds::Mesh).unwrap();
            settle(&mut alone, &ReadOptions::default(), Holds::Mesh).unwrap();
            assert_eq!(character.units, alone.units);
            assert!(character.problems.iter().any(|p| p.text.contains("floor")));
        }
    }

    #[test]
    fn a_person_decides_where_the_shape_does_not() {
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

    #[test]
    fn mirrors_stay_mirrors() {
        let joint = crate::Joint {
            name: String::new(),
            parent: None,
            rest: Transform {
                scale: Vec3::new(1.0, -2.0, 3.0),
                ..Transform::default()
            },
            tail: None,
            kind: crate::skeleton::JointKind::Bone,
        };
        let mut character = Character {
            skeleton: crate::Skeleton::from_unordered(vec![joint]).unwrap().0,
            ..Character::default()
        };
        convert(&mut character, 1.0, Up::Z);
        let scale = character.skeleton.joints()[0].rest.scale;
        assert_eq!(scale, Vec3::new(1.0, 3.0, -2.0));
    }
}
