//! The skeleton wrap W: one smooth surface of genus 0 around all bones [4.2.2].
//!
//! The thesis makes it by hand in a modelling program. Here bones are drawn into a lattice and closed with a ball a group at a
//! time, since one radius for all either leaves the rib cage hollow or joins arms and trunk. What handles, cavities and
//! loose parts are left is mended by carving a block down to the bones without changing its topology
//! ([`supple_geom::carve`]). The surface between filled and empty cells is smoothed, off the bones and below the skin.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::adjacency::{Adjacency, Rows};
use supple_geom::carve::carved_ball;
use supple_geom::sided::SidedSurface;
use supple_geom::surface_nets::voxel_net;
use supple_geom::voxels::Voxels;
use supple_geom::{Aabb, Surface, TriMesh};

use crate::Bone;
use crate::template::slice_hulls::fill_slice_hulls;

/// Side of a cell \[m\]. At 6 mm ribs and fibulae are two cells thick and the wrap looks it; 3 mm takes twice the time, and
/// the skeleton surface, whose edges are 15 mm long, does not see the difference.
const CELL: f64 = 0.004;

/// Closing after that of the groups \[m\]: joins the groups smoothly. From 20 mm on arms grow webs at the arm pits.
const LAST_CLOSING: f64 = 0.012;

/// Depth below the skin beyond which cells are cut off, unless a bone is there \[m\].
const CUT_DEPTH: f32 = 0.005;

/// Membranes and threads that carving leaves are one cell thick and get this radius \[m\].
const SEAM_RADIUS: f64 = 0.008;

/// How far the wrap stays off bones \[m\].
const OFF_BONES: f32 = 0.001;

/// How far below the skin it stays; beats the distance to bones \[m\].
const BELOW_SKIN: f32 = 0.0025;

/// Smoothing: rounds of steps, each round followed by moving vertices off bones and below the skin.
const ROUNDS: usize = 4;
const STEPS: usize = 4;

/// Longest side of the bones' box that is taken for a body \[m\].
const LARGEST: f32 = 4.0;

/// Bones that are closed together, by the beginnings of their names; the first row that fits counts. `None`: left out, they
/// lie where the body is not layered.
#[rustfmt::skip]
const GROUPS: &[(&str, Option<f64>, &[&str])] = &[
    ("fingers", None,        &["index", "middle", "ring", "little", "thumb", "toe"]),
    ("thorax",  Some(0.030), &["rib", "sternum", "vertebra_T"]),
    ("pelvis",  Some(0.050), &["pelvis", "sacrum", "coccyx", "vertebra_L5"]),
    ("head",    Some(0.040), &["skull", "mandible", "hyoid", "vertebra_C1", "vertebra_C2"]),
    ("leg",     Some(0.020), &["femur", "tibia", "fibula", "patella", "talus"]),
    ("forearm", Some(0.020), &["radius", "ulna"]),
    ("foot",    Some(0.015), &["calcaneus", "cuboid", "cuneiform", "navicular", "metatarsal"]),
    ("girdle",  Some(0.020), &["scapula", "clavicle", "humerus"]),
    ("spine",   Some(0.015), &["vertebra"]),
    ("hand",    Some(0.012), &[""]),
];

/// Groups where the body is not layered.
const UNLAYERED: [&str; 2] = ["head", "hand"];

/// The group whose slices are filled to their hulls: closing alone leaves the rib cage hollow.
const HULL_GROUP: &str = "thorax";

/// A wrap.
#[derive(Clone, Debug, Default)]
pub struct Wrap {
    /// Its surface \[m\].
    pub mesh: TriMesh,
    /// What holds of it.
    pub measures: WrapMeasures,
}

/// Measures of a wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct WrapMeasures {
    /// Handles left: 0.
    pub genus: i64,
    /// Share of the vertices of the wrapped bones that are inside; head and hands, which are not layered, are excepted.
    pub bones_inside: f64,
    /// How far the farthest of them is outside \[m\].
    pub bones_farthest: f32,
    /// Vertices of the wrap outside the skin.
    pub outside_skin: usize,
    /// Enclosed volume \[m³\].
    pub volume: f64,
    /// Volume of the membranes and threads that were needed for genus 0 \[m³\].
    pub mended: f64,
}

