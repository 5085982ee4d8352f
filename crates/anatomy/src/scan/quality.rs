//! How well a registered body and its scan agree, and what is refused.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::Surface;
use supple_geom::kd_tree::KdTree;
use supple_geom::normals::vertex_normals;

use super::cloud::Cloud;
use super::limbs::{LostLimb, lost_limbs};
use super::{ScanError, fine};
use crate::body_model::{BodyModel, Figure};
use crate::composition::soldiers::Clothes;

/// Distances between scan and registered skin.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Distances {
    /// Root mean square over the scan's points, floor, stray points and hair left out \[m\].
    pub rms: f64,
    /// 95th percentile \[m\].
    pub percentile_95: f64,
    /// Share of the points farther than 2 cm, hair left out: clothes, furniture.
    pub far_share: f64,
    /// How far the skin of trunk and limbs was bent from the nearest body of the space, 95th percentile \[m\]: clothes, and
    /// shapes that the space does not hold.
    #[serde(default)]
    pub bent: f64,
}

/// How much of the skin the scan shows.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Coverage {
    /// Share of the skin's area.
    pub whole: f64,
    /// Share of the area of each part of the body.
    pub parts: Vec<(String, f64)>,
}

/// Farther than this a point is no skin \[m\].
pub(super) const FAR: f32 = 0.02;
/// Farther than this a point is no hair or clothing either \[m\].
const FOREIGN: f32 = 0.05;
/// Skin is covered if scan with an agreeing normal is this near \[m\]: twice the error of a fit without detail.
const NEAR: f32 = 0.025;
/// Share of points beyond [`FOREIGN`] with which a scan is refused. Long hair has up to 4 %, a chair 10 % and more.
const MOST_FOREIGN: f64 = 0.06;
/// Share of points beyond [`FAR`] with which a scan is refused: no fit is right there.
const MOST_FAR: f64 = 0.2;
/// 95th percentile of the bend beyond the body space from which a user should know \[m\]. Bare people have up to 5 mm, wide clothes
/// 9 mm.
const MOST_BENT: f64 = 0.007;
/// Distance off the skin at which a limb is tested for lying inside \[m\], and share of its vertices that may. Arms that
/// touch the trunk have up to a tenth.
pub(super) const OFF_SKIN: f32 = 0.004;
const MOST_BURIED: f64 = 0.3;
/// Factors on the confidence: a hand or foot that is off its scan, another limb that the scan does not show, a skin bent
/// far from the body space.
const END_LOST: f64 = 0.8;
const LIMB_LOST: f64 = 0.5;
const ODD: f64 = 0.6;
/// Parts, the joints whose vertices they are, and the share that must be covered.
const PARTS: [(&str, &[&str], f64); 11] = [
    ("the head", &["head", "neck", "eye", "jaw"], 0.45),
    (
        "the trunk",
        &["root", "spine", "pelvis", "clavicle", "shoulder"],
        0.6,
    ),
    ("the left arm", &["upperarm|.L", "lowerarm|.L"], 0.4),
    ("the right arm", &["upperarm|.R", "lowerarm|.R"], 0.4),
    (
        "the left hand",
        &["wrist|.L", "finger|.L", "metacarpal|.L"],
        0.0,
    ),
    (
        "the right hand",
        &["wrist|.R", "finger|.R", "metacarpal|.R"],
        0.0,
    ),
    ("the left leg", &["upperleg|.L", "lowerleg|.L"], 0.4),
    ("the right leg", &["upperleg|.R", "lowerleg|.R"], 0.4),
    ("the left foot", &["foot|.L", "toe|.L"], 0.0),
    ("the right foot", &["foot|.R", "toe|.R"], 0.0),
    ("the body", &[""], 0.8),
];

/// Distances of a scan's points from a skin.
pub(super) struct Measured {
    pub distances: Distances,
    pub coverage: Coverage,
    /// Limbs that lie within the rest of the body, which happens where the scan has none.
    buried: Vec<String>,
    /// Share of the points over the scalp that are hair.
    hair_share: f64,
    foreign_share: f64,
    foreign_height: f64,
    /// Limbs that are not on their scan.
    lost: Vec<LostLimb>,
    /// Root mean square distance in each of [`REGIONS`] \[m\].
    pub regions: [f64; REGIONS.len()],
}

