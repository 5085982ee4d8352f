//! Tets sorted by group of rows, with the slots of workgroup memory their forces go to.

use supple_sim::{Model, Weights};

use crate::patches::GROUP;

/// No slot: the corner belongs to another group, or is fixed.
const NO_SLOT: u32 = 0xffff;

/// A tet with its constraints.
#[derive(Clone, Copy, Debug)]
struct Tet {
    corners: [u32; 4],
    gradients: [[f32; 3]; 3],
    strain: f32,
    volume: f32,
    ratio: f32,
}

/// Tables of the kernel `project`.
#[derive(Clone, Debug, Default)]
pub struct TetTable {
    /// First tet and number of tets of each group.
    pub ranges: Vec<[u32; 2]>,
    /// First slot of each row of each group, and the end: [`GROUP`] + 1 numbers per group.
    pub slot_offsets: Vec<u32>,
    /// Six sections: corners 0 to 3, slots 0|1, slots 2|3.
    pub tets: Vec<u32>,
    /// Three sections: gradients and strain weight, volume weight, ratio.
    pub shapes: Vec<[f32; 4]>,
}

/// Number of tets at each free vertex, counted as in [`tet_table`].
pub fn incidences(model: &Model) -> Vec<u32> {
    let mut counts = vec![0; model.free_count()];
    for tet in elements(model, (&Weights::default(), 1.0)) {
        for corner in tet.corners {
            if let Some(count) = counts.get_mut(corner as usize) {
                *count += 1;
            }
        }
    }
    counts
}

/// Sorts the tets of a model, with weights multiplied by their factors and a scale. `row_of` gives the position of each vertex on the device, `groups` the number of groups.
pub fn tet_table(
    model: &Model,
    weights: (&Weights, f64),
    row_of: &[u32],
    groups: usize,
) -> TetTable {
    let free_rows = (groups * GROUP) as u32;
    let mut of_group: Vec<Vec<Tet>> = vec![Vec::new(); groups];
    for tet in elements(model, weights) {
        let tet = Tet {
            corners: tet.corners.map(|v| row_of[v as usize]),
            ..tet
        };
        let mut touched = tet.corners.map(|row| {
            if row < free_rows {
                row / GROUP as u32
            } else {
                u32::MAX
            }
        });
        touched.sort_unstable();
        for k in 0..4 {
            if touched[k] != u32::MAX && (k == 0 || touched[k] != touched[k - 1]) {
                of_group[touched[k] as usize].push(tet);
            }
        }
    }
    fill(&of_group)
}

fn fill(of_group: &[Vec<Tet>]) -> TetTable {
    let total: usize = of_group.iter().map(Vec::len).sum();
    let mut table = TetTable {
        tets: vec![0; 6 * total],
        shapes: vec![[0.0; 4]; 3 * total],
        ..TetTable::default()
    };
    let mut at = 0;
    for (group, tets) in of_group.iter().enumerate() {
        table.ranges.push([at as u32, tets.len() as u32]);
        let mut next = slot_offsets(group, tets);
        table.slot_offsets.extend_from_slice(&next);
        for tet in tets {
            let slots = tet.corners.map(|row| match local_row(group, row) {
                Some(local) => {
                    next[local] += 1;
                    next[local] - 1
                }
                None => NO_SLOT,
            });
            for k in 0..4 {
                table.tets[k * total + at] = tet.corners[k];
            }
            table.tets[4 * total + at] = slots[0] | slots[1] << 16;
            table.tets[5 * total + at] = slots[2] | slots[3] << 16;
            for (k, last) in [tet.strain, tet.volume, tet.ratio].into_iter().enumerate() {
                let [x, y, z] = tet.gradients[k];
                table.shapes[k * total + at] = [x, y, z, last];
            }
            at += 1;
        }
    }
    table
}

fn local_row(group: usize, row: u32) -> Option<usize> {
    let first = (group * GROUP) as u32;
    (first..first + GROUP as u32)
        .contains(&row)
        .then(|| (row - first) as usize)
}

fn slot_offsets(group: usize, tets: &[Tet]) -> Vec<u32> {
    let mut offsets = vec![0; GROUP + 1];
    for tet in tets {
        for local in tet.corners.iter().filter_map(|&row| local_row(group, row)) {
            offsets[local + 1] += 1;
        }
    }
    for k in 0..GROUP {
        offsets[k + 1] += offsets[k];
    }
    offsets
}

/// Every tet with weight; a second volume constraint on a tet becomes a separate element. Weights are multiplied by their
/// factors and `scale`.
fn elements(model: &Model, (weights, scale): (&Weights, f64)) -> Vec<Tet> {
    let (strains, volumes) = (model.tets(), model.volumes());
    let tet = |i: usize, weight: f64| {
        let gradients = strains.gradients(i);
        Tet {
            corners: strains.vertices[i],
            gradients: [1, 2, 3].map(|k: usize| gradients[k].as_vec3().to_array()),
            strain: (weight * (weights.strain_of(strains.materials[i]) * scale)) as f32,
            volume: 0.0,
            ratio: 1.0,
        }
    };
    let mut elements: Vec<Tet> = Vec::with_capacity(strains.len());
    let mut place = vec![None; strains.len()];
    for (i, place) in place.iter_mut().enumerate() {
        if strains.weights[i] > 0.0 {
            *place = Some(elements.len());
            elements.push(tet(i, strains.weights[i]));
        }
    }
    for (k, &t) in volumes.tets.iter().enumerate() {
        let t = t as usize;
        if volumes.weights[k] <= 0.0 || strains.is_flat(t) {
            continue;
        }
        let at = place[t].take().unwrap_or_else(|| {
            elements.push(tet(t, 0.0));
            elements.len() - 1
        });
        let factor = weights.volume_of(strains.materials[t]) * scale;
        elements[at].volume = (volumes.weights[k] * factor) as f32;
        elements[at].ratio = volumes.ratios[k] as f32;
    }
    elements
}
