//! Several models merged into one, so that contact between bodies is handled like self-contact.
//!
//! The merged system matrix is block diagonal, one block per body. The elimination trees of the blocks are separate, and each
//! body moves as it would alone until contacts couple them.

use std::ops::Range;

use glam::Vec3;

use crate::builder::next_id;
use crate::constraints::cluster::NO_CLUSTER;
use crate::constraints::{Anchors, Bendings, Clusters, Polyhedra, Springs, TetStrains, TetVolumes};
use crate::contact::{ContactState, ContactSurface, Source, SurfaceInput};
use crate::material::NO_MATERIAL;
use crate::model::NO_CARRIER;
use crate::{Model, State, Targets};

/// Gap between the rest shapes, which are laid out side by side \[widths\]. Contact leaves out shells that lie on each other
/// at rest, so different bodies must be well apart.
const REST_GAP: f32 = 1.0;

/// A merged model, and the index ranges of its bodies.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The merged model.
    pub model: Model,
    bodies: Vec<Body>,
}

/// Index ranges of a body in the merged model.
#[derive(Clone, Debug, Default)]
struct Body {
    free: Range<usize>,
    fixed: Range<usize>,
    anchors: Range<usize>,
    materials: Range<usize>,
    points: Range<usize>,
    outside: Range<usize>,
}

impl Merged {
    /// Merges models in this order.
    pub fn new(models: &[&Model]) -> Merged {
        let bodies = lay_out(models);
        let free_count = bodies.last().map_or(0, |body| body.free.end);
        let mut model = Model {
            id: next_id(),
            free_count,
            rest: Vec::new(),
            masses: Vec::new(),
            index_of: Vec::new(),
            caller_of: Vec::new(),
            carriers: Vec::new(),
            carrier_frames: Vec::new(),
            wave_speeds: Vec::new(),
            fixed_size: 0.0,
            materials: Vec::new(),
            soft_driven: None,
            tets: TetStrains::default(),
            volumes: TetVolumes::default(),
            springs: Springs::default(),
            bendings: Bendings::default(),
            anchors: Anchors::default(),
            polyhedra: Polyhedra::default(),
            clusters: Clusters::default(),
            contact: None,
        };
        model
            .rest
            .extend(models.iter().flat_map(|part| part.rest_free()));
        model
            .rest
            .extend(models.iter().flat_map(|part| part.rest_fixed()));
        model.fixed_size = Model::size_of(model.rest_fixed());
        for (part, body) in models.iter().zip(&bodies) {
            let whole = IndexMap {
                free: body.free.start as u32,
                fixed: (free_count + body.fixed.start) as u32,
                own_free: part.free_count as u32,
            };
            whole.add_vertices(part, body, &mut model);
            whole.add_tets(part, body, &mut model);
            whole.add_rest(part, &mut model);
        }
        model.caller_of = vec![0; model.rest.len()];
        for (caller, &index) in model.index_of.iter().enumerate() {
            model.caller_of[index as usize] = caller as u32;
        }
        let solid = model.tets.volumes.iter().filter(|&&v| v > 0.0).count();
        let volume: f64 = model.tets.volumes.iter().sum();
        model.tets.mean_size = (volume / solid.max(1) as f64).cbrt();
        if models.iter().any(|part| part.contact.is_some()) {
            model.contact = Some(surface(models, &bodies, free_count));
        }
        Merged { model, bodies }
    }

