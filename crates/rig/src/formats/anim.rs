//! `.anim`: key poses of a `.skel`, as text.
//!
//! `keys joints`; per key its time (in \[0, 1\] or the key's index), one axis per joint (in the order of the `.skel`), then
//! all angles \[rad\].
//! Rotations are local: about the joint, in the rest orientation of the mesh's axes, on top of the parent's.

use glam::{Quat, Vec3};

use super::checks::note;
use super::text::Words;
use super::unit_conversion::convert;
use super::{FormatError, ReadOptions};
use crate::clip::{Interpolation, Track, Values};
use crate::skeleton::{Joint, JointKind};
use crate::{Character, Clip, Skeleton, Transform};

/// Mean time between keys \[s\]; times in the file are not seconds. Slow enough
/// for tissue to follow, fast enough to watch.
pub const SECONDS_PER_INTERVAL: f32 = 2.0;

/// Reads an `.anim` alone: a character without parts, whose joints have no names and lie at the origin.
/// To apply it to a mesh and its skeleton, use [`super::load_character`], or [`crate::same_skeleton::direct`].
pub fn read_anim(bytes: &[u8], options: &ReadOptions) -> Result<Character, FormatError> {
    let (clip, joints) = parse_anim(bytes)?;
    let joints = (0..joints).map(|_| Joint {
        name: String::new(),
        parent: None,
        rest: Transform::IDENTITY,
        tail: None,
        kind: JointKind::Bone,
    });
    let (skeleton, _) = Skeleton::from_unordered(joints.collect())?;
    let mut character = Character {
        skeleton,
        clips: vec![clip],
        ..Character::default()
    };
    convert(&mut character, 1.0, options.up.unwrap_or_default());
    character.units.up = options.up.unwrap_or_default();
    character.units.declared = false;
    note(
        &mut character,
        "An .anim file has no joint names. Open it together with the .skel it was made for; joints are matched by order.",
    );
    Ok(character)
}

/// The clip, its tracks in the file's joint order and axes, and the number of joints.
pub(super) fn parse_anim(bytes: &[u8]) -> Result<(Clip, usize), FormatError> {
    let mut words = Words::new(bytes, Some(b'#'));
    if words.peek().is_none() {
        return Err(FormatError::Empty("nothing"));
    }
    let keys = words.count("the number of keys")?;
    let joints = words.count("the number of joints")?;
    if keys == 0 || joints == 0 {
        return Err(FormatError::Empty("no keys or no joints"));
    }
    words.check_fits(keys.saturating_mul(joints), 8, "rotations")?;
    let mut times: Vec<f32> = Vec::with_capacity(keys);
    let mut rotations: Vec<Vec<Quat>> = vec![Vec::with_capacity(keys); joints];
    let mut axes = Vec::with_capacity(joints);
    for _ in 0..keys {
        let time = words.number("a key's time")? as f32;
        times.push(time);
        axes.clear();
        for _ in 0..joints {
            axes.push(words.vec3("a joint's axis")?);
        }
        for (axis, keys) in axes.iter().zip(&mut rotations) {
            keys.push(rotation(*axis, words.number("a joint's angle")? as f32));
        }
    }
    let times = seconds(&times);
    let track = |(joint, keys)| Track {
        joint,
        times: times.clone(),
        values: Values::Rotation(keys),
        interpolation: Interpolation::Linear,
    };
    let clip = Clip {
        tracks: rotations.into_iter().enumerate().map(track).collect(),
        ..Clip::default()
    };
    Ok((clip, joints))
}

/// Key times in seconds. Times in the file are fractions of the whole or key indices; if they do not ascend (hand-made files
/// repeat 0), keys are spaced evenly.
fn seconds(times: &[f32]) -> Vec<f32> {
    let span = SECONDS_PER_INTERVAL * times.len().saturating_sub(1) as f32;
    let (first, last) = (times[0], times[times.len() - 1]);
    let ascend = times.windows(2).all(|pair| pair[0] < pair[1]) && (last - first).is_finite();
    if ascend && last > first {
        let at = |time: &f32| (time - first) / (last - first) * span;
        return times.iter().map(at).collect();
    }
    (0..times.len())
        .map(|key| key as f32 * SECONDS_PER_INTERVAL)
        .collect()
}

fn rotation(axis: Vec3, angle: f32) -> Quat {
    match axis.try_normalize() {
        Some(axis) if angle.is_finite() => Quat::from_axis_angle(axis, angle),
        _ => Quat::IDENTITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_quaternions_and_seconds() {
        let text = b"3 1\n0\n1 0 0\n0\n0.25\n0 0 2\n1.5\n1\n0 1 0\n-1\n";
        let (clip, joints) = parse_anim(text).unwrap();
        assert_eq!(joints, 1);
        assert_eq!(clip.tracks[0].times, [0.0, 1.0, 4.0]);
        let Values::Rotation(keys) = &clip.tracks[0].values else {
            panic!("rotations");
        };
        assert!(keys[1].abs_diff_eq(Quat::from_rotation_z(1.5), 1e-6));
        assert!(keys[2].abs_diff_eq(Quat::from_rotation_y(-1.0), 1e-6));
    }

    #[test]
    fn times_that_go_back_are_replaced() {
        assert_eq!(seconds(&[0.0, 1.0, 0.0]), [0.0, 2.0, 4.0]);
        assert_eq!(seconds(&[0.0, 1.0, 2.0]), [0.0, 2.0, 4.0]);
        assert_eq!(seconds(&[5.0]), [0.0]);
    }

    #[test]
    fn bad_files_give_errors() {
        let fails = |text: &str, why: &str| {
            let error = parse_anim(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        fails("", "nothing");
        fails("0 4", "no keys");
        fails("1 1\n0\n1 0 nan\n0\n", "finite");
        fails("1 1\n0\n1 0 0\n", "angle is missing");
        fails("9999999 9999999\n0\n", "more than");
    }
}
