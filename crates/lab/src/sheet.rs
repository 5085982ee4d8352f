//! Contact sheets: a character in several frames or by several methods, in one picture.

use glam::Vec3;
use supple_geom::TriMesh;
use supple_picture::{
    BoneStyle, Bounds, Camera, Colour, DrawMesh, Ground, Image, Legend, Lens, Scene, SheetStyle,
    Texture, Tint, contact_sheet, render, skeleton_mesh,
};
use supple_rig::skeleton::JointKind;
use supple_rig::{Character, Pose};
use supple_sim::Collider;

use crate::collider_drawing::{draw_colliders, is_level, shown_bounds};

/// How tiles are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Width and height of a tile \[px\].
    pub size: usize,
    /// Direction from the character to the camera, for a character that faces +Z. It is rotated for humanoids that face elsewhere.
    pub direction: Vec3,
    /// Draw the bones through the skin.
    pub bones: bool,
    /// Joint at the centre of every tile. Default: the whole motion is in the picture.
    pub focus: Option<usize>,
    /// Enlargement. With a focus, at 1 a tile is as high as the character.
    pub zoom: f32,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            size: 420,
            direction: Vec3::new(0.45, 0.12, 1.0),
            bones: false,
            focus: None,
            zoom: 1.0,
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
    /// Colours of every part. They are laid over textures, and replace other materials.
    pub tints: Option<Vec<Tint>>,
    /// Legend of the colours.
    pub legend: Option<Legend>,
    /// Ground and colliders.
    pub colliders: &'a [Collider],
}

/// Share of its height that a character walks in a sheet from which the camera goes along. Steps and jumps in place are seen as such; somebody
/// who crosses a room would be tiny in every tile.
const WALK: f32 = 1.0;

/// Draws tiles, all from the same side and at the same scale, so that sizes can be compared.
pub fn sheet(
    character: &Character,
    title: &str,
    tiles: &[Tile],
    columns: usize,
    look: &Look,
) -> Image {
    let textures = textures(character);
    let direction = character.facing() * look.direction;
    let walked = walked(character, tiles);
    let common = zoomed(
        common_camera(character, tiles, &walked, direction),
        look.zoom,
    );
    let pictures: Vec<(Image, String)> = (tiles.iter().zip(&walked))
        .map(|(tile, &walked)| {
            let along = Camera {
                eye: common.eye + walked,
                target: common.target + walked,
                ..common
            };
            let camera = focused(character, tile, direction, look).unwrap_or(along);
            let picture = draw(character, &textures, tile, &camera, look);
            (picture, tile.caption.clone())
        })
        .collect();
    contact_sheet(title, &pictures, columns, &SheetStyle::default())
}

/// Draws one tile by itself, without its caption.
pub fn picture(character: &Character, tile: &Tile, look: &Look) -> Image {
    let camera = common_camera(
        character,
        std::slice::from_ref(tile),
        &[Vec3::ZERO],
        character.facing() * look.direction,
    );
    draw(character, &textures(character), tile, &camera, look)
}

/// How far the character has walked in each tile since the first \[m\]; zero in all of them if it stays where it is, or with something that it
/// walks towards.
fn walked(character: &Character, tiles: &[Tile]) -> Vec<Vec3> {
    let none = || vec![Vec3::ZERO; tiles.len()];
    let place = |tile: &Tile| -> Option<Vec3> {
        let worlds = tile.pose?.worlds(&character.skeleton);
        let sum: Vec3 = worlds.iter().map(|w| Vec3::from(w.translation)).sum();
        let alone = tile.colliders.iter().all(is_level) && !worlds.is_empty();
        alone.then(|| (sum / worlds.len() as f32).with_y(0.0))
    };
    let Some(places) = tiles.iter().map(place).collect::<Option<Vec<Vec3>>>() else {
        return none();
    };
    let walked: Vec<Vec3> = places.iter().map(|place| place - places[0]).collect();
    match walked
        .iter()
        .any(|w| w.length() > WALK * character.height())
    {
        true => walked,
        false => none(),
    }
}

/// A camera for all tiles, each moved back by how far it has walked.
fn common_camera(
    character: &Character,
    tiles: &[Tile],
    walked: &[Vec3],
    direction: Vec3,
) -> Camera {
    let each = tiles.iter().zip(walked);
    let bounds = each.fold(Bounds::EMPTY, |bounds, (tile, &walked)| {
        let shown = shown_bounds(bounds_of(character, tile), tile.colliders);
        bounds.union(Bounds::of(&[shown.min - walked, shown.max - walked]))
    });
    Camera::frame(bounds, direction, 1.0)
}

/// A camera at the joint in focus.
fn focused(character: &Character, tile: &Tile, direction: Vec3, look: &Look) -> Option<Camera> {
    let world = *tile.pose?.worlds(&character.skeleton).get(look.focus?)?;
    let centre = Vec3::from(world.translation);
    let half = Vec3::splat(0.5 * character.height());
    let around = [centre - half, centre + half];
    let mut camera = zoomed(
        Camera::frame(Bounds::of(&around), direction, 1.0),
        look.zoom,
    );
    camera.eye += centre - camera.target;
    camera.target = centre;
    Some(camera)
}

/// The same view with a narrower lens.
fn zoomed(camera: Camera, zoom: f32) -> Camera {
    let lens = match camera.lens {
        Lens::Perspective { fov_y } => Lens::Perspective {
            fov_y: 2.0 * ((0.5 * fov_y).tan() / zoom).atan(),
        },
        Lens::Orthographic { height } => Lens::Orthographic {
            height: height / zoom,
        },
    };
    Camera { lens, ..camera }
}

