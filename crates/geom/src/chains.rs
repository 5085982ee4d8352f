//! Directed edges joined into simple loops and open chains: what boundaries and plane sections share.

use crate::adjacency::Rows;

/// A run of nodes; the last is joined to the first when closed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chain {
    pub nodes: Vec<u32>,
    pub closed: bool,
}

/// Splits directed edges over `count` nodes into chains, every edge used once, in linear time.
///
/// A walk that comes back to a node it has passed gives off the loop in between, so no closed chain visits a node
/// twice even where several loops touch. Walks start where more edges leave than arrive: only there can an open
/// chain begin, and what remains after them is closed.
pub(crate) fn join(edges: &[[u32; 2]], count: usize) -> Vec<Chain> {
    let out = Rows::from_pairs(count, edges.iter().map(|&[a, b]| (a, b)));
    let mut surplus = vec![0i64; count];
    for &[a, b] in edges {
        surplus[a as usize] += 1;
        surplus[b as usize] -= 1;
    }
    let mut walk = Walk {
        next: out.offsets[..count].to_vec(),
        place: vec![usize::MAX; count],
        out,
        chains: Vec::new(),
    };
    for (node, &more) in surplus.iter().enumerate() {
        (0..more).for_each(|_| walk.from(node as u32));
    }
    for node in 0..count {
        while walk.has_next(node as u32) {
            walk.from(node as u32);
        }
    }
    walk.chains
}

struct Walk {
    out: Rows,
    /// For each node the first of its edges not used yet.
    next: Vec<u32>,
    /// For each node its place on the current path, if any.
    place: Vec<usize>,
    chains: Vec<Chain>,
}

impl Walk {
    fn has_next(&self, node: u32) -> bool {
        self.next[node as usize] < self.out.offsets[node as usize + 1]
    }

    fn step(&mut self, node: u32) -> Option<u32> {
        let edge = self.has_next(node).then_some(self.next[node as usize])?;
        self.next[node as usize] += 1;
        Some(self.out.items[edge as usize])
    }

    fn from(&mut self, start: u32) {
        let mut path = vec![start];
        self.place[start as usize] = 0;
        let mut at = start;
        while let Some(node) = self.step(at) {
            let seen = self.place[node as usize];
            if seen == usize::MAX {
                self.place[node as usize] = path.len();
                path.push(node);
            } else {
                self.close(path.split_off(seen + 1), node);
            }
            at = node;
        }
        path.iter()
            .for_each(|&n| self.place[n as usize] = usize::MAX);
        if path.len() > 1 {
            self.chains.push(Chain {
                nodes: path,
                closed: false,
            });
        }
    }

    fn close(&mut self, rest: Vec<u32>, first: u32) {
        rest.iter()
            .for_each(|&n| self.place[n as usize] = usize::MAX);
        let nodes = std::iter::once(first).chain(rest).collect();
        self.chains.push(Chain {
            nodes,
            closed: true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_eight_gives_two_simple_loops() {
        let edges = [[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 2]];
        let chains = join(&edges, 5);
        assert_eq!(chains.len(), 2);
        assert!(chains.iter().all(|c| c.closed && c.nodes.len() == 3));
    }

    #[test]
    fn open_chain_is_found_whole_from_its_start() {
        let chains = join(&[[1, 0], [2, 1], [3, 2]], 4);
        let expected = Chain {
            nodes: vec![3, 2, 1, 0],
            closed: false,
        };
        assert_eq!(chains, [expected]);
    }

    #[test]
    fn every_edge_is_used_once() {
        let edges = [[0, 1], [1, 2], [0, 2], [2, 0], [2, 3], [3, 3], [1, 0]];
        let used = |c: &Chain| c.nodes.len() - usize::from(!c.closed);
        assert_eq!(join(&edges, 4).iter().map(used).sum::<usize>(), edges.len());
    }
}
