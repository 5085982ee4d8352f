//! A character's parts as one welded mesh in bind pose, split into shells (connected components).

use glam::DVec3;
use supple_geom::adjacency::NONE;
use supple_geom::bisection::bisection_order;
use supple_geom::shells::{Shells, shells};
use supple_geom::simd::LANES;
use supple_geom::tidy::{first_of_kind, turn_alike};
use supple_geom::weld::{Welded, weld};
use supple_geom::{Surface, TriMesh};
use supple_rig::Character;

use crate::FleshError;
use crate::construction::simulation_mesh::FULL_UP_TO;

/// Welding distance, relative to the character's size. Below, corners that a file rounds differently (half floats, few
/// digits) stay apart; above, eyelids and lips begin to close.
const WELD_DISTANCE: f64 = 1e-5;

/// All parts welded by position.
#[derive(Clone, Debug)]
pub struct Body {
    /// The welded mesh and its map from original vertices, parts one after another.
    pub welded: Welded,
    /// Connected components of the welded mesh.
    pub shells: Shells,
    /// First original vertex of each part, and the total at the end.
    pub starts: Vec<usize>,
    /// Largest side of the bounding box \[m\].
    pub size: f64,
}

impl Body {
    /// Welds the parts of a character where they lie in its bind pose.
    pub fn new(character: &Character) -> Result<Self, FleshError> {
        for part in &character.parts {
            part.mesh.check().map_err(|error| FleshError::BadPart {
                part: part.name.clone(),
                reason: error.to_string(),
            })?;
        }
        let meshes = character.bind_meshes();
        let mut starts = vec![0];
        for mesh in &meshes {
            starts.push(starts[starts.len() - 1] + mesh.positions.len());
        }
        let merged = TriMesh::merged(&meshes);
        if merged.triangles.is_empty() {
            return Err(FleshError::NoSkin {
                name: character.name.clone(),
            });
        }
        let doubles: Vec<DVec3> = merged.positions.iter().map(|p| p.as_dvec3()).collect();
        let size = crate::construction::rest_skin::size_of(&doubles);
        if size <= 0.0 {
            return Err(FleshError::NoSkin {
                name: character.name.clone(),
            });
        }
        let mut welded = weld(&merged, (WELD_DISTANCE * size) as f32);
        tidy(&mut welded);
        let shells = shells(&welded.mesh);
        if shells.count == 0 {
            return Err(FleshError::Scattered {
                name: character.name.clone(),
                size,
            });
        }
        Ok(Self {
            welded,
            shells,
            starts,
            size,
        })
    }

    /// Part and vertex of an original index.
    pub fn part_of(&self, original: usize) -> (usize, usize) {
        let part = self.starts.partition_point(|&start| start <= original) - 1;
        (part, original - self.starts[part])
    }

    /// Shell of a part's vertex, or `None` where it has no triangle.
    pub fn shell_of(&self, part: usize, vertex: usize) -> Option<usize> {
        let welded = self.welded.welded_from_original[self.starts[part] + vertex];
        let shell = self.shells.of_vertex[welded as usize];
        (shell != NONE).then_some(shell as usize)
    }

    /// One shell as a mesh of its own with outward normals, and the welded index of each of its vertices.
    pub fn shell_mesh(&self, shell: usize) -> (TriMesh, Vec<u32>) {
        self.shells_mesh(&|s| s == shell)
    }

