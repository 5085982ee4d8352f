//! Arrays in and out. Arrays that come in are checked and copied, so that nobody changes them while they are used.

use numpy::prelude::*;
use numpy::{PyArray1, PyArray2, PyArray3, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use supple::glam::Vec3;

use crate::errors::Failure;

/// Rows of three numbers, as numpy shows them.
pub type Rows<'py> = Bound<'py, PyArray2<f32>>;
/// Rows of indices.
pub type Indices<'py> = Bound<'py, PyArray2<i32>>;

/// An array of `columns` columns, as flat numbers of a type that numpy calls `target`; `kinds` are numpy's kinds that are taken.
fn table<T: numpy::Element + Copy>(
    value: &Bound<PyAny>,
    what: &str,
    columns: usize,
    (kinds, target): (&str, &str),
) -> PyResult<Vec<T>> {
    let py = value.py();
    let bad = |text: String| Failure::array(text).raise(py);
    let wanted = match kinds.contains('f') {
        true => "numbers",
        false => "whole numbers",
    };
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (value,)).map_err(|error| {
        bad(format!(
            "{what}: an array of {wanted} was expected ({error})"
        ))
    })?;
    let dtype = array.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    if !kinds.contains(&kind) {
        return Err(bad(format!(
            "{what}: {wanted} were expected, not dtype {dtype}"
        )));
    }
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    if shape.len() != 2 || shape[1] != columns {
        return Err(bad(format!(
            "{what}: an array of shape (N, {columns}) was expected, not {}",
            array.getattr("shape")?
        )));
    }
    let settled = numpy.call_method1("ascontiguousarray", (array, target))?;
    let settled: PyReadonlyArrayDyn<T> = settled.extract()?;
    Ok(settled.as_slice()?.to_vec())
}

/// Points \[N, 3\], at least one, all finite.
pub fn points(value: &Bound<PyAny>, what: &str) -> PyResult<Vec<Vec3>> {
    let flat: Vec<f64> = table(value, what, 3, ("fiu", "float64"))?;
    let rows: Vec<Vec3> = (flat.chunks_exact(3))
        .map(|row| Vec3::new(row[0] as f32, row[1] as f32, row[2] as f32))
        .collect();
    let bad = |text: String| Err(Failure::array(text).raise(value.py()));
    if rows.is_empty() {
        return bad(format!("{what}: the array is empty"));
    }
    match rows.iter().position(|row| !row.is_finite()) {
        Some(row) => bad(format!("{what}: row {row} is not finite")),
        None => Ok(rows),
    }
}

/// Rows of `columns` finite numbers, exactly `count` of them.
pub fn rows(value: &Bound<PyAny>, what: &str, count: usize, columns: usize) -> PyResult<Vec<f32>> {
    let flat: Vec<f64> = table(value, what, columns, ("fiu", "float64"))?;
    let flat: Vec<f32> = flat.into_iter().map(|number| number as f32).collect();
    let bad = |text: String| Err(Failure::array(text).raise(value.py()));
    if flat.len() != count * columns {
        let found = flat.len() / columns;
        return bad(format!("{what}: {count} rows were expected, not {found}"));
    }
    match flat.iter().position(|number| !number.is_finite()) {
        Some(place) => bad(format!("{what}: row {} is not finite", place / columns)),
        None => Ok(flat),
    }
}

/// Triangles \[F, 3\] over `count` vertices.
pub fn faces(value: &Bound<PyAny>, count: usize) -> PyResult<Vec<[u32; 3]>> {
    let flat: Vec<i64> = table(value, "faces", 3, ("iu", "int64"))?;
    let outside = |index: &i64| !(0..count as i64).contains(index);
    if let Some(place) = flat.iter().position(outside) {
        let text = format!(
            "faces: row {} names vertex {}, but there are {count} vertices",
            place / 3,
            flat[place]
        );
        return Err(Failure::array(text).raise(value.py()));
    }
    let row = |row: &[i64]| [row[0] as u32, row[1] as u32, row[2] as u32];
    Ok(flat.chunks_exact(3).map(row).collect())
}

/// Flat numbers as rows, without a copy.
pub fn shaped(py: Python<'_>, flat: Vec<f32>, columns: usize) -> PyResult<Rows<'_>> {
    let count = flat.len() / columns;
    PyArray1::from_vec(py, flat).reshape([count, columns])
}

/// Positions or directions \[N, 3\].
pub fn of_points<'py>(
    py: Python<'py>,
    points: impl IntoIterator<Item = Vec3>,
) -> PyResult<Rows<'py>> {
    let flat: Vec<f32> = points.into_iter().flat_map(|p| p.to_array()).collect();
    shaped(py, flat, 3)
}

/// Indices \[F, K\].
pub fn of_indices<'py, const K: usize>(
    py: Python<'py>,
    rows: impl IntoIterator<Item = [u32; K]>,
) -> PyResult<Indices<'py>> {
    let flat: Vec<i32> = rows.into_iter().flatten().map(|v| v as i32).collect();
    let count = flat.len() / K;
    PyArray1::from_vec(py, flat).reshape([count, K])
}

/// Frames of positions \[T, N, 3\], without a copy.
pub fn of_frames(
    py: Python<'_>,
    flat: Vec<f32>,
    frames: usize,
) -> PyResult<Bound<'_, PyArray3<f32>>> {
    let count = flat.len() / (3 * frames.max(1));
    PyArray1::from_vec(py, flat).reshape([frames, count, 3])
}
