//! Which joints of the body's rig move each bone.
//!
//! Limb bones hang on one joint. Vertebrae are blended along the chain of spine joints by their height. The rib cage is nearly one rigid
//! piece, as in a person, who twists and bends below it: ribs and breast bone move alike, and thoracic vertebrae mostly with them.
//! Clavicle and scapula are blended between the trunk and the joints of the shoulder, patellae between thigh and shin.

use std::collections::BTreeMap;

use glam::{Affine3A, Mat4};

use super::articulations::FINGERS;
use super::names::known_bone;
use crate::{Body, Bone};

/// Joints of the skeleton and their weights, which sum to one.
pub type BoneWeights = Vec<(u32, f32)>;

/// Spine joints of the rig from the pelvis up.
const SPINE: [&str; 9] = [
    "spine05", "spine04", "spine03", "spine02", "spine01", "neck01", "neck02", "neck03", "head",
];
/// Joints that carry the rib cage: the two whose segments lie in it. With one of them alone, the other end of the cage
/// would part from the spine by twice as much when the trunk bends.
const CAGE: [(&str, f32); 2] = [("spine01", 0.5), ("spine02", 0.5)];
/// How much of a rib follows its vertebra; the rest follows the cage. At 0.6 the cage is a stack of turning rings, and the
/// skin over it shears as without bones.
const RIB_SHARE: f32 = 0.1;
/// The same of the floating ribs, which end in muscle, and of a thoracic vertebra its own blend along the spine.
const FLOATING_RIB_SHARE: f32 = 0.5;
const THORACIC_SHARE: f32 = 0.35;
/// The first floating rib; vertebrae from there on are not held by the cage.
const FLOATING: usize = 11;

/// Weights of each bone, in their order. Joints that the rig lacks are replaced by their nearest known parent.
pub fn bone_weights(bones: &[Bone], body: &Body) -> Vec<BoneWeights> {
    let rig = Rig::new(body);
    let heights: BTreeMap<&str, f32> = (bones.iter())
        .map(|bone| (bone.name.as_str(), bone.mesh.bounds().center().y))
        .collect();
    bones
        .iter()
        .map(|bone| rig.weights(bone, &heights))
        .collect()
}

struct Rig<'a> {
    body: &'a Body,
    /// Spine joints that the rig has, with their heights \[m\].
    spine: Vec<(u32, f32)>,
}

impl<'a> Rig<'a> {
    fn new(body: &'a Body) -> Self {
        let worlds = body.skeleton.rest_worlds();
        let spine = (SPINE.iter())
            .filter_map(|name| body.skeleton.find(name))
            .map(|joint| (joint as u32, worlds[joint].translation.y))
            .collect();
        Rig { body, spine }
    }

    fn named(&self, weights: &[(&str, f32)]) -> BoneWeights {
        let found: BoneWeights = (weights.iter())
            .filter_map(|&(name, weight)| Some((self.body.skeleton.find(name)? as u32, weight)))
            .collect();
        normalised(if found.is_empty() {
            vec![(0, 1.0)]
        } else {
            found
        })
    }

    /// Smooth weights along the spine: a joint moves what lies between it and the next, with even blends at both.
    fn along_spine(&self, height: f32) -> BoneWeights {
        let n = self.spine.len();
        if n < 2 {
            return self.named(&[("root", 1.0)]);
        }
        let middle = |k: usize| {
            let next = self.spine.get(k + 1).map_or(self.spine[k].1 + 0.1, |s| s.1);
            0.5 * (self.spine[k].1 + next)
        };
        let above = (0..n).find(|&k| middle(k) > height).unwrap_or(n);
        if above == 0 {
            return vec![(self.spine[0].0, 1.0)];
        }
        if above == n {
            return vec![(self.spine[n - 1].0, 1.0)];
        }
        let t = (height - middle(above - 1)) / (middle(above) - middle(above - 1)).max(1e-6);
        vec![(self.spine[above - 1].0, 1.0 - t), (self.spine[above].0, t)]
    }