    /// Targets of the merged model from those of each body; colliders and forces of all bodies are combined.
    pub fn targets(&self, parts: &[Targets]) -> Targets {
        let mut whole = Targets::default();
        let has_forces = parts.iter().any(|part| !part.forces.is_empty());
        let has_directions = parts.iter().any(|part| !part.directions.is_empty());
        for (part, body) in parts.iter().zip(&self.bodies) {
            whole.fixed.extend(&part.fixed);
            whole.anchors.extend(&part.anchors);
            whole.bases.extend(&part.bases);
            whole.outside.extend(&part.outside);
            whole.colliders.extend(part.colliders.iter().cloned());
            if has_forces {
                let given = part.forces.iter().copied();
                let none = std::iter::repeat(Vec3::ZERO);
                whole.forces.extend(given.chain(none).take(body.free.len()));
            }
            if has_directions {
                let own = &self.model.anchors.directions[body.anchors.clone()];
                let given = match part.directions.len() == own.len() {
                    true => &part.directions,
                    false => own,
                };
                whole.directions.extend(given);
            }
        }
        whole
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The state of a body, from the merged state; without contacts.
    pub fn state_of(&self, body: usize, whole: &State) -> State {
        let Body { free, fixed, .. } = &self.bodies[body];
        State {
            positions: whole.positions[free.clone()].to_vec(),
            velocities: whole.velocities[free.clone()].to_vec(),
            fixed: whole.fixed[fixed.clone()].to_vec(),
            fixed_previous: whole.fixed_previous[fixed.clone()].to_vec(),
            frame: None,
            remainder: whole.remainder,
            still_for: whole.still_for,
            contact: ContactState::default(),
        }
    }

    /// Free vertices of a body in the merged model.
    pub fn free_of(&self, body: usize) -> Range<usize> {
        self.bodies[body].free.clone()
    }

    /// Fixed vertices of a body among those of the merged model.
    pub fn fixed_of(&self, body: usize) -> Range<usize> {
        self.bodies[body].fixed.clone()
    }

    /// Materials of a body among those of the merged model, for [`Weights::each_material`](crate::Weights::each_material).
    pub fn materials_of(&self, body: usize) -> Range<usize> {
        self.bodies[body].materials.clone()
    }

    /// Points of a body in the merged contact surface.
    pub fn points_of(&self, body: usize) -> Range<usize> {
        self.bodies[body].points.clone()
    }

    /// Its skin points outside the model, in the order of [`Targets::outside`].
    pub fn outside_of(&self, body: usize) -> Range<usize> {
        self.bodies[body].outside.clone()
    }
}

fn lay_out(models: &[&Model]) -> Vec<Body> {
    let mut last = Body::default();
    let after = |range: &Range<usize>, count: usize| range.end..range.end + count;
    let mut bodies = Vec::with_capacity(models.len());
    for part in models {
        let contact = part.contact.as_ref();
        last = Body {
            free: after(&last.free, part.free_count),
            fixed: after(&last.fixed, part.fixed_count()),
            anchors: after(&last.anchors, part.anchors.len()),
            materials: after(&last.materials, part.materials.len()),
            points: after(&last.points, contact.map_or(0, ContactSurface::point_count)),
            outside: after(
                &last.outside,
                contact.map_or(0, |surface| surface.rest_outside().len()),
            ),
        };
        bodies.push(last.clone());
    }
    bodies
}

/// Maps a body's vertex indices to those of the merged model.
struct IndexMap {
    free: u32,
    fixed: u32,
    own_free: u32,
}

impl IndexMap {
    fn vertex(&self, v: u32) -> u32 {
        match v.checked_sub(self.own_free) {
            None => self.free + v,
            Some(fixed) => self.fixed + fixed,
        }
    }

    fn vertices(&self, list: &[u32]) -> Vec<u32> {
        list.iter().map(|&v| self.vertex(v)).collect()
    }

    fn add_vertices(&self, part: &Model, body: &Body, whole: &mut Model) {
        whole.masses.extend(&part.masses);
        whole.wave_speeds.extend(&part.wave_speeds);
        whole.index_of.extend(self.vertices(&part.index_of));
        let carrier = |&c: &u32| match c {
            NO_CARRIER => NO_CARRIER,
            c => c + body.fixed.start as u32,
        };
        whole.carriers.extend(part.carriers.iter().map(carrier));
        let frames = part.carrier_frames.iter();
        whole
            .carrier_frames
            .extend(frames.map(|frame| frame.map(|c| carrier(&c))));
    }

