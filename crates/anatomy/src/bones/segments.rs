//! The segments of a skeleton, and where they start in a body: by its joints, before skin is looked at.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};
use supple_geom::TriMesh;

use super::articulations::Articulation;
use super::limbs::{arm, hand, leg};
use super::maps::{Map, Placement, Shape, Stretch, frame};
use super::names::known_bone;
use super::read::{BoneError, BoneSet};
use super::targets::Targets;
use crate::{Body, Sex};

/// A group of bones that moves as one.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub name: String,
    pub map: Map,
    pub placed: Placement,
    /// Where it started.
    pub start: Placement,
    /// Bones in it, by index.
    pub bones: Vec<usize>,
}

/// Share of a long bone's length at which its shaft begins and ends: what lies beyond is head, and keeps its shape.
const SHAFT: [f64; 2] = [0.2, 0.82];
/// What covers the spine behind and the sternum before \[m\].
const THORAX_COVER: f64 = 0.020;

/// Joint points of the skeleton and of the body by name.
pub(super) struct Joints<'a> {
    pub source: BTreeMap<&'a str, DVec3>,
    pub targets: &'a Targets,
}

impl Joints<'_> {
    pub fn source(&self, name: &str) -> Option<DVec3> {
        self.source.get(name).copied()
    }

    pub fn target(&self, name: &str) -> Option<DVec3> {
        self.targets.joints.get(name).map(|target| target.at)
    }

    pub fn both(&self, name: &str) -> Option<[DVec3; 2]> {
        Some([self.source(name)?, self.target(name)?])
    }
}

pub(super) struct Builder<'a> {
    set: &'a BoneSet,
    pub size: f64,
    members: BTreeMap<String, Vec<usize>>,
    done: Vec<Segment>,
}

impl Builder<'_> {
    pub fn mesh(&self, name: &str) -> Option<&TriMesh> {
        self.set.bone(name).map(|bone| &bone.mesh)
    }

    pub fn merged(&self, segment: &str) -> TriMesh {
        let bones = self.members.get(segment).map_or(&[][..], Vec::as_slice);
        TriMesh::merged(bones.iter().map(|&b| &self.set.bones[b].mesh))
    }

    /// Adds a segment if it has bones.
    pub fn add(&mut self, name: &str, map: Map, turn: DMat3, at: DVec3, scales: [f64; 3]) {
        let Some(bones) = self.members.remove(name) else {
            return;
        };
        let placed = Placement { turn, at, scales };
        self.done.push(Segment {
            name: name.to_owned(),
            map,
            placed,
            start: placed,
            bones,
        });
    }

    pub fn placed(&self, name: &str) -> Option<&Segment> {
        self.done.iter().find(|segment| segment.name == name)
    }

    /// A long bone between two joints. `turn_before` turns its direction as a whole before it is aligned.
    pub fn add_long(&mut self, name: &str, source: [DVec3; 2], world: [DVec3; 2], sides: Sides) {
        let along = source[1] - source[0];
        let length = along.length();
        let world_along = world[1] - world[0];
        let (frame_source, turn) = match sides {
            Sides::Axes(source_side, world_side) => {
                (frame(along, source_side), frame(world_along, world_side))
            }
            Sides::Turned(before) => {
                let frame_source = frame(along, along.any_orthonormal_vector());
                let from = (before * along).normalize_or(DVec3::Y);
                let arc = DQuat::from_rotation_arc(from, world_along.normalize_or(from));
                (frame_source, DMat3::from_quat(arc) * before * frame_source)
            }
        };
        let shaft = SHAFT.map(|share| share * length);
        let map = Map {
            origin: source[0],
            frame: frame_source,
            stretch: Stretch::Long { length, shaft },
            shape: Shape::AsIs,
        };
        let stretch =
            (world_along.length() / length.max(1e-6)).clamp(0.8 * self.size, 1.25 * self.size);
        self.add(name, map, turn, world[0], [self.size, stretch, 1.0]);
    }
}

/// How a long bone is turned about its own axis.
pub(super) enum Sides {
    /// This direction of the bones becomes that one in the body.
    Axes(DVec3, DVec3),
    /// As the segment it hangs on is turned.
    Turned(DMat3),
}

/// All segments of a skeleton in their first place in a body.
pub(super) fn segments(
    set: &BoneSet,
    body: &Body,
    joints: &Joints,
    size: f64,
) -> Result<Vec<Segment>, BoneError> {
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, bone) in set.bones.iter().enumerate() {
        let segment = known_bone(&bone.name).map_or("", |known| known.segment.as_str());
        members.entry(segment.to_owned()).or_default().push(index);
    }
    let mut build = Builder {
        set,
        size,
        members,
        done: Vec::new(),
    };
    trunk(&mut build, body, joints)?;
    for (k, side) in ["l", "r"].into_iter().enumerate() {
        leg(&mut build, joints, side, joints.targets.headings[k]);
        arm(&mut build, joints, side);
        hand(&mut build, joints, side);
    }
    ride(&mut build);
    Ok(build.done)
}

/// Bones that are left over, because what they hang on is missing, go with the segment whose bones are nearest.
fn ride(build: &mut Builder) {
    let middle = |set: &BoneSet, bone: usize| set.bones[bone].mesh.bounds().center();
    let left: Vec<usize> = std::mem::take(&mut build.members)
        .into_values()
        .flatten()
        .collect();
    for bone in left {
        let at = middle(build.set, bone);
        let distance = |segment: &Segment| {
            let distances = segment
                .bones
                .iter()
                .map(|&other| middle(build.set, other).distance(at));
            distances.fold(f32::INFINITY, f32::min)
        };
        let nearest = (0..build.done.len())
            .min_by(|&a, &b| distance(&build.done[a]).total_cmp(&distance(&build.done[b])));
        if let Some(nearest) = nearest {
            build.done[nearest].bones.push(bone);
        }
    }
}