/// Where men and women differ: the joints whose vertices are compared.
pub(super) const REGIONS: [&[&str]; 4] = [
    &[""],
    &["spine01", "spine02"],
    &["root", "pelvis", "spine05", "upperleg01"],
    &["neck"],
];

/// Measures a skin that was bent to a scan from a fitted figure.
pub(super) fn measure(
    model: &BodyModel,
    fitted: &[DVec3],
    skin: &[DVec3],
    cloud: &Cloud,
) -> Measured {
    let mesh = model.mesh(skin);
    let normals = vertex_normals(&mesh);
    let to_scan = to_scan(&mesh, &normals, cloud);
    let coverage = coverage(model, &mesh, &to_scan);
    let surface = Surface::new(mesh);
    let is_hair = fine::hair(model, fitted, cloud);
    // Distance of each point, whether it lies over the scalp, and the vertex it lies over.
    let found: Vec<(f32, bool, u32)> = (cloud.points.par_iter())
        .map(|&p| match surface.closest_point(p) {
            Some(on) => {
                let vertex = model.triangles[on.triangle as usize][0];
                (on.distance, model.is_scalp(vertex as usize), vertex)
            }
            None => (f32::MAX, false, 0),
        })
        .collect();
    let regions = REGIONS.map(|joints| region_distance(model, joints, &found));
    let off_skin: Vec<f32> = (found.iter())
        .map(|(d, scalp, _)| if *scalp { f32::INFINITY } else { *d })
        .collect();
    let lost = lost_limbs(model, &surface, &normals, cloud, &off_skin, &to_scan);
    let count = found.len().max(1) as f64;
    let foreign: Vec<f32> = (found.iter().zip(&cloud.points))
        .filter(|((d, scalp, _), _)| *d > FOREIGN && !scalp)
        .map(|(_, p)| p.y)
        .collect();
    let far = found
        .iter()
        .filter(|(d, scalp, _)| *d > FAR && !scalp)
        .count() as f64;
    let scalp = found.iter().filter(|(_, scalp, _)| *scalp).count().max(1) as f64;
    let hair_share = is_hair.iter().filter(|hair| **hair).count() as f64 / scalp;
    let bald = found.iter().zip(&is_hair).filter(|(_, hair)| !**hair);
    let mut off: Vec<f32> = bald.map(|(f, _)| f.0).collect();
    let squares: f64 = off.iter().map(|&d| f64::from(d).powi(2)).sum();
    let rms = (squares / off.len().max(1) as f64).sqrt();
    off.sort_by(f32::total_cmp);
    let (low, high) =
        (foreign.iter()).fold((f32::MAX, f32::MIN), |(l, h), &y| (l.min(y), h.max(y)));
    Measured {
        distances: Distances {
            rms,
            percentile_95: off.get(off.len() * 19 / 20).map_or(0.0, |&d| f64::from(d)),
            far_share: far / count,
            bent: bent(model, fitted, skin),
        },
        coverage,
        hair_share,
        buried: buried(model, &surface),
        foreign_share: foreign.len() as f64 / count,
        foreign_height: f64::from((high - low).max(0.0)),
        lost,
        regions,
    }
}

/// Root mean square distance of the points over a region, each up to 2 cm \[m\].
fn region_distance(model: &BodyModel, joints: &[&str], found: &[(f32, bool, u32)]) -> f64 {
    let wanted: Vec<bool> = (model.joint_names.iter())
        .map(|name| joints.iter().any(|start| name.starts_with(start)))
        .collect();
    let (mut sum, mut count) = (0.0, 0.0);
    for &(distance, scalp, vertex) in found {
        if !scalp && wanted[model.main_joint(vertex as usize)] {
            sum += f64::from(distance.min(FAR)).powi(2);
            count += 1.0;
        }
    }
    (sum / f64::max(count, 1.0)).sqrt()
}

