//! Settings of the simulation mesh and the full skin.

use serde::{Deserialize, Serialize};

/// Simulation mesh and full skin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Detail {
    /// Vertices that are simulated.
    pub resolution: Resolution,
    /// How the others follow.
    pub upsample: Upsample,
}

/// How many skin vertices are simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ResolutionText", into = "ResolutionText")]
pub enum Resolution {
    /// 3 to 5 thousand, by the character's bones; all of a skin that has no more.
    #[default]
    Automatic,
    /// All.
    Full,
    /// About so many.
    Vertices(usize),
}

/// A resolution as settings files have it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ResolutionText {
    Count(usize),
    Word(String),
}

impl From<Resolution> for ResolutionText {
    fn from(resolution: Resolution) -> Self {
        match resolution {
            Resolution::Automatic => Self::Word("automatic".to_owned()),
            Resolution::Full => Self::Word("full".to_owned()),
            Resolution::Vertices(count) => Self::Count(count),
        }
    }
}

impl TryFrom<ResolutionText> for Resolution {
    type Error = String;

    fn try_from(text: ResolutionText) -> Result<Self, String> {
        match text {
            ResolutionText::Count(count) => count.to_string().parse(),
            ResolutionText::Word(word) => word.parse(),
        }
    }
}

/// Fewer vertices than this are no body.
const LEAST_VERTICES: usize = 32;

impl std::str::FromStr for Resolution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<usize>()) {
            ("automatic", _) => Ok(Self::Automatic),
            ("full", _) => Ok(Self::Full),
            (_, Ok(count)) if count >= LEAST_VERTICES => Ok(Self::Vertices(count)),
            _ => Err(format!(
                "`{text}` is no resolution: use \"automatic\", \"full\" or a number of vertices from {LEAST_VERTICES}"
            )),
        }
    }
}

/// How the full skin follows the simulated vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Upsample {
    /// Quadratic moving least squares.
    #[default]
    Quadratic,
    /// Linear moving least squares, to compare with.
    Linear,
    /// Normal displacements, to compare with.
    Normals,
}
