//! Strangers: families of characters as people make them for games and films, each in three sizes of what is odd about them.

use glam::{Vec2, Vec3};
use supple_geom::{TriMesh, shapes};
use supple_rig::Character;

use super::figure::Figure;
use super::made::{ADULT, Person, boxes, moved, skeleton};

/// Families on which contact is tuned.
pub const TUNED_FAMILIES: [&str; 8] = [
    "cloak", "fat", "shells", "bighead", "barrel", "blocks", "hang", "pieces",
];
/// Families that are only measured.
pub const KEPT_FAMILIES: [&str; 4] = ["behind", "lowpoly", "mitts", "layers"];
/// Members of a family.
const MEMBERS: [&str; 3] = ["1", "2", "3"];

/// Names of all members of some families.
pub fn members(families: &[&str]) -> Vec<String> {
    let of = |family: &&str| MEMBERS.map(|member| format!("{family}-{member}"));
    families.iter().flat_map(of).collect()
}

/// Size of the cells of the skin, relative to the height: coarse, as characters of games.
const CELL: f32 = 0.03;

/// A member of a family by name, as `cloak-2`.
pub fn stranger(name: &str) -> Option<Character> {
    let (family, member) = name.rsplit_once('-')?;
    let t = MEMBERS.iter().position(|&known| known == member)? as f32;
    let adult = Person {
        cell: CELL,
        ..ADULT
    };
    let person = match family {
        "cloak" => Person {
            belly: 0.075 + 0.03 * t,
            ..adult
        },
        "fat" => Person {
            height: 1.4,
            leg: 0.36,
            arm: 0.32,
            head: 0.2,
            belly: 0.17 + 0.03 * t,
            chest: 0.13 + 0.02 * t,
            shoulder: 0.13,
            limb: 0.06,
            ..adult
        },
        "shells" => Person {
            height: 1.3,
            head: 0.2 + 0.03 * t,
            leg: 0.42,
            belly: 0.09 + 0.02 * t,
            limb: 0.05,
            ..adult
        },
        "bighead" => Person {
            height: 1.1,
            leg: 0.32 - 0.03 * t,
            arm: 0.3,
            head: 0.32 + 0.06 * t,
            neck: 0.25,
            shoulder: 0.1,
            ..adult
        },
        "barrel" => Person {
            leg: 0.42,
            chest: 0.14 + 0.02 * t,
            belly: 0.11,
            limb: 0.035,
            shoulder: 0.17,
            ..adult
        },
        "behind" => Person {
            arms: [
                Vec3::new(0.35, -0.9, -0.25),
                Vec3::new(-0.45 - 0.15 * t, -0.3, -0.8),
                Vec3::new(-0.95, -0.1, -0.3),
            ],
            ..adult
        },
        "hang" => Person {
            belly: 0.1 + 0.02 * t,
            limb: 0.05,
            arms: [
                Vec3::new(0.45, -0.9, 0.0),
                Vec3::new(0.2, -1.0, 0.0),
                Vec3::new(0.0, -1.0, 0.0),
            ],
            ..adult
        },
        "lowpoly" => Person {
            cell: 0.045 + 0.01 * t,
            head: 0.17,
            limb: 0.055,
            ..adult
        },
        "mitts" => Person {
            hand: 2.0 + 0.6 * t,
            limb: 0.05,
            belly: 0.1,
            head: 0.18,
            ..adult
        },
        _ => adult,
    };
    let mut figure = skeleton(&person);
    let h = person.height;
    let (cell, blend) = (person.cell * h, 0.03 * h);
    match family {
        "cloak" => {
            figure.skin(cell, blend);
            cloak(&mut figure, h, t);
        }
        "shells" => shells(&mut figure, &person),
        "blocks" => {
            for (joint, from, to, width) in boxes(&figure, h) {
                let width = width * (1.2 + 0.3 * t);
                let size = (to - from).abs().max(Vec3::splat(width));
                let mesh = moved(shapes::cuboid(size, 3), 0.5 * (from + to));
                figure.piece(joint, mesh);
            }
        }
        "pieces" => {
            for (joint, from, to, width) in boxes(&figure, h) {
                let turn =
                    glam::Quat::from_rotation_arc(Vec3::Y, (to - from).normalize_or(Vec3::Y));
                let radius = width * (0.5 + 0.12 * t);
                let mut tube = shapes::capsule(radius, from.distance(to), 10, 4);
                let middle = 0.5 * (tube.bounds().min + tube.bounds().max);
                for p in &mut tube.positions {
                    *p = turn * (*p - middle) + 0.5 * (from + to);
                }
                figure.piece(joint, tube);
            }
        }
        "layers" => {
            figure.skin(cell, blend);
            for layer in 0..3 {
                let out = (0.02 + 0.008 * t) * layer as f32;
                let dress = [
                    (0.16, 0.72),
                    (0.13, 0.62),
                    (0.16, 0.5),
                    (0.2, 0.38),
                    (0.22, 0.28),
                ];
                let dress = dress.map(|(r, y)| Vec2::new((r + out) * h, (y + out) * h));
                figure.cloth(shapes::lathe(&dress.map(|p| Vec2::new(p.x, p.y)), 20));
            }
        }
        "fat" | "bighead" | "barrel" | "behind" | "hang" | "lowpoly" | "mitts" => {
            figure.skin(cell, blend);
        }
        _ => return None,
    }
    Some(figure.character(name, true))
}

