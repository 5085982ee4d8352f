//! Scans whose truth is known register without help. `examples/scans` does all of them, and prints the table.

use std::path::PathBuf;

use glam::{DQuat, DVec3, Vec3};
use supple_anatomy::Sex;
use supple_anatomy::body_model::{BodyModel, BodySampler, PoseRange};
use supple_anatomy::scan::{Landmark, Options, Registered, Scan, register};

fn shared() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/scans"
    ));
    match folder.is_dir() {
        true => Some(folder),
        false => {
            println!("skipped: there is no {}", folder.display());
            None
        }
    }
}

fn percentiles(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[values.len() * 19 / 20])
}

/// Bounds of registered vertices and joints.
fn check(name: &str, found: &Registered, posed: &[DVec3], joints: &[DVec3], noise: f64) {
    let model = found.model();
    let body = model.trunk_and_limbs();
    let misses = (0..posed.len())
        .filter(|&v| body[v])
        .map(|v| found.vertices[v].distance(posed[v]));
    let (median, most) = percentiles(misses.collect());
    assert!(
        median < 0.007 && most < 0.030,
        "{name}: vertices {median:.4}, {most:.4} m"
    );
    let main = [
        "root",
        "spine03",
        "head",
        "upperarm01.L",
        "lowerarm01.R",
        "wrist.L",
        "upperleg01.R",
        "lowerleg01.L",
        "foot.R",
    ];
    let misses =
        main.map(|joint| found.joints[model.joint(joint)].distance(joints[model.joint(joint)]));
    let (median, most) = percentiles(misses.to_vec());
    assert!(
        median < 0.008 && most < 0.030,
        "{name}: joints {median:.4}, {most:.4} m"
    );
    assert!(
        found.distances.rms < noise + 0.0015,
        "{name}: {:?}",
        found.distances
    );
    let volume = |v: &[DVec3]| model.mesh(v).signed_volume();
    let ratio = volume(&found.vertices) / volume(posed);
    assert!((ratio - 1.0).abs() < 0.005, "{name}: volume {ratio}");
}

/// A cloud in millimetres with Z up, and a mesh in centimetres on a floor, turned round.
#[test]
fn made_scans_register() {
    let Some(folder) = shared() else { return };
    for (name, sex, unit, up, heading, floor, noise, stature) in [
        (
            "01_female.ply",
            Sex::Female,
            0.001,
            DVec3::Z,
            0.0,
            false,
            0.001,
            1.7353,
        ),
        (
            "08_male.ply",
            Sex::Male,
            0.01,
            DVec3::Y,
            180.0,
            true,
            0.001,
            2.0639,
        ),
    ] {
        let found = register(
            &Scan::load(&folder.join(name)).unwrap(),
            &Options::default(),
        )
        .unwrap();
        let bytes = std::fs::read(folder.join(name.replace(".ply", ".posed.f32"))).unwrap();
        let floats: Vec<f32> = bytes
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        let points: Vec<DVec3> = floats
            .chunks_exact(3)
            .map(|p| Vec3::from_slice(p).as_dvec3())
            .collect();
        check(name, &found, &points[..13_718], &points[13_718..], noise);
        assert_eq!(
            (found.sex, found.placement.up, found.placement.floor),
            (sex, up, floor)
        );
        assert!((found.placement.metres_per_unit / unit - 1.0).abs() < 1e-9);
        assert!((found.placement.heading - f64::to_radians(heading)).cos() > 0.98);
        assert!(
            (found.stature() - stature).abs() < 0.01,
            "{name}: {}",
            found.stature()
        );
    }
}

/// A body of the space as a cloud without normals, in inches, lying along X, tilted.
fn drawn(seed: u64) -> (Scan, Vec<DVec3>, Vec<DVec3>, DQuat) {
    let model = BodyModel::embedded(Sex::Female);
    let mut sampler = BodySampler::new(seed);
    let figure = sampler.figure(model, &PoseRange::default(), 2.0);
    let posed = figure.vertices(model);
    let joints = figure
        .frames(model, &model.rest_joints(&figure.coefficients))
        .joints;
    // Up along −X: the axes of the result are those of `rotation`.
    let lying = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2) * DQuat::from_rotation_x(0.2);
    let mesh = model.mesh(&posed);
    let mut points = Vec::new();
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t);
        points.extend([(a + b + c) / 3.0, (2.0 * a + b + c) / 4.0]);
    }
    let scan = Scan {
        points: points
            .iter()
            .map(|p| (lying * p.as_dvec3() / 0.0254).as_vec3())
            .collect(),
        ..Scan::default()
    };
    (scan, posed, joints, lying)
}

