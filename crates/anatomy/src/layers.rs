//! Skin, muscle surface and skeleton surface: three surfaces of one connectivity, and what can be measured on them.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::normals::vertex_normals;
use supple_geom::tet_mesh::determinant;
use supple_geom::{Surface, TetMesh, TriMesh};

/// How far a vertex may lie above the surface that encloses it before it counts as outside \[m\]: positions are stored in
/// single precision, and distances of a vertex that lies on a surface come out as a few micrometres.
const OUTSIDE: f32 = 1e-5;

/// Lines shorter than this have no direction to speak of \[m\]: their alignment is not counted.
const SHORTEST_LINE: f64 = 5e-4;

/// Tets below minus this volume count as inverted \[m³\]: a flat one of 1 cm sides is off by about 1e-14 in single precision.
const INVERTED: f64 = 1e-13;

/// The layers of a body. Vertex i of each surface belongs together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layers {
    /// Triangles of all three surfaces.
    pub triangles: Vec<[u32; 3]>,
    /// Skin \[m\].
    pub skin: Vec<Vec3>,
    /// Muscle surface \[m\].
    pub muscle: Vec<Vec3>,
    /// Skeleton surface \[m\].
    pub skeleton: Vec<Vec3>,
    /// Whether a vertex has layers; elsewhere all three surfaces are the skin.
    pub layered: Vec<bool>,
}

/// One of the two layers between the three surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Between skin and muscle surface.
    Fat,
    /// Between muscle surface and skeleton surface.
    Muscle,
}

/// What [`Layers::measures`] finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LayerMeasures {
    /// Layered vertices.
    pub layered: usize,
    /// Prisms of one layer: triangles with at least one layered corner.
    pub prisms: usize,
    /// Prisms of the fat layer with a tet of negative volume.
    pub inverted_fat: usize,
    /// Prisms of the muscle layer with a tet of negative volume.
    pub inverted_muscle: usize,
    /// Prisms between skin and skeleton surface with a tet of negative volume.
    pub inverted_soft: usize,
    /// Layered vertices of the muscle surface outside the skin.
    pub muscle_outside: usize,
    /// Layered vertices of the skeleton surface outside the muscle surface.
    pub skeleton_outside: usize,
    /// Alignment score (4.4) between skin and skeleton surface.
    pub alignment: Alignment,
    /// Volume between skin and muscle surface \[m³\].
    pub fat_volume: f64,
    /// Volume between muscle surface and skeleton surface \[m³\].
    pub muscle_volume: f64,
    /// Volume inside the skeleton surface, with what is not layered \[m³\].
    pub inner_volume: f64,
}

/// Alignment scores (4.4) of many vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Alignment {
    /// Mean.
    pub mean: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Largest.
    pub largest: f64,
}

impl Layers {
    /// The skin as a mesh.
    pub fn skin_mesh(&self) -> TriMesh {
        self.mesh(&self.skin)
    }

    /// The muscle surface as a mesh.
    pub fn muscle_mesh(&self) -> TriMesh {
        self.mesh(&self.muscle)
    }

    /// The skeleton surface as a mesh.
    pub fn skeleton_mesh(&self) -> TriMesh {
        self.mesh(&self.skeleton)
    }

    fn mesh(&self, positions: &[Vec3]) -> TriMesh {
        TriMesh {
            positions: positions.to_vec(),
            triangles: self.triangles.clone(),
        }
    }

    /// Triangles with at least one layered corner, ascending.
    pub fn layered_triangles(&self) -> Vec<u32> {
        layered_triangles(&self.triangles, &self.layered)
    }

    /// Both layers as one tet mesh, for simulation: vertices of the skin, then of the muscle surface, then of the skeleton
    /// surface. Each prism is a cell of three tets, those of the fat layer first. Corners of a prism where the layers end
    /// coincide, and tets without volume are left out; a prism with none left is no cell.
    pub fn tet_mesh(&self) -> TetMesh {
        let count = self.skin.len() as u32;
        let mut mesh = TetMesh {
            positions: [&self.skin[..], &self.muscle, &self.skeleton].concat(),
            ..TetMesh::default()
        };
        for first in [0, count] {
            for t in self.layered_triangles() {
                let tets = prism_tets(self.triangles[t as usize]).map(|tet| {
                    tet.map(|(vertex, inner)| vertex + first + if inner { count } else { 0 })
                });
                let mut cell = Vec::new();
                for tet in tets {
                    let layered = |&v: &u32| self.layered[(v % count) as usize];
                    let mut whole = tet.map(|v| if layered(&v) { v } else { v % count });
                    whole.sort_unstable();
                    if whole.windows(2).all(|pair| pair[0] != pair[1]) {
                        cell.push(mesh.tets.len() as u32);
                        mesh.tets
                            .push(tet.map(|v| if layered(&v) { v } else { v % count }));
                    }
                }
                if !cell.is_empty() {
                    mesh.cells.push(cell);
                }
            }
        }
        mesh
    }