/// Vertices of a limb: those of the joints that start so and end on a side.
pub(super) fn of_joints(model: &BodyModel, starts: &[&str], ending: &str) -> Vec<usize> {
    let wanted: Vec<bool> = (model.joint_names.iter())
        .map(|name| name.ends_with(ending) && starts.iter().any(|start| name.starts_with(start)))
        .collect();
    (0..model.vertex_count())
        .filter(|&v| wanted[model.main_joint(v)] && !model.is_hidden(v))
        .collect()
}

/// 95th percentile of the distance between two skins along their normals over trunk and limbs \[m\].
fn bent(model: &BodyModel, fitted: &[DVec3], skin: &[DVec3]) -> f64 {
    let normals = vertex_normals(&model.mesh(fitted));
    let body = model.trunk_and_limbs();
    let mut off: Vec<f64> = (0..fitted.len())
        .filter(|&v| body[v] && !model.is_hidden(v))
        .map(|v| (skin[v] - fitted[v]).dot(normals[v].as_dvec3()).abs())
        .collect();
    off.sort_by(f64::total_cmp);
    off.get(off.len() * 19 / 20).copied().unwrap_or(0.0)
}

/// Distance of each vertex from scan with an agreeing normal, infinite beyond [`NEAR`] \[m\].
fn to_scan(mesh: &supple_geom::TriMesh, normals: &[Vec3], cloud: &Cloud) -> Vec<f32> {
    let tree = KdTree::new(&cloud.points);
    (0..mesh.positions.len())
        .into_par_iter()
        .map(|v| {
            let agrees = |i: u32| cloud.normals[i as usize].dot(normals[v]) > 0.3;
            let near = tree.nearest_where(mesh.positions[v], NEAR, agrees);
            near.map_or(f32::INFINITY, |n| n.distance_squared.sqrt())
        })
        .collect()
}

fn coverage(model: &BodyModel, mesh: &supple_geom::TriMesh, to_scan: &[f32]) -> Coverage {
    let areas = mesh.vertex_areas();
    let share = |wanted: &dyn Fn(usize) -> bool| {
        let (mut all, mut seen) = (0.0, 0.0);
        for v in (0..areas.len()).filter(|&v| !model.is_hidden(v) && wanted(v)) {
            all += areas[v];
            seen += if to_scan[v].is_finite() {
                areas[v]
            } else {
                0.0
            };
        }
        seen / f64::max(all, 1e-12)
    };
    let parts = PARTS.map(|(name, joints, _)| {
        let belongs = |v: usize| {
            let joint = &model.joint_names[model.main_joint(v)];
            joints.iter().any(|pattern| matches(joint, pattern))
        };
        (name.to_owned(), share(&belongs))
    });
    Coverage {
        whole: share(&|_| true),
        parts: parts.to_vec(),
    }
}

/// Whether a joint's name matches a pattern: `start`, or `start|end`.
fn matches(joint: &str, pattern: &str) -> bool {
    match pattern.split_once('|') {
        Some((start, end)) => joint.starts_with(start) && joint.ends_with(end),
        None => joint.starts_with(pattern),
    }
}

/// Arms and legs of which much lies inside the rest of the body. A point just off the skin has winding number zero, but
/// one where another part of the body is around it.
fn buried(model: &BodyModel, surface: &Surface) -> Vec<String> {
    let mesh = surface.mesh();
    let normals = vertex_normals(mesh);
    let mut found = Vec::new();
    for (name, joints, _) in PARTS
        .iter()
        .filter(|p| p.0.ends_with("arm") || p.0.ends_with("leg"))
    {
        let of_part = |v: &usize| {
            let joint = &model.joint_names[model.main_joint(*v)];
            joints.iter().any(|pattern| matches(joint, pattern))
        };
        let vertices: Vec<usize> = (0..mesh.positions.len())
            .filter(of_part)
            .step_by(4)
            .collect();
        let inside = (vertices.par_iter())
            .filter(|&&v| surface.contains(mesh.positions[v] + OFF_SKIN * normals[v]))
            .count();
        if inside as f64 > MOST_BURIED * vertices.len() as f64 {
            found.push((*name).to_owned());
        }
    }
    found
}

