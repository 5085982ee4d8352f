//! Traversal of the tree over the prisms.

use supple_geom::simd::LANES;

use super::fit::Fit;

/// Capacity of the traversal stack: each level leaves at most seven siblings behind.
const STACK: usize = 96;

/// Traversal stack.
pub struct Stack {
    nodes: [(u8, u32); STACK],
    count: usize,
}

impl Stack {
    /// Starts at the root.
    #[inline(always)]
    pub fn new(fit: &Fit) -> Stack {
        let mut stack = Stack {
            nodes: [(0, 0); STACK],
            count: 0,
        };
        if !fit.levels.is_empty() {
            stack.push(fit.levels.len() - 1, 0);
        }
        stack
    }

    /// There is always room: eleven levels hold more prisms than 32-bit indices.
    #[inline(always)]
    fn push(&mut self, level: usize, node: u32) {
        self.nodes[self.count] = (level as u8, node);
        self.count += 1;
    }

    /// The next node and its level.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(usize, u32)> {
        self.count = self.count.checked_sub(1)?;
        let (level, node) = self.nodes[self.count];
        Some((usize::from(level), node))
    }

    /// Pushes the masked children of a node above level 0.
    #[inline(always)]
    pub fn push_children(&mut self, level: usize, node: u32, mut mask: u8) {
        while mask != 0 {
            self.push(level - 1, node * LANES as u32 + mask.trailing_zeros());
            mask &= mask - 1;
        }
    }
}