    /// The chosen shells as one mesh with outward normals, and the welded index of each of its vertices.
    pub fn shells_mesh(&self, chosen: &dyn Fn(usize) -> bool) -> (TriMesh, Vec<u32>) {
        let mesh = &self.welded.mesh;
        let mut volumes = vec![0.0; self.shells.count];
        let corner = mesh.positions.first().map_or(DVec3::ZERO, |p| p.as_dvec3());
        for (t, &shell) in mesh.triangles.iter().zip(&self.shells.of_triangle) {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize].as_dvec3() - corner);
            volumes[shell as usize] += a.dot(b.cross(c));
        }
        let mut new_index = vec![NONE; mesh.positions.len()];
        let mut result = TriMesh::default();
        let mut welded = Vec::new();
        for (t, &shell) in mesh.triangles.iter().zip(&self.shells.of_triangle) {
            if !chosen(shell as usize) {
                continue;
            }
            let mut corners = t.map(|v| {
                let slot = &mut new_index[v as usize];
                if *slot == NONE {
                    *slot = welded.len() as u32;
                    welded.push(v);
                    result.positions.push(mesh.positions[v as usize]);
                }
                *slot
            });
            if volumes[shell as usize] < 0.0 {
                corners.swap(1, 2);
            }
            result.triangles.push(corners);
        }
        (result, welded)
    }

    /// The same, with the vertices of large meshes reordered so that vertices upsampled in one group are close in space.
    pub fn ordered_shells_mesh(&self, chosen: &dyn Fn(usize) -> bool) -> (TriMesh, Vec<u32>) {
        let (mesh, welded) = self.shells_mesh(chosen);
        if mesh.positions.len() <= FULL_UP_TO {
            return (mesh, welded);
        }
        let order = bisection_order(&mesh.positions, LANES);
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let ordered = TriMesh {
            positions: order.iter().map(|&v| mesh.positions[v as usize]).collect(),
            triangles: (mesh.triangles.iter())
                .map(|t| t.map(|v| place[v as usize]))
                .collect(),
        };
        (ordered, order.iter().map(|&v| welded[v as usize]).collect())
    }

    /// Chosen shells as one surface.
    pub fn surface(&self, chosen: &dyn Fn(usize) -> bool) -> Surface {
        Surface::new(self.shells_mesh(chosen).0)
    }
}

/// Drops duplicate triangles and makes the orientation of neighbours consistent.
fn tidy(welded: &mut Welded) {
    let first = first_of_kind(&welded.mesh);
    let mut keep = first.iter();
    welded.mesh.triangles.retain(|_| keep.next() == Some(&true));
    let mut keep = first.iter();
    (welded.original_triangle).retain(|_| keep.next() == Some(&true));
    welded.dropped_triangles += first.iter().filter(|&&first| !first).count();
    turn_alike(&mut welded.mesh);
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use supple_geom::shapes::icosphere;
    use supple_rig::Part;

    use super::*;

    fn body(mesh: TriMesh) -> Result<Body, FleshError> {
        Body::new(&Character {
            parts: vec![Part {
                mesh,
                ..Part::default()
            }],
            ..Character::default()
        })
    }

    #[test]
    fn triangle_soup_welds_to_the_original_ball() {
        let ball = icosphere(1.0, 3);
        let mut soup = TriMesh::default();
        for (t, _) in ball.triangles.iter().enumerate() {
            // Corners off by rounding, some triangles flipped, some duplicated.
            let shift = Vec3::new(3e-6, -2e-6, 2e-6) * (t % 3) as f32;
            let mut corners = ball.corners(t).map(|corner| corner + shift);
            if t % 5 == 0 {
                corners.swap(0, 1);
            }
            for _ in 0..1 + usize::from(t % 7 == 0) {
                let first = soup.positions.len() as u32;
                soup.positions.extend(corners);
                soup.triangles.push([first, first + 1, first + 2]);
            }
        }
        let (clean, tidied) = (body(ball).unwrap(), body(soup).unwrap());
        assert_eq!(tidied.shells.count, 1);
        assert_eq!(
            tidied.welded.mesh.triangles.len(),
            clean.welded.mesh.triangles.len()
        );
        assert_eq!(
            tidied.welded.original_triangle.len(),
            tidied.welded.mesh.triangles.len()
        );
        let volume = |body: &Body| body.shell_mesh(0).0.signed_volume();
        assert!((volume(&tidied) / volume(&clean) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn a_distant_vertex_is_reported() {
        let mut ball = icosphere(1.0, 2);
        ball.positions[7] = Vec3::X * 1e7;
        let message = body(ball).unwrap_err().to_string();
        assert!(message.contains("far away"), "{message}");
    }
}