/// A cape on the back, a cloak that is open in front, and one that is closed: arms go through it.
fn cloak(figure: &mut Figure, h: f32, t: f32) {
    let wide = 0.12 + 0.04 * t;
    let profile = [
        (0.07, 0.84),
        (wide, 0.78),
        (wide + 0.04, 0.6),
        (wide + 0.07, 0.4),
        (wide + 0.1, 0.15),
    ];
    let profile = profile.map(|(r, y)| Vec2::new(r * h, y * h));
    let mesh = shapes::lathe(&refined(&profile, 3), 24);
    let mesh = kept(mesh, |p| match t {
        0.0 => p.z < 0.0,
        1.0 => p.z < 0.0 || p.x.abs() > 0.06 * h,
        _ => true,
    });
    figure.cloth(mesh);
}

/// Points between those of a profile.
fn refined(profile: &[Vec2], by: usize) -> Vec<Vec2> {
    let mut list = Vec::new();
    for ends in profile.windows(2) {
        list.extend((0..by).map(|k| ends[0].lerp(ends[1], k as f32 / by as f32)));
    }
    list.extend(profile.last());
    list
}

/// A body in pieces with open rims, one inside the other: head, hands, trousers and shirt.
fn shells(figure: &mut Figure, person: &Person) {
    let h = person.height;
    let whole = figure.surface(person.cell * h, 0.03 * h);
    let neck = figure.place(figure.find("neck"));
    let wrist = figure.place(figure.find("leftHand"));
    let waist = person.leg + 0.06;
    let scaled = |mut mesh: TriMesh, at: Vec3, by: Vec3| {
        for p in &mut mesh.positions {
            *p = at + (*p - at) * by;
        }
        mesh
    };
    let rim = 0.03 * h;
    let head = kept(whole.clone(), |p| p.y > neck.y - rim && p.x.abs() < 0.2 * h);
    figure.cloth(scaled(head, neck, Vec3::new(0.85, 1.0, 0.85)));
    for side in [1.0, -1.0] {
        let hand = kept(whole.clone(), |p| p.x * side > wrist.x - rim);
        let at = Vec3::new(side * wrist.x, wrist.y, wrist.z);
        figure.cloth(scaled(hand, at, Vec3::new(1.0, 0.85, 0.85)));
    }
    let legs = kept(whole.clone(), |p| p.y < waist * h + rim);
    figure.cloth(scaled(
        legs,
        Vec3::Y * waist * h,
        Vec3::new(0.95, 1.0, 0.95),
    ));
    figure.cloth(kept(whole, |p| {
        p.y > waist * h - rim && p.y < neck.y + rim && p.x.abs() < wrist.x
    }));
}

/// The triangles whose corners are all kept; the vertices that they use.
fn kept(mesh: TriMesh, keep: impl Fn(Vec3) -> bool) -> TriMesh {
    let mut numbers = vec![u32::MAX; mesh.positions.len()];
    let mut result = TriMesh::default();
    for triangle in &mesh.triangles {
        if !triangle.iter().all(|&v| keep(mesh.positions[v as usize])) {
            continue;
        }
        result.triangles.push(triangle.map(|v| {
            let slot = &mut numbers[v as usize];
            if *slot == u32::MAX {
                *slot = result.positions.len() as u32;
                result.positions.push(mesh.positions[v as usize]);
            }
            *slot
        }));
    }
    result
}
