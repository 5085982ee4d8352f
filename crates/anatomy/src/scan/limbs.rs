//! Whether each limb lies on its own scan.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::Surface;

use super::cloud::Cloud;
use super::fit::TURNED;
use super::quality::{FAR, OFF_SKIN, of_joints};
use crate::body_model::{BodyModel, Figure};

/// Limbs and the joints whose vertices they are, but for the side.
const LIMBS: [(&str, &[&str]); 6] = [
    ("upper arm", &["upperarm"]),
    ("forearm", &["lowerarm"]),
    ("hand", &["wrist", "finger", "metacarpal"]),
    ("thigh", &["upperleg"]),
    ("shank", &["lowerleg"]),
    ("foot", &["foot", "toe"]),
];
/// A limb is off its scan if less of its skin than the first share has scan within 2 cm, or more than the second lies inside the rest of
/// the body. Fists and closed thighs have 0.5 of the first; arms that lie on the trunk of heavy people have 0.4 of the second.
const LEAST_SEEN: f64 = 0.4;
const MOST_INSIDE: f64 = 0.5;
/// Scan that no skin meets is the limb's if it lies this near to the limb's upper joint \[m\], and enough of it is there to be the limb: in
/// shares of the points that the limb's area would have. Below 0.15 seams and wrinkles count as arms.
const REACH: f32 = 0.5;
const LEAST_STRAY: f64 = 0.25;

/// A joint that is turned by more than this many times its expected size was drawn there against the prior: the skin meets the scan, but slides
/// along the limb. Elbows bent by 90° have their wrists within 1 cm, by 115° within 3, by 130° 6 cm off.
const MOST_TURNED: f64 = 5.0;

/// A limb that is not where the scan has one, or that the scan does not show.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LostLimb {
    /// "the left forearm".
    pub name: String,
    /// Whether there is scan that may be this limb's.
    pub is_elsewhere: bool,
    /// Hands and feet are named, the others are needed.
    pub is_end: bool,
}

/// Limbs that are off. `off_skin` is the distance of each point from the skin, infinite for hair; `to_scan` that of each vertex from scan
/// with an agreeing normal.
pub(super) fn lost_limbs(
    model: &BodyModel,
    surface: &Surface,
    normals: &[Vec3],
    cloud: &Cloud,
    off_skin: &[f32],
    to_scan: &[f32],
) -> Vec<LostLimb> {
    let mesh = surface.mesh();
    let areas = mesh.vertex_areas();
    let strays: Vec<Vec3> = (cloud.points.iter().zip(off_skin))
        .filter(|(_, off)| **off > FAR && off.is_finite())
        .map(|(p, _)| *p)
        .collect();
    let density = cloud.points.len() as f64 / areas.iter().sum::<f64>().max(1e-9);
    let mut found = Vec::new();
    for (name, joints) in LIMBS {
        for (side, ending) in [("left", ".L"), ("right", ".R")] {
            let vertices = of_joints(model, joints, ending);
            let share = |is: &dyn Fn(usize) -> bool| {
                let sum = |of: &mut dyn Iterator<Item = usize>| of.map(|v| areas[v]).sum::<f64>();
                let all = sum(&mut vertices.iter().copied());
                sum(&mut vertices.iter().copied().filter(|&v| is(v))) / all.max(1e-12)
            };
            let seen = share(&|v| to_scan[v] < FAR);
            let tested: Vec<usize> = vertices.iter().copied().step_by(4).collect();
            let inside = (tested.par_iter())
                .filter(|&&v| surface.contains(mesh.positions[v] + OFF_SKIN * normals[v]))
                .count();
            let is_inside = inside as f64 > MOST_INSIDE * tested.len() as f64;
            if seen >= LEAST_SEEN && !is_inside {
                continue;
            }
            // The middle of the limb's uppermost tenth stands for its upper joint.
            let mut heights = vertices.clone();
            heights.sort_by(|&a, &b| mesh.positions[b].y.total_cmp(&mesh.positions[a].y));
            heights.truncate(vertices.len() / 10 + 1);
            let top =
                heights.iter().map(|&v| mesh.positions[v]).sum::<Vec3>() / heights.len() as f32;
            let near = strays.iter().filter(|p| p.distance(top) < REACH).count() as f64;
            let area: f64 = vertices.iter().map(|&v| areas[v]).sum();
            found.push(LostLimb {
                name: format!("the {side} {name}"),
                is_elsewhere: near > LEAST_STRAY * area * density,
                is_end: matches!(name, "hand" | "foot"),
            });
        }
    }
    found
}

/// Limbs that are bent farther than is searched, one line each.
pub(super) fn bent_limbs(model: &BodyModel, figure: &Figure) -> Vec<String> {
    const JOINTS: [(&str, &str); 4] = [
        ("upperarm01", "upper arm"),
        ("lowerarm01", "forearm"),
        ("upperleg01", "thigh"),
        ("lowerleg01", "shank"),
    ];
    let mut lines = Vec::new();
    for (joint, sizes) in TURNED {
        let limb = JOINTS.iter().find(|(start, _)| joint.starts_with(start));
        let angles = figure.locals[model.joint(joint)].to_scaled_axis();
        let turned = [0, 1, 2].map(|k| (angles[k].to_degrees() / sizes[k]).powi(2));
        let turned = turned.iter().sum::<f64>().sqrt();
        if let Some((_, limb)) = limb.filter(|_| turned > MOST_TURNED) {
            let side = if joint.ends_with('L') {
                "left"
            } else {
                "right"
            };
            lines.push(format!(
                "the {side} {limb} is bent by {:.0}°, farther than is searched: it may be misplaced by some centimetres",
                angles.length().to_degrees()
            ));
        }
    }
    lines
}
