//! Fits a humanoid skeleton into a body mesh that has none.
//!
//! The body must stand upright with its arms away from its sides (T-pose or A-pose). Joints are placed at the centres of
//! plane sections of the limbs; their positions along a limb follow body proportions. Markers replace what is not found, and
//! what is found at the wrong place. A body of several shells is fitted as the solid that they enclose together.

use std::collections::BTreeMap;

use glam::{DVec3, Quat, Vec3};
use supple_geom::adjacency::Adjacency;
use supple_geom::section::{Plane, section};
use supple_geom::shells::{Shells, shells};
use supple_geom::solid::solid;
use supple_geom::weld::weld;
use supple_geom::{Aabb, TriMesh};

use crate::keyed::mannequin;
use crate::markers::{GROIN_BELOW_HIPS, Marker, Markers};
use crate::retarget::humanoid::Side;
use crate::skeleton_templates::{Template, template};
use crate::{Skeleton, Transform};

/// Spacing of the horizontal sections, relative to the body height.
const SECTION_SPACING: f32 = 0.01;
/// Cells of the solid of several shells, relative to the body height. Gaps up to two cells are closed: at 1/100 thighs that
/// almost touch become one, at 1/250 fingers no longer matter and gaps of a puppet's joints stay open.
const SOLID_CELL: f32 = 1.0 / 150.0;
/// Height of the chin above the neck's thinnest section, in body heights.
const CHIN_ABOVE_NECK: f32 = 0.03;
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
    markers: Markers,
}

/// A closed curve of a plane section.
struct Slice {
    centre: Vec3,
    low: Vec3,
    high: Vec3,
    area: f32,
}

/// Why no humanoid skeleton was fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// The mesh is empty, or wider than a person with stretched arms.
    #[error("the mesh does not stand upright: it is empty, or more than twice as wide as high")]
    NotUpright,
    /// Parts of the body were not found. The markers would tell where they are.
    #[error("{} not found; place the markers {}", parts(.missing), list(.missing))]
    Missing {
        /// Markers that would tell.
        missing: Vec<Marker>,
    },
}

fn parts(missing: &[Marker]) -> String {
    let part = |marker: &Marker| match marker {
        Marker::Chin => "the neck",
        Marker::Groin => "the place where the legs part",
        Marker::Wrist(Side::Left) | Marker::Elbow(Side::Left) => "the left arm",
        Marker::Wrist(Side::Right) | Marker::Elbow(Side::Right) => "the right arm",
        Marker::Knee(Side::Left) => "the left leg",
        Marker::Knee(Side::Right) => "the right leg",
    };
    let names: Vec<&str> = missing.iter().map(part).collect();
    let are = if names.len() == 1 { "was" } else { "were" };
    format!("{} {are}", names.join(", "))
}

fn list(missing: &[Marker]) -> String {
    let names: Vec<String> = missing.iter().map(Marker::to_string).collect();
    names.join(", ")
}

/// Fits the mannequin's joints to a body. Joints lie at the markers that are given.
pub fn fit_humanoid(mesh: &TriMesh, markers: &Markers) -> Result<Skeleton, FitError> {
    let welded = weld(mesh, 1e-5 * mesh.bounds().diagonal()).mesh;
    let whole = without_debris(&welded);
    let upright = markers.left().is_some() || facing(&whole).is_some();
    if upright && shells(&whole).count > 1 {
        let pieces = without_floor(&welded);
        let cell = SOLID_CELL * pieces.bounds().size().y;
        let union = without_debris(&solid(&pieces, cell));
        if let Ok(skeleton) = fit_one(union, markers) {
            return Ok(skeleton);
        }
    }
    fit_one(whole, markers)
}

/// Where to show markers on a body before anyone has moved them: at the fitted joints, or at those of a template.
pub fn start_markers(mesh: &TriMesh) -> Markers {
    let fitted = fit_humanoid(mesh, &Markers::default());
    let skeleton = fitted.unwrap_or_else(|_| template(mesh, Template::Humanoid));
    Markers::of_skeleton(&skeleton, mesh.bounds().size().y)
}

