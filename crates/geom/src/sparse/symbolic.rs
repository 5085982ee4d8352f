//! Symbolic factorisation: supernodes (neighbouring columns of nearly the same pattern, stored as one dense block; Ashcraft and
//! Grimes 1989), and where the entries of matrix and children go in each.

use super::layout::Lower;
use super::tree::{ROOT, column_counts, elimination_tree, postorder};
use super::{SparseError, SymmetricCsc, order};

/// Widest supernode that may be padded with zeros.
pub(super) const PADDED_WIDTH: usize = 32;

/// Columns `first..end` and the rows below them, in the order of elimination.
#[derive(Clone, Debug, PartialEq)]
pub struct Supernode {
    /// First column.
    pub first: usize,
    /// One past the last column.
    pub end: usize,
    /// Rows below the diagonal block that hold an entry, ascending.
    pub rows: Vec<u32>,
    /// Supernode of the first of these rows, or [`ROOT`].
    pub parent: u32,
}

impl Supernode {
    /// Number of columns.
    pub fn width(&self) -> usize {
        self.end - self.first
    }

    /// Number of rows, those of the diagonal block and those below.
    pub fn size(&self) -> usize {
        self.width() + self.rows.len()
    }
}

/// Order of elimination and the supernodes in it: everything that depends on the pattern of a matrix, not on its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symbolic {
    /// The old index of each column.
    pub permutation: Vec<u32>,
    /// The supernodes, children before parents, and each subtree in a row.
    pub supernodes: Vec<Supernode>,
    /// Entries of the factor without the zeros stored by merged supernodes.
    pub entries: usize,
    pattern: Pattern,
    /// For each entry of the matrix, sorted by supernode, its index among the values and its place in the supernode's panel.
    sources: Vec<(u32, u32)>,
    /// Start of each supernode in `sources`.
    source_starts: Vec<usize>,
    /// For each row below a supernode, its row in the parent.
    in_parent: Vec<u32>,
    /// Start of each supernode in `in_parent`.
    in_parent_starts: Vec<usize>,
}

impl Symbolic {
    /// Orders and analyses a matrix.
    pub fn new(matrix: &SymmetricCsc) -> Self {
        let ordered = order::minimum_degree(matrix);
        let parents = elimination_tree(&Lower::new(matrix, &order::inverse(&ordered)));
        let places = postorder(&parents);
        let permutation: Vec<u32> = places.iter().map(|&i| ordered[i as usize]).collect();
        let parents = renumbered(&parents, &places);
        let lower = Lower::new(matrix, &order::inverse(&permutation));
        let counts = column_counts(&lower, &parents);
        let entries = counts.iter().map(|&c| c as usize).sum();
        let supernodes = with_parents(merge(fundamental(&lower, &parents, &counts)), matrix.len());
        let mut symbolic = Symbolic {
            permutation,
            entries,
            pattern: Pattern::of(matrix),
            source_starts: vec![0],
            in_parent_starts: vec![0],
            ..Symbolic::default()
        };
        let mut rows = vec![0u32; matrix.len()];
        for node in &supernodes {
            number_rows(node, &mut rows);
            for column in node.first..node.end {
                let start = (column - node.first) * node.size();
                let place = |(row, source): (u32, u32)| (source, start as u32 + rows[row as usize]);
                symbolic.sources.extend(lower.column(column).map(place));
            }
            symbolic.source_starts.push(symbolic.sources.len());
            if node.parent != ROOT {
                number_rows(&supernodes[node.parent as usize], &mut rows);
            }
            let in_parent = node.rows.iter().map(|&row| rows[row as usize]);
            symbolic.in_parent.extend(in_parent);
            symbolic.in_parent_starts.push(symbolic.in_parent.len());
        }
        symbolic.supernodes = supernodes;
        symbolic
    }

    /// Number of rows of the matrix.
    pub fn len(&self) -> usize {
        self.permutation.len()
    }

    /// Whether the matrix has no rows.
    pub fn is_empty(&self) -> bool {
        self.permutation.is_empty()
    }

    /// Rejects matrices with another pattern.
    pub(super) fn check(&self, matrix: &SymmetricCsc) -> Result<(), SparseError> {
        self.pattern.check(matrix)
    }

    /// For each entry of the matrix in a supernode's columns, its index among the values and its place in the panel.
    pub(super) fn sources(&self, node: usize) -> &[(u32, u32)] {
        &self.sources[self.source_starts[node]..self.source_starts[node + 1]]
    }

    /// For each row below a supernode, its row in the parent.
    pub(super) fn in_parent(&self, node: usize) -> &[u32] {
        &self.in_parent[self.in_parent_starts[node]..self.in_parent_starts[node + 1]]
    }
}

