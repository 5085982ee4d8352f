//! A Cholesky factor in single precision, in the layout that the triangular solves of a time step read.

use super::cholesky::factorise;
use super::partition::partition;
use super::symbolic::{Supernode, Symbolic};
use super::tree::ROOT;
use super::{SparseError, SymmetricCsc};
use crate::simd::{F32x8, LANES};

/// A factorised matrix: independent [`Part`]s and the top that joins them.
#[derive(Clone, Debug, Default)]
pub struct Factor {
    /// Rows of the matrix.
    pub rows: usize,
    /// Independent subtrees of the elimination tree; none for a small matrix.
    pub parts: Vec<Part>,
    /// The columns eliminated after all parts.
    pub top: Part,
    /// Entries of the factor, without padding.
    pub entries: usize,
}

/// Widest piece of a supernode: wider ones are split, so that a solve works on a small buffer.
pub(super) const MAX_WIDTH: usize = 32;

/// The columns of one part in a local index space: its columns, then the rows of the top that they touch, then one row
/// for padding.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Row of the matrix of each local row.
    pub matrix_rows: Vec<u32>,
    /// Number of local rows that are the part's own columns; the others are its border.
    pub own: usize,
    /// Local row in the top of each border row.
    pub border_in_top: Vec<u32>,
    pub(super) blocks: Vec<Block>,
    /// Local rows below each block, eight at a time.
    pub(super) row_tiles: Vec<[u32; LANES]>,
    /// Below-diagonal entries: for each eight rows, the columns of the block.
    pub(super) panels: Vec<F32x8>,
    /// Inverses of the diagonal blocks: rows of lower triangles.
    pub(super) diagonals: Vec<f32>,
}

/// Location of a piece of a supernode in the arrays of its part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// First local row.
    pub first: u32,
    /// Columns.
    pub width: u32,
    /// Start in `row_tiles`.
    pub tile: u32,
    /// Row tiles.
    pub tiles: u32,
    /// Start in `panels`.
    pub panel: u32,
    /// Start in `diagonals`.
    pub diagonal: u32,
}

impl Part {
    /// Rows a solve needs in its vectors: own, border and padding.
    pub fn len(&self) -> usize {
        self.matrix_rows.len() + 1
    }

    /// Whether the part has no columns.
    pub fn is_empty(&self) -> bool {
        self.own == 0
    }

    /// Bytes that one pass over the factor reads.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.panels[..])
            + size_of_val(&self.diagonals[..])
            + size_of_val(&self.row_tiles[..])
            + size_of_val(&self.blocks[..])
    }

    fn push(&mut self, node: &Supernode, front: &Front, local: &[u32], border: &[u32]) {
        let (width, below) = (node.end - node.first, node.rows.len());
        let tiles = below.div_ceil(LANES);
        self.blocks.push(Block {
            first: local[node.first],
            width: width as u32,
            tile: self.row_tiles.len() as u32,
            tiles: tiles as u32,
            panel: self.panels.len() as u32,
            diagonal: self.diagonals.len() as u32,
        });
        let own_rows = self.own as u32;
        let padding = self.matrix_rows.len() as u32;
        let local_row = |i: usize| match node.rows.get(i) {
            None => padding,
            Some(&row) => border
                .binary_search(&row)
                .map_or(local[row as usize], |at| own_rows + at as u32),
        };
        for tile in 0..tiles {
            self.row_tiles
                .push(std::array::from_fn(|lane| local_row(tile * LANES + lane)));
            for column in 0..width {
                let entry = |lane: usize| {
                    let row = tile * LANES + lane;
                    if row < below {
                        front.at(width + row, column) as f32
                    } else {
                        0.0
                    }
                };
                self.panels.push(F32x8(std::array::from_fn(entry)));
            }
        }
        let inverse = front.inverse_diagonal(width);
        self.diagonals.extend(inverse.iter().map(|&x| x as f32));
    }
}

impl Factor {
    /// Factorises a positive definite matrix.
    pub fn new(matrix: &SymmetricCsc) -> Result<Self, SparseError> {
        Self::with(&Symbolic::new(matrix), matrix)
    }

    /// Factorises a positive definite matrix of a pattern that has been analysed.
    pub fn with(symbolic: &Symbolic, matrix: &SymmetricCsc) -> Result<Self, SparseError> {
        let (panels, starts) = factorise(symbolic, matrix)?;
        let pieces = split(&symbolic.supernodes);
        let nodes: Vec<Supernode> = pieces.iter().map(|piece| piece.node.clone()).collect();
        let parts = partition(&nodes, matrix.len());
        let mut layout = Layout::new(&nodes, &parts, &symbolic.permutation);
        for (piece, &part) in pieces.iter().zip(&parts) {
            let front = Front {
                size: symbolic.supernodes[piece.whole].size(),
                skipped: piece.skipped,
                values: &panels[starts[piece.whole]..starts[piece.whole + 1]],
            };
            layout.push(&piece.node, part, &front);
        }
        Ok(Factor {
            rows: matrix.len(),
            parts: layout.parts,
            top: layout.top,
            entries: symbolic.entries,
        })
    }

