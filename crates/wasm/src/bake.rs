//! Export of the current motion or pose as a file.

use std::io::{self, Write};

use supple::bake::{
    BakeError, CorrectiveOptions, Frames, Motion, bake_correctives, write_mdd, write_pc2,
};
use supple::export::in_file_space;
use supple::glam::Vec3;
use supple::rig::formats::obj::write_obj;
use supple::skin::{Method, Span};

use crate::error::StageError;
use crate::stage::{Shown, Stage};

/// Largest error of a pose in a GLB \[mm\]: one morph target holds it up to rounding.
const STILL_BOUND_MM: f32 = 0.1;

fn unknown(format: &str) -> StageError {
    StageError::Other(format!("unknown format `{format}`"))
}

impl Stage {
    /// Simulates the current clip and writes it: "glb" (with correctives within the bound), "pc2" or "mdd" (point caches in the
    /// units and axes of the file).
    pub fn bake(
        &mut self,
        format: &str,
        fps: f32,
        bound_mm: f32,
        progress: &dyn Fn(f32),
    ) -> Result<Vec<u8>, StageError> {
        self.bind_missing()?;
        let nothing =
            || StageError::Other("there is no motion to export; choose a clip first".to_owned());
        let clip = self.current_clip().ok_or_else(nothing)?.clone();
        let still = || {
            StageError::Other("the tissue is not built yet; wait for it and try again".to_owned())
        };
        let body = self.body.as_mut().ok_or_else(still)?;
        let span = Span::all(&clip, fps);
        span.check(supple::skin::frame_bytes(&self.character, Method::Tissue))?;
        let frames = span.times().len() as f32;
        body.set_forces(Vec::new());
        let motion = supple::play::simulate(body, &self.character, &clip, span, &mut |frame| {
            progress(0.8 * frame as f32 / frames);
        })?;
        let mut bytes = Vec::new();
        match format {
            "glb" => {
                let options = CorrectiveOptions {
                    bound_mm,
                    clip_name: clip.name.clone(),
                    ..Default::default()
                };
                bytes = bake_correctives(&self.character, &motion, &options)?.0;
            }
            "pc2" => self.cache(&motion, write_pc2, &mut bytes)?,
            "mdd" => self.cache(&motion, write_mdd, &mut bytes)?,
            other => return Err(unknown(other)),
        }
        progress(1.0);
        Ok(bytes)
    }

    /// A motion as a point cache.
    fn cache(
        &self,
        motion: &Motion,
        write: fn(&Motion, &mut dyn Write) -> io::Result<()>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), StageError> {
        write(&in_file_space(&self.character, motion), bytes)
            .map_err(|error| StageError::Other(error.to_string()))
    }

    /// The body as it is shown, as a file: "glb" (skeleton in this pose and a corrective morph target), "obj" (a mesh), or "pc2"
    /// (a point cache of one frame).
    pub fn still(&mut self, format: &str) -> Result<Vec<u8>, StageError> {
        self.bind_missing()?;
        let mut shown = Shown::default();
        self.show(Method::Tissue, &mut shown, false)?;
        let positions: Vec<Vec3> = shown.positions.chunks(3).map(Vec3::from_slice).collect();
        let frame = (self.looks.parts.iter())
            .map(|part| positions[part.first_vertex..][..part.vertices].to_vec())
            .collect();
        let motion = Motion {
            fps: 1.0,
            frames: Frames::Kept(vec![frame]),
            poses: vec![self.pose.clone()],
            ..Motion::default()
        };
        let mut bytes = Vec::new();
        match format {
            "glb" => {
                let options = CorrectiveOptions {
                    bound_mm: STILL_BOUND_MM,
                    clip_name: "pose".to_owned(),
                    ..Default::default()
                };
                bytes = bake_correctives(&self.character, &motion, &options)?.0;
            }
            "obj" => {
                let motion = in_file_space(&self.character, &motion);
                supple::bake::sequence(&self.character, &motion, |_, still| {
                    bytes = write_obj(still).into_bytes();
                    Ok::<(), BakeError>(())
                })?;
            }
            "pc2" => self.cache(&motion, write_pc2, &mut bytes)?,
            other => return Err(unknown(other)),
        }
        Ok(bytes)
    }
}
