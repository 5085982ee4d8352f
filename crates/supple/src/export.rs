//! Writing a motion of the whole skin to files of other programs.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::Vec3;
use serde::Serialize;
use supple_flesh::Settings;
use supple_rig::bake::{
    self, BakeError, BakeReport, CorrectiveOptions, ErrorSum, Frame, FrameSource, Frames, Motion,
    PointCache,
};
use supple_rig::character::{Units, Up};
use supple_rig::formats::{self, FormatError, ReadOptions, obj, ply};
use supple_rig::{Character, Clip};

use crate::skin::{Method, Span, frame_bytes, skin};
use crate::{Error, Subject};

/// Ways to write a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Bake {
    /// The original skin plus principal corrective morph targets, within a bound \[mm\]: GLB.
    Correctives {
        /// Largest error allowed \[mm\].
        bound_mm: f32,
        /// Write the file even if its error exceeds the bound.
        allow_error: bool,
    },
    /// One morph target per frame: GLB.
    Morphs,
    /// PC2 point cache.
    Pc2,
    /// MDD point cache.
    Mdd,
    /// One OBJ per frame.
    Obj,
    /// One PLY per frame.
    Ply,
}

impl Bake {
    /// Name, and extensions of its files.
    fn files(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Correctives { .. } => ("correctives", &["glb", "vrm"]),
            Self::Morphs => ("morphs", &["glb", "vrm"]),
            Self::Pc2 => ("pc2", &["pc2"]),
            Self::Mdd => ("mdd", &["mdd"]),
            Self::Obj => ("obj", &["obj"]),
            Self::Ply => ("ply", &["ply"]),
        }
    }

    /// Fails if a file's name has the extension of another format.
    pub fn check_name(self, path: &Path) -> Result<(), FormatError> {
        let (name, extensions) = self.files();
        if extensions.contains(&extension(path).as_str()) {
            return Ok(());
        }
        let better = path.with_extension(extensions[0]);
        let reason = format!(
            "this is no name for the bake `{name}`, which writes .{} files; use {}, or choose another bake",
            extensions[0],
            better.display()
        );
        Err(FormatError::Unsupported(reason).in_file(path))
    }
}

fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_lowercase()
}

/// What was written.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Written {
    /// The file, or the first of a sequence.
    pub path: PathBuf,
    /// Number of frames.
    pub frames: usize,
    /// Morph targets added, of the mesh with the most.
    pub targets: usize,
    /// Largest distance of a vertex to the source motion, measured on the written file \[mm\].
    pub max_error_mm: f32,
    /// Root mean square of those distances \[mm\].
    pub rms_error_mm: f32,
    /// The requested bound \[mm\].
    pub bound_mm: Option<f32>,
    /// Whether the error is within it.
    pub bound_met: bool,
}

/// Error allowed for correctives by default \[mm\]: a millimetre for a person of 1.8 m, and in proportion for other sizes.
pub fn bound_of(character: &Character) -> f32 {
    let size = (character.bounds()).map_or(0.0, |(low, high)| (high - low).max_element());
    match size.is_finite() && size > 0.0 {
        true => size / 1.8,
        false => 1.0,
    }
}

/// The way to write a motion, by a file's extension: correctives within a bound \[mm\] for a GLB.
pub fn bake_for(path: &Path, bound_mm: f32) -> Result<Bake, FormatError> {
    let extension = extension(path);
    match extension.as_str() {
        "glb" | "vrm" => Ok(Bake::Correctives {
            bound_mm,
            allow_error: false,
        }),
        "pc2" => Ok(Bake::Pc2),
        "mdd" => Ok(Bake::Mdd),
        "obj" => Ok(Bake::Obj),
        "ply" => Ok(Bake::Ply),
        "" => {
            let reason = "the name needs an extension: .glb, .pc2, .mdd, .obj or .ply".to_owned();
            Err(FormatError::Unsupported(reason).in_file(path))
        }
        _ => Err(FormatError::UnknownFormat {
            extension,
            verb: "bake",
            known: "glb, pc2, mdd, obj and ply",
        }),
    }
}

/// Simulates a clip on a subject and writes it. The extension chooses the format: a GLB with corrective morph targets, a point
/// cache (`.pc2`, `.mdd`), or one mesh per frame (`.obj`, `.ply`).
///
/// ```no_run
/// # fn main() -> Result<(), supple::Error> {
/// let hero = supple::load("hero.glb")?;
/// supple::export(&hero, &supple::clip(&hero, "squat")?, "squat.glb")?;
/// # Ok(())
/// # }
/// ```
pub fn export(
    subject: impl Into<Subject>,
    clip: &Clip,
    path: impl AsRef<Path>,
) -> Result<Written, Error> {
    Exporter::new(subject, clip).write(path)
}

/// [`export`] with options.
#[derive(Clone, Debug)]
pub struct Exporter {
    subject: Subject,
    clip: Clip,
    settings: Settings,
    method: Method,
    span: Span,
    bound_mm: Option<f32>,
    bake: Option<Bake>,
}