/// How far skin may leave the box of its linear blend and still be framed, relative to the box's diagonal. Bulges and capes stay within;
/// a vertex that a simulation has lost would make the body tiny.
const LOST: f32 = 0.25;

fn bounds_of(character: &Character, tile: &Tile) -> Bounds {
    let all = Bounds::of(tile.positions.iter().flatten());
    let Some(pose) = tile.pose.filter(|_| !character.skeleton.is_empty()) else {
        return all;
    };
    let blended = character.skin(pose, supple_rig::skinning::Method::Lbs);
    let blended = Bounds::of(blended.iter().flat_map(|part| &part.positions));
    let room = Vec3::splat(LOST * (blended.max - blended.min).length());
    let (low, high) = (
        all.min.max(blended.min - room),
        all.max.min(blended.max + room),
    );
    match low.is_finite() && high.is_finite() && low.cmple(high).all() {
        true => Bounds::of(&[low, high]),
        false => all,
    }
}

/// A surface of one colour with a tint laid over it.
fn over(under: Vec3, tint: &Tint) -> Vec<Vec3> {
    let strengths = tint.strengths.iter().chain(std::iter::repeat(&0.0));
    (tint.colours.iter().zip(strengths))
        .map(|(&colour, &strength)| under.lerp(colour, strength))
        .collect()
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
        let own = own_look(character, textures, index).unwrap_or_default();
        let tint = tile.tints.as_ref().and_then(|tints| tints.get(index));
        scene.meshes.push(match (tint, own) {
            (Some(tint), own @ Colour::Textured { .. }) => DrawMesh {
                tint: Some(tint.clone()),
                ..mesh.coloured(own)
            },
            (Some(tint), Colour::Uniform(under)) if tint.strengths.iter().any(|&s| s < 1.0) => {
                mesh.coloured(over(under, tint))
            }
            (Some(tint), _) => mesh.coloured(tint.colours.clone()),
            (None, own) => mesh.coloured(own),
        });
    }
    // Colliders are translucent where colours show skin inside them.
    let opacity = if tile.tints.is_some() { 0.5 } else { 1.0 };
    let bounds = bounds_of(character, tile);
    draw_colliders(&mut scene, tile.colliders, bounds, opacity);
    if let (true, Some(pose)) = (look.bones, tile.pose) {
        scene.meshes.push(bones(character, pose));
    }
    render(&scene, camera, look.size, look.size)
}

/// Texture or colour of a part's material; `None` if it has neither.
pub(crate) fn own_look<'a>(
    character: &'a Character,
    textures: &'a [Option<Texture>],
    part: usize,
) -> Option<Colour<'a>> {
    let part = &character.parts[part];
    let material = part
        .material
        .and_then(|index| Some((character.materials.get(index)?, textures.get(index)?)));
    match material? {
        (_, Some(texture)) if part.uvs.len() == part.mesh.positions.len() => {
            Some(Colour::Textured {
                uvs: (&part.uvs[..]).into(),
                texture,
                alpha_cutoff: 0.5,
            })
        }
        (material, _) => {
            let colour = material.base_color.truncate();
            let colour = (colour != Vec3::ONE).then(|| supple_picture::colour::to_srgb(colour));
            colour.map(Colour::Uniform)
        }
    }
}

/// Parts whose images cannot be decoded are drawn as clay.
pub(crate) fn textures(character: &Character) -> Vec<Option<Texture>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use supple::embedded::{Body, body};

    /// Tiles of somebody who has gone this far [m], drawn as far from the middle as they are.
    fn offsets(metres: f32) -> Vec<Vec3> {
        let character = body(Body::Male).unwrap();
        let poses = [0.0, 0.5, 1.0].map(|share| {
            let mut pose = Pose::rest(&character.skeleton);
            pose.locals[0].translation += Vec3::new(metres * share, 0.3 * share, 0.0);
            pose
        });
        let tiles = poses.each_ref().map(|pose| Tile {
            pose: Some(pose),
            ..Tile::default()
        });
        walked(&character, &tiles)
    }

    /// A lost vertex does not make the body tiny, and colours without a texture stay.
    #[test]
    fn the_body_fills_the_picture_in_its_colours() {
        let mut character = body(Body::Male).unwrap();
        for part in &mut character.parts {
            part.material = None;
        }
        let pose = Pose::rest(&character.skeleton);
        let skin = character.skin(&pose, supple_rig::skinning::Method::Lbs);
        let sane: Vec<Vec<Vec3>> = skin.into_iter().map(|part| part.positions).collect();
        let mut lost = sane.clone();
        lost[0][0] = Vec3::splat(100.0);
        let bounds = |positions: &[Vec<Vec3>]| {
            let tile = Tile {
                positions,
                pose: Some(&pose),
                ..Tile::default()
            };
            bounds_of(&character, &tile)
        };
        let (own, kept) = (bounds(&sane), bounds(&lost));
        assert!((kept.max - kept.min).length() < 1.6 * (own.max - own.min).length());
        let tint = Tint {
            colours: vec![Vec3::X, Vec3::X],
            strengths: vec![0.0, 1.0],
        };
        assert_eq!(over(Vec3::Y, &tint), [Vec3::Y, Vec3::X]);
    }

    #[test]
    fn the_camera_goes_along_with_who_walks_away() {
        assert_eq!(offsets(0.8), [Vec3::ZERO; 3]);
        for (offset, wanted) in offsets(6.0).into_iter().zip([0.0, 3.0, 6.0]) {
            assert!(
                offset.distance(Vec3::new(wanted, 0.0, 0.0)) < 1e-4,
                "{offset}"
            );
        }
    }
}
