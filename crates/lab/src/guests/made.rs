//! The made guests: people of many shapes, animals, and figures of many shells.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};
use supple_geom::{TriMesh, shapes};
use supple_rig::Character;

use super::figure::Figure;

/// Proportions of a person, in heights unless noted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Person {
    /// Height \[m\].
    pub height: f32,
    /// Height of the hips.
    pub leg: f32,
    /// Length of an arm.
    pub arm: f32,
    /// Height of the head.
    pub head: f32,
    /// Half the width of shoulders and hips.
    pub shoulder: f32,
    pub hip: f32,
    /// Radius of the belly and of the chest.
    pub belly: f32,
    pub chest: f32,
    /// Radius of a thigh; arms are two thirds of it.
    pub limb: f32,
    /// Radius of the neck, relative to half the head.
    pub neck: f32,
    /// Factor of the size of the hands.
    pub hand: f32,
    /// Directions of the left upper arm, lower arm and hand at rest.
    pub arms: [Vec3; 3],
    /// Size of the cells of the skin.
    pub cell: f32,
}

pub(super) const ADULT: Person = Person {
    height: 1.7,
    leg: 0.5,
    arm: 0.38,
    head: 0.13,
    shoulder: 0.11,
    hip: 0.06,
    belly: 0.075,
    chest: 0.085,
    limb: 0.045,
    neck: 0.4,
    hand: 1.0,
    arms: [Vec3::X; 3],
    cell: 0.022,
};

/// Names of the made guests.
pub const NAMES: [&str; 20] = [
    "adult", "fat", "child", "broad", "dwarf", "lanky", "pear", "stout", "coarse", "tiny",
    "voxels", "robot", "skirt", "coat", "packed", "dog", "bird", "snake", "octopus", "fish",
];

/// A made guest by name.
pub fn made(name: &str) -> Option<Character> {
    let person = |person: Person| {
        let mut figure = skeleton(&person);
        figure.skin(person.cell * person.height, 0.03 * person.height);
        Some(figure.character(name, true))
    };
    match name {
        "adult" => person(ADULT),
        "fat" => person(Person {
            belly: 0.16,
            chest: 0.11,
            limb: 0.055,
            ..ADULT
        }),
        "child" => person(Person {
            height: 1.1,
            leg: 0.42,
            head: 0.22,
            shoulder: 0.1,
            ..ADULT
        }),
        "broad" => person(Person {
            height: 2.0,
            shoulder: 0.16,
            chest: 0.12,
            limb: 0.06,
            ..ADULT
        }),
        "dwarf" => person(Person {
            height: 1.2,
            leg: 0.3,
            arm: 0.36,
            head: 0.24,
            belly: 0.15,
            chest: 0.13,
            limb: 0.07,
            ..ADULT
        }),
        "lanky" => person(Person {
            height: 2.3,
            leg: 0.58,
            arm: 0.5,
            head: 0.09,
            limb: 0.028,
            belly: 0.05,
            chest: 0.055,
            ..ADULT
        }),
        "pear" => person(Person {
            hip: 0.085,
            belly: 0.13,
            chest: 0.08,
            limb: 0.075,
            ..ADULT
        }),
        "stout" => person(Person {
            height: 1.6,
            limb: 0.08,
            belly: 0.14,
            chest: 0.14,
            shoulder: 0.16,
            hip: 0.09,
            ..ADULT
        }),
        "coarse" => person(Person {
            cell: 0.04,
            ..ADULT
        }),
        "tiny" => person(Person {
            height: 0.12,
            ..ADULT
        }),
        "voxels" => Some(voxels().character(name, true)),
        "robot" => Some(robot().character(name, true)),
        "skirt" => Some(skirt().character(name, true)),
        "coat" => Some(coat().character(name, true)),
        "packed" => Some(packed().character(name, true)),
        "dog" => Some(dog().character(name, false)),
        "bird" => Some(bird().character(name, false)),
        "snake" => Some(snake().character(name, false)),
        "octopus" => Some(octopus().character(name, false)),
        "fish" => Some(fish().character(name, false)),
        _ => super::odd::odd(name).or_else(|| super::strangers::stranger(name)),
    }
}

