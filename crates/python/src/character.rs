//! Characters and meshes.

use std::path::PathBuf;

use pyo3::prelude::*;
use supple::geom::TriMesh;
use supple::rig::formats::save_character;
use supple::rig::markers::Markers;
use supple::rig::{rigging, skinning};
use supple::skin::bind_missing;
use supple::{LoadOptions, Subject};

use crate::arrays::{Indices, Rows, of_indices, of_points};
use crate::errors::Failure;
use crate::layered::LayeredBody;
use crate::motion::{Clip, Pose};
use crate::person::Person;
use crate::running::{brief, long};

/// A triangle mesh.
///
/// >>> import supple
/// >>> femur = supple.load("@male", layers=True).bones["femur_l"]
/// >>> femur.vertices.dtype, femur.faces.shape[1]
/// (dtype('float32'), 3)
#[pyclass(frozen, module = "supple")]
pub struct Mesh(pub TriMesh);

#[pymethods]
impl Mesh {
    /// Positions in metres, float32 (N, 3).
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        of_points(py, self.0.positions.iter().copied())
    }

    /// Triangles, int32 (F, 3).
    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Indices<'py>> {
        of_indices(py, self.0.triangles.iter().copied())
    }

    /// The mesh for the package trimesh, which has to be installed.
    fn to_trimesh<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        interchange(slf.as_any(), "to_trimesh")
    }

    /// The mesh for the package meshio, which has to be installed.
    fn to_meshio<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        interchange(slf.as_any(), "to_meshio")
    }

    fn __repr__(&self) -> String {
        let (vertices, faces) = (self.0.positions.len(), self.0.triangles.len());
        format!("<supple.Mesh: {vertices} vertices, {faces} faces>")
    }
}

/// A function of `supple/_interchange.py`, called with an object.
pub fn interchange<'py>(object: &Bound<'py, PyAny>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    let module = object.py().import("supple._interchange")?;
    module.call_method1(function, (object,))
}

/// A character: meshes, a skeleton and clips. `supple.load` makes one.
///
/// Vertices of several meshes follow each other in the file's order.
///
/// >>> import supple
/// >>> hero = supple.load("@female")
/// >>> hero.vertices.shape[1], hero.joints[0], "jump" in hero.embedded_clips
/// (3, 'root', True)
#[pyclass(frozen, subclass, module = "supple")]
pub struct Character {
    pub subject: Subject,
    /// Where it came from.
    pub file: Option<PathBuf>,
}

impl Character {
    /// An object of the class that fits: a person, a layered body or a character.
    pub fn object(py: Python, subject: Subject, file: Option<PathBuf>) -> PyResult<Py<PyAny>> {
        let is_person = subject.person().is_some();
        let is_layered = subject.body().is_some();
        let start = PyClassInitializer::from(Self { subject, file });
        Ok(match (is_person, is_layered) {
            (true, _) => {
                let start = start
                    .add_subclass(LayeredBody)
                    .add_subclass(Person::default());
                Py::new(py, start)?.into_any()
            }
            (_, true) => Py::new(py, start.add_subclass(LayeredBody))?.into_any(),
            _ => Py::new(py, start)?.into_any(),
        })
    }
}

#[pymethods]
impl Character {
    /// Its name: that of the file, without the ending.
    #[getter]
    fn name(&self) -> &str {
        &self.subject.name
    }

