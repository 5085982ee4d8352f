//! The first program of the crate's documentation: two characters play a clip, touch each other and the floor, and give positions
//! and normals every frame. `cargo run --release -p supple --example first [FILE [CLIP]]`

use supple::glam::Vec3;
use supple::{Scene, standing_at};

fn main() -> Result<(), supple::Error> {
    let mut words = std::env::args().skip(1);
    let file = words.next().unwrap_or("@male".to_owned());
    let name = words.next().unwrap_or("squat".to_owned());

    let hero = supple::load(file)?;
    let clip = supple::clip(&hero, &name)?;
    let here = standing_at(Vec3::ZERO, 0.0);
    let there = standing_at(Vec3::new(0.0, 0.0, 0.6), 180.0);
    let mut scene = Scene::builder()
        .body(&hero, here)
        .body(&hero, there)
        .ground(0.0)
        .build()?;
    for frame in 0..(60.0 * clip.duration()) as u32 {
        let pose = clip.sample(&hero.skeleton, frame as f32 / 60.0);
        scene.advance(&[pose.clone(), pose], 1.0 / 60.0)?;
        for body in 0..2 {
            for part in scene.skin(body) {
                upload(body, &part.positions, &part.normals);
            }
        }
    }
    println!("{} vertices are inside", scene.penetration()?.count());
    Ok(())
}

/// Stands for an engine that fills its vertex buffers.
fn upload(body: usize, positions: &[Vec3], normals: &[Vec3]) {
    assert_eq!(positions.len(), normals.len());
    let highest = positions.iter().fold(f32::MIN, |top, p| top.max(p.y));
    assert!(highest.is_finite(), "body {body} is lost");
}
