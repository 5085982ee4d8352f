//! Persistence of contacts from step to step.
//!
//! A contact persists while it presses, on its triangle or, when it slides, on a neighbouring one. Its foot and normal
//! are blended toward the new detection in proportion to sliding. In a held pose they stop: forces meet the same rows
//! in every step, and the tissue comes to rest. Until the bones have been still for a while, there is a least blend
//! factor.

use glam::{DVec3, Quat, Vec3, Vec3A};
use rayon::prelude::*;
use supple_geom::surface::closest_on_triangle;

use super::detect::{Detector, Found, blend};
use super::surface::ContactSurface;
use super::{Contact, rules};

/// Most triangles that a foot crosses in a step: bounds the cost; feet usually cross one or two.
const MAX_WALK: usize = 8;

/// How contacts persist in a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Persistence {
    /// Least blend factor of feet and normals toward the new detection.
    pub least: f32,
    /// Length of the step \[s\].
    pub step: f32,
    /// Whether feet walk from triangle to triangle.
    pub walks: bool,
    /// Whether folds that turn over keep their contacts.
    pub keeps_folds: bool,
    /// Whether one thread handles all contacts.
    pub alone: bool,
}

/// Contacts per task.
const CHUNK: usize = 64;

/// Fate of a contact of the last step.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// It persists like this, whatever is detected.
    Settled(Contact),
    /// It depends on the new detection, and on how it slides.
    Open(Slide),
    /// It does not fit this surface.
    Gone,
}

/// How a contact slides in a step.
#[derive(Clone, Copy, Debug)]
pub struct Slide {
    /// Blend factor of its foot and normal toward the new detection.
    share: f32,
    /// Whether it is faster than [`rules::SLIDE_SPEED`].
    is_fast: bool,
}

impl Slide {
    /// From the sliding distance \[m\].
    fn new(distance: f32, edge: f32, options: &Persistence) -> Slide {
        let share = distance / (rules::SLIDE_LENGTH * edge);
        Slide {
            // NaN counts as sliding.
            share: share.min(1.0).max(options.least),
            is_fast: distance > rules::SLIDE_SPEED * edge * options.step,
        }
    }
}

/// Decides on the contacts of the last step before the search. `moved` gives the motion of a skin point.
pub fn decide(
    surface: &ContactSurface,
    detector: &Detector,
    last: &[Contact],
    options: &Persistence,
    moved: &(dyn Fn(u32) -> Vec3 + Sync),
    nexts: &mut Vec<Next>,
) {
    let next = |old: &Contact| {
        if !is_usable(surface, old) {
            return Next::Gone;
        }
        let distance = slide(surface, old, moved);
        let slide = Slide::new(distance, surface.mean_edge(), options);
        if old.force == Vec3::ZERO || slide.is_fast {
            return Next::Open(slide);
        }
        // Deep contacts may be on the wrong side.
        let deepest = -rules::WRONG_SIDE_DEPTH * surface.mean_edge();
        let is_settled = |kept: &Contact| kept.distance >= deepest;
        let kept = same_skin(surface, detector, old, slide, options).filter(is_settled);
        kept.map_or(Next::Open(slide), |kept| {
            Next::Settled(carried_over(kept, old, slide.share))
        })
    };
    last.par_iter()
        .with_min_len(if options.alone { usize::MAX } else { CHUNK })
        .map(next)
        .collect_into_vec(nexts);
}

