//! Fits a humanoid skeleton into a body mesh that has none.
//!
//! The body must stand upright with its arms away from its sides (T-pose or A-pose). Joints are placed at the centres of
//! plane sections of the limbs; their positions along a limb follow body proportions.

use glam::{DVec3, Quat, Vec3};
use supple_geom::TriMesh;
use supple_geom::adjacency::Adjacency;
use supple_geom::section::{Plane, section};
use supple_geom::shells::shells;
use supple_geom::weld::weld;

use crate::keyed::mannequin;
use crate::{Skeleton, Transform};

/// Spacing of the horizontal sections, relative to the body height.
const SECTION_SPACING: f32 = 0.01;
/// Elbow, wrist and knuckles as fractions of the way from shoulder to fingertips (Drillis and Contini 1966: upper arm 0.186, forearm
/// 0.146, hand 0.108 of the body height).
const ARM_FRACTIONS: [f32; 3] = [0.42, 0.75, 0.87];
/// Shoulder joint: distance below the neck and sideways from it, in body heights (same source: 0.129 from the middle,
/// less half the breadth of the arm).
const SHOULDER_OFFSET: (f32, f32) = (0.05, 0.1);

/// A body in its own frame: X to its left, Y up, Z forwards.
struct Body {
    mesh: TriMesh,
    adjacency: Adjacency,
    bottom: f32,
    height: f32,
    middle: f32,
}

/// A closed curve of a plane section.
struct Slice {
    centre: Vec3,
    low: Vec3,
    high: Vec3,
    area: f32,
}

/// Fits the mannequin's joints to a body. `None` if two legs or two arms cannot be found.
pub fn fit_humanoid(mesh: &TriMesh) -> Option<Skeleton> {
    let mut turned = without_debris(weld(mesh, 1e-5 * mesh.bounds().diagonal()).mesh);
    let turn = facing(&turned)?;
    for position in &mut turned.positions {
        *position = turn.inverse() * *position;
    }
    let bounds = turned.bounds();
    let body = Body {
        adjacency: Adjacency::new(&turned),
        bottom: bounds.min.y,
        height: bounds.max.y - bounds.min.y,
        middle: 0.5 * (bounds.min.x + bounds.max.x),
        mesh: turned,
    };
    let places = body.joints()?;
    let mut skeleton = mannequin();
    let worlds: Vec<Vec3> = (skeleton.joints().iter())
        .map(|joint| turn * places(&joint.name))
        .collect();
    for joint in 0..skeleton.len() {
        let parent = skeleton.joints()[joint].parent;
        let origin = parent.map_or(Vec3::ZERO, |parent| worlds[parent]);
        *skeleton.rest_mut(joint) = Transform::from_translation(worlds[joint] - origin);
    }
    worlds
        .iter()
        .all(|place| place.is_finite())
        .then_some(skeleton)
}

/// Drops connected components much lower than the tallest one: floors and scan debris. Keeps the whole mesh if no component
/// is half as high as it.
fn without_debris(mesh: TriMesh) -> TriMesh {
    let components = shells(&mesh);
    let mut heights = vec![(f32::INFINITY, f32::NEG_INFINITY); components.count];
    for (position, &component) in mesh.positions.iter().zip(&components.of_vertex) {
        if let Some((low, high)) = heights.get_mut(component as usize) {
            (*low, *high) = (low.min(position.y), high.max(position.y));
        }
    }
    let tall = |&(low, high): &(f32, f32)| high - low;
    let tallest = heights.iter().map(tall).fold(0.0, f32::max);
    if 2.0 * tallest < mesh.bounds().size().y {
        return mesh;
    }
    let stands: Vec<bool> = heights.iter().map(|h| tall(h) > 0.2 * tallest).collect();
    let kept = mesh.triangles.iter().zip(&components.of_triangle);
    let kept = kept.filter(|&(_, &component)| stands[component as usize]);
    let triangles = kept.map(|(&corners, _)| corners).collect();
    without_unused_vertices(&TriMesh {
        triangles,
        positions: mesh.positions,
    })
}

fn without_unused_vertices(mesh: &TriMesh) -> TriMesh {
    let mut new = vec![u32::MAX; mesh.positions.len()];
    let mut used = TriMesh::default();
    for corners in &mesh.triangles {
        let corners = corners.map(|v| {
            let place = &mut new[v as usize];
            if *place == u32::MAX {
                *place = used.positions.len() as u32;
                used.positions.push(mesh.positions[v as usize]);
            }
            *place
        });
        used.triangles.push(corners);
    }
    used
}

