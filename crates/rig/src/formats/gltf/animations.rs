//! Animations: one clip each.

use glam::{Quat, Vec3};

use super::accessor::Accessors;
use super::document::Document;
use super::json::Element;
use super::links::PartLink;
use crate::Clip;
use crate::character::{Problem, Severity};
use crate::clip::{Interpolation, MorphTrack, Track, Values};
use crate::formats::FormatError;

/// Animation targets: joints by node, parts by node, morph targets by part.
pub(super) struct Targets<'a> {
    pub joint_of_node: &'a [Option<usize>],
    pub parts: &'a [PartLink],
    pub morph_counts: &'a [usize],
}

pub(super) fn read_animations(
    document: &Document,
    accessors: &Accessors<'_>,
    targets: &Targets<'_>,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Clip>, FormatError> {
    let mut clips = Vec::new();
    for animation in document.root().items("animations")? {
        let samplers = animation.items("samplers")?;
        let mut clip = Clip {
            name: animation.text("name"),
            ..Clip::default()
        };
        for channel in animation.items("channels")? {
            let Some(target) = channel.child("target") else {
                continue;
            };
            let Some(node) = target.optional_index("node", targets.joint_of_node.len())? else {
                continue;
            };
            let sampler = &samplers[channel.index("sampler", samplers.len())?];
            let path = target.text("path");
            let joint = targets.joint_of_node[node];
            match (path.as_str(), joint) {
                ("weights", _) => {
                    read_weights(sampler, node, accessors, targets, &mut clip, problems)?
                }
                ("translation" | "rotation" | "scale", Some(joint)) => {
                    let track = read_track(sampler, joint, &path, accessors, problems)?;
                    clip.tracks.extend(track);
                }
                _ => {}
            }
        }
        clips.push(clip);
    }
    Ok(clips)
}

struct Keys {
    times: Vec<f32>,
    output: usize,
    interpolation: Interpolation,
}

impl Keys {
    /// Number of values per key.
    fn values(&self) -> usize {
        match self.interpolation {
            Interpolation::Cubic => 3,
            _ => 1,
        }
    }
}

fn read_keys(
    sampler: &Element<'_>,
    accessors: &Accessors<'_>,
    problems: &mut Vec<Problem>,
) -> Result<Option<Keys>, FormatError> {
    let input = sampler.index("input", accessors.len())?;
    let times = accessors.floats(input, &[1])?;
    if times.iter().any(|time| !time.is_finite()) {
        return Err(FormatError::NotFinite {
            element: format!("{} (key times)", accessors.path(input)),
        });
    }
    if times.is_empty() || times.windows(2).any(|pair| pair[1] < pair[0]) {
        problems.push(Problem {
            severity: Severity::Warning,
            remedy: None,
            place: sampler.path.clone(),
            text: "The key times are not ascending. This track is ignored.".into(),
        });
        return Ok(None);
    }
    let interpolation = match sampler.text("interpolation").as_str() {
        "" | "LINEAR" => Interpolation::Linear,
        "STEP" => Interpolation::Step,
        "CUBICSPLINE" => Interpolation::Cubic,
        other => return Err(sampler.invalid(format!("has unknown interpolation '{other}'"))),
    };
    Ok(Some(Keys {
        times,
        output: sampler.index("output", accessors.len())?,
        interpolation,
    }))
}

fn read_track(
    sampler: &Element<'_>,
    joint: usize,
    path: &str,
    accessors: &Accessors<'_>,
    problems: &mut Vec<Problem>,
) -> Result<Option<Track>, FormatError> {
    let Some(keys) = read_keys(sampler, accessors, problems)? else {
        return Ok(None);
    };
    let components = if path == "rotation" { 4 } else { 3 };
    let numbers = accessors.floats(keys.output, &[components])?;
    check_values(
        sampler,
        &numbers,
        keys.times.len() * keys.values() * components,
    )?;
    let vectors = || numbers.chunks_exact(3).map(Vec3::from_slice).collect();
    let values = match path {
        "rotation" => Values::Rotation(rotations(&numbers, keys.interpolation)),
        "scale" => Values::Scale(vectors()),
        _ => Values::Translation(vectors()),
    };
    Ok(Some(Track {
        joint,
        times: keys.times,
        values,
        interpolation: keys.interpolation,
    }))
}

/// Normalised rotations; spline tangents are kept as they are.
fn rotations(numbers: &[f32], interpolation: Interpolation) -> Vec<Quat> {
    let quats = numbers.chunks_exact(4).map(Quat::from_slice).enumerate();
    quats
        .map(|(index, quat)| {
            let tangent = interpolation == Interpolation::Cubic && index % 3 != 1;
            let length = quat.length_squared();
            match () {
                _ if tangent => quat,
                _ if length > 1e-12 && length.is_finite() => quat.normalize(),
                _ => Quat::IDENTITY,
            }
        })
        .collect()
}

fn check_values(
    sampler: &Element<'_>,
    numbers: &[f32],
    expected: usize,
) -> Result<(), FormatError> {
    if numbers.len() != expected {
        let reason = format!(
            "has {} output numbers, but {expected} are needed",
            numbers.len()
        );
        return Err(sampler.invalid(reason));
    }
    match numbers.iter().all(|number| number.is_finite()) {
        true => Ok(()),
        false => Err(FormatError::NotFinite {
            element: format!("{}.output", sampler.path),
        }),
    }
}

fn read_weights(
    sampler: &Element<'_>,
    node: usize,
    accessors: &Accessors<'_>,
    targets: &Targets<'_>,
    clip: &mut Clip,
    problems: &mut Vec<Problem>,
) -> Result<(), FormatError> {
    let Some(keys) = read_keys(sampler, accessors, problems)? else {
        return Ok(());
    };
    let weights = accessors.floats(keys.output, &[1])?;
    for (part, link) in targets.parts.iter().enumerate() {
        if link.node != node {
            continue;
        }
        let expected = keys.times.len() * keys.values() * targets.morph_counts[part];
        check_values(sampler, &weights, expected)?;
        accessors.spend(weights.len() * 4, &sampler.path)?;
        clip.morphs.push(MorphTrack {
            part,
            times: keys.times.clone(),
            weights: weights.clone(),
            interpolation: keys.interpolation,
        });
    }
    Ok(())
}
