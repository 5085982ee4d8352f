//! Where joints should be in a body: its rig's joints, corrected where rigs are known to differ from anatomy.

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};
use supple_geom::Adjacency;
use supple_geom::section::{Plane, section};

use super::articulations::FINGERS;
use crate::{Body, BodyError, Sex};

/// Where a joint should be, and how much that is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Target {
    /// Position \[m\].
    pub at: DVec3,
    /// Direction of the limb, unit length.
    pub axis: DVec3,
    /// Standard deviation along and across the limb \[m\].
    pub deviation: [f64; 2],
}

/// Rig joints lie on the bending axes of the skin; these are their distances from the anatomical joint, for a body whose
/// bones are `size` times the reference. Measured on the embedded bodies; see `docs/method/bones.md`.
const HIP_HALF_WIDTH: [f64; 2] = [0.0805, 0.0853];
/// Height of the hip above the crotch \[m\].
const HIP_ABOVE_CROTCH: f64 = 0.072;
/// Share of the way from the rig's knee or elbow to the middle of the skin's section there.
const TO_SECTION_MIDDLE: f64 = 0.8;
/// The knee's axis lies below the rig's \[m\].
const KNEE_BELOW: f64 = 0.010;
/// The humerus' head is above and inside of the rig's shoulder \[m\].
const SHOULDER_SHIFT: [f64; 2] = [-0.004, 0.010];
/// Share of the way from the rig's wrist to the root of the second finger's metacarpal.
const WRIST_FORWARD: f64 = 0.12;
/// Soft tissue at the tips of fingers and toes \[m\].
const TIP_DEPTH: f64 = 0.005;

/// Joint targets by articulation name, and tips of digits by the name of their last bone.
pub(super) struct Targets {
    pub joints: BTreeMap<String, Target>,
    pub tips: BTreeMap<String, Target>,
    /// Middle between the inner ends of the clavicles by the rig \[m\].
    pub notch: DVec3,
    /// Heading of each foot, left and right.
    pub headings: [DVec3; 2],
}

/// All targets of a body whose bones are `size` times the reference skeleton.
pub(super) fn targets(body: &Body, size: f64) -> Result<Targets, BodyError> {
    let at = |name: &str| body.joint(name).map(|p| p.as_dvec3());
    let mut joints = BTreeMap::new();
    let mut tips = BTreeMap::new();
    let mut headings = [DVec3::Z; 2];
    let adjacency = Adjacency::new(&body.mesh);
    let middle = |point: DVec3, normal: DVec3| section_middle(body, &adjacency, point, normal);
    let crotch = crotch(body);
    let half_width = HIP_HALF_WIDTH[usize::from(body.sex == Sex::Female)] * size;
    for (k, (side, rig, sign)) in [("l", "L", 1.0), ("r", "R", -1.0)].into_iter().enumerate() {
        let rig_at = |stem: &str| at(&format!("{stem}.{rig}"));
        let named = |name: &str| format!("{name}_{side}");
        let mut knee = rig_at("lowerleg01")?;
        let along = rig_at("lowerleg02")? - rig_at("upperleg02")?;
        knee += TO_SECTION_MIDDLE * (middle(knee, along) - knee);
        knee.y -= KNEE_BELOW * size;
        let rig_hip = rig_at("upperleg01")?;
        let hip = DVec3::new(
            sign * half_width,
            crotch + HIP_ABOVE_CROTCH * size,
            0.1 * rig_hip.z + 0.9 * knee.z,
        );
        let ankle = rig_at("foot")?;
        let mut shoulder = rig_at("upperarm01")?;
        shoulder += size * DVec3::new(sign * SHOULDER_SHIFT[0], SHOULDER_SHIFT[1], 0.0);
        let mut elbow = rig_at("lowerarm01")?;
        let along = rig_at("lowerarm02")? - rig_at("upperarm02")?;
        elbow += TO_SECTION_MIDDLE * (middle(elbow, along) - elbow);
        let mut wrist = rig_at("wrist")?;
        wrist += WRIST_FORWARD * (rig_at("metacarpal2")? - wrist);
        let mut put = |name: &str, at: DVec3, axis: DVec3, deviation: [f64; 2]| {
            let axis = axis.normalize_or(DVec3::Y);
            joints.insert(
                named(name),
                Target {
                    at,
                    axis,
                    deviation,
                },
            );
        };
        put("hip", hip, DVec3::Y, [0.010, 0.008]);
        put("knee", knee, knee - hip, [0.010, 0.004]);
        put("ankle", ankle, ankle - knee, [0.006, 0.006]);
        put("shoulder", shoulder, DVec3::Y, [0.008, 0.008]);
        put("elbow", elbow, elbow - shoulder, [0.010, 0.004]);
        put("wrist", wrist, wrist - elbow, [0.010, 0.004]);
        put(
            "sternoclavicular",
            rig_at("clavicle")?,
            DVec3::Y,
            [0.025, 0.020],
        );
        let heading = rig_at("toe2-1")? - ankle;
        headings[k] = DVec3::new(heading.x, 0.0, heading.z).normalize_or(DVec3::Z);
        for finger in 1..=5 {
            let of = |i: usize| rig_at(&format!("finger{finger}-{i}"));
            let [a, b, c] = [of(1)?, of(2)?, of(3)?];
            let name = FINGERS[finger - 1];
            let (names, deviation) = if finger == 1 {
                let names = [
                    "carpometacarpal1".to_owned(),
                    format!("{name}_proximal"),
                    format!("{name}_distal"),
                ];
                (names, [0.012, 0.005])
            } else {
                (
                    ["proximal", "medial", "distal"].map(|p| format!("{name}_{p}")),
                    [0.016, 0.0025],
                )
            };
            put(&names[0], a, b - a, deviation);
            put(&names[1], b, c - a, [0.012, 0.0025]);
            put(&names[2], c, c - b, [0.008, 0.002]);
            let tip = tip(body, &format!("finger{finger}-3.{rig}"), c, c - b);
            tips.insert(format!("{name}_distal_{side}"), tip);
        }
        for toe in 1..=5 {
            let bones: &[&str] = if toe == 1 {
                &["prox", "dist"]
            } else {
                &["prox", "mid", "dist"]
            };
            let points: Vec<DVec3> = (1..=bones.len())
                .map(|i| rig_at(&format!("toe{toe}-{i}")))
                .collect::<Result<_, _>>()?;
            for (i, bone) in bones.iter().enumerate() {
                let axis = points[(i + 1).min(bones.len() - 1)] - points[i.min(bones.len() - 2)];
                put(&format!("toe{toe}_{bone}"), points[i], axis, [0.016, 0.004]);
            }
            let last = points.len() - 1;
            let joint = format!("toe{toe}-{}.{rig}", points.len());
            let tip = tip(body, &joint, points[last], points[last] - points[last - 1]);
            tips.insert(format!("toe{toe}_dist_{side}"), tip);
        }
    }
    let notch = 0.5 * (at("clavicle.L")? + at("clavicle.R")?);
    Ok(Targets {
        joints,
        tips,
        notch,
        headings,
    })
}

