//! Humanoid bones from joint names: CMU, Mixamo, VRM, VRoid, MakeHuman, Rigify, Unreal, 3ds Max, Daz, SMPL,
//! MikuMikuDance and similar rigs.

use std::collections::BTreeMap;

use super::humanoid::{Finger, HumanBone, Side};
use crate::Skeleton;

/// Words that name a rig or carry no meaning.
const IGNORED_WORDS: &[&str] = &[
    "mixamorig",
    "joint",
    "jnt",
    "bone",
    "bip",
    "bip001",
    "valvebiped",
    "j",
    "c",
    "b",
    "def",
    "org",
    "cc",
    "skeleton",
    "armature",
    "rig",
    "f",
    "bend",
    "sk",
    "skel",
    "m",
    "avg",
];
/// Words of helper joints that are not bones.
const HELPER_WORDS: &[&str] = &[
    "twist",
    "roll",
    "ik",
    "pole",
    "target",
    "ctrl",
    "control",
    "end",
    "nub",
    "tip",
    "site",
    "mch",
    "helper",
    "share",
    "sec",
    "volume",
    "metacarpal",
    "carpal",
    "top",
    "ｉｋ",
];

/// A joint name split into words.
#[derive(Debug, PartialEq)]
struct Words {
    side: Option<Side>,
    /// All meaningful words, joined.
    body: String,
    numbers: Vec<u32>,
    helper: bool,
    /// Whether it is one of Rigify's `ORG` joints. They move no skin; their `DEF` counterparts are preferred.
    original: bool,
}

/// The bones found by name, each with its best joint.
pub(super) fn guess(skeleton: &Skeleton) -> BTreeMap<HumanBone, Vec<usize>> {
    // Lower ranks are better. Ties go to the joint nearest the root.
    let mut found: BTreeMap<HumanBone, Vec<(u32, usize)>> = BTreeMap::new();
    let prefix = common_prefix(skeleton);
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let words = split(&joint.name, &prefix);
        if words.helper {
            continue;
        }
        for (bone, rank) in meanings(&words) {
            let rank = rank + if words.original { 10 } else { 0 };
            found.entry(bone).or_default().push((rank, index));
        }
    }
    let mut bones = BTreeMap::new();
    let mut taken = vec![false; skeleton.len()];
    let mut order: Vec<HumanBone> = found.keys().copied().collect();
    // "Shoulder" means the upper arm if there is no other upper arm.
    order.sort_by_key(|bone| matches!(bone, HumanBone::Shoulder(_)));
    for bone in order {
        let mut joints = found.remove(&bone).unwrap_or_default();
        joints.retain(|&(_, joint)| !taken[joint]);
        joints.sort_unstable();
        let Some(&(best, first)) = joints.first() else {
            continue;
        };
        let parent = skeleton.joints()[first].parent;
        let many = matches!(bone, HumanBone::Toes(_));
        let chosen: Vec<usize> = joints
            .iter()
            .filter(|&&(rank, joint)| rank == best && skeleton.joints()[joint].parent == parent)
            .map(|&(_, joint)| joint)
            .take(if many { 5 } else { 1 })
            .collect();
        for &joint in &chosen {
            taken[joint] = true;
        }
        bones.insert(bone, chosen);
    }
    bones
}

/// Fewest joints of a common prefix: fewer may share a meaning.
const PREFIXED: usize = 8;

/// The words with which more than half of all names begin: that of the character, as in `Yeti_LeftArm`. Sides and what other names
/// end in have a meaning.
fn common_prefix(skeleton: &Skeleton) -> Vec<String> {
    let mut names: Vec<Vec<String>> = (skeleton.joints().iter())
        .map(|joint| tokens(joint.name.rsplit([':', '|']).next().unwrap_or(&joint.name)))
        .filter(|tokens| !tokens.is_empty())
        .collect();
    let all = names.len();
    let mut prefix = Vec::new();
    loop {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tokens in names.iter().filter(|tokens| tokens.len() > 1) {
            *counts.entry(&tokens[0]).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|&(_, count)| count);
        let Some((word, count)) = most else {
            return prefix;
        };
        if 2 * count <= all || count < PREFIXED || side_word(word).is_some() {
            return prefix;
        }
        let word = word.to_owned();
        names.retain(|tokens| tokens[0] == word);
        names.iter_mut().for_each(|tokens| {
            tokens.remove(0);
        });
        names.retain(|tokens| !tokens.is_empty());
        prefix.push(word);
    }
}

