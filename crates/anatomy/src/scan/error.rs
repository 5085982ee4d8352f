//! Why a scan is refused.

/// Why there is no registered body.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The file cannot be read.
    #[error(transparent)]
    Format(#[from] supple_rig::formats::FormatError),
    /// Too little to see a body in.
    #[error("the scan has {count} usable points; a body needs at least {least}")]
    TooFewPoints {
        /// Finite points that are neither floor nor stray.
        count: usize,
        /// Least number.
        least: usize,
    },
    /// Triangles that refer to vertices that are not there.
    #[error("the scan is damaged: {0}")]
    Mesh(#[from] supple_geom::MeshError),
    /// No unit makes it an adult.
    #[error(
        "the scan is {extent:.3} units tall, which is no adult in m, dm, cm, mm, inches or feet; give its unit"
    )]
    NoUnit {
        /// Largest extent in the scan's unit.
        extent: f64,
    },
    /// A child, or something small.
    #[error("the scan is {stature:.2} m tall; the body space holds adults from {least:.2} m")]
    TooSmall {
        /// Stature \[m\].
        stature: f64,
        /// Least stature \[m\].
        least: f64,
    },
    /// Proportions no adult has.
    #[error("the body has the proportions of a child ({what}); the body space holds adults")]
    Child {
        /// What is out of proportion.
        what: String,
    },
    /// Two or more bodies.
    #[error("there seems to be more than one person in the scan; cut it to one")]
    SeveralPeople,
    /// Much that is no body.
    #[error(
        "{percent:.0} % of the scan lies more than {distance:.0} cm off the body; remove furniture, wide clothes or other people"
    )]
    Foreign {
        /// Share of the points \[%\].
        percent: f64,
        /// From how far they count \[cm\].
        distance: f64,
    },
    /// A part of the body is missing.
    #[error("the scan does not show {part} ({percent:.0} % of it is covered)")]
    Missing {
        /// The part.
        part: String,
        /// Its surface that has scan nearby \[%\].
        percent: f64,
    },
    /// A limb of the body that fits best lies where the scan has none of it.
    #[error(
        "{limb} lies more than 2 cm off its scan: the pose may be one that is not searched (sitting, arms crossed or raised); stand with arms off the trunk, or give its joints with landmarks"
    )]
    LostLimb {
        /// The limb.
        limb: String,
    },
    /// No standing person fits.
    #[error("this is not a standing person: {reason}")]
    NotAPerson {
        /// What does not fit.
        reason: String,
    },
    /// A landmark of an unknown name.
    #[error(
        "there is no landmark '{name}'; use a joint of the rig such as wrist.L, or vertex:NUMBER"
    )]
    Landmark {
        /// The name.
        name: String,
    },
}
