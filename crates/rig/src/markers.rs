//! Markers: places on a body that a person points out, to help the fit of a skeleton.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use glam::{Quat, Vec3};

use crate::Skeleton;
use crate::retarget::humanoid::Side;

/// A place on a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Marker {
    /// The chin: height of the head's joint.
    Chin,
    /// The groin: where the legs part.
    Groin,
    /// The middle of a wrist.
    Wrist(Side),
    /// The middle of an elbow.
    Elbow(Side),
    /// The middle of a knee.
    Knee(Side),
}

/// Markers and their positions \[m\].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Markers {
    places: BTreeMap<Marker, Vec3>,
}

/// Why a text is not a marker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// There is no marker of that name.
    #[error("'{0}' is not a marker; use {known}", known = known())]
    Unknown(String),
    /// Not of the form `NAME=X,Y,Z`.
    #[error(
        "'{0}' is not a marker and its position; write NAME=X,Y,Z in metres, for example wrist.L=0.7,1.4,0"
    )]
    Syntax(String),
}

fn known() -> String {
    let names: Vec<String> = Marker::ALL.iter().map(Marker::to_string).collect();
    names.join(", ")
}

impl Marker {
    /// All markers.
    pub const ALL: [Self; 8] = [
        Self::Chin,
        Self::Groin,
        Self::Wrist(Side::Left),
        Self::Wrist(Side::Right),
        Self::Elbow(Side::Left),
        Self::Elbow(Side::Right),
        Self::Knee(Side::Left),
        Self::Knee(Side::Right),
    ];

    /// The same place on the other side of the body.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Chin | Self::Groin => self,
            Self::Wrist(side) => Self::Wrist(side.other()),
            Self::Elbow(side) => Self::Elbow(side.other()),
            Self::Knee(side) => Self::Knee(side.other()),
        }
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, side) = match self {
            Self::Chin => return f.write_str("chin"),
            Self::Groin => return f.write_str("groin"),
            Self::Wrist(side) => ("wrist", side),
            Self::Elbow(side) => ("elbow", side),
            Self::Knee(side) => ("knee", side),
        };
        let end = if *side == Side::Left { 'L' } else { 'R' };
        write!(f, "{name}.{end}")
    }
}

impl FromStr for Marker {
    type Err = MarkerError;

    fn from_str(name: &str) -> Result<Self, MarkerError> {
        let known = |marker: &&Self| marker.to_string().eq_ignore_ascii_case(name);
        let found = Self::ALL.iter().find(known).copied();
        found.ok_or_else(|| MarkerError::Unknown(name.to_owned()))
    }
}

/// Parses `NAME=X,Y,Z`.
pub fn parse_marker(text: &str) -> Result<(Marker, Vec3), MarkerError> {
    let syntax = || MarkerError::Syntax(text.to_owned());
    let (name, place) = text.split_once('=').ok_or_else(syntax)?;
    let numbers: Vec<f32> = (place.split(','))
        .map(|number| number.trim().parse().map_err(|_| syntax()))
        .collect::<Result<_, _>>()?;
    let [x, y, z] = numbers[..] else {
        return Err(syntax());
    };
    let place = Vec3::new(x, y, z);
    match place.is_finite() {
        true => Ok((name.trim().parse()?, place)),
        false => Err(syntax()),
    }
}

impl Markers {
    /// Sets a marker. Positions that are not finite are ignored.
    pub fn set(&mut self, marker: Marker, place: Vec3) {
        if place.is_finite() {
            self.places.insert(marker, place);
        }
    }

    /// The position of a marker.
    pub fn get(&self, marker: Marker) -> Option<Vec3> {
        self.places.get(&marker).copied()
    }

    /// All markers and positions.
    pub fn iter(&self) -> impl Iterator<Item = (Marker, Vec3)> {
        self.places.iter().map(|(&marker, &place)| (marker, place))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The markers, turned about the origin.
    pub(crate) fn turned(&self, turn: Quat) -> Self {
        self.iter()
            .map(|(marker, place)| (marker, turn * place))
            .collect()
    }

    /// The body's left, from markers of which both sides are given; `None` if there are none.
    pub(crate) fn left(&self) -> Option<Vec3> {
        let across = Marker::ALL.iter().filter_map(|&marker| {
            let left = matches!(
                marker,
                Marker::Wrist(Side::Left) | Marker::Elbow(Side::Left) | Marker::Knee(Side::Left)
            );
            left.then_some(self.get(marker)? - self.get(marker.mirrored())?)
        });
        let sum: Vec3 = across.sum();
        Vec3::new(sum.x, 0.0, sum.z).try_normalize()
    }

    /// The markers of a skeleton with VRM joint names, of a body of that height \[m\].
    pub(crate) fn of_skeleton(skeleton: &Skeleton, height: f32) -> Self {
        let worlds = skeleton.rest_worlds();
        let place = |name: &str| Some(Vec3::from(worlds[skeleton.find(name)?].translation));
        let of = |marker: Marker| match marker {
            Marker::Chin => place("head"),
            Marker::Groin => Some(place("hips")? - GROIN_BELOW_HIPS * height * Vec3::Y),
            Marker::Wrist(Side::Left) => place("leftHand"),
            Marker::Wrist(Side::Right) => place("rightHand"),
            Marker::Elbow(Side::Left) => place("leftLowerArm"),
            Marker::Elbow(Side::Right) => place("rightLowerArm"),
            Marker::Knee(Side::Left) => place("leftLowerLeg"),
            Marker::Knee(Side::Right) => place("rightLowerLeg"),
        };
        let all = Marker::ALL.into_iter();
        all.filter_map(|marker| Some((marker, of(marker)?)))
            .collect()
    }
}

/// Height of the hips' joint above the groin, in body heights.
pub(crate) const GROIN_BELOW_HIPS: f32 = 0.04;

impl FromIterator<(Marker, Vec3)> for Markers {
    fn from_iter<T: IntoIterator<Item = (Marker, Vec3)>>(markers: T) -> Self {
        let mut all = Self::default();
        markers
            .into_iter()
            .for_each(|(marker, place)| all.set(marker, place));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_positions_are_parsed() {
        for marker in Marker::ALL {
            assert_eq!(marker.to_string().parse(), Ok(marker));
        }
        let wrist = parse_marker("Wrist.l = 0.5, 1,-2e-1").unwrap();
        assert_eq!(
            wrist,
            (Marker::Wrist(Side::Left), Vec3::new(0.5, 1.0, -0.2))
        );
        for bad in ["", "chin", "chin=1,2", "chin=1,2,x", "chin=1,2,inf"] {
            let error = parse_marker(bad).unwrap_err();
            assert!(matches!(error, MarkerError::Syntax(_)), "{bad}: {error}");
        }
        let unknown = parse_marker("tail=1,2,3").unwrap_err().to_string();
        assert!(unknown.contains("groin, wrist.L"), "{unknown}");
    }
}
