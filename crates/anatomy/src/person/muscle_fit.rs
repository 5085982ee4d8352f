//! Average, smallest and largest muscle surface between a person's skin and skeleton surface: (4.10), (4.11), figure 4.11.
//!
//! Every vertex of a muscle surface lies on the line from its skeleton vertex to its skin vertex, so a surface is one
//! number a vertex: 0 at the skeleton surface, 1 at the skin.

use std::ops::ControlFlow;

use glam::{DVec3, Vec3};
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::least_squares::residuals::{Bending, PointToPoint};
use supple_geom::least_squares::{
    Damping, FitError, Points, Residual, Rows, Settings, SparseNormal, minimise,
};
use supple_geom::sparse::SparseError;

use super::scale::Scaled;
use super::sheet::Sheet;
use super::{FitTemplate, PersonSkin};
use crate::inversion_guard::InversionGuard;
use crate::template::Group;

/// Weight of bending at first, and its factor after each minimisation [4.2.4].
const FIRST_BENDING: f64 = 0.01;
const BENDING_FACTOR: f64 = 0.5;
/// Largest distance of a vertex from its line at the end \[m\] [4.2.4], and the most minimisations to get there.
const OFF_LINE: f64 = 2e-4;
const MINIMISATIONS: usize = 24;
/// Local/global iterations of one minimisation.
const ITERATIONS: usize = 8;
/// Most that a vertex moves in one iteration \[m\]: a bound for bodies whose equations go wrong.
const LARGEST_STEP: f64 = 0.5;
/// Bending of the smallest and largest surfaces: smooths over about 4 cm. Below 1e-6 borders of groups show as steps, above
/// 1e-4 muscles lose their bellies.
const RANGE_BENDING: f64 = 1e-5;
/// Steps from halfway towards a wanted surface: what stops a vertex in one may be gone in the next.
const ADVANCES: usize = 3;
/// Least thickness of fat and of muscle \[m\]; a third of the line each where it is shorter than three times that.
const LEAST_THICKNESS: f64 = 1e-3;
/// The thick part of a muscle group, which decides how far it can grow: vertices with at least this share of the thickness
/// that 95 % of the group stay below.
const THICK: f64 = 0.6;
/// Share of the thick part that may be stopped by skin or bone before the group is: a single vertex must not decide.
const STOPPED: f64 = 0.05;
/// Most growth and most shrinkage of each group, over the thickness of its muscles.
const CAPS: [(Group, f64, f64); 8] = [
    (Group::UpperLeg, 0.35, 0.40),
    (Group::LowerLeg, 0.30, 0.35),
    (Group::UpperArm, 0.50, 0.45),
    (Group::LowerArm, 0.30, 0.35),
    (Group::Chest, 0.60, 0.50),
    (Group::Abdomen, 0.50, 0.40),
    (Group::Shoulder, 0.50, 0.45),
    (Group::Back, 0.50, 0.45),
];

/// The muscle surfaces that are possible in a person, as places on the lines from skeleton surface (0) to skin (1).
#[derive(Clone, Debug)]
pub struct MuscleRange {
    /// Smallest muscles.
    pub smallest: Vec<f64>,
    /// The template's muscles.
    pub average: Vec<f64>,
    /// Largest muscles.
    pub largest: Vec<f64>,
    /// Growth of each group in the largest surface, over the thickness of its muscles.
    pub growth: Vec<(Group, f64)>,
    /// Shrinkage of each group in the smallest surface.
    pub shrinkage: Vec<(Group, f64)>,
}

/// Positions of a muscle surface given by its places on the lines \[m\].
pub fn on_lines(places: &[f64], skin: &[Vec3], skeleton: &[Vec3]) -> Vec<Vec3> {
    (places.iter().zip(skin).zip(skeleton))
        .map(|((&place, s), b)| b.as_dvec3().lerp(s.as_dvec3(), place).as_vec3())
        .collect()
}