fn missing(name: &str) -> BoneError {
    BoneError::Missing {
        name: name.to_owned(),
    }
}

fn trunk(build: &mut Builder, body: &Body, joints: &Joints) -> Result<(), BoneError> {
    let size = build.size;
    let whole = |stretch: Stretch, origin: DVec3| Map {
        origin,
        frame: DMat3::IDENTITY,
        stretch,
        shape: Shape::AsIs,
    };
    let hips = ["hip_l", "hip_r"].map(|name| joints.both(name));
    let [Some(left), Some(right)] = hips else {
        return Err(missing("femur_l"));
    };
    let mut map = whole(Stretch::Axes, 0.5 * (left[0] + right[0]));
    if body.sex == Sex::Female {
        let bounds = build.merged("pelvis").bounds();
        map.shape = Shape::Female {
            height: [f64::from(bounds.min.y), f64::from(bounds.max.y)],
        };
    }
    let at = 0.5 * (left[1] + right[1]);
    build.add("pelvis", map, DMat3::IDENTITY, at, [size; 3]);
    // Rib cage: hung at the notch between the clavicles; sites bring it to its depth.
    let notches = ["sternoclavicular_l", "sternoclavicular_r"].map(|name| joints.source(name));
    let notch = match notches {
        [Some(left), Some(right)] => 0.5 * (left + right),
        _ => return Err(missing("clavicle_l")),
    };
    // Its depth is that of the skin on the midline, less what covers spine and sternum.
    let mut at = joints.targets.notch;
    let bounds = build.merged("thorax").bounds();
    let [mut back, mut front] = [f64::INFINITY, f64::NEG_INFINITY];
    let middle_height = at.y - 0.4 * size * f64::from(bounds.size().y);
    for p in body.mesh.positions.iter().map(|p| p.as_dvec3()) {
        if p.x.abs() < 0.02 && (p.y - middle_height).abs() < 0.03 {
            back = back.min(p.z);
            front = front.max(p.z);
        }
    }
    let mut depth = size;
    if front > back {
        let inner = front - back - THORAX_COVER;
        depth = (inner / f64::from(bounds.size().z)).clamp(0.85 * size, 1.1 * size);
        at.z = 0.5 * (front + back) + depth * (notch.z - f64::from(bounds.center().z));
    }
    build.add(
        "thorax",
        whole(Stretch::Axes, notch),
        DMat3::IDENTITY,
        at,
        [size, size, depth],
    );
    // Skull: its top and back below the skin's.
    let bounds = build.merged("skull").bounds();
    let top = body.mesh.bounds().max.y;
    let crown = (body.mesh.positions.iter())
        .filter(|p| p.y > top - 0.115 * size as f32 && p.x.abs() < 0.11);
    let back = crown.fold(f32::INFINITY, |back, p| back.min(p.z));
    let source = DVec3::new(0.0, f64::from(bounds.max.y), f64::from(bounds.min.z));
    let world = DVec3::new(0.0, f64::from(top) - 0.006, f64::from(back) + 0.007);
    let pivot = joints
        .source("C1_skull")
        .unwrap_or(bounds.center().as_dvec3());
    let at = world + size * (pivot - source);
    build.add(
        "skull",
        whole(Stretch::Axes, pivot),
        DMat3::IDENTITY,
        at,
        [size; 3],
    );
    for required in ["pelvis", "thorax", "skull"] {
        build.placed(required).ok_or_else(|| missing(required))?;
    }
    // Vertebrae between two wholes: shares of the way.
    let vertebrae = |letter: char, n: usize| {
        (1..=n)
            .rev()
            .map(|i| format!("{letter}{i}"))
            .collect::<Vec<_>>()
    };
    for (names, below, above) in [
        (vertebrae('L', 5), "pelvis", "thorax"),
        (vertebrae('C', 7), "thorax", "skull"),
    ] {
        let ends = [below, above].map(|end| build.placed(end).map(|s| (s.map.clone(), s.placed)));
        let [Some(below), Some(above)] = ends else {
            continue;
        };
        for (i, name) in names.iter().enumerate() {
            let Some(mesh) = build.mesh(&format!("vertebra_{name}")) else {
                continue;
            };
            let mut origin = mesh.bounds().center().as_dvec3();
            origin.x = 0.0;
            let t = (i + 1) as f64 / (names.len() + 1) as f64;
            let [low, high] =
                [&below, &above].map(|(map, placed)| placed.point(&map.basis(origin)));
            build.add(
                name,
                whole(Stretch::Uniform, origin),
                DMat3::IDENTITY,
                low.lerp(high, t),
                [size, 1.0, 1.0],
            );
        }
    }
    // The hyoid and the larynx hang before the neck.
    if let Some(bones) = build.members.remove("neck")
        && let Some(host) = build.done.iter_mut().find(|segment| segment.name == "C4")
    {
        host.bones.extend(bones);
    }
    Ok(())
}

/// Names and points of joints as the skeleton has them.
pub(super) fn joint_points(articulations: &[Articulation]) -> BTreeMap<&str, DVec3> {
    (articulations.iter())
        .map(|joint| (joint.name.as_str(), joint.at[1]))
        .collect()
}
