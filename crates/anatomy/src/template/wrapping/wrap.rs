//! The skeleton wrap W: one smooth surface of genus 0 around all bones [4.2.2].
//!
//! The thesis makes it by hand in a modelling program. Here bones are drawn into a lattice and closed with a ball a group at a
//! time, since one radius for all either leaves the rib cage hollow or joins arms and trunk. What handles, cavities and
//! loose parts are left is mended by carving a block down to the bones without changing its topology
//! ([`supple_geom::carve`]). The surface between filled and empty cells is smoothed, off the bones and below the skin.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::adjacency::Adjacency;
use supple_geom::carve::carved_ball;
use supple_geom::sided::SidedSurface;
use supple_geom::surface_nets::voxel_net;
use supple_geom::voxels::Voxels;
use supple_geom::{Aabb, Surface, TriMesh};

use crate::Bone;
use crate::template::wrapping::slice_hulls::fill_slice_hulls;
use crate::template::wrapping::wrap_smoothing::smooth_wrap;

/// Side of a cell \[m\]: ribs and fibulae are two to three cells thick, and edges of the skeleton surface four long. Other
/// sizes have not been tried.
const CELL: f64 = 0.004;

/// Closing after that of the groups \[m\]: joins the groups smoothly. It has to stay well below the gap between arm and ribs,
/// or arms grow webs.
const LAST_CLOSING: f64 = 0.012;

/// Depth below the skin beyond which cells are cut off, unless a bone is there \[m\].
const CUT_DEPTH: f32 = 0.005;

/// Membranes and threads that carving leaves are one cell thick and get this radius \[m\].
const SEAM_RADIUS: f64 = 0.008;

/// Longest side of the bones' box that is taken for a body \[m\].
const LARGEST: f32 = 4.0;

/// Bones that are closed together.
struct Group {
    name: &'static str,
    /// Radius of the closing \[m\]; `None`: left out, the body is not layered there.
    closing: Option<f64>,
    /// Whether each side is a group of its own.
    sided: bool,
    /// How names begin.
    names: &'static [&'static str],
}

/// The first row that fits a name counts; the last fits all.
#[rustfmt::skip]
const GROUPS: &[Group] = &[
    Group { name: "fingers", closing: None, sided: true, names: &["index", "middle", "ring", "little", "thumb", "toe"] },
    Group { name: "thorax", closing: Some(0.030), sided: false,
        names: &["rib", "sternum", "manubrium", "xiphoid", "costal_cartilage", "vertebra_T", "disk_T"] },
    Group { name: "pelvis", closing: Some(0.050), sided: false, names: &["pelvis", "sacrum", "coccyx", "vertebra_L5", "disk_L5"] },
    Group { name: "head", closing: Some(0.040), sided: false,
        names: &["skull", "mandible", "vertebra_C1", "disk_C1", "vertebra_C2", "frontal", "occipital", "ethmoid", "sphenoid", "vomer",
            "set_of_nasal", "parietal", "temporal", "maxilla", "nasal", "palatine", "lacrimal", "zygomatic", "inferior_nasal", "tooth"] },
    Group { name: "leg", closing: Some(0.020), sided: true, names: &["femur", "tibia", "fibula", "patella", "talus"] },
    Group { name: "forearm", closing: Some(0.020), sided: true, names: &["radius", "ulna"] },
    Group { name: "foot", closing: Some(0.015), sided: true,
        names: &["calcaneus", "cuboid", "cuneiform", "navicular", "metatarsal", "sesamoid"] },
    Group { name: "girdle", closing: Some(0.020), sided: true, names: &["scapula", "clavicle", "humerus"] },
    Group { name: "spine", closing: Some(0.015), sided: false, names: &["vertebra", "disk"] },
    Group { name: "hand", closing: Some(0.012), sided: true,
        names: &["scaphoid", "lunate", "triquetrum", "pisiform", "trapezi", "trapezo", "capitate", "hamate", "metacarpal"] },
    Group { name: "other", closing: Some(0.012), sided: true, names: &[""] },
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
    let fits = |group: &Group| group.names.iter().any(|start| name.starts_with(start));
    let row = GROUPS.iter().position(fits)?;
    let side = ["_l", "_r"].into_iter().find(|side| name.ends_with(side));
    let side = side.filter(|_| GROUPS[row].sided).unwrap_or("");
    GROUPS[row].closing.map(|_| (row, side))
}

/// Whether a bone is enclosed by the wrap; those of fingers and toes are not.
pub fn is_wrapped(name: &str) -> bool {
    group(name).is_some()
}

/// Wraps placed bones below a skin. Where the mouth's inside is part of the skin's shell, give the outer skin
/// ([`crate::Body::outer_surface`]): jaws that reach into the mouth are cut off otherwise.
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
    smooth_wrap(
        &mut mesh,
        CELL as f32,
        &SidedSurface::new(all.clone()),
        &SidedSurface::new(skin.mesh().clone()),
    );
    let layered = (wrapped.iter()).filter(|bone| {
        group(&bone.name).is_some_and(|(row, _)| !UNLAYERED.contains(&GROUPS[row].name))
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
            let Group { name, closing, .. } = GROUPS[*row];
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