/// The lines of the free vertices of a sheet.
struct Lines {
    skin: Vec<DVec3>,
    skeleton: Vec<DVec3>,
    /// Least and largest place of the muscle surface.
    bounds: Vec<[f64; 2]>,
}

impl Lines {
    fn length(&self, v: usize) -> f64 {
        self.skin[v].distance(self.skeleton[v])
    }

    fn at(&self, v: usize, place: f64) -> DVec3 {
        self.skeleton[v].lerp(self.skin[v], place)
    }

    /// The place nearest to a point, within bounds.
    fn place(&self, v: usize, point: DVec3, [least, largest]: [f64; 2]) -> f64 {
        let line = self.skin[v] - self.skeleton[v];
        let along = (point - self.skeleton[v]).dot(line) / line.length_squared().max(1e-18);
        along.clamp(least, largest)
    }
}

/// Finds average, smallest and largest muscle surface of a person.
pub fn muscle_range(
    template: &FitTemplate,
    scaled: &Scaled,
    person: &PersonSkin,
    skeleton_surface: &[Vec3],
) -> Result<MuscleRange, SparseError> {
    let layers = template.layers;
    let sheet = Sheet::new(&layers.triangles, &layers.layered);
    let double = |positions: &[Vec3]| -> Vec<DVec3> {
        sheet
            .gather(positions)
            .iter()
            .map(|p| p.as_dvec3())
            .collect()
    };
    let (skin, skeleton) = (double(person.skin), double(skeleton_surface));
    let bounds = (0..sheet.whole.len()).map(|v| {
        let length = skin[v].distance(skeleton[v]).max(1e-9);
        let margin = (LEAST_THICKNESS / length).min(1.0 / 3.0);
        [margin, 1.0 - margin]
    });
    let lines = Lines {
        bounds: bounds.collect(),
        skin,
        skeleton,
    };
    let whole = |places: &[f64]| {
        let mut all = vec![1.0; layers.skin.len()];
        for (&v, place) in sheet.whole[..sheet.free].iter().zip(places) {
            all[v as usize] = *place;
        }
        all
    };
    let free = |start: &[f64], places: &[f64]| -> Vec<f64> {
        let (start, places) = (whole(start), whole(places));
        let all = untangled(template, person, skeleton_surface, &start, &places);
        sheet.gather(&all)[..sheet.free].to_vec()
    };
    let average = average(template, scaled, &sheet, &lines)?;
    let average = free(&vec![0.5; sheet.free], &average);
    let thickness = thickness(template, &sheet, &lines, &average);
    let groups = sheet.gather(template.groups);
    let grown = |direction: f64| -> Result<_, SparseError> {
        let factors = factors(&groups, &lines, &average, &thickness, direction);
        let places = moved(
            &sheet, &lines, &groups, &average, &thickness, &factors, direction,
        )?;
        Ok((free(&average, &places), factors))
    };
    let (largest, growth) = grown(1.0)?;
    let (smallest, shrinkage) = grown(-1.0)?;
    Ok(MuscleRange {
        smallest: whole(&smallest),
        average: whole(&average),
        largest: whole(&largest),
        growth,
        shrinkage,
    })
}