/// Merges detected contacts and those of the last step into this step's, sorted by point. `[found, persisting]` is
/// scratch memory.
pub fn merge(
    surface: &ContactSurface,
    detector: &Detector,
    (last, nexts): (&[Contact], &[Next]),
    options: &Persistence,
    [found, persisting]: &mut [Vec<Contact>; 2],
    contacts: &mut Vec<Contact>,
) {
    found.clear();
    found.extend(detector.found().map(new_contact));
    // Of several detections of a point the shallowest is kept.
    found.sort_unstable_by(|a, b| {
        let deeper = b.distance.total_cmp(&a.distance);
        let other = a.triangle.cmp(&b.triangle);
        a.point.cmp(&b.point).then(deeper).then(other)
    });
    found.dedup_by_key(|contact| contact.point);
    persisting.clear();
    persisting.extend(
        last.iter()
            .zip(nexts)
            .filter_map(|(old, next)| match *next {
                Next::Settled(contact) => Some(contact),
                Next::Gone => None,
                Next::Open(slide) => {
                    let at = found.binary_search_by_key(&old.point, |new| new.point);
                    let new = at.ok().map(|at| found[at]);
                    decide_open(surface, detector, (old, new), slide, options)
                }
            }),
    );
    if !persisting.is_sorted_by_key(|contact| contact.point) {
        persisting.sort_by_key(|contact| contact.point);
    }
    persisting.dedup_by_key(|contact| contact.point);
    // Both are sorted by point; persisting contacts replace detected ones.
    contacts.clear();
    let mut new = found.iter().peekable();
    for old in persisting.iter() {
        while let Some(before) = new.next_if(|new| new.point < old.point) {
            contacts.push(*before);
        }
        new.next_if(|new| new.point == old.point);
        contacts.push(*old);
    }
    contacts.extend(new);
}

/// Decides on a contact that is not settled, given the detection for its point; `None` if the detection replaces it.
fn decide_open(
    surface: &ContactSurface,
    detector: &Detector,
    (old, found): (&Contact, Option<Contact>),
    slide: Slide,
    options: &Persistence,
) -> Option<Contact> {
    let new = found.filter(|new| shares_point(surface, new, old));
    let share = slide.share.max(rules::NEW_TRIANGLE_BLEND);
    let slides_over = || new.map(|new| carried_over(new, old, share));
    if old.force == Vec3::ZERO || slide.is_fast && new.is_some() {
        return slides_over();
    }
    let kept = same_skin(surface, detector, old, slide, options);
    let wrong = rules::WRONG_SIDE_DEPTH * surface.mean_edge();
    let is_wrong = |kept: &Contact| {
        let out = found.map_or(f32::NEG_INFINITY, |found| found.distance);
        kept.distance < -wrong && out > kept.distance + wrong
    };
    if kept.as_ref().is_some_and(is_wrong) {
        return None;
    }
    kept.map(|kept| carried_over(kept, old, slide.share))
        .or_else(slides_over)
}

/// Motion of a contact's point relative to its foot \[m\].
fn slide(surface: &ContactSurface, contact: &Contact, moved: &(dyn Fn(u32) -> Vec3 + Sync)) -> f32 {
    let corners = surface.triangles()[contact.triangle as usize];
    let foot = corners.iter().zip(contact.weights);
    let foot: Vec3 = foot.map(|(&v, w)| moved(v) * w).sum();
    (moved(contact.point) - foot).length()
}

fn new_contact(found: &Found) -> Contact {
    Contact {
        point: found.point,
        triangle: found.triangle,
        weights: found.weights,
        normal: found.normal.into(),
        force: Vec3::ZERO,
        distance: found.distance,
    }
}

/// Whether the indices of a contact fit this surface.
pub fn is_usable(surface: &ContactSurface, contact: &Contact) -> bool {
    (contact.point as usize) < surface.point_count()
        && (contact.triangle as usize) < surface.triangles().len()
}

/// Whether two contacts are on triangles with a common corner.
pub fn shares_point(surface: &ContactSurface, a: &Contact, b: &Contact) -> bool {
    let corners = |c: &Contact| surface.triangles()[c.triangle as usize];
    corners(a).iter().any(|v| corners(b).contains(v))
}

/// Takes over the force of the last step, rotated with the normal, which is blended by `share`.
fn carried_over(mut new: Contact, old: &Contact, share: f32) -> Contact {
    let blended = old.normal.lerp(new.normal, share);
    new.normal = blended.try_normalize().unwrap_or(new.normal);
    if old.force != Vec3::ZERO {
        new.force = Quat::from_rotation_arc(old.normal, new.normal) * old.force;
    }
    new
}

