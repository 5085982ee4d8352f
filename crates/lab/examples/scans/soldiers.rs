//! Bodies with the measures of soldiers: how often the sex is right, how sure it is said to be, and what is noticed.
//!
//! A soldier's ten measures are given to bodies of both spaces, and the two are blended: at 0 the body is of its own sex's space, at 0.5
//! the spaces say nothing about the sex. Bumps that no space holds, noise, holes, hair and a pose are added. Rows 4n + 1 of the
//! table are there for tuning, rows 4n + 3 for measuring only; even rows made `assets/soldiers.toml`.

use std::path::Path;
use std::time::Instant;

use glam::{DVec3, Vec3};
use supple_anatomy::Sex;
use supple_anatomy::body_model::{BodyModel, BodySampler, Figure, PoseRange};
use supple_anatomy::composition::soldiers::MEASURES;
use supple_anatomy::composition::{Measures, Tape};
use supple_anatomy::scan::{Options, SURE, Scan, register};
use supple_anatomy::template::load_template;
use supple_geom::dense::DenseSymmetric;
use supple_geom::normals::vertex_normals;

type Failure = Box<dyn std::error::Error>;
const TABLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/data/composition/ansur2.csv"
);
/// Shares of the other sex's space.
const SHARES: [f64; 3] = [0.0, 0.3, 0.5];
/// How exactly measures are met [m], and steps towards them.
const EXACT: f64 = 0.005;
const STEPS: usize = 4;

/// A space with a tape.
struct Base {
    model: &'static BodyModel,
    tape: Tape,
    file_vertices: Vec<u32>,
    derivatives: Vec<Vec<f64>>,
}

/// What is said of a body, and what is true.
struct Said {
    share: f64,
    is_right: bool,
    sure: f64,
    is_man: bool,
}

/// `count` soldiers of rows 4n + `rest`, in clothes `cloth` [m] off the skin, in `poses` poses each.
pub fn calibration(count: usize, rest: usize, cloth: f64, poses: usize) -> Result<(), Failure> {
    let bases = [base(Sex::Male, "male")?, base(Sex::Female, "female")?];
    let rows = rows()?;
    let rows: Vec<_> = rows.iter().skip(rest).step_by(4).collect();
    let mut said = Vec::new();
    // Men and women in turn, spread over the table.
    for number in 0..count {
        let sex = [Sex::Male, Sex::Female][number % 2];
        let of_sex: Vec<_> = rows.iter().filter(|row| row.0 == sex).collect();
        let row = of_sex[(number * 37) % of_sex.len()];
        let share = SHARES[number / 2 % SHARES.len()];
        for pose in 0..poses {
            let seed = 100 * (10 * rest + pose) as u64 + 7 * number as u64;
            let (scan, volume) = scan(&bases, sex, &row.1, share, cloth, number as u64, seed);
            let start = Instant::now();
            let made = register(&scan, &Options::default());
            let seconds = start.elapsed().as_secs_f64();
            let name = if sex == Sex::Male { "man  " } else { "woman" };
            print!("{number:3} {name} {:4.1} kg/m², share {share:.1}: ", row.2);
            match made {
                Ok(found) => {
                    let is_right = found.sex == sex;
                    let off = 100.0
                        * (found.model().mesh(&found.vertices).signed_volume() / volume - 1.0);
                    println!(
                        "{} {:.3}, volume {off:+.1} %, rms {:.1} bent {:.1} mm, confidence {:.2}, {seconds:.1} s {}",
                        if is_right { "right" } else { "WRONG" },
                        found.sex_confidence,
                        1e3 * found.distances.rms,
                        1e3 * found.distances.bent,
                        found.confidence,
                        found.warnings.join("; ")
                    );
                    said.push(Said {
                        share,
                        is_right,
                        sure: found.sex_confidence,
                        is_man: sex == Sex::Male,
                    });
                }
                Err(error) => println!("refused: {error}"),
            }
        }
    }
    classes("all", &said, |_| true);
    classes("men", &said, |s| s.is_man);
    classes("women", &said, |s| !s.is_man);
    for share in SHARES {
        classes(&format!("share {share}"), &said, |s| s.share == share);
    }
    for (low, high) in [
        (0.5, 0.7),
        (0.7, 0.8),
        (0.8, 0.9),
        (SURE, 0.97),
        (0.97, 1.01),
    ] {
        classes(&format!("said {low} to {high}"), &said, |s| {
            (low..high).contains(&s.sure)
        });
    }
    Ok(())
}

