//! The segments of a skeleton, and where they start in a body: by its joints, before skin is looked at.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};
use supple_geom::TriMesh;

use super::articulations::{Articulation, finger, toe};
use super::centres::{extreme, lower_end};
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
/// Cosine between upper arm and forearm above which the elbow's axis cannot be seen: 8 degrees.
const STRAIGHT_ELBOW: f64 = 0.99;

/// Joint points of the skeleton and of the body by name.
pub(super) struct Joints<'a> {
    pub source: BTreeMap<&'a str, DVec3>,
    pub targets: &'a Targets,
}

impl Joints<'_> {
    fn source(&self, name: &str) -> Option<DVec3> {
        self.source.get(name).copied()
    }

    fn target(&self, name: &str) -> Option<DVec3> {
        self.targets.joints.get(name).map(|target| target.at)
    }

    fn both(&self, name: &str) -> Option<[DVec3; 2]> {
        Some([self.source(name)?, self.target(name)?])
    }
}

struct Builder<'a> {
    set: &'a BoneSet,
    size: f64,
    members: BTreeMap<String, Vec<usize>>,
    done: Vec<Segment>,
}

impl Builder<'_> {
    fn mesh(&self, name: &str) -> Option<&TriMesh> {
        self.set.bone(name).map(|bone| &bone.mesh)
    }

    fn merged(&self, segment: &str) -> TriMesh {
        let bones = self.members.get(segment).map_or(&[][..], Vec::as_slice);
        TriMesh::merged(bones.iter().map(|&b| &self.set.bones[b].mesh))
    }

    /// Adds a segment if it has bones.
    fn add(&mut self, name: &str, map: Map, turn: DMat3, at: DVec3, scales: [f64; 3]) {
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

    fn placed(&self, name: &str) -> Option<&Segment> {
        self.done.iter().find(|segment| segment.name == name)
    }

    /// A long bone between two joints. `turn_before` turns its direction as a whole before it is aligned.
    fn add_long(&mut self, name: &str, source: [DVec3; 2], world: [DVec3; 2], sides: Sides) {
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
enum Sides {
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
    Ok(build.done)
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

fn leg(build: &mut Builder, joints: &Joints, side: &str, heading: DVec3) {
    let named = |name: &str| format!("{name}_{side}");
    let lateral = DVec3::Y.cross(heading);
    let points = ["hip", "knee", "ankle"].map(|name| joints.both(&named(name)));
    let [Some(hip), Some(knee), Some(ankle)] = points else {
        return;
    };
    let sides = || Sides::Axes(DVec3::X, lateral);
    build.add_long(
        &named("femur"),
        [hip[0], knee[0]],
        [hip[1], knee[1]],
        sides(),
    );
    build.add_long(
        &named("tibia"),
        [knee[0], ankle[0]],
        [knee[1], ankle[1]],
        sides(),
    );
    let Some(ball) = joints.source(&named("toe2_prox")) else {
        return;
    };
    let ahead = DVec3::new(ball.x - ankle[0].x, 0.0, ball.z - ankle[0].z);
    let source_frame = frame(DVec3::Y, DVec3::Y.cross(ahead));
    let turn = frame(DVec3::Y, lateral);
    let map = Map {
        origin: ankle[0],
        frame: source_frame,
        stretch: Stretch::Axes,
        shape: Shape::AsIs,
    };
    build.add(&named("foot"), map, turn, ankle[1], [build.size; 3]);
    let before = turn * source_frame.transpose();
    for index in 1..=5 {
        ray(build, joints, &toe(index, side)[1..], before);
    }
}

/// Bones of a digit one after the other, from joint to joint to the tip.
fn ray(build: &mut Builder, joints: &Joints, bones: &[String], before: DMat3) {
    for (i, name) in bones.iter().enumerate() {
        let Some(mesh) = build.mesh(name) else {
            continue;
        };
        let (Some(start), Some(world_start)) = (joints.source(name), joints.target(name)) else {
            continue;
        };
        let next = bones.get(i + 1);
        let out = mesh.bounds().center().as_dvec3() - start;
        let tip = || Some(extreme(mesh, out.normalize_or(-DVec3::Y), 0.002));
        let end = next.map_or_else(tip, |next| joints.source(next));
        let world_end = match next {
            Some(next) => joints.target(next),
            None => joints.targets.tips.get(name).map(|tip| tip.at),
        };
        if let (Some(end), Some(world_end)) = (end, world_end) {
            build.add_long(
                name,
                [start, end],
                [world_start, world_end],
                Sides::Turned(before),
            );
        }
    }
}

fn arm(build: &mut Builder, joints: &Joints, side: &str) {
    let named = |name: &str| format!("{name}_{side}");
    let points = ["shoulder", "elbow", "wrist"].map(|name| joints.both(&named(name)));
    let [Some(shoulder), Some(elbow), Some(wrist)] = points else {
        return;
    };
    let size = build.size;
    let map = Map {
        origin: shoulder[0],
        frame: DMat3::IDENTITY,
        stretch: Stretch::Uniform,
        shape: Shape::AsIs,
    };
    build.add(
        &named("scapula"),
        map,
        DMat3::IDENTITY,
        shoulder[1],
        [size, 1.0, 1.0],
    );
    let ends = ["sternoclavicular", "acromioclavicular"].map(|name| joints.source(&named(name)));
    if let [Some(inner), Some(outer)] = ends
        && let (Some(thorax), Some(scapula)) =
            (build.placed("thorax"), build.placed(&named("scapula")))
    {
        let world = [
            thorax.placed.point(&thorax.map.basis(inner)),
            scapula.placed.point(&scapula.map.basis(outer)),
        ];
        build.add_long(
            &named("clavicle"),
            [inner, outer],
            world,
            Sides::Axes(DVec3::Z, DVec3::Z),
        );
    }
    // The elbow's axis: across both arms in the body, along the epicondyles in the skeleton.
    let upper = (elbow[1] - shoulder[1]).normalize_or(-DVec3::Y);
    let fore = (wrist[1] - elbow[1]).normalize_or(-DVec3::Y);
    let axis = if upper.dot(fore) < STRAIGHT_ELBOW {
        -upper.cross(fore)
    } else {
        DQuat::from_rotation_arc(-DVec3::Y, upper) * DVec3::X
    };
    let across = (build.mesh(&named("humerus"))).map_or(DVec3::X, epicondyles);
    let sides = || Sides::Axes(across, axis);
    build.add_long(
        &named("humerus"),
        [shoulder[0], elbow[0]],
        [shoulder[1], elbow[1]],
        sides(),
    );
    let source = [elbow[0], wrist[0]];
    build.add_long(&named("ulna"), source, [elbow[1], wrist[1]], sides());
    let Some(ulna) = build.placed(&named("ulna")) else {
        return;
    };
    let names = ["radioulnar_proximal", "radioulnar_distal"];
    let [Some(head), Some(foot)] = names.map(|name| joints.source(&named(name))) else {
        return;
    };
    // The radius turns about the line through both heads until its lower end points where the hand's thumb side is.
    let at = |p: DVec3| ulna.placed.point(&ulna.map.basis(p));
    let (head_world, foot_world, end_world) = (at(head), at(foot), at(wrist[0]));
    let pivot = (foot_world - head_world).normalize_or(fore);
    let around = |v: DVec3| v.reject_from_normalized(pivot).normalize_or_zero();
    let knuckles = ["index_proximal", "little_proximal"].map(|name| joints.both(&named(name)));
    let twist = match knuckles {
        [Some(index), Some(little)] => {
            // Thumb side in the skeleton as the ulna carries it, and in the body.
            let carried = ulna.placed.turn * ulna.map.frame.transpose() * (index[0] - little[0]);
            let (from, to) = (around(carried), around(index[1] - little[1]));
            from.cross(to).dot(pivot).atan2(from.dot(to))
        }
        _ => 0.0,
    };
    let turn_all =
        DMat3::from_axis_angle(pivot, twist) * ulna.placed.turn * ulna.map.frame.transpose();
    let source = [head, wrist[0]];
    let world_end = head_world + DMat3::from_axis_angle(pivot, twist) * (end_world - head_world);
    build.add_long(
        &named("radius"),
        source,
        [head_world, world_end],
        Sides::Turned(turn_all),
    );
}

/// Direction of the epicondyles: the widest of the lower end, to +X.
fn epicondyles(humerus: &TriMesh) -> DVec3 {
    let (middle, _) = lower_end(humerus, 0.07);
    let bounds = humerus.bounds();
    let [mut xx, mut xz, mut zz] = [0.0; 3];
    for p in (humerus.positions.iter()).filter(|p| p.y < bounds.min.y + 0.07 * bounds.size().y) {
        let p = p.as_dvec3() - middle;
        xx += p.x * p.x;
        xz += p.x * p.z;
        zz += p.z * p.z;
    }
    let angle = 0.5 * (2.0 * xz).atan2(xx - zz);
    let axis = DVec3::new(angle.cos(), 0.0, angle.sin());
    axis * axis.x.signum()
}

fn hand(build: &mut Builder, joints: &Joints, side: &str) {
    let named = |name: &str| format!("{name}_{side}");
    let knuckle = |name: &str| joints.both(&named(&format!("{name}_proximal")));
    let (Some(wrist), Some(index), Some(middle), Some(little)) = (
        joints.both(&named("wrist")),
        knuckle("index"),
        knuckle("middle"),
        knuckle("little"),
    ) else {
        return;
    };
    let source_frame = frame(middle[0] - wrist[0], index[0] - little[0]);
    let turn = frame(middle[1] - wrist[1], index[1] - little[1]);
    let map = Map {
        origin: wrist[0],
        frame: source_frame,
        stretch: Stretch::Uniform,
        shape: Shape::AsIs,
    };
    let size = build.size;
    build.add(
        &named("carpals"),
        map.clone(),
        turn,
        wrist[1],
        [size, 1.0, 1.0],
    );
    let before = turn * source_frame.transpose();
    for i in 1..=5 {
        let bones = finger(i, side);
        let root_name = named(&format!("carpometacarpal{i}"));
        let (Some(root), Some(end)) = (joints.source(&root_name), joints.both(&bones[1])) else {
            continue;
        };
        let root_world = joints
            .target(&root_name)
            .unwrap_or(wrist[1] + size * before * (root - wrist[0]));
        build.add_long(
            &bones[0],
            [root, end[0]],
            [root_world, end[1]],
            Sides::Turned(before),
        );
        ray(build, joints, &bones[1..], before);
    }
}

/// Names and points of joints as the skeleton has them.
pub(super) fn joint_points(articulations: &[Articulation]) -> BTreeMap<&str, DVec3> {
    (articulations.iter())
        .map(|joint| (joint.name.as_str(), joint.at[1]))
        .collect()
}
