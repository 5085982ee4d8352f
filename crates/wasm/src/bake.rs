//! Export of the current motion as a file.

use supple::skin::{Method, Span};

use crate::error::StageError;
use crate::stage::Stage;

impl Stage {
    /// Simulates the current clip and bakes it into a GLB with correctives.
    pub fn bake(
        &mut self,
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
        let options = supple::bake::CorrectiveOptions {
            bound_mm,
            clip_name: clip.name.clone(),
            ..Default::default()
        };
        let (bytes, _) = supple::bake::bake_correctives(&self.character, &motion, &options)?;
        progress(1.0);
        Ok(bytes)
    }
}