impl Measured {
    /// Rejects anything but a single, whole, standing person.
    pub fn check(&self, stature: f64) -> Result<(), ScanError> {
        let shares = self.coverage.parts.iter().zip(PARTS);
        let bare: Vec<&(String, f64)> = shares.filter(|(p, q)| p.1 < q.2).map(|s| s.0).collect();
        let far = self.distances.far_share;
        if !bare.is_empty() && far > MOST_FAR {
            return Err(ScanError::NotAPerson {
                reason: format!(
                    "{:.0} % of it are farther than 2 cm from the nearest body, of which it shows {:.0} %",
                    100.0 * far,
                    100.0 * self.coverage.whole
                ),
            });
        }
        if let Some((part, share)) = bare.first() {
            return Err(ScanError::Missing {
                part: part.clone(),
                percent: 100.0 * share,
            });
        }
        let needed = |limb: &&LostLimb| limb.is_elsewhere && !limb.is_end;
        if let Some(limb) = self.lost.iter().find(needed) {
            return Err(ScanError::LostLimb {
                limb: limb.name.clone(),
            });
        }
        if let Some(part) = self.buried.first() {
            return Err(ScanError::Missing {
                part: part.clone(),
                percent: 0.0,
            });
        }
        if self.foreign_share > 0.25 && self.foreign_height > 0.7 * stature {
            return Err(ScanError::SeveralPeople);
        }
        if self.foreign_share > MOST_FOREIGN || far > MOST_FAR {
            return Err(ScanError::Foreign {
                percent: 100.0 * far,
                distance: 100.0 * f64::from(FAR),
            });
        }
        Ok(())
    }

    /// From 0 to 1: falls with points that are not skin, with skin that no point covers, with limbs that are off, and with clothes.
    pub fn confidence(&self, clothes: Option<&Clothes>, bent_limbs: usize) -> f64 {
        let far = (1.0 - self.distances.far_share / MOST_FAR).clamp(0.0, 1.0);
        let bare = (1.0 - (0.95 - self.coverage.whole).max(0.0) / 0.4).clamp(0.0, 1.0);
        let rough = (1.0 - (self.distances.percentile_95 - 0.01).max(0.0) / 0.05).clamp(0.0, 1.0);
        let ends = |limb: &LostLimb| if limb.is_end { END_LOST } else { LIMB_LOST };
        let limbs: f64 = self.lost.iter().map(ends).product();
        let dressed = clothes.map_or(1.0, |clothes| 1.0 - clothes.probability());
        let odd = if self.distances.bent > MOST_BENT {
            ODD
        } else {
            1.0
        };
        let bent = END_LOST.powi(bent_limbs as i32);
        far * bare * rough * limbs * dressed * odd * bent
    }

    /// What a user should know, one line each.
    pub fn warnings(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let far = self.distances.far_share;
        if far > 0.02 {
            lines.push(format!(
                "{:.1} % of the scan are farther than 2 cm from the skin (clothes, things)",
                100.0 * far
            ));
        }
        for limb in &self.lost {
            lines.push(match limb.is_elsewhere {
                true => format!("{} is not where the scan has it", limb.name),
                false => format!("the scan does not show {}", limb.name),
            });
        }
        if self.hair_share > 0.1 {
            lines.push(format!(
                "{:.0} % of the scalp are under more than 1 cm of hair or a hat, which are left out; the stature is uncertain",
                100.0 * self.hair_share
            ));
        }
        if self.distances.bent > MOST_BENT {
            lines.push(format!(
                "5 % of the skin are more than {:.0} mm off the nearest body of the body space: clothes, or an unusual shape",
                1e3 * self.distances.bent
            ));
        }
        if self.coverage.whole < 0.95 {
            let worst: Vec<String> = (self.coverage.parts.iter())
                .filter(|(name, share)| *share < 0.8 && name != "the body")
                .map(|(name, share)| format!("{name} {:.0} %", 100.0 * share))
                .collect();
            lines.push(format!(
                "the scan shows {:.0} % of the skin{}{}; the rest is the body space's",
                100.0 * self.coverage.whole,
                if worst.is_empty() { "" } else { ": " },
                worst.join(", ")
            ));
        }
        lines
    }
}

