//! Elimination tree of a Cholesky factor (Liu 1990).

use super::SymmetricCsc;

/// Marks a column without a parent.
pub const ROOT: u32 = u32::MAX;

/// Parent of each column: the row of the first entry below the diagonal of the factor.
pub fn elimination_tree(matrix: &SymmetricCsc) -> Vec<u32> {
    let n = matrix.len();
    let mut parents = vec![ROOT; n];
    let mut ancestors = vec![ROOT; n];
    for (row, columns) in transposed(matrix).into_iter().enumerate() {
        for mut column in columns {
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

/// Columns of each row of the lower triangle, ascending.
fn transposed(matrix: &SymmetricCsc) -> Vec<Vec<u32>> {
    let mut columns = vec![Vec::new(); matrix.len()];
    for column in 0..matrix.len() {
        for (row, _) in matrix.column(column) {
            columns[row].push(column as u32);
        }
    }
    columns
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
