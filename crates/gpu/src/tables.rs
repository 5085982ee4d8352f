//! The tables of a model on the device, as plain data.

use supple_geom::sparse::Csc;
use supple_sim::material::{dampings, wave_speeds};
use supple_sim::model::NO_CARRIER;
use supple_sim::{
    ContactMode, Decompose, Model, Rotations, Settings, SolveError, Weights, assemble,
    settings::Fit,
};

use crate::patch_inverse::{PatchRows, patch_inverse};
use crate::patches::{GROUP, PATCH, partition};
use crate::tet_table::{incidences, tet_table};

/// Marks a padding row.
pub const NO_VERTEX: u32 = u32::MAX;
/// Words per patch, and per group.
const WORDS: usize = 4;
/// Added to a code, so that it is never negative.
const BIAS: u32 = 1 << 15;
/// Columns of a patch are padded to a multiple of this: two for each of 32 parts with one body, one chunk with four bodies.
const COLUMN_MULTIPLE: usize = 64;

/// The tables of one model and one system matrix.
#[derive(Clone, Debug)]
pub struct Tables {
    /// Free vertex at each row, or [`NO_VERTEX`]. Fixed vertices follow the rows, in their own order.
    pub vertex_of_row: Vec<u32>,
    /// Words of patches, then of groups, then slot offsets: see `kernels/common.wgsl`.
    pub patches: Vec<u32>,
    /// Tets, six sections.
    pub tets: Vec<u32>,
    /// Shapes of tets, three sections.
    pub shapes: Vec<[f32; 4]>,
    /// Rows that patches gather.
    pub columns: Vec<u32>,
    /// Codes of the local inverses' coefficients, two rows per word.
    pub inverse: Vec<u32>,
    /// Coefficient of code 1 in each row.
    pub units: Vec<f32>,
    /// Mass (bits) of each row, its carrier and two fixed vertices near it. Then the wave speeds of the rows, and their
    /// dampings by materials (bits), four to an entry.
    pub row_data: Vec<[u32; 4]>,
    /// Common factor of matrix and forces, which keeps them within the range of single precision.
    pub scale: f64,
    /// The scaled matrix, in the device's order of rows.
    pub matrix: Csc,
}

/// A feature of the model or settings that the kernels do not support, if there is one.
pub fn unsupported(model: &Model, settings: &Settings) -> Option<&'static str> {
    if settings.strain.fit != Fit::Gradients || settings.strain.decompose != Decompose::Gradient {
        return Some("this strain formulation");
    }
    if settings.rotations != Rotations::PerTet {
        return Some("rotations per cluster");
    }
    if settings.contact.mode == ContactMode::Local {
        return Some("local contact");
    }
    let others = [
        (model.springs().is_empty(), "springs"),
        (model.bendings().is_empty(), "bending"),
        (model.anchors().is_empty(), "anchors"),
        (model.polyhedra().is_empty(), "polyhedra"),
    ];
    others
        .into_iter()
        .find_map(|(none, what)| (!none).then_some(what))
}

impl Tables {
    /// Partitions the model and computes its local inverses and tet tables.
    pub fn new(model: &Model, settings: &Settings) -> Result<Tables, SolveError> {
        let refuse = |what| SolveError::Unsupported {
            backend: "gpu",
            what,
        };
        if let Some(what) = unsupported(model, settings) {
            return Err(refuse(what));
        }
        let patches = partition(model.rest_free(), &incidences(model))
            .ok_or_else(|| refuse("more than a thousand tets at a vertex"))?;
        let system = assemble(model, settings);
        let largest = system.diagonal().into_iter().fold(0.0, f64::max);
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let matrix = system.matrix.scaled(scale);
        let local = patch_inverse(&matrix, &patches)?;
        let rows = Rows::new(model, &patches);
        let groups = patches.len() * PATCH / GROUP;
        let tets = tet_table(model, (&settings.weights, scale), &rows.row_of, groups);
        let mut tables = Tables {
            row_data: rows.data(model, &settings.weights),
            matrix: rows.permuted(&Csc::from_symmetric(&matrix)),
            vertex_of_row: rows.vertex_of,
            patches: Vec::new(),
            tets: tets.tets,
            shapes: tets.shapes,
            columns: Vec::new(),
            inverse: Vec::new(),
            units: Vec::new(),
            scale,
        };
        for local in &local {
            tables.add_patch(local, &rows.row_of);
        }
        let first_offset = WORDS * (patches.len() + groups);
        for (k, &[first, count]) in tets.ranges.iter().enumerate() {
            let offsets = (first_offset + k * (GROUP + 1)) as u32;
            tables
                .patches
                .extend_from_slice(&[first, count, offsets, 0]);
        }
        tables.patches.extend_from_slice(&tets.slot_offsets);
        Ok(tables)
    }

