//! A hand that pulls the flesh, as a force that the tissue bears.
//!
//! Each held vertex is drawn to the hand by a spring. Its force saturates at the stress that strains the flesh below the vertex
//! by `MAX_STRAIN`: a hand far away pulls no harder than one nearby, so that flesh neither turns inside out nor passes
//! through the bone.

use glam::Vec3;
use supple_sim::material::wave_speeds;

use crate::tissue::SoftBody;

/// Radius of a hand relative to the body's height.
pub const HAND_RADIUS: f32 = 0.045;

/// Least radius of a hand \[mean edges\]: a single vertex of a coarse mesh is held back by its neighbours.
const MIN_RADIUS: f32 = 3.0;

/// Strain at which the force saturates. At 1 flesh that is pushed inwards turns inside out; below 0.3 a pull is hardly seen.
const MAX_STRAIN: f32 = 0.6;

/// Stiffness of the spring \[mass / step²\]. Tissue is about 40 times stiffer than its inertia, so a stiffness of 1 has no
/// visible effect.
const STIFFNESS: f32 = 12.0;

/// Share of a new force per frame. Forces are explicit, so a stiff spring would oscillate; it is stable for any mass while
/// share × (1 + stiffness) < 2.
const BLEND: f32 = 0.15;

/// A hand that holds flesh.
#[derive(Clone, Debug)]
pub struct Pull {
    held: Vec<Held>,
    target: Vec3,
    /// Forces of the last frame on the held vertices \[N\].
    forces: Vec<Vec3>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    vertex: usize,
    /// From 1 in the middle of the hand to 0 at its rim.
    share: f32,
    /// From the hand \[m\].
    offset: Vec3,
    /// Thickness of the flesh at rest \[m\].
    depth: f32,
}

impl Pull {
    /// Takes hold of the flesh within `radius` of a point \[m\], and of at least a few vertices.
    pub fn new(body: &SoftBody, at: Vec3, radius: f32) -> Self {
        let model = &body.flesh().model;
        let edge = model.contact_surface().map_or(0.0, |s| s.mean_edge());
        let radius = radius.max(MIN_RADIUS * edge);
        let (rest, bones) = (model.rest_free(), model.rest_fixed());
        let hold = |(vertex, &x): (usize, &Vec3)| {
            let share = 1.0 - x.distance_squared(at) / (radius * radius);
            let bone = bones.get(model.carriers()[vertex] as usize)?;
            (share > 0.0).then_some(Held {
                vertex,
                share,
                offset: x - at,
                depth: rest[vertex].distance(*bone),
            })
        };
        let positions = body.state().positions.iter().enumerate();
        let held: Vec<Held> = positions.filter_map(hold).collect();
        Self {
            forces: vec![Vec3::ZERO; held.len()],
            held,
            target: at,
        }
    }

    /// Moves the hand to a point \[m\].
    pub fn move_to(&mut self, point: Vec3) {
        if point.is_finite() {
            self.target = point;
        }
    }

    /// Sets the forces of the next frame on the body that was held. To let go, [set none](SoftBody::set_forces).
    pub fn apply(&mut self, body: &mut SoftBody) {
        let settings = body.solver_settings();
        let step = settings.step as f32;
        let weights = settings.weights.clone();
        let strain_factor = weights.strain as f32;
        let model = &body.flesh().model;
        let speeds = wave_speeds(model, &weights);
        let mut forces = vec![Vec3::ZERO; model.free_count()];
        for (held, last) in self.held.iter().zip(&mut self.forces) {
            let v = held.vertex;
            let mass = model.masses()[v] as f32;
            let way = self.target + held.offset - body.state().positions[v];
            // Stress E ε on the vertex's area, which is twice its mass / (ρ depth): half of the flesh belongs to the bone.
            let square = speeds[v].powi(2) * strain_factor;
            let most = 2.0 * MAX_STRAIN * square / held.depth.max(f32::MIN_POSITIVE);
            let pull = (way * (STIFFNESS / (step * step))).clamp_length_max(most);
            *last = last.lerp(pull * mass * held.share, BLEND);
            forces[v] = *last;
        }
        body.set_forces(forces);
    }
}

#[cfg(test)]
mod tests {
    use supple_sim::MaterialFactors;

    use super::*;
    use crate::Settings;
    use crate::embedded::{self, Body};
    use crate::flesh::settings::Resolution;

    /// Largest force of a hand far away \[N\].
    fn strongest(body: &mut SoftBody) -> f32 {
        let at = body.state().positions[0];
        let mut pull = Pull::new(body, at, HAND_RADIUS * 1.8);
        pull.move_to(at + Vec3::Y);
        pull.apply(body);
        pull.forces.iter().map(|f| f.length()).fold(0.0, f32::max)
    }

    #[test]
    fn the_force_saturates_at_the_stress_of_the_materials_as_they_are() {
        const STIFFER: f64 = 3.0;
        let character = embedded::body(Body::Male).expect("a body");
        let mut settings = Settings::default();
        settings.detail.resolution = Resolution::Vertices(1500);
        let mut body = SoftBody::new(&character, settings).expect("tissue");
        let plain = strongest(&mut body);
        body.solver_settings().weights.strain *= STIFFER;
        let stiff = strongest(&mut body);
        body.solver_settings().weights.strain /= STIFFER;
        let materials = body.flesh().model.materials().len();
        body.solver_settings().weights.each_material =
            vec![MaterialFactors::stiffness(STIFFER); materials];
        let by_material = strongest(&mut body);
        assert!(plain > 0.0 && materials > 0);
        assert!((stiff / plain / STIFFER as f32 - 1.0).abs() < 1e-4);
        assert!((by_material / stiff - 1.0).abs() < 1e-4);
    }
}