/// The contact on its own triangle or on one that its foot has walked to; `None` if the point has left it.
fn same_skin(
    surface: &ContactSurface,
    detector: &Detector,
    old: &Contact,
    slide: Slide,
    options: &Persistence,
) -> Option<Contact> {
    let skin = surface.triangles()[old.triangle as usize].map(|v| detector.skin(v));
    let mut weights = clamped_weights(skin, detector.skin(old.point)).unwrap_or(old.weights);
    for (new, old) in weights.iter_mut().zip(old.weights) {
        *new = old + (*new - old) * slide.share;
    }
    let mut next = Contact { weights, ..*old };
    let mut beside = update_normal(surface, detector, &mut next);
    if beside > rules::WALK_DISTANCE * surface.mean_edge() && options.walks {
        walk(surface, detector, &mut next);
        beside = update_normal(surface, detector, &mut next);
    }
    let corners = surface.triangles()[next.triangle as usize];
    let normal = blend(next.weights, corners.map(|v| detector.normals[v as usize]));
    let turned = normal
        .normalize_or_zero()
        .dot(detector.normals[old.point as usize]);
    let is_gone = next.normal == Vec3::ZERO
        || turned > rules::TURNED_COSINE && !options.keeps_folds
        || next.distance > surface.shell()
        || beside > rules::TANGENTIAL_LIMIT * surface.mean_edge();
    (!is_gone).then_some(next)
}

/// Sets normal and distance at the foot of a contact. Returns the tangential distance between point and foot \[m\].
fn update_normal(surface: &ContactSurface, detector: &Detector, contact: &mut Contact) -> f32 {
    let corners = surface.triangles()[contact.triangle as usize];
    let normal = detector.push_direction(corners, contact.weights);
    let foot = blend(contact.weights, corners.map(|v| detector.skin(v)));
    let apart = detector.skin(contact.point) - foot;
    let distance = normal.dot(apart);
    contact.normal = normal.into();
    contact.distance = distance;
    (apart - normal * distance).length()
}

/// Moves the foot of a contact to the closest skin, over edges and corners, as long as it comes closer.
fn walk(surface: &ContactSurface, detector: &Detector, contact: &mut Contact) {
    let point = detector.skin(contact.point);
    let closest = |triangle: u32| {
        let corners = surface.triangles()[triangle as usize];
        let corners = corners.map(|v| (detector.skin(v) - point).as_dvec3());
        let [u, v, w] = closest_on_triangle(DVec3::ZERO, corners);
        let foot = corners[0] * u + corners[1] * v + corners[2] * w;
        ([u, v, w], foot.length_squared())
    };
    let mut triangle = contact.triangle;
    let (mut weights, mut distance) = closest(triangle);
    for _ in 0..MAX_WALK {
        let corners = surface.triangles()[triangle as usize];
        // The foot is on the edge or at the corner given by its positive weights.
        let mut at = corners.into_iter().zip(weights).filter(|&(_, w)| w > 0.0);
        let (Some((first, _)), second, None) = (at.next(), at.next(), at.next()) else {
            break;
        };
        let second = second.map_or(first, |(second, _)| second);
        let here = triangle;
        for other in surface.triangles_at(first) {
            let is_beside = surface.triangles()[other as usize].contains(&second);
            if other == here || !is_beside {
                continue;
            }
            let (other_weights, other_distance) = closest(other);
            if other_distance < distance {
                (triangle, weights, distance) = (other, other_weights, other_distance);
            }
        }
        if triangle == here {
            break;
        }
    }
    contact.triangle = triangle;
    contact.weights = weights.map(|w| w as f32);
}

