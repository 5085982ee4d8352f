//! A layer of tissue that may touch.

use glam::Vec3;
use supple_sim::contact::{Source, SurfaceInput};
use supple_sim::shapes::prism_layer;
use supple_sim::{Model, ModelBuilder};

pub const SQUARES: usize = 14;
pub const SIDE: usize = SQUARES + 1;
pub const LAYER: usize = SIDE * SIDE;
pub const EDGE: f32 = 0.014;
/// Thickness \[m\].
pub const DEPTH: f32 = 0.03;

/// A layer of tissue on a fixed lower side; its upper side may touch itself.
pub fn layer() -> Model {
    let mesh = prism_layer(SQUARES, EDGE, DEPTH);
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        builder.vertex(p, i < LAYER);
    }
    for &tet in &mesh.tets {
        builder.tet(tet, 3_000.0);
    }
    builder.distribute_mass(1.0);
    builder.build_with_surface(surface).expect("layer")
}

fn surface(model: &Model) -> SurfaceInput {
    let mut input = SurfaceInput::default();
    for k in 0..LAYER {
        let index = model.index_of()[LAYER + k];
        let position = model.rest()[index as usize];
        input.sources.push(Source::Vertex(index));
        input.skin.push(position);
        input.bases.push(position - Vec3::Y * (1.4 * DEPTH));
    }
    for i in 0..SQUARES {
        for k in 0..SQUARES {
            let at = |i: usize, k: usize| (i * SIDE + k) as u32;
            let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)];
            input.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let below = |v: u32| v + LAYER as u32;
    for (t, triangle) in input.triangles.clone().into_iter().enumerate() {
        let mut order = triangle;
        order.sort_unstable();
        let [a, b, c] = order;
        for tet in [
            [a, b, c, below(c)],
            [a, b, below(c), below(b)],
            [a, below(b), below(c), below(a)],
        ] {
            let at = |v: u32| match (v as usize).checked_sub(LAYER) {
                None => input.skin[v as usize],
                Some(v) => input.bases[v],
            };
            let [p, q, r, s] = tet.map(at);
            let [i, j, k, l] = tet;
            let is_positive = (q - p).cross(r - p).dot(s - p) > 0.0;
            let tet = if is_positive { tet } else { [j, i, k, l] };
            input.tets.push((tet, t as u32));
        }
    }
    input
}
