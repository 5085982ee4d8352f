//! Coordinates on bones that carry over from body to body, and the half of a body that a side's muscles are made in.

use glam::{Mat3, Vec3};
use supple_geom::{Surface, TriMesh};

use crate::Bone;

/// A side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Left, at +X.
    Left,
    /// Right, at −X.
    Right,
}

impl Side {
    /// `_l` or `_r`.
    pub fn suffix(self) -> &'static str {
        match self {
            Side::Left => "_l",
            Side::Right => "_r",
        }
    }

    /// A point in the space where this side is at +X; its own inverse.
    pub fn mirrored(self, p: Vec3) -> Vec3 {
        match self {
            Side::Left => p,
            Side::Right => Vec3::new(-p.x, p.y, p.z),
        }
    }

    /// A mesh in the space where this side is at +X, its triangles facing outwards; its own inverse.
    pub fn mirrored_mesh(self, mesh: &TriMesh) -> TriMesh {
        let mut mesh = mesh.clone();
        if self == Side::Right {
            (mesh.positions.iter_mut()).for_each(|p| *p = self.mirrored(*p));
            mesh.flip();
        }
        mesh
    }
}

/// A bone with a frame: axes, centre and half extents of the box around it.
///
/// Coordinates in the box run from −1 to 1: *lateral*, *up* (towards the trunk on limbs) and *forward*. Bones of the trunk and the feet have
/// the body's axes. Long bones have the axes turned, by the smallest rotation, so that "up" is along the bone: an arm that is
/// lifted takes its coordinates with it. Forearm and hand have "lateral" from ulna to radius, whatever their pronation.
#[derive(Clone, Debug)]
pub struct FramedBone {
    /// Name without a side.
    pub name: String,
    /// The bone.
    pub surface: Surface,
    /// Lateral, up, forward.
    pub axes: Mat3,
    /// Centre of the box \[m\].
    pub centre: Vec3,
    /// Half its sizes along the axes \[m\].
    pub half: Vec3,
}

impl FramedBone {
    fn new(name: String, mesh: TriMesh, axes: Mat3, midline: bool) -> Self {
        let mut low = Vec3::INFINITY;
        let mut high = Vec3::NEG_INFINITY;
        for &p in &mesh.positions {
            let q = axes.transpose() * p;
            (low, high) = (low.min(q), high.max(q));
        }
        if midline {
            // Bones of the midline are measured from the plane of symmetry.
            high.x = high.x.max(-low.x);
            low.x = -high.x;
        }
        FramedBone {
            name,
            surface: Surface::new(mesh),
            axes,
            centre: axes * (0.5 * (low + high)),
            half: 0.5 * (high - low),
        }
    }

    /// The place with the given box coordinates \[m\].
    pub fn at(&self, place: Vec3) -> Vec3 {
        self.centre + self.axes * (place * self.half)
    }

    /// The point of the bone closest to the place with the given box coordinates \[m\].
    pub fn on(&self, place: Vec3) -> Vec3 {
        let p = self.at(place);
        self.surface.closest_point(p).map_or(p, |c| c.position)
    }
}

/// The bones of one side and of the midline, in the space where the side is at +X.
#[derive(Clone, Debug)]
pub struct Half {
    /// The side.
    pub side: Side,
    bones: Vec<FramedBone>,
}

/// Bones whose box is turned along them.
const LONG: [&str; 4] = ["femur", "tibia", "fibula", "humerus"];
/// Beginnings of names of bones that follow the forearm.
const HAND: [&str; 16] = [
    "radius",
    "ulna",
    "metacarpal",
    "capitate",
    "hamate",
    "lunate",
    "pisiform",
    "scaphoid",
    "trape",
    "triquetrum",
    "thumb",
    "index",
    "middle",
    "ring",
    "little",
    "carp",
];

impl Half {
    /// Finds the bones' frames.
    pub fn new(bones: &[Bone], side: Side) -> Half {
        let own = |name: &str| -> Option<(String, bool)> {
            let other = if side == Side::Left { "_r" } else { "_l" };
            if name.ends_with(other) {
                None
            } else if let Some(stem) = name.strip_suffix(side.suffix()) {
                Some((stem.to_owned(), false))
            } else {
                Some((name.to_owned(), true))
            }
        };
        let found: Vec<(String, bool, TriMesh)> = (bones.iter())
            .filter(|bone| !bone.mesh.triangles.is_empty())
            .filter_map(|bone| {
                let (name, midline) = own(&bone.name)?;
                Some((name, midline, side.mirrored_mesh(&bone.mesh)))
            })
            .collect();
        let get = |name: &str| found.iter().find(|b| b.0 == name).map(|b| &b.2);
        let forearm = match (get("ulna"), get("radius")) {
            (Some(ulna), Some(radius)) => forearm_axes(ulna, radius),
            _ => Mat3::IDENTITY,
        };
        let framed = (found.iter())
            .map(|(name, midline, mesh)| {
                let axes = if LONG.contains(&name.as_str()) {
                    long_axes(mesh)
                } else if HAND.iter().any(|start| name.starts_with(start)) {
                    forearm
                } else {
                    Mat3::IDENTITY
                };
                FramedBone::new(name.clone(), mesh.clone(), axes, *midline)
            })
            .collect();
        Half {
            side,
            bones: framed,
        }
    }

    /// A bone by its name without a side.
    pub fn bone(&self, name: &str) -> Option<&FramedBone> {
        self.bones.iter().find(|bone| bone.name == name)
    }

    /// All bones.
    pub fn bones(&self) -> &[FramedBone] {
        &self.bones
    }
}

/// Mean and longest direction of a mesh's vertices, the latter pointing up.
fn long_direction(meshes: &[&TriMesh]) -> Vec3 {
    let points: Vec<Vec3> = meshes
        .iter()
        .flat_map(|m| m.positions.iter().copied())
        .collect();
    let mean = points.iter().sum::<Vec3>() / points.len().max(1) as f32;
    // Power iteration: the longest axis of a long bone is far longer than the others.
    let mut axis = Vec3::new(0.1, 1.0, 0.1).normalize();
    for _ in 0..60 {
        let sum: Vec3 = (points.iter())
            .map(|&p| (p - mean) * (p - mean).dot(axis))
            .sum();
        axis = sum.normalize_or(axis);
    }
    if axis.y < 0.0 { -axis } else { axis }
}

/// Body axes turned by the smallest rotation that makes "up" the bone's own.
fn long_axes(mesh: &TriMesh) -> Mat3 {
    Mat3::from_quat(glam::Quat::from_rotation_arc(
        Vec3::Y,
        long_direction(&[mesh]),
    ))
}

fn forearm_axes(ulna: &TriMesh, radius: &TriMesh) -> Mat3 {
    let up = long_direction(&[ulna, radius]);
    // The bones are crossed or not; at the wrist the radius is always on the thumb's side.
    let wrist = |mesh: &TriMesh| {
        let lowest = (mesh.positions.iter())
            .map(|p| p.dot(up))
            .fold(f32::INFINITY, f32::min);
        let near: Vec<Vec3> = (mesh.positions.iter().copied())
            .filter(|p| p.dot(up) < lowest + 0.04)
            .collect();
        near.iter().sum::<Vec3>() / near.len().max(1) as f32
    };
    let lateral = (wrist(radius) - wrist(ulna))
        .reject_from(up)
        .normalize_or(Vec3::X);
    Mat3::from_cols(lateral, up, lateral.cross(up))
}