/// Why there is no wrap.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WrapError {
    /// Nothing to wrap.
    #[error("there are no bones to wrap; give bones named like femur_l, rib03_r, vertebra_T4")]
    NoBones,
    /// Not metres, or far from the body.
    #[error(
        "the bones span {size:.1} m; place them in the body first, in metres, and check '{farthest}'"
    )]
    TooLarge {
        /// Longest side of their box \[m\].
        size: f32,
        /// The bone farthest from the middle.
        farthest: String,
    },
}

/// The group of a bone: its row in the table and its side.
fn group(name: &str) -> Option<(usize, &str)> {
    let fits = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let row = GROUPS.iter().position(|(_, _, prefixes)| fits(prefixes))?;
    let side = ["_l", "_r"].into_iter().find(|side| name.ends_with(side));
    GROUPS[row].1.map(|_| (row, side.unwrap_or("")))
}

/// Whether a bone is enclosed by the wrap; those of fingers and toes are not.
pub fn is_wrapped(name: &str) -> bool {
    group(name).is_some()
}

/// Wraps placed bones below a skin.
pub fn skeleton_wrap(bones: &[Bone], skin: &Surface) -> Result<Wrap, WrapError> {
    let wrapped: Vec<&Bone> = (bones.iter())
        .filter(|bone| is_wrapped(&bone.name) && !bone.mesh.triangles.is_empty())
        .collect();
    let all = TriMesh::merged(wrapped.iter().map(|bone| &bone.mesh));
    check_size(&wrapped, all.bounds())?;
    let mut solid = Voxels::over(all.bounds(), CELL, (LAST_CLOSING / CELL) as usize + 3);
    let mut bone_cells = solid.clone();
    draw_groups(&wrapped, &mut solid, &mut bone_cells);
    solid.close(LAST_CLOSING);
    cut_near_skin(&mut solid, &bone_cells, skin);
    let closed = solid.volume();
    let ball = thickened_ball(&solid);
    let mut mesh = voxel_net(&ball);
    smooth(
        &mut mesh,
        &SidedSurface::new(all.clone()),
        &SidedSurface::new(skin.mesh().clone()),
    );
    let layered = (wrapped.iter()).filter(|bone| {
        group(&bone.name).is_some_and(|(row, _)| !UNLAYERED.contains(&GROUPS[row].0))
    });
    let points: Vec<Vec3> = layered
        .flat_map(|bone| bone.mesh.positions.iter().copied())
        .collect();
    let measures = measures(&mesh, &points, skin, ball.volume() - closed);
    Ok(Wrap { mesh, measures })
}

fn check_size(bones: &[&Bone], bounds: Aabb) -> Result<(), WrapError> {
    if bounds.is_empty() {
        return Err(WrapError::NoBones);
    }
    let size = bounds.size().max_element();
    if size <= LARGEST {
        return Ok(());
    }
    let mut centers: Vec<Vec3> = bones.iter().map(|b| b.mesh.bounds().center()).collect();
    let middle = |k: usize| {
        let mut along: Vec<f32> = centers.iter().map(|c| c[k]).collect();
        along.sort_by(f32::total_cmp);
        along[along.len() / 2]
    };
    let middle = Vec3::new(middle(0), middle(1), middle(2));
    centers.iter_mut().for_each(|c| *c -= middle);
    let farthest = (0..bones.len())
        .max_by(|&a, &b| (centers[a].length_squared()).total_cmp(&centers[b].length_squared()));
    Err(WrapError::TooLarge {
        size,
        farthest: farthest.map_or(String::new(), |b| bones[b].name.clone()),
    })
}

