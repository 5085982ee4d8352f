//! Independent subtrees of the elimination tree, for threads.
//!
//! The tree is cut into a *top* and *parts*: columns of different parts never meet in the factor, so that the parts'
//! triangular solves run in parallel, and only the small top waits for all. The cut depends on the matrix alone, and
//! sums are made in its order: results do not depend on the number of threads.

use super::symbolic::Supernode;
use super::tree::ROOT;

/// Least number of rows of a part, to be worth its copies of the top's rows.
const ROWS_PER_PART: usize = 600;
/// Largest number of parts: more gain nothing on eight cores and enlarge the top.
const MAX_PARTS: usize = 8;
/// Work per column besides its entries (assembling its right-hand side), in entries.
const COLUMN_WORK: f64 = 60.0;
/// Work per supernode, in entries.
const SUPERNODE_WORK: f64 = 40.0;
/// Largest share of the work in the top: deeper cuts are not tried.
const MAX_TOP: f64 = 0.25;

/// Part of each supernode; `None` for the top.
pub type Partition = Vec<Option<u32>>;

/// Cuts a tree of supernodes (children before parents) for `columns` columns.
pub fn partition(supernodes: &[Supernode], columns: usize) -> Partition {
    // An even number, so that two threads get equal work.
    let bins = (columns / ROWS_PER_PART / 2 * 2).min(MAX_PARTS);
    if bins == 0 {
        return vec![None; supernodes.len()];
    }
    let work: Vec<f64> = supernodes.iter().map(work).collect();
    let mut subtree = work.clone();
    let mut children = vec![Vec::new(); supernodes.len()];
    let mut open = Vec::new();
    for (k, node) in supernodes.iter().enumerate() {
        if node.parent == ROOT {
            open.push(k);
        } else {
            subtree[node.parent as usize] += subtree[k];
            children[node.parent as usize].push(k);
        }
    }
    let total: f64 = work.iter().sum();
    let (mut top, mut best) = (0.0, (f64::INFINITY, Vec::new()));
    // Move the root of the heaviest subtree to the top until the parts balance.
    while top <= MAX_TOP * total && !open.is_empty() {
        open.sort_by(|&a, &b| subtree[b].total_cmp(&subtree[a]).then(a.cmp(&b)));
        let (assigned, heaviest) = pack(&open, &subtree, bins);
        if heaviest + top < best.0 {
            best = (heaviest + top, assigned);
        }
        let root = open.remove(0);
        top += work[root];
        open.extend(&children[root]);
    }
    spread(supernodes, &best.1)
}

fn work(node: &Supernode) -> f64 {
    let (width, rows) = ((node.end - node.first) as f64, node.rows.len() as f64);
    width * (0.5 * width + rows) + 3.0 * rows + COLUMN_WORK * width + SUPERNODE_WORK
}

/// Heaviest first, each into the lightest bin: `(root, bin)`, and the work of the heaviest bin.
fn pack(roots: &[usize], subtree: &[f64], bins: usize) -> (Vec<(usize, u32)>, f64) {
    let mut loads = vec![0.0; bins];
    let mut assigned = Vec::with_capacity(roots.len());
    for &root in roots {
        let lightest = (0..bins).fold(
            0,
            |best, bin| if loads[bin] < loads[best] { bin } else { best },
        );
        loads[lightest] += subtree[root];
        assigned.push((root, lightest as u32));
    }
    (assigned, loads.into_iter().fold(0.0, f64::max))
}

/// Extends the parts from the roots of the subtrees to all supernodes.
fn spread(supernodes: &[Supernode], roots: &[(usize, u32)]) -> Partition {
    let mut parts = vec![None; supernodes.len()];
    for &(root, bin) in roots {
        parts[root] = Some(bin);
    }
    for k in (0..supernodes.len()).rev() {
        let parent = supernodes[k].parent;
        if parts[k].is_none() && parent != ROOT {
            parts[k] = parts[parent as usize];
        }
    }
    parts
}
