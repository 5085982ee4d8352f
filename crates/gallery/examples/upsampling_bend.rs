//! Normal displacements against moving least squares (figure 3.10) on a tube bent by a formula. With normal displacements a skin vertex
//! follows a single coarse triangle, and the bend shows facets; with least squares it is interpolated from twenty vertices.

mod common;

use common::RED;
use common::bend::{bent_mesh, carried, fine_and_coarse, rms};
use supple::geom::mls::Basis;
use supple::geom::normals::face_normals;
use supple::geom::{Adjacency, TriMesh};
use supple::glam::{Vec3, vec3};
use supple_picture::{Camera, DrawMesh, Image, Line, Wire};

const ANGLE: f32 = 1.9;

fn main() {
    let (fine, coarse) = fine_and_coarse(48, 150, 260);
    let (truth, moved) = (bent_mesh(ANGLE, &fine), bent_mesh(ANGLE, &coarse.mesh));
    let ways = [None, Some(Basis::Quadratic)].map(|basis| carried(&fine, &coarse, &moved, basis));
    let errors = ways.each_ref().map(|way| 1000.0 * rms(way, &truth));
    let kinks = [&ways[0], &ways[1], &truth].map(largest_kink);

    let rest = common::view(&[vec3(0.2, -0.2, 0.0), vec3(0.8, 0.2, 0.0)], Vec3::Z);
    let around: Vec<Vec3> = [vec3(0.36, -0.13, 0.0), vec3(0.68, 0.25, 0.0)].into();
    let camera = common::view(&around, Vec3::Z);
    let tiles = [
        (
            draw(&fine, &coarse.mesh, &rest),
            "at rest: simulated (red) and shown".to_owned(),
        ),
        (
            draw(&ways[0], &moved, &camera),
            format!(
                "normal displacements: RMS {:.2} mm, kinks {:.0}°",
                errors[0], kinks[0]
            ),
        ),
        (
            draw(&ways[1], &moved, &camera),
            format!(
                "least squares: RMS {:.2} mm, kinks {:.0}°",
                errors[1], kinks[1]
            ),
        ),
    ];
    let sheet = common::sheet("Above one triangle, or among twenty vertices", &tiles, 3);
    common::save("upsampling_bend", &sheet);
    println!(
        "RMS [mm]: normals {:.3}, quadratic {:.3}",
        errors[0], errors[1]
    );
    println!(
        "largest kink: normals {:.1}°, quadratic {:.1}°, exact {:.1}°",
        kinks[0], kinks[1], kinks[2]
    );
    assert!(
        errors[1] < 0.5 * errors[0],
        "quadratic least squares are closer"
    );
    assert!(kinks[1] < 0.6 * kinks[0], "and smoother");
}

fn draw(shown: &TriMesh, simulated: &TriMesh, camera: &Camera) -> Image {
    let mut skin = DrawMesh::owned(shown.clone());
    skin.wire = Some(Wire {
        width: 0.5,
        opacity: 0.25,
        ..Wire::default()
    });
    let lines = Adjacency::new(simulated).edges.into_iter().map(|edge| {
        let [from, to] = edge.map(|v| simulated.positions[v as usize]);
        Line {
            from,
            to,
            colour: RED,
            width: 1.5,
            on_top: false,
        }
    });
    common::tile(vec![skin], lines.collect(), camera)
}

/// Largest angle between neighbouring triangles around the bend [°].
fn largest_kink(mesh: &TriMesh) -> f32 {
    let normals = face_normals(mesh);
    let adjacency = Adjacency::new(mesh);
    let inside = |t: u32| {
        let [a, b, c] = mesh.corners(t as usize);
        let centre = (a + b + c) / 3.0;
        (0.2..0.9).contains(&centre.x) && centre.y < 0.5
    };
    (adjacency.edge_triangles.iter())
        .filter(|pair| pair.len() == 2 && pair.iter().all(|&t| inside(t)))
        .map(|pair| {
            normals[pair[0] as usize]
                .angle_between(normals[pair[1] as usize])
                .to_degrees()
        })
        .fold(0.0, f32::max)
}
