//! The system matrix A = M/h² + QᵀWQ of Eq. (2.13), reduced to the free vertices [2.2.3].

use supple_geom::sparse::{Csc, SymmetricCsc};

use crate::{Model, Settings};

/// Stiffness that holds a floating part in place, relative to its diagonal.
const FLOATING_HOLD: f64 = 1e-3;

/// The assembled system for one model and one [`Settings::matrix_key`].
///
/// One local/global iteration solves
/// `matrix · z = M/h² y + f + Qᵀ W p − coupling · z_fixed + proximal · z_before`; equivalently, from the gradient g of
/// the objective at `z_before`, `matrix · (z − z_before) = −g`. The proximal part therefore slows some motions down but
/// never changes what the iteration converges to.
#[derive(Clone, Debug)]
pub struct System {
    /// A + P.
    pub matrix: SymmetricCsc,
    /// Q_fᵀ W Q_b, one column per *free* vertex, row indices are fixed vertices (0-based among the fixed).
    pub coupling: Csc,
    /// P: zero except for vertices that nothing holds (a floating part in a static solve, a massless loose vertex).
    pub proximal: Vec<f64>,
}

/// Assembles the system in double precision.
pub fn assemble(model: &Model, settings: &Settings) -> System {
    let free = model.free_count() as u32;
    let mut matrix: Vec<(u32, u32, f64)> = Vec::new();
    let mut coupling: Vec<(u32, u32, f64)> = Vec::new();
    let inertia = settings.inertia();
    matrix.extend(
        model
            .masses()
            .iter()
            .enumerate()
            .map(|(i, m)| (i as u32, i as u32, m * inertia)),
    );
    let mut add = |row: u32, column: u32, value: f64| {
        if row <= column && column < free {
            matrix.push((row, column, value));
        } else if row >= free && column < free {
            coupling.push((row - free, column, value));
        }
    };
    // A weight of zero keeps its entries in the pattern, which depends on the model alone.
    let weights = &settings.weights;
    let fit = settings.strain.fit;
    model.tets().add_matrix(weights, fit, &mut add);
    let tets = model.tets();
    model.volumes().add_matrix(weights, tets, &mut add);
    model.springs().add_matrix(weights.springs, &mut add);
    model.bendings().add_matrix(weights.bending, &mut add);
    model.anchors().add_matrix(weights, &mut add);
    model.polyhedra().add_matrix(weights.polyhedra, &mut add);
    let n = model.free_count();
    let mut system = System {
        matrix: SymmetricCsc::summed(n, matrix),
        coupling: Csc::summed(model.vertex_count() - n, n, coupling),
        proximal: vec![0.0; n],
    };
    hold_floating(model, settings, &mut system);
    system
}

impl System {
    /// Diagonal of A + P.
    pub fn diagonal(&self) -> Vec<f64> {
        self.matrix.diagonal()
    }

    /// Adds `amounts` to the diagonal and to P. A backend that meets a bad pivot in its precision adds a small share of
    /// the diagonal and tries again.
    pub fn add_proximal(&mut self, amounts: &[f64]) {
        for (k, amount) in amounts.iter().enumerate() {
            self.proximal[k] += amount;
        }
        self.matrix.add_diagonal(amounts);
    }
}

/// Parts that are held by neither mass, anchor nor fixed vertex make A singular: they are held softly in place.
fn hold_floating(model: &Model, settings: &Settings, system: &mut System) {
    let n = model.free_count();
    let inertia = settings.inertia();
    let mut parts = Parts::new(n);
    for column in 0..n {
        for (row, value) in system.matrix.column(column) {
            if value != 0.0 {
                parts.join(row, column);
            }
        }
    }
    let mut held = vec![false; n];
    for i in 0..n {
        if model.masses()[i] * inertia > 0.0
            || system.coupling.column(i).any(|(_, value)| value != 0.0)
        {
            held[parts.root(i)] = true;
        }
    }
    let anchors = model.anchors();
    for (i, &v) in anchors.vertices.iter().enumerate() {
        let weight = anchors.weights[i] * settings.weights.anchor(i);
        if weight > 0.0 && (v as usize) < n {
            held[parts.root(v as usize)] = true;
        }
    }
    let diagonal = system.diagonal();
    let largest = diagonal.iter().fold(0.0_f64, |m, d| m.max(*d));
    let least = if largest > 0.0 { 1e-6 * largest } else { 1.0 };
    let hold = |i: usize| {
        let floats = !held[parts.find(i)];
        if floats {
            (FLOATING_HOLD * diagonal[i]).max(least)
        } else {
            0.0
        }
    };
    let amounts: Vec<f64> = (0..n).map(hold).collect();
    system.add_proximal(&amounts);
}

/// Union-find.
struct Parts {
    parent: Vec<u32>,
}

impl Parts {
    fn new(n: usize) -> Parts {
        Parts {
            parent: (0..n as u32).collect(),
        }
    }

    fn find(&self, mut i: usize) -> usize {
        while self.parent[i] as usize != i {
            i = self.parent[i] as usize;
        }
        i
    }

    fn root(&mut self, i: usize) -> usize {
        let root = self.find(i);
        let mut at = i;
        while at != root {
            at = std::mem::replace(&mut self.parent[at], root as u32) as usize;
        }
        root
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }
}
