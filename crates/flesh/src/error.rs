//! Why a character cannot become tissue.

/// Everything that can stop the construction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleshError {
    /// The file holds a mesh but no joint.
    #[error(
        "`{name}` has no skeleton: tissue grows between skin and bones. Give it joints (a rigged glTF, VRM or FBX, or a .skel file beside the mesh)"
    )]
    NoSkeleton {
        /// The character.
        name: String,
    },
    /// The file holds joints but no triangle.
    #[error("`{name}` has no triangles: there is no skin to fill")]
    NoSkin {
        /// The character.
        name: String,
    },
    /// Some vertices are so far away that the rest is a point beside them.
    #[error(
        "`{name}`: every triangle is smaller than a hundred-thousandth of its extent of {size} m: some vertex lies far away from the rest"
    )]
    Scattered {
        /// The character.
        name: String,
        /// Largest side of its bounding box \[m\].
        size: f64,
    },
    /// Every shell was given another role than flesh.
    #[error(
        "no shell of `{name}` is flesh: {shells} shells are all bound or rigid; set one to \"flesh\" in the settings"
    )]
    NoFlesh {
        /// The character.
        name: String,
        /// How many shells there are.
        shells: usize,
    },
    /// A mesh whose indices or numbers cannot be used.
    #[error("part `{part}` cannot be used: {reason}")]
    BadPart {
        /// Which part.
        part: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A pose made for another skeleton.
    #[error("the pose has {given} joints, but the skeleton has {expected}")]
    PoseSize {
        /// Joints of the pose.
        given: usize,
        /// Joints of the skeleton.
        expected: usize,
    },
    /// Posed positions that do not fit the character's parts.
    #[error("part {part} has {given} posed vertices, but {expected} are needed")]
    SkinSize {
        /// Which part.
        part: usize,
        /// Vertices given.
        given: usize,
        /// Vertices of the part.
        expected: usize,
    },
    /// Settings that cannot be read or name things that are not there.
    #[error("settings: {0}")]
    Settings(String),
    /// The solver's model refused what was built.
    #[error("the tissue could not be made into a model: {0}")]
    Model(#[source] supple_sim::BuildError),
}