/// Mean cosine between normals of the scan and of the nearest skin: negative if the scan is inside out.
pub(super) fn facing(model: &BodyModel, skin: &[DVec3], cloud: &Cloud) -> f64 {
    let mesh = model.mesh(skin);
    let normals: Vec<Vec3> = vertex_normals(&mesh);
    let tree = KdTree::new(&mesh.positions);
    let cosines: Vec<f64> = (cloud.points.par_iter().zip(&cloud.normals))
        .map(|(&p, n)| {
            let near = tree.nearest(p, 0.1);
            near.map_or(0.0, |v| f64::from(normals[v.index as usize].dot(*n)))
        })
        .collect();
    cosines.iter().sum::<f64>() / cosines.len().max(1) as f64
}

/// Fields beyond this many times their expected size are unusual, and are reported. Bare people have up to 2.2 in one of 22 fields; the
/// upper arms and shanks of people in shirts and trousers that stand off by 2 cm have 3.0 to 3.6.
const UNUSUAL: f64 = 2.8;
/// Eyes this much farther from the neck, in shares of the stature, are a child's: 1.3 m tall children have a fifth more
/// than men, short women a tenth.
const CHILD_HEAD: f64 = 1.2;
/// Above this stature large heads are caricatures, not children \[m\].
const CHILD_STATURE: f64 = 1.5;

/// Volume over squared stature below which a short body with a large head may be a child's \[m\]. Heads shrink little with stature, so that
/// short adults have a child's proportions; but children are slight. The tall child of the tests has 0.017, a woman of 1.40 m and 55 kg
/// 0.028; a child as stout as an adult is taken for one.
const CHILD_STOUTNESS: f64 = 0.0215;

fn is_slight(model: &BodyModel, figure: &Figure, stature: f64) -> bool {
    let mesh = model.mesh(&model.rest_vertices(&figure.coefficients));
    mesh.signed_volume() < CHILD_STOUTNESS * stature * stature
}

/// From the head's joint to the eye in shares of the stature. Eyes, because scans show hair on heads.
fn head_share(model: &BodyModel, coefficients: &[f64]) -> (f64, f64) {
    let joints = model.rest_joints(coefficients);
    let heights: Vec<f64> = model
        .rest_vertices(coefficients)
        .iter()
        .map(|v| v.y)
        .collect();
    let top = heights.iter().copied().fold(f64::MIN, f64::max);
    let stature = top - heights.iter().copied().fold(f64::MAX, f64::min);
    let head = joints[model.joint("eye.L")].distance(joints[model.joint("head")]);
    (head / stature, stature)
}

/// What a user should know of clothes.
pub(super) fn clothes_warning(clothes: Clothes) -> String {
    format!(
        "the girths are those of somebody in clothes about {:.0} mm off the skin on {}: volume, weight and fat are too large",
        1e3 * clothes.thickness,
        clothes.on
    )
}

/// Refuses a child's proportions; returns a line on what is unusual.
pub(super) fn check_shape(model: &BodyModel, figure: &Figure) -> Result<Option<String>, ScanError> {
    let (head, stature) = head_share(model, &figure.coefficients);
    let (usual, _) = head_share(model, &vec![0.0; model.field_count()]);
    if head > CHILD_HEAD * usual && stature < CHILD_STATURE && is_slight(model, figure, stature) {
        return Err(ScanError::Child {
            what: format!(
                "the head is {:.0} % larger than an adult's",
                100.0 * (head / usual - 1.0)
            ),
        });
    }
    let fields = model
        .field_names
        .iter()
        .zip(figure.coefficients.iter().zip(&model.deviations));
    let mut unusual = Vec::new();
    for (name, (&c, &deviation)) in fields.filter(|f| !f.0.starts_with("component")) {
        if c.abs() > UNUSUAL * deviation {
            unusual.push(format!("{name} {:+.0} %", 100.0 * c));
        }
    }
    Ok((!unusual.is_empty())
        .then(|| format!("unusual for an adult, or clothes: {}", unusual.join(", "))))
}
