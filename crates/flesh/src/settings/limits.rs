//! Ranges of the numbers of a settings file. Values beyond them are mistakes: they would take hours, or leave what single precision
//! can hold.

use super::Settings;
use crate::FleshError;
use crate::construction::layers::Layer;

/// Largest length of a radius or a collider \[m\].
pub(super) const LENGTH: f64 = 1e3;
/// Largest mass \[kg\].
pub(super) const MASS: f64 = 1e6;
/// Largest coefficient of friction.
pub(super) const FRICTION: f64 = 100.0;

/// Fails if a number is not within a range.
pub(super) fn within(name: &str, value: f64, low: f64, high: f64) -> Result<(), FleshError> {
    match (low..=high).contains(&value) {
        true => Ok(()),
        false => Err(FleshError::Settings(format!(
            "{name} is {value}; it must be from {low} to {high}"
        ))),
    }
}

/// Checks every number of the settings but those of colliders.
pub(super) fn check_numbers(settings: &Settings) -> Result<(), FleshError> {
    let Settings {
        tissue,
        layers,
        solver,
        contact,
        ..
    } = settings;
    let iterations = f64::from(solver.iterations);
    for (name, value, low, high) in [
        ("stiffness", tissue.stiffness, 0.0, 1e12),
        ("fat_stiffness", layers.fat_stiffness, 0.0, 1e9),
        ("muscle_stiffness", layers.muscle_stiffness, 0.0, 1e9),
        ("sliding_stiffness", layers.sliding_stiffness, 0.0, 1e9),
        ("mass", tissue.mass, 0.0, MASS),
        ("volume_stiffness", tissue.volume_stiffness, 0.0, 1e6),
        ("soft_depth", tissue.soft_depth, 1e-4, 10.0),
        ("deep_stiffness", tissue.deep_stiffness, 1.0, 1e6),
        ("hand_stiffness", tissue.hand_stiffness, 0.0, 1e6),
        ("sliding_depth", layers.sliding_depth, 1e-4, 10.0),
        ("least_sliding", layers.least_sliding, 0.0, 1.0),
        ("most_sliding", layers.most_sliding, 1.0, 1e6),
        ("tense_depth", layers.tense_depth, 1e-4, 10.0),
        ("least_tension", layers.least_tension, 0.0, 1.0),
        ("back_stiffness", layers.back_stiffness, 0.0, 1e6),
        ("smoothing", tissue.smoothing, 0.0, 10.0),
        ("iterations", iterations, 1.0, 1000.0),
        ("steps_per_second", solver.steps_per_second, 1.0, 10_000.0),
        ("damping_half_life", solver.damping_half_life, 0.0, 1000.0),
        ("gravity", solver.gravity, -1000.0, 1000.0),
        ("friction", contact.friction, 0.0, FRICTION),
    ] {
        within(name, value, low, high)?;
    }
    check_materials(settings)?;
    let radii = [
        ("bone_radii", &settings.bone_radii, LENGTH),
        ("joint_radii", &settings.joint_radii, LENGTH),
        ("stiffness_factors", &settings.stiffness_factors, 1e6),
    ];
    for (table, values, high) in radii {
        for (joint, &value) in values {
            within(&format!("[{table}] {joint}"), value, 0.0, high)?;
        }
    }
    Ok(())
}

/// Checks the materials: their names, and their numbers.
fn check_materials(settings: &Settings) -> Result<(), FleshError> {
    for (name, own) in &settings.materials {
        if !Layer::ALL.iter().any(|layer| layer.name() == name) {
            let known = Layer::ALL.map(Layer::name).join(", ");
            return Err(FleshError::Settings(format!(
                "[materials.{name}] is not a material; the materials are {known}"
            )));
        }
        for (key, value, high) in [
            ("stiffness", own.stiffness, 1e12),
            ("volume_stiffness", own.volume_stiffness, 1e6),
            ("damping_half_life", own.damping_half_life, 1000.0),
        ] {
            if let Some(value) = value {
                within(&format!("[materials.{name}] {key}"), value, 0.0, high)?;
            }
        }
        for (joint, &factor) in &own.stiffness_factors {
            let key = format!("[materials.{name}.stiffness_factors] {joint}");
            within(&key, factor, 0.0, 1e6)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Settings;

    #[test]
    fn numbers_beyond_reason_are_refused_by_name() {
        Settings::default().check().unwrap();
        for (text, name) in [
            ("[solver]\niterations = 100000000", "iterations"),
            ("[solver]\niterations = 0", "iterations"),
            ("[solver]\nsteps_per_second = 1e9", "steps_per_second"),
            ("[solver]\nsteps_per_second = nan", "steps_per_second"),
            ("[solver]\ndamping_half_life = -1.0", "damping_half_life"),
            ("[solver]\ngravity = -1e9", "gravity"),
            ("[tissue]\nstiffness = 1e30", "stiffness"),
            ("[tissue]\nmass = inf", "mass"),
            ("[tissue]\nvolume_stiffness = 1e12", "volume_stiffness"),
            ("[tissue]\nsmoothing = 1e5", "smoothing"),
            ("[tissue]\ndeep_stiffness = 0.5", "deep_stiffness"),
            ("[layers]\nleast_tension = 2.0", "least_tension"),
            ("[layers]\ntense_depth = 0.0", "tense_depth"),
            ("[materials.bone]\nstiffness = 1.0", "materials.bone"),
            (
                "[materials.fat]\nstiffness = -1.0",
                "[materials.fat] stiffness",
            ),
            (
                "[materials.fat.stiffness_factors]\nhips = nan",
                "[materials.fat.stiffness_factors] hips",
            ),
            ("[contact]\nfriction = 1e9", "friction"),
            ("[contact]\nground = 1e30", "ground"),
            ("[bone_radii]\nhips = 1e9", "[bone_radii] hips"),
            ("[joint_radii]\nhips = nan", "[joint_radii] hips"),
            (
                "[stiffness_factors]\nhips = -1.0",
                "[stiffness_factors] hips",
            ),
            ("[[collider]]\nradius = 1e9", "radius"),
            (
                "[[collider]]\nradius = 0.1\nposition = [0.0, 1e30, 0.0]",
                "position",
            ),
            ("[[collider]]\nradius = 0.1\nmass = 1e30", "mass"),
        ] {
            let error = Settings::from_toml(text).unwrap().check().unwrap_err();
            assert!(error.to_string().contains(name), "{text}: {error}");
        }
    }
}
