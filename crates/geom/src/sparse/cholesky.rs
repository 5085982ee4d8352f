//! Cholesky factorisation A = P L Lᵀ Pᵀ in double precision by the multifrontal method (Duff and Reid 1983; Liu 1992): each
//! supernode is a dense panel, and hands what it subtracts from the rows below to its parent.
//!
//! Subtrees are factorised on all threads. Every supernode adds its children's updates in their order: the bits do not depend on
//! the number of threads.

use std::sync::Arc;

use rayon::prelude::*;

use super::symbolic::{Supernode, Symbolic};
use super::tree::ROOT;
use super::{SMALLEST_PIVOT, SparseError, SymmetricCsc};
use crate::dense::eliminate::{eliminate, subtract_outer};

/// Share of all work that a subtree on one thread has at most. A quarter leaves threads idle; far less makes the rest, which is
/// factorised one supernode after the other, large.
const LARGEST_SUBTREE: f64 = 0.08;
/// Multiplications below which one thread factorises all.
const SMALL: f64 = 2e6;

/// The factor of a symmetric positive definite matrix.
#[derive(Clone, Debug)]
pub struct Cholesky {
    symbolic: Arc<Symbolic>,
    /// Of each supernode its columns of L, diagonal block first.
    panels: Vec<f64>,
    /// Start of each supernode in `panels`.
    starts: Vec<usize>,
}

impl Cholesky {
    /// Analyses and factorises a positive definite matrix.
    pub fn new(matrix: &SymmetricCsc) -> Result<Self, SparseError> {
        Self::with(Arc::new(Symbolic::new(matrix)), matrix)
    }

    /// Factorises a positive definite matrix whose pattern has been analysed.
    pub fn with(symbolic: Arc<Symbolic>, matrix: &SymmetricCsc) -> Result<Self, SparseError> {
        let (panels, starts) = factorise(&symbolic, matrix)?;
        Ok(Cholesky {
            symbolic,
            panels,
            starts,
        })
    }

    /// Factorises another matrix of the same pattern. After an error the factor is unchanged.
    pub fn refactor(&mut self, matrix: &SymmetricCsc) -> Result<(), SparseError> {
        self.panels = factorise(&self.symbolic, matrix)?.0;
        Ok(())
    }

    /// The analysis, shared by factors of the same pattern.
    pub fn symbolic(&self) -> &Arc<Symbolic> {
        &self.symbolic
    }

    /// Entries of L, without the zeros stored by supernodes.
    pub fn entries(&self) -> usize {
        self.symbolic.entries
    }

    /// Each supernode and its columns of L.
    pub(super) fn panels(&self) -> impl DoubleEndedIterator<Item = (&Supernode, &[f64])> + '_ {
        let ranges = self.starts.windows(2);
        let panels = ranges.map(|range| &self.panels[range[0]..range[1]]);
        self.symbolic.supernodes.iter().zip(panels)
    }
}

/// The panels of the factor, and where each begins.
pub(super) fn factorise(
    symbolic: &Symbolic,
    matrix: &SymmetricCsc,
) -> Result<(Vec<f64>, Vec<usize>), SparseError> {
    symbolic.check(matrix)?;
    let nodes = &symbolic.supernodes;
    let mut starts = vec![0];
    for node in nodes {
        starts.push(starts[starts.len() - 1] + node.width() * node.size());
    }
    let mut panels = vec![0.0; starts[nodes.len()]];
    let mut updates = vec![Vec::new(); nodes.len()];
    let mut tree = Tree {
        symbolic,
        matrix,
        starts: &starts,
        children: vec![Vec::new(); nodes.len()],
        first: (0..nodes.len()).collect(),
    };
    for (k, node) in nodes.iter().enumerate() {
        if node.parent != ROOT {
            let parent = node.parent as usize;
            tree.children[parent].push(k);
            tree.first[parent] = tree.first[parent].min(tree.first[k]);
        }
    }
    // Subtrees side by side, and then what is above them.
    let roots = tree.subtrees();
    let mut pieces = Vec::with_capacity(roots.len());
    let (mut panels_left, mut updates_left, mut at) = (&mut panels[..], &mut updates[..], 0);
    for &root in &roots {
        let first = tree.first[root];
        let skipped = panels_left.split_at_mut(starts[first] - starts[at]).1;
        let (own, later) = skipped.split_at_mut(starts[root + 1] - starts[first]);
        let (own_updates, later_updates) = updates_left
            .split_at_mut(first - at)
            .1
            .split_at_mut(root + 1 - first);
        pieces.push((first, own, own_updates));
        (panels_left, updates_left, at) = (later, later_updates, root + 1);
    }
    let done: Vec<Result<(), SparseError>> = pieces
        .into_par_iter()
        .map(|(first, panels, updates)| {
            (first..first + updates.len())
                .try_for_each(|node| tree.front(node, first, panels, updates))
        })
        .collect();
    done.into_iter().collect::<Result<(), SparseError>>()?;
    let mut below = vec![false; nodes.len()];
    for &root in &roots {
        below[tree.first[root]..=root].fill(true);
    }
    for node in (0..nodes.len()).filter(|&node| !below[node]) {
        tree.front(node, 0, &mut panels, &mut updates)?;
    }
    Ok((panels, starts))
}

