//! How a soft body is asked for.

use std::path::{Path, PathBuf};

use supple_flesh::settings::{ContactMode, Ground, Resolution};
use supple_flesh::{DetailCache, Flesh, Settings};
use supple_rig::Character;

use crate::backend::{self, Choice};
use crate::tissue::{SoftBody, TissueError};

/// Collects options of a [`SoftBody`]; what is left out is chosen automatically.
#[derive(Clone, Debug)]
pub struct SoftBodyBuilder<'a> {
    character: &'a Character,
    settings: Settings,
    file: Option<PathBuf>,
    backend: Choice,
}

impl<'a> SoftBodyBuilder<'a> {
    pub(crate) fn new(character: &'a Character) -> Self {
        Self {
            character,
            settings: Settings::default(),
            file: None,
            backend: Choice::Cpu,
        }
    }

    /// All settings at once; call it before those that change single ones.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// What of itself the skin must not go through; nothing by default.
    pub fn contact(mut self, mode: ContactMode) -> Self {
        self.settings.contact.mode = mode;
        self
    }

    /// A floor at a height \[m\].
    pub fn ground(mut self, height: f64) -> Self {
        self.settings.contact.ground = Ground::Height(height);
        self
    }

    /// How many vertices of the skin are simulated; about five thousand by default, the others follow them.
    pub fn resolution(mut self, resolution: Resolution) -> Self {
        self.settings.detail.resolution = resolution;
        self
    }

    /// The file that the character comes from: what takes long to build is kept beside it (`hero.glb` → `hero.supple-cache`)
    /// and built anew when it is stale or damaged.
    pub fn cache_beside(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// What steps it; the CPU by default, on which the same input gives the same bits everywhere.
    pub fn backend(mut self, choice: Choice) -> Self {
        self.backend = choice;
        self
    }

    /// Builds the tissue, at rest in the pose that the skin was bound in.
    pub fn build(self) -> Result<SoftBody, TissueError> {
        let file = self.file.as_deref().filter(|file| file.is_file());
        let cache = file.map(FileCache::beside);
        let mut builder = Flesh::builder(self.character).settings(self.settings);
        if let Some(cache) = &cache {
            builder = builder.cache(cache);
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
        // A folder that cannot be written to costs time, nothing else.
        let _ = supple_rig::formats::save(&self.0, bytes);
    }
}
