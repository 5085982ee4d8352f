//! A character as arrays for rendering: all parts concatenated, in the file's vertex order.

use serde::Serialize;
use supple::Character;
use supple::geom::TriMesh;
use supple::geom::weld::weld;
use supple::glam::Vec3;

/// Cosine between the file's normals above which coincident vertices share a normal. With a lower value hard edges become smooth;
/// with a higher one texture seams show.
const MIN_SHARED_COSINE: f32 = 0.7;

/// A part within the arrays.
#[derive(Clone, Debug, Serialize)]
pub struct PartRange {
    /// Name in the file.
    pub name: String,
    /// First vertex.
    pub first_vertex: usize,
    /// Number of vertices.
    pub vertices: usize,
    /// First entry in the index list.
    pub first_index: usize,
    /// Number of indices: three per triangle.
    pub indices: usize,
    /// Index into the materials.
    pub material: Option<usize>,
}

/// Arrays that do not change while a character moves.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// Parts within the arrays.
    pub parts: Vec<PartRange>,
    /// Corners of all triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates; zero where a part has none.
    pub uvs: Vec<f32>,
    /// Positions in bind pose \[m\].
    pub rest: Vec<Vec3>,
    /// Vertices with the same number share a normal.
    shares: Vec<u32>,
    sums: Vec<Vec3>,
}

impl Looks {
    /// Concatenates a character's parts.
    pub fn new(character: &Character) -> Self {
        let meshes = character.bind_meshes();
        let mut looks = Self::default();
        for (part, mesh) in character.parts.iter().zip(&meshes) {
            looks.parts.push(PartRange {
                name: part.name.clone(),
                first_vertex: looks.uvs.len() / 2,
                vertices: mesh.positions.len(),
                first_index: looks.parts.last().map_or(0, |p| p.first_index + p.indices),
                indices: 3 * mesh.triangles.len(),
                material: part.material,
            });
            for vertex in 0..mesh.positions.len() {
                let uv = part.uvs.get(vertex).copied().unwrap_or_default();
                looks.uvs.extend([uv.x, uv.y]);
            }
        }
        let whole = TriMesh::merged(&meshes);
        looks.shares = normal_shares(character, &whole);
        looks.sums = vec![Vec3::ZERO; looks.shares.len()];
        looks.triangles = whole.triangles;
        looks.rest = whole.positions;
        looks
    }

    /// Number of vertices of all parts.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// Smooth normals of moved positions, three numbers per vertex.
    pub fn normals(&mut self, positions: &[f32], normals: &mut Vec<f32>) {
        self.sums.fill(Vec3::ZERO);
        let at = |v: u32| Vec3::from_slice(&positions[3 * v as usize..]);
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(at);
            let area = (b - a).cross(c - a);
            for &v in triangle {
                self.sums[self.shares[v as usize] as usize] += area;
            }
        }
        for sum in &mut self.sums {
            *sum = sum.normalize_or(Vec3::Y);
        }
        normals.clear();
        normals
            .extend((self.shares.iter()).flat_map(|&share| self.sums[share as usize].to_array()));
    }

    /// Mean logarithmic strain (base 2) of the edges at each vertex: 0 at rest, 1 at twice and −1 at half the length.
    pub fn strains(&mut self, positions: &[f32], strains: &mut Vec<f32>) {
        self.sums.fill(Vec3::ZERO);
        let at = |v: u32| Vec3::from_slice(&positions[3 * v as usize..]);
        for triangle in &self.triangles {
            for k in 0..3 {
                let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                let rest = self.rest[a as usize].distance(self.rest[b as usize]);
                let now = at(a).distance(at(b));
                if rest > 0.0 && now > 0.0 {
                    let strain = Vec3::new((now / rest).log2(), 1.0, 0.0);
                    self.sums[self.shares[a as usize] as usize] += strain;
                    self.sums[self.shares[b as usize] as usize] += strain;
                }
            }
        }
        strains.clear();
        strains.extend((self.shares.iter()).map(|&share| {
            let sum = self.sums[share as usize];
            sum.x / sum.y.max(1.0)
        }));
    }
}

/// Groups of coincident vertices that share a normal, unless the file's normals differ.
fn normal_shares(character: &Character, whole: &TriMesh) -> Vec<u32> {
    let welded = weld(whole, 0.0);
    let normals: Vec<Vec3> = (character.parts.iter())
        .flat_map(|part| {
            let none = part.normals.len() != part.mesh.positions.len();
            (0..part.mesh.positions.len()).map(move |vertex| {
                if none {
                    Vec3::ZERO
                } else {
                    part.normals[vertex]
                }
            })
        })
        .collect();
    (0..whole.positions.len() as u32)
        .map(|vertex| {
            let place = welded.welded_from_original[vertex as usize];
            let first = welded.original_from_welded[place as usize];
            let (own, others) = (normals[vertex as usize], normals[first as usize]);
            let agree =
                own == Vec3::ZERO || others == Vec3::ZERO || own.dot(others) > MIN_SHARED_COSINE;
            if agree { first } else { vertex }
        })
        .collect()
}