    /// Positions at rest in metres, Y up, in the file's order, float32 (N, 3).
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        let subject = self.subject.clone();
        let positions = brief(py, move || {
            let worlds = subject.skeleton.rest_worlds();
            let parts = subject.parts.iter();
            let posed = |part| skinning::linear_blend(part, &worlds, &part.morph_weights).positions;
            Ok(parts.flat_map(posed).collect::<Vec<_>>())
        })?;
        of_points(py, positions)
    }

    /// Triangles of all meshes, int32 (F, 3).
    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Indices<'py>> {
        let mut first = 0;
        let mut faces = Vec::new();
        for part in &self.subject.parts {
            faces.extend(part.mesh.triangles.iter().map(|t| t.map(|v| v + first)));
            first += part.mesh.positions.len() as u32;
        }
        of_indices(py, faces)
    }

    /// Names of the meshes, and how many vertices each has.
    #[getter]
    fn parts(&self) -> Vec<(String, usize)> {
        let parts = self.subject.parts.iter();
        parts
            .map(|part| (part.name.clone(), part.mesh.positions.len()))
            .collect()
    }

    /// Names of the joints, parents first.
    #[getter]
    fn joints(&self) -> Vec<String> {
        let joints = self.subject.skeleton.joints().iter();
        joints.map(|joint| joint.name.clone()).collect()
    }

    /// Number of each joint's parent; -1 for roots.
    #[getter]
    fn parents(&self) -> Vec<i64> {
        let joints = self.subject.skeleton.joints().iter();
        joints
            .map(|joint| joint.parent.map_or(-1, |parent| parent as i64))
            .collect()
    }

    /// Names of the file's clips.
    #[getter]
    fn clips(&self) -> Vec<String> {
        self.subject
            .clips
            .iter()
            .map(|clip| clip.name.clone())
            .collect()
    }

    /// Names of the embedded clips, which every humanoid plays.
    #[getter]
    fn embedded_clips(&self) -> Vec<&'static str> {
        supple::embedded::clip_names().collect()
    }

    /// The pose of the file.
    #[getter]
    fn rest_pose(&self) -> Pose {
        Pose {
            subject: self.subject.clone(),
            pose: supple::Pose::rest(&self.subject.skeleton),
        }
    }

    /// A clip of the file by name or number, or an embedded clip by name; of another file with `motion`.
    ///
    /// >>> import supple
    /// >>> jump = supple.load("@male").clip("jump")
    /// >>> jump.name, jump.duration > 1
    /// ('jump', True)
    #[pyo3(signature = (name = None, *, motion = None))]
    fn clip(&self, py: Python, name: Option<&str>, motion: Option<PathBuf>) -> PyResult<Clip> {
        Clip::find(py, &self.subject, name, motion)
    }

    /// Writes the character to a file whose ending chooses the format (.glb, .obj, ...).
    fn save(&self, py: Python, path: PathBuf) -> PyResult<()> {
        let subject = self.subject.clone();
        long(py, None, move |_| Ok(save_character(&path, &subject)?))
    }

    /// The skin at rest for the package trimesh, which has to be installed.
    fn to_trimesh<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        interchange(slf.as_any(), "to_trimesh")
    }

    /// The skin at rest for the package meshio, which has to be installed; the tets of a layered body.
    fn to_meshio<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        interchange(slf.as_any(), "to_meshio")
    }

    fn __repr__(slf: &Bound<Self>) -> PyResult<String> {
        let subject = &slf.get().subject;
        let vertices: usize = subject.parts.iter().map(|p| p.mesh.positions.len()).sum();
        Ok(format!(
            "<supple.{} '{}': {vertices} vertices, {} joints, {} clips>",
            slf.get_type().name()?,
            subject.name,
            subject.skeleton.len(),
            subject.clips.len()
        ))
    }
}

/// Loads a character of a file (glTF, GLB, VRM, FBX, OBJ, PLY, ...), a person (.person), a template, or '@male' or '@female'.
///
/// `skeleton` is another file with the skeleton; `layers` asks for the layers of '@male' and '@female'; `fit_skeleton` fits a humanoid
/// skeleton into a mesh that has none. `unit` is the length of the file's unit in metres, `up` its upward axis, 'y' or 'z'; both are
/// declared in the file, or guessed.
///
/// >>> import supple
/// >>> supple.load("@male")
/// <supple.Character 'male': ... vertices, ... joints, 0 clips>
/// >>> supple.load("@male", layers=True).muscles["soleus_l"]
/// <supple.Mesh: ... vertices, ... faces>
#[pyfunction]
#[pyo3(signature = (path, *, skeleton = None, layers = false, fit_skeleton = false, unit = None, up = None))]
pub fn load(
    py: Python,
    path: PathBuf,
    skeleton: Option<PathBuf>,
    layers: bool,
    fit_skeleton: bool,
    unit: Option<f32>,
    up: Option<&str>,
) -> PyResult<Py<PyAny>> {
    use supple::rig::character::Up;
    let mut options = LoadOptions::new();
    options.skeleton = skeleton;
    options.layers = layers;
    options.read.metres_per_unit = unit;
    options.read.up = match up {
        None => None,
        Some("y" | "Y") => Some(Up::Y),
        Some("z" | "Z") => Some(Up::Z),
        Some(other) => {
            let text = format!("up is 'y' or 'z', not '{other}'");
            return Err(Failure::Argument("ArgumentError", text).raise(py));
        }
    };
    if unit.is_some_and(|unit| !(unit.is_finite() && unit > 0.0)) {
        let text = "unit is a length in metres above zero".to_owned();
        return Err(Failure::Argument("ArgumentError", text).raise(py));
    }
    let file = path.clone();
    let subject = long(py, None, move |_| {
        let subject = supple::load_with(&path, &options)?;
        if !fit_skeleton || subject.body().is_some() || !rigging::is_bare(&subject) {
            return Ok(subject);
        }
        let fitted = rigging::fitted(&subject, &Markers::default());
        let mut fitted = fitted.map_err(|error| {
            let text = format!(
                "{}: no humanoid skeleton could be fitted: {error}",
                path.display()
            );
            Failure::Argument("FileError", text)
        })?;
        bind_missing(&mut fitted, false)?;
        Ok(fitted.into())
    })?;
    Character::object(py, subject, Some(file))
}
