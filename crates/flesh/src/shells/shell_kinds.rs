//! The kind of every shell (connected component) of a character: flesh, cloth, rigid, hair or skinned.
//!
//! Weights and geometry decide ([`shell_measures`](crate::shells::shell_measures)); names of meshes and materials are hints for
//! shells that are not flesh; what the user sets takes precedence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use supple_rig::Character;

use crate::FleshError;
use crate::construction::body::Body;
use crate::settings::matches;
use crate::shells::shell_measures::{Measures, Nearness, measures, nearness};

/// How a shell moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Kind {
    /// Simulated.
    Flesh,
    /// Follows its own weights and the motion of the flesh below it: clothes, belts, straps.
    Cloth,
    /// Keeps its shape: eyes, hats, armour, weapons. It follows the joint of this name; or with `None` the joints of its weights,
    /// and gives way where they would bend it far.
    Rigid(Option<String>),
    /// Follows its own weights alone: hair, tails, skirts on joints of their own.
    Hair,
    /// Follows its own weights alone: hands, fingers, weapons and other pieces that are neither on the flesh nor hang from it.
    Skinned,
}

impl Kind {
    /// Its name: "flesh", "cloth", "rigid", "hair" or "skinned".
    pub fn name(&self) -> &'static str {
        match self {
            Self::Flesh => "flesh",
            Self::Cloth => "cloth",
            Self::Rigid(_) => "rigid",
            Self::Hair => "hair",
            Self::Skinned => "skinned",
        }
    }
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "flesh" => Ok(Self::Flesh),
            // "bound" is the name that older settings have.
            "cloth" | "bound" => Ok(Self::Cloth),
            "hair" => Ok(Self::Hair),
            "skinned" => Ok(Self::Skinned),
            "rigid" => Ok(Self::Rigid(None)),
            _ => match text.split_once(':') {
                Some(("rigid", joint)) => Ok(Self::Rigid(Some(joint.to_owned()))),
                _ => Err(format!(
                    "`{text}` is not a kind of shell; use \"flesh\", \"cloth\", \"rigid\", \"rigid:JOINT\", \"hair\" or \"skinned\""
                )),
            },
        }
    }
}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Kind> for String {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Rigid(Some(joint)) => format!("rigid:{joint}"),
            other => other.name().to_owned(),
        }
    }
}

/// A shell and its kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shell {
    /// Its key in the settings: its part's name, followed by `#k` if the part has several shells. Its number is a key, too.
    pub key: String,
    /// How it moves.
    pub kind: Kind,
    /// Why it has this kind.
    pub reason: &'static str,
    /// The joint that a rigid shell without weights follows.
    pub joint: usize,
    /// Vertices after welding.
    pub vertices: usize,
    /// Surface area \[m²\].
    pub area: f64,
}

/// Reason of a kind that the user set.
const SET_BY_USER: &str = "set by the user";

/// All shells and the welded body they are in.
pub struct ShellKinds {
    /// In the order of the body's shells.
    pub shells: Vec<Shell>,
    /// The welded body.
    pub body: Body,
}

/// Smallest share of the total surface area that a shell of flesh has. Lower: eyes and buttons become flesh.
const LEAST_FLESH_SHARE: f64 = 0.02;
/// Largest mean difference between the weights of a shell's vertices and their mean, from 0 to 1, for which the shell
/// moves as one piece. Higher: gloves and boots become rigid.
const UNIFORM_WEIGHTS: f64 = 0.05;
/// Share of a shell's weights on hanging joints from which it is hair.
const HANGING_SHARE: f64 = 0.5;
/// Share of a shell's vertices near the flesh from which it is cloth.
const CLOTH_SHARE: f64 = 0.5;
/// Length of the mean normal of the flesh below a shell from which it is a plate. A sleeve has about 0, a strap over the
/// shoulder 0.4, a knee pad 0.8.
const PLATE_NORMAL: f64 = 0.6;
/// Share of the total surface area below which shells without weights are rigid.
const SMALL_SHARE: f64 = 0.002;

/// Words in names of meshes and materials, and the kind that they suggest.
const HINTS: &[(&str, Kind)] = &[
    ("hair", Kind::Hair),
    ("ponytail", Kind::Hair),
    ("braid", Kind::Hair),
    ("beard", Kind::Hair),
    ("armor", Kind::Rigid(None)),
    ("armour", Kind::Rigid(None)),
    ("helmet", Kind::Rigid(None)),
    ("glasses", Kind::Rigid(None)),
    ("backpack", Kind::Rigid(None)),
    ("sword", Kind::Rigid(None)),
    ("shield", Kind::Rigid(None)),
    ("weapon", Kind::Rigid(None)),
];

