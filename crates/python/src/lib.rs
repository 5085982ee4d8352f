//! Supple as a Python module: thin classes over the facade. What they mean is in their docstrings, which Python shows.

mod arrays;
mod character;
mod errors;
mod layered;
mod motion;
mod person;
mod running;
mod settings;
mod soft_body;

use pyo3::prelude::*;

/// What the package `supple` consists of.
#[pymodule]
fn _supple(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<character::Character>()?;
    module.add_class::<character::Mesh>()?;
    module.add_class::<layered::LayeredBody>()?;
    module.add_class::<person::Person>()?;
    module.add_class::<motion::Clip>()?;
    module.add_class::<motion::Pose>()?;
    module.add_class::<soft_body::SoftBody>()?;
    module.add_class::<soft_body::Advance>()?;
    module.add_function(wrap_pyfunction!(character::load, module)?)?;
    module.add_function(wrap_pyfunction!(motion::clip, module)?)?;
    module.add_function(wrap_pyfunction!(motion::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(person::person, module)?)?;
    module.add_function(wrap_pyfunction!(person::person_from_bytes, module)?)?;
    Ok(())
}
