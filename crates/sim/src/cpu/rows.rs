//! Distribution of a model's elements to regions and their local rows, as prisms or single tets.

use supple_geom::sparse::Part;

use super::prism::{CORNERS, LocalPrism, find_prisms};
use super::tet_batch::{Tet, TetBatches, triangle};
use crate::{Model, Weights};

/// Local rows of vertices, during construction of the regions.
pub struct Rows {
    free: usize,
    /// Region that owns each free vertex.
    owner: Vec<u32>,
    /// Sorted (vertex, row) of the free vertices of each region, and the first row of its fixed ones.
    local: Vec<Vec<(u32, u32)>>,
    first_fixed: Vec<u32>,
    /// (Region, row) of each fixed vertex in the regions that use it.
    fixed_rows: Vec<Vec<(u32, u32)>>,
    /// Fixed vertices (0-based among the fixed) of each region, in the order of their rows.
    pub fixed: Vec<Vec<u32>>,
}

impl Rows {
    pub fn new(model: &Model, parts: &[&Part]) -> Rows {
        let mut rows = Rows {
            free: model.free_count(),
            owner: vec![0; model.free_count()],
            local: Vec::new(),
            first_fixed: parts.iter().map(|part| part.len() as u32).collect(),
            fixed_rows: vec![Vec::new(); model.fixed_count()],
            fixed: vec![Vec::new(); parts.len()],
        };
        for (k, part) in parts.iter().enumerate() {
            for &v in &part.matrix_rows[..part.own] {
                rows.owner[v as usize] = k as u32;
            }
            let mut local: Vec<(u32, u32)> = part.matrix_rows.iter().copied().zip(0..).collect();
            local.sort_unstable();
            rows.local.push(local);
        }
        rows
    }

    /// The first region that owns one of the vertices (the top is last), and their rows there. The free vertices of an element
    /// are all coupled in the matrix, so they lie in one part and the top.
    pub fn place(&mut self, vertices: &[u32]) -> Option<(usize, Vec<u32>)> {
        let free = vertices.iter().filter(|&&v| (v as usize) < self.free);
        let region = free.map(|&v| self.owner[v as usize]).min()? as usize;
        Some((
            region,
            vertices.iter().map(|&v| self.row(region, v)).collect(),
        ))
    }

    /// As [`Rows::place`], for vertices that are not all coupled; also `None` if the region lacks one of them.
    pub fn place_whole(&mut self, vertices: &[u32]) -> Option<(usize, Vec<u32>)> {
        let (region, rows) = self.place(vertices)?;
        let padding = self.first_fixed[region] - 1;
        (!rows.contains(&padding)).then_some((region, rows))
    }

    fn row(&mut self, region: usize, vertex: u32) -> u32 {
        if (vertex as usize) < self.free {
            let local = &self.local[region];
            // An element's free vertices are all in the region; the padding row is harmless.
            return match local.binary_search_by_key(&vertex, |&(v, _)| v) {
                Ok(at) => local[at].1,
                Err(_) => self.first_fixed[region] - 1,
            };
        }
        let k = vertex as usize - self.free;
        let known = &mut self.fixed_rows[k];
        if let Some(&(_, row)) = known.iter().find(|&&(r, _)| r == region as u32) {
            return row;
        }
        let row = self.first_fixed[region] + self.fixed[region].len() as u32;
        self.fixed[region].push(k as u32);
        known.push((region as u32, row));
        row
    }
}

/// For each tet with strain, the volume constraint that is computed together with it: its first.
pub fn volume_of_tets(model: &Model) -> Vec<Option<usize>> {
    let (tets, volumes) = (model.tets(), model.volumes());
    let mut of_tet = vec![None; tets.len()];
    for (k, &t) in volumes.tets.iter().enumerate() {
        let slot = &mut of_tet[t as usize];
        if slot.is_none() && tets.weights[t as usize] > 0.0 {
            *slot = Some(k);
        }
    }
    of_tet
}

