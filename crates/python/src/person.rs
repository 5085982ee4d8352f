//! Persons: scans that got layers.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use supple::Subject;
use supple::anatomy;
use supple::anatomy::person::{person_info, read_person, write_person};
use supple::glam::Vec3;
use supple::person::{
    Given, GivenFat, Landmark, PersonOptions, Scan, ScanOptions, Sex, Templates, save_person,
};

use crate::arrays::{faces as read_faces, points};
use crate::character::Character;
use crate::errors::Failure;
use crate::layered::LayeredBody;
use crate::running::long;

/// Prepared when they are first needed.
static TEMPLATES: LazyLock<Templates> = LazyLock::new(Templates::new);

/// A person: a layered body that was fitted into a scan. `supple.person` makes one.
///
/// Persons can be pickled.
#[pyclass(frozen, extends = LayeredBody, module = "supple")]
#[derive(Default)]
pub struct Person {
    /// What growth did, as JSON.
    pub growth: Option<String>,
}

/// What a person reads of itself.
fn read<T>(slf: &Bound<Person>, read: impl FnOnce(&anatomy::person::Person) -> T) -> PyResult<T> {
    let subject = slf.as_super().as_super().get().subject.clone();
    match subject.person() {
        Some(person) => Ok(read(person)),
        None => Err(Failure::Defect("a person without measures".to_owned()).raise(slf.py())),
    }
}

/// Plain data of serialised data.
fn plain<'py>(
    py: Python<'py>,
    text: Result<String, serde_json::Error>,
) -> PyResult<Bound<'py, PyAny>> {
    let text = text.map_err(|error| Failure::Defect(error.to_string()).raise(py))?;
    py.import("json")?.call_method1("loads", (text,))
}

#[pymethods]
impl Person {
    /// Girths, lengths and volume in metres and cubic metres, by name.
    #[getter]
    fn measures<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let text = read(slf, |person| serde_json::to_string(&person.measures))?;
        plain(slf.py(), text)
    }

    /// Everything that is known of the person: measures, composition with its errors, how the scan was met and the layers fitted.
    #[getter]
    fn report<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let text = read(slf, |person| serde_json::to_string(&person_info(person)))?;
        plain(slf.py(), text)
    }

    /// What growth did, before and after; None for a person who did not grow.
    #[getter]
    fn growth<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let growth = slf.get().growth.clone();
        growth.map(|text| plain(slf.py(), Ok(text))).transpose()
    }

    /// Writes the person (.person), or its skin and rig (.glb, .obj, ...).
    fn save(slf: &Bound<'_, Self>, path: PathBuf) -> PyResult<()> {
        let subject = slf.as_super().as_super().get().subject.clone();
        long(slf.py(), None, move |_| {
            match subject.person() {
                Some(person) if supple::person::is_person(&path) => {
                    save_person(&path, person)?;
                }
                _ => supple::rig::formats::save_character(&path, &subject)?,
            }
            Ok(())
        })
    }

    /// The content of the person's file.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let subject = slf.as_super().as_super().get().subject.clone();
        let bytes = long(slf.py(), None, move |_| match subject.person() {
            Some(person) => Ok(write_person(person)?),
            None => Err(Failure::Defect("a person without measures".to_owned())),
        })?;
        Ok(PyBytes::new(slf.py(), &bytes))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let module = slf.py().import("supple._interchange")?;
        Ok((
            module.getattr("person_from_bytes")?,
            (Self::to_bytes(slf)?,),
        ))
    }
}

/// A person of the content of its file, as `Person.to_bytes` gives it.
#[pyfunction]
pub fn person_from_bytes(py: Python, content: Vec<u8>) -> PyResult<Py<PyAny>> {
    let person = long(py, None, move |_| Ok(Subject::from(read_person(&content)?)))?;
    Character::object(py, person, None)
}

