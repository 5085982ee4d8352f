//! Layered bodies: templates and persons.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use supple::Subject;
use supple::anatomy;
use supple::geom::TriMesh;
use supple::growth::{FatGoal, FatRegion, Growth, grown, grown_person};

use crate::arrays::{Indices, Rows, of_indices, of_points};
use crate::character::{Character, Mesh};
use crate::errors::Failure;
use crate::person::Person;
use crate::running::long;

/// A character with layers of fat and muscle over bones: a template, or a person.
///
/// Skin, muscle surface and skeleton surface have the same `faces`, so vertex i of one lies below vertex i of another.
///
/// >>> import supple
/// >>> body = supple.load("@male", layers=True)
/// >>> body.skin.shape == body.muscle_surface.shape == body.skeleton_surface.shape
/// True
/// >>> len(body.bones) > 20, len(body.muscles) > 50
/// (True, True)
#[pyclass(frozen, subclass, extends = Character, module = "supple")]
pub struct LayeredBody;

/// The subject of a layered body.
fn subject(slf: &Bound<LayeredBody>) -> Subject {
    slf.as_super().get().subject.clone()
}

/// What a layered body reads of itself.
fn read<T>(
    slf: &Bound<LayeredBody>,
    read: impl FnOnce(&anatomy::LayeredBody) -> PyResult<T>,
) -> PyResult<T> {
    let subject = subject(slf);
    match subject.body() {
        Some(body) => read(body),
        None => Err(Failure::Defect("a layered body without layers".to_owned()).raise(slf.py())),
    }
}

fn named<'py, 'm>(
    py: Python<'py>,
    meshes: impl Iterator<Item = (&'m String, &'m TriMesh)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, mesh) in meshes {
        dict.set_item(name, Py::new(py, Mesh(mesh.clone()))?)?;
    }
    Ok(dict)
}

#[pymethods]
impl LayeredBody {
    /// The skin in metres, float32 (N, 3).
    #[getter]
    fn skin<'py>(slf: &Bound<'py, Self>) -> PyResult<Rows<'py>> {
        read(slf, |body| {
            of_points(slf.py(), body.layers.skin.iter().copied())
        })
    }

    /// The muscle surface in metres, float32 (N, 3).
    #[getter]
    fn muscle_surface<'py>(slf: &Bound<'py, Self>) -> PyResult<Rows<'py>> {
        read(slf, |body| {
            of_points(slf.py(), body.layers.muscle.iter().copied())
        })
    }

    /// The skeleton surface in metres, float32 (N, 3).
    #[getter]
    fn skeleton_surface<'py>(slf: &Bound<'py, Self>) -> PyResult<Rows<'py>> {
        read(slf, |body| {
            of_points(slf.py(), body.layers.skeleton.iter().copied())
        })
    }

    /// Triangles of all three surfaces, int32 (F, 3).
    #[getter]
    fn layer_faces<'py>(slf: &Bound<'py, Self>) -> PyResult<Indices<'py>> {
        read(slf, |body| {
            of_indices(slf.py(), body.layers.triangles.iter().copied())
        })
    }

    /// Bones by name.
    #[getter]
    fn bones<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        read(slf, |body| {
            let bones = body
                .bones
                .iter()
                .map(|entry| (&entry.bone.name, &entry.bone.mesh));
            named(slf.py(), bones)
        })
    }

    /// Muscles by name.
    #[getter]
    fn muscles<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        read(slf, |body| {
            named(
                slf.py(),
                body.muscles.iter().map(|entry| (&entry.name, &entry.mesh)),
            )
        })
    }

    /// Vertices of the tets in metres: skin, muscle surface, skeleton surface, float32 (3 N, 3).
    #[getter]
    fn tet_vertices<'py>(slf: &Bound<'py, Self>) -> PyResult<Rows<'py>> {
        read(slf, |body| {
            of_points(slf.py(), body.layers.tet_mesh().positions)
        })
    }

    /// Tets of the fat layer, then of the muscle layer, over `tet_vertices`, int32 (T, 4).
    #[getter]
    fn tets<'py>(slf: &Bound<'py, Self>) -> PyResult<Indices<'py>> {
        read(slf, |body| {
            of_indices(slf.py(), body.layers.tet_mesh().tets)
        })
    }

    /// Sex: 'male' or 'female'.
    #[getter]
    fn sex(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        read(slf, |body| {
            Ok(match body.sex() {
                anatomy::Sex::Male => "male",
                anatomy::Sex::Female => "female",
            })
        })
    }

    /// The body with `fat` and `muscle` kilograms more or less, or with the fat that brings it to a `weight` in kilograms or a body mass
    /// index `bmi`. `regions` of 'legs', 'belly', 'chest' and 'arms' limit where fat changes.
    ///
    /// >>> import supple
    /// >>> man = supple.load("@male", layers=True)
    /// >>> heavier = man.grow(fat=+4)
    /// >>> bool((heavier.skin != man.skin).any())
    /// True
    #[pyo3(signature = (fat = None, muscle = 0.0, *, weight = None, bmi = None, regions = None))]
    fn grow(
        slf: &Bound<'_, Self>,
        fat: Option<f64>,
        muscle: f64,
        weight: Option<f64>,
        bmi: Option<f64>,
        regions: Option<Vec<String>>,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let bad = |text: String| Failure::Argument("ArgumentError", text).raise(py);
        let goal = match (fat, weight, bmi) {
            (fat, None, None) => FatGoal::Change(fat.unwrap_or(0.0)),
            (None, Some(weight), None) => FatGoal::Weight(weight),
            (None, None, Some(bmi)) => FatGoal::BodyMassIndex(bmi),
            _ => return Err(bad("give one of fat, weight and bmi".to_owned())),
        };
        let mut chosen = Vec::new();
        for region in regions.iter().flatten() {
            chosen.push(match region.as_str() {
                "legs" => FatRegion::Legs,
                "belly" => FatRegion::Belly,
                "chest" => FatRegion::Chest,
                "arms" => FatRegion::Arms,
                other => {
                    let text = format!("regions are legs, belly, chest and arms, not '{other}'");
                    return Err(bad(text));
                }
            });
        }
        let subject = subject(slf);
        let (after, report) = long(py, None, move |_| {
            let growth = Growth {
                fat: goal,
                muscle,
                regions: chosen,
                ..Growth::default()
            };
            let result = grown(&subject.growing()?, &growth)?;
            let report = serde_json::to_string(&result.report).unwrap_or_default();
            let after: Subject = match subject.person() {
                Some(person) => grown_person(person, result)?.into(),
                None => result.anatomy.into(),
            };
            Ok((after, report))
        })?;
        if after.person().is_none() {
            return Character::object(py, after, None);
        }
        let start = PyClassInitializer::from(Character {
            subject: after,
            file: None,
        });
        let person = Person {
            growth: Some(report),
        };
        let start = start.add_subclass(LayeredBody).add_subclass(person);
        Ok(Py::new(py, start)?.into_any())
    }
}
