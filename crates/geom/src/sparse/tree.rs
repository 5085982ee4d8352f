//! Elimination tree of a Cholesky factor (Liu 1990).

use super::layout::Lower;

/// Marks a column without a parent.
pub const ROOT: u32 = u32::MAX;

/// Parent of each column: the row of the first entry below the diagonal of the factor.
pub(super) fn elimination_tree(matrix: &Lower) -> Vec<u32> {
    let n = matrix.len();
    let mut parents = vec![ROOT; n];
    let mut ancestors = vec![ROOT; n];
    for row in 0..n {
        for &(mut column) in matrix.row(row) {
            while column != ROOT && (column as usize) < row {
                let next = std::mem::replace(&mut ancestors[column as usize], row as u32);
                if next == ROOT {
                    parents[column as usize] = row as u32;
                }
                column = next;
            }
        }
    }
    parents
}

/// Entries of each column of the factor with its diagonal: a row has one in every column on the way up the tree from those of the
/// matrix.
pub(super) fn column_counts(matrix: &Lower, parents: &[u32]) -> Vec<u32> {
    let mut counts = vec![1; parents.len()];
    let mut seen = vec![ROOT; parents.len()];
    for row in 0..parents.len() {
        seen[row] = row as u32;
        for &(mut column) in matrix.row(row) {
            while seen[column as usize] != row as u32 {
                seen[column as usize] = row as u32;
                counts[column as usize] += 1;
                column = parents[column as usize];
            }
        }
    }
    counts
}

/// Children before parents, the largest subtree last: it is then adjacent to its parent and can be merged with it.
pub fn postorder(parents: &[u32]) -> Vec<u32> {
    let n = parents.len();
    let mut sizes = vec![1u32; n];
    let mut children = vec![Vec::new(); n];
    let mut roots = Vec::new();
    for (i, &parent) in parents.iter().enumerate() {
        if parent == ROOT {
            roots.push(i as u32);
        } else {
            sizes[parent as usize] += sizes[i];
            children[parent as usize].push(i as u32);
        }
    }
    for list in &mut children {
        list.sort_by_key(|&c| sizes[c as usize]);
    }
    let mut order = Vec::with_capacity(n);
    let mut stack: Vec<(u32, usize)> = Vec::new();
    for root in roots {
        stack.push((root, 0));
        while let Some((node, next)) = stack.last_mut() {
            if let Some(&child) = children[*node as usize].get(*next) {
                *next += 1;
                stack.push((child, 0));
            } else {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}
