//! Detects broken skin weights: skin bound to bones far away from it, or almost all skin bound to one bone.

use glam::Vec3;

use crate::character::{Character, Problem, Remedy, Severity};
use crate::skeleton::JointKind;

/// A vertex is stray if its main bone is farther away than the nearest bone by this fraction of the character's size.
/// Below 0.2, long hair, skirts and capes are reported: their bones are far above them.
const STRAY_DISTANCE: f32 = 0.25;
/// Fraction of stray vertices above which the weights are reported. Folds and accessories stay below.
const MAX_STRAY_FRACTION: f32 = 0.2;
/// Fraction of the skin that one bone may dominate.
const MAX_DOMINATED_FRACTION: f32 = 0.9;
/// Number of vertices examined.
const SAMPLE_COUNT: usize = 5000;
/// Skeletons with fewer bone segments are not examined.
const MIN_SEGMENTS: usize = 8;

/// A warning if much of the skin is bound to far-away bones, or almost all of it to one bone.
pub fn stray_weights(character: &Character) -> Option<Problem> {
    let bones = Bones::of(character);
    if bones.segments.len() < MIN_SEGMENTS {
        return None;
    }
    let (low, high) = character.bounds()?;
    let reach = STRAY_DISTANCE * (high - low).max_element();
    let count = character.parts.iter().map(|p| p.mesh.positions.len()).sum();
    let step = usize::div_ceil(count, SAMPLE_COUNT).max(1);
    let (mut seen, mut stray) = (0usize, 0usize);
    let mut blamed = vec![0usize; character.skeleton.len()];
    let mut leads = vec![0usize; character.skeleton.len()];
    let meshes = character.bind_meshes();
    for (index, (part, mesh)) in character.parts.iter().zip(&meshes).enumerate() {
        if part.binding.computed || part.binding.influences.is_empty() {
            continue;
        }
        for (vertex, &place) in mesh.positions.iter().enumerate().step_by(step) {
            let joint = leading_joint(character, index, vertex);
            let Some(joint) = joint.and_then(|joint| bone_above(character, joint)) else {
                continue;
            };
            let (nearest, own) = bones.distances(place, joint);
            seen += 1;
            leads[joint] += 1;
            if own > nearest + reach {
                stray += 1;
                blamed[joint] += 1;
            }
        }
    }
    let most = |counts: &[usize]| (0..counts.len()).max_by_key(|&joint| counts[joint]);
    let name = |joint: usize| &character.skeleton.joints()[joint].name;
    let leader = most(&leads)?;
    let text = if leads[leader] as f32 > MAX_DOMINATED_FRACTION * seen as f32 {
        format!("almost all skin is bound to '{}' alone", name(leader))
    } else if stray as f32 > MAX_STRAY_FRACTION * seen as f32 {
        let percent = 100 * stray / seen;
        let joint = name(most(&blamed)?);
        format!("{percent} % of the skin is bound to bones far away from it, mostly to '{joint}'")
    } else {
        return None;
    };
    Some(Problem {
        severity: Severity::Warning,
        remedy: Some(Remedy::Weights),
        place: String::new(),
        text: format!("The skin weights look broken: {text}."),
    })
}

/// The joint with the largest weight of a vertex.
fn leading_joint(character: &Character, part: usize, vertex: usize) -> Option<usize> {
    let binding = &character.parts[part].binding;
    if vertex >= binding.influences.len() {
        return None;
    }
    let entries = binding.influences.of(vertex).iter();
    let (slot, _) = entries.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let joint = *binding.joints.get(*slot as usize)?;
    (joint < character.skeleton.len()).then_some(joint)
}

/// The bone that moves a joint: itself, or the first bone above a helper, such as the node of a mesh that hangs on a bone.
fn bone_above(character: &Character, joint: usize) -> Option<usize> {
    let joints = character.skeleton.joints();
    let mut above = std::iter::successors(Some(joint), |&joint| joints[joint].parent);
    above.find(|&joint| joints[joint].kind == JointKind::Bone)
}

/// Bone segments, each with its joint.
struct Bones {
    segments: Vec<(usize, Vec3, Vec3)>,
}

impl Bones {
    fn of(character: &Character) -> Self {
        let worlds = character.bind_worlds();
        let joints = character.skeleton.joints();
        let at = |joint: usize| Vec3::from(worlds[joint].translation);
        let mut segments = Vec::new();
        for (index, joint) in joints.iter().enumerate() {
            let tail = joint.tail.map(|tail| worlds[index].transform_point3(tail));
            segments.push((index, at(index), tail.unwrap_or(at(index))));
            if let Some(parent) = joint.parent.filter(|&p| joints[p].kind == JointKind::Bone) {
                segments.push((parent, at(parent), at(index)));
            }
        }
        segments.retain(|(joint, ..)| joints[*joint].kind == JointKind::Bone);
        Self { segments }
    }

    /// Distance to the nearest bone, and to the nearest bone of `joint`.
    fn distances(&self, place: Vec3, joint: usize) -> (f32, f32) {
        let each = self.segments.iter();
        each.fold((f32::INFINITY, f32::INFINITY), |(any, own), &(j, a, b)| {
            let along = b - a;
            let t = ((place - a).dot(along) / along.length_squared().max(1e-20)).clamp(0.0, 1.0);
            let distance = place.distance(a + t * along);
            let own = if j == joint { own.min(distance) } else { own };
            (any.min(distance), own)
        })
    }
}
