//! A skeleton for a mesh that came without one.

use supple_geom::TriMesh;

use crate::formats::Source;
use crate::markers::Markers;
use crate::skeleton::JointKind;
use crate::skeleton_fit::{FitError, fit_humanoid};
use crate::{Character, Skeleton};

/// Whether nothing could move the mesh: it has neither bones nor a motion of its own. Clips of a file may move nothing
/// that is left of it.
pub fn is_bare(character: &Character) -> bool {
    let bones = |joint: &crate::Joint| joint.kind == JointKind::Bone;
    let moves = |clip: &crate::Clip| !(clip.tracks.is_empty() && clip.morphs.is_empty());
    !character.parts.is_empty()
        && !character.clips.iter().any(moves)
        && !character.skeleton.joints().iter().any(bones)
}

/// The mesh of all parts where it is seen, in metres.
pub fn rest_mesh(character: &Character) -> TriMesh {
    TriMesh::merged(&character.bind_meshes())
}

/// The same mesh on another skeleton, without weights, clips or morph targets.
pub fn with_skeleton(character: &Character, skeleton: Skeleton) -> Character {
    let mut rigged = character.clone();
    // Bind space becomes the world's: the mesh lies where it is seen.
    for (part, mesh) in rigged.parts.iter_mut().zip(character.bind_meshes()) {
        part.mesh = mesh;
        part.normals.clear();
        part.binding = Default::default();
        part.morphs.clear();
        part.morph_weights.clear();
    }
    rigged.skeleton = skeleton;
    rigged.file_joints.clear();
    rigged.clips.clear();
    rigged.humanoid = None;
    rigged.source = Source::None;
    rigged
}

/// A bare mesh with a humanoid's skeleton fitted into it.
pub fn fitted(character: &Character, markers: &Markers) -> Result<Character, FitError> {
    let skeleton = fit_humanoid(&rest_mesh(character), markers)?;
    Ok(with_skeleton(character, skeleton))
}