impl Exporter {
    /// Defaults: the whole clip, simulated tissue, 30 frames per second, correctives within [`bound_of`] the character.
    pub fn new(subject: impl Into<Subject>, clip: &Clip) -> Self {
        Self {
            subject: subject.into(),
            clip: clip.clone(),
            settings: Settings::default(),
            method: Method::default(),
            span: Span::all(clip, 30.0),
            bound_mm: None,
            bake: None,
        }
    }

    /// Settings of the tissue.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The skinning method.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Frames per second.
    pub fn fps(mut self, fps: f32) -> Self {
        self.span.fps = fps;
        self
    }

    /// Start and end within the clip \[s\].
    pub fn between(mut self, from: f32, to: f32) -> Self {
        (self.span.from, self.span.to) = (from, to);
        self
    }

    /// Largest error of correctives \[mm\].
    pub fn bound_mm(mut self, bound_mm: f32) -> Self {
        self.bound_mm = Some(bound_mm);
        self
    }

    /// How the motion is written; by default chosen by the file's extension.
    pub fn bake(mut self, bake: Bake) -> Self {
        self.bake = Some(bake);
        self
    }

    /// Simulates and writes the motion.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Written, Error> {
        let path = path.as_ref();
        let bake = match self.bake {
            Some(bake) => bake,
            None => {
                let bound = self.bound_mm.unwrap_or_else(|| bound_of(&self.subject));
                bake_for(path, bound)?
            }
        };
        bake.check_name(path)?;
        self.span.check(frame_bytes(&self.subject, self.method))?;
        let (subject, clip) = (&self.subject, &self.clip);
        let motion = skin(
            subject,
            clip,
            self.method,
            &self.settings,
            self.span,
            &mut |_| (),
        )?;
        Ok(write_motion(subject, &motion, bake, path, &clip.name)?)
    }
}

/// Largest memory for the skin of all frames while correctives are found \[bytes\]. Longer motions make each frame's skin several times.
const MOST_KEPT: usize = 1 << 29;

/// Writes a motion and measures the error of the written file. Correctives that miss their bound are an error, unless allowed.
pub fn write_motion(
    character: &Character,
    motion: &Motion,
    bake: Bake,
    path: &Path,
    clip_name: &str,
) -> Result<Written, BakeError> {
    write_motion_told(character, motion, bake, path, clip_name, &|_| ())
}

/// As [`write_motion`]; `told` gets the share that is done, from 0 to 1.
pub fn write_motion_told(
    character: &Character,
    motion: &Motion,
    bake: Bake,
    path: &Path,
    clip_name: &str,
    told: &(dyn Fn(f32) + Sync),
) -> Result<Written, BakeError> {
    bake.check_name(path)?;
    let made = AtomicUsize::new(0);
    let count = motion.frames.len().max(1);
    // Correctives read every frame several times, files of frames twice. Making the skins takes about a third of the time.
    let kept = matches!(bake, Bake::Correctives { .. }).then(|| {
        motion.frames.kept(MOST_KEPT, &|| {
            let made = 1 + made.fetch_add(1, Ordering::Relaxed);
            told(0.3 * made as f32 / count as f32);
        })
    });
    let kept = kept.flatten().map(|frames| Motion {
        frames,
        fps: motion.fps,
        poses: motion.poses.clone(),
        morph_weights: motion.morph_weights.clone(),
    });
    let motion = kept.as_ref().unwrap_or(motion);
    let report = match bake {
        Bake::Correctives {
            bound_mm,
            allow_error,
        } => {
            let options = CorrectiveOptions {
                bound_mm,
                clip_name: clip_name.to_owned(),
                ..CorrectiveOptions::default()
            };
            let (bytes, report) =
                bake::bake_correctives_told(character, motion, &options, &|share| {
                    told(0.3 + 0.7 * share);
                })?;
            if !(report.bound_met || allow_error) {
                return Err(BakeError::Bound {
                    bound_mm,
                    error_mm: report.errors.max_mm,
                    targets: report.targets,
                });
            }
            formats::save(path, &bytes)?;
            report
        }
        Bake::Morphs => {
            let (bytes, report) = bake::bake_frames(character, motion, clip_name)?;
            formats::save(path, &bytes)?;
            report
        }
        Bake::Pc2 => cache(character, motion, path, bake::write_pc2, |file| {
            bake::read_pc2(file, motion.fps)
        })?,
        Bake::Mdd => cache(character, motion, path, bake::write_mdd, bake::read_mdd)?,
        Bake::Obj => sequence(
            character,
            motion,
            path,
            |still| obj::write_obj(still).into_bytes(),
            read_obj_positions,
        )?,
        Bake::Ply => sequence(character, motion, path, ply::write_ply, read_ply_positions)?,
    };
    Ok(Written {
        path: match bake {
            Bake::Obj | Bake::Ply => frame_path(path, 0),
            _ => path.to_owned(),
        },
        frames: report.frames,
        targets: report.targets,
        max_error_mm: report.errors.max_mm,
        rms_error_mm: report.errors.rms_mm,
        bound_mm: report.bound_mm,
        bound_met: report.bound_met,
    })
}

