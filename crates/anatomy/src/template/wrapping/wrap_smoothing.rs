//! Smoothing of the skeleton wrap: the lattice's stairs go, bones stay inside and the skin outside.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::adjacency::{Adjacency, Rows};
use supple_geom::sided::SidedSurface;

/// How far the wrap stays off bones \[m\].
const OFF_BONES: f32 = 0.001;

/// How far below the skin it stays; beats the distance to bones \[m\].
const BELOW_SKIN: f32 = 0.0025;

/// Smoothing: rounds of steps, each round followed by moving vertices off bones and below the skin.
const ROUNDS: usize = 4;
const STEPS: usize = 4;

/// Smooths the stairs of cells of a size \[m\] away, and keeps vertices off bones and below the skin.
pub fn smooth_wrap(mesh: &mut TriMesh, cell: f32, bones: &SidedSurface, skin: &SidedSurface) {
    let ring = Adjacency::new(mesh).vertex_vertices;
    let start = mesh.positions.clone();
    let reach = 1.5 * cell;
    for _ in 0..ROUNDS {
        (0..STEPS).for_each(|_| relax(mesh, &ring, 0.5));
        (mesh.positions.par_iter_mut().zip(&start)).for_each(|(p, start)| {
            *p = *start + (*p - *start).clamp_length_max(reach);
            *p = below_skin(off_bones(*p, bones, 2.0 * cell), skin, 3.0 * cell);
        });
    }
    // Tips of bones still poke out between vertices.
    for _ in 0..ROUNDS {
        relax(mesh, &ring, 0.1);
        push_over(mesh, cell, &bones.surface().mesh().positions);
        (mesh.positions.par_iter_mut()).for_each(|p| *p = below_skin(*p, skin, 3.0 * cell));
    }
}

/// Moves vertices towards the middle of their neighbours.
fn relax(mesh: &mut TriMesh, ring: &Rows, share: f64) {
    let old = &mesh.positions;
    mesh.positions = (ring.iter().zip(old))
        .map(|(ring, p)| {
            let sum: DVec3 = ring.iter().map(|&v| old[v as usize].as_dvec3()).sum();
            let middle = sum / ring.len().max(1) as f64;
            p.as_dvec3().lerp(middle, share).as_vec3()
        })
        .collect();
}

/// Moves triangles outwards over points that poke out or nearly do.
fn push_over(mesh: &mut TriMesh, cell: f32, points: &[Vec3]) {
    let surface = SidedSurface::new(mesh.clone());
    let pushes: Vec<([u32; 3], Vec3)> = (points.par_iter())
        .filter_map(|point| {
            let near = surface.near(*point, 2.0 * cell)?;
            let missing = near.signed + 0.5 * OFF_BONES;
            let corners = mesh.triangles[near.closest.triangle as usize];
            (missing > 0.0).then_some((corners, missing * near.normal))
        })
        .collect();
    let mut longest = vec![Vec3::ZERO; mesh.positions.len()];
    for (corners, push) in pushes {
        for v in corners.map(|v| v as usize) {
            if push.length_squared() > longest[v].length_squared() {
                longest[v] = push;
            }
        }
    }
    for (p, push) in mesh.positions.iter_mut().zip(longest) {
        *p += push;
    }
}

fn off_bones(p: Vec3, bones: &SidedSurface, reach: f32) -> Vec3 {
    match bones.near(p, reach) {
        Some(near) if near.signed < OFF_BONES => {
            let out = near.signed.signum() * (p - near.closest.position);
            near.closest.position + OFF_BONES * out.normalize_or(near.normal)
        }
        _ => p,
    }
}

fn below_skin(p: Vec3, skin: &SidedSurface, reach: f32) -> Vec3 {
    match skin.near(p, reach) {
        Some(near) if near.signed > -BELOW_SKIN => {
            let inward = -near.signed.signum() * (p - near.closest.position);
            near.closest.position + BELOW_SKIN * inward.normalize_or(-near.normal)
        }
        _ => p,
    }
}
