//! Soft bodies that a program steps itself.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;
use supple::flesh::settings::Resolution;

use crate::arrays::{Indices, Rows, of_indices, of_points};
use crate::character::Character;
use crate::errors::Failure;
use crate::motion::Pose;
use crate::running::{brief, long};
use crate::settings::settings;

/// What `SoftBody.advance` did.
#[pyclass(frozen, get_all, module = "supple")]
pub struct Advance {
    /// Internal steps taken.
    pub steps: u32,
    /// Whether the pose jumped and the tissue was carried along.
    pub jumped: bool,
    /// Time that was dropped because the frame was too long, in seconds.
    pub dropped: f64,
}

#[pymethods]
impl Advance {
    fn __repr__(&self) -> String {
        let jumped = if self.jumped { "True" } else { "False" };
        format!(
            "Advance(steps={}, jumped={jumped}, dropped={:?})",
            self.steps, self.dropped
        )
    }
}

/// A character with tissue, to be stepped pose by pose.
///
/// `contact` of the skin with itself is 'none', 'local' or 'global'; `ground` is the height of a floor in metres; `settings` a dict or
/// the path of a TOML file (without it, the settings beside the character's file are taken); `resolution` the number of simulated
/// vertices. Threads cannot share a body: the second one gets `BusyError`.
///
/// >>> import supple
/// >>> hero = supple.load("@female")
/// >>> jump = hero.clip("jump")
/// >>> body = supple.SoftBody(hero, contact="global", resolution=1000)
/// >>> body.place(jump.sample(0))
/// >>> body.advance(jump.sample(1 / 60), 1 / 60)
/// Advance(steps=1, jumped=False, dropped=0.0)
/// >>> body.vertices.shape == body.normals.shape == hero.vertices.shape
/// True
#[pyclass(frozen, module = "supple")]
pub struct SoftBody {
    subject: supple::Subject,
    body: Arc<Mutex<supple::SoftBody>>,
}

/// The body, if nobody else uses it.
fn held(body: &Mutex<supple::SoftBody>) -> Result<MutexGuard<'_, supple::SoftBody>, Failure> {
    body.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Failure::busy(),
        TryLockError::Poisoned(_) => {
            Failure::Defect("an earlier call on this body failed; build it again".to_owned())
        }
    })
}

impl SoftBody {
    fn skin<'py>(&self, py: Python<'py>, normals: bool) -> PyResult<Rows<'py>> {
        let flat = brief(py, || {
            let mut body = held(&self.body)?;
            let parts = body.skin().iter();
            let chosen = parts.flat_map(|part| {
                if normals {
                    &part.normals
                } else {
                    &part.positions
                }
            });
            Ok(chosen.copied().collect::<Vec<_>>())
        })?;
        of_points(py, flat)
    }

    fn to_rest(&self, py: Python, pose: &Pose, anew: bool) -> PyResult<()> {
        let (body, pose) = (Arc::clone(&self.body), pose.pose.clone());
        long(py, None, move |_| {
            let mut body = held(&body)?;
            match anew {
                true => body.reset(&pose)?,
                false => body.place(&pose)?,
            }
            Ok(())
        })
    }
}

#[pymethods]
impl SoftBody {
    #[new]
    #[pyo3(signature = (character, *, contact = None, ground = None, settings = None, resolution = None, progress = None))]
    fn new(
        py: Python,
        character: PyRef<Character>,
        contact: Option<&str>,
        ground: Option<f64>,
        settings: Option<&Bound<PyAny>>,
        resolution: Option<u32>,
        progress: Option<Bound<PyAny>>,
    ) -> PyResult<Self> {
        let found = self::settings(settings, character.file.as_deref(), contact, ground);
        let mut settings = found.map_err(|failure| failure.raise(py))?;
        if let Some(count) = resolution {
            settings.detail.resolution = Resolution::Vertices(count as usize);
        }
        let subject = character.subject.clone();
        let built = subject.clone();
        let body = long(py, progress, move |task| {
            let tissue = supple::flesh::Flesh::builder(&built).settings(settings);
            let told = |share: f32| task.tell(share);
            let mut builder = tissue.progress(&told);
            if let Some(layers) = built.layers() {
                builder = builder.layers(layers);
            }
            Ok(supple::SoftBody::from_flesh(builder.build()?)?)
        })?;
        let body = Arc::new(Mutex::new(body));
        Ok(Self { subject, body })
    }

    /// Puts the body at rest in a pose: no time passes, and nothing jiggles afterwards.
    fn place(&self, py: Python, pose: PyRef<Pose>) -> PyResult<()> {
        self.to_rest(py, &pose, false)
    }

    /// Puts the body at rest in a pose and forgets its state.
    fn reset(&self, py: Python, pose: PyRef<Pose>) -> PyResult<()> {
        self.to_rest(py, &pose, true)
    }

    /// Advances time by `dt` seconds while the skeleton moves to `pose`. Frames may have any length.
    fn advance(&self, py: Python, pose: PyRef<Pose>, dt: f64) -> PyResult<Advance> {
        if !(dt.is_finite() && dt >= 0.0) {
            let text = format!("dt is a time in seconds, not {dt}");
            return Err(Failure::Argument("ArgumentError", text).raise(py));
        }
        let pose = &pose.pose;
        let done = brief(py, || Ok(held(&self.body)?.advance(pose, dt)?))?;
        Ok(Advance {
            steps: done.steps,
            jumped: done.jumped,
            dropped: done.dropped,
        })
    }

    /// Positions in metres, in the file's order, float32 (N, 3).
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        self.skin(py, false)
    }

    /// Unit normals, float32 (N, 3).
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        self.skin(py, true)
    }

    /// Triangles, int32 (F, 3).
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

    /// The pose that the body was last moved to.
    #[getter]
    fn pose(&self, py: Python) -> PyResult<Pose> {
        let pose = held(&self.body).map(|body| body.pose().clone());
        Ok(Pose {
            subject: self.subject.clone(),
            pose: pose.map_err(|failure| failure.raise(py))?,
        })
    }

    /// Number of tets of the tissue.
    #[getter]
    fn tet_count(&self, py: Python) -> PyResult<usize> {
        let count = held(&self.body).map(|body| body.flesh().report.tets);
        count.map_err(|failure| failure.raise(py))
    }

    fn __repr__(&self) -> String {
        format!("<supple.SoftBody of '{}'>", self.subject.name)
    }
}