/// Makes a layered person of a scan: a file, or an array of vertices (N, 3) with `faces` (F, 3), or without them for a cloud of points.
///
/// What is known of the person helps: `sex` ('male' or 'female'), `age` in years, `height` in metres, `weight`, `fat` and `muscle` in
/// kilograms, `fat_percent`. `unit` is the length of the scan's unit in metres, `up` its upward axis ('y' or 'z'); both are found if
/// they are not given. `landmarks` are places in the scan by name, such as {'wrist.L': (0.3, 1.0, -0.1)}.
///
/// >>> import supple
/// >>> template = supple.load("@female")
/// >>> anna = supple.person(template.vertices, template.faces, name="anna", sex="female", weight=60)
/// >>> anna.name, round(anna.report["composition"]["weight"]["value"])
/// ('anna', 60)
#[pyfunction]
#[pyo3(signature = (scan, faces = None, *, name = None, sex = None, age = None, height = None, weight = None, fat = None, fat_percent = None, muscle = None, unit = None, up = None, landmarks = None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn person(
    py: Python,
    scan: &Bound<PyAny>,
    faces: Option<&Bound<PyAny>>,
    name: Option<String>,
    sex: Option<&str>,
    age: Option<f64>,
    height: Option<f64>,
    weight: Option<f64>,
    fat: Option<f64>,
    fat_percent: Option<f64>,
    muscle: Option<f64>,
    unit: Option<f64>,
    up: Option<&str>,
    landmarks: Option<std::collections::BTreeMap<String, [f64; 3]>>,
) -> PyResult<Py<PyAny>> {
    let bad = |text: String| Failure::Argument("ArgumentError", text).raise(py);
    let sex = match sex.map(str::to_lowercase).as_deref() {
        None => None,
        Some("male") => Some(Sex::Male),
        Some("female") => Some(Sex::Female),
        Some(other) => return Err(bad(format!("sex is 'male' or 'female', not '{other}'"))),
    };
    let up = match up {
        None => None,
        Some("y" | "Y") => Some(Vec3::Y),
        Some("z" | "Z") => Some(Vec3::Z),
        Some(other) => return Err(bad(format!("up is 'y' or 'z', not '{other}'"))),
    };
    let given_fat = match (fat, fat_percent) {
        (None, None) => None,
        (Some(mass), None) => Some(GivenFat::Mass(mass)),
        (None, Some(percent)) => Some(GivenFat::Percent(percent)),
        _ => return Err(bad("give fat or fat_percent, not both".to_owned())),
    };
    if unit.is_some_and(|unit| !(unit.is_finite() && unit > 0.0)) {
        return Err(bad("unit is a length in metres above zero".to_owned()));
    }
    let marks = landmarks.into_iter().flatten();
    let marks: Vec<Landmark> = marks
        .map(|(name, place)| Landmark { name, place })
        .collect();
    if let Some(mark) = marks
        .iter()
        .find(|m| m.place.iter().any(|x| !x.is_finite()))
    {
        return Err(bad(format!("the landmark {} is not finite", mark.name)));
    }
    let options = PersonOptions {
        scan: ScanOptions {
            sex,
            metres_per_unit: unit,
            up,
            landmarks: marks,
        },
        given: Given {
            age,
            height,
            weight,
            fat: given_fat,
            muscle_mass: muscle,
        },
        ..PersonOptions::default()
    };
    let (source, file) = source(scan, faces)?;
    let stem = |path: &Path| {
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let name = name.or_else(|| file.as_deref().and_then(stem));
    let name = name.unwrap_or_else(|| "somebody".to_owned());
    let made = long(py, None, move |_| {
        let scan = match (source, file) {
            (Some(scan), _) => scan,
            (None, Some(file)) => Scan::load(&file).map_err(supple::Error::from)?,
            (None, None) => Scan::default(),
        };
        Ok(Subject::from(TEMPLATES.person(&name, &scan, &options)?))
    })?;
    Character::object(py, made, None)
}

/// The scan of arrays, or its file.
fn source(
    scan: &Bound<PyAny>,
    faces: Option<&Bound<PyAny>>,
) -> PyResult<(Option<Scan>, Option<PathBuf>)> {
    if let Ok(path) = scan.extract::<PathBuf>() {
        if faces.is_some() {
            let text = "faces come with an array of vertices, not with a file".to_owned();
            return Err(Failure::Argument("ArgumentError", text).raise(scan.py()));
        }
        return Ok((None, Some(path)));
    }
    let points = points(scan, "vertices")?;
    let triangles = match faces {
        Some(faces) => read_faces(faces, points.len())?,
        None => Vec::new(),
    };
    let scan = Scan {
        points,
        triangles,
        ..Scan::default()
    };
    Ok((Some(scan), None))
}