/// Writes the position of each row of a supernode in it.
fn number_rows(node: &Supernode, rows: &mut [u32]) {
    let all = (node.first as u32..node.end as u32).chain(node.rows.iter().copied());
    for (at, row) in (0u32..).zip(all) {
        rows[row as usize] = at;
    }
}

/// A tree whose nodes have changed their places: the old index at each new place.
fn renumbered(parents: &[u32], places: &[u32]) -> Vec<u32> {
    let new = order::inverse(places);
    let parent = |&old: &u32| match parents[old as usize] {
        ROOT => ROOT,
        parent => new[parent as usize],
    };
    places.iter().map(parent).collect()
}

/// Pattern of a matrix.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pattern {
    column_starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Pattern {
    fn of(matrix: &SymmetricCsc) -> Self {
        Pattern {
            column_starts: matrix.column_starts.clone(),
            rows: matrix.rows.clone(),
        }
    }

    fn check(&self, matrix: &SymmetricCsc) -> Result<(), SparseError> {
        if self.column_starts == matrix.column_starts && self.rows == matrix.rows {
            Ok(())
        } else {
            Err(SparseError::OtherPattern)
        }
    }
}

/// A supernode while merging: its columns, the rows below, and how many entries are not padding.
struct Candidate {
    first: usize,
    end: usize,
    rows: Vec<u32>,
    entries: usize,
}

/// Runs of columns in which each pattern is the previous one without its diagonal.
fn fundamental(lower: &Lower, parents: &[u32], counts: &[u32]) -> Vec<Candidate> {
    let n = parents.len();
    let mut out: Vec<Candidate> = Vec::new();
    // Children of each column that are the last of their run.
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut seen = vec![ROOT; n];
    let mut first = 0;
    while first < n {
        let mut end = first + 1;
        while end < n && parents[end - 1] == end as u32 && counts[end] + 1 == counts[end - 1] {
            end += 1;
        }
        // Rows of the run's matrix columns and of its children.
        let mut rows = Vec::with_capacity(counts[end - 1] as usize - 1);
        let mut take = |row: u32| {
            if row as usize >= end && seen[row as usize] != first as u32 {
                seen[row as usize] = first as u32;
                rows.push(row);
            }
        };
        for (column, children) in (first..end).zip(&children[first..end]) {
            lower.column(column).for_each(|(row, _)| take(row));
            for &child in children {
                out[child as usize].rows.iter().for_each(|&row| take(row));
            }
        }
        rows.sort_unstable();
        if parents[end - 1] != ROOT {
            children[parents[end - 1] as usize].push(out.len() as u32);
        }
        out.push(Candidate {
            first,
            end,
            rows,
            entries: counts[first..end].iter().map(|&c| c as usize).sum(),
        });
        first = end;
    }
    out
}

/// Merges supernodes with their last child if few zeros have to be stored.
fn merge(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut done: Vec<Candidate> = Vec::new();
    for mut node in candidates {
        while let Some(child) = done.pop_if(|child| is_last_child(child, &node)) {
            if !may_merge(&child, &node) {
                done.push(child);
                break;
            }
            // Rows of a child above its parent are the parent's too.
            node.first = child.first;
            node.entries += child.entries;
        }
        done.push(node);
    }
    done
}

fn is_last_child(child: &Candidate, node: &Candidate) -> bool {
    child.end == node.first && child.rows.first().is_some_and(|&r| (r as usize) < node.end)
}

/// Whether two supernodes together store few zeros. A supernode costs a solve about as much as 40 entries, so narrow ones may
/// be padded generously.
fn may_merge(child: &Candidate, node: &Candidate) -> bool {
    let width = node.end - child.first;
    let entries = child.entries + node.entries;
    let stored = width * (width + 1) / 2 + width * node.rows.len();
    let zeros = (stored - entries) as f64 / stored as f64;
    let allowed = match width {
        0..=4 => 0.95,
        5..=8 => 0.5,
        9..=PADDED_WIDTH => 0.2,
        _ => 0.0,
    };
    zeros <= allowed
}

fn with_parents(candidates: Vec<Candidate>, columns: usize) -> Vec<Supernode> {
    let mut of_column = vec![0u32; columns];
    for (k, node) in (0u32..).zip(&candidates) {
        of_column[node.first..node.end].fill(k);
    }
    let node = |node: Candidate| Supernode {
        parent: (node.rows.first()).map_or(ROOT, |&row| of_column[row as usize]),
        first: node.first,
        end: node.end,
        rows: node.rows,
    };
    candidates.into_iter().map(node).collect()
}
