//! Characters with more vertices: every triangle split into four, the shape kept.

use crate::Character;
use crate::character::{Influences, Morph, Part};
use crate::formats::Source;
use supple_geom::subdivide::{Stencils, midpoint};

/// The same character with every triangle split into four at the middle of its edges. Weights, normals, texture
/// coordinates, colours and morphs are those of the edges' ends, mixed. What a file held beside is left behind.
pub fn subdivided(character: &Character) -> Character {
    Character {
        parts: character.parts.iter().map(subdivided_part).collect(),
        source: Source::None,
        ..character.clone()
    }
}

fn subdivided_part(part: &Part) -> Part {
    let fine = midpoint(&part.mesh);
    let stencils = &fine.stencils;
    let mut binding = part.binding.clone();
    binding.influences = mixed(&part.binding.influences, stencils);
    let unit = |normals: Vec<glam::Vec3>| normals.into_iter().map(|n| n.normalize_or_zero());
    Part {
        normals: unit(carried(stencils, &part.normals)).collect(),
        uvs: carried(stencils, &part.uvs),
        colors: carried(stencils, &part.colors),
        binding,
        morphs: (part.morphs.iter())
            .map(|morph| Morph {
                name: morph.name.clone(),
                positions: carried(stencils, &morph.positions),
                normals: carried(stencils, &morph.normals),
            })
            .collect(),
        name: part.name.clone(),
        morph_weights: part.morph_weights.clone(),
        material: part.material,
        mesh: fine.mesh,
    }
}

/// Values of the new vertices, where the old ones have any.
fn carried<T>(stencils: &Stencils, old: &[T]) -> Vec<T>
where
    T: Copy + Default + std::ops::Add<Output = T> + std::ops::Mul<f32, Output = T>,
{
    match old.is_empty() {
        true => Vec::new(),
        false => stencils.apply(old),
    }
}

fn mixed(old: &Influences, stencils: &Stencils) -> Influences {
    if old.is_empty() {
        return Influences::default();
    }
    let mut new = Influences {
        starts: vec![0],
        ..Influences::default()
    };
    for vertex in 0..stencils.len() {
        let mut sums: Vec<(u32, f32)> = Vec::new();
        for &(from, share) in stencils.row(vertex) {
            for &(slot, weight) in old.of(from as usize) {
                match sums.iter_mut().find(|sum| sum.0 == slot) {
                    Some(sum) => sum.1 += share * weight,
                    None => sums.push((slot, share * weight)),
                }
            }
        }
        new.entries.extend(sums);
        new.starts.push(new.entries.len() as u32);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{ReadOptions, load};

    #[test]
    fn shape_and_weights_stay() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../supple/assets/female.glb");
        let character = load(path.as_ref(), &ReadOptions::default()).unwrap();
        let fine = subdivided(&character);
        let (old, new) = (&character.parts[0], &fine.parts[0]);
        assert_eq!(new.mesh.triangles.len(), 4 * old.mesh.triangles.len());
        assert!((new.mesh.signed_volume() / old.mesh.signed_volume() - 1.0).abs() < 1e-5);
        assert_eq!(new.binding.influences.len(), new.mesh.positions.len());
        for v in 0..new.mesh.positions.len() {
            let sum: f32 = new
                .binding
                .influences
                .of(v)
                .iter()
                .map(|entry| entry.1)
                .sum();
            assert!((sum - 1.0).abs() < 1e-5);
        }
        assert!(new.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3));
    }
}
