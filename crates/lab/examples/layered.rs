//! scratch
use std::time::Instant;
use supple::anatomy::{Sex, Template};
use supple::flesh::{GivenLayers, Settings};
use supple::geom::TriMesh;
use supple::glam::{Quat, Vec3, vec3};
use supple::layers::{Layered, layered};
use supple::tissue::SoftBody;
use supple::{Character, Pose};
use supple_lab::layered_motion::{SideJump, folds, mean_shear, triangles_within};
use supple_picture::{Camera, DrawMesh, Image, Lens, Scene, SheetStyle, contact_sheet, render};
fn people() {
    for sex in [Sex::Male, Sex::Female] {
        let t = Instant::now();
        let p = supple_lab::people::person_of_bmi(sex, 30.0).unwrap();
        println!(
            "{} {:.1} s height {:.2} {:?}",
            p.name,
            t.elapsed().as_secs_f64(),
            p.body.height(),
            p.layers.measures()
        );
        supple::anatomy::template::save_template(
            format!(
                "/tmp/layers3/{}30.template",
                if sex == Sex::Male { "male" } else { "female" }
            )
            .as_ref(),
            &p,
        )
        .unwrap();
    }
}
fn shot(mesh: &TriMesh, around: &[Vec3], dir: Vec3, size: usize) -> Image {
    let scene = Scene {
        meshes: vec![DrawMesh::owned(mesh.clone())],
        ..Scene::default()
    };
    let camera = Camera::fit(around, dir, 1.0, Lens::Orthographic { height: 1.0 }, 0.98);
    render(&scene, &camera, size, size)
}
fn spine(c: &Character, rest: &Pose, axis: Vec3, degrees: f32) -> Pose {
    let mut pose = rest.clone();
    for (n, share) in [
        ("spine05", 0.15),
        ("spine04", 0.25),
        ("spine03", 0.25),
        ("spine02", 0.2),
        ("spine01", 0.15),
    ] {
        pose.rotate(
            c.skeleton.find(n).unwrap(),
            Quat::from_axis_angle(axis, (degrees * share).to_radians()),
        );
    }
    pose
}
struct R {
    belly: Vec<u32>,
    ribs: Vec<u32>,
    ribs_nb: Vec<u32>,
    waist: Vec<u32>,
}
fn regions(t: &Template, l: &GivenLayers) -> R {
    let mut r = R {
        belly: vec![],
        ribs: vec![],
        ribs_nb: vec![],
        waist: vec![],
    };
    let normals = supple::geom::normals::vertex_normals(&t.layers.skin_mesh());
    let margin = t.body.joint("spine03").unwrap().y;
    let top = t.body.joint("spine01").unwrap().y;
    let pelvis = t.body.joint("spine05").unwrap().y;
    let bottom = t.body.joint("spine02").unwrap().y;
    for v in 0..l.vertices.len() {
        if !l.layered[v] {
            continue;
        }
        let p = t.layers.skin[v];
        if t.regions.abdomen[v] && normals[v].z > 0.3 {
            r.belly.push(l.vertices[v]);
        }
        let arm: f32 = t.body.influences[v]
            .iter()
            .filter(|(j, _)| {
                let n = &t.body.skeleton.joints()[*j as usize].name;
                n.starts_with("upperarm") || n.starts_with("shoulder") || n.starts_with("clav")
            })
            .map(|x| x.1)
            .sum();
        let name = t.regions.bone[v].map_or("", |b| t.bones[b as usize].bone.name.as_str());
        let thorax = name.starts_with("rib")
            || name.starts_with("sternum")
            || name.starts_with("vertebra_T");
        let fat = p.distance(t.layers.muscle[v]);
        if thorax && arm < 0.2 && p.y > bottom && p.y < top + 0.12 {
            r.ribs.push(l.vertices[v]);
            if fat < 0.03 {
                r.ribs_nb.push(l.vertices[v]);
            }
        }
        if arm < 0.2 && p.y > pelvis && p.y < top {
            r.waist.push(l.vertices[v]);
        }
        let _ = margin;
    }
    r
}
fn build(b: &Layered, l: Option<&GivenLayers>, s: &Settings) -> SoftBody {
    let mut x = SoftBody::builder(&b.character).settings(s.clone());
    if let Some(l) = l {
        x = x.layers(l);
    }
    x.build().unwrap()
}
fn env(n: &str) -> Option<f64> {
    std::env::var(n).ok().map(|v| v.parse().unwrap())
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args[0] == "people" {
        return people();
    }
    let mut t = supple::load_template(&args[0]).unwrap();
    if std::env::var("RERIG").is_ok() {
        let r = supple::load_template(if t.sex() == Sex::Male {
            "@male"
        } else {
            "@female"
        })
        .unwrap()
        .rerigged()
        .unwrap();
        t.regions = r.regions;
        for (a, b) in t.bones.iter_mut().zip(r.bones) {
            a.rig = b.rig;
        }
    }
    let name = args[0]
        .trim_start_matches('@')
        .rsplit('/')
        .next()
        .unwrap()
        .trim_end_matches(".template")
        .to_owned();
    let b = layered(&t);
    let mut s = Settings::default();
    if let Some(x) = env("SLIDE") {
        s.layers.sliding_stiffness = x;
    }
    if let Some(x) = env("VOL") {
        s.tissue.volume_stiffness = x;
    }
    let held = GivenLayers {
        held: b.layers.layered.clone(),
        ..b.layers.clone()
    };
    let time = Instant::now();
    let mut bodies = vec![("two", build(&b, None, &s))];
    let t2 = time.elapsed().as_secs_f64();
    bodies.push(("three", build(&b, Some(&b.layers), &s)));
    println!(
        "{name}: built two {t2:.2} s, three {:.2} s",
        time.elapsed().as_secs_f64() - t2
    );
    bodies.push(("held", build(&b, Some(&held), &s)));
    let r = regions(&t, &b.layers);
    println!(
        "belly {} ribs {} {} waist {}",
        r.belly.len(),
        r.ribs.len(),
        r.ribs_nb.len(),
        r.waist.len()
    );
    for (n, x) in &bodies {
        let r = &x.flesh().report;
        println!(
            "{n}: columns {} layered {} tets {} free {} fixed {} mass {:.1} {:?} inverted {}",
            r.vertices,
            r.layered,
            r.tets,
            r.free,
            r.fixed,
            r.mass,
            r.untangled,
            x.quality().inverted
        );
    }
    let tri = &b.character.parts[0].mesh.triangles;
    let (tw, tr, trn) = (
        triangles_within(tri, &r.waist),
        triangles_within(tri, &r.ribs),
        triangles_within(tri, &r.ribs_nb),
    );
    for mode in &args[1..] {
        let mut tiles = vec![];
        for (n, x) in bodies.iter_mut() {
            let rest = x.flesh().rest_pose();
            match mode.as_str() {
                "jump" => {
                    if *n == "held" {
                        continue;
                    }
                    let w = SideJump::default()
                        .swings(x, 0, &[&r.belly, &r.ribs, &r.ribs_nb])
                        .unwrap();
                    println!(
                        "jump {n}: belly {:.1} ribs {:.1} {:.1} mm: {:.2} {:.2}",
                        1e3 * w[0],
                        1e3 * w[1],
                        1e3 * w[2],
                        w[0] / w[1],
                        w[0] / w[2]
                    );
                }
                "where" => {
                    if *n == "held" {
                        continue;
                    }
                    let all: Vec<Vec<u32>> = b.layers.vertices.iter().map(|&v| vec![v]).collect();
                    let lists: Vec<&[u32]> = all.iter().map(|l| &l[..]).collect();
                    let w = SideJump::default().swings(x, 0, &lists).unwrap();
                    let normals = supple::geom::normals::vertex_normals(&t.layers.skin_mesh());
                    let mut bins: std::collections::BTreeMap<(i32, i32, bool), Vec<[f64; 3]>> =
                        Default::default();
                    for (i, &v) in b.layers.vertices.iter().enumerate() {
                        if r.waist.contains(&v) || r.ribs.contains(&v) {
                            let side = if normals[i].z > 0.5 {
                                0
                            } else if normals[i].z < -0.5 {
                                2
                            } else {
                                1
                            };
                            let p = t.layers.skin[i];
                            bins.entry(((p.y / 0.04) as i32, side, t.regions.slides[i]))
                                .or_default()
                                .push([
                                    w[i],
                                    p.distance(t.layers.muscle[i]) as f64,
                                    t.layers.muscle[i].distance(t.layers.skeleton[i]) as f64,
                                ]);
                        }
                    }
                    println!(
                        "{n}: y side(0 front 1 side 2 back) slides: count swing fat muscle mm; spine03 {:.2} spine02 {:.2} spine01 {:.2}",
                        t.body.joint("spine03").unwrap().y,
                        t.body.joint("spine02").unwrap().y,
                        t.body.joint("spine01").unwrap().y
                    );
                    for ((y, s, f), l) in bins {
                        let m =
                            |k: usize| 1e3 * l.iter().map(|a| a[k]).sum::<f64>() / l.len() as f64;
                        println!(
                            "  {:.2} {s} {f}: {} {:.1} {:.0} {:.0}",
                            y as f64 * 0.04,
                            l.len(),
                            m(0),
                            m(1),
                            m(2)
                        );
                    }
                }
                "speed" => {
                    if *n == "held" {
                        continue;
                    }
                    let clip = supple::embedded::clip("jump", &b.character).unwrap();
                    x.reset(&clip.sample(&b.character.skeleton, 0.0)).unwrap();
                    let (mut best, mut all) = (f64::INFINITY, 0.0);
                    for f in 0..100 {
                        let t = Instant::now();
                        x.advance(
                            &clip.sample(&b.character.skeleton, f as f32 / 60.0),
                            1.0 / 60.0,
                        )
                        .unwrap();
                        let e = t.elapsed().as_secs_f64();
                        if f > 5 {
                            best = best.min(e);
                            all += e;
                        }
                    }
                    println!(
                        "speed {n}: best {:.1} mean {:.1} steps/s",
                        1.0 / best,
                        94.0 / all
                    );
                }
                _ => {
                    let (axis, deg) = match mode.as_str() {
                        "twist" => (Vec3::Y, 60.0),
                        "back" => (Vec3::NEG_X, 60.0),
                        "front" => (Vec3::X, 60.0),
                        _ => (Vec3::Z, 45.0),
                    };
                    x.reset(&rest).unwrap();
                    let before = x.positions();
                    x.place(&spine(&b.character, &rest, axis, deg)).unwrap();
                    let now = x.positions();
                    let f: Vec<usize> = [20.0, 30.0, 45.0, 60.0]
                        .map(|d| folds(&tw, &before[0], &now[0], d))
                        .to_vec();
                    println!(
                        "{mode} {n}: shear {:.2} {:.2} folds {f:?} inverted {}",
                        mean_shear(&tr, &before[0], &now[0]),
                        mean_shear(&trn, &before[0], &now[0]),
                        x.quality().inverted
                    );
                    if *n == "three" {
                        let mut c: Vec<String> = vec![];
                        for t in &tw {
                            let one = [*t];
                            let _ = one;
                        }
                        for (k, a) in tw.iter().enumerate() {
                            for bb in &tw[k + 1..] {
                                let sh: Vec<u32> =
                                    a.iter().filter(|v| bb.contains(v)).copied().collect();
                                if sh.len() == 2 && folds(&[*a, *bb], &before[0], &now[0], 30.0) > 0
                                {
                                    let p = (before[0][sh[0] as usize] + before[0][sh[1] as usize])
                                        / 2.0;
                                    c.push(format!("({:.2} {:.2} {:.2})", p.x, p.y, p.z));
                                }
                            }
                        }
                        println!("  at {}", c.join(" "));
                    }
                    let m = TriMesh {
                        positions: now[0].clone(),
                        triangles: tri.clone(),
                    };
                    let root = t.body.joint("spine03").unwrap();
                    for dir in [
                        vec3(0.0, 0.0, 1.0),
                        vec3(1.0, 0.1, 0.3),
                        vec3(0.3, 0.1, -1.0),
                    ] {
                        tiles.push((
                            shot(
                                &m,
                                &[root - Vec3::splat(0.33), root + Vec3::splat(0.33)],
                                dir,
                                520,
                            ),
                            n.to_string(),
                        ));
                    }
                }
            }
        }
        if !tiles.is_empty() {
            contact_sheet(mode, &tiles, 3, &SheetStyle::default())
                .save_png(std::path::Path::new(&format!(
                    "/tmp/layers3/r_{name}_{mode}.png"
                )))
                .unwrap();
        }
    }
}