/// What all threads read.
struct Tree<'a> {
    symbolic: &'a Symbolic,
    matrix: &'a SymmetricCsc,
    /// Start of each panel.
    starts: &'a [usize],
    children: Vec<Vec<usize>>,
    /// First supernode of the subtree of each.
    first: Vec<usize>,
}

impl Tree<'_> {
    /// Roots of subtrees that are factorised side by side, ascending.
    fn subtrees(&self) -> Vec<usize> {
        let nodes = &self.symbolic.supernodes;
        let mut work: Vec<f64> = nodes
            .iter()
            .map(|node| node.width() as f64 * (node.size() as f64).powi(2))
            .collect();
        for (k, node) in nodes.iter().enumerate() {
            if node.parent != ROOT {
                work[node.parent as usize] += work[k];
            }
        }
        let roots = || (0..nodes.len()).filter(|&k| nodes[k].parent == ROOT);
        let total: f64 = roots().map(|k| work[k]).sum();
        if total < SMALL {
            return Vec::new();
        }
        let mut open: Vec<usize> = roots().collect();
        let mut found = Vec::new();
        while let Some(k) = open.pop() {
            if work[k] <= LARGEST_SUBTREE * total {
                found.push(k);
            } else {
                open.extend(&self.children[k]);
            }
        }
        found.sort_unstable();
        found
    }

    /// Eliminates a supernode. `panels` and `updates` begin with those of supernode `first`.
    fn front(
        &self,
        node: usize,
        first: usize,
        panels: &mut [f64],
        updates: &mut [Vec<f64>],
    ) -> Result<(), SparseError> {
        let Supernode { first: column, .. } = self.symbolic.supernodes[node];
        let supernode = &self.symbolic.supernodes[node];
        let (width, size) = (supernode.width(), supernode.size());
        let below = size - width;
        let start = self.starts[node] - self.starts[first];
        let panel = &mut panels[start..start + width * size];
        for &(source, place) in self.symbolic.sources(node) {
            panel[place as usize] = self.matrix.values[source as usize];
        }
        let given: Vec<f64> = (0..width).map(|k| panel[k * size + k]).collect();
        let mut update = vec![0.0; below * below];
        for &child in &self.children[node] {
            let from = std::mem::take(&mut updates[child - first]);
            let rows = self.symbolic.in_parent(child);
            for (j, &to) in rows.iter().enumerate() {
                let (to, values) = (to as usize, &from[j * rows.len()..][..rows.len()]);
                let (target, above) = if to < width {
                    (&mut panel[to * size..][..size], 0)
                } else {
                    (&mut update[(to - width) * below..][..below], width)
                };
                for (&row, value) in rows[j..].iter().zip(&values[j..]) {
                    target[row as usize - above] += value;
                }
            }
        }
        let least: Vec<f64> = given.iter().map(|x| SMALLEST_PIVOT * x).collect();
        eliminate(panel, size, width, &least).map_err(|k| SparseError::NonPositivePivot {
            index: self.symbolic.permutation[column + k] as usize,
        })?;
        subtract_outer(&mut update, panel, size, width);
        updates[node - first] = update;
        Ok(())
    }
}
