//! Errors as Python's exceptions. The classes are in `supple/_errors.py`.

use std::error::Error as _;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use supple::Error;
use supple::anatomy::scan::ScanError;
use supple::flesh::FleshError;
use supple::person::PersonError;
use supple::tissue::TissueError;

/// Why a call failed.
#[derive(Debug)]
pub enum Failure {
    /// The facade says so.
    Supple(Error),
    /// An argument is invalid: class of the exception, and its text.
    Argument(&'static str, String),
    /// The caller asked to stop.
    Stopped,
    /// A defect of Supple: it panicked.
    Defect(String),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Supple(error.into())
    }
}

impl Failure {
    /// An array that is not what was expected.
    pub fn array(text: impl Into<String>) -> Self {
        Self::Argument("ArrayError", text.into())
    }

    /// A body that another thread uses.
    pub fn busy() -> Self {
        let text =
            "another thread uses this body; give every thread a body of its own, or use a lock";
        Self::Argument("BusyError", text.to_owned())
    }

    /// The exception.
    pub fn raise(self, py: Python) -> PyErr {
        match self {
            Self::Supple(error) => exception(py, class_of(&error), error.to_string()),
            Self::Argument(class, text) => exception(py, class, text),
            Self::Stopped => exception(py, "SuppleError", "the call was stopped".to_owned()),
            Self::Defect(text) => exception(
                py,
                "InternalError",
                format!("this is a defect of Supple, please report it: {text}"),
            ),
        }
    }
}

/// An exception of `supple/_errors.py`.
fn exception(py: Python, class: &str, text: String) -> PyErr {
    let made = (py.import("supple._errors"))
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((&text,)));
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(_) => PyRuntimeError::new_err(text),
    }
}

/// The exception's class for an error.
fn class_of(error: &Error) -> &'static str {
    if is_missing_file(error) {
        return "MissingFileError";
    }
    match error {
        Error::Tissue(
            TissueError::Settings { .. } | TissueError::Flesh(FleshError::Settings(_)),
        ) => "SettingsError",
        Error::Person(PersonError::Scan(ScanError::Format(_)))
        | Error::Tissue(TissueError::Format(_))
        | Error::Format(_)
        | Error::PersonFile { .. }
        | Error::PersonBytes(_)
        | Error::Template(_) => "FileError",
        Error::Clip(_) | Error::TooLong(_) => "ClipError",
        Error::Tissue(_) | Error::Weights(_) => "TissueError",
        Error::Person(_) | Error::Body(_) | Error::NoLayers { .. } => "PersonError",
        Error::Growth(_) => "GrowthError",
        _ => "SuppleError",
    }
}

fn is_missing_file(error: &Error) -> bool {
    let mut cause = error.source();
    // The outermost error forwards its source where it is transparent.
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return io.kind() == std::io::ErrorKind::NotFound;
        }
        cause = error.source();
    }
    false
}
