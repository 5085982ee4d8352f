//! Muscles of a body from its layers: prints volumes and draws a plate.
//!
//! `cargo run --release -p supple-anatomy --example muscles -- FOLDER SEX OUT`: FOLDER has `skin.ply`, `skeleton_surface.ply` and `bones/*.ply`.

use std::path::Path;
use std::time::Instant;

use glam::Vec3;
use supple_anatomy::template::atlas::Atlas;
use supple_anatomy::template::fat::{embedded_fat_sites, fat_targets, fat_thickness};
use supple_anatomy::template::fat_scale::fat_layer;
use supple_anatomy::template::volumes::{body_mass, literature_volume, volume_report};
use supple_anatomy::template::areas::segment_areas;
use supple_anatomy::template::frame::{Half, Side};
use supple_anatomy::template::limbs::Segment;
use supple_anatomy::template::muscles::{Muscle, MuscleOptions, muscles};
use supple_anatomy::{Bone, Layers, Sex};
use supple_geom::TriMesh;
use supple_picture::{Camera, Bounds, DrawMesh, Image, Quality, Scene, render, Background};
use supple_rig::character::Up;
use supple_rig::formats::{ReadOptions, ply::read_ply};

type Error = Box<dyn std::error::Error>;

fn mesh(path: &Path) -> Result<TriMesh, Error> {
    let options = ReadOptions { metres_per_unit: Some(1.0), up: Some(Up::Y) };
    let character = read_ply(&std::fs::read(path)?, &options)?;
    Ok(character.parts[0].mesh.clone())
}

