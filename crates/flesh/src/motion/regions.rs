//! Regions of the body named by joints: excluded from the simulation, or stiffer.

use supple_rig::retarget::humanoid::Side;
use supple_rig::retarget::{BoneMap, HumanBone, Humanoid};
use supple_rig::{Character, Skeleton};

use crate::FleshError;
use crate::construction::layers::Layer;
use crate::motion::hanging_joints::hanging_joints;
use crate::motion::holds::Weights;
use crate::settings::{Settings, Tissue, matches};

/// Stiffness factor by depth. A layer of depth h under an acceleration a sags by ρ a h² / k, since its shear modulus is
/// k/2. At 2.5 kPa that is centimetres for a thigh at every footstep. Deep tissue is not only fat but muscle, fascia and
/// ribs, so the stiffness grows with h² up to that of firm muscle ([`Tissue::soft_depth`], [`Tissue::deep_stiffness`]).
pub fn depth_factor(tissue: &Tissue, depth: f64, size: f64) -> f64 {
    (depth / (tissue.soft_depth * size))
        .powi(2)
        .clamp(1.0, tissue.deep_stiffness)
}

/// Which skin vertices are excluded: those with more than half of their weight on joints that match `excluded`, on
/// [hanging joints](hanging_joints), on the head of a humanoid (unless it is simulated), or on descendants of these.
pub fn excluded_columns(
    character: &Character,
    settings: &Settings,
    weights: &[Weights],
) -> Result<Vec<bool>, FleshError> {
    let skeleton = &character.skeleton;
    let mut out = hanging_joints(character);
    for pattern in &settings.excluded {
        for joint in named(skeleton, "excluded", pattern)? {
            out[joint] = true;
        }
    }
    if !settings.tissue.simulate_head {
        let head = humanoid(character).and_then(|humanoid| humanoid.joint(HumanBone::Head));
        // A root joint found as the head is a wrong match.
        if let Some(head) = head.filter(|&head| skeleton.joints()[head].parent.is_some()) {
            out[head] = true;
        }
    }
    propagate(skeleton, &mut out, |parent, own| *own |= *parent);
    let share = |list: &Weights| -> f64 {
        let inside = list.iter().filter(|(joint, _)| out[*joint as usize]);
        inside.map(|(_, weight)| weight).sum()
    };
    let excluded: Vec<bool> = weights.iter().map(|list| share(list) > 0.5).collect();
    if settings.excluded.is_empty() && excluded.iter().all(|&e| e) {
        return Ok(vec![false; weights.len()]);
    }
    Ok(excluded)
}

/// Stiffness factor of every skin vertex, by its joints: the settings' factors, and by default stiffer hands of a humanoid.
pub fn stiffness_factors(
    character: &Character,
    settings: &Settings,
    weights: &[Weights],
) -> Result<Vec<f64>, FleshError> {
    let skeleton = &character.skeleton;
    let mut factors = vec![1.0; skeleton.len()];
    if let Some(humanoid) = humanoid(character) {
        for side in Side::BOTH {
            if let Some(hand) = humanoid.joint(HumanBone::Hand(side)) {
                factors[hand] = settings.tissue.hand_stiffness;
            }
        }
        propagate(skeleton, &mut factors, |parent, own| {
            *own = own.max(*parent)
        });
    }
    for (pattern, &factor) in &settings.stiffness_factors {
        for joint in named(skeleton, "stiffness_factors", pattern)? {
            factors[joint] = factor;
        }
    }
    Ok(blended(weights, &factors))
}

/// Stiffness factors of every skin vertex for one material alone; `None` if the settings have none.
pub fn material_factors(
    character: &Character,
    settings: &Settings,
    weights: &[Weights],
    layer: Layer,
) -> Result<Option<Vec<f64>>, FleshError> {
    let own = settings.materials.get(layer.name());
    let Some(own) = own.filter(|own| !own.stiffness_factors.is_empty()) else {
        return Ok(None);
    };
    let skeleton = &character.skeleton;
    let mut factors = vec![1.0; skeleton.len()];
    let list = format!("materials.{}.stiffness_factors", layer.name());
    for (pattern, &factor) in &own.stiffness_factors {
        for joint in named(skeleton, &list, pattern)? {
            factors[joint] = factor;
        }
    }
    Ok(Some(blended(weights, &factors)))
}

/// Means of the joints' factors, by the weights of the vertices.
fn blended(weights: &[Weights], factors: &[f64]) -> Vec<f64> {
    let mean = |list: &Weights| {
        let terms = list.iter();
        let terms = terms.map(|&(joint, weight)| weight * factors[joint as usize]);
        terms.sum()
    };
    weights.iter().map(mean).collect()
}

/// Which joints bend enough to need a denser skin. In a humanoid those of the limbs, neck and head; not twist joints, and
/// not the spine, which distributes its bend over many joints. In other skeletons all joints.
pub fn bending_joints(character: &Character) -> Vec<bool> {
    let Some(humanoid) = humanoid(character) else {
        return vec![true; character.skeleton.len()];
    };
    let mut bends = vec![false; character.skeleton.len()];
    let limbs = humanoid.bones.iter().filter(|(bone, _)| {
        use HumanBone::{Chest, Hips, Spine, UpperChest};
        !matches!(bone, Hips | Spine | Chest | UpperChest)
    });
    for &joint in limbs.flat_map(|(_, joints)| joints) {
        bends[joint] = true;
    }
    bends
}

fn humanoid(character: &Character) -> Option<Humanoid> {
    Humanoid::find(&character.skeleton, &BoneMap::of(character)).ok()
}

/// Propagates values from parents to children, parents first.
fn propagate<T: Copy>(skeleton: &Skeleton, values: &mut [T], take: impl Fn(&T, &mut T)) {
    for joint in 0..skeleton.len() {
        if let Some(parent) = skeleton.joints()[joint].parent {
            let above = values[parent];
            take(&above, &mut values[joint]);
        }
    }
}

/// Joints whose names match a pattern; an error if there is none.
fn named(skeleton: &Skeleton, list: &str, pattern: &str) -> Result<Vec<usize>, FleshError> {
    let found: Vec<usize> = (0..skeleton.len())
        .filter(|&joint| matches(pattern, &skeleton.joints()[joint].name))
        .collect();
    if found.is_empty() {
        return Err(FleshError::NoSuchJoint {
            what: format!("`{list}`"),
            name: pattern.to_owned(),
        });
    }
    Ok(found)
}
