//! Contact: pads of tissue that press, slide, let go.

use glam::Vec3;

use super::{Precision, STIFFNESS, run};
use crate::contact::{Source, SurfaceInput};
use crate::shapes::prism_layer;
use crate::{
    Backend, ContactMode, ContactSettings, Model, ModelBuilder, Reference, Settings, State, Targets,
};

const SQUARES: usize = 6;
pub(super) const EDGE: f32 = 0.02;
pub(super) const THICKNESS: f32 = 0.02;
/// Rest distance between the pads.
const APART: f32 = 0.01;
const SIDE: usize = SQUARES + 1;
pub(super) const LAYER: usize = SIDE * SIDE;

/// Two pads of tissue that face each other: the lower on y = 0, the upper on y = 2 × thickness + distance.
pub(crate) fn pads() -> Model {
    some_pads(2)
}

/// Both pads, or the lower alone.
pub(crate) fn some_pads(pads: usize) -> Model {
    leaning_pads(pads, 0.0)
}

/// The same with base points beside the skin points above them \[m\], on opposite sides in both pads.
fn leaning_pads(pads: usize, lean: f32) -> Model {
    let layer = prism_layer(SQUARES, EDGE, THICKNESS);
    let ceiling = 2.0 * THICKNESS + APART;
    let mirrored = |p: Vec3| Vec3::new(p.x, ceiling - p.y, p.z);
    let mut builder = ModelBuilder::new();
    for is_upper in [false, true].into_iter().take(pads) {
        for (i, &p) in layer.positions.iter().enumerate() {
            builder.vertex(if is_upper { mirrored(p) } else { p }, i < LAYER);
        }
    }
    let count = 2 * LAYER as u32;
    for &[a, b, c, d] in &layer.tets {
        builder.tet([a, b, c, d], STIFFNESS);
        if pads > 1 {
            builder.tet([b, a, c, d].map(|v| v + count), STIFFNESS);
        }
    }
    builder.distribute_mass(0.25 * pads as f64);
    let surface = |model: &Model| pad_surface(model, pads, lean);
    builder.build_with_surface(surface).expect("pads")
}

fn pad_surface(model: &Model, pads: usize, lean: f32) -> SurfaceInput {
    let mut input = SurfaceInput::default();
    for pad in 0..pads {
        let (first, up) = ((2 * pad + 1) * LAYER, 1.0 - 2.0 * pad as f32);
        for k in 0..LAYER {
            let index = model.index_of()[first + k];
            let position = model.rest()[index as usize];
            input.sources.push(Source::Vertex(index));
            input.skin.push(position);
            let below = Vec3::new(lean * up, -1.5 * THICKNESS * up, 0.0);
            input.bases.push(position + below);
        }
        for i in 0..SQUARES {
            for k in 0..SQUARES {
                let at = |i: usize, k: usize| (pad * LAYER + i * SIDE + k) as u32;
                let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)];
                for [a, b, c] in [[a, b, c], [a, c, d]] {
                    let triangle = if pad == 0 { [a, b, c] } else { [a, c, b] };
                    input.triangles.push(triangle);
                }
            }
        }
    }
    for (t, triangle) in input.triangles.clone().into_iter().enumerate() {
        let mut order = triangle;
        order.sort_unstable();
        let below = |v: u32| v + (pads * LAYER) as u32;
        let [a, b, c] = order;
        let position = |v: u32| {
            let v = v as usize;
            if v < pads * LAYER {
                input.skin[v]
            } else {
                input.bases[v - pads * LAYER]
            }
        };
        for tet in [
            [a, b, c, below(c)],
            [a, b, below(c), below(b)],
            [a, below(b), below(c), below(a)],
        ] {
            let [p, q, r, s] = tet.map(position);
            let [i, j, k, l] = tet;
            let is_positive = (q - p).cross(r - p).dot(s - p) > 0.0;
            input
                .tets
                .push((if is_positive { tet } else { [j, i, k, l] }, t as u32));
        }
    }
    input
}

