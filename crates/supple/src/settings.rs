//! Tissue settings and their files: `hero.supple.toml` beside `hero.glb`.

use std::path::{Path, PathBuf};

use supple_rig::formats::FormatError;

use crate::tissue::TissueError;

pub use supple_flesh::Settings;
pub use supple_flesh::settings::{
    ColliderSettings, Contact, ContactMode, Detail, Ground, Resolution, ShapeName, Solver, Tissue,
    Upsample,
};

/// Path of the settings file of a character: `hero.glb` → `hero.supple.toml`.
pub fn settings_path(character: &Path) -> PathBuf {
    character.with_extension("supple.toml")
}

/// Reads a settings file.
pub fn load_settings(path: &Path) -> Result<Settings, TissueError> {
    let text = std::fs::read_to_string(path).map_err(|source| FormatError::Io {
        path: path.to_owned(),
        source,
    })?;
    let mut settings = Settings::from_toml(&text).map_err(|source| TissueError::Settings {
        path: path.to_owned(),
        source,
    })?;
    for collider in &mut settings.collider {
        make_relative_to(path, collider);
    }
    Ok(settings)
}

/// Mesh files of colliders are relative to the settings file.
pub(crate) fn make_relative_to(path: &Path, collider: &mut ColliderSettings) {
    if let (Some(file), Some(folder)) = (&mut collider.file, path.parent()) {
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
}

/// The settings beside a character file, or automatic settings if there is no such file.
pub fn settings_beside(character: &Path) -> Result<Settings, TissueError> {
    let path = settings_path(character);
    if path.is_file() {
        load_settings(&path)
    } else {
        Ok(Settings::default())
    }
}