/// Angle about Y from +X to the body's widest horizontal direction, snapped to an axis if it is close to one.
fn widest_direction(mesh: &TriMesh) -> f32 {
    let area = |t: usize| mesh.triangle_area(t);
    let middle = |t: usize| mesh.corners(t).iter().map(|p| p.as_dvec3()).sum::<DVec3>() / 3.0;
    let all = 0..mesh.triangles.len();
    let total: f64 = all.clone().map(area).sum::<f64>().max(f64::MIN_POSITIVE);
    let mean = all.clone().map(|t| area(t) * middle(t)).sum::<DVec3>() / total;
    let (mut xx, mut xz, mut zz) = (0.0, 0.0, 0.0);
    for t in all {
        let from_mean = middle(t) - mean;
        xx += area(t) * from_mean.x * from_mean.x;
        xz += area(t) * from_mean.x * from_mean.z;
        zz += area(t) * from_mean.z * from_mean.z;
    }
    let angle = 0.5 * f64::atan2(2.0 * xz, xx - zz);
    let quarter = std::f64::consts::FRAC_PI_2;
    let axis = (angle / quarter).round() * quarter;
    let aligned = (angle - axis).abs() < 10_f64.to_radians();
    // A rotation about +Y takes +X towards -Z.
    -(if aligned { axis } else { angle }) as f32
}

/// Rotation from +Z to the body's facing: perpendicular to its widest direction, towards the toes.
fn facing(mesh: &TriMesh) -> Option<Quat> {
    let bounds = mesh.bounds();
    let size = bounds.max - bounds.min;
    if !(size.is_finite() && size.y > 0.0 && size.y > 0.5 * size.x.max(size.z)) {
        return None;
    }
    let turn = Quat::from_rotation_y(widest_direction(mesh));
    // Toes are farther from the ankles than heels are.
    let mean_depth = |from: f32, to: f32| {
        let inside = (mesh.positions.iter())
            .filter(|p| (from..to).contains(&((p.y - bounds.min.y) / size.y)))
            .map(|&p| (turn.inverse() * p).z);
        let (sum, count) = inside.fold((0.0, 0.0), |(sum, count), z| (sum + z, count + 1.0));
        sum / f32::max(count, 1.0)
    };
    let forwards = mean_depth(0.0, 0.03) >= mean_depth(0.06, 0.12);
    let about = if forwards { 0.0 } else { std::f32::consts::PI };
    Some(turn * Quat::from_rotation_y(about))
}

impl Body {
    fn slices(&self, point: Vec3, normal: Vec3) -> Vec<Slice> {
        let cut = section(&self.mesh, &self.adjacency, Plane { point, normal });
        let slice = |points: &[DVec3], area: f64| {
            let low = points.iter().fold(DVec3::INFINITY, |low, &p| low.min(p));
            let high = points
                .iter()
                .fold(DVec3::NEG_INFINITY, |high, &p| high.max(p));
            Slice {
                centre: (0.5 * (low + high)).as_vec3(),
                low: low.as_vec3(),
                high: high.as_vec3(),
                area: area.abs() as f32,
            }
        };
        let curves = cut.loops.iter().filter(|curve| curve.points.len() > 2);
        curves
            .map(|curve| slice(&curve.points, curve.area))
            .collect()
    }

    fn at_height(&self, share: f32) -> Vec<Slice> {
        let y = self.bottom + share * self.height;
        self.slices(Vec3::new(self.middle, y, 0.0), Vec3::Y)
    }

    /// The slice that the body's middle plane cuts.
    fn trunk(&self, share: f32) -> Option<Slice> {
        let slices = self.at_height(share).into_iter();
        let through = slices.filter(|s| s.low.x < self.middle && self.middle < s.high.x);
        through.max_by(|a, b| a.area.total_cmp(&b.area))
    }

    /// The largest slice of the leg on one side.
    fn leg(&self, share: f32, side: f32) -> Option<Slice> {
        let slices = self.at_height(share).into_iter();
        let beside = slices.filter(|s| (s.centre.x - self.middle) * side > 0.0);
        beside.max_by(|a, b| a.area.total_cmp(&b.area))
    }

    fn heights(from: f32, to: f32) -> impl DoubleEndedIterator<Item = f32> {
        let count = ((to - from) / SECTION_SPACING).round() as i32;
        (0..=count).map(move |k| from + k as f32 * SECTION_SPACING)
    }

    /// Height at which the legs join, as a fraction of the body height.
    fn crotch(&self) -> Option<f32> {
        Self::heights(0.3, 0.62).find(|&share| self.trunk(share).is_some())
    }

