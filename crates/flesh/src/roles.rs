//! The role of every shell (connected component) of a character: flesh, bound or rigid.

use std::collections::BTreeMap;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use supple_geom::Surface;
use supple_rig::Character;

use crate::FleshError;
use crate::body::Body;

/// How a shell moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Role {
    /// Simulated.
    Flesh,
    /// Follows the nearest flesh: clothes, hair, eyebrows.
    Bound,
    /// Follows one joint rigidly: eyes, teeth, weapons. The joint's name, or `None` for the joint of its weights, or the
    /// nearest one.
    Rigid(Option<String>),
}

impl TryFrom<String> for Role {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "flesh" => Ok(Self::Flesh),
            None if text == "bound" => Ok(Self::Bound),
            None if text == "rigid" => Ok(Self::Rigid(None)),
            Some(("rigid", joint)) => Ok(Self::Rigid(Some(joint.to_owned()))),
            _ => Err(format!(
                "`{text}` is not a role; use \"flesh\", \"bound\", \"rigid\" or \"rigid:JOINT\""
            )),
        }
    }
}

impl From<Role> for String {
    fn from(role: Role) -> Self {
        match role {
            Role::Flesh => "flesh".to_owned(),
            Role::Bound => "bound".to_owned(),
            Role::Rigid(None) => "rigid".to_owned(),
            Role::Rigid(Some(joint)) => format!("rigid:{joint}"),
        }
    }
}

/// A shell and its role.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    /// Its key in the settings: its part's name, followed by `#k` if the part has several shells.
    pub key: String,
    /// How it moves.
    pub role: Role,
    /// The joint that a rigid shell follows.
    pub joint: usize,
    /// Vertices after welding.
    pub vertices: usize,
    /// Surface area \[m²\].
    pub area: f64,
}

/// All shells and the welded body they are in.
pub struct ShellRoles {
    /// In the order of the body's shells.
    pub shells: Vec<Shell>,
    /// The welded body.
    pub body: Body,
}

/// Smallest share of the total surface area that a shell of flesh has.
const LEAST_FLESH_SHARE: f64 = 0.02;
/// Weight above which a vertex counts as rigid on one joint.
const RIGID_WEIGHT: f32 = 0.95;

/// Roles of all shells. Large shells that are the innermost around some bone are flesh. Shells with weights on one joint
/// only are rigid, and others are bound. Roles `given` by the user take precedence.
pub fn shell_roles(
    character: &Character,
    given: &BTreeMap<String, Role>,
) -> Result<ShellRoles, FleshError> {
    let body = Body::new(character)?;
    let mut shells = described_shells(character, &body);
    let scenery = scenery_shells(character, &body);
    let total: f64 = (shells.iter().zip(&scenery))
        .filter(|(_, scenery)| !**scenery)
        .map(|(shell, _)| shell.area)
        .sum();
    let seen = seen_from_bones(character, &body, &shells, total);
    let largest = (0..shells.len())
        .filter(|&shell| !scenery[shell])
        .max_by(|&a, &b| shells[a].area.total_cmp(&shells[b].area).then(b.cmp(&a)))
        .unwrap_or(0);
    let owners = single_joints(character, &body);
    let worlds = character.bind_worlds();
    for (index, shell) in shells.iter_mut().enumerate() {
        let centre = shell_centre(&body, index);
        let nearest = (0..worlds.len())
            .min_by(|&a, &b| {
                let distance = |j: usize| worlds[j].translation.as_dvec3().distance(centre);
                distance(a).total_cmp(&distance(b))
            })
            .unwrap_or(0);
        shell.joint = owners[index].unwrap_or(nearest);
        shell.role = if scenery[index] {
            Role::Rigid(None)
        } else if index == largest || (seen[index] && shell.area >= LEAST_FLESH_SHARE * total) {
            Role::Flesh
        } else if owners[index].is_some()
            || (shell.area < 0.1 * LEAST_FLESH_SHARE * total && no_weights(character))
        {
            Role::Rigid(None)
        } else {
            Role::Bound
        };
        override_role(character, shell, given)?;
    }
    check_keys(&shells, given)?;
    if shells.iter().all(|shell| shell.role != Role::Flesh) {
        return Err(FleshError::NoFlesh {
            name: character.name.clone(),
            shells: shells.len(),
        });
    }
    Ok(ShellRoles { shells, body })
}

fn no_weights(character: &Character) -> bool {
    character
        .parts
        .iter()
        .all(|part| part.binding.influences.is_empty())
}

fn override_role(
    character: &Character,
    shell: &mut Shell,
    given: &BTreeMap<String, Role>,
) -> Result<(), FleshError> {
    let part = shell
        .key
        .split_once('#')
        .map_or(shell.key.as_str(), |(part, _)| part);
    let Some(role) = given.get(&shell.key).or_else(|| given.get(part)) else {
        return Ok(());
    };
    if let Role::Rigid(Some(name)) = role {
        shell.joint = character.skeleton.find(name).ok_or_else(|| {
            FleshError::Settings(format!(
                                "the role of shell `{}` names joint `{name}`, which the skeleton does not have; `supple info --joints` lists its joints",
                shell.key
            ))
        })?;
    }
    shell.role = role.clone();
    Ok(())
}

fn check_keys(shells: &[Shell], given: &BTreeMap<String, Role>) -> Result<(), FleshError> {
    for key in given.keys() {
        let known = shells.iter().any(|shell| {
            shell.key == *key
                || shell
                    .key
                    .split_once('#')
                    .is_some_and(|(part, _)| part == key)
        });
        if !known {
            return Err(FleshError::Settings(format!(
                "a role is set for `{key}`, but no shell has that name; `supple init` writes all names under [roles]"
            )));
        }
    }
    Ok(())
}

