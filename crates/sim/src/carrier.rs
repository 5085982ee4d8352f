//! Carriers: for each free vertex the nearest fixed vertex along the edges of constraints (Dijkstra), and two fixed
//! vertices near that one whose triangle gives its rotation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DVec3, Mat3, Vec3};

use crate::Model;
use crate::model::NO_CARRIER;

/// Rotation of a triangle between two positions; `None` if it is degenerate in either.
pub fn turn(from: [Vec3; 3], to: [Vec3; 3]) -> Option<Mat3> {
    Some(axes(to)? * axes(from)?.transpose())
}

/// Orthonormal axes of a triangle.
fn axes([a, b, c]: [Vec3; 3]) -> Option<Mat3> {
    let x = (b - a).try_normalize()?;
    let z = (b - a).cross(c - a).try_normalize()?;
    Some(Mat3::from_cols(x, z.cross(x), z))
}

/// For each free vertex the fixed vertex (0-based among the fixed) nearest along rest edges, or [`NO_CARRIER`].
pub(crate) fn find_carriers(model: &Model) -> Vec<u32> {
    let free = model.free_count();
    let neighbours = neighbours(model);
    let mut carrier = vec![NO_CARRIER; free];
    let mut distance = vec![f64::INFINITY; free];
    // Non-negative floats sort like their bits; the vertex breaks ties.
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

/// For each free vertex its carrier and two fixed vertices near it that form the best-shaped triangle, or the carrier three
/// times if all are collinear. A vertex more than `reach` elements away from fixed ones moves on its own: [`NO_CARRIER`].
pub(crate) fn find_carrier_frames(model: &Model, carriers: &[u32], reach: u32) -> Vec<[u32; 3]> {
    let neighbours = neighbours(model);
    let mut known: Vec<Option<[u32; 3]>> = vec![None; model.fixed_count()];
    let is_held = within(model, &neighbours, reach);
    let frame = |(v, &carrier): (usize, &u32)| match known.get_mut(carrier as usize) {
        Some(slot) if is_held[v] => {
            *slot.get_or_insert_with(|| best_triangle(model, &neighbours, carrier))
        }
        _ => [NO_CARRIER; 3],
    };
    carriers.iter().enumerate().map(frame).collect()
}

/// Which free vertices are at most `reach` elements away from a fixed one.
fn within(model: &Model, neighbours: &Neighbours, reach: u32) -> Vec<bool> {
    let free = model.free_count();
    let mut within = vec![false; free];
    let mut front: Vec<u32> = (free as u32..model.vertex_count() as u32).collect();
    for _ in 0..reach {
        let mut next = Vec::new();
        for &v in front.iter().flat_map(|&v| neighbours.of(v)) {
            if let Some(seen) = within.get_mut(v as usize).filter(|seen| !**seen) {
                *seen = true;
                next.push(v);
            }
        }
        if next.is_empty() {
            break;
        }
        front = next;
    }
    within
}

/// Least sine of the angle at the carrier. The rotation of a thinner triangle is unreliable.
const MIN_SINE: f64 = 0.2;

fn best_triangle(model: &Model, neighbours: &Neighbours, carrier: u32) -> [u32; 3] {
    let free = model.free_count() as u32;
    let centre = free + carrier;
    // Around thin bones the whole first ring may be collinear.
    let mut ring = vec![centre];
    let mut best = (0.0, [carrier; 3]);
    for _ in 0..3 {
        let mut wider: Vec<u32> = ring
            .iter()
            .flat_map(|&v| neighbours.of(v))
            .copied()
            .collect();
        wider.extend(&ring);
        wider.sort_unstable();
        wider.dedup();
        ring = wider;
        let edges: Vec<(u32, DVec3)> = (ring.iter().filter(|&&v| v >= free))
            .map(|&v| (v - free, model.rest_f64(v) - model.rest_f64(centre)))
            .collect();
        for (k, &(i, a)) in edges.iter().enumerate() {
            for &(j, b) in &edges[k + 1..] {
                let area = a.cross(b).length();
                let shape = area / a.length_squared().max(b.length_squared());
                if shape > best.0 {
                    best = (shape, [carrier, i, j]);
                }
            }
        }
        if best.0 > MIN_SINE {
            break;
        }
    }
    best.1
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

/// Vertices of every element that connects vertices.
fn elements(model: &Model) -> impl Iterator<Item = &[u32]> {
    let tets = model.tets().vertices.iter().map(|t| t.as_slice());
    let springs = model.springs().vertices.iter().map(|s| s.as_slice());
    let polyhedra = (0..model.polyhedra().len()).map(|i| model.polyhedra().stencil(i).0);
    tets.chain(springs).chain(polyhedra)
}
