//! Shells (connected pieces) of a character on the page: their kinds, and changing them.

use serde::Serialize;
use supple::flesh::shells::shell_kinds::Kind;

use crate::error::StageError;
use crate::stage::Stage;

/// A shell, for the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShellEntry {
    /// Its key under `shells` in the settings.
    pub key: String,
    /// "flesh", "cloth", "rigid" or "hair".
    pub kind: &'static str,
    /// Why it has this kind.
    pub reason: &'static str,
    /// Vertices after welding.
    pub vertices: usize,
    /// Surface area \[m²\].
    pub area: f64,
}

impl Stage {
    /// All shells, by number; none before the tissue is built.
    pub fn shells(&self) -> Vec<ShellEntry> {
        let Some(body) = &self.body else {
            return Vec::new();
        };
        let shells = &body.flesh().report.shells;
        let entry = |(number, shell): (usize, &supple::flesh::shells::shell_kinds::Shell)| {
            // Parts may share a name; a number never misleads.
            let is_unique = shells.iter().filter(|s| s.key == shell.key).count() == 1;
            ShellEntry {
                key: match is_unique {
                    true => shell.key.clone(),
                    false => number.to_string(),
                },
                kind: shell.kind.name(),
                reason: shell.reason,
                vertices: shell.vertices,
                area: shell.area,
            }
        };
        shells.iter().enumerate().map(entry).collect()
    }

    /// Number of the shell of every vertex in the arrays; `u32::MAX` for vertices without triangles.
    pub fn shell_of_vertices(&self) -> Vec<u32> {
        let body = self.body.as_ref();
        body.map_or_else(Vec::new, |body| body.flesh().shell_of_vertices().to_vec())
    }

    /// Sets the kind of a shell ("flesh", "cloth", "rigid", "rigid:JOINT", "hair", or "automatic") and builds the tissue again. If this
    /// fails, nothing changes.
    pub fn set_shell_kind(&mut self, number: usize, kind: &str) -> Result<(), StageError> {
        let shells = self.shells();
        let Some(shell) = shells.get(number) else {
            let text = format!(
                "there is no shell {number}; the character has {}",
                shells.len()
            );
            return Err(StageError::Other(text));
        };
        let mut settings = self.settings.clone();
        settings.shells.remove(&number.to_string());
        settings.shells.remove(&shell.key);
        if kind != "automatic" {
            let kind: Kind = kind.parse().map_err(StageError::Other)?;
            settings.shells.insert(shell.key.clone(), kind);
        }
        self.build(settings)
    }
}