/// Joints and limbs of a person, facing +Z, on the ground; usually in T-pose.
pub(super) fn skeleton(person: &Person) -> Figure {
    let mut figure = Figure::default();
    let h = person.height;
    let at = |x: f32, y: f32, z: f32| h * Vec3::new(x, y, z);
    let radii = |a: f32, b: f32| [h * a, h * b];
    let (top, torso) = (1.0 - person.head, 1.0 - person.head - person.leg);
    let hips = figure.joint("hips", None, at(0.0, person.leg, 0.0));
    let spine = figure.joint("spine", Some(hips), at(0.0, person.leg + 0.25 * torso, 0.0));
    let chest = figure.joint("chest", Some(spine), at(0.0, person.leg + 0.6 * torso, 0.0));
    let neck = figure.joint("neck", Some(chest), at(0.0, top - 0.03, 0.0));
    let head = figure.joint("head", Some(neck), at(0.0, top + 0.01, 0.0));
    let skull = 0.5 * person.head;
    let (belly, breast) = (person.belly, person.chest);
    figure.limb(
        hips,
        figure.place(spine),
        radii(0.5 * (belly + breast), belly),
    );
    figure.limb(spine, figure.place(chest), radii(belly, breast));
    figure.limb(
        chest,
        figure.place(neck) - at(0.0, 0.06, 0.0),
        radii(breast, 0.8 * breast),
    );
    figure.limb(
        neck,
        figure.place(head),
        radii(person.neck * skull, person.neck * skull),
    );
    figure.limb(
        head,
        at(0.0, 1.0 - skull, 0.0),
        radii(0.6 * skull, 0.9 * skull),
    );
    let arm = 0.65 * person.limb;
    for (side, x) in [("left", 1.0), ("right", -1.0)] {
        let name = |bone: &str| format!("{side}{bone}");
        let y = top - 0.06;
        let reach = |share: f32| {
            let parts = [
                share.min(0.42),
                (share - 0.42).clamp(0.0, 0.38),
                share - 0.8,
            ];
            let along = parts.iter().zip(person.arms);
            let way: Vec3 = along
                .map(|(part, way)| part.max(0.0) * person.arm * way.normalize())
                .sum();
            at(x * (person.shoulder + way.x), y + way.y, way.z)
        };
        let shoulder = figure.joint(&name("Shoulder"), Some(chest), at(x * 0.03, y, 0.0));
        let upper = figure.joint(&name("UpperArm"), Some(shoulder), reach(0.0));
        let lower = figure.joint(&name("LowerArm"), Some(upper), reach(0.42));
        let hand = figure.joint(&name("Hand"), Some(lower), reach(0.8));
        figure.limb(shoulder, reach(0.0), radii(arm, 1.1 * arm));
        figure.limb(upper, reach(0.42), radii(1.1 * arm, 0.8 * arm));
        figure.limb(lower, reach(0.8), radii(0.8 * arm, 0.6 * arm));
        let palm = arm * person.hand;
        figure.limb(hand, reach(1.0), radii(0.6 * palm, 0.5 * palm));
        let leg = |y: f32, z: f32| at(x * (person.hip + 0.01), y, z);
        let ankle = 0.6 * person.limb;
        let thigh = figure.joint(&name("UpperLeg"), Some(hips), leg(person.leg - 0.02, 0.0));
        let shin = figure.joint(&name("LowerLeg"), Some(thigh), leg(0.5 * person.leg, 0.0));
        let foot = figure.joint(&name("Foot"), Some(shin), leg(ankle, 0.0));
        figure.limb(
            thigh,
            figure.place(shin),
            radii(person.limb, 0.75 * person.limb),
        );
        figure.limb(
            shin,
            figure.place(foot),
            radii(0.75 * person.limb, 0.5 * person.limb),
        );
        figure.limb(
            foot,
            leg(ankle, 0.1),
            radii(0.55 * person.limb, 0.45 * person.limb),
        );
    }
    figure
}

/// Boxes that meet at the joints, each on one joint.
fn voxels() -> Figure {
    let mut figure = skeleton(&ADULT);
    for (joint, from, to, width) in boxes(&figure, ADULT.height) {
        let size = (to - from).abs().max(Vec3::splat(width));
        let mesh = moved(shapes::cuboid(size, 2), 0.5 * (from + to));
        figure.piece(joint, mesh);
    }
    figure
}

/// Capsules with balls at the joints, each a shell of its own.
fn robot() -> Figure {
    let mut figure = skeleton(&ADULT);
    for (joint, from, to, width) in boxes(&figure, ADULT.height) {
        let length = from.distance(to);
        let turn = glam::Quat::from_rotation_arc(Vec3::Y, (to - from).normalize_or(Vec3::Y));
        let mut tube = shapes::capsule(0.4 * width, 0.7 * length, 12, 6);
        let middle = 0.5 * (tube.bounds().min + tube.bounds().max);
        for p in &mut tube.positions {
            *p = turn * (*p - middle) + 0.5 * (from + to);
        }
        figure.piece(joint, tube);
        figure.piece(joint, moved(shapes::icosphere(0.45 * width, 2), from));
    }
    figure
}