fn fit_one(mut mesh: TriMesh, markers: &Markers) -> Result<Skeleton, FitError> {
    let found = facing(&mesh);
    let turn = match markers.left() {
        Some(left) => Quat::from_rotation_y((-left.z).atan2(left.x)),
        None => found.ok_or(FitError::NotUpright)?,
    };
    for position in &mut mesh.positions {
        *position = turn.inverse() * *position;
    }
    let bounds = mesh.bounds();
    if bounds.is_empty() {
        return Err(FitError::NotUpright);
    }
    let markers = markers.turned(turn.inverse());
    let on_middle: Vec<f32> = [Marker::Chin, Marker::Groin]
        .into_iter()
        .filter_map(|marker| Some(markers.get(marker)?.x))
        .collect();
    let middle = match on_middle.len() {
        0 => bounds.center().x,
        count => on_middle.iter().sum::<f32>() / count as f32,
    };
    let body = Body {
        adjacency: Adjacency::new(&mesh),
        bottom: bounds.min.y,
        height: bounds.max.y - bounds.min.y,
        middle,
        markers,
        mesh,
    };
    let places = body.joints()?;
    let mut skeleton = mannequin();
    let place = |name: &str| places.get(name).map_or(Vec3::ZERO, |&place| turn * place);
    let worlds: Vec<Vec3> = (skeleton.joints().iter())
        .map(|joint| place(&joint.name))
        .collect();
    for joint in 0..skeleton.len() {
        let parent = skeleton.joints()[joint].parent;
        let origin = parent.map_or(Vec3::ZERO, |parent| worlds[parent]);
        *skeleton.rest_mut(joint) = Transform::from_translation(worlds[joint] - origin);
    }
    match worlds.iter().all(|place| place.is_finite()) {
        true => Ok(skeleton),
        false => Err(FitError::NotUpright),
    }
}

/// Drops connected components much lower than the tallest one: floors and scan debris. Keeps the whole mesh if no component
/// is half as high as it.
fn without_debris(mesh: &TriMesh) -> TriMesh {
    let components = shells(mesh);
    let sizes = shell_sizes(mesh, &components);
    let tallest = sizes.iter().map(|size| size.y).fold(0.0, f32::max);
    if 2.0 * tallest < mesh.bounds().size().y {
        return mesh.clone();
    }
    kept(mesh, &components, |shell| sizes[shell].y > 0.2 * tallest)
}

/// Drops flat and wide components: what a body stands on.
fn without_floor(mesh: &TriMesh) -> TriMesh {
    let components = shells(mesh);
    let sizes = shell_sizes(mesh, &components);
    let height = mesh.bounds().size().y;
    kept(mesh, &components, |shell| {
        let size = sizes[shell];
        size.y > 0.02 * height || size.x.max(size.z) < 0.5 * height
    })
}

/// Size of each shell's box \[m\].
fn shell_sizes(mesh: &TriMesh, components: &Shells) -> Vec<Vec3> {
    let mut boxes = vec![Aabb::EMPTY; components.count];
    for (&position, &component) in mesh.positions.iter().zip(&components.of_vertex) {
        if let Some(bounds) = boxes.get_mut(component as usize) {
            *bounds = bounds.union(Aabb::of_points([position]));
        }
    }
    boxes.iter().map(Aabb::size).collect()
}

