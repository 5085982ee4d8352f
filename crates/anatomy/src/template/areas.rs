//! Areas of cross-sections of muscle and bone along limbs and trunk, to hold one body beside another.

use glam::Vec3;
use supple_geom::section::{Plane, section};
use supple_geom::{Adjacency, TriMesh};

use super::frame::Half;
use super::limbs::Segment;

/// A segment's cross-sections.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentAreas {
    /// Length of the segment's axis \[m\].
    pub length: f64,
    /// Position along the segment (0 top, 1 lower end) and area of all loops there \[m²\].
    pub areas: Vec<(f32, f64)>,
}

/// Areas of the sections of closed meshes at right angles to a segment's axis, at `count` places along it; none if a bone is missing.
///
/// Give the meshes of the half's side alone, in the half's space, or those of another limb are cut too. What overlaps counts twice.
pub fn segment_areas(
    half: &Half,
    segment: Segment,
    meshes: &[&TriMesh],
    count: usize,
) -> Option<SegmentAreas> {
    let [first, second] = segment.bones().map(|name| half.bone(name));
    let (first, second) = (first?, second?);
    let (top, end) = match segment {
        Segment::Trunk => (first.at(Vec3::Y), {
            let bottom = second.at(-Vec3::Y);
            Vec3::new(0.0, bottom.y, bottom.z)
        }),
        _ => (first.at(Vec3::Y), second.at(-Vec3::Y)),
    };
    let normal = match segment {
        Segment::Trunk => Vec3::Y,
        _ => (top - end).normalize_or(Vec3::Y),
    };
    let prepared: Vec<(&TriMesh, Adjacency)> = meshes
        .iter()
        .map(|&mesh| (mesh, Adjacency::new(mesh)))
        .collect();
    let areas = (0..count)
        .map(|k| {
            let t = (k as f32 + 0.5) / count as f32;
            let plane = Plane {
                point: top.lerp(end, t),
                normal,
            };
            let area =
                |(mesh, adjacency): &(&TriMesh, Adjacency)| section_area(mesh, adjacency, plane);
            (t, prepared.iter().map(area).sum())
        })
        .collect();
    Some(SegmentAreas {
        length: f64::from(top.distance(end)),
        areas,
    })
}

fn section_area(mesh: &TriMesh, adjacency: &Adjacency, plane: Plane) -> f64 {
    let height = |p: &Vec3| (p - plane.point).dot(plane.normal);
    let below = mesh.positions.iter().any(|p| height(p) < 0.0);
    let above = mesh.positions.iter().any(|p| height(p) >= 0.0);
    if below && above {
        section(mesh, adjacency, plane).area().abs()
    } else {
        0.0
    }
}