    fn add_tets(&self, part: &Model, body: &Body, whole: &mut Model) {
        let first = whole.tets.len();
        let tets = &part.tets;
        let corners = tets.vertices.iter().map(|tet| tet.map(|v| self.vertex(v)));
        whole.tets.vertices.extend(corners);
        whole.tets.inverse_rest.extend(&tets.inverse_rest);
        whole.tets.weights.extend(&tets.weights);
        whole.materials.extend(part.materials.iter().cloned());
        let material = |&m: &u16| match m {
            NO_MATERIAL => NO_MATERIAL,
            m => u16::try_from(usize::from(m) + body.materials.start).unwrap_or(NO_MATERIAL),
        };
        let materials = tets.materials.iter().map(material);
        whole.tets.materials.extend(materials);
        whole.tets.volumes.extend(&tets.volumes);
        let volumes = part.volumes.tets.iter().map(|&t| t + first as u32);
        whole.volumes.tets.extend(volumes);
        whole.volumes.weights.extend(&part.volumes.weights);
        whole.volumes.ratios.extend(&part.volumes.ratios);
        let clusters = &part.clusters;
        if !clusters.is_empty() {
            whole.clusters.cluster_of.resize(first, NO_CLUSTER);
            let before = whole.clusters.len() as u32;
            let cluster_of = clusters.cluster_of.iter().map(|&c| match c {
                NO_CLUSTER => NO_CLUSTER,
                c => c + before,
            });
            whole.clusters.cluster_of.extend(cluster_of);
            for i in 0..clusters.len() {
                let (corners, gradients) = clusters.stencil(i);
                whole.clusters.push(&self.vertices(corners), gradients);
            }
        }
        if !whole.clusters.is_empty() {
            whole
                .clusters
                .cluster_of
                .resize(whole.tets.len(), NO_CLUSTER);
        }
    }

    fn add_rest(&self, part: &Model, whole: &mut Model) {
        let springs = &part.springs;
        let ends = springs.vertices.iter().map(|e| e.map(|v| self.vertex(v)));
        whole.springs.vertices.extend(ends);
        whole.springs.lengths.extend(&springs.lengths);
        whole.springs.weights.extend(&springs.weights);
        whole.springs.rest.extend(&springs.rest);
        for i in 0..part.bendings.len() {
            let (vertices, coefficients) = part.bendings.stencil(i);
            whole.bendings.push(
                &self.vertices(vertices),
                coefficients,
                part.bendings.weights[i],
                part.bendings.rest[i],
            );
        }
        for i in 0..part.polyhedra.len() {
            let (corners, gradients) = part.polyhedra.stencil(i);
            whole.polyhedra.push(
                &self.vertices(corners),
                gradients,
                part.polyhedra.weights[i],
                part.polyhedra.limits[i],
            );
        }
        let anchors = &part.anchors;
        whole
            .anchors
            .vertices
            .extend(self.vertices(&anchors.vertices));
        whole.anchors.weights.extend(&anchors.weights);
        whole.anchors.kinds.extend(&anchors.kinds);
        whole.anchors.points.extend(&anchors.points);
        whole.anchors.directions.extend(&anchors.directions);
    }
}

fn surface(models: &[&Model], bodies: &[Body], free_count: usize) -> ContactSurface {
    let count = bodies.last().map_or(0, |body| body.points.end) as u32;
    let mut whole = SurfaceInput::default();
    // X at which the next body's rest shape begins.
    let mut edge = 0.0;
    for (part, body) in models.iter().zip(bodies) {
        let Some(surface) = &part.contact else {
            continue;
        };
        let input = surface.input();
        let numbers = IndexMap {
            free: body.free.start as u32,
            fixed: (free_count + body.fixed.start) as u32,
            own_free: part.free_count as u32,
        };
        whole.sources.extend(input.sources.iter().map(|s| match *s {
            Source::Vertex(v) => Source::Vertex(numbers.vertex(v)),
            Source::Outside(i) => Source::Outside(i + body.outside.start as u32),
        }));
        let all = || input.skin.iter().chain(&input.bases).map(|p| p.x);
        let (low, high) = (
            all().fold(f32::INFINITY, f32::min),
            all().fold(f32::NEG_INFINITY, f32::max),
        );
        let shift = Vec3::X * (edge - low);
        edge += (1.0 + REST_GAP) * (high - low);
        whole.skin.extend(input.skin.iter().map(|&p| p + shift));
        whole.bases.extend(input.bases.iter().map(|&p| p + shift));
        let (first_point, first) = (body.points.start as u32, whole.triangles.len() as u32);
        let triangles = input.triangles.iter();
        whole
            .triangles
            .extend(triangles.map(|t| t.map(|v| v + first_point)));
        let own = input.skin.len() as u32;
        let corner = |v: u32| match v.checked_sub(own) {
            None => first_point + v,
            Some(base) => count + first_point + base,
        };
        let tets = input.tets.iter();
        whole
            .tets
            .extend(tets.map(|&(tet, t)| (tet.map(corner), t + first)));
    }
    ContactSurface::new(whole)
}

#[cfg(test)]
mod tests {
    use glam::Affine3A;

