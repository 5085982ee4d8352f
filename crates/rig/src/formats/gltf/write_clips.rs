//! Writes clips as animations of a document.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::append::{Use, append_floats, push_in};
use super::document::{Document, push};
use super::units::{file_rotation, scale_clip, turn_clip};
use crate::clip::{Interpolation, Track, Values};
use crate::formats::FormatError;
use crate::{Clip, Pose, Skeleton, Transform};

/// Sample rate of clips whose twist or stretch, which glTF lacks, is converted to joint motion \[keys/s\].
const SAMPLE_RATE: f32 = 60.0;

/// Adds a clip as an animation; a clip without tracks adds none.
///
/// The document's links give the node of each joint and the file's units. An animated node with a
/// matrix gets translation, rotation and scale instead, as glTF requires.
pub fn append_clip(
    document: &mut Document,
    skeleton: &Skeleton,
    clip: &Clip,
) -> Result<(), FormatError> {
    let clip = in_file_units(
        document,
        skeleton,
        without_twist_and_stretch(clip, skeleton),
    );
    let mut writer = ClipWriter {
        animation: json!({"samplers": [], "channels": []}),
        inputs: BTreeMap::new(),
        shift: -first_time(&clip).min(0.0),
    };
    for track in &clip.tracks {
        let node = document.links.joint_nodes.get(track.joint).copied();
        let node = node.ok_or_else(|| no_such("joint", track.joint))?;
        dissolve_matrix(
            document,
            node,
            skeleton.joints()[track.joint].rest,
            track.joint,
            skeleton,
        );
        writer.write_track(document, node, track)?;
    }
    let mut done = Vec::new();
    for track in &clip.morphs {
        let link = document.links.parts.get(track.part).copied();
        let node = link.ok_or_else(|| no_such("part", track.part))?.node;
        if !done.contains(&node) {
            done.push(node);
            let weights: Vec<[f32; 1]> = track.weights.iter().map(|&weight| [weight]).collect();
            check_finite(track.weights.iter(), "morph weights")?;
            let output = append_floats(document, &weights, Use::Data);
            writer.channel(
                document,
                node,
                "weights",
                &track.times,
                output,
                track.interpolation,
            );
        }
    }
    let ClipWriter { mut animation, .. } = writer;
    if animation["channels"].as_array().is_some_and(Vec::is_empty) {
        return Ok(());
    }
    if !clip.name.is_empty() {
        animation["name"] = clip.name.as_str().into();
    }
    push(&mut document.json, "animations", animation);
    Ok(())
}

fn no_such(what: &str, index: usize) -> FormatError {
    FormatError::invalid(
        "clip",
        format!("animates {what} {index}, which the file does not have"),
    )
}

fn first_time(clip: &Clip) -> f32 {
    let joints = clip.tracks.iter().map(|track| &track.times);
    let all = joints.chain(clip.morphs.iter().map(|track| &track.times));
    all.filter_map(|times| times.first())
        .fold(0.0, |first, &time| first.min(time))
}

/// The clip with twist and stretch converted to rotations and translations.
fn without_twist_and_stretch(clip: &Clip, skeleton: &Skeleton) -> Clip {
    let special = |track: &Track| matches!(track.values, Values::Twist(_) | Values::Stretch(_));
    if !clip.tracks.iter().any(special) {
        return clip.clone();
    }
    let frames = (clip.duration() * SAMPLE_RATE).ceil() as usize + 1;
    let poses: Vec<Pose> = (0..frames)
        .map(|frame| plain_pose(&clip.sample(skeleton, frame as f32 / SAMPLE_RATE), skeleton))
        .collect();
    Clip {
        morphs: clip.morphs.clone(),
        ..Clip::from_poses(&clip.name, skeleton, SAMPLE_RATE, &poses)
    }
}

/// The same joint placements without twist and stretch, as [`Pose::worlds`] applies them.
pub(crate) fn plain_pose(pose: &Pose, skeleton: &Skeleton) -> Pose {
    if pose.twist.is_empty() && pose.stretch.is_empty() {
        return pose.clone();
    }
    let mut plain = pose.clone();
    for (local, joint) in plain.locals.iter_mut().zip(skeleton.joints()) {
        let Some(parent) = joint.parent else {
            continue;
        };
        local.translation *= pose.stretch.get(parent).copied().unwrap_or(1.0);
        let angle = pose.twist.get(parent).copied().unwrap_or(0.0);
        if let Some(axis) = local.translation.try_normalize().filter(|_| angle != 0.0) {
            local.rotation = glam::Quat::from_axis_angle(axis, angle) * local.rotation;
        }
    }
    plain.twist.clear();
    plain.stretch.clear();
    plain
}