    /// Bytes of factor that one solve reads: each part forwards and backwards.
    pub fn bytes_per_solve(&self) -> usize {
        2 * (self.top.bytes() + self.parts.iter().map(Part::bytes).sum::<usize>())
    }
}

/// The parts under construction.
struct Layout {
    parts: Vec<Part>,
    top: Part,
    /// Local row of each column in its own part.
    local: Vec<u32>,
    /// Rows of the top that each part touches, ascending.
    borders: Vec<Vec<u32>>,
}

impl Layout {
    fn new(nodes: &[Supernode], parts: &[Option<u32>], permutation: &[u32]) -> Self {
        let count = parts.iter().flatten().max().map_or(0, |&p| p as usize + 1);
        let mut layout = Layout {
            parts: vec![Part::default(); count],
            top: Part::default(),
            local: vec![0; permutation.len()],
            borders: vec![Vec::new(); count],
        };
        let mut top_columns = vec![false; permutation.len()];
        for (node, part) in nodes.iter().zip(parts) {
            let target = match part {
                Some(p) => &mut layout.parts[*p as usize],
                None => &mut layout.top,
            };
            for column in node.first..node.end {
                layout.local[column] = target.own as u32;
                top_columns[column] = part.is_none();
                target.own += 1;
                target.matrix_rows.push(permutation[column]);
            }
        }
        for (node, part) in nodes.iter().zip(parts) {
            if let Some(p) = part {
                layout.borders[*p as usize]
                    .extend(node.rows.iter().filter(|&&row| top_columns[row as usize]));
            }
        }
        for (part, border) in layout.parts.iter_mut().zip(&mut layout.borders) {
            border.sort_unstable();
            border.dedup();
            part.matrix_rows
                .extend(border.iter().map(|&row| permutation[row as usize]));
            part.border_in_top = border
                .iter()
                .map(|&row| layout.local[row as usize])
                .collect();
        }
        layout
    }

    fn push(&mut self, node: &Supernode, part: Option<u32>, front: &Front) {
        match part {
            Some(p) => {
                self.parts[p as usize].push(node, front, &self.local, &self.borders[p as usize])
            }
            None => self.top.push(node, front, &self.local, &[]),
        }
    }
}

/// A piece of a supernode that is not wider than a solve's buffer.
struct Piece {
    node: Supernode,
    /// The supernode.
    whole: usize,
    /// Its columns before the piece.
    skipped: usize,
}

/// Cuts supernodes wider than [`MAX_WIDTH`] into equal pieces.
fn split(supernodes: &[Supernode]) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for (whole, node) in supernodes.iter().enumerate() {
        let width = node.width();
        let pieces = width.div_ceil(MAX_WIDTH);
        for piece in 0..pieces {
            let (skipped, last) = (width * piece / pieces, width * (piece + 1) / pieces);
            let end = node.first + last;
            let own = end as u32..node.end as u32;
            let node = Supernode {
                first: node.first + skipped,
                end,
                rows: own.chain(node.rows.iter().copied()).collect(),
                parent: node.parent,
            };
            out.push(Piece {
                node,
                whole,
                skipped,
            });
        }
    }
    let mut of_column = vec![0u32; supernodes.last().map_or(0, |node| node.end)];
    for (k, piece) in (0u32..).zip(&out) {
        of_column[piece.node.first..piece.node.end].fill(k);
    }
    for piece in &mut out {
        let first = piece.node.rows.first();
        piece.node.parent = first.map_or(ROOT, |&row| of_column[row as usize]);
    }
    out
}

/// The columns of a piece, diagonal block first.
struct Front<'a> {
    /// Rows of the whole supernode.
    size: usize,
    /// Columns of the whole supernode before the piece.
    skipped: usize,
    values: &'a [f64],
}

impl Front<'_> {
    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[(self.skipped + column) * self.size + self.skipped + row]
    }

    /// The inverse of the leading triangle, row after row.
    fn inverse_diagonal(&self, width: usize) -> Vec<f64> {
        let mut inverse = vec![0.0; width * (width + 1) / 2];
        let at = |i: usize, j: usize| i * (i + 1) / 2 + j;
        for j in 0..width {
            for i in j..width {
                let unit = if i == j { 1.0 } else { 0.0 };
                let sum: f64 = (j..i).map(|k| self.at(i, k) * inverse[at(k, j)]).sum();
                inverse[at(i, j)] = (unit - sum) / self.at(i, i);
            }
        }
        inverse
    }
}
