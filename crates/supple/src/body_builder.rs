//! Options of a soft body.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use supple_flesh::settings::{ContactMode, Ground, Resolution};
use supple_flesh::{DetailCache, Flesh, GivenLayers, Settings};

use crate::Subject;
use crate::backend::{self, Choice};
use crate::tissue::{SoftBody, TissueError};

/// Builder of a [`SoftBody`]. Options that are not set have defaults.
#[derive(Clone)]
pub struct SoftBodyBuilder {
    subject: Subject,
    settings: Settings,
    file: Option<PathBuf>,
    backend: Choice,
    progress: Option<Arc<dyn Fn(f32)>>,
    layers: Option<Arc<GivenLayers>>,
}

impl SoftBodyBuilder {
    pub(crate) fn new(subject: Subject) -> Self {
        Self {
            subject,
            settings: Settings::default(),
            file: None,
            backend: Choice::Cpu,
            progress: None,
            layers: None,
        }
    }

    /// Sets all settings. Call it first: it replaces what other options have set.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Other layers than those of the subject: a muscle surface and a skeleton surface, for fat and muscle over detailed bones instead
    /// of one layer over capsules.
    pub fn layers(mut self, layers: impl Into<Arc<GivenLayers>>) -> Self {
        self.layers = Some(layers.into());
        self
    }

    /// Contact of the skin with itself; off by default.
    pub fn contact(mut self, mode: ContactMode) -> Self {
        self.settings.contact.mode = mode;
        self
    }

    /// Adds a floor at a height \[m\].
    pub fn ground(mut self, height: f64) -> Self {
        self.settings.contact.ground = Ground::Height(height);
        self
    }

    /// Number of simulated skin vertices, about five thousand by default. The others follow them.
    pub fn resolution(mut self, resolution: Resolution) -> Self {
        self.settings.detail.resolution = resolution;
        self
    }

    /// Caches the parts that take long to build beside the character's file (`hero.glb` → `hero.supple-cache`). A stale or damaged
    /// cache is rebuilt.
    pub fn cache_beside(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// The backend; the CPU by default, which gives the same bits for the same input.
    pub fn backend(mut self, choice: Choice) -> Self {
        self.backend = choice;
        self
    }

    /// Calls back while the tissue is built, with a share from 0 to 1.
    pub fn progress(mut self, progress: impl Fn(f32) + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Builds the tissue, at rest in the bind pose.
    pub fn build(self) -> Result<SoftBody, TissueError> {
        let file = self.file.as_deref().filter(|file| file.is_file());
        let cache = file.map(FileCache::beside);
        let mut builder = Flesh::builder(&self.subject).settings(self.settings);
        if let Some(cache) = &cache {
            builder = builder.cache(cache);
        }
        if let Some(layers) = self.layers.as_deref().or_else(|| self.subject.layers()) {
            builder = builder.layers(layers);
        }
        if let Some(progress) = self.progress.as_deref() {
            builder = builder.progress(progress);
        }
        let mut body = SoftBody::from_flesh(builder.build()?)?;
        if self.backend != Choice::Cpu {
            let silent = Box::new(|_: &str| ());
            body.set_backend(backend::open(self.backend, &body.flesh().model, silent).backend);
        }
        Ok(body)
    }
}

/// A cache in a file.
struct FileCache(PathBuf);

impl FileCache {
    fn beside(file: &Path) -> Self {
        Self(file.with_extension("supple-cache"))
    }
}

impl DetailCache for FileCache {
    fn load(&self) -> Option<Vec<u8>> {
        std::fs::read(&self.0).ok()
    }

    fn store(&self, bytes: &[u8]) {
        // Without a cache building only takes longer, so a folder that cannot be written to is no error.
        let _ = supple_rig::formats::save(&self.0, bytes);
    }
}
