//! Grows bodies, prints a table of what was asked and got, and draws them.
//!
//! `cargo run --release -p supple-lab --example growth -- [OUT] [WHAT]`: pictures go to the folder OUT; WHAT is `all` (default),
//! `look` (pictures of the templates only) or `quick` (the templates only).

use std::path::Path;
use std::time::Instant;

use glam::Vec3;
use supple_anatomy::body_model::{BodyModel, BodySampler};
use supple_anatomy::growth::{FatGoal, Grown, Growth, GrowthBody, GrowthFlow, Method, grown};
use supple_anatomy::person::{MassReport, PersonSkin, Transfer, fitted_person};
use supple_anatomy::template::{FatRegion, load_template};
use supple_anatomy::{LayeredBody, Layers};
use supple_picture::{
    Bounds, Camera, DrawMesh, Ground, Image, Lens, Scene, SheetStyle, contact_sheet, hex, render,
};

type Error = Box<dyn std::error::Error>;

const SKIN: Vec3 = hex(0xdeb39c);
const SIDES: [(&str, Vec3); 3] = [
    ("front", Vec3::new(0.0, 0.03, 1.0)),
    ("side", Vec3::new(1.0, 0.03, 0.25)),
    ("back", Vec3::new(-0.4, 0.03, -1.0)),
];

struct Person {
    name: String,
    anatomy: LayeredBody,
    masses: Option<MassReport>,
    weight: f64,
}

impl Person {
    fn body(&self) -> Result<GrowthBody<'_>, Error> {
        let own = GrowthBody::of_anatomy(&self.anatomy)?;
        Ok(match &self.masses {
            Some(report) => GrowthBody {
                masses: report.masses,
                weight: self.weight,
                ..own
            },
            None => own,
        })
    }
}

fn picture(layers: &Layers, frame: &[Vec3], direction: Vec3, width: usize) -> Image {
    let height = width * 3 / 2;
    let lens = Lens::Perspective { fov_y: 0.3 };
    let camera = Camera::fit(frame, direction, width as f32 / height as f32, lens, 0.94);
    let scene = Scene {
        meshes: vec![DrawMesh::owned(layers.skin_mesh()).coloured(SKIN)],
        ground: Some(Ground {
            height: Some(Bounds::of(&layers.skin).min.y),
            ..Ground::default()
        }),
        ..Scene::default()
    };
    render(&scene, &camera, width, height)
}

fn line(name: &str, what: &str, start: &GrowthBody, seconds: f64, result: &Grown) {
    let r = &result.report;
    let l = &r.layers;
    let before = start.anatomy.layers.measures();
    let out = |bones: bool| [start.anatomy, &result.anatomy].map(|a| outside(a, bones));
    let ([bones_out, bones_now], [muscles_out, muscles_now]) = (out(true), out(false));
    println!(
        "{name:12} {what:22} fat {:5.1} → {:5.1} (asked {:+6.2} got {:+6.2}) visc {:4.1} → {:4.1} mus {:5.2} → {:5.2} BMI {:4.1} → {:4.1} inv {}/{} (was {}/{}) out {}/{} (was {}/{}) cross {} → {} bones {bones_out} → {bones_now} muscles {muscles_out} → {muscles_now} steps {} {seconds:.2} s {:?}",
        r.fat[0],
        r.fat[1],
        r.asked[0],
        r.asked[1],
        r.visceral[0],
        r.visceral[1],
        r.muscle[0],
        r.muscle[1],
        r.body_mass_index[0],
        r.body_mass_index[1],
        l.inverted_fat,
        l.inverted_muscle,
        before.inverted_fat,
        before.inverted_muscle,
        l.muscle_outside,
        l.skeleton_outside,
        before.muscle_outside,
        before.skeleton_outside,
        r.crossings[0],
        r.crossings[1],
        r.steps,
        r.seconds
            .iter()
            .map(|(n, s)| format!("{n} {s:.2}"))
            .collect::<Vec<_>>(),
    );
}

/// Vertices of bones or muscles outside the skin.
fn outside(anatomy: &LayeredBody, bones: bool) -> usize {
    let meshes: Vec<&supple_geom::TriMesh> = if bones {
        anatomy.bones.iter().map(|b| &b.bone.mesh).collect()
    } else {
        anatomy.muscles.iter().map(|m| &m.mesh).collect()
    };
    let points: Vec<Vec3> = meshes
        .iter()
        .flat_map(|m| m.positions.iter().copied())
        .collect();
    supple_anatomy::layers::outside(
        &anatomy.layers.skin_mesh(),
        &points,
        &vec![true; points.len()],
    )
}

