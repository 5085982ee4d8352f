//! Settings of the simulation mesh and the full skin.

use serde::{Deserialize, Serialize};

/// Simulation mesh and full skin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Detail {
    /// Vertices that are simulated.
    pub resolution: Resolution,
    /// How the full skin follows them.
    pub upsample: Upsample,
}

/// How many skin vertices are simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ResolutionText", into = "ResolutionText")]
pub enum Resolution {
    /// All vertices of a small skin; 3 to 5 thousand of a larger one, depending on the number of bones.
    #[default]
    Automatic,
    /// All.
    Full,
    /// About this many.
    Vertices(usize),
}

/// A resolution in a settings file.
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

/// Fewest vertices that make a body.
const LEAST_VERTICES: usize = 32;

impl std::str::FromStr for Resolution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<usize>()) {
            ("automatic", _) => Ok(Self::Automatic),
            ("full", _) => Ok(Self::Full),
            (_, Ok(count)) if count >= LEAST_VERTICES => Ok(Self::Vertices(count)),
            _ => Err(format!(
                "`{text}` is not a resolution; use \"automatic\", \"full\" or a number of vertices, at least {LEAST_VERTICES}"
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
    /// Linear moving least squares, for comparison.
    Linear,
    /// Normal displacements, for comparison.
    Normals,
}
