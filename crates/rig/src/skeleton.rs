//! The skeleton: a forest of named joints.

use glam::{Affine3A, Vec3};

use crate::Transform;

/// The role of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Moves skin: listed in a skin of the file.
    Bone,
    /// Only carries other nodes: an armature node, the node of a rigid mesh, a root above the hips.
    Helper,
}

/// One node of the skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name in the file; may be empty or repeated.
    pub name: String,
    /// Index of the parent, always smaller than the joint's own index.
    pub parent: Option<usize>,
    /// `parent_from_joint` at rest.
    pub rest: Transform,
    /// End of a leaf bone in the joint's frame, if the file gives it (BVH end sites) \[m\].
    pub tail: Option<Vec3>,
    /// Bone or helper.
    pub kind: JointKind,
}

/// A segment from a joint to one of its children, or to its tail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// The joint that moves the bone.
    pub joint: usize,
    /// The joint at its other end; `None` for a leaf bone that ends in a tail.
    pub child: Option<usize>,
    /// World position of the joint at rest \[m\].
    pub from: Vec3,
    /// World position of the bone's other end at rest \[m\].
    pub to: Vec3,
}

/// Joints, parents before children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
}

/// Why joints do not form a skeleton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkeletonError {
    /// A parent index out of range.
    #[error("joint {joint} refers to parent {parent}, but there are only {count} joints")]
    NoSuchParent {
        /// The joint with the bad index.
        joint: usize,
        /// The parent index.
        parent: usize,
        /// Number of joints.
        count: usize,
    },
    /// A joint that is its own ancestor.
    #[error("joint {joint} is its own ancestor: the skeleton has a cycle")]
    Cycle {
        /// A joint of the cycle.
        joint: usize,
    },
}

impl Skeleton {
    /// Builds a skeleton from joints in any order.
    ///
    /// Also returns the new index of each given joint: children are moved behind their parents, otherwise
    /// the order is kept.
    pub fn from_unordered(joints: Vec<Joint>) -> Result<(Self, Vec<usize>), SkeletonError> {
        let count = joints.len();
        let mut children = vec![Vec::new(); count];
        let mut ready = std::collections::BinaryHeap::new();
        for (joint, node) in joints.iter().enumerate() {
            match node.parent {
                None => ready.push(std::cmp::Reverse(joint)),
                Some(parent) if parent < count => children[parent].push(joint),
                Some(parent) => {
                    return Err(SkeletonError::NoSuchParent {
                        joint,
                        parent,
                        count,
                    });
                }
            }
        }
        let mut new_index = vec![usize::MAX; count];
        let mut order = Vec::with_capacity(count);
        while let Some(std::cmp::Reverse(joint)) = ready.pop() {
            new_index[joint] = order.len();
            order.push(joint);
            ready.extend(
                children[joint]
                    .iter()
                    .map(|&child| std::cmp::Reverse(child)),
            );
        }
        if let Some(joint) = new_index.iter().position(|&index| index == usize::MAX) {
            return Err(SkeletonError::Cycle { joint });
        }
        let mut slots: Vec<Option<Joint>> = joints.into_iter().map(Some).collect();
        let joints = order
            .iter()
            .filter_map(|&old| slots[old].take())
            .map(|joint| Joint {
                parent: joint.parent.map(|parent| new_index[parent]),
                ..joint
            })
            .collect();
        Ok((Self { joints }, new_index))
    }

    /// All joints, parents before children.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The rest transform of a joint, to change it.
    pub fn rest_mut(&mut self, joint: usize) -> &mut Transform {
        &mut self.joints[joint].rest
    }

    /// Number of joints.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there are no joints.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The first joint of that name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name == name)
    }

    /// Children of each joint, in order.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.joints.len()];
        for (index, joint) in self.joints.iter().enumerate() {
            if let Some(parent) = joint.parent {
                children[parent].push(index);
            }
        }
        children
    }

    /// `world_from_joint` at rest.
    pub fn rest_worlds(&self) -> Vec<Affine3A> {
        crate::Pose::rest(self).worlds(self)
    }

    /// All bones at rest: from each [`JointKind::Bone`] joint to each child, and to the tail of leaves that
    /// have one. Bones of zero length are left out.
    pub fn bones(&self) -> Vec<Bone> {
        let worlds = self.rest_worlds();
        let mut is_leaf = vec![true; self.len()];
        let mut bones = Vec::new();
        let mut push = |joint: usize, child: Option<usize>, to: Vec3| {
            let from = Vec3::from(worlds[joint].translation);
            if self.joints[joint].kind == JointKind::Bone && from.distance(to) > 1e-6 {
                bones.push(Bone {
                    joint,
                    child,
                    from,
                    to,
                });
            }
        };
        for (index, joint) in self.joints.iter().enumerate() {
            if let Some(parent) = joint.parent {
                is_leaf[parent] = false;
                push(parent, Some(index), worlds[index].translation.into());
            }
        }
        for (index, joint) in self.joints.iter().enumerate() {
            if let (true, Some(tail)) = (is_leaf[index], joint.tail) {
                push(index, None, worlds[index].transform_point3(tail));
            }
        }
        bones
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joint(parent: Option<usize>, offset: Vec3) -> Joint {
        Joint {
            name: String::new(),
            parent,
            rest: Transform::from_translation(offset),
            tail: None,
            kind: JointKind::Bone,
        }
    }

    #[test]
    fn children_come_after_parents() {
        let joints = vec![
            joint(Some(2), Vec3::X),
            joint(None, Vec3::ZERO),
            joint(Some(1), Vec3::Y),
        ];
        let (skeleton, index) = Skeleton::from_unordered(joints).unwrap();
        assert_eq!(index, [2, 0, 1]);
        assert_eq!(skeleton.joints()[2].parent, Some(1));
    }

    #[test]
    fn cycles_and_missing_parents_are_errors() {
        let cycle = vec![joint(Some(1), Vec3::X), joint(Some(0), Vec3::X)];
        assert!(matches!(
            Skeleton::from_unordered(cycle),
            Err(SkeletonError::Cycle { .. })
        ));
        let missing = vec![joint(Some(7), Vec3::X)];
        assert!(matches!(
            Skeleton::from_unordered(missing),
            Err(SkeletonError::NoSuchParent { parent: 7, .. })
        ));
    }

    #[test]
    fn bones_end_in_children_and_tails() {
        let mut joints = vec![
            joint(None, Vec3::Y),
            joint(Some(0), Vec3::ZERO),
            joint(Some(1), Vec3::X),
        ];
        joints[2].tail = Some(Vec3::X);
        let (skeleton, _) = Skeleton::from_unordered(joints).unwrap();
        let bones = skeleton.bones();
        assert_eq!(bones.len(), 2);
        assert_eq!((bones[0].joint, bones[0].child), (1, Some(2)));
        assert_eq!((bones[1].joint, bones[1].child), (2, None));
        assert_eq!(bones[1].to, Vec3::new(2.0, 1.0, 0.0));
    }
}
