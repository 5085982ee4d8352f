//! Contact sheets: a character in several frames or by several methods, in one picture.

use glam::Vec3;
use supple_geom::TriMesh;
use supple_picture::{
    BoneStyle, Bounds, Camera, Colour, DrawMesh, Ground, Image, Legend, Scene, SheetStyle, Texture,
    contact_sheet, render, skeleton_mesh,
};
use supple_rig::skeleton::JointKind;
use supple_rig::{Character, Pose};
use supple_sim::Collider;

use crate::collider_drawing::{draw_colliders, shown_bounds};

/// How tiles are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Width and height of a tile \[px\].
    pub size: usize,
    /// Direction from the character to the camera, for a character that faces +Z. It is rotated for humanoids that face elsewhere.
    pub direction: Vec3,
    /// Draw the bones through the skin.
    pub bones: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            size: 420,
            direction: Vec3::new(0.45, 0.12, 1.0),
            bones: false,
        }
    }
}

/// One picture of a sheet.
#[derive(Clone, Debug, Default)]
pub struct Tile<'a> {
    /// Text below it.
    pub caption: String,
    /// World positions of every part's vertices.
    pub positions: &'a [Vec<Vec3>],
    /// The pose, to draw bones.
    pub pose: Option<&'a Pose>,
    /// A colour per vertex of every part, instead of the character's materials.
    pub colours: Option<Vec<Vec<Vec3>>>,
    /// Legend of the colours.
    pub legend: Option<Legend>,
    /// Ground and colliders.
    pub colliders: &'a [Collider],
}

/// Draws tiles, all with the same camera, so that sizes can be compared.
pub fn sheet(
    character: &Character,
    title: &str,
    tiles: &[Tile],
    columns: usize,
    look: &Look,
) -> Image {
    let textures = textures(character);
    let camera = common_camera(tiles, character.facing() * look.direction);
    let pictures: Vec<(Image, String)> = tiles
        .iter()
        .map(|tile| {
            (
                draw(character, &textures, tile, &camera, look),
                tile.caption.clone(),
            )
        })
        .collect();
    contact_sheet(title, &pictures, columns, &SheetStyle::default())
}

/// Draws one tile by itself, without its caption.
pub fn picture(character: &Character, tile: &Tile, look: &Look) -> Image {
    let camera = common_camera(
        std::slice::from_ref(tile),
        character.facing() * look.direction,
    );
    draw(character, &textures(character), tile, &camera, look)
}

fn common_camera(tiles: &[Tile], direction: Vec3) -> Camera {
    let bounds = tiles.iter().fold(Bounds::EMPTY, |bounds, tile| {
        bounds.union(shown_bounds(bounds_of(tile), tile.colliders))
    });
    Camera::frame(bounds, direction, 1.0)
}

fn bounds_of(tile: &Tile) -> Bounds {
    Bounds::of(tile.positions.iter().flatten())
}

fn draw(
    character: &Character,
    textures: &[Option<Texture>],
    tile: &Tile,
    camera: &Camera,
    look: &Look,
) -> Image {
    let mut scene = Scene {
        ground: Some(Ground::default()),
        legend: tile.legend.clone(),
        ..Scene::default()
    };
    for (index, (part, positions)) in character.parts.iter().zip(tile.positions).enumerate() {
        let mesh = DrawMesh::owned(TriMesh {
            positions: positions.clone(),
            triangles: part.mesh.triangles.clone(),
        });
        let colour = match &tile.colours {
            Some(colours) => Colour::Vertices(colours.get(index).cloned().unwrap_or_default()),
            None => own_look(character, textures, index),
        };
        scene.meshes.push(mesh.coloured(colour));
    }
    // Colliders are translucent where colours show skin inside them.
    let opacity = if tile.colours.is_some() { 0.5 } else { 1.0 };
    draw_colliders(&mut scene, tile.colliders, bounds_of(tile), opacity);
    if let (true, Some(pose)) = (look.bones, tile.pose) {
        scene.meshes.push(bones(character, pose));
    }
    render(&scene, camera, look.size, look.size)
}

fn own_look<'a>(
    character: &'a Character,
    textures: &'a [Option<Texture>],
    part: usize,
) -> Colour<'a> {
    let part = &character.parts[part];
    let material = part
        .material
        .and_then(|index| Some((character.materials.get(index)?, textures.get(index)?)));
    match material {
        Some((_, Some(texture))) if part.uvs.len() == part.mesh.positions.len() => {
            Colour::Textured {
                uvs: (&part.uvs[..]).into(),
                texture,
                alpha_cutoff: 0.5,
            }
        }
        Some((material, _)) if material.base_color.truncate() != Vec3::ONE => Colour::Uniform(
            supple_picture::colour::to_srgb(material.base_color.truncate()),
        ),
        _ => Colour::default(),
    }
}

/// Parts whose images cannot be decoded are drawn as clay.
fn textures(character: &Character) -> Vec<Option<Texture>> {
    let decode = |bytes: &[u8]| Image::decode(bytes).ok().map(|image| Texture::new(&image));
    (character.materials.iter())
        .map(|material| material.base_color_image.as_deref().and_then(decode))
        .collect()
}

fn bones(character: &Character, pose: &Pose) -> DrawMesh<'static> {
    let worlds = pose.worlds(&character.skeleton);
    let joints: Vec<Vec3> = worlds
        .iter()
        .map(|world| world.translation.into())
        .collect();
    let parents: Vec<Option<usize>> = (character.skeleton.joints().iter())
        .map(|joint| match joint.kind {
            JointKind::Bone => joint
                .parent
                .filter(|&p| character.skeleton.joints()[p].kind == JointKind::Bone),
            JointKind::Helper => None,
        })
        .collect();
    skeleton_mesh(&joints, &parents, &BoneStyle::default())
}
