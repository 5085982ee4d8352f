//! The four strain formulations (figures 2.4 and 2.5): the rotation of F or of H, fitted to gradients or to positions. A bar of a
//! short and a long element is stretched to twice its length; a fine tube and a coarse cuboid are bent.

mod common;

use common::RED;
use supple::Character;
use supple::flesh::Flesh;
use supple::geom::{TriMesh, shapes};
use supple::glam::{DVec3, Vec3, vec3};
use supple::sim::{
    Backend, Decompose, Fit, Mode, ModelBuilder, Reference, Settings, State, Strain, shapes::bar,
};
use supple_picture::{DrawMesh, Image, Wire};

const BEND: f32 = 110.0;
/// Width of a tile [px].
const TILE: usize = 230;

const FORMULATIONS: [(&str, Decompose, Fit); 4] = [
    ("F, gradients", Decompose::Gradient, Fit::Gradients),
    ("F, positions", Decompose::Gradient, Fit::Positions),
    ("H, gradients", Decompose::Covariance, Fit::Gradients),
    ("H, positions", Decompose::Covariance, Fit::Positions),
];

fn main() {
    let tube = common::coarse_arm(0.0, 24, 56);
    let tube_flesh = common::build(&tube, common::arm_settings(0.05, 0.06));
    let cuboid = cuboid();
    let cuboid_flesh = Flesh::builder(&cuboid).build().unwrap();
    let mut rows = [Vec::new(), Vec::new(), Vec::new()];
    let (mut shares, mut changes) = (Vec::new(), [Vec::new(), Vec::new()]);
    for (name, decompose, fit) in FORMULATIONS {
        let settings = Settings {
            strain: Strain { decompose, fit },
            mode: Mode::Static,
            iterations: 6,
            ..Settings::default()
        };
        let (picture, share) = stretched_bar(&settings);
        rows[0].push((
            picture,
            format!("{name}: short part {:.0} % of the bar", 100.0 * share),
        ));
        shares.push(share);
        for (k, character, flesh) in [(0, &tube, &tube_flesh), (1, &cuboid, &cuboid_flesh)] {
            let (picture, change) = bent(character, flesh, &settings);
            let caption = format!("{name}: volumes off by {:.0} %", 100.0 * change);
            rows[1 + k].push((picture, caption));
            changes[k].push(change);
        }
    }
    let [bars, tubes, cuboids] = rows;
    let sheet = common::stack(&[
        common::sheet("Which rotation, and what is fitted", &bars, 4),
        common::sheet("", &[tubes, cuboids].concat(), 4),
    ]);
    common::save("strain_formulations", &sheet);
    check(&shares, &changes);
}

/// A bar of a short and a long box, stretched to twice its length; returns the share of the short one.
fn stretched_bar(settings: &Settings) -> (Image, f32) {
    let mut mesh = bar([2, 1, 1], 1.0);
    // The joint between them at a quarter of the length.
    let place = |p: Vec3| vec3([0.0, 0.25, 1.0][p.x as usize], 0.25 * p.y, 0.25 * p.z);
    mesh.positions.iter_mut().for_each(|p| *p = place(*p));
    let mut builder = ModelBuilder::new();
    for &p in &mesh.positions {
        builder.vertex(p, p.x != 0.25);
    }
    for &tet in &mesh.tets {
        builder.tet(tet, 1_000.0);
    }
    let model = builder.build().unwrap();
    let driven: Vec<Vec3> = model
        .rest_fixed()
        .iter()
        .map(|p| vec3(2.0 * p.x, p.y, p.z))
        .collect();
    let targets = model.targets(&driven, &[]);
    let mut state = State::at_rest(&model);
    for _ in 0..20 {
        Reference::new()
            .step(&model, settings, &targets, &mut state)
            .unwrap();
    }
    let middle = state.positions.iter().map(|p| p.x).sum::<f32>() / state.positions.len() as f32;
    let rest = boxes([0.0, 0.25, 1.0], 0.45);
    let now = boxes([0.0, middle, 2.0], 0.0);
    let corners = [vec3(0.0, -0.15, 0.0), vec3(2.0, 0.65, 0.0)];
    let size = (TILE, 130);
    let camera = common::view_in(size, &corners, vec3(0.15, 0.25, 1.0));
    (
        common::tile_in(size, [rest, now].concat(), vec![], &camera),
        middle / 2.0,
    )
}

/// Two boxes between three positions along X, lifted.
fn boxes(ends: [f32; 3], lift: f32) -> Vec<DrawMesh<'static>> {
    let colours = [RED, supple_picture::scene::CLAY];
    let one = |k: usize| {
        let (a, b) = (ends[k], ends[k + 1]);
        let mut mesh = shapes::cuboid(vec3(b - a, 0.25, 0.25), 16);
        mesh.positions
            .iter_mut()
            .for_each(|p| *p += vec3(0.5 * (a + b), lift, 0.0));
        DrawMesh::owned(mesh).coloured(colours[k])
    };
    vec![one(0), one(1)]
}

/// A coarse box with two bones.
fn cuboid() -> Character {
    let mut mesh = shapes::cuboid(vec3(1.1, 0.2, 0.2), 4);
    mesh.positions.iter_mut().for_each(|p| p.x += 0.5);
    let joints = [
        ("upper", None, vec3(0.0, 0.0, 0.0)),
        ("elbow", Some(0), vec3(0.5, 0.0, 0.0)),
        ("wrist", Some(1), vec3(1.0, 0.0, 0.0)),
    ];
    common::character("cuboid", mesh, &joints)
}

/// Draws a bent character; returns the mean change of volume of its tets.
fn bent(character: &Character, flesh: &Flesh, settings: &Settings) -> (Image, f64) {
    let pose = common::turned(character, "elbow", Vec3::Z, BEND);
    let rest = flesh.rest_pose();
    let state = common::settle_by(flesh, &mut Reference::new(), settings.clone(), |t| {
        flesh.targets(&rest.blend(&pose, t)).unwrap()
    });
    let skin: TriMesh = common::skin(flesh, &pose, &state);
    let mut drawn = DrawMesh::owned(skin);
    drawn.wire = Some(Wire {
        opacity: 0.25,
        ..Wire::default()
    });
    let corners = [vec3(0.2, -0.2, 0.0), vec3(0.75, 0.35, 0.0)];
    let size = (TILE, TILE);
    let camera = common::view_in(size, &corners, vec3(0.2, 0.1, 1.0));
    (
        common::tile_in(size, vec![drawn], vec![], &camera),
        volume_change(flesh, &state),
    )
}

/// Mean change of volume of a tet, weighted by volume.
fn volume_change(flesh: &Flesh, state: &State) -> f64 {
    let tets = flesh.model.tets();
    let now: Vec<DVec3> = (state.positions.iter().chain(&state.fixed))
        .map(|p| p.as_dvec3())
        .collect();
    let (mut change, mut total) = (0.0, 0.0);
    for tet in 0..tets.len() {
        let ratio = tets.deformation_gradient(tet, &now).determinant();
        change += tets.volumes[tet] * (ratio - 1.0).abs();
        total += tets.volumes[tet];
    }
    change / total
}

fn check(shares: &[f32], changes: &[Vec<f64>; 2]) {
    println!("share of the short part: {shares:.3?}, 0.25 at rest");
    println!("change of volume of tube and cuboid: {changes:.3?}");
    assert!((shares[0] - 0.25).abs() < 0.01, "gradients keep the ratio");
    assert!(shares[3] > 0.3, "positions share out the difference");
    for change in changes {
        assert!(change[1..].iter().all(|&other| 1.2 * change[0] < other));
    }
}
