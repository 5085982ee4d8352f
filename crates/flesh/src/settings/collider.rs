//! Settings of the ground and of colliders.

use serde::{Deserialize, Serialize};

use super::limits::{self, FRICTION, LENGTH, MASS};
use crate::FleshError;

/// The ground plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Ground {
    /// `true`: below the lowest point of the rest shape. `false`: none.
    Switch(bool),
    /// At a height \[m\].
    Height(f64),
}

impl Default for Ground {
    fn default() -> Self {
        Self::Switch(false)
    }
}

/// A collider: a `[[collider]]` table of the settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ColliderSettings {
    /// Its shape.
    pub shape: ShapeName,
    /// Radius of a sphere or capsule \[m\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Length of a capsule along Y, between the centres of its caps \[m\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Edge lengths of a box \[m\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<[f64; 3]>,
    /// File of a mesh, relative to the settings file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Joint that it follows. Default: none, it stands still.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
    /// Position relative to the joint, or in the world \[m\].
    pub position: [f64; 3],
    /// Rotation about X, then Y, then Z, likewise \[degrees\].
    pub rotation: [f64; 3],
    /// Coulomb friction coefficient against skin. Default: 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Mass \[kg\]. With a mass it falls and is pushed; by default it does not give way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
}

/// Shapes of colliders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShapeName {
    /// A half-space: everything below the plane.
    Plane,
    /// A ball.
    #[default]
    Sphere,
    /// A cylinder with hemispherical caps.
    Capsule,
    /// A box.
    Box,
    /// A triangle mesh.
    Mesh,
}

impl ColliderSettings {
    /// Rejects invalid numbers and fields that do not belong to the shape.
    pub fn check(&self) -> Result<(), FleshError> {
        let sizes = self.size.iter().flatten().map(|&size| ("size", size));
        let lengths = [("radius", self.radius), ("length", self.length)];
        let lengths = lengths.into_iter().filter_map(|(n, v)| Some((n, v?)));
        for (name, value) in lengths.chain(sizes) {
            within(name, value, 0.0, LENGTH)?;
        }
        within("friction", self.friction.unwrap_or(0.0), 0.0, FRICTION)?;
        // Without a mass it does not give way.
        within("mass", self.mass.unwrap_or(1.0), 1e-6, MASS)?;
        for value in self.position {
            within("position", value, -LENGTH, LENGTH)?;
        }
        if self.mass.is_some() && self.joint.is_some() {
            return Err(bad("`joint` and `mass` cannot both be set; remove one"));
        }
        if !self.rotation.into_iter().all(f64::is_finite) {
            return Err(bad("rotation must be finite"));
        }
        self.check_shape()
    }

    /// Every shape needs its own fields, and rejects those of other shapes.
    fn check_shape(&self) -> Result<(), FleshError> {
        let (wanted, name): (&[&str], _) = match self.shape {
            ShapeName::Plane => (&[], "plane"),
            ShapeName::Sphere => (&["radius"], "sphere"),
            ShapeName::Capsule => (&["radius", "length"], "capsule"),
            ShapeName::Box => (&["size"], "box"),
            ShapeName::Mesh => (&["file"], "mesh"),
        };
        let given = [
            ("radius", self.radius.is_some()),
            ("length", self.length.is_some()),
            ("size", self.size.is_some()),
            ("file", self.file.is_some()),
        ];
        for (field, is_given) in given {
            match (wanted.contains(&field), is_given) {
                (true, false) => return Err(bad(format!("a {name} needs `{field}`"))),
                (false, true) => return Err(bad(format!("a {name} has no `{field}`"))),
                _ => {}
            }
        }
        Ok(())
    }
}

fn within(name: &str, value: f64, low: f64, high: f64) -> Result<(), FleshError> {
    limits::within(&format!("[[collider]]: {name}"), value, low, high)
}

pub(crate) fn bad(reason: impl Into<String>) -> FleshError {
    FleshError::Settings(format!("[[collider]]: {}", reason.into()))
}

/// Examples that `supple init` writes as comments.
pub(super) const EXAMPLES: &str = "
# Colliders. Remove the # of what you need.
# [[collider]]
# shape = \"box\"               # plane, sphere, capsule, box, mesh
# size = [0.5, 0.45, 0.4]     # a box's edges; sphere: radius; capsule: radius and length, along Y; mesh: file
# position = [0.0, 0.22, -0.2]
# rotation = [0.0, 0.0, 0.0]  # degrees about X, then Y, then Z
# friction = 0.5
# joint = \"hips\"              # follows this joint; position and rotation are relative to it; without: stands still
# mass = 2.0                  # kg; falls and is pushed; without: does not give way
";

#[cfg(test)]
mod tests {
    use crate::Settings;

    fn parsed(collider: &str) -> Result<Settings, String> {
        let text = format!("[[collider]]\n{collider}");
        let settings = Settings::from_toml(&text).map_err(|error| error.to_string())?;
        settings.check().map_err(|error| error.to_string())?;
        Ok(settings)
    }

    #[test]
    fn colliders_are_read_and_written() {
        let settings = parsed(
            "shape = \"capsule\"\nradius = 0.1\nlength = 0.4\njoint = \"hips\"\nfriction = 0.0",
        )
        .unwrap();
        let text = settings.to_toml().unwrap();
        assert_eq!(Settings::from_toml(&text).unwrap(), settings, "{text}");
        // The examples are valid once their # is removed.
        let bare = Settings::default().to_toml().unwrap();
        let start = bare.find("# [[collider]]").unwrap();
        let example = bare[start + 2..]
            .replace("\n# ", "\n")
            .replace("joint", "#");
        parsed(&example[12..]).unwrap();
    }

    #[test]
    fn invalid_colliders_are_rejected_with_a_reason() {
        for (text, expected) in [
            ("shape = \"cone\"", "cone"),
            ("shape = \"sphere\"", "a sphere needs `radius`"),
            ("radius = 0.1\nsize = [1, 1, 1]", "a sphere has no `size`"),
            ("radius = -0.1", "radius is -0.1"),
            ("radius = nan", "radius is NaN"),
            ("shape = \"box\"\nsize = [1.0, -1.0, 1.0]", "size is -1"),
            ("radius = 0.1\nmass = 0.0", "mass is 0"),
            ("radius = 0.1\nmass = 1.0\njoint = \"a\"", "cannot both"),
            ("radius = 0.1\nposition = [0.0, nan, 0.0]", "position"),
            ("radius = 0.1\ncolour = 3", "colour"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
