//! One body in the ways real scans come: poses, clothes, hair, floors, holes, coarse, fine, fused.

use glam::{DVec3, Vec3};
use supple_anatomy::Sex;
use supple_anatomy::body_model::{BodyModel, BodySampler, PoseRange};
use supple_anatomy::scan::Scan;
use supple_geom::decimate::{Decimation, decimate};
use supple_geom::normals::vertex_normals;
use supple_geom::surface_nets::voxel_net;
use supple_geom::voxels::Voxels;
use supple_geom::{Adjacency, Surface, TriMesh, subdivide};

use crate::Truth;

/// Arms of an A, a T, and an I: from the rest pose \[rad\].
const A: f64 = 0.0;
const T: f64 = 0.75;
const I: f64 = -0.62;

/// What is done to a scan.
type Change = fn(&mut Made);

/// Names, arms, legs from the rest pose \[rad\], and what is done.
const VARIANTS: [(&str, f64, f64, Change); 22] = [
    ("A", A, 0.0, |_| {}),
    ("T", T, 0.05, |_| {}),
    ("I", I, -0.05, |_| {}),
    ("short hair", A, 0.0, |m| m.hair(0.02, 0.0)),
    ("long hair", A, 0.0, |m| m.hair(0.05, 0.035)),
    ("shorts", A, 0.0, |m| {
        m.clothes(0.008, &["root", "pelvis", "upperleg01"])
    }),
    ("shirt, trousers", A, 0.0, |m| m.clothes(0.02, &CLOTHED)),
    ("wide clothes", A, 0.0, |m| m.clothes(0.045, &CLOTHED)),
    ("noise", A, 0.0, |m| m.noise(0.005)),
    ("phone", I, 0.05, Made::phone),
    ("pieces of floor", A, 0.0, |m| m.floor(5, 0.18)),
    ("whole floor", A, 0.1, |m| m.floor(1, 0.9)),
    ("pedestal", A, 0.0, Made::pedestal),
    ("open feet", A, 0.0, |m| m.cut(|p, low, _| p.y < low + 0.03)),
    ("no top of head", A, 0.0, |m| {
        m.cut(|p, _, top| p.y > top - 0.06)
    }),
    ("no face", A, 0.0, |m| {
        m.cut(|p, _, top| p.y > top - 0.25 && p.z > 0.06)
    }),
    ("fused", I, -0.06, Made::fused),
    ("coarse", A, 0.0, Made::coarse),
    ("fine", A, 0.0, Made::fine),
    ("cloud", T, 0.0, |m| m.cloud(true)),
    ("cloud, no normals", I, 0.0, |m| m.cloud(false)),
    ("two shells", A, 0.0, Made::two_shells),
];
const CLOTHED: [&str; 9] = [
    "root", "pelvis", "upperleg", "spine", "clavicle", "shoulder", "upperarm", "lowerleg", "breast",
];

/// A scan in the making: metres, Y up.
struct Made {
    model: &'static BodyModel,
    mesh: TriMesh,
    /// Vertex of the body for each vertex, as long as there is one.
    of_body: Vec<usize>,
    sampler: BodySampler,
    points: Option<(Vec<Vec3>, Vec<Vec3>)>,
    noise: f64,
}

/// All variants of a man and a woman.
pub fn variants(only: Option<&str>) -> Vec<(String, Scan, Truth)> {
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let all = VARIANTS
        .iter()
        .flat_map(|v| [(v, Sex::Male), (v, Sex::Female)]);
    all.filter(|(v, _)| wanted(v.0))
        .map(|(v, sex)| made(v, sex))
        .collect()
}

