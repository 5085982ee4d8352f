//! Which fixed vertex carries each free one: the nearest along the edges of constraints (Dijkstra).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Model;
use crate::model::NO_CARRIER;

/// For each free vertex the fixed vertex (0-based among the fixed) nearest along rest edges, or [`NO_CARRIER`].
pub(crate) fn find_carriers(model: &Model) -> Vec<u32> {
    let free = model.free_count();
    let neighbours = neighbours(model);
    let mut carrier = vec![NO_CARRIER; free];
    let mut distance = vec![f64::INFINITY; free];
    // Distances are not negative, so their bits sort as they do; the vertex breaks ties.
    let mut queue: BinaryHeap<Reverse<(u64, u32, u32)>> = (0..model.fixed_count() as u32)
        .map(|k| Reverse((0, free as u32 + k, k)))
        .collect();
    while let Some(Reverse((bits, vertex, source))) = queue.pop() {
        let so_far = f64::from_bits(bits);
        if (vertex as usize) < free && carrier[vertex as usize] != source {
            continue;
        }
        for &next in neighbours.of(vertex) {
            let Some(best) = distance.get_mut(next as usize) else {
                continue;
            };
            let length = so_far + model.rest_f64(vertex).distance(model.rest_f64(next));
            if length < *best {
                *best = length;
                carrier[next as usize] = source;
                queue.push(Reverse((length.to_bits(), next, source)));
            }
        }
    }
    carrier
}

struct Neighbours {
    offsets: Vec<usize>,
    entries: Vec<u32>,
}

impl Neighbours {
    fn of(&self, vertex: u32) -> &[u32] {
        &self.entries[self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]]
    }
}

fn neighbours(model: &Model) -> Neighbours {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for element in elements(model) {
        for &a in element {
            pairs.extend(element.iter().filter(|&&b| b != a).map(|&b| (a, b)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut offsets = vec![0; model.vertex_count() + 1];
    for &(a, _) in &pairs {
        offsets[a as usize + 1] += 1;
    }
    for i in 1..offsets.len() {
        offsets[i] += offsets[i - 1];
    }
    Neighbours {
        offsets,
        entries: pairs.into_iter().map(|(_, b)| b).collect(),
    }
}

/// Vertex lists of everything that connects vertices.
fn elements(model: &Model) -> impl Iterator<Item = &[u32]> {
    let tets = model.tets().vertices.iter().map(|t| t.as_slice());
    let springs = model.springs().vertices.iter().map(|s| s.as_slice());
    let polyhedra = (0..model.polyhedra().len()).map(|i| model.polyhedra().stencil(i).0);
    tets.chain(springs).chain(polyhedra)
}