    fn weights(&self, bone: &Bone, heights: &BTreeMap<&str, f32>) -> BoneWeights {
        let height = bone.mesh.bounds().center().y;
        let name = bone.name.as_str();
        let (stem, side) = match (name.strip_suffix("_l"), name.strip_suffix("_r")) {
            (Some(stem), _) => (stem, "L"),
            (_, Some(stem)) => (stem, "R"),
            _ => (name, ""),
        };
        let sided = |joint: &str| format!("{joint}.{side}");
        let one = |joint: &str| self.named(&[(&sided(joint), 1.0)]);
        let segment = known_bone(name).map_or("", |known| known.segment.as_str());
        if segment == "skull" {
            return self.named(&[("head", 1.0)]);
        }
        if segment == "pelvis" {
            return self.named(&[("root", 1.0)]);
        }
        let cage = self.named(&CAGE);
        let thoracic = (stem.strip_prefix("vertebra_T")).and_then(|number| number.parse().ok());
        if thoracic.is_some_and(|number: usize| number < FLOATING) {
            return blended(&self.along_spine(height), &cage, THORACIC_SHARE);
        }
        if stem.starts_with("vertebra_")
            || stem.starts_with("disk_")
            || stem == "hyoid"
            || stem == "thyroid_cartilage"
        {
            return self.along_spine(height);
        }
        if let Some(number) = stem.strip_prefix("rib") {
            let number = number.trim_start_matches('0');
            let share = match number.parse::<usize>() {
                Ok(number) if number >= FLOATING => FLOATING_RIB_SHARE,
                _ => RIB_SHARE,
            };
            let at = heights
                .get(format!("vertebra_T{number}").as_str())
                .copied()
                .unwrap_or(height);
            return blended(&self.along_spine(at), &cage, share);
        }
        if segment == "thorax" {
            return cage;
        }
        if let Some(weights) = self.digit(stem, side) {
            return weights;
        }
        match stem {
            "clavicle" => self.named(&[(&sided("clavicle"), 0.8), ("spine01", 0.2)]),
            "scapula" => self.named(&[
                (&sided("shoulder01"), 0.6),
                (&sided("clavicle"), 0.25),
                ("spine01", 0.15),
            ]),
            "humerus" => one("upperarm02"),
            "ulna" => one("lowerarm01"),
            "radius" => one("lowerarm02"),
            "femur" => one("upperleg02"),
            "patella" => self.named(&[(&sided("upperleg02"), 0.5), (&sided("lowerleg01"), 0.5)]),
            "tibia" | "fibula" => one("lowerleg02"),
            _ if segment.starts_with("foot") => one("foot"),
            _ if segment.starts_with("carpals") => one("wrist"),
            _ => self.along_spine(height),
        }
    }

    /// Fingers and toes.
    fn digit(&self, stem: &str, side: &str) -> Option<BoneWeights> {
        let one = |joint: String| self.named(&[(&joint, 1.0)]);
        let place = |phalanx: &str| match phalanx {
            "proximal" | "prox" => 1,
            "medial" | "mid" => 2,
            _ => 3,
        };
        if let Some(number) = stem.strip_prefix("metacarpal") {
            let number: usize = number.parse().ok()?;
            // The rig's metacarpal joints begin with the index finger's.
            return Some(match number {
                1 => one(format!("finger1-1.{side}")),
                _ => one(format!("metacarpal{}.{side}", number - 1)),
            });
        }
        let (digit, phalanx) = stem.split_once('_')?;
        if let Some(number) = digit.strip_prefix("toe") {
            let place = if number == "1" {
                place(phalanx).min(2)
            } else {
                place(phalanx)
            };
            return Some(one(format!("toe{number}-{place}.{side}")));
        }
        let finger = FINGERS.iter().position(|name| *name == digit)? + 1;
        let place = if finger == 1 {
            place(phalanx).max(2)
        } else {
            place(phalanx)
        };
        Some(one(format!("finger{finger}-{place}.{side}")))
    }
}

fn normalised(mut weights: BoneWeights) -> BoneWeights {
    let sum: f32 = weights.iter().map(|(_, weight)| weight).sum();
    weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
    weights
}

fn blended(a: &BoneWeights, b: &BoneWeights, share: f32) -> BoneWeights {
    let mut sum: BTreeMap<u32, f32> = BTreeMap::new();
    for (weights, share) in [(a, share), (b, 1.0 - share)] {
        weights
            .iter()
            .for_each(|&(joint, weight)| *sum.entry(joint).or_default() += share * weight);
    }
    sum.into_iter().collect()
}

/// The motion of a bone from the rest pose by linear blending, given the world matrices of all joints at rest and now.
pub fn bone_motion(weights: &BoneWeights, rest: &[Affine3A], now: &[Affine3A]) -> Affine3A {
    let mut sum = Mat4::ZERO;
    for &(joint, weight) in weights {
        let motion = now[joint as usize] * rest[joint as usize].inverse();
        sum += Mat4::from(motion) * weight;
    }
    Affine3A::from_mat4(sum)
}
