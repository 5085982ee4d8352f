//! Colliders of a character: fixed in the world, or attached to a joint.

use std::path::Path;
use std::sync::Arc;

use glam::{Affine3A, EulerRot, Quat, Vec3};
use supple_geom::TriMesh;
use supple_rig::formats::{ReadOptions, load};
use supple_rig::{Character, Pose};
use supple_sim::contact::{Collider, ColliderMesh, Placement, Shape};

use crate::FleshError;
use crate::flesh::Flesh;
use crate::settings::collider::bad;
use crate::settings::{ColliderSettings, Ground, Settings, ShapeName};

/// A collider, optionally attached to a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Attached {
    /// The collider. Its placement is relative to the joint if there is one, otherwise to the world.
    pub collider: Collider,
    /// The joint it follows.
    pub joint: Option<usize>,
}

impl From<Collider> for Attached {
    fn from(collider: Collider) -> Self {
        Self {
            collider,
            joint: None,
        }
    }
}

impl Attached {
    /// The collider in the world, for given joint transforms.
    pub fn at(&self, worlds: &[Affine3A]) -> Collider {
        let mut collider = self.collider.clone();
        if let Some(world) = self.joint.and_then(|joint| worlds.get(joint)) {
            let (_, rotation, _) = world.to_scale_rotation_translation();
            let own = collider.placement;
            collider.placement = Placement {
                rotation: (rotation * own.rotation).normalize(),
                translation: world.transform_point3(own.translation),
            };
        }
        collider
    }
}

impl Flesh {
    /// Ground and colliders in the world, for a pose.
    pub fn colliders_at(&self, pose: &Pose) -> Vec<Collider> {
        self.placed_colliders(&self.colliders, pose)
    }

    /// Any colliders of this character where a pose puts them.
    pub fn placed_colliders(&self, colliders: &[Attached], pose: &Pose) -> Vec<Collider> {
        if colliders.is_empty() {
            return Vec::new();
        }
        let worlds = pose.worlds(&self.character.skeleton);
        colliders.iter().map(|each| each.at(&worlds)).collect()
    }
}

/// Ground and colliders of the settings. `lowest` is the height of the character's lowest point at rest \[m\].
pub(crate) fn attached(
    character: &Character,
    settings: &Settings,
    lowest: f32,
) -> Result<Vec<Attached>, FleshError> {
    let ground = match settings.contact.ground {
        Ground::Switch(false) => None,
        Ground::Switch(true) => Some(lowest),
        Ground::Height(height) => Some(height as f32),
    };
    let ground = ground.map(|height| Ok(Collider::ground(height).into()));
    let others = settings.collider.iter().map(|one| attach(character, one));
    ground.into_iter().chain(others).collect()
}

fn attach(character: &Character, settings: &ColliderSettings) -> Result<Attached, FleshError> {
    let joint = match &settings.joint {
        None => None,
        Some(name) => {
            Some(
                character
                    .skeleton
                    .find(name)
                    .ok_or_else(|| FleshError::NoSuchJoint {
                        what: "a collider".to_owned(),
                        name: name.clone(),
                    })?,
            )
        }
    };
    let collider = collider(settings)?;
    Ok(Attached { collider, joint })
}

/// The collider described by its settings.
pub fn collider(settings: &ColliderSettings) -> Result<Collider, FleshError> {
    settings.check()?;
    let [x, y, z] = settings.rotation.map(|degrees| degrees.to_radians() as f32);
    let placement = Placement {
        rotation: Quat::from_euler(EulerRot::ZYX, z, y, x),
        translation: Vec3::from(settings.position.map(|p| p as f32)),
    };
    let shape = shape(settings)?;
    let mut collider = match settings.mass {
        None => Collider::driven(shape, placement),
        Some(mass) => Collider::falling(shape, placement, mass as f32),
    };
    if let Some(friction) = settings.friction {
        collider.friction = friction as f32;
    }
    Ok(collider)
}

fn shape(settings: &ColliderSettings) -> Result<Shape, FleshError> {
    let number = |value: Option<f64>| value.unwrap_or_default() as f32;
    Ok(match settings.shape {
        ShapeName::Plane => Shape::Plane,
        ShapeName::Sphere => Shape::Sphere {
            radius: number(settings.radius),
        },
        ShapeName::Capsule => Shape::Capsule {
            radius: number(settings.radius),
            length: number(settings.length),
        },
        ShapeName::Box => Shape::Box {
            half: Vec3::from(settings.size.unwrap_or_default().map(|s| 0.5 * s as f32)),
        },
        ShapeName::Mesh => {
            let file = settings.file.as_deref().unwrap_or_default();
            Shape::Mesh(Arc::new(ColliderMesh::new(&mesh_of_file(Path::new(file))?)))
        }
    })
}

/// All parts of a file in bind pose, as one mesh.
fn mesh_of_file(path: &Path) -> Result<TriMesh, FleshError> {
    let thing = load(path, &ReadOptions::default()).map_err(|error| bad(error.to_string()))?;
    let parts: Vec<TriMesh> = (0..thing.parts.len())
        .map(|part| thing.bind_mesh(part))
        .collect();
    let mesh = TriMesh::merged(&parts);
    if mesh.triangles.is_empty() {
        return Err(bad(format!("{} has no triangles", path.display())));
    }
    Ok(mesh)
}
