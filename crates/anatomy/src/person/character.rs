//! A person as a character that moves: skin and eyes on the rig. What lies inside is no part of it; the tissue is built of the
//! layers instead.

use std::collections::BTreeMap;

use glam::Vec4;
use supple_geom::TriMesh;
use supple_rig::character::{Binding, Influences, Material, Part};
use supple_rig::{Character, Skeleton};

use super::Person;
use crate::template::{LayeredBody, Weights};

/// Skin and eyes_and_tongue, linear RGBA.
const COLOURS: [(&str, Vec4); 4] = [
    ("skin", Vec4::new(0.73, 0.45, 0.33, 1.0)),
    ("eyes", Vec4::new(0.89, 0.85, 0.81, 1.0)),
    ("irises", Vec4::new(0.05, 0.03, 0.02, 1.0)),
    ("tongue", Vec4::new(0.42, 0.12, 0.11, 1.0)),
];

impl Person {
    /// The character: part 0 is the skin, whose vertices are those of [`Layers::skin`](crate::Layers); eyes and tongue follow.
    pub fn character(&self) -> Character {
        let mut character = skin_character(&self.body);
        for (number, eyes) in self.eyes_and_tongue.split().into_iter().enumerate() {
            if !eyes.mesh.triangles.is_empty() {
                let skeleton = &self.body.body.skeleton;
                let made = part(number + 1, eyes.mesh, skeleton, &eyes.influences);
                character.parts.push(made);
            }
        }
        character
    }
}

/// The skin of a layered body as a character of one part, whose vertices are those of its layers.
pub fn skin_character(anatomy: &LayeredBody) -> Character {
    let body = &anatomy.body;
    Character {
        name: anatomy.name.clone(),
        skeleton: body.skeleton.clone(),
        parts: vec![part(0, body.mesh.clone(), &body.skeleton, &body.influences)],
        materials: (COLOURS.iter())
            .map(|&(name, base_color)| Material {
                name: name.to_owned(),
                base_color,
                base_color_image: None,
                double_sided: false,
            })
            .collect(),
        about: BTreeMap::from([("provenance".to_owned(), anatomy.provenance.clone())]),
        ..Character::default()
    }
}

fn part(number: usize, mesh: TriMesh, skeleton: &Skeleton, weights: &[Weights]) -> Part {
    let worlds = skeleton.rest_worlds();
    let mut influences = Influences {
        starts: vec![0],
        entries: Vec::new(),
    };
    for row in weights {
        influences.entries.extend(row);
        influences.starts.push(influences.entries.len() as u32);
    }
    Part {
        name: COLOURS[number].0.to_owned(),
        normals: supple_geom::normals::vertex_normals(&mesh),
        mesh,
        binding: Binding {
            joints: (0..skeleton.len()).collect(),
            inverse_binds: worlds.iter().map(|world| world.inverse()).collect(),
            influences,
            computed: false,
        },
        material: Some(number),
        ..Part::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::person::example::example_person;

    #[test]
    fn the_skin_is_the_layers_skin_and_rests_in_its_bind_pose() {
        let person = example_person();
        let character = person.character();
        assert_eq!(character.parts.len(), 3);
        assert_eq!(character.parts[0].mesh.positions, person.layers().skin);
        let rest = character.skeleton.rest_worlds();
        let (low, high) = character.bounds().unwrap();
        assert!((high.y - low.y - 0.2).abs() < 1e-5, "{low} {high} {rest:?}");
    }
}
