//! Base colours and their textures.

use glam::Vec4;

use super::super::load::Resolver;
use crate::Character;
use crate::character::Material;

/// Adds all materials in scene order; textures that cannot be read are left out.
pub(super) fn read_materials(scene: &ufbx::Scene, resolve: Resolver, character: &mut Character) {
    for material in &scene.materials {
        let pbr = &material.pbr.base_color;
        let fbx = &material.fbx.diffuse_color;
        let map = if pbr.has_value || pbr.texture.is_some() {
            pbr
        } else {
            fbx
        };
        let value = map.value_vec4;
        let mut color = Vec4::new(value.x as f32, value.y as f32, value.z as f32, 1.0);
        if !map.has_value || !color.is_finite() {
            color = Vec4::ONE;
        }
        let textures = [&pbr.texture, &fbx.texture];
        let image = textures
            .into_iter()
            .flatten()
            .find_map(|texture| image(texture, resolve));
        if image.is_some() {
            color = Vec4::ONE;
        }
        character.materials.push(Material {
            name: material.element.name.to_string(),
            base_color: color,
            base_color_image: image.map(Into::into),
            double_sided: material.features.double_sided.enabled,
        });
    }
}

/// The embedded image, or else a file of that name beside the FBX.
fn image(texture: &ufbx::Texture, resolve: Resolver) -> Option<Vec<u8>> {
    let embedded = texture.content.to_vec();
    let is_image =
        |bytes: &Vec<u8>| bytes.starts_with(b"\x89PNG") || bytes.starts_with(b"\xFF\xD8\xFF");
    if is_image(&embedded) {
        return Some(embedded);
    }
    let path: &str = &texture.relative_filename;
    let name = path
        .rsplit(['/', '\\'])
        .next()
        .filter(|name| !name.is_empty())?;
    [path, name]
        .into_iter()
        .find_map(|name| resolve(name).ok())
        .filter(is_image)
}
