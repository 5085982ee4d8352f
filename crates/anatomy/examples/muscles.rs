//! Muscles of a body from its layers: prints volumes and draws a plate.
//!
//! `cargo run --release -p supple-anatomy --example muscles -- FOLDER SEX OUT`: FOLDER has `skin.ply`, `skeleton_surface.ply` and `bones/*.ply`.

use std::path::Path;
use std::time::Instant;

use glam::Vec3;
use supple_anatomy::template::atlas::{Atlas, Group};
use supple_anatomy::template::fat::{embedded_fat_sites, fat_targets, fat_thickness};
use supple_anatomy::template::muscles::{MuscleOptions, muscles};
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
    let scale: f64 = arguments.get(4).map_or(1.0, |s| s.parse().unwrap_or(1.0));
    let clock = Instant::now();
    let thickness = fat_thickness(&embedded_fat_sites()?, sex, &skin, &layers.layered, &bones)?;
    layers.muscle = fat_targets(&layers, &thickness, scale);
    println!("fat {:.2?}", clock.elapsed());
    let clock = Instant::now();
    let atlas = Atlas::embedded()?;
    let step: f32 = arguments.get(6).map_or(2.5, |s| s.parse().unwrap_or(2.5));
    let options = MuscleOptions { step: 1e-3 * step, mirrored: step != 2.5, ..MuscleOptions::default() };
    let found = muscles(&atlas, &bones, &layers, &options)?;
    println!("muscles {:.2?}", clock.elapsed());
    for (entry, pair) in atlas.entries.iter().zip(found.chunks(2)) {
        println!("{:36} {:7.1} {:7.1} ml, atlas {:7.1}  {:5} triangles", entry.name, 1e6 * pair[0].volume, 1e6 * pair[1].volume, entry.volume, pair[0].mesh.triangles.len());
    }
    for group in Group::ALL {
        let sum: f64 = found.iter().filter(|m| m.group == group).map(|m| m.volume).sum();
        let wanted: f64 = atlas.entries.iter().filter(|e| e.group == group).map(|e| 2e-6 * e.volume).sum();
        println!("{:12} {:6.2} l, atlas {:6.2}", group.name(), 1e3 * sum, 1e3 * wanted);
    }
    println!("all {:.2} l, {} triangles", 1e3 * found.iter().map(|m| m.volume).sum::<f64>(), found.iter().map(|m| m.mesh.triangles.len()).sum::<usize>());
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