/// The upper pad moved.
fn shifted(model: &Model, by: Vec3) -> Targets {
    let mut targets = model.rest_targets();
    let half = targets.fixed.len() / 2;
    targets.fixed[half..].iter_mut().for_each(|p| *p += by);
    let half = targets.bases.len() / 2;
    targets.bases[half..].iter_mut().for_each(|p| *p += by);
    targets
}

pub(super) fn settings(friction: f32) -> Settings {
    Settings {
        contact: ContactSettings {
            mode: ContactMode::Global,
            friction,
            ..ContactSettings::default()
        },
        ..Settings::default()
    }
}

/// Mean position of the lower (0) or upper (1) pad's skin, away from its rim.
pub(super) fn middle(model: &Model, state: &State, pad: usize) -> Vec3 {
    let positions = model.caller_positions(state);
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for i in 2..SIDE - 2 {
        for k in 2..SIDE - 2 {
            sum += positions[(2 * pad + 1) * LAYER + i * SIDE + k];
            count += 1.0;
        }
    }
    sum / count
}

/// Pads that are pushed into each other share the way, hold still, and are as before when they part.
pub fn pads_press_and_part(backend: &mut dyn Backend, _: Precision) {
    let (model, settings) = (pads(), settings(0.5));
    if !backend.supports(&model, &settings) {
        return;
    }
    let mut state = State::at_rest(&model);
    let overlap = 0.008;
    for step in 1..=20 {
        let down = (APART + overlap) * step as f32 / 20.0;
        let targets = shifted(&model, Vec3::NEG_Y * down);
        run(backend, &model, &settings, &targets, &mut state, 1);
    }
    let pressed = shifted(&model, Vec3::NEG_Y * (APART + overlap));
    let report = run(backend, &model, &settings, &pressed, &mut state, 60);
    let surface = model.contact_surface().expect("surface");
    assert!(report.contact.pressing > 2 * LAYER / 2, "{report:?}");
    assert!(report.contact.depth < 0.02 * THICKNESS, "{report:?}");
    let (lower, upper) = (middle(&model, &state, 0), middle(&model, &state, 1));
    let gap = upper.y - lower.y;
    assert!(gap > 0.0 && gap < 2.0 * surface.gap(), "gap {gap}");
    // Both pads are alike: the border lies in the middle.
    let border = 0.5 * (lower.y + upper.y);
    let expected = THICKNESS - 0.5 * overlap;
    assert!(
        (border - expected).abs() < 0.05 * overlap,
        "{border} {expected}"
    );
    let speed = state
        .velocities
        .iter()
        .map(|v| v.length())
        .fold(0.0, f32::max);
    assert!(speed < 1e-3, "held still: {speed} m/s");
    let apart = model.rest_targets();
    let report = run(backend, &model, &settings, &apart, &mut state, 240);
    assert_eq!(report.contact.pressing, 0);
    let away = super::deviation(&model, &state, glam::Affine3A::IDENTITY);
    assert!(away < 1e-4, "nothing sticks: {away} m from rest");
}

/// A pad that is moved along another one takes it along by friction, and does not without.
pub fn pads_rub(backend: &mut dyn Backend, _: Precision) {
    let model = pads();
    let dragged = |backend: &mut dyn Backend, friction: f32| -> Option<f32> {
        let settings = settings(friction);
        if !backend.supports(&model, &settings) {
            return None;
        }
        let mut state = State::at_rest(&model);
        let down = Vec3::NEG_Y * (APART + 0.006);
        let pressed = shifted(&model, down);
        run(backend, &model, &settings, &pressed, &mut state, 60);
        let before = middle(&model, &state, 0).x;
        for step in 1..=10 {
            let along = Vec3::X * (0.0005 * step as f32);
            let targets = shifted(&model, down + along);
            run(backend, &model, &settings, &targets, &mut state, 1);
        }
        let targets = shifted(&model, down + Vec3::X * 0.005);
        run(backend, &model, &settings, &targets, &mut state, 60);
        Some(middle(&model, &state, 0).x - before)
    };
    let (Some(smooth), Some(rough)) = (dragged(backend, 0.0), dragged(backend, 1.0)) else {
        return;
    };
    // Stuck together, each goes half the way; free, none.
    assert!(smooth.abs() < 0.0005, "without friction {smooth} m");
    assert!((0.0015..0.0035).contains(&rough), "with friction {rough} m");
}