/// Sections of muscle and bone beside those of BodyParts3D, scaled to the same length of the segment.
fn compare(folder: &Path, bones: &[Bone], found: &[Muscle]) -> Result<(), Error> {
    let names = [("left_femur", "femur"), ("left_tibia", "tibia"), ("left_fibula", "fibula"), ("left_humerus", "humerus"), ("left_ulna", "ulna"), ("left_radius", "radius"), ("left_patella", "patella")];
    let mut others = Vec::new();
    for (file, name) in names {
        others.push(Bone { name: format!("{name}_l"), mesh: mesh(&folder.join("bones").join(format!("{file}.ply")))? });
    }
    let mut paths: Vec<_> = std::fs::read_dir(folder.join("muscles"))?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.sort();
    paths.retain(|p| p.to_string_lossy().contains("left_") && !p.to_string_lossy().contains("membrane"));
    let muscles: Vec<TriMesh> = paths.iter().map(|p| mesh(p)).collect::<Result<_, _>>()?;
    let theirs: Vec<&TriMesh> = others.iter().map(|b| &b.mesh).chain(&muscles).collect();
    let ours: Vec<&TriMesh> = bones.iter().filter(|b| b.name.ends_with("_l")).map(|b| &b.mesh).chain(found.iter().filter(|m| m.side == Side::Left).map(|m| &m.mesh)).collect();
    let (half, other) = (Half::new(bones, Side::Left), Half::new(&others, Side::Left));
    for (segment, limb) in [(Segment::Thigh, ["femur", "patella"].as_slice()), (Segment::Shank, &["tibia", "fibula"]), (Segment::Arm, &["humerus"]), (Segment::Forearm, &["ulna", "radius"])] {
        let _ = limb;
        let a = segment_areas(&half, segment, &ours, 20).ok_or("bone")?;
        let b = segment_areas(&other, segment, &theirs, 20).ok_or("bone")?;
        let scale = (a.length / b.length).powi(2);
        println!("{segment:?} {:.3} m, theirs {:.3} m", a.length, b.length);
        for ((t, ours), (_, theirs)) in a.areas.iter().zip(&b.areas) {
            println!("  {t:.3} {:7.1} cm2, theirs {:7.1}, {:+.0} %", 1e4 * ours, 1e4 * theirs * scale, 100.0 * (ours / (theirs * scale) - 1.0));
        }
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = Path::new(&arguments[1]);
    let sex = if arguments[2] == "female" { Sex::Female } else { Sex::Male };
    let out = &arguments[3];
    let skin = mesh(&folder.join("skin.ply"))?;
    let skeleton = mesh(&folder.join("skeleton_surface.ply"))?;
    let mut paths: Vec<_> = std::fs::read_dir(folder.join("bones"))?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.sort();
    let bones: Vec<Bone> = paths.iter().map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Bone { name, mesh: mesh(path)? })
    }).collect::<Result<_, Error>>()?;
    let layered: Vec<bool> = skin.positions.iter().zip(&skeleton.positions).map(|(a, b)| a.distance(*b) > 1e-5).collect();
    let mut layers = Layers { triangles: skin.triangles.clone(), skin: skin.positions.clone(), muscle: vec![], skeleton: skeleton.positions.clone(), layered };
    let atlas = Atlas::embedded()?;
    let sites = embedded_fat_sites()?;
    let mass = body_mass(skin.signed_volume(), sex);
    let clock = Instant::now();
    let scale: Option<f64> = arguments.get(4).and_then(|s| s.parse().ok());
    if let Some(scale) = scale {
        let thickness = fat_thickness(&sites, sex, &skin, &layers.layered, &bones)?;
        layers.muscle = fat_targets(&layers, &thickness, scale);
    } else {
        let fat = fat_layer(&sites, &atlas, &bones, &layers, sex, literature_volume(mass, sex))?;
        println!("fat times {:.3}", fat.scale);
        layers.muscle = fat.targets;
    }
    println!("fat {:.2?}", clock.elapsed());
    let clock = Instant::now();
    let step: f32 = arguments.get(6).map_or(2.5, |s| s.parse().unwrap_or(2.5));
    let options = MuscleOptions { step: 1e-3 * step, mirrored: step != 2.5, scale: literature_volume(mass, sex) / 26e-3, ..MuscleOptions::default() };
    let found = muscles(&atlas, &bones, &layers, &options)?;
    println!("muscles {:.2?}", clock.elapsed());
    println!("{}", volume_report(&atlas, &found, mass, sex));
    println!("all {:.2} l, {} triangles", 1e3 * found.iter().map(|m| m.volume).sum::<f64>(), found.iter().map(|m| m.mesh.triangles.len()).sum::<usize>());
    if let Some(other) = arguments.get(7) {
        compare(Path::new(other), &bones, &found)?;
    }
    let mut scene = Scene { quality: Quality::DRAFT, background: Background::from(Vec3::splat(0.97)), ..Scene::default() };
    for bone in &bones {
        scene.meshes.push(DrawMesh::new(&bone.mesh).coloured(Vec3::new(0.93, 0.88, 0.76)));
    }
    for (k, muscle) in found.iter().enumerate() {
        let shade = ((k / 2) * 37 % 17) as f32 / 16.0;
        let red = Vec3::new(0.62 + 0.16 * shade, 0.2 + 0.13 * shade, 0.17 + 0.1 * (1.0 - shade));
        let white = Vec3::new(0.9, 0.85, 0.78);
        let colours = muscle.tendon.iter().map(|&t| red.lerp(white, t)).collect::<Vec<_>>();
        scene.meshes.push(DrawMesh::new(&muscle.mesh).coloured(colours));
    }
    let all = Bounds::of(&skin.positions);
    let views = [("front", Vec3::Z), ("side", Vec3::X), ("back", -Vec3::Z)];
    let parts = [("whole", all), ("top", Bounds { min: Vec3::new(-0.42, 0.95, -0.15), max: Vec3::new(0.42, 1.65, 0.25) }), ("legs", Bounds { min: Vec3::new(-0.3, 0.0, -0.12), max: Vec3::new(0.3, 1.05, 0.15) })];
    let wanted = arguments.get(5).map_or("whole", String::as_str);
    for (part, bounds) in parts.iter().filter(|p| wanted.contains(p.0)) {
        let (w, h) = if *part == "top" { (900, 800) } else if *part == "legs" {(560, 1000)} else { (640, 1000) };
        let mut sheet = Image::new(3 * w, h, Vec3::ONE);
        for (k, (_, view)) in views.iter().enumerate() {
            let camera = Camera::frame(*bounds, *view, w as f32 / h as f32);
            sheet.blit(&render(&scene, &camera, w, h), (k * w) as i64, 0);
        }
        std::fs::write(format!("{out}_{part}.png"), sheet.encode_png()?)?;
    }
    Ok(())
}