    use super::*;
    use crate::conformance::{cantilever, some_pads, tissue};
    use crate::contact::measure_penetration;
    use crate::{Backend, ContactMode, CpuBackend, Settings};

    fn step(model: &Model, targets: &Targets, settings: &Settings, state: &mut State, n: usize) {
        let mut backend = CpuBackend::new();
        for _ in 0..n {
            backend.step(model, settings, targets, state).expect("step");
        }
    }

    #[test]
    fn separate_bodies_move_as_they_do_alone() {
        let models = [tissue(), cantilever(), some_pads(1)];
        let merged = Merged::new(&models.each_ref());
        let settings = Settings {
            gravity: Vec3::new(1.0, -9.81, 0.0),
            ..Settings::default()
        };
        let targets: Vec<Targets> = models.iter().map(Model::rest_targets).collect();
        let whole = merged.targets(&targets);
        assert_eq!(whole.fixed, merged.model.rest_targets().fixed);
        let mut together = State::at_rest(&merged.model);
        step(&merged.model, &whole, &settings, &mut together, 20);
        for (i, (model, targets)) in models.iter().zip(&targets).enumerate() {
            let mut alone = State::at_rest(model);
            step(model, targets, &settings, &mut alone, 20);
            let part = merged.state_of(i, &together);
            let pairs = alone.positions.iter().zip(&part.positions);
            let away = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            // Single precision: the same sums in another order.
            assert!(away < 1e-5, "body {i}: {away} m");
            assert_eq!(model.caller_positions(&alone).len(), model.vertex_count());
        }
    }

    /// Two pads, one flipped and pressed onto the other: both give way equally, and no point is inside.
    #[test]
    fn bodies_touch() {
        let pad = some_pads(1);
        let merged = Merged::new(&[&pad, &pad]);
        let settings = Settings {
            contact: crate::ContactSettings {
                mode: ContactMode::Global,
                ..Default::default()
            },
            ..Settings::default()
        };
        // Thickness 2 cm each, pressed by 1 cm.
        let over = |height: f32| {
            let turn = glam::Quat::from_rotation_x(std::f32::consts::PI);
            Affine3A::from_rotation_translation(turn, Vec3::new(0.0, height, 0.12))
        };
        let placed = |height: f32| {
            let mut upper = pad.rest_targets();
            for p in upper.fixed.iter_mut().chain(&mut upper.bases) {
                *p = over(height).transform_point3(*p);
            }
            merged.targets(&[pad.rest_targets(), upper])
        };
        let mut state = State::at_rest(&merged.model);
        let mut frames = vec![Affine3A::IDENTITY; pad.free_count()];
        frames.extend(vec![over(0.06); pad.free_count()]);
        state.carry(&frames);
        state.rebase(&placed(0.06));
        for k in 0..=30 {
            let targets = placed(0.06 - 0.001 * k as f32);
            step(&merged.model, &targets, &settings, &mut state, 1);
        }
        let targets = placed(0.03);
        step(&merged.model, &targets, &settings, &mut state, 40);
        assert!(state.contact.contacts.len() > 40);
        let surface = merged.model.contact_surface().expect("surface");
        let skin: Vec<Vec3> = (surface.input().sources.iter())
            .map(|source| match *source {
                Source::Vertex(v) => state.positions[v as usize],
                Source::Outside(_) => Vec3::ZERO,
            })
            .collect();
        let inside = measure_penetration(surface, &skin);
        assert!(inside.worst() < 4e-4, "{} m", inside.worst());
        let half = merged.points_of(0).len();
        let mean = |points: &[Vec3]| points.iter().map(|p| p.y).sum::<f32>() / half as f32;
        let (lower, upper) = (mean(&skin[..half]), mean(&skin[half..]));
        assert!(
            (0.5 * (lower + upper) - 0.015).abs() < 1e-3,
            "{lower} {upper}"
        );
        assert!(upper > lower);
    }
}
