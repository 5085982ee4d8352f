//! Bones that twist and stretch (figure 3.20): the skeleton's motion need not be rigid. A tube with three bones; its second bone
//! twisted and its third stretched; a bone surface moved by a formula.

mod common;

use common::{BLUE, TILE};
use supple::flesh::Flesh;
use supple::flesh::motion::frames::frames;
use supple::geom::section::{Plane, section};
use supple::geom::{Adjacency, TriMesh};
use supple::glam::{Vec3, vec3};
use supple::sim::{self, CpuBackend, State, Targets};
use supple::{Character, Pose};
use supple_picture::{Camera, DrawMesh, Image, Lens, Scene, render};

const LENGTH: f32 = 1.5;
const TWIST: f32 = 180.0;
const STRETCH: f32 = 1.7;

fn main() {
    let mesh = common::tube(0.1, LENGTH, 32, 90);
    let joints = [
        ("first", None, vec3(0.0, 0.0, 0.0)),
        ("second", Some(0), vec3(0.5, 0.0, 0.0)),
        ("third", Some(1), vec3(1.0, 0.0, 0.0)),
        ("end", Some(2), vec3(LENGTH, 0.0, 0.0)),
    ];
    let tube = common::character("tube", mesh, &joints);
    let mut settings = supple::flesh::Settings::default();
    for joint in ["first", "second", "third"] {
        settings.bone_radii.insert(joint.to_owned(), 0.06);
    }
    let flesh = common::build(&tube, settings);

    let mut pose = flesh.rest_pose();
    pose.twist = vec![0.0, TWIST.to_radians(), 0.0, 0.0];
    pose.stretch = vec![1.0, 1.0, STRETCH, 1.0];
    let relaxed = State::at_rest(&flesh.model);
    let wrung = common::settle(&flesh, &pose);
    let wild = common::settle_by(
        &flesh,
        &mut CpuBackend::new(),
        sim::Settings::default(),
        |t| formula(&flesh, t),
    );

    let rest = flesh.rest_pose();
    let [plain, twisted, waved] = [(&rest, &relaxed), (&pose, &wrung), (&rest, &wild)]
        .map(|(pose, state)| common::skin(&flesh, pose, state));
    let numbers = Numbers::of(&plain, &twisted);
    let tiles = [
        (
            draw(&plain, Some(bones(&flesh, &tube, &rest))),
            "three bones at rest".to_owned(),
        ),
        (
            draw(&twisted, Some(bones(&flesh, &tube, &pose))),
            numbers.caption(),
        ),
        (
            draw(&waved, None),
            "the bone surface moved by a formula".to_owned(),
        ),
    ];
    common::save(
        "twist_and_stretch",
        &common::sheet("Bones twist and stretch", &tiles, 1),
    );
    check(&numbers, supple::sim::measure(&flesh.model, &wild).inverted);
}

/// Targets that move the bone surface along a wave and vary its thickness.
fn formula(flesh: &Flesh, t: f32) -> Targets {
    let mut targets = flesh.targets(&flesh.rest_pose()).unwrap();
    for (column, point) in flesh.bone_surface().iter().enumerate() {
        let point = point.as_vec3();
        let phase = point.x / LENGTH * std::f32::consts::TAU;
        let swell = 1.0 + t * (0.1 - 0.5 * (2.0 * phase).cos());
        let place = vec3(point.x, point.y * swell, point.z * swell);
        let wave = vec3(0.0, 0.11 * (1.5 * phase).sin(), 0.1 * (1.5 * phase).cos()) * t;
        common::drive(flesh, &mut targets, column, place + wave);
    }
    targets
}

/// Measures of the twisted and stretched tube.
struct Numbers {
    /// Rotation of the end [°].
    turn: f32,
    /// Increase in length [m].
    longer: f32,
    /// Smallest cross-section of the twisted third, relative to rest.
    section: f64,
}