/// Possible meanings of a name, each with a rank (0 is certain).
fn meanings(words: &Words) -> Vec<(HumanBone, u32)> {
    let body = words.body.as_str();
    let Some(side) = words.side else {
        return match body {
            "hips" | "腰" => vec![(HumanBone::Hips, 0)],
            "hip" | "pelvis" | "センター" => vec![(HumanBone::Hips, 1)],
            "head" | "頭" => vec![(HumanBone::Head, 0)],
            _ => Vec::new(),
        };
    };
    if let Some(finger) = finger(words) {
        return vec![(HumanBone::Finger(side, finger.0, finger.1), 0)];
    }
    match body {
        "upleg" | "upperleg" | "thigh" | "legupper" | "femur" | "足" => {
            vec![(HumanBone::UpperLeg(side), 0)]
        }
        "hip" => vec![(HumanBone::UpperLeg(side), 2)],
        "lowerleg" | "lowleg" | "calf" | "shin" | "leglower" | "tibia" | "ひざ" => {
            vec![(HumanBone::LowerLeg(side), 0)]
        }
        "knee" | "leg" => vec![(HumanBone::LowerLeg(side), 1)],
        "foot" | "feet" | "足首" => vec![(HumanBone::Foot(side), 0)],
        "ankle" => vec![(HumanBone::Foot(side), 0)],
        "toebase" | "toe" | "toes" | "ball" | "つま先" => vec![(HumanBone::Toes(side), 0)],
        "clavicle" | "collar" | "clav" | "肩" => vec![(HumanBone::Shoulder(side), 0)],
        "shoulder" => vec![
            (HumanBone::Shoulder(side), 1),
            (HumanBone::UpperArm(side), 2),
        ],
        "upperarm" | "uparm" | "armupper" | "shldr" | "humerus" | "腕" => {
            vec![(HumanBone::UpperArm(side), 0)]
        }
        "arm" => vec![(HumanBone::UpperArm(side), 1)],
        "forearm" | "lowerarm" | "lowarm" | "armlower" | "ひじ" => {
            vec![(HumanBone::LowerArm(side), 0)]
        }
        "elbow" => vec![(HumanBone::LowerArm(side), 1)],
        "hand" | "wrist" | "手首" => vec![(HumanBone::Hand(side), 0)],
        _ => Vec::new(),
    }
}

/// A finger and the index of its joint.
fn finger(words: &Words) -> Option<(Finger, u8)> {
    let mut body = words.body.as_str();
    for prefix in ["hand", "finger"] {
        body = body.strip_prefix(prefix).unwrap_or(body);
    }
    let endings = [("proximal", 0), ("intermediate", 1), ("distal", 2)];
    let ending = endings
        .iter()
        .find_map(|&(ending, joint)| Some((body.strip_suffix(ending)?, joint)));
    if let Some((stem, _)) = ending {
        body = stem;
    }
    let numbers = &words.numbers;
    let finger = match body {
        "thumb" => Finger::Thumb,
        "index" | "point" => Finger::Index,
        "middle" | "mid" => Finger::Middle,
        "ring" => Finger::Ring,
        "pinky" | "little" | "pinkie" => Finger::Little,
        // MakeHuman: finger2-1 is the first joint of the second finger.
        "" if words.body == "finger" && numbers.len() == 2 => {
            let joint = u8::try_from(numbers[1].checked_sub(1)?).ok()?;
            let finger = *Finger::ALL.get(numbers[0].checked_sub(1)? as usize)?;
            return (joint < 3).then_some((finger, joint));
        }
        _ => return None,
    };
    let joint = match (ending, numbers.last()) {
        (Some((_, joint)), _) => joint,
        (None, Some(&number)) => u8::try_from(number.checked_sub(1)?).ok()?,
        (None, None) => return None,
    };
    (joint < 3).then_some((finger, joint))
}

/// Splits a name at separators, digits and capitals, and finds its side. Leaves out a prefix that most names share.
fn split(name: &str, prefix: &[String]) -> Words {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let mut words = Words {
        side: None,
        body: String::new(),
        numbers: Vec::new(),
        helper: false,
        original: false,
    };
    let mut all = tokens(name);
    let shared = all.iter().zip(prefix).take_while(|(a, b)| a == b).count();
    all.drain(..shared.min(all.len().saturating_sub(1)));
    for token in all {
        let token = token.as_str();
        if let Ok(number) = token.parse() {
            words.numbers.push(number);
        } else if let Some(side) = side_word(token) {
            words.side = Some(side);
        } else if HELPER_WORDS.contains(&token) {
            words.helper = true;
        } else if token == "org" {
            words.original = true;
        } else if let Some((side, rest)) = side_prefix(token) {
            words.side = Some(side);
            words.body.push_str(rest);
        } else if !IGNORED_WORDS.contains(&token) {
            words.body.push_str(token);
        }
    }
    // CC_Base_L_Thigh and similar; "toebase" and "fingerbase" keep their ending.
    if let Some(rest) = words.body.strip_prefix("base") {
        words.body = rest.to_owned();
    }
    words
}

fn side_word(token: &str) -> Option<Side> {
    match token {
        "left" | "l" | "lf" | "lft" => Some(Side::Left),
        "right" | "r" | "rt" | "rgt" => Some(Side::Right),
        _ => None,
    }
}