/// (4.10): the scaled template's muscle surface bent onto the lines. Over the belly it keeps at least its place between
/// skeleton surface and skin, since fat below the muscles pushes them out.
fn average(
    template: &FitTemplate,
    scaled: &Scaled,
    sheet: &Sheet,
    lines: &Lines,
) -> Result<Vec<f64>, SparseError> {
    let (s, m, b) = (
        sheet.gather(&scaled.skin),
        sheet.gather(&scaled.muscle),
        sheet.gather(&scaled.skeleton),
    );
    let belly = sheet.gather(template.abdomen);
    let bounds: Vec<[f64; 2]> = (0..sheet.free)
        .map(|v| {
            let [least, largest] = lines.bounds[v];
            let usual = m[v].distance(b[v]) / s[v].distance(b[v]).max(1e-9);
            let belly = belly[v];
            [
                if belly {
                    usual.clamp(least, largest)
                } else {
                    least
                },
                largest,
            ]
        })
        .collect();
    let mut rest = m;
    rest[sheet.free..].copy_from_slice(&lines.skin[sheet.free..]);
    let mut points = Points::with_free(rest.clone(), sheet.free);
    let mut bending_weight = FIRST_BENDING;
    let mut equations = SparseNormal::new();
    let mut places = vec![0.0; sheet.free];
    for _ in 0..MINIMISATIONS {
        let bending = bending(sheet, &rest, &points, bending_weight);
        let on_lines = OnLines {
            lines,
            bounds: &bounds,
        };
        fit(&mut points, &[&bending, &on_lines], &mut equations)?;
        let x = &points.at;
        let mut off = 0.0_f64;
        for v in 0..sheet.free {
            places[v] = lines.place(v, x[v], bounds[v]);
            off = off.max(x[v].distance(lines.at(v, places[v])));
        }
        if off < OFF_LINE {
            break;
        }
        rest.copy_from_slice(&points.at);
        bending_weight *= BENDING_FACTOR;
    }
    Ok(places)
}

fn bending(sheet: &Sheet, rest: &[DVec3], points: &Points, weight: f64) -> Bending {
    let laplacian = cotan_laplacian(rest, &sheet.triangles, Clamp::NON_NEGATIVE);
    Bending::new(&laplacian, rest, points, weight)
}

/// One minimisation.
fn fit(
    points: &mut Points,
    residuals: &[&dyn Residual<Points, 3>],
    equations: &mut SparseNormal<3>,
) -> Result<(), SparseError> {
    let settings = Settings {
        steps: ITERATIONS,
        damping: Damping::NONE,
        largest_step: LARGEST_STEP,
        still: 0.0,
    };
    let go_on = &mut |_| ControlFlow::Continue(());
    minimise(points, residuals, equations, &settings, go_on)
        .map(drop)
        .map_err(FitError::into_sparse)
}

/// Every free vertex on its line, within bounds.
struct OnLines<'a> {
    lines: &'a Lines,
    bounds: &'a [[f64; 2]],
}

impl Residual<Points, 3> for OnLines<'_> {
    fn linearise(&self, points: &Points, _: usize, rows: &mut dyn Rows<3>) {
        for (v, &bounds) in self.bounds.iter().enumerate() {
            let x = points.unknown(v as u32);
            let wanted = self.lines.at(v, self.lines.place(v, x, bounds));
            rows.row(1.0, &[(v as u32, 1.0)], (x - wanted).to_array());
        }
    }

    fn is_constant(&self) -> bool {
        true
    }
}

/// Thickness of a person's muscles: the template's share of the muscle layer.
fn thickness(template: &FitTemplate, sheet: &Sheet, lines: &Lines, average: &[f64]) -> Vec<f64> {
    (0..sheet.free)
        .map(|v| {
            let whole = sheet.whole[v] as usize;
            let (m, b) = (
                template.layers.muscle[whole],
                template.layers.skeleton[whole],
            );
            let share = template.thickness[whole] / m.distance(b).max(1e-6);
            f64::from(share.clamp(0.0, 1.0)) * average[v] * lines.length(v)
        })
        .collect()
}

