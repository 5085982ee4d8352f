//! Four skinning methods in one difficult pose (figure 3.18): linear blend, dual quaternions, centres of rotation, tissue.

mod common;

use std::collections::HashMap;

use common::RED;
use supple::embedded::{Body, body};
use supple::flesh::flesh::Column;
use supple::flesh::{Flesh, Settings};
use supple::geom::TriMesh;
use supple::glam::{DVec3, Vec3, vec3};
use supple::rig::keyed::KeyedClip;
use supple::rig::skinning::Method;
use supple::sim::{State, measure};
use supple::{Character, Pose};
use supple_picture::scene::CLAY;
use supple_picture::{Camera, DrawMesh};

/// The pose: arms pulled back and folded, a leg drawn up, the trunk twisted.
const POSE: &str = "
title = \"Hard pose\"
[[key]]
time = 0.0
spine = [0, 20, 0]
chest = [0, 25, 0]
leftUpperArm = [0, 0, 60]
leftLowerArm = [0, -135, 0]
rightUpperArm = [0, -30, 20]
rightLowerArm = [0, 130, 0]
leftUpperLeg = [-75, 0, 0]
leftLowerLeg = [130, 0, 0]
";
/// Joints shown in close-ups.
const ELBOW: &str = "lowerarm01.L";
const KNEE: &str = "lowerleg01.L";
/// Width and height of a tile [px].
const SIZE: (usize, usize) = (200, 205);

fn main() {
    let character = body(Body::Male).unwrap();
    let clip = KeyedClip::parse(POSE)
        .unwrap()
        .on(&character, 60.0)
        .unwrap();
    let pose = clip.sample(&character.skeleton, 0.0);
    let still = ["head", "finger*", "toe*"];
    let mut settings = Settings::default();
    settings.excluded = still.map(str::to_owned).to_vec();
    let flesh = common::build(&character, settings);
    let simulated = common::settle(&flesh, &pose);
    let mut skins = geometric(&character, &flesh, &pose);
    skins.push(("tissue", common::skin(&flesh, &pose, &simulated)));

    let joints = [ELBOW, KNEE, "upperleg01.L"].map(|name| character.skeleton.find(name).unwrap());
    let cameras =
        [None, Some(ELBOW), Some(KNEE)].map(|joint| camera(&character, &pose, joint, &skins[3].1));
    let mut rows = [const { Vec::new() }; 3];
    let mut results = Vec::new();
    for (name, skin) in &skins {
        let state = with_skin(&flesh, &simulated, skin);
        let folded = folded_vertices(&flesh, &state);
        let colours: Vec<Vec3> = folded.iter().map(|&f| if f { RED } else { CLAY }).collect();
        let volumes = joints.map(|joint| flesh.joint_volume(joint, &state).unwrap().0);
        let [elbow, knee, hip] = volumes.map(|volume| 100.0 * volume);
        let inverted = measure(&flesh.model, &state).inverted;
        let captions = [
            (*name).to_owned(),
            format!("volume: elbow {elbow:.0} %, knee {knee:.0} %, hip {hip:.0} %"),
            format!("{inverted} tets inverted in all"),
        ];
        for ((row, camera), caption) in rows.iter_mut().zip(&cameras).zip(captions) {
            let drawn = DrawMesh::owned(skin.clone()).coloured(colours.clone());
            row.push((common::tile_in(SIZE, vec![drawn], vec![], camera), caption));
        }
        println!(
            "{name}: {inverted} tets inverted, elbow {elbow:.1} %, knee {knee:.1} %, hip {hip:.1} %"
        );
        results.push((inverted, elbow));
    }
    common::save(
        "compare_methods",
        &common::sheet(
            "One pose, four methods; red: tissue turned inside out",
            &rows.concat(),
            4,
        ),
    );
    check(&results);
}

/// The flesh skinned with the geometric methods.
fn geometric(character: &Character, flesh: &Flesh, pose: &Pose) -> Vec<(&'static str, TriMesh)> {
    let key = |p: &Vec3| p.to_array().map(f32::to_bits);
    let bind = character.bind_mesh(0).positions;
    let vertex_at: HashMap<[u32; 3], usize> =
        bind.iter().enumerate().map(|(v, p)| (key(p), v)).collect();
    let methods = [
        ("linear blend", Method::Lbs),
        ("dual quaternions", Method::Dqs),
        ("centres of rotation", Method::Cor),
    ];
    let skin = |(name, method)| {
        let posed = character.skin_part(0, pose, method).positions;
        let rest = flesh.skin_mesh();
        let positions = rest
            .positions
            .iter()
            .map(|p| posed[vertex_at[&key(p)]])
            .collect();
        (
            name,
            TriMesh {
                positions,
                triangles: rest.triangles.clone(),
            },
        )
    };
    methods.into_iter().map(skin).collect()
}

/// A state with the simulated bone surface and another skin.
fn with_skin(flesh: &Flesh, simulated: &State, skin: &TriMesh) -> State {
    let mut state = simulated.clone();
    for (column, &place) in flesh.columns().iter().zip(&skin.positions) {
        let index = flesh.model.index_of().get(column.skin as usize);
        if let Some(slot) = index.and_then(|&index| state.positions.get_mut(index as usize)) {
            *slot = place;
        }
    }
    state
}

/// Skin vertices of inverted tets.
fn folded_vertices(flesh: &Flesh, state: &State) -> Vec<bool> {
    let tets = flesh.model.tets();
    let now: Vec<DVec3> = state
        .positions
        .iter()
        .chain(&state.fixed)
        .map(|p| p.as_dvec3())
        .collect();
    let mut in_inverted = vec![false; now.len()];
    for tet in 0..tets.len() {
        if !tets.is_flat(tet) && tets.deformation_gradient(tet, &now).determinant() < 0.0 {
            tets.vertices[tet]
                .iter()
                .for_each(|&v| in_inverted[v as usize] = true);
        }
    }
    let index = |column: &Column| flesh.model.index_of().get(column.skin as usize).copied();
    flesh
        .columns()
        .iter()
        .map(|column| index(column).is_some_and(|i| in_inverted[i as usize]))
        .collect()
}

/// A view of the upper body, or of a joint, perpendicular to its bones.
fn camera(character: &Character, pose: &Pose, joint: Option<&str>, skin: &TriMesh) -> Camera {
    let Some(joint) = joint.map(|name| character.skeleton.find(name).unwrap()) else {
        let upper: Vec<Vec3> = skin
            .positions
            .iter()
            .copied()
            .filter(|p| p.y > 0.6)
            .collect();
        return common::view_in(SIZE, &upper, vec3(0.5, 0.1, 1.0));
    };
    let worlds = pose.worlds(&character.skeleton);
    let at = |joint: usize| Vec3::from(worlds[joint].translation);
    let here = at(joint);
    let (before, after) = (
        here - at(character.skeleton.joints()[joint].parent.unwrap()),
        at(character.skeleton.children()[joint][0]) - here,
    );
    let across = before.cross(after).normalize();
    let across = if across.x < 0.0 { -across } else { across };
    let centre = here + 0.06 * (after.normalize() - before.normalize());
    let reach = 0.14;
    let corners =
        [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| [centre - axis * reach, centre + axis * reach]);
    common::view_in(SIZE, corners.as_flattened(), across)
}

fn check(results: &[(usize, f64)]) {
    let (tissue, others) = results.split_last().unwrap();
    assert!(
        others.iter().all(|other| 3 * tissue.0 < other.0),
        "inverted tets"
    );
    assert!(
        others.iter().all(|other| tissue.1 > other.1),
        "volume of the elbow"
    );
}
