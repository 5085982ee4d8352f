//! Settings of a step, in SI units.

use glam::Vec3;

use crate::Weights;
use crate::contact::ContactSettings;

/// Settings of a step. [`crate::units`] derives the defaults from the papers' numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Internal time step h \[s\].
    pub step: f64,
    /// Local/global iterations per step.
    pub iterations: u32,
    /// Gravity \[m/s²\]. Zero by default: a character's rest shape was modelled or scanned under gravity.
    pub gravity: Vec3,
    /// Half-life of velocities relative to the [carrier](crate::Model::carriers) \[s\]; infinite for no damping except
    /// that of the implicit integration.
    pub damping_half_life: f64,
    /// Largest velocity relative to the [carriers](crate::Model::carrier_frames), in [wave
    /// speeds](crate::Model::wave_speeds) of the tissue; infinite for no bound. See [`crate::inertia`].
    pub max_relative_speed: f64,
    /// With or without inertia.
    pub mode: Mode,
    /// How tet strain is measured.
    pub strain: Strain,
    /// Which elements have a rotation of their own.
    pub rotations: Rotations,
    /// Distance in one frame above which a fixed vertex has jumped, and the tissue is moved along \[m\].
    pub jump_distance: f32,
    /// Substeps that the step is split into, one of which this is; [`advance`](crate::advance()) sets it. Materials then damp
    /// over their share of the step.
    pub substeps: u32,
    /// Factors on the model's weights.
    pub weights: Weights,
    /// Contact settings.
    pub contact: ContactSettings,
    /// Whether the step reports its energy after every iteration (slow; for tests and figures).
    pub trace_energy: bool,
}

/// Default of [`Settings::max_relative_speed`]: about the largest strain that fast motion causes. Above 0.5 a shaken forearm
/// loses half its cross-section, below 0.15 a landing no longer shakes the tissue.
const MAX_RELATIVE_SPEED: f64 = 0.3;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            step: 1.0 / 60.0,
            iterations: 10,
            gravity: Vec3::ZERO,
            damping_half_life: f64::INFINITY,
            max_relative_speed: MAX_RELATIVE_SPEED,
            mode: Mode::Dynamic,
            strain: Strain::default(),
            rotations: Rotations::PerTet,
            jump_distance: 0.5,
            substeps: 1,
            weights: Weights::default(),
            contact: ContactSettings::default(),
            trace_energy: false,
        }
    }
}

impl Settings {
    /// μ of Eq. (2.14): the factor on a velocity after one step.
    pub fn damping_factor(&self) -> f64 {
        (-self.step / self.damping_half_life).exp2()
    }

    /// 1/h², the factor of the masses in the system matrix; zero for the static solver.
    pub fn inertia(&self) -> f64 {
        match self.mode {
            Mode::Dynamic => 1.0 / (self.step * self.step),
            Mode::Static => 0.0,
        }
    }

    /// The settings that the system matrix depends on: a backend factorises again when they change.
    pub fn matrix_key(&self) -> MatrixKey {
        MatrixKey {
            inertia: self.inertia(),
            fit: self.strain.fit,
            weights: self.weights.clone(),
        }
    }
}

/// Result of [`Settings::matrix_key`]: inertia, strain formulation and weights.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixKey {
    inertia: f64,
    fit: Fit,
    weights: Weights,
}

/// With or without inertia [2.2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Implicit Euler.
    #[default]
    Dynamic,
    /// No mass term: each step moves towards static equilibrium.
    Static,
}

/// The four strain formulations compared in figures 2.4 and 2.5 [2.2.2]. The default is recommended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Strain {
    /// The matrix from which the rotation is extracted.
    pub decompose: Decompose,
    /// What the global step fits.
    pub fit: Fit,
}

/// The matrix whose closest rotation is the target [2.2.2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Decompose {
    /// Deformation gradient F, Eq. (2.18).
    #[default]
    Gradient,
    /// Covariance H = E Ēᵀ of Procrustes, Eq. (2.21).
    Covariance,
}

/// What the global step fits to the rotated element [2.2.2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fit {
    /// ‖F − R‖², Eq. (2.19): relative differences.
    #[default]
    Gradients,
    /// ‖E − R Ē‖², Eq. (2.20): absolute differences.
    Positions,
}

/// Which elements have a rotation of their own in the local step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rotations {
    /// Every tet.
    #[default]
    PerTet,
    /// Every [cluster](crate::constraints::Clusters) of tets (a prism): three times fewer polar decompositions, as in
    /// Projective Skinning §6. Tets outside every cluster keep their own.
    PerCluster,
}
