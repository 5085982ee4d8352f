//! What a body is made of: measures of its skin, and from them weight, fat mass and muscle mass [4.2.3].
//!
//! [`Tape`] measures a skin in the template's connectivity and rest pose. [`Regressors`] hold linear models of fat mass
//! fitted to measured people ([`fit_regressors`]), and [`composition`] puts both together with what is known about
//! the person ([`Known`]).

pub mod estimate;
pub mod measures;
pub mod population;
pub mod regression;
pub mod soldiers;
pub mod table;
pub mod tape;

pub use estimate::{Composition, Estimate, Known, composition, undecided_composition};
pub use measures::Measures;
pub use population::{Percentile, Population, Study};
pub use regression::{Regressors, fit_regressors};
pub use table::{MeasuredAdult, TableError, read_table};
pub use tape::Tape;