/// Kinds of all shells. Kinds `given` by the user take precedence.
pub fn shell_kinds(
    character: &Character,
    given: &BTreeMap<String, Kind>,
) -> Result<ShellKinds, FleshError> {
    let body = Body::new(character)?;
    let measured = measures(character, &body);
    let mut shells = described_shells(character, &measured);
    for (shell, measures) in shells.iter_mut().zip(&measured) {
        if let Some((kind, reason)) = by_weights(measures) {
            (shell.kind, shell.reason) = (kind, reason);
        }
    }
    ensure_flesh(&mut shells, &measured);
    for (number, shell) in shells.iter_mut().enumerate() {
        override_kind(character, number, shell, given)?;
    }
    check_keys(&shells, given)?;
    if shells.iter().all(|shell| shell.kind != Kind::Flesh) {
        return Err(FleshError::NoFlesh {
            name: character.name.clone(),
            shells: shells.len(),
        });
    }
    let near = nearness(&body, &|shell| shells[shell].kind == Kind::Flesh);
    for (shell, (measures, near)) in shells.iter_mut().zip(measured.iter().zip(&near)) {
        if shell.reason == UNDECIDED {
            (shell.kind, shell.reason) = by_place(measures, near, hint(character, measures));
        }
    }
    Ok(ShellKinds { shells, body })
}

/// Reason of shells that their weights leave undecided.
const UNDECIDED: &str = "";

/// The kind that a shell's weights and bones decide, with the reason.
fn by_weights(measures: &Measures) -> Option<(Kind, &'static str)> {
    if measures.scenery {
        return Some((Kind::Rigid(None), "no bone moves it"));
    }
    if measures.hanging >= HANGING_SHARE && 2.0 * measures.hanging_on_limbs > measures.hanging {
        return Some((
            Kind::Skinned,
            "weighted to joints of its own on an arm or a leg",
        ));
    }
    if measures.hanging >= HANGING_SHARE {
        return Some((Kind::Hair, "weighted to joints that hang from the body"));
    }
    if measures
        .spread
        .is_some_and(|spread| spread <= UNIFORM_WEIGHTS)
    {
        return Some((Kind::Rigid(None), "all its vertices have the same weights"));
    }
    let is_flesh = measures.is_innermost() && measures.area_share >= LEAST_FLESH_SHARE;
    is_flesh.then_some((Kind::Flesh, "encloses bones"))
}

/// Makes one shell flesh if none is: the largest that encloses a bone, else the largest.
fn ensure_flesh(shells: &mut [Shell], measured: &[Measures]) {
    if shells
        .iter()
        .any(|shell| shell.kind == Kind::Flesh && shell.reason != UNDECIDED)
    {
        return;
    }
    let candidates = (0..shells.len()).filter(|&s| !measured[s].scenery);
    let largest = candidates.max_by(|&a, &b| {
        let encloses = |s: usize| measured[s].is_innermost();
        let area = |s: usize| measured[s].area_share;
        encloses(a)
            .cmp(&encloses(b))
            .then(area(a).total_cmp(&area(b)))
            .then(b.cmp(&a))
    });
    if let Some(largest) = largest {
        shells[largest].kind = Kind::Flesh;
        shells[largest].reason = "the largest shell";
    }
}

/// The kind of a shell that is not flesh and that its weights leave undecided, with the reason.
fn by_place(measures: &Measures, near: &Nearness, hint: Option<Kind>) -> (Kind, &'static str) {
    if measures.spread.is_none() {
        return match measures.area_share < SMALL_SHARE {
            true => (Kind::Rigid(None), "small and without weights"),
            false => (Kind::Cloth, "without weights"),
        };
    }
    if let Some(kind) = hint {
        return (kind, "its name");
    }
    if measures.is_innermost() {
        (Kind::Cloth, "encloses bones, but is small")
    } else if near.share < CLOTH_SHARE {
        (Kind::Skinned, "far from the flesh")
    } else if near.one_sided >= PLATE_NORMAL {
        (Kind::Rigid(None), "a plate on one side of the flesh")
    } else {
        (Kind::Cloth, "covers flesh")
    }
}

/// The kind that names suggest.
fn hint(character: &Character, measures: &Measures) -> Option<Kind> {
    let part = character.parts.get(measures.part)?;
    let material = part.material.and_then(|m| character.materials.get(m));
    let names = [Some(&part.name), material.map(|material| &material.name)];
    HINTS
        .iter()
        .find(|(word, _)| names.iter().flatten().any(|name| has_word(name, word)))
        .map(|(_, kind)| kind.clone())
}

