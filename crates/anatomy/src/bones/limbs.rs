//! Where the segments of legs, arms, hands and feet start.

use glam::{DMat3, DQuat, DVec3};
use supple_geom::TriMesh;

use super::articulations::{finger, toe};
use super::centres::{extreme, lower_end};
use super::maps::{Map, Shape, Stretch, frame};
use super::segments::{Builder, Joints, Sides};

/// Cosine between upper arm and forearm above which the elbow's axis cannot be seen: 8 degrees.
const STRAIGHT_ELBOW: f64 = 0.99;

/// Thigh, shank, foot and toes of a side.
pub(super) fn leg(build: &mut Builder, joints: &Joints, side: &str, heading: DVec3) {
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
    // The foot heads where its second ray does.
    let ball = (joints.source(&named("toe2_prox")))
        .or_else(|| Some(extreme(build.mesh(&named("metatarsal2"))?, DVec3::Z, 0.005)))
        .unwrap_or(ankle[0] + DVec3::Z);
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

/// Shoulder blade, clavicle, upper arm and forearm of a side.
pub(super) fn arm(build: &mut Builder, joints: &Joints, side: &str) {
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

/// Wrist and fingers of a side.
pub(super) fn hand(build: &mut Builder, joints: &Joints, side: &str) {
    let named = |name: &str| format!("{name}_{side}");
    let knuckle = |name: &str| joints.both(&named(&format!("{name}_proximal")));
    let Some(wrist) = joints.both(&named("wrist")) else {
        return;
    };
    // Without knuckles the hand goes on as the radius does.
    let (source_frame, turn) = match (knuckle("index"), knuckle("middle"), knuckle("little")) {
        (Some(index), Some(middle), Some(little)) => (
            frame(middle[0] - wrist[0], index[0] - little[0]),
            frame(middle[1] - wrist[1], index[1] - little[1]),
        ),
        _ => match build.placed(&named("radius")) {
            Some(radius) => (radius.map.frame, radius.placed.turn),
            None => return,
        },
    };
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