/// Barycentric weights of the projection onto a triangle, clamped to it; `None` if the triangle is flat.
fn clamped_weights([a, b, c]: [Vec3A; 3], point: Vec3A) -> Option<[f32; 3]> {
    let (u, v, p) = (b - a, c - a, point - a);
    let n = u.cross(v);
    let square = n.length_squared();
    let (wb, wc) = (p.cross(v).dot(n) / square, u.cross(p).dot(n) / square);
    let weights = [1.0 - wb - wc, wb, wc].map(|w| w.max(0.0));
    let sum: f32 = weights.iter().sum();
    (sum.is_finite() && sum > 0.0).then(|| weights.map(|w| w / sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Source, SurfaceInput};

    const SIDE: usize = 8;
    const EDGE: f32 = 0.02;
    const STEP: f32 = 1.0 / 60.0;

    /// A flat sheet, and a small triangle that faces it from above.
    fn sheet_and_point(above: Vec3) -> ContactSurface {
        let mut input = SurfaceInput::default();
        for i in 0..SIDE * SIDE {
            let at = Vec3::new((i % SIDE) as f32, (i / SIDE) as f32, 0.0) * EDGE;
            input.skin.push(at);
        }
        for y in 0..SIDE - 1 {
            for x in 0..SIDE - 1 {
                let a = (y * SIDE + x) as u32;
                let [b, c, d] = [a + 1, a + SIDE as u32, a + SIDE as u32 + 1];
                input.triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
        let first = input.skin.len() as u32;
        let corners = [Vec3::ZERO, Vec3::Y, Vec3::X];
        (input.skin).extend(corners.map(|corner| above + corner * EDGE));
        input.triangles.push([first, first + 1, first + 2]);
        input.bases = input.skin.iter().map(|&p| p - Vec3::Z * 0.05).collect();
        for base in &mut input.bases[first as usize..] {
            *base += Vec3::Z * 0.1;
        }
        input.sources = (0..input.skin.len() as u32).map(Source::Vertex).collect();
        ContactSurface::new(input)
    }

    fn at_rest(surface: &ContactSurface) -> Detector {
        let input = surface.input();
        let mut detector = Detector::new(surface);
        detector.update(surface, |i| input.skin[i], |i| input.bases[i]);
        detector
    }

    /// A contact of a point with a triangle of the sheet.
    fn on_the_sheet(point: u32) -> Contact {
        Contact {
            point,
            triangle: 2 * (SIDE as u32 + 1),
            weights: [0.2, 0.3, 0.5],
            normal: Vec3::Z,
            force: Vec3::Z,
            distance: 0.0,
        }
    }

    #[test]
    fn a_foot_that_is_left_behind_walks_to_its_point() {
        let above = Vec3::new(4.3, 3.6, 0.05) * EDGE;
        let surface = sheet_and_point(above);
        let detector = at_rest(&surface);
        let old = on_the_sheet((SIDE * SIDE) as u32);
        let next = |walks: bool| {
            let options = Persistence {
                least: 0.1,
                step: STEP,
                walks,
                keeps_folds: false,
                alone: true,
            };
            same_skin(
                &surface,
                &detector,
                &old,
                Slide::new(0.0, EDGE, &options),
                &options,
            )
        };
        let walked = next(true).expect("a contact");
        let corners = surface.triangles()[walked.triangle as usize];
        let foot = blend(walked.weights, corners.map(|v| detector.skin(v)));
        let below = Vec3::new(above.x, above.y, 0.0);
        assert!(Vec3::from(foot).distance(below) < 1e-6, "{foot} {walked:?}");
        assert!((walked.distance - above.z).abs() < 1e-6, "{walked:?}");
        assert!(next(false).is_none_or(|stayed| stayed.triangle == old.triangle));
    }

    #[test]
    fn skin_that_turned_over_keeps_its_contact_only_after_a_long_hold() {
        let surface = sheet_and_point(Vec3::new(4.3, 3.6, 0.05) * EDGE);
        let detector = at_rest(&surface);
        // A point of the sheet faces the same way as the sheet.
        let old = on_the_sheet(2 * SIDE as u32 + 3);
        let next = |keeps_folds: bool| {
            let options = Persistence {
                step: STEP,
                keeps_folds,
                ..Persistence::default()
            };
            same_skin(
                &surface,
                &detector,
                &old,
                Slide::new(0.0, EDGE, &options),
                &options,
            )
        };
        assert!(next(false).is_none());
        assert_eq!(
            next(true).map(|kept| (kept.point, kept.triangle)),
            Some((old.point, old.triangle))
        );
    }
}
