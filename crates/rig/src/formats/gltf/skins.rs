//! Skins: joints and inverse bind matrices.

use glam::Affine3A;

use super::accessor::Accessors;
use super::document::Document;
use crate::formats::FormatError;

/// One skin of the file.
pub(super) struct Skin {
    /// Nodes, in slot order.
    pub joints: Vec<usize>,
    /// `joint_from_bind` of each slot; identity if the file has none.
    pub inverse_binds: Vec<Affine3A>,
}

pub(super) fn read_skins(
    document: &Document,
    accessors: &Accessors<'_>,
) -> Result<Vec<Skin>, FormatError> {
    let mut skins = Vec::new();
    for skin in document.root().items("skins")? {
        let joints = skin.indices("joints", document.count("nodes"))?;
        let inverse_binds = match skin.optional_index("inverseBindMatrices", accessors.len())? {
            None => vec![Affine3A::IDENTITY; joints.len()],
            Some(index) => {
                let matrices = accessors.matrices(index)?;
                if matrices.len() < joints.len() {
                    let reason = format!(
                        "has {} joints but {} inverse bind matrices",
                        joints.len(),
                        matrices.len()
                    );
                    return Err(skin.invalid(reason));
                }
                if matrices.iter().any(|matrix| !matrix.is_finite()) {
                    return Err(FormatError::NotFinite {
                        element: format!("{} (inverse bind matrices)", accessors.path(index)),
                    });
                }
                let affine = matrices.into_iter().map(Affine3A::from_mat4);
                affine.take(joints.len()).collect()
            }
        };
        skins.push(Skin {
            joints,
            inverse_binds,
        });
    }
    Ok(skins)
}
