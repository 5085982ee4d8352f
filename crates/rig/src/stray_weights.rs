//! Weights that cannot be meant: skin that follows bones far away from it, or one bone alone.

use glam::Vec3;

use crate::character::{Character, Problem, Severity};
use crate::skeleton::JointKind;

/// How much farther than the nearest bone the bone that moves a vertex most may be, as a share of the character's size.
/// Long hair, skirts and capes hang on bones well above them: below 0.2 they are blamed.
const FAR: f32 = 0.25;
/// Share of the skin from which stray weights are no accident of a fold or an accessory.
const MANY: f32 = 0.2;
/// Share of the skin that one of many bones leads at most.
const MOST: f32 = 0.9;
/// Vertices looked at.
const SAMPLE: usize = 5000;
/// Skeletons of fewer segments have nothing to confuse.
const FEWEST_SEGMENTS: usize = 8;

/// Says so where much of the skin follows bones far away from it, or nearly all of it one bone.
pub fn stray_weights(character: &Character) -> Option<Problem> {
    let bones = Bones::of(character);
    if bones.segments.len() < FEWEST_SEGMENTS {
        return None;
    }
    let (low, high) = character.bounds()?;
    let reach = FAR * (high - low).max_element();
    let count = character.parts.iter().map(|p| p.mesh.positions.len()).sum();
    let step = usize::div_ceil(count, SAMPLE).max(1);
    let (mut seen, mut stray) = (0usize, 0usize);
    let mut blamed = vec![0usize; character.skeleton.len()];
    let mut leads = vec![0usize; character.skeleton.len()];
    for (index, part) in character.parts.iter().enumerate() {
        if part.binding.computed || part.binding.influences.is_empty() {
            continue;
        }
        let places = character.bind_mesh(index).positions;
        for (vertex, &place) in places.iter().enumerate().step_by(step) {
            let Some(joint) = leading_joint(character, index, vertex) else {
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
    let text = if leads[leader] as f32 > MOST * seen as f32 {
        format!("nearly all of the skin follows '{}' alone", name(leader))
    } else if stray as f32 > MANY * seen as f32 {
        let percent = 100 * stray / seen;
        let joint = name(most(&blamed)?);
        format!("{percent} % of the skin follows bones far away from it, most of that '{joint}'")
    } else {
        return None;
    };
    Some(Problem {
        severity: Severity::Warning,
        place: String::new(),
        text: format!("The weights look broken: {text}. `--auto-weights` computes new ones."),
    })
}

/// The joint that moves a vertex most.
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

/// Segments of bones, each with the joint that moves it.
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

    /// Distance to the nearest bone, and to the nearest of `joint`'s.
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
