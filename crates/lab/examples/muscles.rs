//! Muscles of a template made anew from its skin, skeleton surface and bones, for whoever changes the atlas or the table of fat.
//!
//! `cargo run --release -p supple-lab --example muscles -- TEMPLATE OUT`: prints volumes, writes `OUT.template` and draws the plates `OUT_PART.png`.

use std::path::Path;
use std::time::Instant;

use glam::Vec3;
use supple_anatomy::template::assemble::{Pieces, assembled};
use supple_anatomy::template::musculature::atlas::Atlas;
use supple_anatomy::template::musculature::muscles::{MuscleOptions, muscles};
use supple_anatomy::template::musculature::volumes::{body_mass, literature_volume, volume_report};
use supple_anatomy::template::places::zones::Zone;
use supple_anatomy::template::surfaces::fat::embedded_fat_sites;
use supple_anatomy::template::surfaces::fat_scale::fat_layer;
use supple_anatomy::template::surfaces::muscle_surface::{MuscleTarget, muscle_surface};
use supple_anatomy::template::{RiggedMuscle, load_template, save_template};
use supple_anatomy::{Bone, LayeredBody};
use supple_picture::{Background, Bounds, Camera, DrawMesh, Image, Quality, Scene, render};

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, out] = &arguments[..] else {
        return Err("say: TEMPLATE OUT".into());
    };
    let mut template = load_template(Path::new(path))?;
    let bones: Vec<Bone> = template.bones.iter().map(|b| b.bone.clone()).collect();
    let body = template.body.clone();
    let mass = body_mass(body.mesh.signed_volume(), body.sex);
    let wanted = literature_volume(mass, body.sex);
    let (atlas, sites) = (Atlas::embedded()?, embedded_fat_sites()?);
    let clock = Instant::now();
    let layers = &mut template.layers;
    let fat = fat_layer(&sites, &atlas, &bones, layers, &body)?;
    println!("fat {:.2?}", clock.elapsed());
    for (zone, scale) in Zone::ALL.into_iter().zip(fat.scales) {
        println!("  {} times {scale:.2}", zone.name());
    }
    let target = |&t: &f32| MuscleTarget { t, weight: 1.0 };
    layers.muscle = muscle_surface(layers, &fat.places.iter().map(target).collect::<Vec<_>>());
    let clock = Instant::now();
    let found = muscles(
        &atlas,
        &bones,
        layers,
        &MuscleOptions::for_volume(&atlas, wanted),
    )?;
    println!("muscles {:.2?}", clock.elapsed());
    println!("{}", volume_report(&atlas, &found, mass, body.sex));
    let template = assembled(Pieces {
        name: template.name,
        body,
        thickness: template.thickness,
        layers: template.layers,
        bones: template.bones,
        muscles: found.into_iter().map(RiggedMuscle::from).collect(),
        landmarks: template.landmarks,
        provenance: template.provenance,
    })?;
    save_template(Path::new(&format!("{out}.template")), &template)?;
    draw(&template, out)
}

/// Bones and muscles from three sides, large.
fn draw(template: &LayeredBody, out: &str) -> Result<(), Error> {
    let mut scene = Scene {
        quality: Quality::DRAFT,
        background: Background::from(Vec3::splat(0.97)),
        ..Scene::default()
    };
    for bone in &template.bones {
        let bone = DrawMesh::new(&bone.bone.mesh).coloured(Vec3::new(0.93, 0.88, 0.76));
        scene.meshes.push(bone);
    }
    for (k, muscle) in template.muscles.iter().enumerate() {
        let shade = ((k / 2) * 37 % 17) as f32 / 16.0;
        let red = Vec3::new(0.62, 0.2, 0.27).lerp(Vec3::new(0.78, 0.33, 0.17), shade);
        let white = Vec3::new(0.9, 0.85, 0.78);
        let colours: Vec<Vec3> = muscle.tendon.iter().map(|&t| red.lerp(white, t)).collect();
        scene
            .meshes
            .push(DrawMesh::new(&muscle.mesh).coloured(colours));
    }
    let height = template.body.height();
    let part = |low: [f32; 3], high: [f32; 3]| Bounds {
        min: height * Vec3::from(low),
        max: height * Vec3::from(high),
    };
    let parts = [
        (
            "trunk",
            part([-0.15, 0.44, -0.09], [0.15, 0.9, 0.09]),
            900,
            1100,
        ),
        (
            "legs",
            part([-0.14, 0.0, -0.07], [0.14, 0.56, 0.07]),
            560,
            1000,
        ),
        (
            "arm",
            part([0.07, 0.45, -0.07], [0.33, 0.87, 0.09]),
            800,
            900,
        ),
    ];
    for (name, bounds, width, height) in parts {
        let mut sheet = Image::new(3 * width, height, Vec3::ONE);
        for (k, view) in [Vec3::Z, Vec3::X, -Vec3::Z].into_iter().enumerate() {
            let camera = Camera::frame(bounds, view, width as f32 / height as f32);
            sheet.blit(
                &render(&scene, &camera, width, height),
                (k * width) as i64,
                0,
            );
        }
        std::fs::write(format!("{out}_{name}.png"), sheet.encode_png()?)?;
    }
    Ok(())
}
