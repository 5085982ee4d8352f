//! Damped Gauss–Newton on functions whose minimum is known, with each kind of equations.

use std::ops::ControlFlow;
use std::sync::Arc;

use glam::DVec3;
use supple_geom::dense::NotPositiveDefinite;
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::least_squares::residuals::{Bending, PointToPoint};
use supple_geom::least_squares::*;
use supple_geom::shapes::icosphere;
use supple_geom::sparse::SparseError;

/// A residual from a function that writes its rows.
struct Written<F>(F);

impl<F: Fn(&Vec<f64>, &mut dyn Rows<1>) + Sync> Residual<Vec<f64>, 1> for Written<F> {
    fn linearise(&self, x: &Vec<f64>, _: usize, rows: &mut dyn Rows<1>) {
        self.0(x, rows);
    }
}

fn rosenbrock(x: &[f64], rows: &mut dyn Rows<1>) {
    rows.row(100.0, &[(1, 1.0), (0, -2.0 * x[0])], [x[1] - x[0] * x[0]]);
    rows.row(1.0, &[(0, -1.0)], [1.0 - x[0]]);
}

const ADAPTIVE: Settings = Settings {
    steps: 200,
    damping: Damping::Adaptive(Adaptive {
        relative: 1e-3,
        absolute: 1e-12,
    }),
    largest_step: 10.0,
    still: 1e-10,
};

const PLAIN: Settings = Settings {
    steps: 50,
    damping: Damping::NONE,
    largest_step: f64::INFINITY,
    still: 1e-12,
};

