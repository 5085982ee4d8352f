//! The stretched-out skeleton: at every joint the bones are spread to the largest angles between them (thesis Fig. 3.2).
//!
//! The average of points on it projects back to a point between them along the bones. On the rest skeleton the average of
//! points on two legs lies in the air between the legs.

use glam::{DQuat, DVec3};

use crate::construction::bone_graph::BoneGraph;

/// Node positions of the stretched-out skeleton. Bones keep their lengths; components are placed far apart.
pub fn stretched_nodes(graph: &BoneGraph) -> Vec<DVec3> {
    let total: f64 = (0..graph.bones.len()).map(|b| graph.length(b)).sum();
    let mut placed: Vec<Option<DVec3>> = vec![None; graph.nodes.len()];
    let mut components = 0.0;
    for root in 0..graph.nodes.len() {
        if placed[root].is_some() {
            continue;
        }
        placed[root] = Some(DVec3::X * (components * 3.0 * total.max(1e-9)));
        components += 1.0;
        // (node, bone we came by, direction of that bone in the layout)
        let mut stack = vec![(root, usize::MAX, DVec3::ZERO)];
        while let Some((node, came_by, heading)) = stack.pop() {
            let here = placed[node].unwrap_or_default();
            let directions = spread_directions(graph, node);
            let turn = graph.incident[node]
                .iter()
                .position(|&bone| bone == came_by)
                .map_or(DQuat::IDENTITY, |slot| {
                    DQuat::from_rotation_arc(directions[slot], -heading)
                });
            for (slot, &bone) in graph.incident[node].iter().enumerate() {
                let other = graph.opposite(bone, node);
                if bone == came_by || placed[other].is_some() {
                    continue;
                }
                let heading = (turn * directions[slot]).normalize();
                placed[other] = Some(here + heading * graph.length(bone));
                stack.push((other, bone, heading));
            }
        }
    }
    placed.into_iter().map(Option::unwrap_or_default).collect()
}

/// Unit directions of a node's bones, pushed apart: 180° for two, 120° for three, and so on.
fn spread_directions(graph: &BoneGraph, node: usize) -> Vec<DVec3> {
    let here = graph.nodes[node].position;
    let mut directions: Vec<DVec3> = graph.incident[node]
        .iter()
        .enumerate()
        .map(|(slot, &bone)| {
            let other = graph.nodes[graph.opposite(bone, node)].position;
            // Separates bones with the same direction.
            let nudge = 0.01 * DVec3::new((slot as f64).sin(), (slot as f64 * 2.0).cos(), 0.3);
            ((other - here).normalize_or_zero() + nudge)
                .try_normalize()
                .unwrap_or(DVec3::Y)
        })
        .collect();
    match directions.as_mut_slice() {
        [] | [_] => {}
        [a, b] => {
            let axis = (*a - *b).try_normalize().unwrap_or(DVec3::Y);
            (*a, *b) = (axis, -axis);
        }
        more => repel(more),
    }
    directions
}

/// Spreads directions like charges on a sphere (Thomson problem).
fn repel(directions: &mut [DVec3]) {
    let count = directions.len();
    for round in 0..400 {
        let step = 0.2 / count as f64 * (1.0 - round as f64 / 500.0);
        let pushes: Vec<DVec3> = (0..count)
            .map(|i| {
                (0..count)
                    .filter(|&j| j != i)
                    .map(|j| {
                        let away = directions[i] - directions[j];
                        away / away.length().max(0.05).powi(3)
                    })
                    .sum()
            })
            .collect();
        for (direction, push) in directions.iter_mut().zip(pushes) {
            let along = push - *direction * push.dot(*direction);
            *direction = (*direction + along.clamp_length_max(4.0) * step).normalize();
        }
    }
}
