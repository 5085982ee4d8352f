//! Areas of cross-sections of muscle and bone along limbs and trunk, to hold one body beside another.

use glam::Vec3;
use supple_geom::section::{Plane, section};
use supple_geom::{Adjacency, TriMesh};

use crate::template::places::frame::Half;
use crate::template::places::segments::Segment;

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
/// Meshes are in the half's space and all of the segment's part of the body: an arm's section also meets the trunk that it hangs beside. What overlaps
/// counts twice.
pub fn segment_areas(
    half: &Half,
    segment: Segment,
    meshes: &[&TriMesh],
    count: usize,
) -> Option<SegmentAreas> {
    let [top, end] = segment.axis(half)?;
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
    if !below || !above {
        return 0.0;
    }
    let found = section(mesh, adjacency, plane);
    found.loops.iter().map(|l| l.area).sum::<f64>().abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bone;
    use crate::template::places::frame::Side;
    use supple_geom::shapes;

    #[test]
    fn areas_of_rods() {
        let rod = |radius: f32, x: f32| {
            let mut mesh = shapes::capped_tube(radius, 0.4, 64, 8);
            mesh.positions.iter_mut().for_each(|p| p.x += x);
            mesh
        };
        let (bone, flesh) = (rod(0.01, 0.1), rod(0.05, 0.1));
        let bones = [Bone {
            name: "femur_l".into(),
            mesh: bone,
        }];
        let half = Half::new(&bones, Side::Left);
        let found = segment_areas(&half, Segment::Thigh, &[&flesh], 20).unwrap();
        assert_eq!(found.areas.len(), 20);
        assert!((found.length - 0.4).abs() < 1e-3);
        let exact = std::f64::consts::PI * 0.05 * 0.05;
        assert!(
            found
                .areas
                .iter()
                .all(|(_, area)| (area / exact - 1.0).abs() < 0.01)
        );
        assert!(segment_areas(&half, Segment::Shank, &[&flesh], 20).is_none());
    }
}
