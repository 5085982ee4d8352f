//! Clips, poses, and the simulation of a whole clip.

use std::path::PathBuf;

use numpy::PyArray3;
use pyo3::prelude::*;
use supple::bake::Frames;
use supple::clips::{Choice, choose};
use supple::glam::{Quat, Vec3};
use supple::morphs::with_morphs;
use supple::play::{Recording, follow};
use supple::skin::{bind_missing, frame_bytes, pose_bytes};
use supple::tissue::TissueError;
use supple::{Method, SoftBody, Span, Subject};

use crate::arrays::{Rows, of_frames, of_points, rows, shaped};
use crate::character::Character;
use crate::errors::Failure;
use crate::running::long;

/// Frames per second that motions of other files are sampled at, as the command line does.
const FPS: f32 = 30.0;
/// Largest memory for the skins of a motion \[bytes\].
const MOST: f64 = 16e9;
/// Part of the progress that is simulation. The rest makes the full skin.
const SIMULATION: f32 = 0.9;

/// A motion on a character's skeleton.
///
/// >>> import supple
/// >>> hero = supple.load("@male")
/// >>> squat = supple.clip(hero, "squat")
/// >>> squat.sample(0.5).rotations.shape == (len(hero.joints), 4)
/// True
#[pyclass(frozen, module = "supple")]
pub struct Clip {
    subject: Subject,
    clip: supple::Clip,
}

impl Clip {
    /// A clip of a file by name, or the first; retargeted if it comes from elsewhere.
    pub fn find(
        py: Python,
        subject: &Subject,
        name: Option<&str>,
        motion: Option<PathBuf>,
    ) -> PyResult<Self> {
        let subject = subject.clone();
        let name = name.map(str::to_owned);
        long(py, None, move |_| {
            let choice = match (&motion, &name) {
                (None, None) => Choice::Default,
                (None, Some(name)) => Choice::Named(name, None),
                (Some(file), None) => Choice::File(file, None),
                (Some(file), Some(name)) => Choice::FileClip(file, name, None),
            };
            // The soles of a retargeted motion are found with weights.
            let mut bound = subject.clone();
            let is_unbound = |part: &supple::rig::Part| part.binding.influences.is_empty();
            if bound.body().is_none()
                && !bound.skeleton.is_empty()
                && bound.parts.iter().any(is_unbound)
            {
                bind_missing(bound.character_mut(), false)?;
            }
            let clip = choose(&bound, choice, FPS)?;
            Ok(Self { subject, clip })
        })
    }
}

#[pymethods]
impl Clip {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.clip.name
    }

    /// Time of its last key in seconds.
    #[getter]
    fn duration(&self) -> f32 {
        self.clip.duration()
    }

    /// The pose at a time in seconds; the first or last one outside of the clip.
    fn sample(&self, py: Python, time: f64) -> PyResult<Pose> {
        if !time.is_finite() {
            let text = format!("a time in seconds was expected, not {time}");
            return Err(Failure::Argument("ArgumentError", text).raise(py));
        }
        Ok(Pose {
            pose: self.clip.sample(&self.subject.skeleton, time),
            subject: self.subject.clone(),
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "<supple.Clip '{}': {:.2} s>",
            self.clip.name,
            self.clip.duration()
        )
    }
}

/// A pose of a skeleton: what every joint does in its parent's frame.
///
/// >>> import supple
/// >>> pose = supple.load("@male").rest_pose
/// >>> turned = pose.rotations
/// >>> turned[0] = [0, 1, 0, 0]                    # half a turn about Y: x, y, z, w
/// >>> pose.replace(rotations=turned).rotations[0].tolist()
/// [0.0, 1.0, 0.0, 0.0]
#[pyclass(frozen, module = "supple")]
pub struct Pose {
    pub subject: Subject,
    pub pose: supple::Pose,
}

#[pymethods]
impl Pose {
    /// Rotations as unit quaternions x, y, z, w, float32 (J, 4), joints in the order of `Character.joints`.
    #[getter]
    fn rotations<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        let rotations = self
            .pose
            .locals
            .iter()
            .flat_map(|local| local.rotation.to_array());
        shaped(py, rotations.collect(), 4)
    }

    /// Translations in metres, float32 (J, 3).
    #[getter]
    fn translations<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        of_points(py, self.pose.locals.iter().map(|local| local.translation))
    }

    /// Places of the joints in the world in metres, float32 (J, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        let worlds = self.pose.worlds(&self.subject.skeleton);
        of_points(py, worlds.into_iter().map(|world| world.translation.into()))
    }

    /// The same pose with other rotations or translations. Rotations are normalised.
    #[pyo3(signature = (*, rotations = None, translations = None))]
    fn replace(
        &self,
        py: Python,
        rotations: Option<&Bound<PyAny>>,
        translations: Option<&Bound<PyAny>>,
    ) -> PyResult<Self> {
        let mut pose = self.pose.clone();
        let count = pose.locals.len();
        if let Some(rotations) = rotations {
            let flat = rows(rotations, "rotations", count, 4)?;
            for (joint, row) in flat.chunks_exact(4).enumerate() {
                let length = Quat::from_slice(row).length();
                if !(length.is_finite() && length > 1e-6) {
                    let text = format!("rotations: row {joint} is no quaternion x, y, z, w");
                    return Err(Failure::array(text).raise(py));
                }
                pose.locals[joint].rotation = Quat::from_slice(row).normalize();
            }
        }
        if let Some(translations) = translations {
            let flat = rows(translations, "translations", count, 3)?;
            for (local, row) in pose.locals.iter_mut().zip(flat.chunks_exact(3)) {
                local.translation = Vec3::from_slice(row);
            }
        }
        let subject = self.subject.clone();
        Ok(Self { subject, pose })
    }

    fn __repr__(&self) -> String {
        format!("<supple.Pose: {} joints>", self.pose.locals.len())
    }
}

