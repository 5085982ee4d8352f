//! Small scenes: characters, tubes, blobs.

use supple::Character;
use supple::flesh::Settings;
use supple::geom::surface_nets::{project_onto, surface_nets};
use supple::geom::{Aabb, TriMesh, shapes};
use supple::glam::{Affine3A, DVec3, Quat, Vec3};
use supple::rig::skeleton::JointKind;
use supple::rig::{Joint, Part, Skeleton, Transform};

/// A character from a mesh and joints: name, parent, position.
pub fn character(name: &str, mesh: TriMesh, joints: &[(&str, Option<usize>, Vec3)]) -> Character {
    let joint = |&(name, parent, place): &(&str, Option<usize>, Vec3)| Joint {
        name: name.to_owned(),
        parent,
        rest: Transform::from_translation(place - parent.map_or(Vec3::ZERO, |p| joints[p].2)),
        tail: None,
        kind: JointKind::Bone,
    };
    let part = Part {
        name: name.to_owned(),
        mesh,
        ..Part::default()
    };
    Character {
        name: name.to_owned(),
        skeleton: Skeleton::from_unordered(joints.iter().map(joint).collect())
            .unwrap()
            .0,
        parts: vec![part],
        ..Character::default()
    }
}

/// A round-ended tube along X from 0 to `length`, whose plane z = 0 runs along edges.
pub fn tube(radius: f32, length: f32, around: u32, along: u32) -> TriMesh {
    let mut mesh = shapes::capsule(radius, length, around, along);
    let lie = Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2);
    mesh.transform(&Affine3A::from_rotation_translation(
        lie,
        Vec3::X * (0.5 * length),
    ));
    mesh
}

/// A straight limb along X: two bones that meet in the middle of a tube of radius 0.1 m, at `depth` from its axis.
pub fn arm(depth: f32) -> Character {
    coarse_arm(depth, 32, 72)
}

/// The same with fewer vertices around and along.
pub fn coarse_arm(depth: f32, around: u32, along: u32) -> Character {
    let joints = [
        ("upper", None, Vec3::new(0.02, 0.0, 0.0)),
        ("elbow", Some(0), Vec3::new(0.5, -depth, 0.0)),
        ("wrist", Some(1), Vec3::new(0.98, 0.0, 0.0)),
    ];
    character("arm", tube(0.1, 1.0, around, along), &joints)
}

/// The settings that give bones and elbow of [`arm`] their radii [m].
pub fn arm_settings(bones: f64, elbow: f64) -> Settings {
    let mut settings = Settings::default();
    for joint in ["upper", "elbow"] {
        settings.bone_radii.insert(joint.to_owned(), bones);
    }
    settings.joint_radii.insert("elbow".to_owned(), elbow);
    settings
}

/// A tapered limb of [`blob`].
pub struct Limb {
    pub ends: [Vec3; 2],
    pub radii: [f32; 2],
    /// Factor by which it is flattened along Z.
    pub flat: f64,
}

/// A smooth closed surface around limbs, blended over `blend` [m], of quads about `cell` [m] wide.
pub fn blob(limbs: &[Limb], blend: f64, cell: f32) -> TriMesh {
    let value = |p: DVec3| {
        let to_limb = |limb: &Limb| {
            let [a, b] = limb.ends.map(|end| end.as_dvec3());
            let axis = b - a;
            let t = ((p - a).dot(axis) / axis.length_squared().max(1e-12)).clamp(0.0, 1.0);
            let radius = f64::from(limb.radii[0]) + t * f64::from(limb.radii[1] - limb.radii[0]);
            let away = p - a - axis * t;
            (away * DVec3::new(1.0, 1.0, limb.flat)).length() - radius
        };
        // Quadratic smooth minimum.
        limbs.iter().map(to_limb).fold(f64::INFINITY, |a, b| {
            let h = (1.0 - (a - b).abs() / blend).max(0.0);
            a.min(b) - 0.25 * h * h * blend
        })
    };
    let thickest = limbs.iter().flat_map(|l| l.radii).fold(0.0, f32::max) * 1.3;
    let axes = Aabb::of_points(limbs.iter().flat_map(|l| l.ends));
    let bounds = Aabb {
        min: axes.min - thickest,
        max: axes.max + thickest,
    };
    let mut mesh = surface_nets(bounds, cell, value);
    project_onto(&mut mesh, value);
    mesh
}

/// A capsule between two points.
pub fn rod(from: Vec3, to: Vec3, radius: f32) -> TriMesh {
    let mut mesh = shapes::capsule(radius, from.distance(to), 24, 6);
    let turn = (to - from).try_normalize().map_or(Quat::IDENTITY, |axis| {
        Quat::from_rotation_arc(Vec3::Y, axis)
    });
    mesh.transform(&Affine3A::from_rotation_translation(
        turn,
        from.midpoint(to),
    ));
    mesh
}

/// Small balls.
pub fn dots(points: impl IntoIterator<Item = Vec3>, radius: f32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for point in points {
        let mut ball = shapes::icosphere(radius, 2);
        ball.transform(&Affine3A::from_translation(point));
        mesh.append(&ball);
    }
    mesh
}