/// Joint, ends and width of the segments of a person of this height \[m\].
pub(super) fn boxes(figure: &Figure, h: f32) -> Vec<(usize, Vec3, Vec3, f32)> {
    let width = |name: &str| match name {
        "hips" | "spine" | "chest" => 0.17,
        "head" => 0.12,
        name if name.ends_with("Leg") => 0.08,
        _ => 0.06,
    };
    figure
        .segments()
        .map(|(joint, name, from, to)| (joint, from, to, h * width(name)))
        .collect()
}

/// A body in an open skirt that hangs around the thighs.
fn skirt() -> Figure {
    let mut figure = skeleton(&ADULT);
    figure.skin(ADULT.cell * ADULT.height, 0.03 * ADULT.height);
    let profile = [(0.2, 0.55), (0.23, 0.7), (0.2, 0.82), (0.15, 0.95)];
    figure.cloth(shapes::lathe(&profile.map(|(r, y)| Vec2::new(r, y)), 28));
    figure
}

/// A body in a wide closed coat, with a hat.
fn coat() -> Figure {
    let mut figure = skeleton(&ADULT);
    figure.skin(ADULT.cell * ADULT.height, 0.03 * ADULT.height);
    let mut coat = shapes::capsule(0.19, 0.35, 28, 10);
    let middle = 0.5 * (coat.bounds().min + coat.bounds().max);
    let turn = turn_upright(&coat);
    for p in &mut coat.positions {
        *p = turn * (*p - middle) + Vec3::new(0.0, 1.12, 0.0);
    }
    figure.cloth(coat);
    let hat = moved(shapes::icosphere(0.13, 2), Vec3::new(0.0, 1.68, 0.0));
    let head = figure.find("head");
    figure.piece(head, hat);
    figure
}

/// The rotation that sets the longest side of a mesh upright.
fn turn_upright(mesh: &TriMesh) -> glam::Quat {
    let size = mesh.bounds().size();
    match size.max_position() {
        0 => glam::Quat::from_rotation_z(0.25 * TAU),
        2 => glam::Quat::from_rotation_x(0.25 * TAU),
        _ => glam::Quat::IDENTITY,
    }
}

/// A body with a backpack, a belt and boxes on its arms.
fn packed() -> Figure {
    let mut figure = skeleton(&ADULT);
    figure.skin(ADULT.cell * ADULT.height, 0.03 * ADULT.height);
    let chest = figure.find("chest");
    let pack = shapes::cuboid(Vec3::new(0.28, 0.4, 0.16), 4);
    figure.piece(chest, moved(pack, Vec3::new(0.0, 1.25, -0.22)));
    let belt = [
        (0.15, 0.9),
        (0.165, 0.9),
        (0.165, 0.96),
        (0.15, 0.96),
        (0.15, 0.9),
    ];
    figure.cloth(shapes::lathe(&belt.map(|(r, y)| Vec2::new(r, y)), 24));
    for side in ["left", "right"] {
        let arm = figure.find(&format!("{side}LowerArm"));
        let at = figure.place(arm);
        let guard = shapes::cuboid(Vec3::new(0.16, 0.12, 0.12), 2);
        figure.piece(arm, moved(guard, at * Vec3::new(1.25, 1.0, 1.0)));
    }
    figure
}

/// A chain of joints from one place to another, with limbs of these radii.
pub(super) fn chain(
    figure: &mut Figure,
    (name, parent): (&str, Option<usize>),
    places: &[Vec3],
    radius: impl Fn(f32) -> f32,
) -> usize {
    let last = places.len() - 1;
    let mut above = parent;
    for (k, &place) in places[..last].iter().enumerate() {
        let joint = figure.joint(&format!("{name}{k}"), above, place);
        above = Some(joint);
    }
    let first = above.map_or(0, |above| above + 1 - last);
    for k in 0..last {
        let share = |k: usize| k as f32 / last as f32;
        figure.limb(
            first + k,
            places[k + 1],
            [radius(share(k)), radius(share(k + 1))],
        );
    }
    first
}

/// Places on a line.
pub(super) fn line(from: Vec3, to: Vec3, count: usize) -> Vec<Vec3> {
    (0..=count)
        .map(|k| from.lerp(to, k as f32 / count as f32))
        .collect()
}

