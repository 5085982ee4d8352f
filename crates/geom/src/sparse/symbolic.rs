//! Symbolic factorisation: column patterns and supernodes (neighbouring columns of nearly the same pattern, stored as
//! one dense block; Ashcraft and Grimes 1989).

use super::tree::{ROOT, elimination_tree, postorder};
use super::{SparseError, SymmetricCsc, order};

/// Widest supernode: larger ones are split, so that a solve works on a small buffer.
pub const MAX_WIDTH: usize = 32;

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

/// Order of elimination and the supernodes in it, children before parents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symbolic {
    /// The old index of each column.
    pub permutation: Vec<u32>,
    /// The supernodes.
    pub supernodes: Vec<Supernode>,
    /// Entries of the factor without the zeros stored by merged supernodes.
    pub entries: usize,
    pattern: Pattern,
}

impl Symbolic {
    /// Orders and analyses a matrix.
    pub fn new(matrix: &SymmetricCsc) -> Self {
        let ordered = order::minimum_degree(matrix);
        let parents = elimination_tree(&matrix.permuted(&ordered));
        let permutation: Vec<u32> = postorder(&parents)
            .iter()
            .map(|&i| ordered[i as usize])
            .collect();
        let permuted = matrix.permuted(&permutation);
        let parents = elimination_tree(&permuted);
        let patterns = column_patterns(&permuted, &parents);
        let entries = patterns.iter().map(Vec::len).sum();
        let merged = merge(fundamental(&parents, &patterns));
        Symbolic {
            supernodes: with_parents(split(merged), matrix.len()),
            permutation,
            entries,
            pattern: Pattern::of(matrix),
        }
    }

    /// A matrix of the analysed pattern in the order of elimination.
    pub(super) fn permuted(&self, matrix: &SymmetricCsc) -> Result<SymmetricCsc, SparseError> {
        self.pattern.check(matrix)?;
        Ok(matrix.permuted(&self.permutation))
    }
}

/// Pattern of a matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pattern {
    column_starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Pattern {
    pub fn of(matrix: &SymmetricCsc) -> Self {
        Pattern {
            column_starts: matrix.column_starts.clone(),
            rows: matrix.rows.clone(),
        }
    }

    /// Rejects matrices with another pattern.
    pub fn check(&self, matrix: &SymmetricCsc) -> Result<(), SparseError> {
        if self.column_starts == matrix.column_starts && self.rows == matrix.rows {
            Ok(())
        } else {
            Err(SparseError::OtherPattern)
        }
    }
}

/// Rows of each column of the factor, diagonal first: those of the matrix and of the column's children.
fn column_patterns(matrix: &SymmetricCsc, parents: &[u32]) -> Vec<Vec<u32>> {
    let n = matrix.len();
    let mut inherited: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut patterns = Vec::with_capacity(n);
    for column in 0..n {
        let mut rows = std::mem::take(&mut inherited[column]);
        rows.extend(matrix.column(column).map(|(row, _)| row as u32));
        rows.sort_unstable();
        rows.dedup();
        if parents[column] != ROOT {
            inherited[parents[column] as usize].extend(&rows[1..]);
        }
        patterns.push(rows);
    }
    patterns
}

/// A supernode while merging: its columns, the rows below, and how many entries are not padding.
struct Candidate {
    first: usize,
    end: usize,
    rows: Vec<u32>,
    entries: usize,
}

/// Runs of columns in which each pattern is the previous one without its diagonal.
fn fundamental(parents: &[u32], patterns: &[Vec<u32>]) -> Vec<Candidate> {
    let mut out = Vec::new();
    let mut first = 0;
    while first < patterns.len() {
        let mut end = first + 1;
        while end < patterns.len()
            && parents[end - 1] == end as u32
            && patterns[end].len() + 1 == patterns[end - 1].len()
        {
            end += 1;
        }
        let rows = patterns[end - 1][1..].to_vec();
        let entries = patterns[first..end].iter().map(Vec::len).sum();
        out.push(Candidate {
            first,
            end,
            rows,
            entries,
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
            match merged(&child, &node) {
                Some(both) => node = both,
                None => {
                    done.push(child);
                    break;
                }
            }
        }
        done.push(node);
    }
    done
}

fn is_last_child(child: &Candidate, node: &Candidate) -> bool {
    child.end == node.first && child.rows.first().is_some_and(|&r| (r as usize) < node.end)
}

/// Merges two supernodes unless that stores too many zeros. A supernode costs a solve about as much as 40 entries, so
/// narrow ones may be padded generously.
fn merged(child: &Candidate, node: &Candidate) -> Option<Candidate> {
    let width = node.end - child.first;
    let mut rows: Vec<u32> = child
        .rows
        .iter()
        .copied()
        .filter(|&r| r as usize >= node.end)
        .collect();
    rows.extend(&node.rows);
    rows.sort_unstable();
    rows.dedup();
    let entries = child.entries + node.entries;
    let stored = width * (width + 1) / 2 + width * rows.len();
    let zeros = (stored - entries) as f64 / stored as f64;
    let allowed = match width {
        0..=4 => 0.95,
        5..=8 => 0.5,
        9..=MAX_WIDTH => 0.2,
        _ => 0.0,
    };
    (zeros <= allowed).then_some(Candidate {
        first: child.first,
        end: node.end,
        rows,
        entries,
    })
}

/// Cuts supernodes wider than [`MAX_WIDTH`] into equal pieces.
fn split(candidates: Vec<Candidate>) -> Vec<Supernode> {
    let mut out = Vec::new();
    for node in candidates {
        let width = node.end - node.first;
        let pieces = width.div_ceil(MAX_WIDTH);
        for piece in 0..pieces {
            let first = node.first + width * piece / pieces;
            let end = node.first + width * (piece + 1) / pieces;
            let rows = (end as u32..node.end as u32)
                .chain(node.rows.iter().copied())
                .collect();
            out.push(Supernode {
                first,
                end,
                rows,
                parent: ROOT,
            });
        }
    }
    out
}

fn with_parents(mut supernodes: Vec<Supernode>, columns: usize) -> Vec<Supernode> {
    let mut of_column = vec![0u32; columns];
    for (k, node) in supernodes.iter().enumerate() {
        of_column[node.first..node.end].fill(k as u32);
    }
    for node in &mut supernodes {
        node.parent = node
            .rows
            .first()
            .map_or(ROOT, |&row| of_column[row as usize]);
    }
    supernodes
}