/// Whether a name has a word that starts with `word`. Words start after anything that is not a letter, and with capitals.
fn has_word(name: &str, word: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.match_indices(word).any(|(at, _)| {
        let before = name[..at].chars().next_back();
        let starts_upper = name[at..].starts_with(char::is_uppercase);
        before.is_none_or(|c| !c.is_alphabetic() || (c.is_lowercase() && starts_upper))
    })
}

fn override_kind(
    character: &Character,
    number: usize,
    shell: &mut Shell,
    given: &BTreeMap<String, Kind>,
) -> Result<(), FleshError> {
    // The number is the most exact key, then the shell's own, then patterns.
    let exact = [number.to_string(), shell.key.clone()];
    let kind = (exact.iter().find_map(|key| given.get(key))).or_else(|| {
        (given.iter()).find_map(|(key, kind)| names(key, number, shell).then_some(kind))
    });
    let Some(kind) = kind else { return Ok(()) };
    if let Kind::Rigid(Some(name)) = kind {
        shell.joint = character
            .skeleton
            .find(name)
            .ok_or_else(|| FleshError::NoSuchJoint {
                what: format!("the kind of shell `{}`", shell.key),
                name: name.clone(),
            })?;
    }
    (shell.kind, shell.reason) = (kind.clone(), SET_BY_USER);
    Ok(())
}

/// Whether a key of the settings names a shell: by its number, its key, its part's name, or a pattern.
fn names(key: &str, number: usize, shell: &Shell) -> bool {
    let part = shell.key.rsplit_once('#').map(|(part, _)| part);
    key == number.to_string()
        || matches(key, &shell.key)
        || part.is_some_and(|part| matches(key, part))
}

fn check_keys(shells: &[Shell], given: &BTreeMap<String, Kind>) -> Result<(), FleshError> {
    for key in given.keys() {
        let mut all = shells.iter().enumerate();
        if !all.any(|(number, shell)| names(key, number, shell)) {
            return Err(FleshError::NoSuchShell { key: key.clone() });
        }
    }
    Ok(())
}

fn described_shells(character: &Character, measured: &[Measures]) -> Vec<Shell> {
    let mut ordinal = BTreeMap::new();
    let numbers: Vec<usize> = (measured.iter())
        .map(|measures| {
            let next = ordinal.entry(measures.part).or_insert(0_usize);
            *next += 1;
            *next - 1
        })
        .collect();
    (measured.iter().zip(numbers))
        .map(|(measures, number)| {
            let part = character.parts.get(measures.part);
            let name = part.map_or("", |part| part.name.as_str());
            let several = ordinal.get(&measures.part).is_some_and(|&n| n > 1);
            Shell {
                key: if several {
                    format!("{name}#{number}")
                } else {
                    name.to_owned()
                },
                kind: Kind::Cloth,
                reason: UNDECIDED,
                joint: measures.joint,
                vertices: measures.vertices,
                area: measures.area,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Affine3A, Vec3};
    use supple_rig::Transform;
    use supple_rig::character::{Binding, Influences, Part};
    use supple_rig::skeleton::{Joint, JointKind, Skeleton};

    /// A large floor on a node of its own is not flesh and changes no other kind.
    #[test]
    fn a_floor_is_not_flesh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../supple/assets/male.glb");
        let bytes = std::fs::read(path).unwrap();
        let mut male = supple_rig::formats::gltf::read_glb(&bytes, &Default::default()).unwrap();
        let alone = shell_kinds(&male, &BTreeMap::new()).unwrap();
        let mut joints = male.skeleton.joints().to_vec();
        joints.push(Joint {
            name: "floor".to_owned(),
            parent: None,
            rest: Transform::default(),
            tail: None,
            kind: JointKind::Helper,
        });
        let (skeleton, order) = Skeleton::from_unordered(joints).unwrap();
        assert!(order.iter().enumerate().all(|(old, &new)| old == new));
        let floor = order[order.len() - 1];
        male.skeleton = skeleton;
        let mesh = supple_geom::shapes::cuboid(Vec3::new(10.0, 0.1, 10.0), 4);
        male.parts.push(Part {
            name: "floor".to_owned(),
            binding: Binding {
                joints: vec![floor],
                inverse_binds: vec![Affine3A::from_translation(Vec3::Y * -0.05)],
                influences: Influences::rigid(0, mesh.positions.len()),
                computed: false,
            },
            mesh,
            ..Part::default()
        });
        let with = shell_kinds(&male, &BTreeMap::new()).unwrap();
        let (last, others) = with.shells.split_last().unwrap();
        assert_eq!((&last.kind, last.joint), (&Kind::Rigid(None), floor));
        let kinds = |shells: &[Shell]| shells.iter().map(|s| s.kind.clone()).collect::<Vec<_>>();
        assert_eq!(kinds(others), kinds(&alone.shells));
    }
}
