//! Options for reading files.

use crate::character::Up;

/// Overrides for units and axes that a file does not declare or declares wrongly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// Length of one file unit \[m\]. `None`: as declared, or guessed.
    pub metres_per_unit: Option<f32>,
    /// The file's up axis. `None`: as declared, or guessed.
    pub up: Option<Up>,
}

/// Parses a unit (m, dm, cm, mm, in, ft, or a number) into metres.
pub fn parse_unit(text: &str) -> Result<f32, String> {
    let metres = match text {
        "m" => 1.0,
        "dm" => 0.1,
        "cm" => 0.01,
        "mm" => 0.001,
        "in" => 0.0254,
        "ft" => 0.3048,
        number => number
            .parse::<f32>()
            .map_err(|_| "expected m, dm, cm, mm, in, ft or a number of metres".to_owned())?,
    };
    if metres.is_finite() && metres > 0.0 {
        Ok(metres)
    } else {
        Err("must be greater than zero".to_owned())
    }
}
