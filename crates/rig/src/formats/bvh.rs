//! BVH (Biovision hierarchy): a skeleton and one motion, as text.
//!
//! Reads channels in any order, position and scale channels on any joint, several roots, end sites, and names with
//! spaces. Angles are degrees; the rotations of a joint multiply in channel order. Position channels hold
//! the joint's position in its parent and replace OFFSET. If those of an inner joint stay nearer to zero than to its
//! OFFSET, they are displacements and are added (both conventions exist).

use glam::{Quat, Vec3};

use super::checks::{note, warn};
use super::text::{Words, lossy};
use super::units::{Content, normalise_units};
use super::{FormatError, ReadOptions};
use crate::clip::{Interpolation, Track, Values};
use crate::skeleton::{Joint, JointKind};
use crate::{Character, Clip, Skeleton, Transform};

/// Reads a BVH file: a character without parts and with one clip.
pub fn read_bvh(bytes: &[u8], options: &ReadOptions) -> Result<Character, FormatError> {
    let mut character = parse_bvh(bytes)?;
    normalise_units(&mut character, options, Content::Person)?;
    Ok(character)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channel {
    Position(usize),
    Rotation(usize),
    Scale(usize),
}

struct Node {
    joint: Joint,
    channels: Vec<Channel>,
}

/// Parses the file, keeping its units and axes.
pub(super) fn parse_bvh(bytes: &[u8]) -> Result<Character, FormatError> {
    let mut words = Words::new(bytes, None);
    if words.peek().is_none() {
        return Err(FormatError::Empty("nothing"));
    }
    expect(&mut words, "HIERARCHY")?;
    let mut character = Character::default();
    let nodes = hierarchy(&mut words)?;
    let width: usize = nodes.iter().map(|node| node.channels.len()).sum();
    let (frame_time, values) = motion(&mut words, width, &mut character)?;
    let tracks = tracks(&nodes, width, frame_time, &values);
    let joints = nodes.into_iter().map(|node| node.joint).collect();
    (character.skeleton, _) = Skeleton::from_unordered(joints)?;
    if !tracks.is_empty() {
        character.clips.push(Clip {
            tracks,
            ..Clip::default()
        });
    }
    if character.skeleton.len() == 1 {
        note(
            &mut character,
            "The skeleton has a single joint, so everything moves rigidly.",
        );
    }
    Ok(character)
}

fn is(word: &[u8], keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword.as_bytes())
}

fn expect(words: &mut Words, keyword: &str) -> Result<(), FormatError> {
    match words.next_word() {
        Some(word) if is(word, keyword) => Ok(()),
        Some(word) => Err(FormatError::text(
            words.line(),
            format!("expected '{keyword}', found '{}'", lossy(word)),
        )),
        None => Err(FormatError::Truncated {
            reason: format!("'{keyword}' is missing"),
        }),
    }
}

/// Reads the joints, parents first, up to and including the word MOTION.
fn hierarchy(words: &mut Words) -> Result<Vec<Node>, FormatError> {
    let mut nodes: Vec<Node> = Vec::new();
    // Open braces: a joint, or an end site (`None`).
    let mut open: Vec<Option<usize>> = Vec::new();
    loop {
        let word = words.next_word().ok_or_else(|| FormatError::Truncated {
            reason: "the hierarchy is not closed".into(),
        })?;
        let here = open.last().copied();
        match (word, here) {
            (b"}", Some(_)) => {
                open.pop();
            }
            (word, Some(Some(joint))) if is(word, "OFFSET") => {
                nodes[joint].joint.rest.translation = words.vec3("an offset")?;
            }
            (word, Some(None)) if is(word, "OFFSET") => {
                let tail = words.vec3("an offset")?;
                let parent = open.iter().rev().find_map(|open| *open);
                if let Some(parent) = parent {
                    nodes[parent].joint.tail.get_or_insert(tail);
                }
            }
            (word, Some(Some(joint))) if is(word, "CHANNELS") => {
                nodes[joint].channels = channels(words)?;
            }
            (word, Some(Some(_))) if is(word, "End") => {
                name(words)?;
                open.push(None);
            }
            (word, _) if is(word, "JOINT") || is(word, "ROOT") => {
                let parent = open.iter().rev().find_map(|open| *open);
                open.push(Some(nodes.len()));
                nodes.push(node(name(words)?, parent));
            }
            (word, None) if is(word, "MOTION") => break,
            (word, _) => {
                return Err(FormatError::text(
                    words.line(),
                    format!("unexpected '{}' in the hierarchy", lossy(word)),
                ));
            }
        }
    }
    if nodes.is_empty() {
        return Err(FormatError::Empty("no joints"));
    }
    Ok(nodes)
}

fn node(name: String, parent: Option<usize>) -> Node {
    Node {
        joint: Joint {
            name,
            parent,
            rest: Transform::IDENTITY,
            tail: None,
            kind: JointKind::Bone,
        },
        channels: Vec::new(),
    }
}