/// Draws every group, closed by its own ball, into `solid`, and all bones as they are into `bone_cells`.
fn draw_groups(bones: &[&Bone], solid: &mut Voxels, bone_cells: &mut Voxels) {
    let mut groups: Vec<((usize, &str), Vec<&Bone>)> = Vec::new();
    for bone in bones {
        let Some(key) = group(&bone.name) else {
            continue;
        };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(bone),
            None => groups.push((key, vec![bone])),
        }
    }
    let drawn: Vec<(Voxels, Voxels)> = (groups.par_iter())
        .map(|((row, _), members)| {
            let (name, closing, _) = GROUPS[*row];
            let radius = closing.unwrap_or(0.0);
            let bounds = Aabb::of_points(
                members
                    .iter()
                    .flat_map(|b| b.mesh.positions.iter().copied()),
            );
            let mut part = solid.aligned(bounds, (radius / CELL) as usize + 2);
            for bone in members {
                // Each alone: the gap between two bones is not a cavity.
                let mut own = part.aligned(bone.mesh.bounds(), 1);
                own.draw(&bone.mesh);
                own.fill_cavities();
                part.unite(&own);
            }
            let as_is = part.clone();
            if name == HULL_GROUP {
                fill_slice_hulls(&mut part);
            }
            part.close(radius);
            (part, as_is)
        })
        .collect();
    for (part, as_is) in drawn {
        solid.unite(&part);
        bone_cells.unite(&as_is);
    }
}

/// Empties cells that are no bone and lie less than [`CUT_DEPTH`] below the skin, and those outside of it, bone or not: the
/// mouth's inside belongs to the outside, and jaws reach into it.
fn cut_near_skin(solid: &mut Voxels, bone_cells: &Voxels, skin: &Surface) {
    let cut: Vec<usize> = (0..solid.filled.len())
        .into_par_iter()
        .filter(|&index| solid.filled[index])
        .filter(|&index| {
            let center = solid.center(index);
            let near = skin.closest_point_within(center, CUT_DEPTH);
            near.is_some() && !bone_cells.filled[index] || !skin.contains(center)
        })
        .collect();
    cut.into_iter()
        .for_each(|index| solid.filled[index] = false);
}

/// The solid without handles, cavities and loose parts; what that needs is made thicker than one cell.
fn thickened_ball(solid: &Voxels) -> Voxels {
    let first = carved_ball(solid);
    let mut seams = first.clone();
    for (seam, filled) in seams.filled.iter_mut().zip(&solid.filled) {
        *seam &= !filled;
    }
    if !seams.filled.iter().any(|f| *f) {
        return first;
    }
    seams.dilate(SEAM_RADIUS);
    for (seam, filled) in seams.filled.iter_mut().zip(&solid.filled) {
        *seam |= filled;
    }
    carved_ball(&seams)
}