/// The triangles of some shells, and their vertices.
fn kept(mesh: &TriMesh, components: &Shells, keep: impl Fn(usize) -> bool) -> TriMesh {
    let triangles = mesh.triangles.iter().zip(&components.of_triangle);
    let kept = triangles.filter(|&(_, &component)| keep(component as usize));
    without_unused_vertices(&TriMesh {
        triangles: kept.map(|(&corners, _)| corners).collect(),
        positions: mesh.positions.clone(),
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

/// Rotation from +Z to the body's facing: perpendicular to its widest direction, towards the toes. `None` if it does not stand
/// upright.
pub(crate) fn facing(mesh: &TriMesh) -> Option<Quat> {
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

    /// The largest slice of the leg on one side. A slice through both legs is none.
    fn leg(&self, share: f32, side: f32) -> Option<Slice> {
        let slices = self.at_height(share).into_iter();
        let beside = slices.filter(|s| {
            let width = s.high.x - s.low.x;
            (s.centre.x - self.middle) * side > 0.2 * width
        });
        beside.max_by(|a, b| a.area.total_cmp(&b.area))
    }

    fn heights(from: f32, to: f32) -> impl DoubleEndedIterator<Item = f32> {
        let count = ((to - from) / SECTION_SPACING).round() as i32;
        (0..=count).map(move |k| from + k as f32 * SECTION_SPACING)
    }

    /// Height of a marker, as a fraction of the body height.
    fn marked_height(&self, marker: Marker) -> Option<f32> {
        let place = self.markers.get(marker)?;
        Some(((place.y - self.bottom) / self.height).clamp(0.0, 1.0))
    }

    /// Height at which the legs join, as a fraction of the body height.
    fn crotch(&self) -> Option<f32> {
        let joined = || Self::heights(0.3, 0.62).find(|&share| self.trunk(share).is_some());
        self.marked_height(Marker::Groin).or_else(joined)
    }

    /// Height of the thinnest trunk slice below the head, as a fraction of the body height.
    fn neck(&self) -> Option<f32> {
        let thinnest = || {
            let sized =
                Self::heights(0.76, 0.92).filter_map(|share| Some((share, self.trunk(share)?)));
            let thinnest = sized.min_by(|a, b| a.1.area.total_cmp(&b.1.area))?;
            Some(thinnest.0)
        };
        let below_chin = self.marked_height(Marker::Chin);
        below_chin
            .map(|chin| chin - CHIN_ABOVE_NECK)
            .or_else(thinnest)
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

    /// A marker, mirrored from the other side.
    fn mirrored(&self, marker: Marker) -> Option<Vec3> {
        let other = self.markers.get(marker.mirrored())?;
        Some(Vec3::new(2.0 * self.middle - other.x, other.y, other.z))
    }

    /// The middle of the trunk at a height; in the middle of the body's depth where there is no section.
    fn trunk_middle(&self, share: f32) -> Vec3 {
        let depth = self.trunk(share).map(|slice| slice.centre.z);
        let y = self.bottom + share * self.height;
        let depth = depth.unwrap_or_else(|| self.mesh.bounds().center().z);
        Vec3::new(self.middle, y, depth)
    }

    /// The position of each mannequin joint, by name.
    fn joints(&self) -> Result<BTreeMap<String, Vec3>, FitError> {
        let (crotch, neck) = (self.crotch(), self.neck());
        let mut missing = Vec::new();
        missing.extend(crotch.is_none().then_some(Marker::Groin));
        missing.extend(neck.is_none().then_some(Marker::Chin));
        let (crotch, neck) = (crotch.unwrap_or(0.5), neck.unwrap_or(0.85));
        let hips = crotch + GROIN_BELOW_HIPS;
        let along = |t: f32| self.trunk_middle(hips + t * (neck - hips));
        let mut places: BTreeMap<String, Vec3> = [
            ("hips", along(0.0)),
            ("spine", along(0.22)),
            ("chest", along(0.45)),
            ("upperChest", along(0.7)),
            ("neck", self.trunk_middle(neck - 0.01)),
            ("head", self.trunk_middle(neck + CHIN_ABOVE_NECK)),
        ]
        .map(|(name, place)| (name.to_owned(), place))
        .into();
        for side in Side::BOTH {
            let name = if side == Side::Left { "left" } else { "right" };
            let chest = self.trunk_middle(neck - SHOULDER_OFFSET.0);
            let limbs = [
                (self.leg_joints(side, crotch), Marker::Knee(side)),
                (self.arm_joints(side, chest), Marker::Wrist(side)),
            ];
            for (joints, marker) in limbs {
                match joints {
                    Some(joints) => places.extend(
                        (joints.into_iter())
                            .map(|(joint, place)| (format!("{name}{joint}"), place)),
                    ),
                    None => missing.push(marker),
                }
            }
        }
        match missing.is_empty() {
            true => Ok(places),
            false => Err(FitError::Missing { missing }),
        }
    }

    /// The joints of a leg. The knee's marker stands for sections that are not found.
    fn leg_joints(&self, side: Side, crotch: f32) -> Option<[(&'static str, Vec3); 5]> {
        let marker = Marker::Knee(side);
        let sign = sign(side);
        let at = |share: f32| self.leg(share, sign).map(|slice| slice.centre);
        let found = at(0.5 * (crotch + 0.05) + 0.02);
        let own = self.markers.get(marker);
        let knee = own.or(found).or_else(|| self.mirrored(marker))?;
        let beside_knee = |share: f32| {
            let marked = own.or_else(|| self.mirrored(marker))?;
            Some(Vec3::new(
                marked.x,
                self.bottom + share * self.height,
                marked.z,
            ))
        };
        let or_beside = |share: f32| at(share).or_else(|| beside_knee(share));
        let foot = or_beside(0.05)?;
        let hip = or_beside(crotch - 0.01)? + 0.03 * self.height * Vec3::Y;
        let sole = self.leg(0.015, sign);
        let (middle, front) = match &sole {
            Some(sole) => (sole.centre, sole.high.z),
            None => (beside_knee(0.015)?, foot.z + 0.11 * self.height),
        };
        let ahead = |t: f32| Vec3::new(middle.x, middle.y, foot.z + t * (front - foot.z));
        Some([
            ("UpperLeg", hip),
            ("LowerLeg", knee),
            ("Foot", foot),
            ("Toes", ahead(0.62)),
            ("ToesEnd", ahead(0.92)),
        ])
    }

    /// The joints of an arm, from the middle of the chest at the height of the shoulders.
    fn arm_joints(&self, side: Side, chest: Vec3) -> Option<[(&'static str, Vec3); 5]> {
        let shoulder = chest + sign(side) * SHOULDER_OFFSET.1 * self.height * Vec3::X;
        let marked = self.markers.get(Marker::Wrist(side));
        let tip = self.fingertip(sign(side));
        let [elbow_share, wrist_share, knuckle_share] = ARM_FRACTIONS;
        let found =
            tip.map(|tip| self.limb_middle(shoulder.lerp(tip, wrist_share), tip - shoulder));
        let wrist = marked
            .or(found)
            .or_else(|| self.mirrored(Marker::Wrist(side)))?;
        let bent = self.markers.get(Marker::Elbow(side));
        let elbow = bent.unwrap_or_else(|| {
            let straight = match (marked, tip) {
                (None, Some(tip)) => shoulder.lerp(tip, elbow_share),
                _ => shoulder.lerp(wrist, elbow_share / wrist_share),
            };
            self.limb_middle(straight, wrist - shoulder)
        });
        // A tip that is not a hand's length from the marked wrist belongs to something else.
        let hand = |tip: &Vec3| marked.is_none_or(|wrist| wrist.distance(*tip) < 0.2 * self.height);
        let knuckles = match (marked, tip.filter(hand)) {
            (None, Some(tip)) => {
                self.limb_middle(shoulder.lerp(tip, knuckle_share), tip - shoulder)
            }
            (Some(_), Some(tip)) => {
                wrist.lerp(tip, (knuckle_share - wrist_share) / (1.0 - wrist_share))
            }
            (_, None) => {
                let length = (knuckle_share - wrist_share) / wrist_share * shoulder.distance(wrist);
                wrist + length * (wrist - elbow).normalize_or_zero()
            }
        };
        Some([
            ("Shoulder", chest.lerp(shoulder, 0.25)),
            ("UpperArm", shoulder),
            ("LowerArm", elbow),
            ("Hand", wrist),
            ("MiddleProximal", knuckles),
        ])
    }
}

fn sign(side: Side) -> f32 {
    match side {
        Side::Left => 1.0,
        Side::Right => -1.0,
    }
}

#[cfg(test)]
mod tests {
    use supple_geom::shapes::icosphere;

    use super::*;

    #[test]
    fn a_ball_is_not_a_humanoid() {
        let none = Markers::default();
        let error = fit_humanoid(&icosphere(1.0, 3), &none).unwrap_err();
        assert!(matches!(error, FitError::Missing { .. }), "{error}");
        let error = fit_humanoid(&TriMesh::default(), &none).unwrap_err();
        assert_eq!(error, FitError::NotUpright);
    }

    #[test]
    fn markers_make_anything_a_humanoid() {
        // A shape without limbs says which markers it needs; with them it is fitted, and they are honoured.
        let blob = icosphere(1.0, 3);
        let FitError::Missing { missing } = fit_humanoid(&blob, &Markers::default()).unwrap_err()
        else {
            panic!("markers are missing");
        };
        let start = start_markers(&blob);
        let given: Markers = missing
            .iter()
            .map(|&m| (m, start.get(m).unwrap()))
            .collect();
        let skeleton = fit_humanoid(&blob, &given).unwrap();
        let fitted = Markers::of_skeleton(&skeleton, 2.0);
        for (marker, place) in given.iter() {
            let off = fitted.get(marker).unwrap() - place;
            assert!(off.length() < 1e-4, "{marker} is {off} off");
        }
    }
}
