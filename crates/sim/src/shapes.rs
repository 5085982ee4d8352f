//! Procedural tet meshes for tests and examples.

use glam::Vec3;
use supple_geom::TetMesh;

/// A box of `cells` cubes with edge `size` \[m\] from the origin, each cube cut into six tets around its diagonal (Kuhn),
/// which conforms across cubes.
pub fn bar(cells: [usize; 3], size: f32) -> TetMesh {
    let [nx, ny, nz] = cells;
    let index = |i: usize, j: usize, k: usize| ((i * (ny + 1) + j) * (nz + 1) + k) as u32;
    let mut mesh = TetMesh::default();
    for i in 0..=nx {
        for j in 0..=ny {
            for k in 0..=nz {
                mesh.positions
                    .push(Vec3::new(i as f32, j as f32, k as f32) * size);
            }
        }
    }
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let first = mesh.tets.len() as u32;
                mesh.tets
                    .extend(kuhn_tets(|[a, b, c]| index(i + a, j + b, k + c)));
                mesh.cells.push((first..first + 6).collect());
            }
        }
    }
    mesh
}

/// The six tets of a cube: one for every order in which the three axes can be walked from corner 000 to 111.
fn kuhn_tets(corner: impl Fn([usize; 3]) -> u32) -> [[u32; 4]; 6] {
    let orders = [
        ([0, 1, 2], false),
        ([1, 2, 0], false),
        ([2, 0, 1], false),
        ([0, 2, 1], true),
        ([2, 1, 0], true),
        ([1, 0, 2], true),
    ];
    orders.map(|(axes, odd)| {
        let mut at = [0; 3];
        let mut path = [corner(at); 4];
        for (step, axis) in axes.into_iter().enumerate() {
            at[axis] = 1;
            path[step + 1] = corner(at);
        }
        if odd {
            path.swap(2, 3);
        }
        path
    })
}

/// A layer of prisms over an `n` × `n` grid of squares with edge `size`, `height` thick: the shape of tissue on bone.
/// The first (n+1)² vertices are the lower surface, the others the upper; three tets a prism, in `cells`.
pub fn prism_layer(n: usize, size: f32, height: f32) -> TetMesh {
    let side = n + 1;
    let mut mesh = TetMesh::default();
    for y in [0.0, height] {
        for i in 0..side {
            for k in 0..side {
                mesh.positions
                    .push(Vec3::new(i as f32 * size, y, k as f32 * size));
            }
        }
    }
    let over = (side * side) as u32;
    let index = |i: usize, k: usize| (i * side + k) as u32;
    for i in 0..n {
        for k in 0..n {
            let [a, b, c, d] = [
                index(i, k),
                index(i, k + 1),
                index(i + 1, k + 1),
                index(i + 1, k),
            ];
            for triangle in [[a, b, c], [a, c, d]] {
                push_prism(&mut mesh, triangle, over);
            }
        }
    }
    mesh
}

/// Splits a prism by ascending vertex number, which agrees with the neighbours.
fn push_prism(mesh: &mut TetMesh, mut triangle: [u32; 3], over: u32) {
    triangle.sort_unstable();
    let [a, b, c] = triangle;
    let first = mesh.tets.len() as u32;
    for tet in [
        [a, b, c, c + over],
        [a, b, c + over, b + over],
        [a, b + over, c + over, a + over],
    ] {
        mesh.tets.push(oriented(tet, &mesh.positions));
    }
    mesh.cells.push((first..first + 3).collect());
}

fn oriented(tet: [u32; 4], positions: &[Vec3]) -> [u32; 4] {
    let [a, b, c, d] = tet.map(|v| positions[v as usize]);
    if (b - a).cross(c - a).dot(d - a) < 0.0 {
        [tet[0], tet[1], tet[3], tet[2]]
    } else {
        tet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tets_are_positive_and_fill_the_shape() {
        let bar = bar([3, 2, 1], 0.5);
        assert!(bar.unsound(0.0).is_empty());
        assert!((bar.volumes().iter().sum::<f64>() - 6.0 * 0.125).abs() < 1e-5);
        let layer = prism_layer(4, 0.1, 0.05);
        assert!(layer.unsound(0.0).is_empty());
        assert!((layer.volumes().iter().sum::<f64>() - 0.16 * 0.05).abs() < 1e-6);
        assert_eq!(layer.cells.len() * 3, layer.tets.len());
        // Cells fit together: only the surface of a box remains.
        let surface = |mesh: &TetMesh| mesh.boundary().area();
        assert!((surface(&bar) - 2.0 * 0.25 * (6.0 + 3.0 + 2.0)).abs() < 1e-5);
        assert!((surface(&layer) - 2.0 * 0.16 - 4.0 * 0.4 * 0.05).abs() < 1e-6);
    }
}
