//! A tube bent by a formula: the exact solution to measure upsampling against.

use supple::flesh::upsampling::normal_displacement::{NormalDisplacement, Workspace};
use supple::flesh::upsampling::upsample::{NEIGHBOURS, Samples, Upsampling};
use supple::geom::TriMesh;
use supple::geom::decimate::{Decimated, Decimation, decimate};
use supple::geom::mls::Basis;
use supple::glam::Vec3;

use super::tube;

/// Start and end of the bend along the tube [m].
const BEND: [f32; 2] = [0.38, 0.62];

/// A fine tube along X and its evenly decimated mesh.
pub fn fine_and_coarse(around: u32, along: u32, target: usize) -> (TriMesh, Decimated) {
    let fine = tube(0.1, 1.0, around, along);
    let settings = Decimation {
        target,
        evenness: 0.1,
        ..Decimation::default()
    };
    let coarse = decimate(&fine, &settings);
    (fine, coarse)
}

/// Bends space around Z by an angle [rad] that grows linearly over the middle of the tube.
pub fn bent(angle: f32, p: Vec3) -> Vec3 {
    let [from, to] = BEND;
    let curvature = angle / (to - from);
    let turn = curvature * (p.x - from).clamp(0.0, to - from);
    let along = Vec3::new(turn.cos(), turn.sin(), 0.0);
    let across = Vec3::new(-turn.sin(), turn.cos(), 0.0);
    let arc = Vec3::new(turn.sin(), 1.0 - turn.cos(), 0.0) / curvature;
    let straight = p.x.min(from) * Vec3::X + (p.x - to).max(0.0) * along;
    straight + arc + p.y * across + p.z * Vec3::Z
}

/// A mesh with its vertices bent.
pub fn bent_mesh(angle: f32, mesh: &TriMesh) -> TriMesh {
    TriMesh {
        positions: mesh.positions.iter().map(|&p| bent(angle, p)).collect(),
        triangles: mesh.triangles.clone(),
    }
}

/// The fine mesh upsampled from the moved coarse one: by least squares, or (without a basis) by normal displacements.
pub fn carried(
    fine: &TriMesh,
    coarse: &Decimated,
    moved: &TriMesh,
    basis: Option<Basis>,
) -> TriMesh {
    let mut positions = vec![Vec3::ZERO; fine.positions.len()];
    let mut normals = positions.clone();
    match basis {
        Some(basis) => {
            let (kept, mesh) = (&coarse.kept, &coarse.mesh);
            let upsampling = Upsampling::new(fine, kept, mesh, NEIGHBOURS, basis);
            let samples = Samples::of(moved);
            upsampling.apply(&samples, &mut positions, &mut normals);
        }
        None => NormalDisplacement::new(fine, &coarse.mesh).apply(
            &moved.positions,
            &mut Workspace::default(),
            &mut positions,
            &mut normals,
        ),
    }
    TriMesh {
        positions,
        triangles: fine.triangles.clone(),
    }
}

/// Root mean square distance of two meshes' vertices [m].
pub fn rms(a: &TriMesh, b: &TriMesh) -> f32 {
    let squares = a.positions.iter().zip(&b.positions);
    let sum: f32 = squares.map(|(a, b)| a.distance_squared(*b)).sum();
    (sum / a.positions.len() as f32).sqrt()
}