fn made(&(name, arms, legs, change): &(&str, f64, f64, Change), sex: Sex) -> (String, Scan, Truth) {
    let model = BodyModel::embedded(sex);
    let mut sampler = BodySampler::new(42 + sex as u64);
    let range = PoseRange {
        arms: (arms, arms),
        legs: (legs, legs),
        ..PoseRange::default()
    };
    let figure = sampler.figure(model, &range, 0.0);
    let posed = figure.vertices(model);
    let rest_joints = model.rest_joints(&figure.coefficients);
    let mut made = Made {
        mesh: model.mesh(&posed),
        of_body: (0..model.vertex_count()).collect(),
        model,
        sampler,
        points: None,
        noise: 0.0,
    };
    change(&mut made);
    let scan = match made.points {
        Some((points, normals)) => Scan {
            points,
            normals,
            ..Scan::default()
        },
        None => Scan {
            points: made.mesh.positions,
            triangles: made.mesh.triangles,
            ..Scan::default()
        },
    };
    let truth = Truth {
        sex,
        noise: made.noise,
        unit: 1.0,
        up: DVec3::Y,
        heading: Some(0.0),
        joints: figure.frames(model, &rest_joints).joints,
        rest: model.rest_vertices(&figure.coefficients),
        rest_joints,
        posed,
    };
    let sign = if sex == Sex::Male { 'm' } else { 'w' };
    (format!("{name} {sign}"), scan, truth)
}

impl Made {
    fn joint_of(&self, v: usize) -> &str {
        &self.model.joint_names[self.model.main_joint(self.of_body[v])]
    }

    fn ends(&self) -> (f32, f32) {
        let ys = || self.mesh.positions.iter().map(|p| p.y);
        (ys().fold(f32::MAX, f32::min), ys().fold(f32::MIN, f32::max))
    }

    /// Moves vertices along their normals, smoothed over some rings so that edges are not cliffs.
    fn offset(&mut self, mut off: Vec<f32>) {
        let adjacency = Adjacency::new(&self.mesh);
        for _ in 0..3 {
            off = (0..off.len())
                .map(|v| {
                    let ring = adjacency.vertex_vertices.row(v);
                    let sum: f32 = ring.iter().map(|&n| off[n as usize]).sum();
                    0.5 * off[v] + 0.5 * sum / ring.len().max(1) as f32
                })
                .collect();
        }
        let normals = vertex_normals(&self.mesh);
        for ((p, n), off) in self.mesh.positions.iter_mut().zip(normals).zip(off) {
            *p += off * n;
        }
    }

    /// Hair of a thickness on the scalp and on neck and shoulders behind \[m\].
    fn hair(&mut self, scalp: f32, neck: f32) {
        let off = (0..self.mesh.positions.len())
            .map(|v| match self.joint_of(v) {
                _ if self.model.is_scalp(self.of_body[v]) => scalp,
                joint if joint.starts_with("neck") && self.mesh.positions[v].z < 0.0 => neck,
                _ => 0.0,
            })
            .collect();
        self.offset(off);
    }

    /// Clothes that stand off by a distance on average, in folds.
    fn clothes(&mut self, distance: f32, joints: &[&str]) {
        let off = (0..self.mesh.positions.len())
            .map(|v| {
                let p = self.mesh.positions[v];
                let fold = 1.0 + 0.5 * (40.0 * p.x + 25.0 * p.y).sin() * (30.0 * p.z).cos();
                match joints.iter().any(|j| self.joint_of(v).starts_with(j)) {
                    true => distance * fold,
                    false => 0.0,
                }
            })
            .collect();
        self.offset(off);
    }

    fn noise(&mut self, size: f64) {
        let normals = vertex_normals(&self.mesh);
        for (p, n) in self.mesh.positions.iter_mut().zip(normals) {
            *p += (size * self.sampler.normal()) as f32 * n;
        }
        self.noise = size;
    }

    /// Drops the triangles that touch a place; the test has the height of soles and crown.
    fn cut(&mut self, is_gone: impl Fn(Vec3, f32, f32) -> bool) {
        let (low, top) = self.ends();
        let positions = &self.mesh.positions;
        self.mesh
            .triangles
            .retain(|t| !t.iter().any(|&v| is_gone(positions[v as usize], low, top)));
    }

    /// Discs of floor around the feet.
    fn floor(&mut self, count: usize, radius: f32) {
        let (low, _) = self.ends();
        for k in 0..count {
            let turn = k as f32 * 2.4;
            let away = if count > 1 { 0.35 } else { 0.0 };
            self.disc(Vec3::new(away * turn.cos(), low, away * turn.sin()), radius);
        }
    }