/// Smooths the stairs away, and keeps vertices off bones and below the skin.
fn smooth(mesh: &mut TriMesh, bones: &SidedSurface, skin: &SidedSurface) {
    let ring = Adjacency::new(mesh).vertex_vertices;
    let start = mesh.positions.clone();
    let reach = 1.5 * CELL as f32;
    for _ in 0..ROUNDS {
        (0..STEPS).for_each(|_| relax(mesh, &ring, 0.5));
        (mesh.positions.par_iter_mut().zip(&start)).for_each(|(p, start)| {
            *p = *start + (*p - *start).clamp_length_max(reach);
            *p = below_skin(off_bones(*p, bones), skin);
        });
    }
    // Tips of bones still poke out between vertices.
    for _ in 0..ROUNDS {
        relax(mesh, &ring, 0.1);
        push_over(mesh, &bones.surface().mesh().positions);
        (mesh.positions.par_iter_mut()).for_each(|p| *p = below_skin(*p, skin));
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
fn push_over(mesh: &mut TriMesh, points: &[Vec3]) {
    let surface = SidedSurface::new(mesh.clone());
    let pushes: Vec<([u32; 3], Vec3)> = (points.par_iter())
        .filter_map(|point| {
            let near = surface.near(*point, 2.0 * CELL as f32)?;
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

fn off_bones(p: Vec3, bones: &SidedSurface) -> Vec3 {
    match bones.near(p, 2.0 * CELL as f32) {
        Some(near) if near.signed < OFF_BONES => {
            let out = near.signed.signum() * (p - near.closest.position);
            near.closest.position + OFF_BONES * out.normalize_or(near.normal)
        }
        _ => p,
    }
}

fn below_skin(p: Vec3, skin: &SidedSurface) -> Vec3 {
    match skin.near(p, 3.0 * CELL as f32) {
        Some(near) if near.signed > -BELOW_SKIN => {
            let inward = -near.signed.signum() * (p - near.closest.position);
            near.closest.position + BELOW_SKIN * inward.normalize_or(-near.normal)
        }
        _ => p,
    }
}

fn measures(mesh: &TriMesh, bones: &[Vec3], skin: &Surface, mended: f64) -> WrapMeasures {
    let surface = Surface::new(mesh.clone());
    let outside: Vec<f32> = (bones.par_iter())
        .filter_map(|p| surface.signed_distance(*p).filter(|d| *d > 0.0))
        .collect();
    let above = |p: &&Vec3| !skin.contains(**p);
    WrapMeasures {
        genus: 1 - Adjacency::new(mesh).euler_characteristic() / 2,
        bones_inside: 1.0 - outside.len() as f64 / bones.len().max(1) as f64,
        bones_farthest: outside.iter().fold(0.0, |far, d| far.max(*d)),
        outside_skin: mesh.positions.par_iter().filter(above).count(),
        volume: mesh.signed_volume(),
        mended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Affine3A, Quat};
    use supple_geom::shapes;

    fn bone(name: &str, mesh: TriMesh, at: Vec3) -> Bone {
        let mut mesh = mesh;
        mesh.transform(&Affine3A::from_translation(at));
        Bone {
            name: name.into(),
            mesh,
        }
    }

    /// Two forearm bones side by side, a hollow ring of ribs, loose bones: a body of capsules.
    fn bones() -> Vec<Bone> {
        let rod = |radius: f32, length: f32| shapes::capsule(radius, length, 16, 16);
        let mut bones = vec![
            bone("radius_l", rod(0.008, 0.25), Vec3::new(-0.015, 0.5, 0.0)),
            bone("ulna_l", rod(0.008, 0.25), Vec3::new(0.015, 0.5, 0.0)),
            bone("index_distal_l", rod(0.004, 0.02), Vec3::new(0.0, 0.2, 0.0)),
        ];
        for (k, name) in ["rib01_l", "rib02_l", "rib03_l"].iter().enumerate() {
            // A closed hoop of twelve rods.
            let mut hoop = TriMesh::default();
            for step in 0..12 {
                let angle = step as f32 * std::f32::consts::TAU / 12.0;
                let mut part = rod(0.006, 0.06);
                part.transform(&Affine3A::from_rotation_translation(
                    Quat::from_rotation_y(-angle)
                        * Quat::from_rotation_x(std::f32::consts::FRAC_PI_2),
                    0.1 * Vec3::new(angle.cos(), 0.0, angle.sin()),
                ));
                hoop.append(&part);
            }
            bones.push(bone(name, hoop, Vec3::new(0.0, 0.8 + 0.03 * k as f32, 0.0)));
        }
        bones
    }

    #[test]
    fn the_wrap_is_a_ball_around_the_bones() {
        let mut skin = shapes::capsule(0.16, 1.2, 48, 60);
        skin.transform(&Affine3A::from_translation(0.5 * Vec3::Y));
        let wrap = skeleton_wrap(&bones(), &Surface::new(skin)).unwrap();
        let adjacency = Adjacency::new(&wrap.mesh);
        assert!(adjacency.is_closed_and_oriented(&wrap.mesh));
        assert_eq!(wrap.measures.genus, 0);
        assert!(wrap.measures.bones_inside > 0.99, "{:?}", wrap.measures);
        assert_eq!(wrap.measures.outside_skin, 0);
        let surface = Surface::new(wrap.mesh);
        // The gap between the rods and the inside of the hoops are filled, the finger is left out.
        assert!(surface.contains(Vec3::new(0.0, 0.5, 0.0)));
        assert!(surface.contains(Vec3::new(0.0, 0.83, 0.0)));
        assert!(!surface.contains(Vec3::new(0.0, 0.2, 0.0)));
        assert!(!surface.contains(Vec3::new(0.05, 0.5, 0.0)));
    }

    #[test]
    fn senseless_bones_are_refused() {
        let skin = Surface::new(shapes::icosphere(1.0, 2));
        let none = skeleton_wrap(&[], &skin);
        assert_eq!(none.unwrap_err(), WrapError::NoBones);
        let mut far = bones();
        far.push(bone("femur_l", shapes::icosphere(0.1, 2), 50.0 * Vec3::Y));
        let error = skeleton_wrap(&far, &skin).unwrap_err();
        assert!(error.to_string().contains("femur_l"), "{error}");
    }
}
