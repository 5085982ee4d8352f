//! Muscles of a made limb: two legs that are capsules with a rod for a bone.

use std::sync::LazyLock;

use glam::Vec3;
use supple_anatomy::template::musculature::atlas::{Atlas, AtlasError};
use supple_anatomy::template::musculature::fibres::FibreGuide;
use supple_anatomy::template::musculature::muscles::{Muscle, MuscleOptions, muscles};
use supple_anatomy::template::places::frame::Side;
use supple_anatomy::template::surfaces::thickness::thickness_map;
use supple_anatomy::{Bone, Layers};
use supple_geom::{Adjacency, Surface, TriMesh, shapes};

const ATLAS: &str = r#"
[[muscle]]
name = "front"
group = "upper_leg"
shape = "belly"
volume = 400
source = "made"
origin = [["femur", 0, 0.9, 1]]
via = [[["thigh", 0.5, -0.3, 0.6], ["thigh", 0.5, 0.3, 0.6]]]
insertion = [["femur", 0, -0.9, 1]]

[[muscle]]
name = "outside"
group = "upper_leg"
shape = "belly"
volume = 200
source = "made"
origin = [["femur", 1, 0.9, 0]]
via = [[["thigh", 0.5, 0.6, -0.1]]]
insertion = [["femur", 1, -0.9, 0]]

[[muscle]]
name = "back"
group = "upper_leg"
shape = "belly"
volume = 300
source = "made"
origin = [["femur", 0, 0.9, -1]]
via = [[["thigh", 0.5, -0.2, -0.6]]]
insertion = [["femur", 0, -0.9, -1]]
"#;

const MUSCLE_RADIUS: f32 = 0.06;
const BONE_RADIUS: f32 = 0.012;

fn placed(mesh: &TriMesh, x: f32) -> TriMesh {
    let mut mesh = mesh.clone();
    mesh.positions.iter_mut().for_each(|p| p.x += x);
    mesh
}

/// A capsule's vertices at another radius.
fn shrunk(mesh: &TriMesh, from: f32, to: f32) -> TriMesh {
    let mut mesh = mesh.clone();
    for p in &mut mesh.positions {
        let axis = Vec3::Y * p.y.clamp(-0.15, 0.15);
        *p = axis + (*p - axis) * (to / from);
    }
    mesh
}

fn limbs() -> (Vec<Bone>, Layers) {
    let skin = shapes::capsule(0.07, 0.3, 32, 24);
    // `capsule` may be centred or not: bring its middle to the origin.
    let middle = skin.bounds().center();
    let mut skin = skin;
    skin.positions.iter_mut().for_each(|p| *p -= middle);
    let muscle = shrunk(&skin, 0.07, MUSCLE_RADIUS);
    let bone = shrunk(&skin, 0.07, BONE_RADIUS);
    let both = |mesh: &TriMesh| {
        let mut right = Side::Right.mirrored_mesh(&placed(mesh, 0.1));
        let mut all = placed(mesh, 0.1);
        all.append(&std::mem::take(&mut right));
        all
    };
    let bones = vec![
        Bone {
            name: "femur_l".into(),
            mesh: placed(&bone, 0.1),
        },
        Bone {
            name: "femur_r".into(),
            mesh: Side::Right.mirrored_mesh(&placed(&bone, 0.1)),
        },
    ];
    let [skin, muscle, skeleton] = [both(&skin), both(&muscle), both(&bone)];
    let layers = Layers {
        layered: vec![true; skin.positions.len()],
        triangles: skin.triangles,
        skin: skin.positions,
        muscle: muscle.positions,
        skeleton: skeleton.positions,
    };
    (bones, layers)
}

static MADE: LazyLock<(Vec<Muscle>, Layers)> = LazyLock::new(|| {
    let (bones, layers) = limbs();
    let atlas = Atlas::parse(ATLAS).unwrap();
    let options = MuscleOptions {
        vertices: 4000,
        step: 0.003,
        ..MuscleOptions::default()
    };
    (muscles(&atlas, &bones, &layers, &options).unwrap(), layers)
});