/// The tets of each region, with weights multiplied by their factors and `scale`.
pub fn distribute_tets(
    model: &Model,
    weights: (&Weights, f64),
    rows: &mut Rows,
    regions: usize,
) -> Vec<TetBatches> {
    let mut batches = vec![TetBatches::default(); regions];
    let mut single = vec![true; model.tets().len()];
    let volumes = volume_of_tets(model);
    let mut prisms: Vec<[Vec<LocalPrism>; 2]> = vec![Default::default(); regions];
    for prism in find_prisms(model) {
        // The ends of a prism are not coupled, so in rare cases no region has all of its corners.
        let Some((region, local)) = rows.place_whole(&prism.corners) else {
            continue;
        };
        let base = prism.corners[5];
        let tet = |t: usize| {
            single[prism.tets[t]] = false;
            let [i, j, k] = CORNERS[t].map(|corner| prism.corners[corner]);
            local_tet(
                model,
                weights,
                &volumes,
                prism.tets[t],
                [base, i, j, k],
                [0; 4],
            )
        };
        let local = (std::array::from_fn(|k| local[k]), [0, 1, 2].map(tet));
        prisms[region][usize::from(!prism.is_layer(rows.free))].push(local);
    }
    for (lists, batches) in prisms.iter_mut().zip(&mut batches) {
        for list in &mut *lists {
            list.sort_by_key(|(rows, _)| rows[..3].iter().copied().min());
        }
        batches.set_prisms(lists);
    }
    push_single_tets(model, weights, rows, &single, &volumes, &mut batches);
    batches.iter_mut().for_each(TetBatches::finish);
    batches
}

fn push_single_tets(
    model: &Model,
    weights: (&Weights, f64),
    rows: &mut Rows,
    single: &[bool],
    volumes: &[Option<usize>],
    batches: &mut [TetBatches],
) {
    let tets = model.tets();
    let mut sorted: Vec<[Vec<Tet>; 4]> = vec![Default::default(); batches.len()];
    for (i, corners) in tets
        .vertices
        .iter()
        .enumerate()
        .filter(|&(i, _)| single[i] && tets.weights[i] > 0.0)
    {
        // A fixed corner first, then the free ones, then the other fixed ones.
        let mut order = *corners;
        order.sort_by_key(|&v| v as usize >= rows.free);
        if order[3] as usize >= rows.free {
            order.rotate_right(1);
        }
        let Some((region, local)) = rows.place(&order) else {
            continue;
        };
        let free = corners
            .iter()
            .filter(|&&v| (v as usize) < rows.free)
            .count();
        let local = std::array::from_fn(|k| local[k]);
        sorted[region][free - 1].push(local_tet(model, weights, volumes, i, order, local));
    }
    for (batches, lists) in batches.iter_mut().zip(&mut sorted) {
        for (k, list) in lists.iter_mut().enumerate() {
            list.sort_by_key(|tet| tet.rows.iter().copied().min());
            batches.push(k + 1, list);
        }
    }
}

/// Tet `i` of the model with its corners in the order given.
pub fn local_tet(
    model: &Model,
    (weights, scale): (&Weights, f64),
    volumes: &[Option<usize>],
    i: usize,
    order: [u32; 4],
    rows: [u32; 4],
) -> Tet {
    let volume = volumes[i];
    let (tets, gradients) = (model.tets(), model.tets().gradients(i));
    let gradient = |v: u32| {
        let corner = tets.vertices[i].iter().position(|&c| c == v);
        gradients[corner.unwrap_or(0)]
    };
    let [_, a, b, c] = order;
    Tet {
        rows,
        shape: triangle([a, b, c].map(gradient)),
        weight: tets.weights[i] * (weights.strain_of(tets.materials[i]) * scale),
        volume_weight: volume.map_or(0.0, |k| {
            model.volumes().weights[k] * (weights.volume_of(tets.materials[i]) * scale)
        }),
        ratio: volume.map_or(1.0, |k| model.volumes().ratios[k]),
    }
}
