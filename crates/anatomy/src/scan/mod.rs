//! Registration: the body of the space that a scan shows, without landmarks [4.2.1, 4.3].
//!
//! A scan is a mesh or a cloud of points in any unit, up axis and heading, with holes, noise and a floor. [`register`]
//! finds unit, axis and heading, fits pose and shape of the [`BodyModel`] of both sexes, bends both to the scan,
//! decides the sex and un-poses the body. Anything but a standing adult is rejected with a reason.

mod beside;
mod cloud;
mod error;
mod fine;
mod fit;
mod frame;
mod jacobian;
mod limbs;
mod normals;
mod pieces;
mod quality;
mod read;
mod register;
mod sex;
mod start;
mod strays;
mod unpose;

use glam::{DVec3, Vec3};
use supple_rig::{Pose, Skeleton};

use crate::Sex;
use crate::body_model::{BodyModel, Figure};
pub use error::ScanError;
pub use quality::{Coverage, Distances};
pub use register::{register, register_with};

/// Below this probability a sex is undecided: fat and muscle are then those of both, mixed.
pub const SURE: f64 = 0.9;

/// A scan as it comes: in its own unit and axes.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Vertices of a mesh, or points.
    pub points: Vec<Vec3>,
    /// Triangles; none for a cloud.
    pub triangles: Vec<[u32; 3]>,
    /// Normals of a cloud's points, outwards, or empty. Meshes have those of their triangles.
    pub normals: Vec<Vec3>,
    /// Length of a unit \[m\], where the file declares it.
    pub metres_per_unit: Option<f64>,
}

/// A place on or in the body that is known.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Landmark {
    /// A joint of the rig (`wrist.L`), or `vertex:NUMBER` for a vertex of the skin.
    pub name: String,
    /// Its place in the scan's unit and axes.
    pub place: [f64; 3],
}

/// What is known about a scan beforehand.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Sex; both are tried if none is given.
    pub sex: Option<Sex>,
    /// Length of a unit \[m\]; guessed if none is given.
    pub metres_per_unit: Option<f64>,
    /// Up in the scan's axes; guessed if none is given.
    pub up: Option<Vec3>,
    /// Known places.
    pub landmarks: Vec<Landmark>,
}

/// How a scan stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Placement {
    /// Length of the scan's unit \[m\].
    pub metres_per_unit: f64,
    /// Up in the scan's axes.
    pub up: DVec3,
    /// Quarter turns from the scan's axes to those of the result, Y up; a tilted scan stays tilted.
    pub rotation: glam::DMat3,
    /// Where the person faces, about +Y from +Z in the rotated axes \[rad\].
    pub heading: f64,
    /// Whether a floor, or pieces of ground, were removed.
    pub floor: bool,
    /// Whether the scan's normals pointed inwards and were turned round: it is inside out, or mirrored.
    pub inside_out: bool,
}

/// A body registered to a scan. All lengths are metres, Y is up.
#[derive(Clone, Debug)]
pub struct Registered {
    /// Sex, given or guessed.
    pub sex: Sex,
    /// Probability of the sex, from 0.5; 1 if it was given.
    pub sex_confidence: f64,
    /// Skin in the scan's pose and place (its unit and axes converted) \[m\]; vertices of the embedded body.
    pub vertices: Vec<DVec3>,
    /// Joints in the scan's pose \[m\].
    pub joints: Vec<DVec3>,
    /// Skin in the rest pose \[m\], feet at y = 0, facing +Z.
    pub rest_vertices: Vec<DVec3>,
    /// Joints in the rest pose \[m\].
    pub rest_joints: Vec<DVec3>,
    /// Coefficients of the body space, joint rotations, and translation of the root.
    pub figure: Figure,
    /// Distance of the scan from the skin.
    pub distances: Distances,
    /// How much of the skin the scan shows.
    pub coverage: Coverage,
    /// From 0 to 1: how far to trust the result.
    pub confidence: f64,
    /// Unit, axis and heading.
    pub placement: Placement,
    /// What a user should know, one line each.
    pub warnings: Vec<String>,
}

impl Registered {
    /// The body space of the person's sex.
    pub fn model(&self) -> &'static BodyModel {
        BodyModel::embedded(self.sex)
    }

    /// The rig in the rest pose, with the person's joints.
    pub fn skeleton(&self) -> Skeleton {
        self.model().skeleton(&self.rest_joints)
    }

    /// The scan's pose of [`Registered::skeleton`].
    pub fn pose(&self) -> Pose {
        self.figure.pose(&self.skeleton())
    }

    /// Stature in the rest pose \[m\].
    pub fn stature(&self) -> f64 {
        let heights = || self.rest_vertices.iter().map(|v| v.y);
        heights().fold(f64::MIN, f64::max) - heights().fold(f64::MAX, f64::min)
    }
}