    /// Number of rows, including padding.
    pub fn rows(&self) -> usize {
        self.vertex_of_row.len()
    }

    /// Diagonal entry of the local inverse at a row.
    pub fn inverse_diagonal(&self, row: usize) -> f32 {
        let (first, lane) = (self.patches[row / PATCH * WORDS + 2] as usize, row % PATCH);
        // A patch's own rows are its first columns.
        let word = self.inverse[first + lane * PATCH / 2 + lane / 2];
        let code = (word >> (16 * (lane % 2)) & 0xffff) as f32 - BIAS as f32;
        code * code.abs() * self.units[row]
    }

    /// Number of patches.
    pub fn patch_count(&self) -> usize {
        self.rows() / PATCH
    }

    /// Number of groups.
    pub fn group_count(&self) -> usize {
        self.rows() / GROUP
    }

    /// Appends words, columns and coefficients of one patch.
    fn add_patch(&mut self, local: &PatchRows, row_of: &[u32]) {
        let count = local.columns.len().next_multiple_of(COLUMN_MULTIPLE);
        let pad = local.columns.first().copied().unwrap_or(0);
        let first_column = self.columns.len() as u32;
        // In words: a column has half as many as the patch has rows.
        let first_word = self.inverse.len() as u32;
        self.patches
            .extend_from_slice(&[first_column, count as u32, first_word, 0]);
        for k in 0..count {
            let column = local.columns.get(k).copied().unwrap_or(pad);
            self.columns.push(row_of[column as usize]);
            let biased = |row: usize| {
                let value = local.codes.get(row).and_then(|row| row.get(k));
                (i32::from(value.copied().unwrap_or(0)) + BIAS as i32) as u32
            };
            let pairs = (0..PATCH).step_by(2);
            self.inverse
                .extend(pairs.map(|row| biased(row) | biased(row + 1) << 16));
        }
        let units = (0..PATCH).map(|row| local.units.get(row).copied().unwrap_or(0.0));
        self.units.extend(units);
    }
}

/// A bound as the device reads it: 0 for none, since shaders need not know infinity.
pub(crate) fn finite(bound: f32) -> f32 {
    if bound.is_finite() { bound } else { 0.0 }
}

/// Rows of vertices on the device.
struct Rows {
    vertex_of: Vec<u32>,
    /// Row of each free vertex, then of each fixed one.
    row_of: Vec<u32>,
}

impl Rows {
    fn new(model: &Model, patches: &[Vec<u32>]) -> Rows {
        let rows = patches.len() * PATCH;
        let mut vertex_of = vec![NO_VERTEX; rows];
        let mut row_of = vec![0; model.vertex_count()];
        for (k, patch) in patches.iter().enumerate() {
            for (lane, &v) in patch.iter().enumerate() {
                vertex_of[k * PATCH + lane] = v;
                row_of[v as usize] = (k * PATCH + lane) as u32;
            }
        }
        for (k, row) in row_of[model.free_count()..].iter_mut().enumerate() {
            *row = (rows + k) as u32;
        }
        Rows { vertex_of, row_of }
    }

    fn data(&self, model: &Model, weights: &Weights) -> Vec<[u32; 4]> {
        let of = |&v: &u32| {
            if v == NO_VERTEX {
                return [0.0_f32.to_bits(), NO_CARRIER, NO_CARRIER, NO_CARRIER];
            }
            let mass = (model.masses()[v as usize] as f32).to_bits();
            let [a, b, c] = model.carrier_frames()[v as usize];
            [mass, a, b, c]
        };
        let (speeds, dampings) = (wave_speeds(model, weights), dampings(model, weights));
        // Padding rows get zero. Materials that do not damp take no memory.
        let bits = |list: &[f32], v: u32| list.get(v as usize).map_or(0, |&x| finite(x).to_bits());
        // Rows are padded to whole patches.
        let fours = |list: &[f32]| -> Vec<[u32; 4]> {
            let rows = self.vertex_of.chunks_exact(4);
            rows.map(|rows| [0, 1, 2, 3].map(|k| bits(list, rows[k])))
                .collect()
        };
        let data = self.vertex_of.iter().map(of).chain(fours(&speeds));
        match dampings.is_empty() {
            true => data.collect(),
            false => data.chain(fours(&dampings)).collect(),
        }
    }

    /// The matrix with rows in the device's order; padding rows hold a one.
    fn permuted(&self, matrix: &Csc) -> Csc {
        let mut entries = Vec::new();
        for (row, &v) in self.vertex_of.iter().enumerate() {
            if v == NO_VERTEX {
                entries.push((row as u32, row as u32, 1.0));
            } else {
                let column = matrix.column(v as usize);
                entries.extend(column.map(|(i, value)| (self.row_of[i], row as u32, value)));
            }
        }
        Csc::summed(self.vertex_of.len(), self.vertex_of.len(), entries)
    }
}
