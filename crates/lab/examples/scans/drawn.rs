//! Bodies drawn from the space, and what a scanner makes of them.

use glam::{DQuat, DVec3, Vec3};
use supple_anatomy::Sex;
use supple_anatomy::body_model::{BodyModel, BodySampler, Figure, PoseRange};
use supple_anatomy::scan::Scan;
use supple_geom::TriMesh;

use crate::Truth;

/// A body drawn from the space, scanned with noise, holes, a unit and an up axis.
pub fn drawn(seed: u64, hard: bool) -> (Scan, Truth) {
    let mut sampler = BodySampler::new(1000 + seed);
    let sex = if seed.is_multiple_of(2) {
        Sex::Male
    } else {
        Sex::Female
    };
    let model = BodyModel::embedded(sex);
    let heading = sampler.between(-3.1, 3.1);
    let mut figure = sampler.figure(model, &PoseRange::default(), heading);
    if hard && sampler.uniform() < 0.5 {
        make_fists(model, &mut figure);
    }
    if hard {
        let tilt = DVec3::new(sampler.between(-0.1, 0.1), 0.0, sampler.between(-0.1, 0.1));
        figure.locals[0] = DQuat::from_scaled_axis(tilt) * figure.locals[0];
    }
    let posed = figure.vertices(model);
    let rest_joints = model.rest_joints(&figure.coefficients);
    let joints = figure.frames(model, &rest_joints).joints;
    let noise = [0.0, 0.001, 0.002][(seed % 3) as usize];
    let (unit, is_z, is_cloud) = (
        [1.0, 0.01, 0.001, 0.0254][(seed / 2 % 4) as usize],
        seed / 3 % 2 == 1,
        seed / 4 % 2 == 1,
    );
    let mut mesh = model.mesh(&posed);
    if hard {
        dress(model, &mut mesh, &mut sampler);
    }
    let holes: Vec<(Vec3, f32)> = (0..6)
        .map(|_| {
            let at = (sampler.uniform() * posed.len() as f64) as usize;
            (posed[at].as_vec3(), sampler.between(0.03, 0.09) as f32)
        })
        .collect();
    let in_hole = |p: Vec3| holes.iter().any(|(at, r)| p.distance(*at) < *r);
    let mut scan = Scan::default();
    let normals = supple_geom::normals::vertex_normals(&mesh);
    if is_cloud {
        let total = mesh.area();
        let mut carried = 0.5;
        for t in 0..mesh.triangles.len() {
            carried += 30_000.0 * mesh.triangle_area(t) / total;
            let [a, b, c] = mesh.corners(t);
            while carried >= 1.0 {
                carried -= 1.0;
                let (u, v) = (sampler.uniform() as f32, sampler.uniform() as f32);
                let (u, v) = if u + v > 1.0 {
                    (1.0 - u, 1.0 - v)
                } else {
                    (u, v)
                };
                let p = a + u * (b - a) + v * (c - a);
                let miss = noise as f32 * sampler.normal() as f32;
                if !in_hole(p) {
                    scan.points.push(p + miss * mesh.triangle_normal(t));
                }
            }
        }
    } else {
        scan.points = (mesh.positions.iter().zip(&normals))
            .map(|(&p, n)| p + noise as f32 * sampler.normal() as f32 * *n)
            .collect();
        scan.triangles = mesh
            .triangles
            .iter()
            .copied()
            .filter(|t| !in_hole(mesh.positions[t[0] as usize]))
            .collect();
    }
    let turn = if is_z {
        DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2)
    } else {
        DQuat::IDENTITY
    };
    for p in &mut scan.points {
        *p = (turn * p.as_dvec3() / unit).as_vec3();
    }
    let truth = Truth {
        sex,
        noise,
        unit,
        up: if is_z { DVec3::Z } else { DVec3::Y },
        heading: Some(heading),
        rest: model.rest_vertices(&figure.coefficients),
        posed,
        rest_joints,
        joints,
    };
    (scan, truth)
}

/// Curls the fingers.
fn make_fists(model: &BodyModel, figure: &mut Figure) {
    for (joint, name) in model.joint_names.iter().enumerate() {
        if name.starts_with("finger") && !name.starts_with("finger1") {
            let sign = if name.ends_with('L') { -1.0 } else { 1.0 };
            figure.locals[joint] = DQuat::from_rotation_z(1.2 * sign);
        }
    }
}

/// Hair, shorts, shoes, and bumps that no space holds.
fn dress(model: &BodyModel, mesh: &mut TriMesh, sampler: &mut BodySampler) {
    let normals = supple_geom::normals::vertex_normals(mesh);
    let hair = sampler.between(0.0, 0.05) as f32;
    let [shorts, shoes] = [(); 2].map(|()| sampler.between(0.0, 0.015) as f32);
    let waves: Vec<(Vec3, f64)> = (0..12)
        .map(|_| {
            let mut number = || (sampler.normal() * 12.0) as f32;
            (
                Vec3::new(number(), number(), number()),
                sampler.between(0.0, std::f64::consts::TAU),
            )
        })
        .collect();
    let top = mesh.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max);
    for (v, (p, normal)) in mesh.positions.iter_mut().zip(normals).enumerate() {
        let (name, rest) = (&model.joint_names[model.main_joint(v)], model.mean_point(v));
        let wave: f64 = waves
            .iter()
            .map(|(k, phase)| (f64::from(k.dot(*p)) + phase).sin())
            .sum();
        let mut out = 0.0012 * wave as f32;
        match name.as_str() {
            "head" if rest.z < 0.07 || p.y > top - 0.07 => out += hair,
            "root" | "pelvis.L" | "pelvis.R" | "upperleg01.L" | "upperleg01.R" => out += shorts,
            foot if foot.starts_with("foot") || foot.starts_with("toe") => out += shoes,
            _ => {}
        }
        *p += out * normal;
    }
}