fn quiet(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn fitted<E: Equations<1>>(
    start: &[f64],
    residual: &dyn Residual<Vec<f64>, 1>,
    mut equations: E,
    settings: &Settings,
) -> Result<(Vec<f64>, Report), FitError> {
    let mut x = start.to_vec();
    let report = minimise(&mut x, &[residual], &mut equations, settings, &mut quiet)?;
    Ok((x, report))
}

#[test]
fn a_bent_valley_is_followed_by_all_equations() {
    let residual = Written(|x: &Vec<f64>, rows: &mut dyn Rows<1>| rosenbrock(x, rows));
    let start = [-1.2, 1.0];
    let free = || MatrixFree::new(DiagonalPreconditioner::default(), 10, 1e-14);
    let found = [
        fitted(&start, &residual, SparseNormal::new(), &ADAPTIVE).unwrap(),
        fitted(&start, &residual, DenseNormal::new(), &ADAPTIVE).unwrap(),
        fitted(&start, &residual, free(), &ADAPTIVE).unwrap(),
    ];
    for (x, report) in found {
        assert_eq!(report.outcome, Outcome::Converged);
        assert!(report.steps < 60, "{report:?}");
        assert!(
            (x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8,
            "{x:?}"
        );
    }
}

#[test]
fn cost_never_rises_under_adaptive_damping() {
    let residual = Written(|x: &Vec<f64>, rows: &mut dyn Rows<1>| rosenbrock(x, rows));
    let cost = |x: &Vec<f64>| Residual::cost(&residual, x);
    let mut before = f64::INFINITY;
    for steps in 1..30 {
        let settings = Settings { steps, ..ADAPTIVE };
        let (x, _) = fitted(&[-1.2, 1.0], &residual, SparseNormal::new(), &settings).unwrap();
        assert!(cost(&x) <= before);
        before = cost(&x);
    }
    assert!(before < 1e-6);
}

#[test]
fn nothing_breaks_the_bound_on_a_step() {
    // A function whose Gauss–Newton steps overshoot without bound: its slope vanishes at the start.
    let steep = Written(|x: &Vec<f64>, rows: &mut dyn Rows<1>| {
        rows.row(1e12, &[(0, 2.0 * x[0])], [x[0] * x[0] - 1e6]);
    });
    let settings = Settings {
        steps: 40,
        largest_step: 0.25,
        ..PLAIN
    };
    let mut x = vec![1e-9];
    let mut lengths = Vec::new();
    let mut watch = |progress: Progress| {
        lengths.push(progress.length);
        ControlFlow::Continue(())
    };
    let residuals: [&dyn Residual<Vec<f64>, 1>; 1] = [&steep];
    let report = minimise(
        &mut x,
        &residuals,
        &mut SparseNormal::new(),
        &settings,
        &mut watch,
    );
    assert_eq!(report.unwrap().outcome, Outcome::StepsTaken);
    assert_eq!(lengths, vec![0.25; 40]);
    assert!((x[0] - 10.0).abs() < 1e-6);
}

#[test]
fn a_fit_is_cancelled_after_the_step() {
    let residual = Written(|x: &Vec<f64>, rows: &mut dyn Rows<1>| rosenbrock(x, rows));
    let residuals: [&dyn Residual<Vec<f64>, 1>; 1] = [&residual];
    let mut x = vec![-1.2, 1.0];
    let mut watch = |progress: Progress| match progress.steps {
        3 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let report = minimise(
        &mut x,
        &residuals,
        &mut DenseNormal::new(),
        &ADAPTIVE,
        &mut watch,
    );
    let report = report.unwrap();
    assert_eq!((report.steps, report.outcome), (3, Outcome::Cancelled));
}

#[test]
fn rows_of_every_length_give_the_same_normal_equations() {
    // Short rows, long ones, and one that names an unknown twice.
    let n = 12;
    let linear = Written(move |x: &Vec<f64>, rows: &mut dyn Rows<1>| {
        for i in 0..n as u32 {
            let next = (i + 1) % n as u32;
            let value = 2.0 * x[i as usize] - x[next as usize] - 1.0;
            rows.row(1.0 + f64::from(i), &[(i, 2.0), (next, -1.0)], [value]);
        }
        let all: Vec<(u32, f64)> = (0..n as u32).map(|i| (i, 1.0)).collect();
        rows.row(0.5, &all, [x.iter().sum::<f64>() - 3.0]);
        rows.row(2.0, &[(4, 1.0), (4, 2.0)], [3.0 * x[4] - 5.0]);
    });
    let start = vec![0.0; n];
    let (sparse, report) = fitted(&start, &linear, SparseNormal::new(), &PLAIN).unwrap();
    assert_eq!(
        (report.outcome, report.steps <= 2),
        (Outcome::Converged, true)
    );
    let (dense, _) = fitted(&start, &linear, DenseNormal::new(), &PLAIN).unwrap();
    let free = MatrixFree::new(DiagonalPreconditioner::default(), 100, 1e-15);
    let (free, _) = fitted(&start, &linear, free, &PLAIN).unwrap();
    for i in 0..n {
        assert!((sparse[i] - dense[i]).abs() < 1e-11);
        assert!((sparse[i] - free[i]).abs() < 1e-11);
    }
    // At the minimum the cost has no slope.
    for i in 0..n {
        let at = |d: f64| {
            let mut x = sparse.clone();
            x[i] += d;
            Residual::cost(&linear, &x)
        };
        assert!((at(1e-4) - at(-1e-4)).abs() < 1e-11);
    }
}

#[test]
fn the_pattern_grows_with_new_correspondences() {
    // Which unknown is tied to the first changes as the fit goes on.
    let moving = Written(|x: &Vec<f64>, rows: &mut dyn Rows<1>| {
        let other = if x[0] < 1.0 { 1 } else { 2 };
        rows.row(
            1.0,
            &[(0, 1.0), (other, -1.0)],
            [x[0] - x[other as usize] - 1.0],
        );
        (0..3).for_each(|k| rows.row(1.0, &[(k, 1.0)], [x[k as usize] - 1.0]));
    });
    let settings = Settings {
        largest_step: 0.4,
        ..PLAIN
    };
    let (x, report) = fitted(&[0.0; 3], &moving, SparseNormal::new(), &settings).unwrap();
    assert_eq!(report.outcome, Outcome::Converged);
    // Least (a − c − 1)² + (a − 1)² + (c − 1)².
    for (found, expected) in x.iter().zip([4.0 / 3.0, 1.0, 2.0 / 3.0]) {
        assert!((found - expected).abs() < 1e-9, "{x:?}");
    }
}

/// Differences of neighbours in a ring, as an operator.
struct Ring;

impl Operator<1> for Ring {
    fn add_product(&self, x: &[[f64; 1]], y: &mut [[f64; 1]]) {
        let n = x.len();
        (0..n).for_each(|i| y[i][0] += x[(i + 1) % n][0] - x[i][0]);
    }

    fn add_transposed_product(&self, y: &[[f64; 1]], x: &mut [[f64; 1]]) {
        let n = x.len();
        for i in 0..n {
            x[(i + 1) % n][0] += y[i][0];
            x[i][0] -= y[i][0];
        }
    }
}

#[test]
fn operators_are_solved_without_a_matrix_and_only_so() {
    let n = 30;
    let wanted = |i: usize| (i as f64).sin();
    let value = move |x: &[f64], i: usize| x[(i + 1) % n] - x[i] - 0.1 * wanted(i);
    let hold = move |x: &[f64], rows: &mut dyn Rows<1>| {
        (0..n).for_each(|i| rows.row(0.1, &[(i as u32, 1.0)], [x[i] - wanted(i)]));
    };
    let known = Written(move |x: &Vec<f64>, rows: &mut dyn Rows<1>| {
        hold(x, rows);
        for i in 0..n {
            let next = ((i + 1) % n) as u32;
            rows.row(1.0, &[(next, 1.0), (i as u32, -1.0)], [value(x, i)]);
        }
    });
    let operator = Written(move |x: &Vec<f64>, rows: &mut dyn Rows<1>| {
        hold(x, rows);
        let values: Vec<[f64; 1]> = (0..n).map(|i| [value(x, i)]).collect();
        rows.operator(Arc::new(Ring), &values);
    });
    let start = vec![0.0; n];
    let (exact, _) = fitted(&start, &known, SparseNormal::new(), &PLAIN).unwrap();
    let free = MatrixFree::new(DiagonalPreconditioner::default(), 200, 1e-15);
    let (free, _) = fitted(&start, &operator, free, &PLAIN).unwrap();
    for (a, b) in exact.iter().zip(&free) {
        assert!((a - b).abs() < 1e-10);
    }
    let cost = |residual: &dyn Residual<Vec<f64>, 1>| residual.cost(&start);
    assert!((cost(&known) - cost(&operator)).abs() < 1e-12);
    let refused = fitted(&start, &operator, SparseNormal::new(), &PLAIN);
    assert_eq!(refused.unwrap_err(), FitError::Operator);
    let refused = fitted(&start, &operator, DenseNormal::new(), &PLAIN);
    assert_eq!(refused.unwrap_err(), FitError::Operator);
}

#[test]
fn equations_without_a_solution_say_so() {
    let loose = Written(|x: &Vec<f64>, rows: &mut dyn Rows<1>| {
        rows.row(1.0, &[(0, 1.0)], [x[0] - 1.0]);
    });
    let start = [0.0, 0.0];
    let sparse = |residual: &dyn Residual<Vec<f64>, 1>| {
        fitted(&start, residual, SparseNormal::new(), &PLAIN).unwrap_err()
    };
    let error = sparse(&loose);
    assert_eq!(
        error,
        FitError::Sparse(SparseError::NonPositivePivot { index: 1 })
    );
    let error = fitted(&start, &loose, DenseNormal::new(), &PLAIN).unwrap_err();
    assert_eq!(error, FitError::Dense(NotPositiveDefinite { index: 1 }));
    // Damping holds what nothing concerns.
    let (x, _) = fitted(&start, &loose, SparseNormal::new(), &ADAPTIVE).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-9 && x[1] == 0.0);
    let outside = Written(|_: &Vec<f64>, rows: &mut dyn Rows<1>| {
        rows.row(1.0, &[(2, 1.0)], [1.0]);
    });
    let expected = FitError::OutOfRange {
        unknown: 2,
        unknowns: 2,
    };
    assert_eq!(sparse(&outside), expected);
    let error = fitted(&start, &outside, DenseNormal::new(), &PLAIN).unwrap_err();
    assert_eq!(error, expected);
    let nothing = Written(|_: &Vec<f64>, rows: &mut dyn Rows<1>| {
        (0..2).for_each(|k| rows.row(1.0, &[(k, 1.0)], [f64::NAN]));
    });
    assert_eq!(sparse(&nothing), FitError::NotFinite);
    let none = fitted(&[], &loose, SparseNormal::new(), &PLAIN).unwrap();
    assert_eq!(none.1.outcome, Outcome::Converged);
}

/// A residual that says its derivatives change.
struct Changing<'a>(&'a dyn Residual<Points, 3>);

impl Residual<Points, 3> for Changing<'_> {
    fn pieces(&self) -> usize {
        self.0.pieces()
    }

    fn linearise(&self, points: &Points, piece: usize, rows: &mut dyn Rows<3>) {
        self.0.linearise(points, piece, rows);
    }
}

