//! Prepares meshes for drawing: drops invalid triangles, completes normals, converts colours to linear light.

use glam::{Vec2, Vec3};

use supple_geom::TriMesh;
use supple_geom::tidy::turn_alike;

use crate::colour::to_linear;
use crate::scene::{CLAY, Colour, DrawMesh};
use crate::texture::Texture;

/// A mesh with valid indices and finite used vertices.
pub(crate) struct Prepared<'a> {
    pub positions: &'a [Vec3],
    pub triangles: Vec<[u32; 3]>,
    pub normals: Vec<Vec3>,
    pub paint: Paint<'a>,
    /// Linear colours laid over the paint, and their strengths in every channel.
    pub tint: Option<[Vec<Vec3>; 2]>,
    pub source: &'a DrawMesh<'a>,
    /// Sky light at each vertex, as a colour factor: on the side of its normal, and on the opposite side.
    pub sky: [Vec<Vec3>; 2],
}

/// Linear surface colour.
pub(crate) enum Paint<'a> {
    Uniform(Vec3),
    Vertices(Vec<Vec3>),
    Textured {
        uvs: &'a [Vec2],
        texture: &'a Texture,
        alpha_cutoff: f32,
    },
}

pub(crate) fn prepare<'a>(source: &'a DrawMesh<'a>) -> Prepared<'a> {
    let positions = source.mesh.positions.as_slice();
    let usable = |i: &u32| {
        positions
            .get(*i as usize)
            .is_some_and(|p| p.is_finite() && p.abs().max_element() < 1e12)
    };
    let mut triangles: Vec<[u32; 3]> = source
        .mesh
        .triangles
        .iter()
        .filter(|t| t.iter().all(usable))
        .copied()
        .collect();
    let normals = match &source.normals {
        Some(given) if given.len() == positions.len() => {
            given.iter().map(|n| n.normalize_or_zero()).collect()
        }
        _ => {
            let leader = leaders(positions);
            if source.double_sided {
                orient(positions, &leader, &mut triangles);
            }
            vertex_normals(positions, &leader, &triangles)
        }
    };
    let paint = match &source.colour {
        Colour::Uniform(colour) => Paint::Uniform(to_linear(*colour)),
        Colour::Vertices(colours) => {
            let mut linear: Vec<Vec3> = colours.iter().map(|&c| to_linear(c)).collect();
            linear.resize(positions.len(), to_linear(CLAY));
            Paint::Vertices(linear)
        }
        Colour::Textured {
            uvs,
            texture,
            alpha_cutoff,
        } if uvs.len() == positions.len() => Paint::Textured {
            uvs,
            texture,
            alpha_cutoff: *alpha_cutoff,
        },
        Colour::Textured { .. } => Paint::Uniform(to_linear(CLAY)),
    };
    let tint = source.tint.as_ref().map(|tint| {
        let mut colours: Vec<Vec3> = tint.colours.iter().map(|&c| to_linear(c)).collect();
        let strengths = tint.strengths.iter().map(|s| s.clamp(0.0, 1.0));
        let mut strengths: Vec<Vec3> = strengths.map(Vec3::splat).collect();
        for list in [&mut colours, &mut strengths] {
            list.resize(positions.len(), Vec3::ZERO);
        }
        [colours, strengths]
    });
    Prepared {
        positions,
        triangles,
        normals,
        paint,
        tint,
        source,
        sky: Default::default(),
    }
}

/// For each vertex, the first vertex at the same position.
fn leaders(positions: &[Vec3]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    let key = |i: u32| {
        positions[i as usize]
            .to_array()
            .map(|c| (c + 0.0).to_bits())
    };
    order.sort_unstable_by_key(|&i| (key(i), i));
    let mut leader = vec![0_u32; positions.len()];
    for (k, &i) in order.iter().enumerate() {
        let previous = order[k.saturating_sub(1)];
        leader[i as usize] = if k > 0 && key(previous) == key(i) {
            leader[previous as usize]
        } else {
            i
        };
    }
    leader
}

/// Reverses triangles that are oriented against their neighbours, whose mean normal would be meaningless.
fn orient(positions: &[Vec3], leader: &[u32], triangles: &mut [[u32; 3]]) {
    let welded = |corners: &[u32; 3]| corners.map(|i| leader[i as usize]);
    let mut mesh = TriMesh {
        positions: positions.to_vec(),
        triangles: triangles.iter().map(welded).collect(),
    };
    if turn_alike(&mut mesh) == 0 {
        return;
    }
    for (corners, turned) in triangles.iter_mut().zip(&mesh.triangles) {
        if welded(corners) != *turned {
            corners.swap(1, 2);
        }
    }
}

/// Area-weighted vertex normals; vertices at the same position share one, so that texture seams are invisible.
fn vertex_normals(positions: &[Vec3], leader: &[u32], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| positions[i as usize]);
        let normal = (b - a).cross(c - a);
        for i in triangle {
            sums[leader[*i as usize] as usize] += normal;
        }
    }
    leader
        .iter()
        .map(|&l| sums[l as usize].normalize_or_zero())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_triangles_are_dropped_and_seams_share_normals() {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::NAN, Vec3::ZERO, Vec3::Z];
        let triangles = vec![[0, 1, 2], [0, 1, 3], [0, 1, 99], [4, 2, 5]];
        let mesh = TriMesh {
            positions,
            triangles,
        };
        let draw = DrawMesh::new(&mesh);
        let ready = prepare(&draw);
        assert_eq!(ready.triangles, [[0, 1, 2], [4, 2, 5]]);
        assert!((ready.normals[0] - Vec3::new(1.0, 0.0, 1.0).normalize()).length() < 1e-6);
        assert_eq!(ready.normals[0], ready.normals[4]);
    }
}
