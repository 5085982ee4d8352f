//! Rows that are kept, and what needs only their values.

use std::sync::Arc;

use super::{Operator, Rows};

/// Rows as they were written.
#[derive(Clone, Default)]
pub struct RecordedRows<const D: usize> {
    starts: Vec<u32>,
    derivatives: Vec<(u32, f64)>,
    weights: Vec<f64>,
    values: Vec<[f64; D]>,
    /// Operators, and the number of rows of each.
    operators: Vec<(Arc<dyn Operator<D>>, usize)>,
    operator_values: Vec<[f64; D]>,
}

impl<const D: usize> Rows<D> for RecordedRows<D> {
    fn row(&mut self, weight: f64, derivatives: &[(u32, f64)], value: [f64; D]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.derivatives.extend_from_slice(derivatives);
        self.starts.push(self.derivatives.len() as u32);
        self.weights.push(weight);
        self.values.push(value);
    }

    fn operator(&mut self, derivatives: Arc<dyn Operator<D>>, values: &[[f64; D]]) {
        self.operators.push((derivatives, values.len()));
        self.operator_values.extend_from_slice(values);
    }
}

impl<const D: usize> RecordedRows<D> {
    /// The rows: weights, derivatives and values.
    pub fn iter(&self) -> impl Iterator<Item = (f64, &[(u32, f64)], &[f64; D])> + '_ {
        let derivatives = (self.starts.windows(2)).map(|s| {
            let range = s[0] as usize..s[1] as usize;
            &self.derivatives[range]
        });
        (self.weights.iter().zip(derivatives).zip(&self.values))
            .map(|((weight, derivatives), value)| (*weight, derivatives, value))
    }

    /// Whether some rows are only known as an operator.
    pub fn has_operators(&self) -> bool {
        !self.operators.is_empty()
    }

    /// The first unknown that is not below a number.
    pub(super) fn outside(&self, unknowns: usize) -> Option<u32> {
        let outside = |&&(unknown, _): &&(u32, f64)| unknown as usize >= unknowns;
        self.derivatives.iter().find(outside).map(|d| d.0)
    }

    /// Other values for the same rows. False if their number differs.
    pub(super) fn renew(&mut self, values: &[[f64; D]]) -> bool {
        if values.len() != self.values.len() + self.operator_values.len() {
            return false;
        }
        let (own, operators) = values.split_at(self.values.len());
        self.values.copy_from_slice(own);
        self.operator_values.copy_from_slice(operators);
        true
    }

    /// Adds Jᵀ W r.
    pub(super) fn add_gradient(&self, gradient: &mut [[f64; D]]) {
        for (weight, derivatives, value) in self.iter() {
            for &(unknown, d) in derivatives {
                let wd = weight * d;
                let sum = &mut gradient[unknown as usize];
                (sum.iter_mut().zip(value)).for_each(|(sum, r)| *sum += wd * r);
            }
        }
        let mut at = 0;
        for (operator, count) in &self.operators {
            operator.add_transposed_product(&self.operator_values[at..at + count], gradient);
            at += count;
        }
    }

    /// Adds the diagonal of Jᵀ W J, without operators.
    pub(super) fn add_diagonal(&self, diagonal: &mut [f64]) {
        for (weight, derivatives, _) in self.iter() {
            for &(unknown, d) in derivatives {
                diagonal[unknown as usize] += weight * d * d;
            }
        }
    }

    /// Adds Jᵀ W J x to `y`.
    pub(super) fn add_product(&self, x: &[[f64; D]], y: &mut [[f64; D]]) {
        for (weight, derivatives, _) in self.iter() {
            let mut value = [0.0; D];
            for &(unknown, d) in derivatives {
                let x = &x[unknown as usize];
                (value.iter_mut().zip(x)).for_each(|(value, x)| *value += d * x);
            }
            for &(unknown, d) in derivatives {
                let y = &mut y[unknown as usize];
                (y.iter_mut().zip(&value)).for_each(|(y, value)| *y += weight * d * value);
            }
        }
        for (operator, count) in &self.operators {
            let mut values = vec![[0.0; D]; *count];
            operator.add_product(x, &mut values);
            operator.add_transposed_product(&values, y);
        }
    }
}

/// Half the weighted sum of squares.
pub(super) struct Cost(pub f64);

impl<const D: usize> Rows<D> for Cost {
    fn row(&mut self, weight: f64, _: &[(u32, f64)], value: [f64; D]) {
        self.0 += 0.5 * weight * value.iter().map(|r| r * r).sum::<f64>();
    }

    fn operator(&mut self, _: Arc<dyn Operator<D>>, values: &[[f64; D]]) {
        values
            .iter()
            .for_each(|value| Rows::<D>::row(self, 1.0, &[], *value));
    }
}

/// Values in the order of [`RecordedRows`].
#[derive(Default)]
pub(super) struct Values<const D: usize> {
    rows: Vec<[f64; D]>,
    operators: Vec<[f64; D]>,
}

impl<const D: usize> Values<D> {
    pub fn all(mut self) -> Vec<[f64; D]> {
        self.rows.append(&mut self.operators);
        self.rows
    }
}

impl<const D: usize> Rows<D> for Values<D> {
    fn row(&mut self, _: f64, _: &[(u32, f64)], value: [f64; D]) {
        self.rows.push(value);
    }

    fn operator(&mut self, _: Arc<dyn Operator<D>>, values: &[[f64; D]]) {
        self.operators.extend_from_slice(values);
    }
}
