//! Units: glTF requires metres; files with impossible sizes are rescaled.

use glam::{Quat, Vec3};

use crate::character::{Problem, Remedy, Severity, Units, Up};
use crate::clip::Values;
use crate::formats::ReadOptions;
use crate::{Character, Clip};

/// Largest and smallest plausible extent of a character in metres \[m\].
const MAX_EXTENT: f32 = 30.0;
const MIN_EXTENT: f32 = 0.03;
/// Most likely largest extent of a character \[m\].
const LIKELY_EXTENT: f32 = 1.7;

/// Converts a character from file units and axes to metres and Y up.
pub(super) fn apply_units(character: &mut Character, options: &ReadOptions) {
    let extent = rest_extent(character);
    let (metres, declared) = match options.metres_per_unit {
        Some(metres) if metres > 0.0 && metres.is_finite() => (metres, true),
        _ => guess(extent),
    };
    let up = options.up.unwrap_or(Up::Y);
    character.units = Units {
        metres_per_unit: metres,
        up,
        declared,
    };
    if !declared {
        character.problems.push(Problem {
            severity: Severity::Warning,
            remedy: Some(Remedy::Unit),
            place: String::new(),
            text: format!(
                "glTF is in metres, but this character would be {} m large. {metres} m per unit is used instead.",
                short(extent)
            ),
        });
    }
    scale(character, metres);
    turn(character, file_rotation(up));
}

/// A size rounded to three digits.
pub(in crate::formats) fn short(metres: f32) -> String {
    match metres {
        0.01..100.0 => format!("{metres:.2}"),
        100.0..1e7 => format!("{metres:.0}"),
        _ => format!("{metres:.2e}"),
    }
}

/// For an impossible size, the power of ten that brings it nearest to the likely size.
pub(in crate::formats) fn guess(extent: f32) -> (f32, bool) {
    if extent <= 0.0 || !extent.is_finite() || (MIN_EXTENT..=MAX_EXTENT).contains(&extent) {
        return (1.0, true);
    }
    let power = (LIKELY_EXTENT / extent).log10().round().clamp(-30.0, 30.0);
    (10f32.powf(power), false)
}

/// `supple_from_file` rotation for an up axis.
pub(super) fn file_rotation(up: Up) -> Quat {
    match up {
        Up::Y => Quat::IDENTITY,
        Up::Z => Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
    }
}

/// Largest side of the bounding box at rest, of the joints if there is no mesh.
fn rest_extent(character: &Character) -> f32 {
    let worlds = character.skeleton.rest_worlds();
    let mut low = Vec3::INFINITY;
    let mut high = Vec3::NEG_INFINITY;
    let mut cover = |point: Vec3| {
        low = low.min(point);
        high = high.max(point);
    };
    for part in &character.parts {
        let binding = &part.binding;
        let slots: Vec<_> = binding
            .joints
            .iter()
            .zip(&binding.inverse_binds)
            .map(|(&joint, inverse)| worlds[joint] * *inverse)
            .collect();
        if binding.influences.is_empty() {
            part.mesh.positions.iter().for_each(|&point| cover(point));
            continue;
        }
        for (vertex, &position) in part.mesh.positions.iter().enumerate() {
            let influences = binding.influences.of(vertex).iter();
            cover(
                influences
                    .map(|&(slot, weight)| weight * slots[slot as usize].transform_point3(position))
                    .sum(),
            );
        }
    }
    if character.parts.is_empty() {
        worlds
            .iter()
            .for_each(|world| cover(world.translation.into()));
    }
    (high - low).max_element()
}

/// Scales every length.
pub(super) fn scale(character: &mut Character, factor: f32) {
    if factor == 1.0 {
        return;
    }
    for joint in 0..character.skeleton.len() {
        character.skeleton.rest_mut(joint).translation *= factor;
    }
    for part in &mut character.parts {
        let morphs = part
            .morphs
            .iter_mut()
            .flat_map(|morph| &mut morph.positions);
        part.mesh
            .positions
            .iter_mut()
            .chain(morphs)
            .for_each(|point| *point *= factor);
        let inverses = &mut part.binding.inverse_binds;
        inverses
            .iter_mut()
            .for_each(|inverse| inverse.translation *= factor);
    }
    character
        .clips
        .iter_mut()
        .for_each(|clip| scale_clip(clip, factor));
}

pub(super) fn scale_clip(clip: &mut Clip, factor: f32) {
    for track in &mut clip.tracks {
        if let Values::Translation(values) = &mut track.values {
            values.iter_mut().for_each(|value| *value *= factor);
        }
    }
}

/// Rotates the world: only roots and parts without weights, since everything else follows them.
fn turn(character: &mut Character, rotation: Quat) {
    if rotation == Quat::IDENTITY {
        return;
    }
    let roots: Vec<bool> = character
        .skeleton
        .joints()
        .iter()
        .map(|joint| joint.parent.is_none())
        .collect();
    for (joint, _) in roots.iter().enumerate().filter(|(_, root)| **root) {
        let rest = character.skeleton.rest_mut(joint);
        rest.translation = rotation * rest.translation;
        rest.rotation = rotation * rest.rotation;
    }
    for clip in &mut character.clips {
        turn_clip(clip, &roots, rotation);
    }
    let parts = character.parts.iter_mut();
    for part in parts.filter(|part| part.binding.influences.is_empty()) {
        let morphs = part.morphs.iter_mut();
        let vectors = morphs.flat_map(|morph| morph.positions.iter_mut().chain(&mut morph.normals));
        (part.mesh.positions.iter_mut().chain(&mut part.normals))
            .chain(vectors)
            .for_each(|vector| *vector = rotation * *vector);
    }
}

pub(super) fn turn_clip(clip: &mut Clip, roots: &[bool], rotation: Quat) {
    for track in clip.tracks.iter_mut().filter(|track| roots[track.joint]) {
        match &mut track.values {
            Values::Translation(values) => values.iter_mut().for_each(|v| *v = rotation * *v),
            Values::Rotation(values) => values.iter_mut().for_each(|q| *q = rotation * *q),
            _ => {}
        }
    }
}
