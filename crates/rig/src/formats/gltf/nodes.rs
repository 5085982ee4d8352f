//! The node tree: local transforms, parents, and the nodes that become joints.

use glam::{Mat4, Quat, Vec3};

use super::document::Document;
use super::json::Element;
use crate::Transform;
use crate::character::{Problem, Severity};
use crate::formats::FormatError;
use crate::skeleton::{Joint, JointKind, Skeleton, SkeletonError};

/// The nodes of a document.
pub(super) struct Nodes<'a> {
    pub elements: Vec<Element<'a>>,
    pub parents: Vec<Option<usize>>,
    pub locals: Vec<Transform>,
}

/// The skeleton, and the map between nodes and joints.
pub(super) struct Joints {
    pub skeleton: Skeleton,
    pub joint_of_node: Vec<Option<usize>>,
    pub node_of_joint: Vec<usize>,
}

/// Reads the tree. Every node must have at most one parent, and cycles are errors.
pub(super) fn read_nodes<'a>(
    document: &'a Document,
    problems: &mut Vec<Problem>,
) -> Result<Nodes<'a>, FormatError> {
    let elements = document.root().items("nodes")?;
    let mut parents = vec![None; elements.len()];
    for (index, node) in elements.iter().enumerate() {
        for child in node.indices("children", elements.len())? {
            if parents[child].replace(index).is_some() {
                let reason = format!("lists nodes[{child}] as a child, which already has a parent");
                return Err(FormatError::invalid(
                    format!("{}.children", node.path),
                    reason,
                ));
            }
        }
    }
    check_acyclic(&parents)?;
    let locals = elements
        .iter()
        .map(|node| local_transform(node, problems))
        .collect::<Result<_, _>>()?;
    Ok(Nodes {
        elements,
        parents,
        locals,
    })
}

/// With at most one parent per node, nodes not reachable from a root lie on or below a cycle.
fn check_acyclic(parents: &[Option<usize>]) -> Result<(), FormatError> {
    let mut children = vec![Vec::new(); parents.len()];
    let mut open = Vec::new();
    for (node, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(node),
            None => open.push(node),
        }
    }
    let mut reached = vec![false; parents.len()];
    while let Some(node) = open.pop() {
        reached[node] = true;
        open.extend(&children[node]);
    }
    match reached.iter().position(|&reached| !reached) {
        None => Ok(()),
        Some(joint) => Err(SkeletonError::Cycle { joint }.into()),
    }
}

fn local_transform(
    node: &Element<'_>,
    problems: &mut Vec<Problem>,
) -> Result<Transform, FormatError> {
    if let Some(matrix) = node.floats::<16>("matrix")? {
        let matrix = Mat4::from_cols_array(&matrix);
        let transform = Transform::from_matrix(&matrix);
        let sound = transform.translation.is_finite() && transform.scale.is_finite();
        if !sound {
            return Err(FormatError::NotFinite {
                element: format!("{}.matrix", node.path),
            });
        }
        let back = Mat4::from(transform.to_affine());
        let size = matrix.abs_diff_eq(back, 1e-4 * (1.0 + transform.scale.abs().max_element()));
        if !size {
            problems.push(Problem {
                severity: Severity::Warning,
                remedy: None,
                place: node.path.clone(),
                text: "The node's matrix has shear, which Supple does not support. The shear was dropped."
                    .into(),
            });
        }
        return Ok(transform);
    }
    let rotation = node.floats::<4>("rotation")?.map(Quat::from_array);
    let rotation = match rotation {
        None => Quat::IDENTITY,
        Some(rotation)
            if rotation.length_squared() > 1e-12 && rotation.length_squared().is_finite() =>
        {
            rotation.normalize()
        }
        Some(_) => {
            problems.push(Problem {
                severity: Severity::Warning,
                remedy: None,
                place: node.path.clone(),
                text: "The node's rotation is invalid. The identity is used instead.".into(),
            });
            Quat::IDENTITY
        }
    };
    Ok(Transform {
        translation: node
            .floats("translation")?
            .map_or(Vec3::ZERO, Vec3::from_array),
        rotation,
        scale: node.floats("scale")?.map_or(Vec3::ONE, Vec3::from_array),
    })
}

/// The skeleton made of `bones`, `helpers` and all their ancestors.
pub(super) fn make_joints(
    nodes: &Nodes<'_>,
    bones: &[usize],
    helpers: &[usize],
) -> Result<Joints, FormatError> {
    let count = nodes.elements.len();
    let mut kinds = vec![None; count];
    for &start in bones.iter().chain(helpers) {
        let mut node = Some(start);
        while let Some(index) = node.filter(|&index| kinds[index].is_none()) {
            kinds[index] = Some(JointKind::Helper);
            node = nodes.parents[index];
        }
    }
    for &bone in bones {
        kinds[bone] = Some(JointKind::Bone);
    }
    let mut picked = Vec::new();
    let mut place = vec![None; count];
    for (node, kind) in kinds.iter().enumerate() {
        if kind.is_some() {
            place[node] = Some(picked.len());
            picked.push(node);
        }
    }
    let joints = picked
        .iter()
        .map(|&node| Joint {
            name: nodes.elements[node].text("name"),
            parent: nodes.parents[node].and_then(|parent| place[parent]),
            rest: nodes.locals[node],
            tail: None,
            kind: kinds[node].unwrap_or(JointKind::Helper),
        })
        .collect();
    let (skeleton, order) = Skeleton::from_unordered(joints)?;
    let mut node_of_joint = vec![0; picked.len()];
    for (&joint, &node) in order.iter().zip(&picked) {
        node_of_joint[joint] = node;
    }
    Ok(Joints {
        skeleton,
        joint_of_node: place
            .iter()
            .map(|place| place.map(|place| order[place]))
            .collect(),
        node_of_joint,
    })
}
