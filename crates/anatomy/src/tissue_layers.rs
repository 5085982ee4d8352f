//! A layered body as layers of tissue: what [`Flesh`](supple_flesh::Flesh) builds fat and muscle of over detailed bones [4.3.3].

use std::collections::BTreeMap;

use glam::Vec3;
use supple_flesh::GivenLayers;
use supple_geom::Adjacency;
use supple_geom::adjacency::Rows;
use supple_geom::normals::vertex_normals;

use crate::LayeredBody;
use crate::layered_body::Rig;
use crate::template::FatRegion;

/// The layers of a body over the given vertices of the first part of a character with its joints. The skeleton surface goes over
/// smoothly from one bone to the next.
pub fn tissue_layers(body: &LayeredBody, vertices: Vec<u32>) -> GivenLayers {
    let mut layers = given_layers(body, vertices);
    layers.influences = smoothed(layers.influences, &body.layers.triangles);
    layers
}

/// Layers whose skeleton surface has no sliding regions: every vertex is bound to the bone nearest to it. They fold where the trunk
/// bends, and are there to compare with [4.18].
pub fn bound_to_bones(body: &LayeredBody, vertices: Vec<u32>) -> GivenLayers {
    GivenLayers {
        held: body.layers.layered.clone(),
        ..given_layers(body, vertices)
    }
}

/// Forward part of the normal up to which skin of the trunk is of its back, where the spine and its muscles lie below. Were that as
/// soft as a belly, all of a bend would be in the small of the back, and 6 cm of fat crease there; above −0.4 flanks are stiff.
const BACK: f32 = -0.6;

/// The layers, each vertex on the bone nearest to it.
fn given_layers(body: &LayeredBody, vertices: Vec<u32>) -> GivenLayers {
    let (layers, regions) = (&body.layers, &body.regions);
    let normals = vertex_normals(&layers.skin_mesh());
    let is_back = |v: usize| {
        let is_trunk = matches!(regions.fat[v], Some(FatRegion::Belly | FatRegion::Chest));
        is_trunk && normals[v].z < BACK
    };
    let influences = (0..vertices.len()).map(|v| match regions.bone[v] {
        Some(bone) if layers.layered[v] => bone_weights(body, bone as usize, layers.skeleton[v]),
        _ => Vec::new(),
    });
    GivenLayers {
        part: 0,
        influences: influences.collect(),
        held: (0..vertices.len())
            .map(|v| layers.layered[v] && !regions.slides[v])
            .collect(),
        hollow: regions.abdomen.clone(),
        on_bone: (0..vertices.len()).map(is_back).collect(),
        muscle: layers.muscle.clone(),
        skeleton: layers.skeleton.clone(),
        layered: layers.layered.clone(),
        vertices,
    }
}

/// Passes that smooth the joints that the skeleton surface follows. Without, it creases where it goes over from one bone to the next
/// (the root of the neck); above 6, thin bones are no longer rigid.
const SMOOTHING: usize = 3;

/// Means over neighbours.
fn smoothed(mut rows: Vec<Vec<(u32, f32)>>, triangles: &[[u32; 3]]) -> Vec<Vec<(u32, f32)>> {
    let edges = Adjacency::of_triangles(rows.len(), triangles).edges;
    let neighbours = Rows::from_pairs(
        rows.len(),
        edges.iter().flat_map(|&[a, b]| [(a, b), (b, a)]),
    );
    for _ in 0..SMOOTHING {
        let mean = |v: usize| {
            if rows[v].is_empty() {
                return Vec::new();
            }
            let ring = neighbours.row(v).iter().map(|&other| other as usize);
            let ring: Vec<usize> = ring.filter(|&other| !rows[other].is_empty()).collect();
            let mut sum: BTreeMap<u32, f32> = BTreeMap::new();
            // As much of its own as of all neighbours.
            for (of, share) in std::iter::once((v, ring.len().max(1) as f32))
                .chain(ring.iter().map(|&other| (other, 1.0)))
            {
                for &(joint, weight) in &rows[of] {
                    *sum.entry(joint).or_default() += share * weight;
                }
            }
            let all: f32 = sum.values().sum();
            sum.into_iter().map(|(joint, w)| (joint, w / all)).collect()
        };
        rows = (0..rows.len()).map(mean).collect();
    }
    rows
}

/// What moves a bone at a point.
fn bone_weights(body: &LayeredBody, bone: usize, at: Vec3) -> Vec<(u32, f32)> {
    let bone = &body.bones[bone];
    let distance = |v: &usize| bone.bone.mesh.positions[*v].distance_squared(at);
    let vertex = match bone.rig {
        Rig::Whole(_) => Some(0),
        _ => (0..bone.bone.mesh.positions.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))),
    };
    let weights = &body.body.influences;
    vertex.map_or_else(Vec::new, |v| bone.rig.weights(v, weights).to_vec())
}