/// A clip of the character's file by name or number, or an embedded clip by name; the first one without a name.
///
/// >>> import supple
/// >>> supple.clip(supple.load("@female"), "jump")
/// <supple.Clip 'jump': ... s>
#[pyfunction]
#[pyo3(signature = (character, name = None, *, motion = None))]
pub fn clip(
    py: Python,
    character: PyRef<Character>,
    name: Option<&str>,
    motion: Option<PathBuf>,
) -> PyResult<Clip> {
    Clip::find(py, &character.subject, name, motion)
}

/// Simulates a clip and returns every frame's vertices, float32 (T, N, 3), in metres.
///
/// `clip` is a `Clip` or its name. The frames are those of `start`, `start + 1/fps`, ... to `end`, the whole clip if they are not given.
/// `settings` is a dict or the path of a TOML file; without it, the settings beside the character's file are taken. `contact` is
/// 'none', 'local' or 'global', `ground` the floor's height in metres. `progress` is called with the share that is done; True is a bar
/// of tqdm.
///
/// >>> import supple
/// >>> hero = supple.load("@male")
/// >>> supple.simulate(hero, "squat", fps=10, end=0.2).shape == (3, len(hero.vertices), 3)
/// True
#[pyfunction]
#[pyo3(signature = (character, clip = None, *, fps = 30.0, start = 0.0, end = None, contact = None, ground = None, settings = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn simulate<'py>(
    py: Python<'py>,
    character: PyRef<Character>,
    clip: Option<&Bound<PyAny>>,
    fps: f32,
    start: f32,
    end: Option<f32>,
    contact: Option<&str>,
    ground: Option<f64>,
    settings: Option<&Bound<PyAny>>,
    progress: Option<Bound<PyAny>>,
) -> PyResult<Bound<'py, PyArray3<f32>>> {
    let bad = |text: &str| Failure::Argument("ArgumentError", text.to_owned()).raise(py);
    let subject = character.subject.clone();
    let played = match clip {
        None => Clip::find(py, &subject, None, None)?.clip,
        Some(clip) => match (clip.cast::<Clip>(), clip.extract::<String>()) {
            (Ok(clip), _) => clip.get().clip.clone(),
            (_, Ok(name)) => Clip::find(py, &subject, Some(&name), None)?.clip,
            _ => return Err(bad("clip is a supple.Clip or the name of one")),
        },
    };
    let span = Span {
        from: start,
        to: end.unwrap_or(played.duration()),
        fps,
    };
    if !(0.1..=1000.0).contains(&fps) {
        return Err(bad("fps is a number from 0.1 to 1000"));
    }
    if !(span.from >= 0.0 && span.to >= span.from && span.to.is_finite()) {
        return Err(bad(
            "start and end are times of the clip in seconds, the end last",
        ));
    }
    let found = crate::settings::settings(settings, character.file.as_deref(), contact, ground);
    let settings = found.map_err(|failure| failure.raise(py))?;
    let (frames, flat) = long(py, progress, move |task| {
        let vertices: usize = subject.parts.iter().map(|p| p.mesh.positions.len()).sum();
        span.check(frame_bytes(&subject, Method::Tissue).max(pose_bytes(&subject)))?;
        let times = span.times();
        if 12.0 * vertices as f64 * times.len() as f64 > MOST {
            let text = "the frames would take more than 16 GB; simulate shorter pieces with start and end, or step a SoftBody";
            return Err(Failure::Argument("ClipError", text.to_owned()));
        }
        let mut body = SoftBody::new(&subject, settings)?;
        let mut recording = Recording::of(&body);
        let mut stopped = false;
        let share = SIMULATION / times.len() as f32;
        let played_to = follow(&mut body, &subject, &played, &times, &mut |frame, body| {
            recording.push(body);
            task.tell(share * (frame + 1) as f32);
            stopped = task.check().is_err();
            match stopped {
                true => Err(TissueError::Solve(supple::sim::SolveError::NotFinite {
                    list: "frames",
                    index: frame,
                })),
                false => Ok(()),
            }
        });
        if stopped {
            return Err(Failure::Stopped);
        }
        played_to?;
        let motion = with_morphs(recording.motion(span.fps), &subject, &played, &times);
        let kept = motion.frames.kept(1 << 30, &|| ());
        let frames: &Frames = kept.as_ref().unwrap_or(&motion.frames);
        let mut flat = Vec::with_capacity(3 * vertices * times.len());
        for frame in 0..times.len() {
            task.check()?;
            let parts = frames.get(frame);
            flat.extend(parts.iter().flatten().flat_map(|p| p.to_array()));
        }
        task.tell(1.0);
        Ok((times.len(), flat))
    })?;
    of_frames(py, flat, frames)
}
