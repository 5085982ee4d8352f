//! Very few simulated vertices (figure 3.12): with quadratic least squares a fine skin stays smooth in a bend of a handful of coarse
//! triangles and keeps its volume; linear ones flatten it.

mod common;

use common::bend::{bent_mesh, carried, fine_and_coarse, rms};
use supple::geom::TriMesh;
use supple::geom::mls::Basis;
use supple::glam::vec3;
use supple_picture::{Camera, DrawMesh, Image, Wire};

const ANGLE: f32 = 1.5;

fn main() {
    let (fine, coarse) = fine_and_coarse(96, 300, 90);
    let (truth, moved) = (bent_mesh(ANGLE, &fine), bent_mesh(ANGLE, &coarse.mesh));
    let [quadratic, linear] =
        [Basis::Quadratic, Basis::Linear].map(|basis| carried(&fine, &coarse, &moved, Some(basis)));
    let share = |mesh: &TriMesh| 100.0 * mesh.signed_volume() / truth.signed_volume();
    let shares = [&moved, &quadratic, &linear].map(share);
    let errors = [&quadratic, &linear].map(|mesh| 1000.0 * rms(mesh, &truth));

    let corners = [vec3(0.2, -0.15, 0.0), vec3(0.7, 0.5, 0.0)];
    let camera = common::view(&corners, vec3(0.1, 0.2, 1.0));
    let tiles = [
        (
            draw(&moved, true, &camera),
            format!(
                "{} vertices: {:.0} % of the volume",
                moved.positions.len(),
                shares[0]
            ),
        ),
        (
            draw(&quadratic, false, &camera),
            format!(
                "quadratic, {}: {:.1} %, RMS {:.2} mm",
                fine.positions.len(),
                shares[1],
                errors[0]
            ),
        ),
        (
            draw(&linear, false, &camera),
            format!("linear: {:.1} %, RMS {:.2} mm", shares[2], errors[1]),
        ),
    ];
    let sheet = common::sheet("A smooth skin from few vertices", &tiles, 3);
    common::save("upsampling_coarse", &sheet);
    println!(
        "volume [%]: coarse {:.1}, quadratic {:.2}, linear {:.2}",
        shares[0], shares[1], shares[2]
    );
    println!(
        "RMS [mm]: quadratic {:.2}, linear {:.2}",
        errors[0], errors[1]
    );
    assert!(
        (shares[1] - 100.0).abs() < 2.0,
        "quadratic keeps the volume"
    );
    assert!(
        (shares[1] - 100.0).abs() < 0.5 * (shares[2] - 100.0).abs(),
        "linear does not"
    );
    assert!(errors[0] < 0.8 * errors[1]);
}

fn draw(mesh: &TriMesh, wire: bool, camera: &Camera) -> Image {
    let mut drawn = DrawMesh::owned(mesh.clone());
    drawn.wire = wire.then(|| Wire {
        width: 1.0,
        opacity: 0.5,
        ..Wire::default()
    });
    common::tile(vec![drawn], vec![], camera)
}
