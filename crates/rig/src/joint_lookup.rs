//! Joints by what a user calls them: a joint's name, or a place of the body such as `knee.L`.

use crate::Character;
use crate::retarget::humanoid::Side;
use crate::retarget::{BoneMap, HumanBone, Humanoid};

/// A bone of one side.
type Sided = fn(Side) -> HumanBone;

/// Places on both sides of the body, by the bone that starts there.
const SIDED: [(&str, Sided); 13] = [
    ("hip", HumanBone::UpperLeg),
    ("thigh", HumanBone::UpperLeg),
    ("knee", HumanBone::LowerLeg),
    ("ankle", HumanBone::Foot),
    ("foot", HumanBone::Foot),
    ("toes", HumanBone::Toes),
    ("collar", HumanBone::Shoulder),
    ("shoulder", HumanBone::UpperArm),
    ("upperarm", HumanBone::UpperArm),
    ("elbow", HumanBone::LowerArm),
    ("forearm", HumanBone::LowerArm),
    ("wrist", HumanBone::Hand),
    ("hand", HumanBone::Hand),
];

/// Places in the middle of the body.
const MIDDLE: [(&str, HumanBone); 9] = [
    ("hips", HumanBone::Hips),
    ("pelvis", HumanBone::Hips),
    ("spine", HumanBone::Spine),
    ("belly", HumanBone::Spine),
    ("waist", HumanBone::Spine),
    ("chest", HumanBone::Chest),
    ("upperchest", HumanBone::UpperChest),
    ("neck", HumanBone::Neck),
    ("head", HumanBone::Head),
];

/// A joint by its name, whatever the case, or by a place of a humanoid's body: `knee.L`, `left knee`, `chest`. Names come first.
pub fn find_joint(character: &Character, text: &str) -> Option<usize> {
    let joints = character.skeleton.joints();
    let alike = || (joints.iter()).position(|joint| joint.name.eq_ignore_ascii_case(text));
    let named = character.skeleton.find(text).or_else(alike);
    named.or_else(|| {
        let humanoid = Humanoid::find(&character.skeleton, &BoneMap::of(character)).ok()?;
        humanoid.joint(bone_of(text)?)
    })
}

/// Places of the body that [`find_joint`] knows, for messages.
pub fn places() -> String {
    let middle = MIDDLE.iter().map(|(name, _)| (*name).to_owned());
    let sided = SIDED.iter().map(|(name, _)| format!("{name}.L"));
    middle.chain(sided).collect::<Vec<_>>().join(", ")
}

fn bone_of(text: &str) -> Option<HumanBone> {
    let word: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    let word = word.to_lowercase();
    let exact = HumanBone::all().into_iter();
    let exact = exact
        .into_iter()
        .find(|bone| bone.name().to_lowercase() == word);
    let middle = MIDDLE.iter().find(|(name, _)| *name == word);
    let sides = [
        ("left", Side::Left),
        ("right", Side::Right),
        ("l", Side::Left),
        ("r", Side::Right),
    ];
    let sided = || {
        sides.iter().find_map(|&(mark, side)| {
            let rests = [word.strip_prefix(mark), word.strip_suffix(mark)];
            let mut found = rests.into_iter().flatten().filter_map(|rest| {
                let place = SIDED.iter().find(|(name, _)| *name == rest);
                place.map(|(_, bone)| bone(side))
            });
            found.next()
        })
    };
    exact.or(middle.map(|&(_, bone)| bone)).or_else(sided)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyed::mannequin;

    #[test]
    fn joints_are_found_by_name_and_by_place() {
        let character = Character {
            skeleton: mannequin(),
            ..Character::default()
        };
        let knee = find_joint(&character, "knee.L");
        assert!(knee.is_some());
        for text in ["left knee", "KNEE_L", "leftLowerLeg", "kneeLeft", "l_knee"] {
            assert_eq!(find_joint(&character, text), knee, "{text}");
        }
        assert_ne!(find_joint(&character, "knee.R"), knee);
        for joint in character.skeleton.joints() {
            let own = character.skeleton.find(&joint.name);
            assert_eq!(find_joint(&character, &joint.name.to_uppercase()), own);
        }
        for text in ["", "knee", "tail.L", "lr"] {
            assert_eq!(find_joint(&character, text), None, "{text}");
        }
        for place in places().split(", ") {
            assert!(bone_of(place).is_some(), "{place}");
        }
    }
}
