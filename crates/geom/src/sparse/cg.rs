//! Conjugate gradients with a diagonal preconditioner (Hestenes and Stiefel 1952): the reference for solvers that stop
//! early.

use super::SymmetricCsc;

/// Improves `x` for A x = b by a number of iterations, and returns the recursively updated ‖b − A x‖.
///
/// # Panics
/// If a vector's length differs from the matrix's number of rows.
pub fn conjugate_gradients(
    matrix: &SymmetricCsc,
    b: &[f64],
    x: &mut [f64],
    iterations: usize,
) -> f64 {
    let diagonal = matrix.diagonal();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let precondition =
        |r: &[f64]| -> Vec<f64> { r.iter().zip(&diagonal).map(|(r, d)| r / d).collect() };
    let product = matrix.multiply(x);
    let mut r: Vec<f64> = b.iter().zip(product).map(|(b, ax)| b - ax).collect();
    let mut p = precondition(&r);
    let mut rho = dot(&r, &p);
    for _ in 0..iterations {
        if rho == 0.0 {
            break;
        }
        let ap = matrix.multiply(&p);
        let alpha = rho / dot(&p, &ap);
        for k in 0..x.len() {
            x[k] += alpha * p[k];
            r[k] -= alpha * ap[k];
        }
        let z = precondition(&r);
        let next = dot(&r, &z);
        for (p, z) in p.iter_mut().zip(z) {
            *p = z + next / rho * *p;
        }
        rho = next;
    }
    dot(&r, &r).sqrt()
}