/// Splits a side from a one-word name: `lefthand`, `左手首`.
fn side_prefix(token: &str) -> Option<(Side, &str)> {
    let of = |side, prefix: &str| token.strip_prefix(prefix).map(|rest| (side, rest));
    of(Side::Left, "left")
        .or_else(|| of(Side::Right, "right"))
        .or_else(|| of(Side::Left, "左"))
        .or_else(|| of(Side::Right, "右"))
}

fn tokens(name: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = ' ';
    let characters: Vec<char> = name.chars().collect();
    for (i, &here) in characters.iter().enumerate() {
        let next_is_lower = characters.get(i + 1).is_some_and(|c| c.is_lowercase());
        let starts = !last.is_alphanumeric()
            || last.is_numeric() != here.is_numeric()
            || (here.is_uppercase() && (!last.is_uppercase() || next_is_lower));
        if here.is_alphanumeric() {
            match tokens.last_mut() {
                Some(token) if !starts => token.extend(here.to_lowercase()),
                _ => tokens.push(here.to_lowercase().collect()),
            }
        }
        last = here;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use HumanBone::{Foot, Hand, Hips, LowerArm, LowerLeg, Shoulder, Toes, UpperArm, UpperLeg};
    use Side::{Left, Right};

    fn best(name: &str) -> Option<HumanBone> {
        let words = split(name, &[]);
        if words.helper {
            return None;
        }
        meanings(&words).first().map(|&(bone, _)| bone)
    }

    #[test]
    fn joint_names_of_common_rigs() {
        for (name, bone) in [
            ("LeftUpLeg", UpperLeg(Left)),
            ("vis_char_001_fbx:mixamorig:RightForeArm", LowerArm(Right)),
            ("mixamorigLeftUpLeg", UpperLeg(Left)),
            ("mixamorig1:Hips", Hips),
            ("J_Bip_L_UpperLeg", UpperLeg(Left)),
            ("J_Bip_C_Hips", Hips),
            ("upperleg01.L", UpperLeg(Left)),
            ("toe1-1.R", Toes(Right)),
            ("wrist.R", Hand(Right)),
            ("clavicle.L", Shoulder(Left)),
            ("thigh_l", UpperLeg(Left)),
            ("ball_r", Toes(Right)),
            ("DEF-shin.L", LowerLeg(Left)),
            ("Bip001 L Calf", LowerLeg(Left)),
            ("Bip01 R UpperArm", UpperArm(Right)),
            ("lThighBend", UpperLeg(Left)),
            ("lShldrBend", UpperArm(Left)),
            ("rCollar", Shoulder(Right)),
            ("CC_Base_L_Foot", Foot(Left)),
            ("l_hip", UpperLeg(Left)),
            ("LeftToeBase", Toes(Left)),
            ("leftHand", Hand(Left)),
            ("righthand", Hand(Right)),
            ("pelvis", Hips),
            ("LeftHandIndex2", HumanBone::Finger(Left, Finger::Index, 1)),
            ("finger5-3.R", HumanBone::Finger(Right, Finger::Little, 2)),
            ("f_index.01.L", HumanBone::Finger(Left, Finger::Index, 0)),
            ("leftThumbDistal", HumanBone::Finger(Left, Finger::Thumb, 2)),
            ("センター", Hips),
            ("左足", UpperLeg(Left)),
            ("右ひざ", LowerLeg(Right)),
            ("左足首", Foot(Left)),
            ("右肩", Shoulder(Right)),
            ("左腕", UpperArm(Left)),
            ("右ひじ", LowerArm(Right)),
            ("左手首", Hand(Left)),
        ] {
            assert_eq!(best(name), Some(bone), "{name}");
        }
    }

    /// Names that begin with the character's.
    #[test]
    fn the_name_of_the_character_is_left_out() {
        let bare = crate::keyed::mannequin();
        for prefix in ["Yeti_", "Big Yeti.", "Snow01_Body_"] {
            let mut joints = bare.joints().to_vec();
            for joint in &mut joints {
                joint.name = format!("{prefix}{}", joint.name);
            }
            let (named, _) = Skeleton::from_unordered(joints).unwrap();
            assert_eq!(guess(&named), guess(&bare), "{prefix}");
        }
        assert_eq!(common_prefix(&bare), Vec::<String>::new());
    }

    #[test]
    fn helpers_are_not_bones() {
        for name in [
            "upperarm_twist_01_l",
            "ik_foot_l",
            "LeftToe_End",
            "HeadTop_End",
            "pelvis.L",
            "metacarpal1.L",
            "LeftFingerBase",
            "Armature",
            "左足ＩＫ",
            "左腕捩",
            "",
        ] {
            assert_eq!(best(name), None, "{name}");
        }
    }
}