fn classes(name: &str, said: &[Said], wanted: impl Fn(&Said) -> bool) {
    let some: Vec<&Said> = said.iter().filter(|s| wanted(s)).collect();
    let count = some.len().max(1) as f64;
    let sure: Vec<&&Said> = some.iter().filter(|s| s.sure >= SURE).collect();
    println!(
        "{name}: {} bodies, said {:.1} %, right {:.1} %; {} called sure, {} of them right",
        some.len(),
        100.0 * some.iter().map(|s| s.sure).sum::<f64>() / count,
        100.0 * some.iter().filter(|s| s.is_right).count() as f64 / count,
        sure.len(),
        sure.iter().filter(|s| s.is_right).count()
    );
}

/// Sex, measures [m] and body mass index of all soldiers.
fn rows() -> Result<Vec<(Sex, Vec<f64>, f64)>, Failure> {
    let text = std::fs::read_to_string(TABLE)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        header
            .iter()
            .position(|h| *h == name)
            .ok_or("a column is missing")
    };
    let mut rows = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |name: &str| -> Result<f64, Failure> { Ok(cells[column(name)?].parse()?) };
        let sex = if cells[column("sex")?] == "male" {
            Sex::Male
        } else {
            Sex::Female
        };
        let mut measures = Vec::new();
        for (name, ..) in MEASURES {
            measures.push(1e-3 * number(&format!("{name}_mm"))?);
        }
        let index = 0.1 * number("weight_hg")? / measures[0].powi(2);
        rows.push((sex, measures, index));
    }
    Ok(rows)
}

fn base(sex: Sex, name: &str) -> Result<Base, Failure> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../supple/assets");
    let body = load_template(&Path::new(folder).join(format!("{name}.template")))?.body;
    let mut base = Base {
        model: BodyModel::embedded(sex),
        tape: Tape::new(&body)?,
        file_vertices: body.file_vertices,
        derivatives: Vec::new(),
    };
    let model = base.model;
    let columns: Vec<Vec<f64>> = (0..model.field_count())
        .map(|k| {
            let at = |sign: f64| {
                let mut coefficients = vec![0.0; model.field_count()];
                coefficients[k] = sign * model.deviations[k];
                base.measured(&coefficients)
            };
            let (more, less) = (at(0.5), at(-0.5));
            MEASURES
                .iter()
                .map(|(.., of)| of(&more) - of(&less))
                .collect()
        })
        .collect();
    base.derivatives = (0..MEASURES.len())
        .map(|m| columns.iter().map(|column| column[m]).collect())
        .collect();
    Ok(base)
}

impl Base {
    fn measured(&self, coefficients: &[f64]) -> Measures {
        let rest = self.model.rest_vertices(coefficients);
        let skin: Vec<Vec3> = (self.file_vertices.iter())
            .map(|&v| rest[v as usize].as_vec3())
            .collect();
        let joints = self.model.rest_joints(coefficients);
        let joints: Vec<Vec3> = joints.iter().map(|p| p.as_vec3()).collect();
        self.tape.measures(&skin, &joints)
    }

    /// Coefficients near to `start` of a body with the measures wanted.
    fn steered(&self, start: &[f64], wanted: &[f64]) -> Vec<f64> {
        let (count, sizes) = (self.model.field_count(), &self.model.deviations);
        let mut coefficients = start.to_vec();
        for _ in 0..STEPS {
            let found = self.measured(&coefficients);
            let mut normal = DenseSymmetric::zero(count);
            let mut right = vec![0.0; count];
            for (row, ((.., of), wanted)) in
                self.derivatives.iter().zip(MEASURES.iter().zip(wanted))
            {
                let scaled: Vec<f64> = row.iter().map(|d| d / EXACT).collect();
                normal.add_outer(&scaled);
                for (right, d) in right.iter_mut().zip(&scaled) {
                    *right += d * (wanted - of(&found)) / EXACT;
                }
            }
            for k in 0..count {
                normal.add_at(k, k, 1.0);
                right[k] -= (coefficients[k] - start[k]) / sizes[k];
            }
            if let Ok(factor) = normal.factorise() {
                factor.solve(&mut right);
                (0..count).for_each(|k| coefficients[k] += right[k] * sizes[k]);
            }
        }
        coefficients
    }
}

