//! Making one bone a closed surface whose outside is outside.

use glam::Vec3;
use supple_geom::adjacency::NONE;
use supple_geom::boundary::boundary_loops;
use supple_geom::solid::solid;
use supple_geom::surface_nets::project_onto;
use supple_geom::tidy::{first_of_kind, turn_alike};
use supple_geom::weld::weld;
use supple_geom::{Adjacency, Surface, TriMesh};

/// What was done to a bone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tidied {
    /// Nothing: it was closed.
    Closed,
    /// Holes were filled.
    Filled {
        /// How many.
        holes: usize,
    },
    /// It was wrapped anew.
    Wrapped,
}

/// Cells along a bone's longest side where it is wrapped: fewer lose thin plates, more keep slits open.
const WRAP_CELLS: f32 = 40.0;
/// Share of edges without exactly two triangles up to which a bone is left as it is once its holes are filled. Doubled
/// flaps inside a bone are harmless to winding numbers; a soup is not.
const BAD_EDGE_SHARE: f64 = 0.01;
/// Rounds of dropping flaps and of filling: each may bare the next.
const FILL_ROUNDS: usize = 8;

/// Welds, orients, fills holes, and wraps what stays open. `None` if there is nothing to enclose.
pub(super) fn closed_bone(mesh: &TriMesh) -> Option<(TriMesh, Tidied)> {
    let mut mesh = without_unreferenced(&welded(mesh));
    if mesh.triangles.len() < 4 {
        return None;
    }
    turn_alike(&mut mesh);
    let mut tidied = Tidied::Closed;
    let adjacency = Adjacency::new(&mesh);
    if !adjacency.is_closed_and_oriented(&mesh) {
        drop_flaps(&mut mesh);
        let mut holes = 0;
        for _ in 0..FILL_ROUNDS {
            let adjacency = Adjacency::new(&mesh);
            if adjacency.boundary_edges().next().is_none() {
                break;
            }
            holes += fill_holes(&mut mesh, &adjacency);
        }
        turn_alike(&mut mesh);
        tidied = Tidied::Filled { holes };
        let adjacency = Adjacency::new(&mesh);
        let open = adjacency.boundary_edges().count();
        let bad = open + adjacency.non_manifold_edges().count();
        if open > 0 || bad as f64 > BAD_EDGE_SHARE * adjacency.edges.len() as f64 {
            mesh = wrapped(&mesh)?;
            tidied = Tidied::Wrapped;
        }
    }
    if mesh.signed_volume() < 0.0 {
        mesh.flip();
    }
    (mesh.signed_volume() > 0.0).then_some((mesh, tidied))
}

/// Drops triangles that hang on a closed surface by an edge it already has.
fn drop_flaps(mesh: &mut TriMesh) {
    for _ in 0..FILL_ROUNDS {
        let adjacency = Adjacency::new(mesh);
        let sharing = |edge: u32| match edge {
            NONE => 0,
            edge => adjacency.edge_triangles.row(edge as usize).len(),
        };
        let is_flap = |edges: &[u32; 3]| {
            edges.iter().any(|&edge| sharing(edge) > 2)
                && edges.iter().any(|&edge| sharing(edge) <= 1)
        };
        let flaps: Vec<bool> = adjacency.triangle_edges.iter().map(is_flap).collect();
        if !flaps.contains(&true) {
            break;
        }
        let mut flaps = flaps.iter();
        mesh.triangles.retain(|_| !flaps.next().unwrap_or(&false));
    }
}

fn welded(mesh: &TriMesh) -> TriMesh {
    let mut mesh = weld(mesh, 0.0).mesh;
    let keep = first_of_kind(&mesh);
    let mut keep = keep.iter();
    mesh.triangles.retain(|_| *keep.next().unwrap_or(&true));
    mesh
}

fn without_unreferenced(mesh: &TriMesh) -> TriMesh {
    let finite = |t: &u32| (mesh.corners(*t as usize).iter()).all(|corner| corner.is_finite());
    mesh.extract((0..mesh.triangles.len() as u32).filter(finite))
        .mesh
}

/// Fills each closed rim with a fan about its middle; returns how many.
fn fill_holes(mesh: &mut TriMesh, adjacency: &Adjacency) -> usize {
    let rims = boundary_loops(mesh, adjacency);
    let mut filled = 0;
    for rim in rims.iter().filter(|rim| rim.closed) {
        let n = rim.vertices.len();
        let at = |k: usize| rim.vertices[k % n];
        if n == 3 {
            mesh.triangles.push([at(1), at(0), at(2)]);
        } else {
            let sum: Vec3 = (0..n).map(|k| mesh.positions[at(k) as usize]).sum();
            let middle = mesh.positions.len() as u32;
            mesh.positions.push(sum / n as f32);
            (0..n).for_each(|k| mesh.triangles.push([at(k + 1), at(k), middle]));
        }
        filled += 1;
    }
    filled
}

/// The surface of everything the mesh encloses, drawn back onto it.
fn wrapped(mesh: &TriMesh) -> Option<TriMesh> {
    let cell = mesh.bounds().size().max_element() / WRAP_CELLS;
    let mut wrap = solid(mesh, cell);
    if wrap.triangles.is_empty() {
        return None;
    }
    let surface = Surface::new(mesh.clone());
    let hull = Surface::new(wrap.clone());
    project_onto(&mut wrap, |point| {
        let point = point.as_vec3();
        let distance = surface.closest_point_within(point, 4.0 * cell);
        let inside = if hull.contains(point) { -1.0 } else { 1.0 };
        distance.map_or(inside * f64::from(cell), |found| {
            f64::from(found.distance) - 0.25 * f64::from(cell)
        })
    });
    Some(wrap)
}

/// The mirror image across x = 0.
pub(super) fn mirrored(mesh: &TriMesh) -> TriMesh {
    let mut mesh = mesh.clone();
    (mesh.positions.iter_mut()).for_each(|p| p.x = -p.x);
    mesh.flip();
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes;

    #[test]
    fn holes_are_filled_and_insides_turned_out() {
        let sphere = shapes::icosphere(0.05, 3);
        let whole = sphere.signed_volume();
        let mut open = sphere.clone();
        open.triangles.drain(10..14);
        open.flip();
        let (closed, tidied) = closed_bone(&open).unwrap();
        assert!(matches!(tidied, Tidied::Filled { .. }));
        assert!(Adjacency::new(&closed).is_closed_and_oriented(&closed));
        assert!((closed.signed_volume() / whole - 1.0).abs() < 0.02);
        assert_eq!(closed_bone(&sphere).unwrap().1, Tidied::Closed);
    }

    #[test]
    fn a_soup_is_wrapped_and_nothing_is_none() {
        let mut soup = TriMesh::default();
        let sphere = shapes::icosphere(0.05, 3);
        for t in (0..sphere.triangles.len()).filter(|t| t % 17 != 0) {
            let first = soup.positions.len() as u32;
            let corners = sphere.corners(t);
            soup.positions
                .extend(corners.map(|c| c * (1.0 + 0.01 * (t % 3) as f32)));
            soup.triangles.push([first, first + 1, first + 2]);
        }
        let (closed, tidied) = closed_bone(&soup).unwrap();
        assert_eq!(tidied, Tidied::Wrapped);
        assert!((closed.signed_volume() / sphere.signed_volume() - 1.0).abs() < 0.25);
        assert!(closed_bone(&TriMesh::default()).is_none());
    }
}
