//! Bones: named closed meshes.

use supple_geom::TriMesh;

/// One bone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bone {
    /// Name with its side: `femur_l`, `rib03_r`, `sacrum`.
    pub name: String,
    /// Its surface \[m\].
    pub mesh: TriMesh,
}