fn people(templates: &[LayeredBody; 2], count: usize) -> Result<Vec<Person>, Error> {
    let mut all = Vec::new();
    for template in templates {
        let model = BodyModel::embedded(template.sex());
        let transfer = Transfer::new(&template.layers)?;
        let mut sampler = BodySampler::new(7);
        let mut found = 0;
        while found < count {
            let coefficients = sampler.coefficients(model);
            let vertices = model.rest_vertices(&coefficients);
            let joints: Vec<Vec3> = model
                .joints_of(&vertices)
                .iter()
                .map(|p| p.as_vec3())
                .collect();
            let points: Vec<Vec3> = (template.body.file_vertices.iter())
                .map(|&v| vertices[v as usize].as_vec3())
                .collect();
            let mut anatomy = template.clone();
            anatomy.layers.skin = points.clone();
            let bounds = Bounds::of(&points);
            let height = f64::from(bounds.max.y - bounds.min.y);
            let weight = 1000.0 * anatomy.layers.skin_mesh().signed_volume() - 3.0;
            let weight = 1.03 * weight;
            let index = weight / height.powi(2);
            if !(25.0..31.0).contains(&index) {
                continue;
            }
            let female = template.sex() == supple_anatomy::Sex::Female;
            // Deurenberg 1991: fat percentage from body mass index, at 35 years.
            let percent = 1.2 * index + 0.23 * 35.0 - if female { 5.4 } else { 16.2 };
            let fat = 0.01 * percent * weight;
            let muscle = (weight - fat) * if female { 0.45 } else { 0.52 };
            let skin = PersonSkin {
                skin: &points,
                joints: &joints,
            };
            let fit = fitted_person(template, &transfer, &skin, fat, muscle)?;
            anatomy.layers = fit.layers;
            for (bone, mesh) in anatomy.bones.iter_mut().zip(fit.bones) {
                bone.bone.mesh = mesh;
            }
            for (muscle, mesh) in anatomy.muscles.iter_mut().zip(fit.muscles) {
                muscle.mesh = mesh;
            }
            anatomy.body.mesh.positions = points;
            found += 1;
            all.push(Person {
                name: format!("{}{found} {index:.0}", if female { "woman" } else { "man" }),
                anatomy,
                masses: Some(fit.report.masses),
                weight,
            });
        }
    }
    Ok(all)
}