/// How far each group can grow (direction 1) or shrink (−1), over its thickness: until all but a few of its thick vertices
/// meet a bound, at most its cap.
fn factors(
    groups: &[Option<Group>],
    lines: &Lines,
    average: &[f64],
    thickness: &[f64],
    direction: f64,
) -> Vec<(Group, f64)> {
    let factor = |&(group, growth, shrinkage): &(Group, f64, f64)| {
        let cap = if direction > 0.0 { growth } else { shrinkage };
        let of_group: Vec<usize> = (0..thickness.len())
            .filter(|&v| groups[v] == Some(group))
            .collect();
        let mut sorted: Vec<f64> = of_group.iter().map(|&v| thickness[v]).collect();
        sorted.sort_by(f64::total_cmp);
        let Some(&usual) = sorted.get(sorted.len() * 95 / 100) else {
            return (group, 0.0);
        };
        let room = |v: &usize| {
            let [least, largest] = lines.bounds[*v];
            let bound = if direction > 0.0 { largest } else { least };
            direction * (bound - average[*v]) * lines.length(*v) / thickness[*v].max(1e-6)
        };
        let thick = of_group.iter().filter(|&&v| thickness[v] >= THICK * usual);
        let mut rooms: Vec<f64> = thick.map(room).collect();
        rooms.sort_by(f64::total_cmp);
        let stop = rooms.get((rooms.len() as f64 * STOPPED) as usize).copied();
        (group, stop.unwrap_or(0.0).clamp(0.0, cap))
    };
    CAPS.iter().map(factor).collect()
}

/// Moves the average surface along the lines in proportion to the thickness, smoothed by bending.
fn moved(
    sheet: &Sheet,
    lines: &Lines,
    groups: &[Option<Group>],
    average: &[f64],
    thickness: &[f64],
    factors: &[(Group, f64)],
    direction: f64,
) -> Result<Vec<f64>, SparseError> {
    let factor = |v: usize| {
        let of_group = factors.iter().find(|(group, _)| Some(*group) == groups[v]);
        of_group.map_or(0.0, |(_, factor)| *factor)
    };
    let mut rest: Vec<DVec3> = (0..sheet.free).map(|v| lines.at(v, average[v])).collect();
    rest.extend_from_slice(&lines.skin[sheet.free..]);
    let mut points = Points::with_free(rest.clone(), sheet.free);
    let mut wanted = PointToPoint::new(&points);
    for v in 0..sheet.free {
        let step = direction * factor(v) * thickness[v] / lines.length(v).max(1e-9);
        let [least, largest] = lines.bounds[v];
        let place = lines.at(v, (average[v] + step).clamp(least, largest));
        wanted.push(1.0, [(v as u32, 1.0)], place, &points);
    }
    let bending = bending(sheet, &rest, &points, RANGE_BENDING);
    fit(&mut points, &[&bending, &wanted], &mut SparseNormal::new())?;
    let x = &points.at;
    // Growth never falls below the average nor shrinkage above it.
    let places = (0..sheet.free).map(|v| {
        let [least, largest] = lines.bounds[v];
        let average = average[v].clamp(least, largest);
        let bounds = if direction > 0.0 {
            [average, largest]
        } else {
            [least, average]
        };
        lines.place(v, x[v], bounds)
    });
    Ok(places.collect())
}

/// Places of a muscle surface near the wanted ones, with no inverted prism in either layer: from places that have none, each
/// vertex goes along its line as far as it can. The skeleton fit leaves none halfway.
pub fn untangled(
    template: &FitTemplate,
    person: &PersonSkin,
    skeleton: &[Vec3],
    start: &[f64],
    places: &[f64],
) -> Vec<f64> {
    let layers = template.layers;
    let double = |points: &[Vec3]| points.iter().map(|p| p.as_dvec3()).collect::<Vec<DVec3>>();
    let (outer, inner) = (double(person.skin), double(skeleton));
    let at = |v: usize, place: f64| inner[v].lerp(outer[v], place);
    let count = outer.len();
    let wanted: Vec<DVec3> = (0..count).map(|v| at(v, places[v])).collect();
    let bar = InversionGuard::between(&layers.triangles, &outer, &inner, &layers.layered);
    let mut found: Vec<DVec3> = (0..count).map(|v| at(v, start[v])).collect();
    (0..ADVANCES).for_each(|_| drop(bar.advance(&mut found, &wanted)));
    (0..count)
        .map(|v| {
            let line = outer[v] - inner[v];
            let along = (found[v] - inner[v]).dot(line) / line.length_squared().max(1e-18);
            if layers.layered[v] {
                along.clamp(0.0, 1.0)
            } else {
                1.0
            }
        })
        .collect()
}
