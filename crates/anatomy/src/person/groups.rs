//! The eight muscle groups that grow by themselves [4.2.4], from the rig of the embedded bodies.

use serde::{Deserialize, Serialize};

use crate::{Body, BodyError};

/// A muscle group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MuscleGroup {
    /// Thighs and buttocks.
    UpperLegs,
    /// Calves, shins and feet.
    LowerLegs,
    /// Upper arms.
    UpperArms,
    /// Forearms.
    LowerArms,
    /// Chest.
    Chest,
    /// Abdomen, the wall of the belly.
    Abdomen,
    /// Shoulders and neck.
    Shoulders,
    /// Back.
    Back,
}

impl MuscleGroup {
    /// All of them.
    pub const ALL: [MuscleGroup; 8] = [
        MuscleGroup::UpperLegs,
        MuscleGroup::LowerLegs,
        MuscleGroup::UpperArms,
        MuscleGroup::LowerArms,
        MuscleGroup::Chest,
        MuscleGroup::Abdomen,
        MuscleGroup::Shoulders,
        MuscleGroup::Back,
    ];
}

/// The group of each vertex of a body by the joint it follows most, and on the trunk by where it lies; none where there are
/// no layers.
pub fn muscle_groups(body: &Body) -> Result<Vec<Option<MuscleGroup>>, BodyError> {
    let by_prefix = |prefixes: &[&str]| {
        body.weight_on(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
    };
    let limbs = [
        (MuscleGroup::UpperLegs, by_prefix(&["upperleg"])),
        (
            MuscleGroup::LowerLegs,
            by_prefix(&["lowerleg", "foot", "toe"]),
        ),
        (MuscleGroup::UpperArms, by_prefix(&["upperarm"])),
        (MuscleGroup::LowerArms, by_prefix(&["lowerarm", "wrist"])),
        (
            MuscleGroup::Shoulders,
            by_prefix(&["clavicle", "shoulder", "neck"]),
        ),
    ];
    let (root, loin, breast) = (
        body.joint("root")?,
        body.joint("spine04")?,
        body.joint("spine02")?,
    );
    let side = body.joint("upperleg01.L")?;
    let on_trunk = |v: usize| {
        let p = body.mesh.positions[v];
        // The line from the hips to the breast parts front from back.
        let along = ((p.y - root.y) / (breast.y - root.y)).clamp(0.0, 1.0);
        let front = p.z > root.z + along * (breast.z - root.z) + 0.02;
        match (front, p.y) {
            (true, y) if y > breast.y => MuscleGroup::Chest,
            (true, y) if y > side.y - 0.02 => MuscleGroup::Abdomen,
            (false, y) if y > loin.y => MuscleGroup::Back,
            _ => MuscleGroup::UpperLegs,
        }
    };
    let layered = body.layered();
    Ok((0..layered.len())
        .map(|v| {
            let limb = limbs.iter().find(|(_, weight)| weight[v] > 0.5);
            layered[v].then(|| limb.map_or_else(|| on_trunk(v), |(group, _)| *group))
        })
        .collect())
}

/// Vertices of the crotch: near the middle between the legs, where the fat layer holds more than fat.
pub fn crotch(body: &Body) -> Result<Vec<bool>, BodyError> {
    let (hip, root) = (body.joint("upperleg01.L")?, body.joint("root")?);
    let size = body.height();
    Ok((body.mesh.positions.iter())
        .map(|p| {
            p.x.abs() < 0.03 * size
                && (p.y - (hip.y - 0.055 * size)).abs() < 0.035 * size
                && p.z > root.z - 0.01 * size
        })
        .collect())
}
