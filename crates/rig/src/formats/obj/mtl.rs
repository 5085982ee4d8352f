//! MTL: colours and textures of an OBJ's materials.

use std::collections::HashMap;

use glam::Vec4;

use super::super::checks::note;
use super::super::load::Resolver;
use super::super::text::{Words, lossy, parse_number};
use crate::Character;
use crate::character::Material;

/// Adds the used materials to the character; returns the material index of each name in `used`. Materials that cannot be read are
/// reported and become white.
pub(super) fn read_materials(
    character: &mut Character,
    libraries: &[String],
    used: &[&str],
    resolve: Resolver,
) -> Vec<Option<usize>> {
    let mut known: HashMap<String, Material> = HashMap::new();
    // A library may be listed several times; it is read once.
    let mut seen = std::collections::HashSet::new();
    for library in libraries
        .iter()
        .filter(|library| seen.insert(library.as_str()))
    {
        match resolve(library) {
            Ok(bytes) => parse_mtl(&bytes, resolve, &mut known),
            Err(_) => note(
                character,
                format!(
                    "The material library '{library}' cannot be read. Its materials are shown white."
                ),
            ),
        }
    }
    let mut index: HashMap<&str, usize> = HashMap::new();
    used.iter()
        .map(|&name| {
            if name.is_empty() {
                return None;
            }
            let next = character.materials.len();
            let found = *index.entry(name).or_insert(next);
            if found == next {
                let material = known.get(name).cloned();
                character
                    .materials
                    .push(material.unwrap_or_else(|| white(name)));
            }
            Some(found)
        })
        .collect()
}

fn white(name: &str) -> Material {
    Material {
        name: name.to_owned(),
        base_color: Vec4::ONE,
        base_color_image: None,
        double_sided: false,
    }
}

fn parse_mtl(bytes: &[u8], resolve: Resolver, known: &mut HashMap<String, Material>) {
    let mut words = Words::new(bytes, Some(b'#'));
    let mut current: Option<Material> = None;
    while let Some(key) = words.next_word() {
        let line = words.rest_of_line();
        if key == b"newmtl" {
            if let Some(done) = current.replace(white(&lossy(line))) {
                known.insert(done.name.clone(), done);
            }
            continue;
        }
        let Some(material) = &mut current else {
            continue;
        };
        let numbers: Vec<f32> = line
            .split(|byte| byte.is_ascii_whitespace())
            .take(4)
            .filter_map(|word| parse_number(word).map(|value| value as f32))
            .filter(|value| value.is_finite())
            .collect();
        match (key, numbers.as_slice()) {
            (b"Kd", &[r, g, b, ..]) => {
                material.base_color = Vec4::new(r, g, b, material.base_color.w);
            }
            (b"d", &[opacity, ..]) => material.base_color.w = opacity,
            (b"Tr", &[transparency, ..]) => material.base_color.w = 1.0 - transparency,
            (b"map_Kd", _) => {
                // Options precede the file name; names with spaces are tried first.
                let last = line.rsplit(|byte| byte.is_ascii_whitespace()).next();
                let names = [Some(line), last];
                let image = names
                    .into_iter()
                    .flatten()
                    .find_map(|name| resolve(&lossy(name)).ok());
                material.base_color_image = image.filter(|image| is_image(image)).map(Into::into);
            }
            _ => {}
        }
    }
    if let Some(done) = current {
        known.insert(done.name.clone(), done);
    }
}

/// Whether it is PNG or JPEG, by its first bytes.
fn is_image(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG") || bytes.starts_with(b"\xFF\xD8\xFF")
}