/// Reads a name: the words up to the opening brace, on this line or the next.
fn name(words: &mut Words) -> Result<String, FormatError> {
    let line = words.rest_of_line();
    if let Some(name) = line.strip_suffix(b"{") {
        return Ok(lossy(name.trim_ascii()));
    }
    expect(words, "{")?;
    Ok(lossy(line))
}

fn channels(words: &mut Words) -> Result<Vec<Channel>, FormatError> {
    let count = words.count("the number of channels")?;
    words.check_fits(count, 6, "channels")?;
    let mut channels = Vec::with_capacity(count);
    for _ in 0..count {
        let word = words.next_word().unwrap_or_default();
        let axis = match word.first().map(u8::to_ascii_uppercase) {
            Some(b'X') => Some(0),
            Some(b'Y') => Some(1),
            Some(b'Z') => Some(2),
            _ => None,
        };
        let kind = word.get(1..).unwrap_or_default();
        channels.push(match axis {
            Some(axis) if is(kind, "position") => Channel::Position(axis),
            Some(axis) if is(kind, "rotation") => Channel::Rotation(axis),
            Some(axis) if is(kind, "scale") => Channel::Scale(axis),
            _ => {
                return Err(FormatError::text(
                    words.line(),
                    format!(
                        "'{}' is not a channel (expected Xposition, Zrotation, …)",
                        lossy(word)
                    ),
                ));
            }
        });
    }
    Ok(channels)
}

/// The time between frames, and the values of all complete frames.
fn motion(
    words: &mut Words,
    width: usize,
    character: &mut Character,
) -> Result<(f32, Vec<f32>), FormatError> {
    expect(words, "Frames:")?;
    let declared = words.count("the number of frames")?;
    expect(words, "Frame")?;
    expect(words, "Time:")?;
    let frame_time = frame_time(words.number("the frame time")?, character);
    let mut values = Vec::new();
    if width == 0 {
        return Ok((frame_time, values));
    }
    let wanted = declared.saturating_mul(width);
    while values.len() < wanted
        && let Some(word) = words.next_word()
    {
        let value = words.as_number(word, "a channel value")? as f32;
        if !value.is_finite() {
            return Err(FormatError::NotFinite {
                element: format!("a channel value on line {}", words.line()),
            });
        }
        values.push(value);
    }
    let frames = values.len() / width;
    if frames < declared {
        warn(
            character,
            format!(
                "The file declares {declared} frames but contains {frames} complete ones. Only those are used."
            ),
        );
    } else if words.peek().is_some() {
        warn(
            character,
            format!(
                "The file contains extra numbers after its {declared} frames. They are ignored."
            ),
        );
    }
    values.truncate(frames * width);
    Ok((frame_time, values))
}

/// The frame time; rounded decimals such as .0083333 are snapped to integer rates (120 frames per second).
fn frame_time(seconds: f64, character: &mut Character) -> f32 {
    if !(1e-6..=1e4).contains(&seconds) {
        warn(
            character,
            format!("The frame time of {seconds} s is invalid. 1/30 s is used instead."),
        );
        return 1.0 / 30.0;
    }
    let rate = (1.0 / seconds).round();
    let whole = rate >= 1.0 && (rate * seconds - 1.0).abs() < 1e-3;
    (if whole { 1.0 / rate } else { seconds }) as f32
}

fn tracks(nodes: &[Node], width: usize, frame_time: f32, values: &[f32]) -> Vec<Track> {
    let frames = values.len().checked_div(width).unwrap_or(0);
    let times: Vec<f32> = (0..frames).map(|frame| frame as f32 * frame_time).collect();
    let mut tracks = Vec::new();
    let mut first = 0;
    for (joint, node) in nodes.iter().enumerate() {
        let end = first + node.channels.len();
        let rows: Vec<&[f32]> = values
            .chunks_exact(width.max(1))
            .map(|row| &row[first..end])
            .collect();
        first = end;
        let has = |test: fn(&Channel) -> bool| frames > 0 && node.channels.iter().any(test);
        let mut push = |values| {
            tracks.push(Track {
                joint,
                times: times.clone(),
                values,
                interpolation: Interpolation::Linear,
            });
        };
        if has(|c| matches!(c, Channel::Position(_))) {
            push(Values::Translation(positions(node, &rows)));
        }
        if has(|c| matches!(c, Channel::Rotation(_))) {
            let rotate = |row: &&[f32]| rotation(&node.channels, row);
            push(Values::Rotation(rows.iter().map(rotate).collect()));
        }
        if has(|c| matches!(c, Channel::Scale(_))) {
            push(Values::Scale(
                rows.iter().map(|row| scale(&node.channels, row)).collect(),
            ));
        }
    }
    tracks
}

