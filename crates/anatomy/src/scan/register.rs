//! The stages of a registration.

use glam::{DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;

use super::cloud::Cloud;
use super::fit::{Anchor, Fitter, Target, Weighing};
use super::frame::{Upright, find_floor, remove_floor, remove_ground, uprights};
use super::quality::{facing, measure};
use super::sex::{Candidate, probability_of_man};
use super::start::{Start, differ, opposite, sized, starts};
use super::{Options, Placement, Registered, Scan, ScanError};
use super::{beside, fine, limbs, normals, pieces, quality, strays, unpose};
use crate::Sex;
use crate::body_model::{BodyModel, Figure};
use crate::composition::soldiers::{self, Clothes};
use crate::progress::Progress;

/// Least number of points a body is seen in.
const LEAST_POINTS: usize = 500;
/// Spacing of points and vertices in the coarse and the close fit \[m\], and steps of each.
const COARSE: (f32, usize) = (0.03, 8);
const CLOSE: (f32, usize) = (0.014, 22);
/// Kernel widths at the start, between, and at the end \[m\]. A wider start pulls arms to the trunk, a narrower one misses
/// limbs; a narrower end gains nothing over the bending after it.
const WIDTHS: [f64; 3] = [0.12, 0.04, 0.012];
/// Starts that are tried.
const TRIED: usize = 4;
/// Ground is lower than the first over the soles and farther than the second from the body \[m\]: after the start, whose feet may be a
/// hand's breadth off and on the ground below a pedestal, and after the fit.
const GROUND: [[f32; 2]; 2] = [[0.08, 0.10], [0.02, 0.012]];
/// Shares of the time after which the scan is tidy, starts are guessed, one is chosen, and the figure is fitted; the rest bends
/// and un-poses it. They are for progress bars only.
const READ: f64 = 0.07;
const GUESSED: f64 = 0.25;
const STARTED: f64 = 0.38;
const FITTED: f64 = 0.72;
/// Share of the coarse steps in the time of one sex.
const COARSE_SHARE: f64 = 0.2;

/// A scan made upright, in metres.
struct Stand {
    cloud: Cloud,
    upright: Upright,
}

/// Registers the body space to a scan.
pub fn register(scan: &Scan, options: &Options) -> Result<Registered, ScanError> {
    register_with(scan, options, &Progress::silent())
}

/// [`register`], and tells how far it is.
pub fn register_with(
    scan: &Scan,
    options: &Options,
    progress: &Progress,
) -> Result<Registered, ScanError> {
    check(scan)?;
    let cut = strays::without_strays(scan);
    let scan = cut.as_ref().unwrap_or(scan);
    let origin = middle(&scan.points).ok_or(ScanError::TooFewPoints {
        count: 0,
        least: LEAST_POINTS,
    })?;
    let mut cloud = Cloud::of(scan, origin);
    enough(&cloud)?;
    let floor = find_floor(&cloud);
    if let Some(floor) = floor {
        remove_floor(&mut cloud, floor);
    }
    cloud.drop_lonely(cloud.extent().max_element());
    enough(&cloud)?;
    let guide = BodyModel::embedded(options.sex.unwrap_or(Sex::Male));
    let beside = beside::person_among(&cloud, guide, floor, scan, options)?;
    let has_beside = beside.is_some();
    if let Some(person) = beside {
        cloud = person;
        enough(&cloud)?;
    }
    let ways = uprights(&cloud, floor, scan, options)?;
    let first = &ways[0];
    let debris = pieces::tidy(&mut cloud, first.up.as_vec3(), first.metres_per_unit as f32)?;
    enough(&cloud)?;
    let ways = match debris {
        true => uprights(&cloud, floor, scan, options)?,
        false => ways,
    };
    let estimated = cloud.normals.is_empty();
    if estimated {
        cloud.normals = normals::estimated_normals(&cloud.points, ways[0].up.as_vec3());
    }
    let stands: Vec<Stand> = (ways.into_iter())
        .map(|upright| Stand {
            cloud: upright.applied(&cloud),
            upright,
        })
        .collect();
    progress.reach(READ);
    let (mut stand, start) = best_start(guide, stands, progress)?;
    progress.reach(STARTED);
    let inside_out = turn_outwards(guide, &mut stand.cloud, &start.figure) && !estimated;
    let [above, away] = GROUND[0];
    let body = guide.mesh(&start.figure.vertices(guide));
    let mut has_ground = remove_ground(&mut stand.cloud, body, above, away);
    enough(&stand.cloud)?;
    let anchors = anchors(guide, options, &stand.upright, origin)?;
    let mut fitted = fitted_figures(options.sex, &stand, &start, &anchors, progress);
    fitted.sort_by(|a, b| a.2.total_cmp(&b.2));
    progress.reach(FITTED);
    let [above, away] = GROUND[1];
    let (nearest, figure, _) = &fitted[0];
    let body = nearest.mesh(&figure.vertices(nearest));
    has_ground |= remove_ground(&mut stand.cloud, body, above, away);
    enough(&stand.cloud)?;
    let bent: Vec<Result<Candidate, ScanError>> = (fitted.into_par_iter())
        .map(|(model, figure, _)| bent(model, figure, &stand.cloud))
        .collect();
    let (chosen, sex_confidence) = chosen(bent)?;
    let mut found = finish(
        chosen,
        sex_confidence,
        stand.upright,
        origin,
        floor.is_some() || has_ground,
        inside_out,
    )?;
    if has_beside {
        found
            .warnings
            .push("things beside the person were left out".to_owned());
    }
    Ok(found)
}

fn check(scan: &Scan) -> Result<(), ScanError> {
    if !scan.triangles.is_empty() {
        let count = scan.points.len() as u32;
        let bad = scan.triangles.iter().any(|t| t.iter().any(|&v| v >= count));
        if bad {
            let mesh = TriMesh {
                positions: scan.points.clone(),
                triangles: scan.triangles.clone(),
            };
            mesh.check()?;
        }
    }
    Ok(())
}

fn enough(cloud: &Cloud) -> Result<(), ScanError> {
    match cloud.points.len() < LEAST_POINTS {
        true => Err(ScanError::TooFewPoints {
            count: cloud.points.len(),
            least: LEAST_POINTS,
        }),
        false => Ok(()),
    }
}

/// The middle of the finite points, so that far-off coordinates lose no digits.
fn middle(points: &[Vec3]) -> Option<DVec3> {
    let finite = || points.iter().filter(|p| p.is_finite());
    let low = finite().copied().reduce(Vec3::min)?.as_dvec3();
    let high = finite().copied().reduce(Vec3::max)?.as_dvec3();
    Some(0.5 * (low + high))
}

impl Upright {
    pub(super) fn applied(&self, cloud: &Cloud) -> Cloud {
        let mut upright = cloud.clone();
        upright.transform(self.rotation, self.metres_per_unit);
        upright
    }
}

/// The best of all stands and headings: a grid first, then a short fit of the most promising ones.
fn best_start(
    guide: &BodyModel,
    stands: Vec<Stand>,
    progress: &Progress,
) -> Result<(Stand, Start), ScanError> {
    let mut found: Vec<(usize, Start)> = Vec::new();
    for (index, stand) in stands.iter().enumerate() {
        let all = starts(guide, &stand.cloud, stand.upright.stature);
        found.extend(all.into_iter().map(|start| (index, start)));
    }
    found.sort_by(|a, b| a.1.score.total_cmp(&b.1.score));
    let Some(best) = found.first().cloned() else {
        return Err(ScanError::NotAPerson {
            reason: "nothing in it stands upright".to_owned(),
        });
    };
    let mut tried: Vec<(usize, Start)> = Vec::new();
    // Front and back look alike to distances alone.
    let back = |s: &&(usize, Start)| s.0 == best.0 && opposite(s.1.heading, best.1.heading);
    let reverse = found.iter().find(back).cloned();
    for candidate in std::iter::once(best.clone())
        .chain(reverse)
        .chain(found.iter().cloned())
    {
        let new =
            |t: &(usize, Start)| t.0 != candidate.0 || differ(t.1.heading, candidate.1.heading);
        if tried.len() < TRIED && tried.iter().all(new) {
            tried.push(candidate);
        }
    }
    progress.reach(GUESSED);
    let fitter = Fitter::new(guide, COARSE.0, &[]);
    let mut scored: Vec<(f64, usize, Start)> = Vec::new();
    for (index, mut start) in tried {
        let mut cloud = stands[index].cloud.thinned(COARSE.0);
        turn_outwards(guide, &mut cloud, &start.figure);
        let target = Target::new(cloud);
        let cost = descend(
            &fitter,
            &mut start.figure,
            &target,
            COARSE.1,
            [WIDTHS[0], WIDTHS[1]],
            [1.0, 0.3],
            &|share| progress.advance(share * (STARTED - GUESSED) / TRIED as f64),
        );
        scored.push((cost, index, start));
    }
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, index, start) = scored.swap_remove(0);
    let stand = stands.into_iter().nth(index);
    stand
        .map(|stand| (stand, start))
        .ok_or(ScanError::NotAPerson {
            reason: "nothing in it stands upright".to_owned(),
        })
}