    /// Everything that must hold of layers, and their volumes.
    pub fn measures(&self) -> LayerMeasures {
        let triangles = self.layered_triangles();
        let between = |outer: &[Vec3], inner: &[Vec3]| {
            prism_measures(&self.triangles, &triangles, outer, inner)
        };
        let (inverted_fat, fat_volume) = between(&self.skin, &self.muscle);
        let (inverted_muscle, muscle_volume) = between(&self.muscle, &self.skeleton);
        let (inverted_soft, _) = between(&self.skin, &self.skeleton);
        let scores = alignment_scores(&self.triangles, &self.skin, &self.skeleton, &self.layered);
        LayerMeasures {
            layered: self.layered.iter().filter(|l| **l).count(),
            prisms: triangles.len(),
            inverted_fat,
            inverted_muscle,
            inverted_soft,
            muscle_outside: outside(&self.skin_mesh(), &self.muscle, &self.layered),
            skeleton_outside: outside(&self.muscle_mesh(), &self.skeleton, &self.layered),
            alignment: Alignment::of(scores.into_iter().flatten().collect()),
            fat_volume,
            muscle_volume,
            inner_volume: self.skeleton_mesh().signed_volume(),
        }
    }
}

impl Alignment {
    /// Of any scores; zero if there are none.
    pub fn of(mut scores: Vec<f64>) -> Alignment {
        scores.sort_by(f64::total_cmp);
        let Some(&largest) = scores.last() else {
            return Alignment::default();
        };
        Alignment {
            mean: scores.iter().sum::<f64>() / scores.len() as f64,
            p95: scores[(scores.len() - 1) * 95 / 100],
            largest,
        }
    }
}

/// Triangles with at least one layered corner, ascending.
pub(crate) fn layered_triangles(triangles: &[[u32; 3]], layered: &[bool]) -> Vec<u32> {
    let any = |corners: &[u32; 3]| corners.iter().any(|&v| layered[v as usize]);
    let indexed = (0u32..).zip(triangles);
    (indexed.filter(|(_, corners)| any(corners)))
        .map(|(t, _)| t)
        .collect()
}

/// The three tets of a prism over a triangle, as `(vertex, whether of the inner surface)`; positive volumes if the inner
/// surface is behind the triangle. Diagonals run from the smaller vertex outside to the larger one inside, so that
/// neighbouring prisms agree.
pub fn prism_tets(triangle: [u32; 3]) -> [[(u32, bool); 4]; 3] {
    let mut sorted = triangle;
    sorted.sort_unstable();
    let [a, b, c] = sorted;
    let (o, i) = (|v: u32| (v, false), |v: u32| (v, true));
    let tets = [
        [o(a), o(b), o(c), i(c)],
        [o(a), o(b), i(c), i(b)],
        [o(a), i(b), i(c), i(a)],
    ];
    // Seen from inside, corners that are counter-clockwise outside run clockwise.
    let is_even = [[a, b, c], [b, c, a], [c, a, b]].contains(&triangle);
    tets.map(
        |[p, q, r, s]| {
            if is_even { [p, r, q, s] } else { [p, q, r, s] }
        },
    )
}

/// Signed volumes of the three tets of one prism \[m³\].
pub fn prism_volumes(
    triangle: [u32; 3],
    outer: impl Fn(u32) -> DVec3,
    inner: impl Fn(u32) -> DVec3,
) -> [f64; 3] {
    prism_tets(triangle).map(|tet| {
        determinant(tet.map(|(v, is_inner)| if is_inner { inner(v) } else { outer(v) })) / 6.0
    })
}

/// Number of inverted prisms and the volume of all.
pub fn prism_measures(
    triangles: &[[u32; 3]],
    of: &[u32],
    outer: &[Vec3],
    inner: &[Vec3],
) -> (usize, f64) {
    let (mut inverted, mut volume) = (0, 0.0);
    for &t in of {
        let at = |positions: &[Vec3], v: u32| positions[v as usize].as_dvec3();
        let tets = prism_volumes(triangles[t as usize], |v| at(outer, v), |v| at(inner, v));
        inverted += usize::from(tets.iter().any(|v| *v < -INVERTED));
        volume += tets.iter().sum::<f64>();
    }
    (inverted, volume)
}

/// Number of chosen points outside a closed surface.
pub fn outside(enclosing: &TriMesh, points: &[Vec3], chosen: &[bool]) -> usize {
    let surface = Surface::new(enclosing.clone());
    let is_outside = |point: &Vec3| (surface.signed_distance(*point)).is_none_or(|d| d > OUTSIDE);
    (points.par_iter().zip(chosen))
        .filter(|(point, chosen)| **chosen && is_outside(point))
        .count()
}