fn in_file_units(document: &Document, skeleton: &Skeleton, mut clip: Clip) -> Clip {
    let units = document.links.units;
    scale_clip(&mut clip, 1.0 / units.metres_per_unit);
    let roots: Vec<bool> = skeleton
        .joints()
        .iter()
        .map(|joint| joint.parent.is_none())
        .collect();
    turn_clip(&mut clip, &roots, file_rotation(units.up).inverse());
    clip
}

/// Replaces a node's matrix, if any, by its decomposed rest transform.
fn dissolve_matrix(
    document: &mut Document,
    node: usize,
    rest: Transform,
    joint: usize,
    skeleton: &Skeleton,
) {
    let units = document.links.units;
    let Some(node) = document.json["nodes"]
        .get_mut(node)
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    if node.shift_remove("matrix").is_none() {
        return;
    }
    let turn = match skeleton.joints()[joint].parent {
        None => file_rotation(units.up).inverse(),
        Some(_) => glam::Quat::IDENTITY,
    };
    let translation = turn * rest.translation / units.metres_per_unit;
    node.insert("translation".into(), json!(translation.to_array()));
    node.insert(
        "rotation".into(),
        json!((turn * rest.rotation).normalize().to_array()),
    );
    node.insert("scale".into(), json!(rest.scale.to_array()));
}

struct ClipWriter {
    animation: Value,
    /// Accessors of key times already written, by their bits.
    inputs: BTreeMap<Vec<u32>, usize>,
    /// Added to all times: glTF times start at zero.
    shift: f32,
}

impl ClipWriter {
    fn write_track(
        &mut self,
        document: &mut Document,
        node: usize,
        track: &Track,
    ) -> Result<(), FormatError> {
        let (path, output) = match &track.values {
            Values::Rotation(values) => {
                let numbers: Vec<[f32; 4]> = values.iter().map(|value| value.to_array()).collect();
                check_finite(numbers.as_flattened().iter(), "joint rotations")?;
                ("rotation", append_floats(document, &numbers, Use::Data))
            }
            Values::Translation(values) | Values::Scale(values) => {
                let numbers: Vec<[f32; 3]> = values.iter().map(|value| value.to_array()).collect();
                check_finite(numbers.as_flattened().iter(), "joint positions")?;
                let path = match &track.values {
                    Values::Scale(_) => "scale",
                    _ => "translation",
                };
                (path, append_floats(document, &numbers, Use::Data))
            }
            Values::Twist(_) | Values::Stretch(_) => return Ok(()),
        };
        self.channel(
            document,
            node,
            path,
            &track.times,
            output,
            track.interpolation,
        );
        Ok(())
    }

    fn channel(
        &mut self,
        document: &mut Document,
        node: usize,
        path: &str,
        times: &[f32],
        output: usize,
        interpolation: Interpolation,
    ) {
        if times.is_empty() {
            return;
        }
        let times: Vec<[f32; 1]> = times.iter().map(|time| [time + self.shift]).collect();
        let key = times.iter().map(|time| time[0].to_bits()).collect();
        let input = *self
            .inputs
            .entry(key)
            .or_insert_with(|| append_floats(document, &times, Use::Data));
        let interpolation = match interpolation {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::Cubic => "CUBICSPLINE",
        };
        let sampler = self.animation["samplers"].as_array().map_or(0, Vec::len);
        let entry = json!({"input": input, "interpolation": interpolation, "output": output});
        push_in(&mut self.animation, "samplers", entry);
        let entry = json!({"sampler": sampler, "target": {"node": node, "path": path}});
        push_in(&mut self.animation, "channels", entry);
    }
}

fn check_finite<'a>(
    mut numbers: impl Iterator<Item = &'a f32>,
    what: &str,
) -> Result<(), FormatError> {
    match numbers.all(|number| number.is_finite()) {
        true => Ok(()),
        false => Err(FormatError::NotFinite {
            element: format!("clip ({what})"),
        }),
    }
}
