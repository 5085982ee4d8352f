//! Normal equations that are never assembled: conjugate gradients on products with the derivatives (Hestenes and Stiefel 1952).

use super::{Equations, FitError, RecordedRows};
use crate::sparse::Cholesky;

/// An approximate inverse of Jᵀ W J plus its damping.
pub trait Preconditioner<const D: usize> {
    /// Called when there are other rows or another damping. `diagonal` is that of the recorded rows, with the damping.
    fn renew(&mut self, diagonal: &[f64]);

    /// Replaces a vector by the approximate inverse times it.
    fn apply(&self, x: &mut [[f64; D]]);
}

/// The inverse of the diagonal of the recorded rows; unknowns that only operators know count as one.
#[derive(Clone, Debug, Default)]
pub struct DiagonalPreconditioner(Vec<f64>);

impl<const D: usize> Preconditioner<D> for DiagonalPreconditioner {
    fn renew(&mut self, diagonal: &[f64]) {
        let inverse = |d: &f64| if *d > 0.0 { 1.0 / d } else { 1.0 };
        self.0 = diagonal.iter().map(inverse).collect();
    }

    fn apply(&self, x: &mut [[f64; D]]) {
        for (x, inverse) in x.iter_mut().zip(&self.0) {
            x.iter_mut().for_each(|x| *x *= inverse);
        }
    }
}

/// The inverse of a matrix that resembles Jᵀ W J, such as that of a regulariser.
impl<const D: usize> Preconditioner<D> for Cholesky {
    fn renew(&mut self, _: &[f64]) {}

    fn apply(&self, x: &mut [[f64; D]]) {
        let mut columns: Vec<Vec<f64>> = (0..D).map(|k| x.iter().map(|x| x[k]).collect()).collect();
        self.solve_columns(&mut columns);
        for (i, x) in x.iter_mut().enumerate() {
            *x = std::array::from_fn(|k| columns[k][i]);
        }
    }
}

/// Normal equations solved by preconditioned conjugate gradients.
pub struct MatrixFree<const D: usize, P> {
    preconditioner: P,
    /// Most rounds of one solve.
    pub rounds: usize,
    /// Preconditioned residual, over that at the start, at which a solve ends.
    pub tolerance: f64,
    /// Rounds that the last solve took.
    pub taken: usize,
    pieces: Vec<RecordedRows<D>>,
    gradient: Vec<[f64; D]>,
    diagonal: Vec<f64>,
}

impl<const D: usize, P: Preconditioner<D>> MatrixFree<D, P> {
    /// Equations that have seen no row.
    pub fn new(preconditioner: P, rounds: usize, tolerance: f64) -> Self {
        MatrixFree {
            preconditioner,
            rounds,
            tolerance,
            taken: 0,
            pieces: Vec::new(),
            gradient: Vec::new(),
            diagonal: Vec::new(),
        }
    }

    /// (Jᵀ W J + damping) x.
    fn product(&self, damping: &[f64], x: &[[f64; D]]) -> Vec<[f64; D]> {
        let damped = x.iter().zip(damping).map(|(x, d)| x.map(|x| d * x));
        let mut y: Vec<[f64; D]> = damped.collect();
        (self.pieces.iter()).for_each(|piece| piece.add_product(x, &mut y));
        y
    }
}

impl<const D: usize, P: Preconditioner<D>> Equations<D> for MatrixFree<D, P> {
    type Piece = RecordedRows<D>;

    fn piece(&self, _: usize) -> RecordedRows<D> {
        RecordedRows::default()
    }

    fn assemble(&mut self, unknowns: usize, pieces: Vec<RecordedRows<D>>) -> Result<(), FitError> {
        super::check(unknowns, &pieces)?;
        self.pieces = pieces;
        self.gradient = super::gradient(unknowns, &self.pieces);
        self.diagonal = vec![0.0; unknowns];
        for piece in &self.pieces {
            piece.add_diagonal(&mut self.diagonal);
        }
        Ok(())
    }

    fn renew(&mut self, values: &[Vec<[f64; D]>]) -> bool {
        let known = super::renew(&mut self.pieces, values);
        if known {
            self.gradient = super::gradient(self.diagonal.len(), &self.pieces);
        }
        known
    }

    fn gradient(&self) -> &[[f64; D]] {
        &self.gradient
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn solve(&mut self, damping: &[f64]) -> Result<Vec<[f64; D]>, FitError> {
        let damped = self.diagonal.iter().zip(damping).map(|(a, b)| a + b);
        self.preconditioner.renew(&damped.collect::<Vec<f64>>());
        let mut x = vec![[0.0; D]; self.gradient.len()];
        let mut r: Vec<[f64; D]> = self.gradient.iter().map(|g| g.map(|g| -g)).collect();
        let mut z = r.clone();
        self.preconditioner.apply(&mut z);
        let mut p = z.clone();
        let mut rho = dot(&r, &z);
        let enough = self.tolerance * self.tolerance * rho;
        self.taken = 0;
        while self.taken < self.rounds && rho > enough {
            let ap = self.product(damping, &p);
            let curvature = dot(&p, &ap);
            if !(curvature > 0.0 && curvature.is_finite()) {
                return Err(FitError::NotFinite);
            }
            let alpha = rho / curvature;
            add(&mut x, alpha, &p);
            add(&mut r, -alpha, &ap);
            z.copy_from_slice(&r);
            self.preconditioner.apply(&mut z);
            let next = dot(&r, &z);
            let beta = next / rho;
            for (p, z) in p.iter_mut().zip(&z) {
                (p.iter_mut().zip(z)).for_each(|(p, z)| *p = z + beta * *p);
            }
            rho = next;
            self.taken += 1;
        }
        Ok(x)
    }
}

fn dot<const D: usize>(a: &[[f64; D]], b: &[[f64; D]]) -> f64 {
    let pairs = a.as_flattened().iter().zip(b.as_flattened());
    pairs.map(|(a, b)| a * b).sum()
}

fn add<const D: usize>(to: &mut [[f64; D]], factor: f64, x: &[[f64; D]]) {
    let pairs = to.as_flattened_mut().iter_mut().zip(x.as_flattened());
    pairs.for_each(|(to, x)| *to += factor * x);
}
