//! Materials: tets that are stiffened, softened and damped together.
//!
//! A model lists its materials, and every tet names the one it is made of. A material's stiffness and damping are part of
//! the model; [`MaterialFactors`] in [`Weights::each_material`] multiply them from step to step without a new model. Tets
//! without a material have a stiffness of their own and no factors.

use std::borrow::Cow;

use crate::{Model, Settings, Weights};

/// Marks a tet without a material in [`TetStrains::materials`](crate::constraints::TetStrains::materials).
pub const NO_MATERIAL: u16 = u16::MAX;

/// What tets are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name, unique in a character.
    pub name: String,
    /// Strain stiffness \[Pa\]: Young's modulus at Poisson ratio 0, see [`crate::units`].
    pub stiffness: f64,
    /// Stiffness against change of volume, relative to `stiffness`; 0 for no volume constraint.
    pub volume_stiffness: f64,
    /// How often velocities relative to the [carriers](Model::carriers) halve in a second \[1/s\]; 0 leaves the damping of the
    /// settings. A vertex between materials takes the mean of its tets by their rest volume.
    pub damping: f64,
}

impl Material {
    /// A material of the default stiffness, without volume constraint and damping.
    pub fn new(name: &str) -> Material {
        Material {
            name: name.to_owned(),
            stiffness: crate::units::STIFFNESS,
            volume_stiffness: 0.0,
            damping: 0.0,
        }
    }

    /// Sets the strain stiffness \[Pa\].
    pub fn stiffness(mut self, stiffness: f64) -> Material {
        self.stiffness = stiffness;
        self
    }

    /// Sets the stiffness against change of volume, relative to that of strain.
    pub fn volume_stiffness(mut self, relative: f64) -> Material {
        self.volume_stiffness = relative;
        self
    }

    /// Sets the damping \[1/s\].
    pub fn damping(mut self, damping: f64) -> Material {
        self.damping = damping;
        self
    }
}

/// What the numbers of one material are multiplied by; one by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialFactors {
    /// Strain stiffness of its tets.
    pub strain: f64,
    /// Stiffness of their volume constraints.
    pub volume: f64,
    /// Damping.
    pub damping: f64,
}

impl Default for MaterialFactors {
    fn default() -> MaterialFactors {
        MaterialFactors {
            strain: 1.0,
            volume: 1.0,
            damping: 1.0,
        }
    }
}

impl MaterialFactors {
    /// A material `factor` times as stiff, against strain and change of volume.
    pub fn stiffness(factor: f64) -> MaterialFactors {
        MaterialFactors {
            strain: factor,
            volume: factor,
            damping: 1.0,
        }
    }
}

/// Wave speed √(E/ρ) of the tissue at each free vertex \[m/s\] with the factors of its materials, but without
/// [`Weights::strain`]; infinite without mass, zero without tets. It bounds the [inertia](crate::inertia).
pub fn wave_speeds<'a>(model: &'a Model, weights: &Weights) -> Cow<'a, [f32]> {
    match weights.each_material.is_empty() {
        true => Cow::Borrowed(model.wave_speeds()),
        false => Cow::Owned(crate::inertia::wave_speeds(model, weights)),
    }
}

/// Damping of each free vertex by its materials \[1/s\]; empty if none has any.
pub fn dampings(model: &Model, weights: &Weights) -> Vec<f32> {
    let of = |index: u16| match model.materials().get(index as usize) {
        Some(material) => material.damping * weights.material(index).damping,
        None => 0.0,
    };
    if (0..model.materials().len()).all(|index| of(index as u16) == 0.0) {
        return Vec::new();
    }
    let mut sums = vec![(0.0, 0.0); model.free_count()];
    let tets = model.tets();
    for (t, corners) in tets.vertices.iter().enumerate() {
        let (damping, volume) = (of(tets.materials[t]), tets.volumes[t]);
        for &v in corners {
            if let Some((sum, whole)) = sums.get_mut(v as usize) {
                *sum += volume * damping;
                *whole += volume;
            }
        }
    }
    let mean = |(sum, whole): (f64, f64)| if whole > 0.0 { sum / whole } else { 0.0 };
    sums.into_iter().map(|sums| mean(sums) as f32).collect()
}

/// Time over which materials damp in a step \[s\]: a part of it in a [substep](crate::substeps), 0 in a static solve.
pub fn damping_time(settings: &Settings) -> f64 {
    match settings.mode {
        crate::Mode::Dynamic => settings.step / f64::from(settings.substeps.max(1)),
        crate::Mode::Static => 0.0,
    }
}