/// Point caches and sequences are used together with the user's own file, so they have its units and axes.
struct InFileSpace {
    units: Units,
    frames: Frames,
}

impl FrameSource for InFileSpace {
    fn count(&self) -> usize {
        self.frames.len()
    }

    fn frame(&self, frame: usize) -> Frame {
        let convert = |position: &Vec3| self.units.to_file(*position);
        let parts = self.frames.get(frame);
        let convert = |part: &Vec<Vec3>| part.iter().map(convert).collect();
        parts.iter().map(convert).collect()
    }
}

/// A motion in the units and axes of the character's file, for formats that are used together with it.
pub fn in_file_space(character: &Character, motion: &Motion) -> Motion {
    let source = InFileSpace {
        units: character.units,
        frames: motion.frames.clone(),
    };
    Motion {
        frames: Frames::Made(Arc::new(source)),
        ..motion.clone()
    }
}

/// Writes a point cache and reads it back, both frame by frame.
fn cache(
    character: &Character,
    motion: &Motion,
    path: &Path,
    write: impl Fn(&Motion, &mut dyn Write) -> std::io::Result<()>,
    read: impl Fn(BufReader<File>) -> Result<PointCache<BufReader<File>>, FormatError>,
) -> Result<BakeReport, BakeError> {
    motion.check(character)?;
    let motion = in_file_space(character, motion);
    formats::save_with(path, |out| write(&motion, out))?;
    let file = File::open(path).map_err(|source| FormatError::Io {
        path: path.to_owned(),
        source,
    })?;
    let mut written = read(BufReader::new(file))?;
    let mut sum = ErrorSum::default();
    for frame in motion.frames.iter() {
        add_distances(&mut sum, &frame, &written.next_frame()?);
    }
    Ok(measured(character, &motion, sum))
}

fn sequence(
    character: &Character,
    motion: &Motion,
    path: &Path,
    write: impl Fn(&Character) -> Vec<u8>,
    read: impl Fn(&[u8]) -> Result<Vec<Vec3>, FormatError>,
) -> Result<BakeReport, BakeError> {
    let motion = in_file_space(character, motion);
    let mut sum = ErrorSum::default();
    bake::sequence(
        character,
        &motion,
        |frame, still| -> Result<(), BakeError> {
            let bytes = write(still);
            let parts: Vec<Vec<Vec3>> = (still.parts.iter())
                .map(|part| part.mesh.positions.clone())
                .collect();
            add_distances(&mut sum, &parts, &read(&bytes)?);
            Ok(formats::save(&frame_path(path, frame), &bytes)?)
        },
    )?;
    Ok(measured(character, &motion, sum))
}

/// Distances between a frame and the one that was read back, all parts concatenated.
fn add_distances(sum: &mut ErrorSum, parts: &[Vec<Vec3>], read_back: &[Vec3]) {
    let pairs = parts.iter().flatten().zip(read_back);
    pairs.for_each(|(a, b)| sum.add(*a, *b));
}

/// `walk.obj` → `walk_0007.obj`
pub fn frame_path(path: &Path, frame: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}_{frame:04}.{extension}"))
}

/// Converts measurements from the file's units to metres.
fn measured(character: &Character, motion: &Motion, sum: ErrorSum) -> BakeReport {
    let mut errors = sum.errors();
    errors.max_mm *= character.units.metres_per_unit;
    errors.rms_mm *= character.units.metres_per_unit;
    BakeReport {
        frames: motion.frames.len(),
        errors,
        bound_met: true,
        ..BakeReport::default()
    }
}

const AS_WRITTEN: ReadOptions = ReadOptions {
    metres_per_unit: Some(1.0),
    up: Some(Up::Y),
};

fn read_obj_positions(bytes: &[u8]) -> Result<Vec<Vec3>, FormatError> {
    let nothing = |_: &str| {
        Err(FormatError::Unsupported(
            "no material library is needed here".to_owned(),
        ))
    };
    let (character, map) = obj::read_obj_with_map(bytes, &nothing, &AS_WRITTEN)?;
    let count = map
        .iter()
        .flatten()
        .map(|&index| index as usize + 1)
        .max()
        .unwrap_or(0);
    let mut positions = vec![Vec3::ZERO; count];
    for (part, map) in character.parts.iter().zip(&map) {
        for (&position, &index) in part.mesh.positions.iter().zip(map) {
            positions[index as usize] = position;
        }
    }
    Ok(positions)
}

fn read_ply_positions(bytes: &[u8]) -> Result<Vec<Vec3>, FormatError> {
    let character = ply::read_ply(bytes, &AS_WRITTEN)?;
    Ok(character
        .parts
        .into_iter()
        .flat_map(|part| part.mesh.positions)
        .collect())
}