/// Height of the lowest skin on the midline between the legs \[m\].
fn crotch(body: &Body) -> f64 {
    let height = body.height();
    let near = (body.mesh.positions.iter())
        .filter(|p| p.x.abs() < 0.006 * height && (0.25..0.6).contains(&(p.y / height)));
    near.fold(f64::INFINITY, |low, p| low.min(f64::from(p.y)))
        .min(0.6 * f64::from(height))
}

/// Middle of the curve in which a plane cuts the limb at a point; the point itself if it cuts nothing.
fn section_middle(body: &Body, adjacency: &Adjacency, point: DVec3, normal: DVec3) -> DVec3 {
    let plane = Plane {
        point: point.as_vec3(),
        normal: normal.as_vec3(),
    };
    let cut = section(&body.mesh, adjacency, plane);
    let Some(curve) = cut.nearest(point.as_vec3()) else {
        return point;
    };
    // Corners weighted by the sides that meet there, so that dense places do not count more.
    let n = curve.points.len();
    let mut sum = DVec3::ZERO;
    let mut length = 0.0;
    for k in 0..n {
        let (a, b) = (curve.points[k], curve.points[(k + 1) % n]);
        sum += 0.5 * (a + b) * a.distance(b);
        length += a.distance(b);
    }
    if length > 0.0 { sum / length } else { point }
}

/// The bone's end in the tip of a digit.
fn tip(body: &Body, joint: &str, at: DVec3, along: DVec3) -> Target {
    let axis = along.normalize_or(DVec3::Y);
    let weights = body.weight_on(|name| name == joint);
    let reach = |p: &Vec3| (p.as_dvec3() - at).dot(axis);
    let farthest = (body.mesh.positions.iter().zip(&weights))
        .filter(|(_, weight)| **weight > 0.6)
        .map(|(p, _)| p)
        .max_by(|a, b| reach(a).total_cmp(&reach(b)));
    let out = farthest.map_or(axis * 0.02, |p| p.as_dvec3() - at);
    let length = out.length();
    Target {
        at: at + out * ((length - TIP_DEPTH) / length.max(1e-6)).max(0.3),
        axis,
        deviation: [0.002, 0.003],
    }
}
