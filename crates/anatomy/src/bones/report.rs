//! How well bones were placed.

use std::collections::BTreeMap;

use rayon::prelude::*;
use supple_geom::{Surface, TriMesh};

use super::articulations::{Articulation, pairs};
use super::maps::Stretch;
use super::names::known_bone;
use super::segments::Segment;
use crate::Bone;

/// Parts of the body that bones are counted by.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum BoneRegion {
    /// Skull and jaw.
    Head,
    /// Spine, ribs, pelvis, shoulder girdle.
    Trunk,
    /// Long bones of the arms.
    Arms,
    /// Wrists and fingers.
    Hands,
    /// Long bones of the legs and patellae.
    Legs,
    /// Feet and toes.
    Feet,
}

/// The region a bone belongs to.
pub fn bone_region(name: &str) -> BoneRegion {
    let segment = known_bone(name).map_or(name, |known| known.segment.as_str());
    let stem = segment.trim_end_matches("_l").trim_end_matches("_r");
    match stem {
        "skull" | "neck" => BoneRegion::Head,
        "humerus" | "ulna" | "radius" => BoneRegion::Arms,
        "femur" | "tibia" => BoneRegion::Legs,
        "carpals" => BoneRegion::Hands,
        "foot" => BoneRegion::Feet,
        _ if stem.starts_with("toe") => BoneRegion::Feet,
        _ if super::articulations::FINGERS
            .iter()
            .any(|finger| stem.starts_with(finger)) =>
        {
            BoneRegion::Hands
        }
        _ if stem.starts_with("metacarpal") => BoneRegion::Hands,
        _ => BoneRegion::Trunk,
    }
}

/// Vertices of a region against the outer skin.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Outside {
    /// Vertices of bones.
    pub vertices: usize,
    /// Of those, outside.
    pub outside: usize,
    /// Farthest outside \[m\].
    pub farthest: f32,
    /// Least depth of a vertex below the skin, negative outside \[m\].
    pub least_depth: f32,
}

/// Figures of a placement.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct PlacementReport {
    /// Size of the body's bones against the set's.
    pub size: f64,
    /// Bones against the skin, by region.
    pub outside: BTreeMap<BoneRegion, Outside>,
    /// Distance between the surfaces of the two bones of each joint \[m\].
    pub gaps: BTreeMap<String, f32>,
    /// Distance between the two bones' copies of each joint's centre \[m\].
    pub centre_gaps: BTreeMap<String, f64>,
    /// Scales of each segment against [`PlacementReport::size`]: across and along for long bones, else along x, y, z.
    pub scales: BTreeMap<String, Vec<f64>>,
    /// Bones with vertices outside.
    pub outside_bones: BTreeMap<String, Outside>,
    /// Bones that the fit left outside and that were pushed in, with the largest push \[m\].
    pub pushed: BTreeMap<String, f32>,
    /// Volume of each bone \[ml\].
    pub volumes: BTreeMap<String, f64>,
}

impl PlacementReport {
    /// The widest gap, with its joint \[m\].
    pub fn widest_gap(&self) -> Option<(&str, f32)> {
        let widest = self.gaps.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        Some((widest.0, *widest.1))
    }

    /// Vertices outside over all regions.
    pub fn outside_count(&self) -> usize {
        self.outside.values().map(|region| region.outside).sum()
    }
}

pub(super) fn report(
    bones: &[Bone],
    skin: &Surface,
    segments: &[Segment],
    joints: &[Articulation],
    size: f64,
) -> PlacementReport {
    let mut outside: BTreeMap<BoneRegion, Outside> = BTreeMap::new();
    let depths: Vec<Vec<f32>> = (bones.par_iter())
        .map(|bone| {
            (bone.mesh.positions.iter())
                .map(|&p| -skin.signed_distance(p).unwrap_or(0.0))
                .collect()
        })
        .collect();
    let mut outside_bones = BTreeMap::new();
    let none = Outside {
        least_depth: f32::INFINITY,
        ..Outside::default()
    };
    for (bone, depths) in bones.iter().zip(&depths) {
        let region = outside.entry(bone_region(&bone.name)).or_insert(none);
        let mut own = none;
        for &depth in depths {
            for count in [&mut own, &mut *region] {
                count.vertices += 1;
                count.outside += usize::from(depth < 0.0);
                count.farthest = count.farthest.max(-depth);
                count.least_depth = count.least_depth.min(depth);
            }
        }
        if own.outside > 0 {
            outside_bones.insert(bone.name.clone(), own);
        }
    }
    let centre_gaps = (joints.iter())
        .filter(|joint| joint.give.is_none())
        .filter_map(|joint| {
            let at = |k: usize| {
                let segment = segments.iter().find(|s| s.name == joint.segments[k])?;
                Some(segment.placed.point(&segment.map.basis(joint.at[k])))
            };
            Some((joint.name.clone(), at(0)?.distance(at(1)?)))
        })
        .collect();
    let scales = (segments.iter())
        .map(|segment| {
            let count = match segment.map.stretch {
                Stretch::Uniform => 1,
                Stretch::Axes => 3,
                Stretch::Long { .. } => 2,
            };
            let relative = segment.placed.scales[..count]
                .iter()
                .map(|scale| scale / size);
            (segment.name.clone(), relative.collect())
        })
        .collect();
    PlacementReport {
        size,
        outside,
        outside_bones,
        pushed: BTreeMap::new(),
        gaps: gaps(bones),
        centre_gaps,
        scales,
        volumes: (bones.iter())
            .map(|bone| (bone.name.clone(), bone.mesh.signed_volume() * 1e6))
            .collect(),
    }
}

/// Least distance between the surfaces of each pair of bones that meet \[m\]; zero where they touch or overlap.
fn gaps(bones: &[Bone]) -> BTreeMap<String, f32> {
    let by_name: BTreeMap<&str, &TriMesh> = bones
        .iter()
        .map(|bone| (bone.name.as_str(), &bone.mesh))
        .collect();
    let merged = |names: &[String]| {
        TriMesh::merged(
            names
                .iter()
                .filter_map(|name| by_name.get(name.as_str()).copied()),
        )
    };
    let found: Vec<Option<(String, f32)>> = (pairs().into_par_iter())
        .map(|pair| {
            let [a, b] = pair.bones.map(|names| Surface::new(merged(&names)));
            let nearest = |from: &Surface, to: &Surface| {
                let mut gap = f32::INFINITY;
                for &p in &from.mesh().positions {
                    if let Some(found) = to.closest_point_within(p, gap.min(1.0)) {
                        gap = if to.contains(p) {
                            0.0
                        } else {
                            gap.min(found.distance)
                        };
                    }
                }
                gap
            };
            let gap = nearest(&a, &b).min(nearest(&b, &a));
            gap.is_finite().then_some((pair.name, gap))
        })
        .collect();
    found.into_iter().flatten().collect()
}