fn positions(node: &Node, rows: &[&[f32]]) -> Vec<Vec3> {
    let offset = node.joint.rest.translation;
    let read = |row: &&[f32], start: Vec3| {
        let mut position = start;
        for (channel, &value) in node.channels.iter().zip(*row) {
            if let Channel::Position(axis) = *channel {
                position[axis] = value;
            }
        }
        position
    };
    let mut to_zero = 0.0;
    let mut to_offset = 0.0;
    for row in rows {
        to_zero += f64::from(read(row, Vec3::ZERO).length());
        to_offset += f64::from(read(row, offset).distance(offset));
    }
    let displaces = node.joint.parent.is_some() && to_zero < to_offset;
    rows.iter()
        .map(|row| {
            if displaces {
                offset + read(row, Vec3::ZERO)
            } else {
                read(row, offset)
            }
        })
        .collect()
}

fn rotation(channels: &[Channel], row: &[f32]) -> Quat {
    let mut rotation = Quat::IDENTITY;
    for (channel, &degrees) in channels.iter().zip(row) {
        if let Channel::Rotation(axis) = *channel {
            rotation *= Quat::from_axis_angle(Vec3::AXES[axis], degrees.to_radians());
        }
    }
    rotation.normalize()
}

fn scale(channels: &[Channel], row: &[f32]) -> Vec3 {
    let mut scale = Vec3::ONE;
    for (channel, &value) in channels.iter().zip(row) {
        if let Channel::Scale(axis) = *channel {
            scale[axis] = value;
        }
    }
    scale
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "hierarchy\r\nROOT Left Hip {\r\n OFFSET 0 0 0\r\n CHANNELS 6 Xposition Yposition Zposition Yrotation Zrotation Xrotation\r\n JOINT Knee\r\n {\r\n OFFSET 0 -4 0\r\n CHANNELS 4 Xrotation Xposition Yposition Zposition\r\n End Site\r\n {\r\n OFFSET 0 -3 0\r\n }\r\n }\r\n}\r\nROOT Prop\r\n{ OFFSET 1 2 3\r\nCHANNELS 0\r\n}\r\n\r\nMOTION\r\nFrames: 2\r\nFrame Time: .0083333\r\n\r\n1 2 3 90 0 90 45 0 -4 0\r\n1 2 3 0 0 0 0 0 -5 0";

    fn value(track: &Track) -> (Vec3, Quat) {
        match &track.values {
            Values::Translation(keys) => (keys[0], Quat::IDENTITY),
            Values::Rotation(keys) => (Vec3::ZERO, keys[0]),
            _ => unreachable!("no such channel"),
        }
    }

    #[test]
    fn mixed_orders_inner_positions_and_two_roots() {
        let character = parse_bvh(TEXT.as_bytes()).unwrap();
        let joints = character.skeleton.joints();
        assert_eq!(joints.len(), 3);
        assert_eq!(joints[0].name, "Left Hip");
        assert_eq!(joints[1].tail, Some(Vec3::new(0.0, -3.0, 0.0)));
        assert_eq!(joints[2].parent, None);
        let tracks = &character.clips[0].tracks;
        assert_eq!(tracks.len(), 4);
        assert_eq!(tracks[0].times[1], 1.0 / 120.0);
        assert_eq!(value(&tracks[0]).0, Vec3::new(1.0, 2.0, 3.0));
        // Y, then X in the turned frame: Z goes to -Y under X(90°), which Y(90°) leaves alone.
        assert!(
            value(&tracks[1])
                .1
                .mul_vec3(Vec3::Z)
                .abs_diff_eq(-Vec3::Y, 1e-6)
        );
        // Inner positions near OFFSET replace it.
        assert_eq!(value(&tracks[2]).0, Vec3::new(0.0, -4.0, 0.0));
    }

    #[test]
    fn inner_positions_near_zero_are_added() {
        let text = TEXT
            .replace("0 -4 0\r\n1", "0 0 0\r\n1")
            .replace("0 -5 0", "0 -1 0");
        let character = parse_bvh(text.as_bytes()).unwrap();
        let Values::Translation(keys) = &character.clips[0].tracks[2].values else {
            panic!("positions");
        };
        assert_eq!(keys[1], Vec3::new(0.0, -5.0, 0.0));
    }

    #[test]
    fn unusual_files_give_notes_and_bad_files_errors() {
        let with = |from: &str, to: &str| parse_bvh(TEXT.replace(from, to).as_bytes());
        let noted = |result: Result<Character, FormatError>, why: &str| {
            let problems = result.unwrap().problems;
            assert!(
                problems.iter().any(|p| p.text.contains(why)),
                "{problems:?}"
            );
        };
        noted(
            with("Frames: 2", "Frames: 4000000000"),
            "contains 2 complete",
        );
        noted(with("Frames: 2", "Frames: 1"), "extra numbers");
        noted(with(".0083333", "0"), "is invalid");
        let fails = |result: Result<Character, FormatError>, why: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        fails(with("Zposition Y", "Wposition Y"), "not a channel");
        fails(with("45", "nan"), "finite");
        fails(with("45", "4x5"), "number");
        fails(with("MOTION", ""), "hierarchy");
        fails(parse_bvh(b""), "nothing");
        fails(
            parse_bvh(b"HIERARCHY MOTION Frames: 0 Frame Time: 1"),
            "no joints",
        );
    }
}