/// The alignment score of a pair of points with their unit normals (4.4): one minus the cosine between the line that joins
/// them and their mean normal; 0 is best, 2 worst.
pub fn alignment_score(skin: (DVec3, DVec3), inner: (DVec3, DVec3)) -> f64 {
    let (line, normal) = (skin.0 - inner.0, skin.1 + inner.1);
    let cosine = normal.dot(line) / (normal.length() * line.length());
    if cosine.is_finite() {
        (cosine - 1.0).abs()
    } else {
        1.0
    }
}

/// The score of every chosen vertex; none where the surfaces (nearly) touch or the vertex is not chosen.
pub fn alignment_scores(
    triangles: &[[u32; 3]],
    skin: &[Vec3],
    inner: &[Vec3],
    chosen: &[bool],
) -> Vec<Option<f64>> {
    let normals = |positions: &[Vec3]| {
        vertex_normals(&TriMesh {
            positions: positions.to_vec(),
            triangles: triangles.to_vec(),
        })
    };
    let (skin_normals, inner_normals) = (normals(skin), normals(inner));
    (0..skin.len())
        .map(|v| {
            let (s, b) = (skin[v].as_dvec3(), inner[v].as_dvec3());
            let counts = chosen[v] && s.distance(b) > SHORTEST_LINE;
            counts.then(|| {
                let normal = |normals: &[Vec3]| normals[v].as_dvec3();
                alignment_score((s, normal(&skin_normals)), (b, normal(&inner_normals)))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    /// Three spheres.
    fn spheres(radii: [f32; 3]) -> Layers {
        let ball = icosphere(1.0, 3);
        let scaled = |r: f32| ball.positions.iter().map(|p| *p * r).collect::<Vec<_>>();
        Layers {
            layered: vec![true; ball.positions.len()],
            skin: scaled(radii[0]),
            muscle: scaled(radii[1]),
            skeleton: scaled(radii[2]),
            triangles: ball.triangles,
        }
    }

    #[test]
    fn spheres_are_nested_and_their_volumes_add_up() {
        let layers = spheres([0.1, 0.08, 0.05]);
        let found = layers.measures();
        assert_eq!((found.inverted_fat, found.inverted_muscle), (0, 0));
        assert_eq!((found.muscle_outside, found.skeleton_outside), (0, 0));
        assert!(found.alignment.largest < 1e-4);
        let whole = layers.skin_mesh().signed_volume();
        let sum = found.fat_volume + found.muscle_volume + found.inner_volume;
        assert!((sum / whole - 1.0).abs() < 1e-6, "{sum} {whole}");
        let tets = layers.tet_mesh();
        assert!(tets.check().is_ok() && tets.unsound(1e-3).is_empty());
        assert_eq!(tets.cells.len(), 2 * layers.triangles.len());
    }

    #[test]
    fn swapped_surfaces_are_seen() {
        let found = spheres([0.1, 0.05, 0.08]).measures();
        assert_eq!(found.inverted_fat, 0);
        assert_eq!(found.inverted_muscle, found.prisms);
        assert_eq!(found.skeleton_outside, found.layered);
        let turned = {
            let mut layers = spheres([0.1, 0.08, 0.05]);
            layers.skeleton.reverse();
            layers.measures()
        };
        assert!(turned.inverted_muscle > turned.prisms / 4 && turned.alignment.mean > 0.1);
    }

    #[test]
    fn layers_that_end_leave_flat_prisms_out() {
        let mut layers = spheres([0.1, 0.08, 0.05]);
        for v in 0..layers.skin.len() {
            if layers.skin[v].y > 0.0 {
                layers.layered[v] = false;
                layers.muscle[v] = layers.skin[v];
                layers.skeleton[v] = layers.skin[v];
            }
        }
        let found = layers.measures();
        assert_eq!(found.inverted_fat + found.inverted_muscle, 0);
        let tets = layers.tet_mesh();
        assert!(tets.unsound(1e-6).is_empty());
        let volume: f64 = tets.volumes().iter().sum();
        let expected = found.fat_volume + found.muscle_volume;
        assert!((volume / expected - 1.0).abs() < 1e-6);
    }

    #[test]
    fn prisms_agree_on_their_common_sides() {
        // The boundary of the tets over two triangles has no inner faces: 2 + 2 triangles and 4 sides of 2.
        let layers = Layers {
            triangles: vec![[0, 1, 2], [2, 1, 3]],
            skin: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE - Vec3::Z],
            muscle: [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE - Vec3::Z]
                .map(|p| p - Vec3::Z)
                .to_vec(),
            skeleton: [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE - Vec3::Z]
                .map(|p| p - 2.0 * Vec3::Z)
                .to_vec(),
            layered: vec![true; 4],
        };
        let tets = layers.tet_mesh();
        assert!(tets.volumes().iter().all(|v| (v - 1.0 / 6.0).abs() < 1e-12));
        assert_eq!(tets.boundary().triangles.len(), 2 + 2 + 2 * 8);
    }
}
