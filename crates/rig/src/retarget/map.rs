//! Map files: assign joints to humanoid bones where automatic matching fails.

use std::collections::BTreeMap;

use super::HumanoidError;
use super::humanoid::HumanBone;
use crate::{Character, Skeleton};

/// Joint names of some humanoid bones of one skeleton. Other bones are matched automatically.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoneMap {
    names: BTreeMap<HumanBone, String>,
}

/// A map file: one map for the motion's skeleton, one for the character's.
///
/// ```toml
/// # Bones without a table belong to the motion's skeleton.
/// hips = "Hips"
/// leftUpperLeg = "LeftUpLeg"
///
/// [target]
/// hips = "root"
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapFile {
    /// Of the motion's skeleton: bones at the top of the file or under `[source]`.
    pub source: BoneMap,
    /// Of the character: bones under `[target]`.
    pub target: BoneMap,
}

impl BoneMap {
    /// The bone map declared by a character's file (VRM); empty if it declares none.
    pub fn of(character: &Character) -> Self {
        let joints = character.skeleton.joints();
        let named = character.humanoid.iter().flatten();
        let pairs = named
            .filter_map(|(bone, &joint)| Some((bone.as_str(), joints.get(joint)?.name.as_str())));
        Self::from_pairs(pairs).unwrap_or_default()
    }

    /// A map from VRM bone names to joint names, as VRM files hold it.
    ///
    /// Bones that retargeting does not use (eyes, jaw) are ignored; unknown bone names are errors. Thumbs
    /// are named as in VRM 1.0, or as in 0.x if there is an intermediate joint.
    pub fn from_pairs<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, HumanoidError> {
        let pairs: Vec<(String, &str)> = pairs
            .into_iter()
            .map(|(bone, joint)| (bone.to_lowercase(), joint))
            .collect();
        let old_thumbs = pairs
            .iter()
            .any(|(bone, _)| bone.ends_with("thumbintermediate"));
        let mut names = BTreeMap::new();
        for (bone, joint) in &pairs {
            if matches!(bone.as_str(), "lefteye" | "righteye" | "jaw") {
                continue;
            }
            let new_name = if old_thumbs {
                bone.replace("thumbproximal", "thumbmetacarpal")
                    .replace("thumbintermediate", "thumbproximal")
            } else {
                bone.clone()
            };
            let known = HumanBone::from_name(&new_name)
                .ok_or_else(|| HumanoidError::UnknownBone { bone: bone.clone() })?;
            names.insert(known, (*joint).to_owned());
        }
        Ok(Self { names })
    }

    /// Whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The skeleton's joints by VRM bone name, in the form of [`Character::humanoid`].
    pub fn named_joints(
        &self,
        skeleton: &Skeleton,
    ) -> Result<BTreeMap<String, usize>, HumanoidError> {
        let joints = self.joints(skeleton)?.into_iter();
        let named = joints.flat_map(|(bone, joints)| {
            let of_bone = joints.into_iter();
            of_bone.map(move |joint| (bone.name().to_owned(), joint))
        });
        Ok(named.collect())
    }

    /// The skeleton's joints of the mapped names.
    pub(super) fn joints(
        &self,
        skeleton: &Skeleton,
    ) -> Result<BTreeMap<HumanBone, Vec<usize>>, HumanoidError> {
        let find = |(&bone, name): (&HumanBone, &String)| match skeleton.find(name) {
            Some(joint) => Ok((bone, vec![joint])),
            None => Err(HumanoidError::UnknownJoint {
                bone: bone.name(),
                joint: name.clone(),
            }),
        };
        self.names.iter().map(find).collect()
    }
}

impl MapFile {
    /// Parses the text of a map file.
    pub fn parse(text: &str) -> Result<Self, HumanoidError> {
        let table: toml::Table =
            text.parse()
                .map_err(|error: toml::de::Error| HumanoidError::MapSyntax {
                    reason: error.to_string(),
                })?;
        let mut tables: [Vec<(&str, &str)>; 2] = Default::default();
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("source", toml::Value::Table(bones)) => read_bones(bones, &mut tables[0])?,
                ("target", toml::Value::Table(bones)) => read_bones(bones, &mut tables[1])?,
                (bone, value) => tables[0].push((bone, joint_name(bone, value)?)),
            }
        }
        let [source, target] = tables;
        Ok(Self {
            source: BoneMap::from_pairs(source)?,
            target: BoneMap::from_pairs(target)?,
        })
    }
}

fn read_bones<'a>(
    bones: &'a toml::Table,
    into: &mut Vec<(&'a str, &'a str)>,
) -> Result<(), HumanoidError> {
    for (bone, value) in bones {
        into.push((bone, joint_name(bone, value)?));
    }
    Ok(())
}

fn joint_name<'a>(bone: &str, value: &'a toml::Value) -> Result<&'a str, HumanoidError> {
    value.as_str().ok_or_else(|| HumanoidError::MapSyntax {
        reason: format!("{bone} must be a joint name in quotes"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retarget::humanoid::{Finger, Side};

    #[test]
    fn reads_both_tables() {
        let text = "hips = \"Hips\"\n[target]\nhips = \"root\"\nleftHand = \"wrist.L\"\n";
        let file = MapFile::parse(text).unwrap();
        assert_eq!(file.source.names[&HumanBone::Hips], "Hips");
        assert_eq!(file.target.names.len(), 2);
    }

    #[test]
    fn errors_name_the_bone() {
        let unknown = MapFile::parse("tail = \"Tail\"").unwrap_err();
        assert!(unknown.to_string().contains("tail"));
        assert!(MapFile::parse("hips = 3").is_err());
        assert!(MapFile::parse("hips = ").is_err());
    }

    #[test]
    fn vrm_0_thumb_names_are_converted() {
        let map = BoneMap::from_pairs([
            ("leftThumbProximal", "a"),
            ("leftThumbIntermediate", "b"),
            ("leftThumbDistal", "c"),
            ("leftEye", "eye"),
        ])
        .unwrap();
        let thumb = |joint| HumanBone::Finger(Side::Left, Finger::Thumb, joint);
        assert_eq!(map.names[&thumb(0)], "a");
        assert_eq!(map.names[&thumb(1)], "b");
        assert_eq!(map.names.len(), 3);
    }
}