fn described_shells(character: &Character, body: &Body) -> Vec<Shell> {
    let count = body.shells.count;
    let mut first_part = vec![usize::MAX; count];
    let mut vertices = vec![0; count];
    for (welded, &original) in body.welded.original_from_welded.iter().enumerate() {
        if let Some(vertices) = vertices.get_mut(body.shells.of_vertex[welded] as usize) {
            *vertices += 1;
            let shell = body.shells.of_vertex[welded] as usize;
            first_part[shell] = first_part[shell].min(body.part_of(original as usize).0);
        }
    }
    let mut area = vec![0.0; count];
    for (t, &shell) in body.shells.of_triangle.iter().enumerate() {
        area[shell as usize] += body.welded.mesh.triangle_area(t);
    }
    let mut ordinal = BTreeMap::new();
    let numbers: Vec<usize> = first_part
        .iter()
        .map(|&part| {
            let next = ordinal.entry(part).or_insert(0_usize);
            *next += 1;
            *next - 1
        })
        .collect();
    (0..count)
        .map(|shell| {
            let name = character
                .parts
                .get(first_part[shell])
                .map_or("", |part| part.name.as_str());
            let several = ordinal.get(&first_part[shell]).is_some_and(|&n| n > 1);
            Shell {
                key: if several {
                    format!("{name}#{}", numbers[shell])
                } else {
                    name.to_owned()
                },
                role: Role::Bound,
                joint: 0,
                vertices: vertices[shell],
                area: area[shell],
            }
        })
        .collect()
}

/// Large shells that are the innermost around some bone. A body under clothes is; the clothes are not, unless the body
/// below them was cut away.
fn seen_from_bones(character: &Character, body: &Body, shells: &[Shell], total: f64) -> Vec<bool> {
    if shells.len() == 1 {
        return vec![true];
    }
    let large: Vec<(usize, Surface)> = (0..shells.len())
        .filter(|&s| shells[s].area >= LEAST_FLESH_SHARE * total)
        .map(|s| (s, body.surface(&|shell| shell == s)))
        .collect();
    let worlds = character.bind_worlds();
    let mut seen = vec![0_usize; shells.len()];
    for (joint, node) in character.skeleton.joints().iter().enumerate() {
        let Some(parent) = node.parent else { continue };
        let (a, b) = (worlds[parent].translation, worlds[joint].translation);
        for t in [0.25, 0.5, 0.75] {
            let point = a.lerp(b, t).into();
            let innermost = large
                .iter()
                .filter(|(_, surface)| surface.contains(point))
                .filter_map(|(s, surface)| Some((surface.closest_point(point)?.distance, *s)))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, shell)) = innermost {
                seen[shell] += 1;
            }
        }
    }
    seen.iter().map(|&count| count >= 2).collect()
}

/// Shells that no bone moves; they do not count towards the body's size.
fn scenery_shells(character: &Character, body: &Body) -> Vec<bool> {
    let mut scenery = vec![true; body.shells.count];
    for (p, part) in character.parts.iter().enumerate() {
        if !character.is_scenery(part) {
            let shells = (0..part.mesh.positions.len()).filter_map(|v| body.shell_of(p, v));
            shells.for_each(|shell| scenery[shell] = false);
        }
    }
    if scenery.iter().all(|&scenery| scenery) {
        scenery.fill(false);
    }
    scenery
}

/// For each shell the single joint that moves all of it, if there is one.
fn single_joints(character: &Character, body: &Body) -> Vec<Option<usize>> {
    // None: nothing seen yet; Some(None): several.
    let mut owner: Vec<Option<Option<usize>>> = vec![None; body.shells.count];
    for (p, part) in character.parts.iter().enumerate() {
        let influences = &part.binding.influences;
        for v in 0..part.mesh.positions.len() {
            let Some(shell) = body.shell_of(p, v) else {
                continue;
            };
            let alone = (v < influences.len())
                .then(|| {
                    influences
                        .of(v)
                        .iter()
                        .find(|(_, weight)| *weight > RIGID_WEIGHT)
                })
                .flatten()
                .and_then(|(slot, _)| part.binding.joints.get(*slot as usize))
                .copied();
            owner[shell] = match owner[shell] {
                None => Some(alone),
                Some(before) if before == alone => Some(before),
                Some(_) => Some(None),
            };
        }
    }
    owner.into_iter().map(Option::flatten).collect()
}

fn shell_centre(body: &Body, shell: usize) -> DVec3 {
    let mut sum = DVec3::ZERO;
    let mut count = 0.0;
    for (v, &of) in body.shells.of_vertex.iter().enumerate() {
        if of as usize == shell {
            sum += body.welded.mesh.positions[v].as_dvec3();
            count += 1.0;
        }
    }
    sum / f64::max(count, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Affine3A, Vec3};
    use supple_rig::Transform;
    use supple_rig::character::{Binding, Influences, Part};
    use supple_rig::skeleton::{Joint, JointKind, Skeleton};

    /// A large floor on a node of its own is not flesh and changes no other role.
    #[test]
    fn a_floor_is_not_flesh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../supple/assets/male.glb");
        let bytes = std::fs::read(path).unwrap();
        let mut male = supple_rig::formats::gltf::read_glb(&bytes, &Default::default()).unwrap();
        let alone = shell_roles(&male, &BTreeMap::new()).unwrap();
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
        let with = shell_roles(&male, &BTreeMap::new()).unwrap();
        let (last, others) = with.shells.split_last().unwrap();
        assert_eq!((&last.role, last.joint), (&Role::Rigid(None), floor));
        let roles = |shells: &[Shell]| shells.iter().map(|s| s.role.clone()).collect::<Vec<_>>();
        assert_eq!(roles(others), roles(&alone.shells));
    }
}
