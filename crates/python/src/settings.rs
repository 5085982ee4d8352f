//! Settings of tissue, from what Python gives.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use supple::settings::{ContactMode, Ground, load_settings, settings_beside};
use supple::{Error, Settings};

use crate::errors::Failure;

/// Settings of a dict or a TOML file, else those beside the character's file; contact and ground are put over them.
pub fn settings(
    given: Option<&Bound<PyAny>>,
    file: Option<&Path>,
    contact: Option<&str>,
    ground: Option<f64>,
) -> Result<Settings, Failure> {
    let mut settings = match (given, file) {
        (Some(given), _) => of_python(given)?,
        (None, Some(file)) => settings_beside(file).map_err(Error::from)?,
        (None, None) => Settings::default(),
    };
    if let Some(contact) = contact {
        settings.contact.mode = match contact {
            "none" | "off" => ContactMode::Off,
            "local" => ContactMode::Local,
            "global" => ContactMode::Global,
            _ => {
                let text = format!("contact is 'none', 'local' or 'global', not '{contact}'");
                return Err(Failure::Argument("ArgumentError", text));
            }
        };
    }
    if let Some(height) = ground {
        if !height.is_finite() {
            let text = format!("ground is a height in metres, not {height}");
            return Err(Failure::Argument("ArgumentError", text));
        }
        settings.contact.ground = Ground::Height(height);
    }
    Ok(settings)
}

fn of_python(given: &Bound<PyAny>) -> Result<Settings, Failure> {
    let bad = |reason: String| Failure::Argument("SettingsError", format!("settings: {reason}"));
    if let Ok(dict) = given.cast::<PyDict>() {
        let text = (given.py().import("json"))
            .and_then(|json| json.call_method1("dumps", (dict,)))
            .and_then(|text| text.extract::<String>());
        let text = text.map_err(|error| bad(error.to_string()))?;
        return serde_json::from_str(&text).map_err(|error| bad(error.to_string()));
    }
    match given.extract::<PathBuf>() {
        Ok(path) => Ok(load_settings(&path).map_err(Error::from)?),
        Err(_) => Err(bad(
            "a dict or the path of a TOML file was expected".to_owned()
        )),
    }
}
