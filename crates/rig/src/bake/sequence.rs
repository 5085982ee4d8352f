//! Mesh sequences: one mesh file per frame.

use super::{BakeError, Motion};
use crate::Character;
use crate::character::Binding;

/// Calls `write` for each frame with the character as a bare mesh in world space.
///
/// The caller chooses the mesh format (OBJ, PLY) and the file names. Normals are left out, because those of
/// the rest shape do not apply.
pub fn sequence<E: From<BakeError>>(
    character: &Character,
    motion: &Motion,
    mut write: impl FnMut(usize, &Character) -> Result<(), E>,
) -> Result<(), E> {
    motion.check(character)?;
    let mut still = Character {
        name: character.name.clone(),
        parts: character.parts.clone(),
        materials: character.materials.clone(),
        ..Character::default()
    };
    for part in &mut still.parts {
        part.binding = Binding::default();
        part.normals.clear();
        part.morphs.clear();
        part.morph_weights.clear();
    }
    for (index, frame) in motion.frames.iter().enumerate() {
        for (part, positions) in still.parts.iter_mut().zip(frame.iter()) {
            part.mesh.positions.clone_from(positions);
        }
        write(index, &still)?;
    }
    Ok(())
}