fn rms(a: &Layers, b: &Layers) -> [f64; 2] {
    let squares = |of: &dyn Fn(usize) -> bool| {
        let chosen: Vec<usize> = (0..a.skin.len()).filter(|&v| of(v)).collect();
        let sum: f64 = chosen
            .iter()
            .map(|&v| f64::from(a.skin[v].distance_squared(b.skin[v])))
            .sum();
        (sum / chosen.len().max(1) as f64).sqrt()
    };
    let worst = (a.skin.iter().zip(&b.skin))
        .map(|(a, b)| f64::from(a.distance(*b)))
        .fold(0.0, f64::max);
    [squares(&|v| a.layered[v]), worst]
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().collect();
    let out = arguments.get(1).map_or("/tmp/growth", String::as_str);
    let what = arguments.get(2).map_or("all", String::as_str);
    std::fs::create_dir_all(out)?;
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../supple/assets");
    let template = |name: &str| load_template(&assets.join(format!("{name}.template")));
    let templates = [template("male")?, template("female")?];
    let mut all: Vec<Person> = (templates.iter())
        .map(|t| Person {
            name: t.name.clone(),
            anatomy: t.clone(),
            masses: None,
            weight: 0.0,
        })
        .collect();
    if what == "all" || what == "people" {
        all.extend(people(&templates, 2)?);
    }
    if what == "loss" {
        all.extend(people(&templates, 1)?);
    }
    if what == "people" || what == "loss" {
        all.drain(..2);
    }
    for person in &all {
        let body = person.body()?;
        println!(
            "{}: weight {:.1} BMI {:.1} fat {:.1} kg muscle {:.1} kg {:?}",
            person.name,
            body.weight,
            body.body_mass_index(),
            body.fat(),
            body.muscle(),
            body.masses
        );
        let mut tiles: Vec<(Layers, String)> = vec![(
            person.anatomy.layers.clone(),
            format!("{:.1} kg", body.weight),
        )];
        let method = |method: Method| Growth {
            fat: FatGoal::Change(10.0),
            method,
            ..Growth::default()
        };
        let change = |kg: f64| Growth {
            fat: FatGoal::Change(kg),
            ..Growth::default()
        };
        let region = |kg: f64, region: FatRegion| Growth {
            regions: vec![region],
            ..change(kg)
        };
        let mut cases: Vec<(String, Growth)> = Vec::new();
        for kg in [-25.0, -15.0, -8.0, 8.0, 25.0] {
            cases.push((format!("{kg:+} kg"), change(kg)));
        }
        cases.push(("10 kg by volume".into(), method(Method::Volume)));
        cases.push(("10 kg by pressure".into(), method(Method::Pressure)));
        cases.push((
            "BMI 18".into(),
            Growth {
                fat: FatGoal::BodyMassIndex(18.0),
                ..Growth::default()
            },
        ));
        cases.push((
            "BMI 40".into(),
            Growth {
                fat: FatGoal::BodyMassIndex(40.0),
                ..Growth::default()
            },
        ));
        cases.push((
            "muscle +5".into(),
            Growth {
                muscle: 5.0,
                ..Growth::default()
            },
        ));
        cases.push((
            "muscle -5".into(),
            Growth {
                muscle: -5.0,
                ..Growth::default()
            },
        ));
        cases.push(("legs +5".into(), region(5.0, FatRegion::Legs)));
        cases.push(("belly +5".into(), region(5.0, FatRegion::Belly)));
        cases.push(("chest +4".into(), region(4.0, FatRegion::Chest)));
        cases.push(("arms +2".into(), region(2.0, FatRegion::Arms)));
        if let Some(fattest) = all.iter().rfind(|p| p.masses.is_some()) {
            cases.push((
                "like +10".into(),
                Growth {
                    like: Some(&fattest.anatomy.layers),
                    ..change(10.0)
                },
            ));
        }
        if what == "loss" {
            cases.retain(|(name, _)| name == "-15 kg");
        }
        if what == "debug" {
            cases.retain(|(name, _)| name == "+25 kg");
        }
        if what == "look" {
            cases.truncate(5);
        }
        for (what, growth) in &cases {
            let clock = Instant::now();
            match grown(&body, growth) {
                Ok(result) => {
                    line(
                        &person.name,
                        what,
                        &body,
                        clock.elapsed().as_secs_f64(),
                        &result,
                    );
                    if what == "+8 kg" {
                        let back = GrowthBody {
                            anatomy: &result.anatomy,
                            masses: result.masses,
                            weight: result.report.weight[1],
                        };
                        match grown(&back, &change(-8.0)) {
                            Ok(back) => println!(
                                "  back: {:?} m",
                                rms(&person.anatomy.layers, &back.anatomy.layers)
                            ),
                            Err(error) => println!("  back: {error}"),
                        }
                        let flow = GrowthFlow::new(&body, growth)?;
                        let clock = Instant::now();
                        let coarse = flow.coarse(1.0);
                        println!(
                            "  coarse: {:.3} s, off {:?} m",
                            clock.elapsed().as_secs_f64(),
                            rms(&coarse, &result.anatomy.layers)
                        );
                    }
                    if what == "+25 kg" {
                        let heavy = GrowthBody {
                            anatomy: &result.anatomy,
                            masses: result.masses,
                            weight: result.report.weight[1],
                        };
                        let clock = Instant::now();
                        match grown(&heavy, &change(-25.0)) {
                            Ok(back) => {
                                let name = format!("{} +25", person.name);
                                line(
                                    &name,
                                    "-25 kg",
                                    &heavy,
                                    clock.elapsed().as_secs_f64(),
                                    &back,
                                );
                                println!(
                                    "  back: {:?} m",
                                    rms(&person.anatomy.layers, &back.anatomy.layers)
                                );
                            }
                            Err(error) => println!("  back: {error}"),
                        }
                    }
                    tiles.push((result.anatomy.layers, what.clone()));
                }
                Err(error) => println!("{:12} {what:22} {error}", person.name),
            }
        }
        let frame: Vec<Vec3> = tiles.iter().flat_map(|(l, _)| l.skin.clone()).collect();
        let mut images = Vec::new();
        for (side, direction) in SIDES {
            for (layers, caption) in &tiles {
                images.push((
                    picture(
                        layers,
                        &frame,
                        direction,
                        if what == "debug" || what == "loss" {
                            700
                        } else {
                            340
                        },
                    ),
                    format!("{caption}, {side}"),
                ));
            }
        }
        let sheet = contact_sheet(&person.name, &images, tiles.len(), &SheetStyle::default());
        sheet.save_png(Path::new(out).join(format!("{}.png", person.name.replace(' ', "_"))))?;
    }
    Ok(())
}
