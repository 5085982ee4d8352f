//! `.skel`: a skeleton as text.
//!
//! The number of joints; then per joint `x y z name parent`, with `root` as the root's parent. Positions are absolute,
//! in the mesh's space; joint axes are those of the mesh.

use std::collections::HashMap;

use glam::Vec3;

use super::checks::note;
use super::text::{Words, lossy};
use super::units::{Content, normalise_units};
use super::{FormatError, ReadOptions};
use crate::skeleton::{Joint, JointKind, SkeletonError};
use crate::{Character, Skeleton, Transform};

/// Reads a `.skel` alone: a character without parts. Together with a mesh, use [`super::load_character`], which converts
/// both in the same way.
pub fn read_skel(bytes: &[u8], options: &ReadOptions) -> Result<Character, FormatError> {
    let (skeleton, file_joints) = parse_skel(bytes)?;
    let mut character = Character {
        skeleton,
        file_joints,
        ..Character::default()
    };
    normalise_units(&mut character, options, Content::Mesh)?;
    if character.skeleton.len() == 1 {
        note(
            &mut character,
            "The skeleton has a single joint, so everything moves rigidly.",
        );
    }
    Ok(character)
}

/// The skeleton in file units, and the new index of each joint of the file.
pub(super) fn parse_skel(bytes: &[u8]) -> Result<(Skeleton, Vec<usize>), FormatError> {
    let mut words = Words::new(bytes, Some(b'#'));
    if words.peek().is_none() {
        return Err(FormatError::Empty("nothing"));
    }
    let count = words.count("the number of joints")?;
    words.check_fits(count, 9, "joints")?;
    if count == 0 {
        return Err(FormatError::Empty("no joints"));
    }
    let mut places = Vec::with_capacity(count);
    let mut names: Vec<&[u8]> = Vec::with_capacity(count);
    let mut parents: Vec<&[u8]> = Vec::with_capacity(count);
    for joint in 0..count {
        places.push(words.vec3("a joint's position")?);
        let missing = || FormatError::Truncated {
            reason: format!("joint {joint} has no name or no parent"),
        };
        names.push(words.next_word().ok_or_else(missing)?);
        parents.push(words.next_word().ok_or_else(missing)?);
    }
    assemble(&places, &names, &parents)
}

fn assemble(
    places: &[Vec3],
    names: &[&[u8]],
    parents: &[&[u8]],
) -> Result<(Skeleton, Vec<usize>), FormatError> {
    let mut by_name: HashMap<&[u8], usize> = HashMap::new();
    for (joint, &name) in names.iter().enumerate() {
        if by_name.insert(name, joint).is_some() {
            return Err(FormatError::invalid(
                format!("joint {joint}"),
                format!(
                    "the name '{}' is already used by an earlier joint",
                    lossy(name)
                ),
            ));
        }
    }
    let mut joints = Vec::with_capacity(names.len());
    for (joint, (&name, &parent)) in names.iter().zip(parents).enumerate() {
        let parent = match by_name.get(parent) {
            Some(&index) if index == joint => return Err(SkeletonError::Cycle { joint }.into()),
            Some(&index) => Some(index),
            None if parent == b"root" => None,
            None => {
                return Err(FormatError::invalid(
                    format!("joint '{}'", lossy(name)),
                    format!("its parent '{}' is not in the file", lossy(parent)),
                ));
            }
        };
        let origin = parent.map_or(Vec3::ZERO, |parent| places[parent]);
        joints.push(Joint {
            name: lossy(name),
            parent,
            rest: Transform::from_translation(places[joint] - origin),
            tail: None,
            kind: JointKind::Bone,
        });
    }
    Ok(Skeleton::from_unordered(joints)?)
}

/// Writes joints at their rest positions, in metres and Y up. Spaces in names become `_`. Joints whose name is empty,
/// repeated or `root` are named by their index.
pub fn write_skel(skeleton: &Skeleton) -> String {
    use std::fmt::Write;
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut names: Vec<String> = Vec::new();
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let mut name = joint.name.replace([' ', '\t', '\r', '\n', '#', '\0'], "_");
        if name.is_empty() || name == "root" || taken.contains_key(&name) {
            name = format!("{name}{index}");
        }
        while taken.insert(name.clone(), index).is_some() {
            name.push('_');
        }
        names.push(name);
    }
    let mut out = format!("{}\n", skeleton.len());
    let worlds = skeleton.rest_worlds();
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let at = worlds[index].translation;
        let parent = joint.parent.map_or("root", |parent| names[parent].as_str());
        let _ = writeln!(out, "{} {} {} {} {parent}", at.x, at.y, at.z, names[index]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_may_come_first() {
        let text = b"3\n0 2 0 hand arm\n0 0 0 body root\n0 1 0 arm body\n";
        let (skeleton, order) = parse_skel(text).unwrap();
        assert_eq!(order, [2, 0, 1]);
        assert_eq!(skeleton.joints()[2].name, "hand");
        assert_eq!(skeleton.joints()[2].rest.translation, Vec3::Y);
        assert_eq!(
            write_skel(&skeleton),
            "3\n0 0 0 body root\n0 1 0 arm body\n0 2 0 hand arm\n"
        );
    }

    #[test]
    fn bad_files_give_errors() {
        let fails = |text: &str, why: &str| {
            let error = parse_skel(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        fails("", "nothing");
        fails("0", "no joints");
        fails("2\n0 0 0 a b\n0 0 0 b a\n", "cycle");
        fails("1\n0 0 0 a a\n", "cycle");
        fails("2\n0 0 0 a root\n0 0 0 a root\n", "already used");
        fails("1\n0 0 0 a c\n", "not in the file");
        fails("1\n0 0 inf a root\n", "finite");
        fails("2\n0 0 0 a root\n", "missing");
        fails("99999999999\n0 0 0 a root\n", "more than");
    }

    #[test]
    fn one_joint_is_noted() {
        let character = read_skel(b"1\n0 0 0 a root", &ReadOptions::default()).unwrap();
        assert!(
            character
                .problems
                .iter()
                .any(|p| p.text.contains("single joint"))
        );
    }
}