impl Numbers {
    fn of(rest: &TriMesh, now: &TriMesh) -> Self {
        // Vertices on the third bone and beyond its end.
        let nearest = |to: Vec3| {
            let far = |&v: &usize| rest.positions[v].distance(to);
            (0..rest.positions.len())
                .min_by(|a, b| far(a).total_cmp(&far(b)))
                .unwrap()
        };
        let (mark, end) = (
            nearest(vec3(1.25, 0.1, 0.0)),
            nearest(vec3(LENGTH, 0.1, 0.0)),
        );
        let angle = |mesh: &TriMesh| mesh.positions[mark].z.atan2(mesh.positions[mark].y);
        let areas = (1..20).map(|k| {
            let x = 0.5 + 0.5 * k as f32 / 20.0;
            area(now, x) / area(rest, x)
        });
        Self {
            turn: (angle(now) - angle(rest)).to_degrees().abs(),
            longer: now.positions[end].x - rest.positions[end].x,
            section: areas.fold(f64::INFINITY, f64::min),
        }
    }

    fn caption(&self) -> String {
        format!(
            "second bone twisted by {TWIST}° (smallest cross-section {:.0} %), third stretched × {STRETCH}",
            100.0 * self.section
        )
    }
}

fn area(mesh: &TriMesh, x: f32) -> f64 {
    let plane = Plane {
        point: Vec3::X * x,
        normal: Vec3::X,
    };
    section(mesh, &Adjacency::new(mesh), plane).area()
}

fn bones(flesh: &Flesh, tube: &Character, pose: &Pose) -> DrawMesh<'static> {
    let frames = frames(flesh.graph(), &tube.skeleton, &tube.bind_worlds(), pose);
    let ends: Vec<(Vec3, Vec3)> = frames
        .bones
        .iter()
        .map(|b| (b.start.as_vec3(), b.end.as_vec3()))
        .collect();
    let joints: Vec<Vec3> = frames.nodes.iter().map(|n| n.position.as_vec3()).collect();
    supple_picture::bone_mesh(&ends, &joints, &supple_picture::BoneStyle::default())
}

/// The tube with stripes along it, in a wide tile.
fn draw(mesh: &TriMesh, bones: Option<DrawMesh<'static>>) -> Image {
    let rest = common::tube(0.1, LENGTH, 32, 90);
    let stripe = |p: &Vec3| {
        // Between two rows of vertices, so that rounding does not affect the stripes.
        let around = (p.z.atan2(p.y) + 0.1).rem_euclid(std::f32::consts::TAU);
        if (around / std::f32::consts::TAU * 8.0) as i32 % 2 == 0 {
            supple_picture::scene::CLAY
        } else {
            BLUE.lerp(Vec3::ONE, 0.35)
        }
    };
    let skin = DrawMesh::owned(mesh.clone())
        .coloured(rest.positions.iter().map(stripe).collect::<Vec<_>>());
    let mut scene = Scene {
        meshes: vec![skin],
        ..Scene::default()
    };
    scene.meshes.extend(bones);
    let (width, height) = (TILE.0 * 5 / 2, TILE.1 / 2 + 34);
    let corners = [vec3(-0.12, -0.24, 0.0), vec3(1.99, 0.24, 0.0)];
    let lens = Lens::Orthographic { height: 1.0 };
    let direction = vec3(0.0, 0.25, 1.0);
    let camera = Camera::fit(
        &corners,
        direction,
        width as f32 / height as f32,
        lens,
        0.96,
    );
    render(&scene, &camera, width, height)
}

fn check(numbers: &Numbers, inverted: usize) {
    println!(
        "end rotated by {:.1}°, {:.3} m longer, smallest cross-section {:.1} %, {inverted} inverted tets under the formula",
        numbers.turn,
        numbers.longer,
        100.0 * numbers.section
    );
    assert!((numbers.turn - TWIST).abs() < 3.0);
    assert!((numbers.longer - (STRETCH - 1.0) * 0.5).abs() < 0.02);
    assert!(numbers.section > 0.8 && inverted == 0);
}