fn dog() -> Figure {
    let mut figure = Figure::default();
    let spine = line(Vec3::new(0.0, 0.55, -0.4), Vec3::new(0.0, 0.58, 0.4), 4);
    let body = chain(&mut figure, ("spine", None), &spine, |t| 0.11 + 0.04 * t);
    let neck = line(Vec3::new(0.0, 0.6, 0.42), Vec3::new(0.0, 0.85, 0.65), 2);
    let neck = chain(&mut figure, ("neck", Some(body + 3)), &neck, |t| {
        0.09 - 0.02 * t
    });
    let snout = [Vec3::new(0.0, 0.85, 0.66), Vec3::new(0.0, 0.82, 0.86)];
    chain(&mut figure, ("snout", Some(neck + 1)), &snout, |t| {
        0.08 - 0.03 * t
    });
    let tail = line(Vec3::new(0.0, 0.6, -0.45), Vec3::new(0.0, 0.75, -0.85), 4);
    chain(&mut figure, ("tail", Some(body)), &tail, |t| {
        0.035 - 0.015 * t
    });
    for (z, parent) in [(-0.35, body), (0.35, body + 3)] {
        for x in [-0.12, 0.12] {
            let leg = line(Vec3::new(x, 0.48, z), Vec3::new(x, 0.05, z), 3);
            chain(&mut figure, ("leg", Some(parent)), &leg, |t| {
                0.06 - 0.02 * t
            });
        }
    }
    figure.skin(0.028, 0.03);
    figure
}

fn bird() -> Figure {
    let mut figure = Figure::default();
    let spine = line(Vec3::new(0.0, 0.3, -0.1), Vec3::new(0.0, 0.42, 0.1), 2);
    let body = chain(&mut figure, ("spine", None), &spine, |_| 0.1);
    let neck = line(Vec3::new(0.0, 0.48, 0.12), Vec3::new(0.0, 0.66, 0.18), 2);
    let neck = chain(&mut figure, ("neck", Some(body + 1)), &neck, |t| {
        0.05 + 0.01 * t
    });
    let beak = [Vec3::new(0.0, 0.66, 0.22), Vec3::new(0.0, 0.64, 0.34)];
    chain(&mut figure, ("beak", Some(neck + 1)), &beak, |t| {
        0.035 - 0.015 * t
    });
    for x in [-1.0, 1.0] {
        let wing = line(
            Vec3::new(0.1 * x, 0.42, 0.02),
            Vec3::new(0.6 * x, 0.46, -0.05),
            3,
        );
        chain(&mut figure, ("wing", Some(body + 1)), &wing, |t| {
            0.05 - 0.02 * t
        });
        let leg = line(
            Vec3::new(0.06 * x, 0.24, -0.02),
            Vec3::new(0.06 * x, 0.03, 0.0),
            2,
        );
        chain(&mut figure, ("leg", Some(body)), &leg, |t| 0.04 - 0.01 * t);
    }
    figure.skin(0.018, 0.02);
    figure
}

fn snake() -> Figure {
    let mut figure = Figure::default();
    let spine = line(Vec3::new(0.0, 0.06, -0.9), Vec3::new(0.0, 0.06, 0.9), 14);
    chain(&mut figure, ("spine", None), &spine, |t| {
        0.02 + 0.05 * (3.0 * t).min(1.0) * (1.2 - t)
    });
    figure.skin(0.02, 0.0);
    figure
}

fn octopus() -> Figure {
    let mut figure = Figure::default();
    let head = [Vec3::new(0.0, 0.3, 0.0), Vec3::new(0.0, 0.55, 0.0)];
    let head = chain(&mut figure, ("head", None), &head, |t| 0.16 + 0.04 * t);
    for k in 0..8 {
        let angle = TAU * k as f32 / 8.0;
        let out = Vec3::new(angle.sin(), 0.0, angle.cos());
        let arm = line(0.15 * out + 0.2 * Vec3::Y, 0.9 * out + 0.05 * Vec3::Y, 5);
        chain(&mut figure, ("arm", Some(head)), &arm, |t| 0.07 - 0.04 * t);
    }
    figure.skin(0.028, 0.03);
    figure
}

fn fish() -> Figure {
    let mut figure = Figure::default();
    let spine = line(Vec3::new(0.0, 0.3, 0.4), Vec3::new(0.0, 0.3, -0.5), 6);
    let body = chain(&mut figure, ("spine", None), &spine, |t| {
        0.05 + 0.5 * t * (1.0 - t)
    });
    for y in [-1.0, 1.0] {
        let fin = [
            Vec3::new(0.0, 0.3, -0.5),
            Vec3::new(0.0, 0.3 + 0.16 * y, -0.66),
        ];
        chain(&mut figure, ("fin", Some(body + 5)), &fin, |t| {
            0.04 - 0.01 * t
        });
    }
    figure.skin(0.025, 0.03);
    figure
}

pub(super) fn moved(mut mesh: TriMesh, by: Vec3) -> TriMesh {
    let middle = 0.5 * (mesh.bounds().min + mesh.bounds().max);
    for p in &mut mesh.positions {
        *p += by - middle;
    }
    mesh
}
