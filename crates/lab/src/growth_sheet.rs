//! Pictures of growing bodies: one column a body, from three sides.

use glam::Vec3;
use supple_geom::TriMesh;
use supple_picture::{
    Bounds, Camera, DrawMesh, Ground, Image, Lens, Scene, SheetStyle, contact_sheet, hex, render,
};

const SKIN: Vec3 = hex(0xdeb39c);
const EYE: Vec3 = hex(0xf2eee8);
/// Sides that bodies are drawn from: a name and the direction to the eye.
const SIDES: [(&str, Vec3); 3] = [
    ("front", Vec3::new(0.0, 0.03, 1.0)),
    ("side", Vec3::new(1.0, 0.03, 0.15)),
    ("back", Vec3::new(0.0, 0.03, -1.0)),
];
/// Angle of view \[rad\].
const ANGLE: f32 = 0.3;
/// Height of a tile over its width.
const HEIGHT_SHARE: f32 = 1.5;

/// A body of a sheet.
pub struct Column {
    /// What it is.
    pub caption: String,
    /// Its skin \[m\].
    pub skin: TriMesh,
    /// Its eyes and whatever else is not skin \[m\].
    pub others: Vec<TriMesh>,
}

/// Bodies side by side, all at one scale. `size` is the width of a tile \[px\].
pub fn growth_sheet(title: &str, columns: &[Column], size: usize) -> Image {
    growth_rows(title, columns, &SIDES.map(|(_, direction)| direction), size)
}

/// The same from any directions, a row each.
pub fn growth_rows(title: &str, columns: &[Column], sides: &[Vec3], size: usize) -> Image {
    let all: Vec<Vec3> = (columns.iter())
        .flat_map(|column| column.skin.positions.iter().copied())
        .collect();
    let height = (HEIGHT_SHARE * size as f32) as usize;
    let lens = Lens::Perspective { fov_y: ANGLE };
    let mut tiles = Vec::new();
    for (row, direction) in sides.iter().enumerate() {
        let camera = Camera::fit(&all, *direction, size as f32 / height as f32, lens, 0.95);
        for column in columns {
            let skin = DrawMesh::new(&column.skin).coloured(SKIN);
            let others = column.others.iter();
            let others = others.map(|mesh| DrawMesh::new(mesh).coloured(EYE));
            let scene = Scene {
                meshes: std::iter::once(skin).chain(others).collect(),
                ground: Some(Ground {
                    height: Some(Bounds::of(&column.skin.positions).min.y),
                    ..Ground::default()
                }),
                ..Scene::default()
            };
            let image = render(&scene, &camera, size, height);
            let is_last = row + 1 == sides.len();
            let caption = if is_last { &column.caption[..] } else { "" };
            tiles.push((image, caption.to_owned()));
        }
    }
    contact_sheet(title, &tiles, columns.len(), &SheetStyle::default())
}