/// Turns normals outwards. True if they pointed inwards.
fn turn_outwards(model: &BodyModel, cloud: &mut Cloud, figure: &Figure) -> bool {
    let inwards = facing(model, &figure.vertices(model), cloud) < 0.0;
    if inwards {
        cloud.flip();
    }
    inwards
}

/// Steps with kernel widths between two, and reverse and tangential weights. Returns the last cost.
fn descend(
    fitter: &Fitter,
    figure: &mut Figure,
    target: &Target,
    steps: usize,
    widths: [f64; 2],
    [reverse, tangential]: [f64; 2],
    advance: &dyn Fn(f64),
) -> f64 {
    let ratio = widths[1] / widths[0];
    let mut cost = f64::INFINITY;
    for k in 0..steps {
        let along = k as f64 / (steps - 1).max(1) as f64;
        let late = along > 0.5;
        let weighing = Weighing {
            width: widths[0] * ratio.powf(along),
            reverse,
            tangential: if late { 0.2 * tangential } else { tangential },
        };
        cost = fitter.step(figure, target, weighing);
        advance(1.0 / steps as f64);
    }
    cost
}

/// A figure of one sex fitted to the scan, and its cost.
type Fitted = (&'static BodyModel, Figure, f64);

/// Of the given sex, or of both.
fn fitted_figures(
    sex: Option<Sex>,
    stand: &Stand,
    start: &Start,
    anchors: &[Anchor],
    progress: &Progress,
) -> Vec<Fitted> {
    let share = (FITTED - STARTED) / if sex.is_some() { 1.0 } else { 2.0 };
    let coarse = Target::new(stand.cloud.thinned(COARSE.0));
    let close = Target::new(stand.cloud.thinned(CLOSE.0));
    let fit = |sex: Sex| {
        let model = BodyModel::embedded(sex);
        let mut figure = moved_to(model, start, stand);
        let fitter = Fitter::new(model, COARSE.0, anchors);
        descend(
            &fitter,
            &mut figure,
            &coarse,
            COARSE.1,
            [2.0 * WIDTHS[1], WIDTHS[1]],
            [1.0, 0.3],
            &|part| progress.advance(COARSE_SHARE * share * part),
        );
        let fitter = Fitter::new(model, CLOSE.0, anchors);
        let cost = descend(
            &fitter,
            &mut figure,
            &close,
            CLOSE.1,
            [WIDTHS[1], WIDTHS[2]],
            [0.5, 0.1],
            &|part| progress.advance((1.0 - COARSE_SHARE) * share * part),
        );
        (model, figure, cost)
    };
    match sex {
        Some(sex) => vec![fit(sex)],
        None => {
            let (male, female) = rayon::join(|| fit(Sex::Male), || fit(Sex::Female));
            vec![male, female]
        }
    }
}

/// A fitted figure bent to the scan and un-posed.
fn bent(
    model: &'static BodyModel,
    mut figure: Figure,
    cloud: &Cloud,
) -> Result<Candidate, ScanError> {
    let fitted = figure.vertices(model);
    if fitted.iter().any(|v| !v.is_finite()) {
        return Err(ScanError::NotAPerson {
            reason: "the fit did not settle".to_owned(),
        });
    }
    let skin = fine::deformed(model, &fitted, cloud);
    let measured = measure(model, &fitted, &skin, cloud);
    let unposed = unpose::unposed(model, &mut figure, &skin);
    Ok(Candidate {
        model,
        figure,
        skin,
        measured,
        unposed,
    })
}

/// The likelier of one or two candidates, and the probability of its sex.
fn chosen(bent: Vec<Result<Candidate, ScanError>>) -> Result<(Candidate, f64), ScanError> {
    let mut candidates = bent.into_iter().collect::<Result<Vec<_>, _>>()?;
    candidates.sort_by_key(|candidate| candidate.model.sex as usize);
    let man = match &candidates[..] {
        [male, female] => probability_of_man(male, female),
        _ => return Ok((candidates.swap_remove(0), 1.0)),
    };
    match man >= 0.5 {
        true => Ok((candidates.swap_remove(0), man)),
        false => Ok((candidates.swap_remove(1), 1.0 - man)),
    }
}

/// The start for another model: of the same stature, pose and place of the root.
fn moved_to(model: &BodyModel, start: &Start, stand: &Stand) -> Figure {
    let guide = BodyModel::embedded(start.sex);
    let old_root = guide.rest_joints(&start.figure.coefficients)[0];
    let coefficients = sized(model, stand.upright.stature).coefficients;
    let new_root = model.rest_joints(&coefficients)[0];
    Figure {
        coefficients,
        locals: start.figure.locals.clone(),
        translation: start.figure.translation + old_root - new_root,
    }
}

/// Landmarks in the stand's frame.
fn anchors(
    model: &BodyModel,
    options: &Options,
    upright: &Upright,
    origin: DVec3,
) -> Result<Vec<Anchor>, ScanError> {
    let point_of = |name: &str| match name.strip_prefix("vertex:") {
        Some(number) => number
            .parse()
            .ok()
            .filter(|&v: &usize| v < model.vertex_count()),
        None => {
            let joint = model.joint_names.iter().position(|joint| joint == name);
            joint.map(|joint| model.vertex_count() + joint)
        }
    };
    (options.landmarks.iter())
        .map(|landmark| {
            let point = point_of(&landmark.name).ok_or_else(|| ScanError::Landmark {
                name: landmark.name.clone(),
            })?;
            let place = DVec3::from_array(landmark.place) - origin;
            Ok(Anchor {
                point,
                place: upright.rotation * place * upright.metres_per_unit,
            })
        })
        .collect()
}

fn finish(
    candidate: Candidate,
    sex_confidence: f64,
    upright: Upright,
    origin: DVec3,
    floor: bool,
    inside_out: bool,
) -> Result<Registered, ScanError> {
    let clothes = (candidate.measures()).and_then(|measures| soldiers::clothes(&measures));
    let Candidate {
        model,
        mut figure,
        skin,
        measured,
        unposed,
    } = candidate;
    measured.check(upright.stature)?;
    let unusual = quality::check_shape(model, &figure)?;
    let bent_limbs = limbs::bent_limbs(model, &figure);
    let confidence = measured.confidence(clothes.as_ref(), bent_limbs.len());
    // Back to the scan's own axes: a tilt was taken out only for the fit.
    let tilt = upright.axes * upright.rotation.transpose();
    let shift = upright.axes * origin * upright.metres_per_unit;
    let root = unposed.rest_joints[0];
    figure.translation = tilt * (root + figure.translation) + shift - root;
    figure.locals[0] = (DQuat::from_mat3(&tilt) * figure.locals[0]).normalize();
    let moved = |points: Vec<DVec3>| points.into_iter().map(|p| tilt * p + shift).collect();
    let mut warnings = measured.warnings();
    warnings.extend(bent_limbs);
    warnings.extend(unusual);
    warnings.extend(
        clothes
            .filter(Clothes::are_noticed)
            .map(quality::clothes_warning),
    );
    if inside_out {
        warnings
            .push("the scan is inside out or mirrored; its normals were turned round".to_owned());
    }
    Ok(Registered {
        sex: model.sex,
        sex_confidence,
        vertices: moved(skin),
        joints: moved(unposed.joints),
        rest_vertices: unposed.vertices,
        rest_joints: unposed.rest_joints,
        distances: measured.distances,
        confidence,
        coverage: measured.coverage,
        placement: Placement {
            metres_per_unit: upright.metres_per_unit,
            up: upright.up,
            rotation: upright.axes,
            heading: heading(&figure),
            floor,
            inside_out,
        },
        figure,
        warnings,
    })
}

/// Where the root faces about +Y, from +Z \[rad\].
fn heading(figure: &Figure) -> f64 {
    let front = DMat3::from_quat(figure.locals[0]) * DVec3::Z;
    front.x.atan2(front.z)
}