/// A scan of somebody with a soldier's measures, and the volume of the bare body [m³]. The body follows from `who`, pose and noise from `seed`.
fn scan(
    bases: &[Base; 2],
    sex: Sex,
    wanted: &[f64],
    share: f64,
    cloth: f64,
    who: u64,
    seed: u64,
) -> (Scan, f64) {
    let mut sampler = BodySampler::new(50_000 + who);
    let (own, other) = (&bases[sex as usize], &bases[1 - sex as usize]);
    let [a, b] = [own, other].map(|base| {
        let start: Vec<f64> = (sampler.coefficients(base.model).iter())
            .map(|c| 0.6 * c)
            .collect();
        base.steered(&start, wanted)
    });
    let blend = |a: Vec<DVec3>, b: Vec<DVec3>| -> Vec<DVec3> {
        a.iter().zip(&b).map(|(a, b)| a.lerp(*b, share)).collect()
    };
    let model = own.model;
    let mut rest = blend(model.rest_vertices(&a), other.model.rest_vertices(&b));
    let joints = blend(model.rest_joints(&a), other.model.rest_joints(&b));
    let bumps: Vec<(DVec3, f64, f64)> = (0..25)
        .map(|_| {
            let at = (sampler.uniform() * rest.len() as f64) as usize;
            (
                rest[at],
                sampler.between(0.04, 0.12),
                0.004 * sampler.normal(),
            )
        })
        .collect();
    let normals = vertex_normals(&model.mesh(&rest));
    for (p, n) in rest.iter_mut().zip(&normals) {
        let out = |(at, radius, high): &(DVec3, f64, f64)| {
            high * (-p.distance_squared(*at) / (radius * radius)).exp()
        };
        let out: f64 = bumps.iter().map(out).sum();
        *p += out * n.as_dvec3();
    }
    let mut sampler = BodySampler::new(90_000 + seed);
    let drawn = sampler.figure(model, &PoseRange::default(), 0.3);
    let figure = Figure {
        coefficients: a,
        ..drawn
    };
    let frames = figure.frames(model, &joints);
    let posed: Vec<DVec3> = (rest.iter().enumerate())
        .map(|(v, &at)| frames.place(model, v, at))
        .collect();
    let mut mesh = model.mesh(&posed);
    let volume = mesh.signed_volume();
    let normals = vertex_normals(&mesh);
    let hair = sampler.between(-0.015, 0.03).max(0.0);
    let is_dressed = |v: usize| {
        let name = &model.joint_names[model.main_joint(v)];
        [
            "root", "pelvis", "upperleg", "lowerleg", "spine", "clavicle", "shoulder", "upperarm",
        ]
        .iter()
        .any(|start| name.starts_with(start))
    };
    for (v, (p, n)) in mesh.positions.iter_mut().zip(&normals).enumerate() {
        let on =
            if model.is_scalp(v) { hair } else { 0.0 } + if is_dressed(v) { cloth } else { 0.0 };
        *p += (on + 0.002 * sampler.normal()) as f32 * *n;
    }
    let holes: Vec<(Vec3, f32)> = (0..4)
        .map(|_| {
            let at = (sampler.uniform() * posed.len() as f64) as usize;
            (posed[at].as_vec3(), sampler.between(0.02, 0.06) as f32)
        })
        .collect();
    let is_kept = |t: &[u32; 3]| {
        let p = mesh.positions[t[0] as usize];
        holes.iter().all(|(at, radius)| p.distance(*at) > *radius)
    };
    let triangles = mesh
        .triangles
        .iter()
        .copied()
        .filter(|t| is_kept(t))
        .collect();
    let scan = Scan {
        points: mesh.positions.clone(),
        triangles,
        ..Scan::default()
    };
    (scan, volume)
}