#[test]
fn constant_derivatives_and_threads_do_not_change_the_result() {
    let ball = icosphere(0.1, 3);
    let at: Vec<DVec3> = ball.positions.iter().map(|p| p.as_dvec3()).collect();
    let held: Vec<bool> = at.iter().map(|p| p.y < -0.05).collect();
    let points = Points::with_held(at.clone(), &held);
    let laplacian = cotan_laplacian(&at, &ball.triangles, Clamp::NON_NEGATIVE);
    let bending = Bending::new(&laplacian, &at, &points, 1e-4);
    let mut places = PointToPoint::new(&points);
    for v in (0..at.len() as u32).step_by(11) {
        let place = at[v as usize] * 1.2 + 0.01 * DVec3::X;
        places.push(1.0, [(v, 1.0)], place, &points);
    }
    let settings = Settings { steps: 12, ..PLAIN };
    let fit = |threads: usize, residuals: &[&dyn Residual<Points, 3>]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let mut moved = points.clone();
        pool.build().unwrap().install(|| {
            let mut equations = SparseNormal::new();
            minimise(&mut moved, residuals, &mut equations, &settings, &mut quiet).unwrap()
        });
        moved.at
    };
    let all: [&dyn Residual<Points, 3>; 2] = [&bending, &places];
    let one = fit(1, &all);
    assert_eq!(one, fit(3, &all));
    assert!((0..at.len()).all(|v| !held[v] || one[v] == at[v]));
    assert!(one.iter().zip(&at).any(|(a, b)| a.distance(*b) > 0.02));
    let changing = fit(2, &[&Changing(&bending), &Changing(&places)]);
    let off = one.iter().zip(&changing).map(|(a, b)| a.distance(*b));
    assert!(off.fold(0.0, f64::max) < 1e-12);
}
