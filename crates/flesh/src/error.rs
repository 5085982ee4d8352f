//! Errors of tissue construction.

/// Why a tissue could not be built or posed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleshError {
    /// The file holds a mesh but no joint.
    #[error(
        "`{name}` has no skeleton. Tissue is built between skin and bones: use a rigged glTF, VRM or FBX, or put a .skel file beside the mesh"
    )]
    NoSkeleton {
        /// The character.
        name: String,
    },
    /// The file holds joints but no triangle.
    #[error("`{name}` has no triangles, so there is no skin to build tissue under")]
    NoSkin {
        /// The character.
        name: String,
    },
    /// A few distant vertices make the rest of the mesh collapse when it is welded.
    #[error(
        "`{name}`: every triangle is smaller than 1/100,000 of the mesh's extent of {size} m. Some vertex is far away from the rest; remove it"
    )]
    Scattered {
        /// The character.
        name: String,
        /// Largest side of its bounding box \[m\].
        size: f64,
    },
    /// No shell has the role of flesh.
    #[error(
        "no shell of `{name}` is flesh: all {shells} are cloth, rigid or hair. Set one to \"flesh\" under [shells] in the settings"
    )]
    NoFlesh {
        /// The character.
        name: String,
        /// Number of shells.
        shells: usize,
    },
    /// A mesh or joint with invalid indices or numbers.
    #[error("part `{part}` cannot be used: {reason}")]
    BadPart {
        /// Which part.
        part: String,
        /// What is wrong.
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
    /// Posed positions whose number does not match the part's vertices.
    #[error("part {part} was given {given} posed vertices, but it has {expected}")]
    SkinSize {
        /// Which part.
        part: usize,
        /// Vertices given.
        given: usize,
        /// Vertices of the part.
        expected: usize,
    },
    /// Settings that cannot be read, or that name something the character does not have.
    #[error("settings: {0}")]
    Settings(String),
    /// Settings that name a joint the skeleton does not have.
    #[error("settings: {what} names joint `{name}`, which the skeleton does not have")]
    NoSuchJoint {
        /// Where it is named.
        what: String,
        /// The name.
        name: String,
    },
    /// Settings that name a shell the character does not have.
    #[error("settings: a kind is set for shell `{key}`, but no shell has that name or number")]
    NoSuchShell {
        /// The name.
        key: String,
    },
    /// Inner surfaces that do not fit the character.
    #[error("the layers of the body cannot be used: {0}")]
    Layers(String),
    /// The solver rejected the tissue's model.
    #[error("the solver rejected the tissue's model: {0}")]
    Model(#[source] supple_sim::BuildError),
}
