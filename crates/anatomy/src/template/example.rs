//! A small template for tests: three nested spheres on two joints, with a bone and a muscle.

use std::collections::BTreeMap;

use glam::Vec3;
use supple_geom::TriMesh;
use supple_geom::shapes::icosphere;
use supple_rig::skeleton::{Joint, JointKind};
use supple_rig::{Skeleton, Transform};

use crate::template::{
    FatRegion, Group, Landmark, LayeredBody, Regions, Rig, RiggedBone, RiggedMuscle, Side,
};
use crate::{Body, Bone, Layers, Sex};

/// The template.
pub fn example() -> LayeredBody {
    let sphere = icosphere(1.0, 2);
    let scaled = |radius: f32| {
        sphere
            .positions
            .iter()
            .map(|&p| radius * p)
            .collect::<Vec<_>>()
    };
    let skin = scaled(0.1);
    let count = skin.len();
    let layered: Vec<bool> = skin.iter().map(|p| p.y < 0.05).collect();
    let inner = |radius: f32| {
        let points = scaled(radius).into_iter().zip(&skin).zip(&layered);
        points
            .map(|((inner, &outer), &layered)| if layered { inner } else { outer })
            .collect()
    };
    let mesh = |positions: Vec<Vec3>| TriMesh {
        positions,
        triangles: sphere.triangles.clone(),
    };
    let joint = |name: &str, parent: Option<usize>| Joint {
        name: name.to_owned(),
        parent,
        rest: Transform::from_translation(Vec3::new(0.0, 0.1, 0.012_345)),
        tail: parent.map(|_| Vec3::Y),
        kind: JointKind::Bone,
    };
    let joints = vec![joint("root", None), joint("tip", Some(0))];
    let (skeleton, _) = Skeleton::from_unordered(joints).unwrap_or_default();
    let some = |v: usize| layered[v].then_some(());
    LayeredBody {
        name: "example".to_owned(),
        body: Body {
            sex: Sex::Female,
            mesh: mesh(skin.clone()),
            file_vertices: (0..count as u32).map(|v| 2 * v + 1).collect(),
            skeleton,
            influences: skin
                .iter()
                .map(|p| vec![(0, 0.5 - p.y), (1, 0.5 + p.y)])
                .collect(),
        },
        layers: Layers {
            triangles: sphere.triangles.clone(),
            muscle: inner(0.08),
            skeleton: inner(0.04),
            layered: layered.clone(),
            skin: skin.clone(),
        },
        bones: vec![RiggedBone {
            bone: Bone {
                name: "ball".to_owned(),
                mesh: mesh(scaled(0.03)),
            },
            rig: Rig::Whole(vec![(1, 1.0)]),
        }],
        muscles: vec![RiggedMuscle {
            name: "cover_l".to_owned(),
            group: Group::Back,
            side: Some(Side::Left),
            mesh: mesh(scaled(0.06)),
            fibres: sphere.positions.clone(),
            tendon: (0..count).map(|v| (v % 7) as f32 / 6.0).collect(),
            volume: 1.25e-4,
            rig: Rig::Skin((0..count as u32).rev().collect()),
        }],
        thickness: layered
            .iter()
            .map(|&l| if l { 0.02 } else { 0.0 })
            .collect(),
        regions: Regions {
            group: (0..count)
                .map(|v| some(v).map(|()| Group::ALL[v % 10]))
                .collect(),
            fat: (0..count)
                .map(|v| some(v).map(|()| FatRegion::ALL[v % 4]))
                .collect(),
            abdomen: (0..count).map(|v| v % 3 == 0).collect(),
            slides: (0..count).map(|v| v % 5 == 0).collect(),
            bone: (0..count).map(|v| some(v).map(|()| 0)).collect(),
        },
        landmarks: BTreeMap::from([(
            "top".to_owned(),
            Landmark {
                bone: Vec3::new(0.0, 0.03, 0.0),
                skin_vertex: 1,
            },
        )]),
        provenance: "made for a test".to_owned(),
    }
}
