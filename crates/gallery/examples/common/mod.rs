//! Shared code of the examples: small scenes, tissue in equilibrium, drawings.
#![allow(dead_code, unused_imports, reason = "every example uses a part of it")]

pub mod bend;
mod cut;
pub mod growing;
pub mod harmonic;
pub mod people;
mod scenes;
mod tissue;
pub mod touch;
pub mod walk;

pub use cut::{cut_away, kept};
pub use scenes::{Limb, arm, arm_settings, blob, character, coarse_arm, dots, rod, tube};
pub use tissue::{
    bone_surface, build, drive, edge_stretches, settle, settle_by, skin, surface, turn, turned,
    volumetric_skeleton,
};

use std::path::PathBuf;

use supple::glam::Vec3;
use supple_picture::{
    Camera, DrawMesh, Image, Lens, Line, Scene, SheetStyle, contact_sheet, hex, render,
};

/// Colour of bones.
pub const BONE: Vec3 = hex(0xf2efe6);

/// Colour of the bone surface.
pub const RED: Vec3 = hex(0xcf4a3f);

/// Colour of marks.
pub const BLUE: Vec3 = hex(0x2f7fbf);

/// Colour of tissue where it is cut.
pub const FLESH: Vec3 = hex(0xf5b0a2);

/// Width and height of a tile [px].
pub const TILE: (usize, usize) = (310, 310);

/// Writes a picture to the folder given as the first argument, or to `docs/gallery`.
pub fn save(name: &str, picture: &Image) {
    let folder = std::env::args_os().nth(1).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gallery")),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.png"));
    picture.save_png(&path).unwrap();
    println!("wrote {}", path.display());
}

/// Tiles in rows with captions.
pub fn sheet(title: &str, tiles: &[(Image, String)], columns: usize) -> Image {
    contact_sheet(title, tiles, columns, &SheetStyle::default())
}

/// Pictures stacked vertically.
pub fn stack(pictures: &[Image]) -> Image {
    let width = pictures.iter().map(|p| p.width).max().unwrap_or(0);
    let height = pictures.iter().map(|p| p.height).sum();
    let mut all = Image::new(width, height, SheetStyle::default().paper);
    let mut y = 0;
    for picture in pictures {
        all.blit(picture, 0, y);
        y += picture.height as i64;
    }
    all
}

/// An orthographic camera that fits points.
pub fn view(points: &[Vec3], direction: Vec3) -> Camera {
    view_in(TILE, points, direction)
}

/// The same for a tile of another size.
pub fn view_in(size: (usize, usize), points: &[Vec3], direction: Vec3) -> Camera {
    let lens = Lens::Orthographic { height: 1.0 };
    Camera::fit(points, direction, size.0 as f32 / size.1 as f32, lens, 0.9)
}

/// Draws meshes and lines into a tile.
pub fn tile(meshes: Vec<DrawMesh<'static>>, lines: Vec<Line>, camera: &Camera) -> Image {
    tile_in(TILE, meshes, lines, camera)
}

/// The same in a tile of another size.
pub fn tile_in(
    size: (usize, usize),
    meshes: Vec<DrawMesh<'static>>,
    lines: Vec<Line>,
    camera: &Camera,
) -> Image {
    let scene = Scene {
        meshes,
        lines,
        ..Scene::default()
    };
    render(&scene, camera, size.0, size.1)
}