/// Pads pressed into each other in 40 steps.
fn pressed(backend: &mut dyn Backend, model: &Model, settings: &Settings) -> State {
    let mut state = State::at_rest(model);
    for step in 1..=40 {
        let t = step as f32 / 40.0;
        let targets = shifted(model, Vec3::NEG_Y * ((APART + 0.006) * t));
        run(backend, model, settings, &targets, &mut state, 1);
    }
    state
}

/// Root mean square distance \[m\].
fn apart(a: &State, b: &State) -> f32 {
    let squares = |(a, b): (&Vec3, &Vec3)| a.distance_squared(*b);
    let pairs = || a.positions.iter().zip(&b.positions);
    (pairs().map(squares).sum::<f32>() / pairs().len() as f32).sqrt()
}

/// Contacts come out as they do with whole columns of the inverse and double precision.
pub fn contact_agrees_with_the_reference(backend: &mut dyn Backend, _: Precision) {
    let (model, settings) = (pads(), settings(0.5));
    if !backend.supports(&model, &settings) {
        return;
    }
    let found = pressed(backend, &model, &settings);
    let expected = pressed(&mut Reference::new(), &model, &settings);
    let mean = apart(&found, &expected);
    // A hundredth of the thickness: what is left of the columns' ends after ten iterations. Single points of the rim may
    // hang on to another triangle.
    assert!(mean < 0.01 * THICKNESS, "{mean} m");
}

/// Tissue whose columns lean is pushed along a normal blended toward them: without friction, pads shove each other
/// aside. The device pushes along the skin's normal ([`leaning_columns_push_straight`]).
pub fn leaning_columns_push_aside(backend: &mut dyn Backend, _: Precision) {
    let Some(found) = shoves(backend) else { return };
    let expected = shoves(&mut Reference::new()).expect("the reference has contact");
    for (found, expected) in found.into_iter().zip(expected) {
        let least = 0.02 * THICKNESS;
        assert!(expected > least, "columns lean, and no shove: {expected} m");
        // The rim hangs on to other triangles; the middle does not.
        let is_same = (found - expected).abs() < 0.1 * expected;
        assert!(is_same, "a pad is shoved by {found} m, not by {expected} m");
    }
}

/// The same on a backend that pushes along the skin's normal: pads part without a shove.
pub fn leaning_columns_push_straight(backend: &mut dyn Backend, _: Precision) {
    for shove in shoves(backend).into_iter().flatten() {
        assert!(shove.abs() < 0.01 * THICKNESS, "a shove by {shove} m");
    }
}

/// Motions of both pads' middles to the side to which their columns lean \[m\], without friction; `None` if the backend
/// has no contact.
fn shoves(backend: &mut dyn Backend) -> Option<[f32; 2]> {
    let (model, settings) = (leaning_pads(2, 1.2 * THICKNESS), settings(0.0));
    if !backend.supports(&model, &settings) {
        return None;
    }
    let state = pressed(backend, &model, &settings);
    assert!(!state.contact.contacts.is_empty(), "the pads do not touch");
    let start = 0.5 * SQUARES as f32 * EDGE;
    Some([(0, 1.0), (1, -1.0)].map(|(pad, side)| side * (middle(&model, &state, pad).x - start)))
}