#[test]
fn a_limb_is_shared_out_by_volume() {
    let (found, layers) = &*MADE;
    assert_eq!(found.len(), 6);
    let names: Vec<&str> = found.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names[..3], ["front_l", "front_r", "outside_l"]);
    let area = |r: f64| std::f64::consts::PI * r * r;
    let layer = 0.3 * (area(MUSCLE_RADIUS.into()) - area(BONE_RADIUS.into()));
    let left: Vec<&Muscle> = found.iter().filter(|m| m.side == Side::Left).collect();
    let total: f64 = left.iter().map(|m| m.volume).sum();
    assert!(total > 0.85 * layer, "{total} of {layer}");
    for (muscle, share) in left.iter().zip([4.0, 2.0, 3.0]) {
        let got = muscle.volume / total * 9.0;
        assert!((got / share - 1.0).abs() < 0.12, "{}: {got}", muscle.name);
    }
    // Closed, inside the muscle surface, outside the bone, not in one another.
    let hull = Surface::new(TriMesh {
        positions: layers.muscle.clone(),
        triangles: layers.triangles.clone(),
    });
    let surfaces: Vec<Surface> = left.iter().map(|m| Surface::new(m.mesh.clone())).collect();
    for (k, muscle) in left.iter().enumerate() {
        let adjacency = Adjacency::new(&muscle.mesh);
        assert!(
            adjacency.is_closed_and_oriented(&muscle.mesh),
            "{}",
            muscle.name
        );
        for &p in &muscle.mesh.positions {
            assert!(hull.signed_distance(p).unwrap() < 1e-3);
            let from_axis = Vec3::new(p.x - 0.1, 0.0, p.z).length();
            assert!(from_axis > BONE_RADIUS - 1e-3, "{p}");
            for (other, surface) in surfaces.iter().enumerate() {
                let deep = other != k && surface.signed_distance(p).unwrap() < -1e-3;
                assert!(!deep, "{} in {}", muscle.name, left[other].name);
            }
        }
    }
    // Most of each line from skin to bone is muscle.
    let map = thickness_map(layers, found);
    let middle = (0..map.len()).filter(|&v| layers.skin[v].y.abs() < 0.08);
    let lengths: Vec<f32> = middle.map(|v| map[v]).collect();
    let mean = lengths.iter().sum::<f32>() / lengths.len() as f32;
    assert!((0.038..0.048).contains(&mean), "{mean}");
}

#[test]
fn sides_of_a_symmetric_body_mirror_each_other() {
    let (found, _) = &*MADE;
    for pair in found.chunks(2) {
        assert!((pair[0].volume / pair[1].volume - 1.0).abs() < 1e-3);
        let other = Surface::new(Side::Right.mirrored_mesh(&pair[1].mesh));
        for &p in &pair[0].mesh.positions {
            assert!(other.closest_point(p).unwrap().distance < 1e-3);
        }
    }
}

#[test]
fn threads_do_not_matter() {
    let (found, _) = &*MADE;
    let (bones, layers) = limbs();
    let atlas = Atlas::parse(ATLAS).unwrap();
    let options = MuscleOptions {
        vertices: 4000,
        step: 0.003,
        ..MuscleOptions::default()
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let again = pool
        .install(|| muscles(&atlas, &bones, &layers, &options))
        .unwrap();
    for (a, b) in found.iter().zip(&again) {
        assert_eq!(a.mesh, b.mesh);
        assert_eq!(a.fibres, b.fibres);
    }
}

#[test]
fn fibres_run_from_origin_to_insertion() {
    let (found, _) = &*MADE;
    for muscle in found {
        assert_eq!(muscle.fibres.len(), muscle.mesh.positions.len());
        assert!(
            muscle
                .fibres
                .iter()
                .all(|d| (d.length() - 1.0).abs() < 1e-4)
        );
        // Smooth: neighbours point alike.
        let adjacency = Adjacency::new(&muscle.mesh);
        for &[a, b] in &adjacency.edges {
            let cosine = muscle.fibres[a as usize].dot(muscle.fibres[b as usize]);
            assert!(cosine > 0.6, "{}: {cosine}", muscle.name);
        }
        let guide = FibreGuide::new(&muscle.strip);
        for &start in muscle.mesh.positions.iter().step_by(17) {
            let line = guide.streamline(start, 0.002);
            let near = |ends: &[Vec3], p: Vec3| {
                ends.iter()
                    .map(|e| e.distance(p))
                    .fold(f32::INFINITY, f32::min)
            };
            let last = line[line.len() - 1];
            assert!(guide.at(line[0]).1 < 0.01 && guide.at(last).1 > 0.99);
            // Lines through the surface begin and end beside the path's ends, nearer than they run in the middle (60 mm).
            let away = near(&muscle.origin(), line[0]);
            assert!(
                away < 0.045,
                "{}: {away} from {start}, ends {}",
                muscle.name,
                line[0]
            );
            assert!(near(&muscle.insertion(), last) < 0.045, "{}", muscle.name);
            assert!(line[0].y > last.y + 0.2, "{}", muscle.name);
            let length: f32 = line.windows(2).map(|p| p[0].distance(p[1])).sum();
            assert!(length < 1.5 * muscle.strip.length(), "{}", muscle.name);
        }
    }
}

#[test]
fn a_missing_bone_is_named() {
    let (bones, layers) = limbs();
    let atlas = Atlas::parse(&ATLAS.replacen("\"femur\"", "\"tail\"", 1)).unwrap();
    let error = muscles(&atlas, &bones, &layers, &MuscleOptions::default()).unwrap_err();
    let wanted = AtlasError::NoBone {
        muscle: "front".into(),
        bone: "tail".into(),
    };
    assert_eq!(error, wanted);
    assert!(error.to_string().contains("'tail'"));
}