    fn disc(&mut self, middle: Vec3, radius: f32) {
        const CELLS: i32 = 24;
        let first = self.mesh.positions.len() as u32;
        let side = CELLS + 1;
        for k in 0..side * side {
            let [x, z] =
                [k % side, k / side].map(|i| radius * (2.0 * i as f32 / CELLS as f32 - 1.0));
            let bump = 0.002 * self.sampler.normal() as f32;
            self.mesh.positions.push(middle + Vec3::new(x, bump, z));
        }
        for k in 0..CELLS * CELLS {
            let a = (k % CELLS + k / CELLS * side) as u32 + first;
            let [b, c, d] = [a + 1, a + side as u32, a + side as u32 + 1];
            self.mesh.triangles.extend([[a, c, b], [b, c, d]]);
        }
        let positions = &self.mesh.positions;
        let inside = |v: &u32| {
            let d = positions[*v as usize] - middle;
            *v < first || d.x.hypot(d.z) < radius
        };
        self.mesh.triangles.retain(|t| t.iter().all(inside));
    }

    /// A turntable of 5 cm.
    fn pedestal(&mut self) {
        let (low, _) = self.ends();
        self.disc(Vec3::new(0.0, low, 0.0), 0.33);
        let first = self.mesh.positions.len() as u32;
        for k in 0..48u32 {
            let (z, x) = (k as f32 * std::f32::consts::TAU / 48.0).sin_cos();
            for y in [low, low - 0.05] {
                self.mesh.positions.push(Vec3::new(0.33 * x, y, 0.33 * z));
            }
            let (a, b) = (first + 2 * k, first + 2 * ((k + 1) % 48));
            self.mesh
                .triangles
                .extend([[a, b, a + 1], [b, b + 1, a + 1]]);
        }
    }

    /// Bumps of decimetres, noise, pieces of floor, no soles.
    fn phone(&mut self) {
        let off =
            self.mesh.positions.iter().map(|p| {
                0.003 * ((14.0 * p.x + 9.0 * p.y).sin() + (17.0 * p.z - 11.0 * p.y).sin())
            });
        self.offset(off.collect());
        self.noise(0.002);
        self.noise = 0.0035;
        self.cut(|p, low, _| p.y < low + 0.012);
        self.floor(4, 0.2);
    }

    /// Gaps narrower than 3 cm are closed: arms at the hips, thighs, fingers.
    fn fused(&mut self) {
        let mut voxels = Voxels::over(self.mesh.bounds(), 0.006, 8);
        voxels.draw(&self.mesh);
        voxels.fill_cavities();
        voxels.close(0.015);
        let mut net = voxel_net(&voxels);
        let surface = Surface::new(self.mesh.clone());
        for p in &mut net.positions {
            if let Some(near) = surface.closest_point_within(*p, 0.009) {
                *p = near.position;
            }
        }
        self.mesh = net;
        self.of_body.clear();
    }

    fn coarse(&mut self) {
        let settings = Decimation {
            target: 2000,
            ..Decimation::default()
        };
        self.mesh = decimate(&self.mesh, &settings).mesh;
        // Chords of 4 cm triangles lie below the skin.
        self.noise = 0.001;
    }

    fn fine(&mut self) {
        for _ in 0..3 {
            self.mesh = subdivide::midpoint(&self.mesh).mesh;
        }
    }

    fn cloud(&mut self, has_normals: bool) {
        self.fine();
        let normals = vertex_normals(&self.mesh);
        let some = |list: &[Vec3]| list.iter().copied().step_by(17).collect::<Vec<Vec3>>();
        let normals = if has_normals {
            some(&normals)
        } else {
            Vec::new()
        };
        self.points = Some((some(&self.mesh.positions), normals));
    }

    /// The skin again 3 mm below, facing inwards.
    fn two_shells(&mut self) {
        let normals = vertex_normals(&self.mesh);
        let first = self.mesh.positions.len() as u32;
        let inner: Vec<Vec3> = (self.mesh.positions.iter().zip(normals))
            .map(|(p, n)| *p - 0.003 * n)
            .collect();
        self.mesh.positions.extend(inner);
        let turned: Vec<[u32; 3]> = (self.mesh.triangles.iter())
            .map(|t| [t[0], t[2], t[1]].map(|v| v + first))
            .collect();
        self.mesh.triangles.extend(turned);
        self.noise = 0.002;
    }
}
