//! Writing BVH: a skeleton and one clip of it.

use std::fmt::Write;

use glam::{EulerRot, Quat, Vec3};

use crate::{Clip, Skeleton};

/// File units per metre: most programs expect BVH in centimetres.
const UNITS_PER_METRE: f32 = 100.0;

/// Writes a clip sampled at `rate` frames per second (at least one frame), or the rest pose without a clip.
///
/// BVH has no rest rotations, so joints get the world axes and zero angles are the rest pose. Scales are lost. Every
/// root has position channels; rotations are written in the order Z, X, Y.
pub fn write_bvh(skeleton: &Skeleton, clip: Option<&Clip>, rate: f32) -> String {
    let mut out = String::from("HIERARCHY\n");
    let children = skeleton.children();
    let rest: Vec<Vec3> = skeleton
        .rest_worlds()
        .iter()
        .map(|w| w.translation.into())
        .collect();
    let order = write_joints(&mut out, skeleton, &children, &rest);
    let rate = if rate.is_finite() && rate > 0.0 {
        rate
    } else {
        30.0
    };
    let duration = clip.map_or(0.0, Clip::duration);
    let frames = (duration * rate).round() as usize + 1;
    let _ = writeln!(out, "MOTION\nFrames: {frames}\nFrame Time: {}", 1.0 / rate);
    for frame in 0..frames {
        write_frame(&mut out, skeleton, clip, frame as f32 / rate, &order);
    }
    out
}

/// Writes the hierarchy; returns its joint order, which is the channel order.
fn write_joints(
    out: &mut String,
    skeleton: &Skeleton,
    children: &[Vec<usize>],
    rest: &[Vec3],
) -> Vec<usize> {
    enum Step {
        Open(usize, usize),
        Close(usize),
    }
    let joints = skeleton.joints();
    let worlds = skeleton.rest_worlds();
    let roots = (0..joints.len())
        .rev()
        .filter(|&joint| joints[joint].parent.is_none());
    let mut steps: Vec<Step> = roots.map(|root| Step::Open(root, 0)).collect();
    let mut order = Vec::new();
    while let Some(step) = steps.pop() {
        let (joint, depth) = match step {
            Step::Open(joint, depth) => (joint, depth),
            Step::Close(depth) => {
                let _ = writeln!(out, "{}}}", "\t".repeat(depth));
                continue;
            }
        };
        order.push(joint);
        let tabs = "\t".repeat(depth);
        let (word, channels, from) = match joints[joint].parent {
            None => ("ROOT", "6 Xposition Yposition Zposition", Vec3::ZERO),
            Some(parent) => ("JOINT", "3", rest[parent]),
        };
        let name = joints[joint].name.replace(['\r', '\n', '{', '}'], "_");
        let name = if name.trim().is_empty() {
            format!("joint{joint}")
        } else {
            name
        };
        let offset = numbers((rest[joint] - from) * UNITS_PER_METRE);
        let _ = writeln!(
            out,
            "{tabs}{word} {name}\n{tabs}{{\n{tabs}\tOFFSET {offset}"
        );
        let _ = writeln!(
            out,
            "{tabs}\tCHANNELS {channels} Zrotation Xrotation Yrotation"
        );
        if children[joint].is_empty() {
            let tail = joints[joint].tail.unwrap_or_default();
            let tail = numbers(worlds[joint].transform_vector3(tail) * UNITS_PER_METRE);
            let _ = writeln!(
                out,
                "{tabs}\tEnd Site\n{tabs}\t{{\n{tabs}\t\tOFFSET {tail}\n{tabs}\t}}"
            );
        }
        steps.push(Step::Close(depth));
        let deeper = children[joint].iter().rev();
        steps.extend(deeper.map(|&child| Step::Open(child, depth + 1)));
    }
    order
}

fn write_frame(
    out: &mut String,
    skeleton: &Skeleton,
    clip: Option<&Clip>,
    time: f32,
    order: &[usize],
) {
    let pose = match clip {
        Some(clip) => clip.sample(skeleton, time),
        None => crate::Pose::rest(skeleton),
    };
    let rotation = |world: &glam::Affine3A| world.to_scale_rotation_translation().1;
    let worlds = pose.worlds(skeleton);
    let rest = skeleton.rest_worlds();
    // World rotation of each joint relative to rest: G = W · W₀⁻¹.
    let turned: Vec<Quat> = worlds
        .iter()
        .zip(&rest)
        .map(|(now, rest)| rotation(now) * rotation(rest).inverse())
        .collect();
    let mut words = Vec::new();
    for &joint in order {
        let local = match skeleton.joints()[joint].parent {
            Some(parent) => turned[parent].inverse() * turned[joint],
            None => {
                words.push(numbers(
                    Vec3::from(worlds[joint].translation) * UNITS_PER_METRE,
                ));
                turned[joint]
            }
        };
        let (z, x, y) = local.to_euler(EulerRot::ZXY);
        words.push(numbers(Vec3::new(z, x, y) * (180.0 / std::f32::consts::PI)));
    }
    let _ = writeln!(out, "{}", words.join(" "));
}

fn numbers(v: Vec3) -> String {
    format!("{} {} {}", v.x, v.y, v.z)
}
