//! The objective that a step minimises, Eq. (2.8), and its initial guess.

use glam::{DVec3, Vec3};
use supple_geom::simd::Row;

use crate::constraints::cluster::NO_CLUSTER;
use crate::inertia::{bounded, largest_relative_motion};
use crate::material::wave_speeds;
use crate::model::NO_CARRIER;
use crate::start::carried;
use crate::{Mode, Model, Rotations, Settings, State, Targets};

/// Prediction and initial guess of a step.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Inertial prediction x + h v of each free vertex, [bounded](crate::inertia) \[m\]; x itself in a static solve.
    pub inertial: Vec<DVec3>,
    /// Gravity and external force on each free vertex \[N\].
    pub forces: Vec<DVec3>,
    /// Initial guess \[m\]. Free vertices move with their carriers, or to y of Eq. (2.9) without one; fixed vertices are at
    /// their targets.
    pub start: Vec<DVec3>,
}

/// Prediction of Eq. (2.9): y = x + h v + h² M⁻¹ f. Vertices without mass follow their velocity.
pub fn predict(model: &Model, settings: &Settings, targets: &Targets, state: &State) -> Prediction {
    let h = match settings.mode {
        Mode::Dynamic => settings.step,
        Mode::Static => 0.0,
    };
    let gravity = settings.gravity.as_dvec3();
    let external = |i: usize| targets.forces.get(i).map_or(DVec3::ZERO, |f| f.as_dvec3());
    let forces: Vec<DVec3> = model
        .masses()
        .iter()
        .enumerate()
        .map(|(i, &m)| gravity * m + external(i))
        .collect();
    let vertices: Vec<u32> = (0..model.free_count() as u32).collect();
    let (mut rigid, mut starts) = (
        vec![Row::default(); vertices.len()],
        vec![Row::default(); vertices.len()],
    );
    carried(
        model,
        targets,
        state,
        &vertices,
        h as f32,
        &mut rigid,
        &mut starts,
    );
    let most = largest_relative_motion(settings);
    let speeds = wave_speeds(model, &settings.weights);
    let inertial: Vec<DVec3> = (0..model.free_count())
        .map(|i| {
            let y = state.positions[i].as_dvec3() + state.velocities[i].as_dvec3() * h;
            bounded(model, (i, speeds[i]), y, rigid[i].xyz(), most)
        })
        .collect();
    let pushed = |(i, y): (usize, &DVec3)| {
        let mass = model.masses()[i];
        if mass > 0.0 {
            *y + forces[i] * (h * h / mass)
        } else {
            *y
        }
    };
    let free = inertial
        .iter()
        .enumerate()
        .map(|(i, y)| match model.carrier_frames()[i][0] {
            NO_CARRIER => pushed((i, y)),
            _ => Vec3::from(starts[i].xyz()).as_dvec3(),
        });
    let start = free
        .chain(targets.fixed.iter().map(|p| p.as_dvec3()))
        .collect();
    Prediction {
        inertial,
        forces,
        start,
    }
}

/// Velocities after a step, Eq. (2.14), with the damping relative to the [carrier](Model::carriers)'s velocity.
/// `moved` is the vertex's displacement \[m\], `kept` the [share](Settings::damping_factor) that damping leaves.
pub fn damped_velocity(
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    state: &State,
    vertex: usize,
    moved: DVec3,
    kept: f64,
) -> DVec3 {
    if settings.mode == Mode::Static {
        return DVec3::ZERO;
    }
    let carrier = model.carriers()[vertex];
    let carried = if carrier == NO_CARRIER {
        DVec3::ZERO
    } else {
        targets.fixed[carrier as usize].as_dvec3() - state.fixed[carrier as usize].as_dvec3()
    };
    (carried + (moved - carried) * kept) / settings.step
}

/// Objective (2.8) at positions `z` (free then fixed) \[J\]: inertia + potentials − work of the forces since the start.
pub fn objective(
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    start: &Prediction,
    z: &[DVec3],
) -> f64 {
    let inertia = 0.5 * settings.inertia();
    let mut sum = potential(model, settings, targets, z);
    for (i, &mass) in model.masses().iter().enumerate() {
        let away = z[i] - start.inertial[i];
        sum += inertia * mass * away.length_squared() - start.forces[i].dot(away);
    }
    sum
}

/// Sum of all constraint potentials at positions `z` (free then fixed) \[J\].
pub fn potential(model: &Model, settings: &Settings, targets: &Targets, z: &[DVec3]) -> f64 {
    let weights = &settings.weights;
    let mut sum = 0.0;
    for_each_rotation(model, settings, z, |tet, rotation| {
        let factor = weights.strain_of(model.tets().materials[tet]);
        sum += factor * model.tets().energy(tet, rotation, settings.strain, z);
    });
    sum += model.volumes().energy(weights, model.tets(), z);
    sum + weights.springs * model.springs().energy(z)
        + weights.bending * model.bendings().energy(z)
        + model.anchors().energy(weights, targets, z)
        + weights.polyhedra * model.polyhedra().energy(z)
}

/// Local step: adds Qᵀ W p of every constraint at positions `z` to `rhs` (both free then fixed).
pub fn project_constraints(
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    z: &[DVec3],
    rhs: &mut [DVec3],
) {
    let (weights, fit) = (&settings.weights, settings.strain.fit);
    for_each_rotation(model, settings, z, |tet, rotation| {
        let factor = weights.strain_of(model.tets().materials[tet]);
        model.tets().add_rhs(factor, tet, rotation, fit, rhs);
    });
    model.volumes().add_rhs(weights, model.tets(), z, rhs);
    model.springs().add_rhs(weights.springs, z, rhs);
    model.bendings().add_rhs(weights.bending, z, rhs);
    model.anchors().add_rhs(weights, targets, z, rhs);
    model.polyhedra().add_rhs(weights.polyhedra, z, rhs);
}

/// Calls `visit` with every tet that has weight, and its target rotation.
fn for_each_rotation(
    model: &Model,
    settings: &Settings,
    z: &[DVec3],
    mut visit: impl FnMut(usize, glam::DMat3),
) {
    let tets = model.tets();
    let clustered = settings.rotations == Rotations::PerCluster && !model.clusters().is_empty();
    let shared = if clustered {
        model.clusters().rotations(z)
    } else {
        Vec::new()
    };
    for tet in (0..tets.len()).filter(|&t| tets.weights[t] > 0.0) {
        let cluster = if clustered {
            model.clusters().cluster_of[tet]
        } else {
            NO_CLUSTER
        };
        let rotation = match shared.get(cluster as usize) {
            Some(rotation) => *rotation,
            None => tets.rotation(tet, z, settings.strain.decompose),
        };
        visit(tet, rotation);
    }
}
