//! Errors shown on the page. Where a control of the page helps, its message ends with it: the libraries know of none.

use supple::anatomy::person::PersonFileError;
use supple::bake::BakeError;
use supple::clips::MotionError;
use supple::embedded::ClipError;
use supple::flesh::FleshError;
use supple::rig::formats::FormatError;
use supple::rig::retarget::RetargetError;
use supple::rig::skeleton::SkeletonError;
use supple::rig::skinning::WeightsError;
use supple::skin::TooLong;
use supple::tissue::TissueError;

/// An error shown on the page.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A file that cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Tissue that cannot be built or moved.
    #[error("{0}{hint}", hint = tissue_hint(.0))]
    Tissue(#[from] TissueError),
    /// Settings that cannot be used.
    #[error(transparent)]
    Flesh(#[from] FleshError),
    /// A clip that cannot be played.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// A motion that cannot be put on this character.
    #[error(transparent)]
    Motion(#[from] MotionError),
    /// A motion that cannot be retargeted to this character.
    #[error("the motion cannot be retargeted to this character: {0}")]
    Retarget(#[from] RetargetError),
    /// A motion that cannot be written.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// A motion that needs too much memory.
    #[error("the clip is too long to export: {0}")]
    TooLong(#[from] TooLong),
    /// Weights that cannot be computed.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Joints that do not form a skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// A person file that cannot be read.
    #[error("{0}{hint}", hint = person_hint(.0))]
    Person(#[from] PersonFileError),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl From<serde_json::Error> for StageError {
    fn from(error: serde_json::Error) -> Self {
        Self::Other(error.to_string())
    }
}

fn tissue_hint(error: &TissueError) -> &'static str {
    match error {
        TissueError::Flesh(FleshError::NoSuchJoint { .. }) => ". The Rig tab lists the joints",
        TissueError::Flesh(FleshError::NoSuchShell { .. }) => ". The Tissue tab lists the parts",
        TissueError::Flesh(FleshError::NoFlesh { .. }) => {
            ". “Made of” on the Tissue tab says what a part is"
        }
        _ => "",
    }
}

fn person_hint(error: &PersonFileError) -> &'static str {
    match error {
        PersonFileError::NotAPerson => ". “See inside” on the Anatomy tab makes one of a scan",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use supple::flesh::FleshError;
    use supple::tissue::TissueError;

    use super::StageError;

    /// A hint follows what the library says, and stands where the variant does.
    #[test]
    fn a_control_that_helps_is_named() {
        let inner = supple::anatomy::person::read_person(b"none").unwrap_err();
        let said = inner.to_string();
        let words = StageError::from(inner).to_string();
        assert!(
            words.starts_with(&said) && words.contains("“See inside”"),
            "{words}"
        );

        let inner = || FleshError::NoSuchJoint {
            what: "a radius".to_owned(),
            name: "hip".to_owned(),
        };
        let words = StageError::from(TissueError::from(inner())).to_string();
        assert_eq!(
            words,
            "settings: a radius names joint `hip`, which the skeleton does not have. The Rig tab lists the joints"
        );
        assert_eq!(StageError::from(inner()).to_string(), inner().to_string());
    }
}