    /// Height of the thinnest trunk slice below the head, as a fraction of the body height.
    fn neck(&self) -> Option<f32> {
        let sized = Self::heights(0.76, 0.92).filter_map(|share| Some((share, self.trunk(share)?)));
        let thinnest = sized.min_by(|a, b| a.1.area.total_cmp(&b.1.area))?;
        Some(thinnest.0)
    }

    /// Centre of the limb's cross-section near `point`, perpendicular to `along`; `point` itself if there is no section.
    fn limb_middle(&self, point: Vec3, along: Vec3) -> Vec3 {
        let slices = self.slices(point, along).into_iter();
        let nearest = slices.min_by(|a, b| {
            let distance = |s: &Slice| s.centre.distance(point);
            distance(a).total_cmp(&distance(b))
        });
        let reach = 0.1 * self.height;
        nearest
            .map(|s| s.centre)
            .filter(|c| c.distance(point) < reach)
            .unwrap_or(point)
    }

    fn fingertip(&self, side: f32) -> Option<Vec3> {
        let lowest = self.bottom + 0.3 * self.height;
        let above = self.mesh.positions.iter().filter(|p| p.y > lowest);
        let reach = |p: &Vec3| (p.x - self.middle) * side;
        let tip = above
            .copied()
            .max_by(|a, b| reach(a).total_cmp(&reach(b)))?;
        (reach(&tip) > 0.15 * self.height).then_some(tip)
    }

    /// The position of each mannequin joint, by name.
    fn joints(&self) -> Option<impl Fn(&str) -> Vec3 + use<>> {
        let (crotch, neck) = (self.crotch()?, self.neck()?);
        let hips = crotch + 0.04;
        let trunk = |share: f32| {
            self.trunk(share)
                .map(|s| Vec3::new(self.middle, s.centre.y, s.centre.z))
        };
        let along = |t: f32| trunk(hips + t * (neck - hips));
        let mut places: Vec<(String, Vec3)> = vec![
            ("hips".into(), trunk(hips)?),
            ("spine".into(), along(0.22)?),
            ("chest".into(), along(0.45)?),
            ("upperChest".into(), along(0.7)?),
            ("neck".into(), trunk(neck - 0.01)?),
            ("head".into(), trunk(neck + 0.03)?),
        ];
        for (side, name) in [(1.0, "left"), (-1.0, "right")] {
            let mut push =
                |joint: &str, place: Vec3| places.push((format!("{name}{joint}"), place));
            let foot = self.leg(0.05, side)?.centre;
            let sole = self.leg(0.015, side)?;
            push(
                "UpperLeg",
                self.leg(crotch - 0.01, side)?.centre + 0.03 * self.height * Vec3::Y,
            );
            push(
                "LowerLeg",
                self.leg(0.5 * (crotch + 0.05) + 0.02, side)?.centre,
            );
            push("Foot", foot);
            let reach = sole.high.z - foot.z;
            push(
                "Toes",
                Vec3::new(sole.centre.x, sole.centre.y, foot.z + 0.62 * reach),
            );
            push(
                "ToesEnd",
                Vec3::new(sole.centre.x, sole.centre.y, foot.z + 0.92 * reach),
            );
            self.arm(side, trunk(neck - SHOULDER_OFFSET.0)?, &mut push)?;
        }
        Some(move |name: &str| {
            let found = places.iter().find(|(known, _)| known == name);
            found.map_or(Vec3::NAN, |&(_, place)| place)
        })
    }

    fn arm(&self, side: f32, chest: Vec3, push: &mut dyn FnMut(&str, Vec3)) -> Option<()> {
        let tip = self.fingertip(side)?;
        let shoulder = chest + side * SHOULDER_OFFSET.1 * self.height * Vec3::X;
        let [elbow, wrist, knuckles] = ARM_FRACTIONS.map(|share| shoulder.lerp(tip, share));
        let direction = tip - shoulder;
        let wrist = self.limb_middle(wrist, direction);
        push("Shoulder", chest.lerp(shoulder, 0.25));
        push("UpperArm", shoulder);
        push("LowerArm", self.limb_middle(elbow, wrist - shoulder));
        push("Hand", wrist);
        push("MiddleProximal", self.limb_middle(knuckles, direction));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use supple_geom::shapes::icosphere;

    #[test]
    fn a_ball_is_not_a_humanoid() {
        assert!(super::fit_humanoid(&icosphere(1.0, 3)).is_none());
        assert!(super::fit_humanoid(&supple_geom::TriMesh::default()).is_none());
    }
}
