//! Animation stacks as clips: ufbx evaluates layers, pivots and curves and returns keys of local transforms.

use super::super::FormatError;
use super::meshes::Links;
use super::{Joints, broken, quat, vec3};
use crate::clip::{Interpolation, MorphTrack, Track, Values};
use crate::{Character, Clip};

/// Sample rate of curves that are not piecewise linear \[keys/s\].
const SAMPLE_RATE: f64 = 60.0;
/// Keys closer than `1 / MAX_KEY_RATE` s are dropped. At [`SAMPLE_RATE`], authored keys beside a sample would be lost
/// (24 frames per second: 5°).
const MAX_KEY_RATE: f64 = 1000.0;

/// Adds a clip for each animation stack that animates something.
pub(super) fn read_clips(
    scene: &ufbx::Scene,
    joints: &Joints,
    links: &Links,
    budget: usize,
    character: &mut Character,
) -> Result<(), FormatError> {
    let mut left = budget;
    for stack in &scene.anim_stacks {
        let allocator = || ufbx::AllocatorOpts {
            memory_limit: left.max(1),
            allocation_limit: 10_000_000,
            ..Default::default()
        };
        let options = ufbx::BakeOpts {
            temp_allocator: allocator(),
            result_allocator: allocator(),
            trim_start_time: true,
            resample_rate: SAMPLE_RATE,
            maximum_sample_rate: MAX_KEY_RATE,
            ..Default::default()
        };
        let baked = ufbx::bake_anim(scene, &stack.anim, options).map_err(broken)?;
        let mut clip = Clip {
            name: stack.element.name.to_string(),
            ..Clip::default()
        };
        for node in &baked.nodes {
            if let Some(joint) = joints
                .of_node
                .get(node.typed_id as usize)
                .copied()
                .flatten()
            {
                add_tracks(&mut clip, joint, node);
            }
        }
        for (part, channels) in links.iter().enumerate() {
            clip.morphs
                .extend(morph_track(&baked, character, part, channels));
        }
        let keys: usize = clip.tracks.iter().map(|track| track.times.len()).sum();
        left = left.saturating_sub(keys * 64);
        if !clip.tracks.is_empty() || !clip.morphs.is_empty() {
            character.clips.push(clip);
        }
    }
    Ok(())
}

fn add_tracks(clip: &mut Clip, joint: usize, node: &ufbx::BakedNode) {
    let mut push = |times: Vec<f64>, values: Values, fine: bool| {
        let times: Vec<f32> = times.into_iter().map(|time| time.max(0.0) as f32).collect();
        let ascends = times.windows(2).all(|pair| pair[0] <= pair[1]);
        if !times.is_empty() && ascends && fine && times.iter().all(|time| time.is_finite()) {
            clip.tracks.push(Track {
                joint,
                times,
                values,
                interpolation: Interpolation::Linear,
            });
        }
    };
    let vectors = |keys: &[ufbx::BakedVec3]| -> (Vec<f64>, Vec<glam::Vec3>) {
        keys.iter().map(|key| (key.time, vec3(key.value))).unzip()
    };
    let (times, values) = vectors(&node.translation_keys);
    let fine = values.iter().all(|value| value.is_finite());
    push(times, Values::Translation(values), fine);
    let keys = node
        .rotation_keys
        .iter()
        .map(|key| (key.time, quat(key.value)));
    let (times, values) = keys.unzip();
    push(times, Values::Rotation(values), true);
    let (times, values) = vectors(&node.scale_keys);
    let fine = values.iter().all(|value| value.is_finite());
    let moves = values.windows(2).any(|pair| pair[0] != pair[1]);
    push(times, Values::Scale(values), fine && moves);
}

/// Weights of a part's blend shapes at the union of their key times.
fn morph_track(
    baked: &ufbx::BakedAnim,
    character: &Character,
    part: usize,
    channels: &[u32],
) -> Option<MorphTrack> {
    let keys_of = |channel: &u32| -> Option<&[ufbx::BakedVec3]> {
        let element = baked
            .elements
            .iter()
            .find(|element| element.element_id == *channel)?;
        let prop = element
            .props
            .iter()
            .find(|prop| &*prop.name == "DeformPercent")?;
        Some(&prop.keys)
    };
    let keys: Vec<Option<&[ufbx::BakedVec3]>> = channels.iter().map(keys_of).collect();
    let mut times: Vec<f64> = keys
        .iter()
        .flatten()
        .flat_map(|keys| keys.iter().map(|key| key.time))
        .collect();
    times.retain(|time| time.is_finite());
    times.sort_by(f64::total_cmp);
    times.dedup();
    if times.is_empty() || times.len().saturating_mul(channels.len()) > 50_000_000 {
        return None;
    }
    let rest = &character.parts.get(part)?.morph_weights;
    let mut weights = Vec::with_capacity(times.len() * channels.len());
    for &time in &times {
        for (channel, keys) in keys.iter().enumerate() {
            weights.push(match keys {
                Some(keys) => (ufbx::evaluate_baked_vec3(keys, time).x / 100.0) as f32,
                None => rest.get(channel).copied().unwrap_or(0.0),
            });
        }
    }
    Some(MorphTrack {
        part,
        times: times.into_iter().map(|time| time.max(0.0) as f32).collect(),
        weights,
        interpolation: Interpolation::Linear,
    })
}