#[test]
fn any_unit_and_axis_and_the_same_bits_on_any_number_of_threads() {
    let (scan, posed, joints, lying) = drawn(5);
    let options = Options {
        sex: Some(Sex::Female),
        ..Options::default()
    };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| register(&scan, &options).unwrap())
    };
    let found = on(1);
    let turned = |points: &[DVec3]| -> Vec<DVec3> {
        points
            .iter()
            .map(|p| found.placement.rotation * (lying * *p))
            .collect()
    };
    check("lying", &found, &turned(&posed), &turned(&joints), 0.0);
    assert!((found.placement.metres_per_unit - 0.0254).abs() < 1e-9);
    // The pose of the rig puts its joints where the registered ones are.
    let worlds = found.pose().worlds(&found.skeleton());
    for (world, joint) in worlds.iter().zip(&found.joints) {
        assert!(Vec3::from(world.translation).distance(joint.as_vec3()) < 1e-4);
    }
    let again = on(3);
    assert_eq!(found.vertices, again.vertices);
    assert_eq!(found.rest_vertices, again.rest_vertices);
}

#[test]
fn landmarks_are_met_or_refused_by_name() {
    let model = BodyModel::embedded(Sex::Male);
    let mut figure = supple_anatomy::body_model::Figure::mean(model);
    figure.locals[0] = DQuat::from_rotation_y(0.5);
    let mesh = model.mesh(&figure.vertices(model));
    let joints = figure
        .frames(model, &model.rest_joints(&figure.coefficients))
        .joints;
    let wrist = joints[model.joint("wrist.L")];
    let landmark = |name: &str| Landmark {
        name: name.to_owned(),
        place: wrist.to_array(),
    };
    let scan = Scan {
        points: mesh.positions,
        triangles: mesh.triangles,
        ..Scan::default()
    };
    let with = |name: &str| {
        let options = Options {
            sex: Some(Sex::Male),
            landmarks: vec![landmark(name)],
            ..Options::default()
        };
        register(&scan, &options)
    };
    let found = with("wrist.L").unwrap();
    assert!(found.joints[model.joint("wrist.L")].distance(wrist) < 0.004);
    assert!(with("nose").unwrap_err().to_string().contains("'nose'"));
}

/// Bodies at shares of the way from a man to a woman.
fn between(shares: [f64; 2]) -> [Registered; 2] {
    let [man, woman] = [Sex::Male, Sex::Female].map(|sex| {
        let model = BodyModel::embedded(sex);
        supple_anatomy::body_model::Figure::mean(model).vertices(model)
    });
    shares.map(|share| {
        let points = man.iter().zip(&woman);
        let scan = Scan {
            points: points.map(|(a, b)| a.lerp(*b, share).as_vec3()).collect(),
            triangles: BodyModel::embedded(Sex::Male).triangles.clone(),
            ..Scan::default()
        };
        register(&scan, &Options::default()).unwrap()
    })
}

#[test]
fn the_sex_of_clear_bodies_is_sure_and_that_of_bodies_between_is_not() {
    let [woman, somebody] = between([0.95, 0.52]);
    assert_eq!(woman.sex, Sex::Female);
    assert!(woman.sex_confidence > 0.98, "{}", woman.sex_confidence);
    assert!(
        somebody.sex_confidence < 0.97,
        "{}",
        somebody.sex_confidence
    );
}

/// Squares of ground beside the feet, too small to be found as a floor, and hair.
#[test]
fn pieces_of_ground_are_removed_and_hair_is_named() {
    let model = BodyModel::embedded(Sex::Male);
    let posed = supple_anatomy::body_model::Figure::mean(model).vertices(model);
    let joints = model.rest_joints(&vec![0.0; model.field_count()]);
    let mut mesh = model.mesh(&posed);
    let normals = supple_geom::normals::vertex_normals(&mesh);
    for (v, (p, n)) in mesh.positions.iter_mut().zip(normals).enumerate() {
        if model.is_scalp(v) {
            *p += 0.04 * n;
        }
    }
    for (x, z) in [(-0.45, 0.1), (-0.2, -0.5), (0.1, 0.2), (0.3, -0.3)] {
        let first = mesh.positions.len() as u32;
        let corners = [(0.0, 0.0), (0.3, 0.0), (0.0, 0.3), (0.3, 0.3)];
        let corners = corners.map(|(u, v)| Vec3::new(x + u, 0.0, z + v));
        mesh.positions.extend(corners);
        let square = [[0, 2, 1], [1, 2, 3]].map(|t| t.map(|v| v + first));
        mesh.triangles.extend(square);
    }
    let scan = Scan {
        points: mesh.positions,
        triangles: mesh.triangles,
        ..Scan::default()
    };
    let options = Options {
        sex: Some(Sex::Male),
        ..Options::default()
    };
    let found = register(&scan, &options).unwrap();
    assert!(found.placement.floor);
    let warned = found.warnings.iter().any(|line| line.contains("hair"));
    assert!(warned, "{:?}", found.warnings);
    let feet = ["foot.L", "foot.R", "upperarm01.L"].map(|name| model.joint(name));
    for joint in feet {
        assert!(found.joints[joint].distance(joints[joint]) < 0.008);
    }
}
