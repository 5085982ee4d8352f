//! Contacts that go on from step to step.
//!
//! A contact that presses goes on until it stops pressing, on its triangle or, while it slides, on a neighbour of it. Its foot and
//! normal follow what is found in the measure in which it slides: in a held pose they stop, the forces meet the same rows in
//! every step, and the tissue comes to rest. Without this, points in folds change sides for ever.

use glam::{Quat, Vec3, Vec3A};
use rayon::prelude::*;

use super::detect::{Detector, Found};
use super::surface::ContactSurface;
use super::{Contact, SHELL};

/// How far a point may be beside its triangle before its contact ends, in mean edges, when it holds still; a third of that when it
/// slides, so that nothing hangs on to a hand that leaves. At 1, contacts of a squat end and begin in turns.
const BESIDE: f32 = 3.0;
/// A contact that slides this far in a step, in mean edges, is where it is found; one that slides less follows by that share.
/// At 0.1, a bent knee trembles by millimetres a second; from 1 on, feet lag behind a hand that moves by a metre a second.
const SLIDING: f32 = 0.3;
/// Least share of a new normal in that of a contact that slides to another triangle: folds tremble with all of it.
const NEW_NORMAL: f32 = 0.5;
/// A contact ends when the point's normal and the triangle's have a cosine above this: the fold has turned over. At 1,
/// groins are pushed into themselves.
const TURNED: f32 = 0.6;

/// A contact deeper than this, in mean edges, gives way to one that is found as much less deep: skin that has turned over
/// hangs on the wrong side. At 0.25, a squat trembles; without it, its groins keep points three times as deep.
const WRONG: f32 = 0.5;

/// Contacts that a thread takes at a time.
const CHUNK: usize = 64;

/// What becomes of a contact of the last step.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// It goes on like this, whatever is found.
    Settled(Contact),
    /// It depends on what is found, and on the share by which it slides.
    Open(f32),
    /// It is not one of this surface.
    Gone,
}

/// What becomes of the contacts of the last step before anything is looked for. `moved` tells how far a skin point moves.
pub fn settle(
    surface: &ContactSurface,
    detector: &Detector,
    last: &[Contact],
    moved: &(dyn Fn(u32) -> Vec3 + Sync),
    nexts: &mut Vec<Next>,
) {
    let next = |old: &Contact| {
        if !is_usable(surface, old) {
            return Next::Gone;
        }
        let share = slide(surface, old, moved) / (SLIDING * surface.mean_edge());
        let share = share.min(1.0);
        if old.force == Vec3::ZERO || share > 0.5 {
            return Next::Open(share);
        }
        // Those that are deep may be on the wrong side.
        let is_settled = |kept: &Contact| kept.distance >= -WRONG * surface.mean_edge();
        let kept = same_triangle(surface, detector, old, share).filter(is_settled);
        kept.map_or(Next::Open(share), |kept| {
            Next::Settled(gone_on(kept, old, share))
        })
    };
    last.par_iter()
        .with_min_len(CHUNK)
        .map(next)
        .collect_into_vec(nexts);
}

/// This step's contacts, by point, from those found and those of the last step; `memory` is kept.
pub fn merge(
    surface: &ContactSurface,
    detector: &Detector,
    last: &[Contact],
    nexts: &[Next],
    [found, going_on]: &mut [Vec<Contact>; 2],
    contacts: &mut Vec<Contact>,
) {
    found.clear();
    found.extend(detector.found().map(fresh));
    // A point that was found twice keeps what it is least deep in.
    found.sort_unstable_by(|a, b| {
        let deeper = b.distance.total_cmp(&a.distance);
        let other = a.triangle.cmp(&b.triangle);
        a.point.cmp(&b.point).then(deeper).then(other)
    });
    found.dedup_by_key(|contact| contact.point);
    going_on.clear();
    going_on.extend(
        last.iter()
            .zip(nexts)
            .filter_map(|(old, next)| match *next {
                Next::Settled(contact) => Some(contact),
                Next::Gone => None,
                Next::Open(share) => {
                    let at = found.binary_search_by_key(&old.point, |new| new.point);
                    let new = at.ok().map(|at| found[at]);
                    follow(surface, detector, old, new, share)
                }
            }),
    );
    if !going_on.is_sorted_by_key(|contact| contact.point) {
        going_on.sort_by_key(|contact| contact.point);
    }
    going_on.dedup_by_key(|contact| contact.point);
    // Both by point; what goes on takes the place of what was found.
    contacts.clear();
    let mut new = found.iter().peekable();
    for old in going_on.iter() {
        while let Some(before) = new.next_if(|new| new.point < old.point) {
            contacts.push(*before);
        }
        new.next_if(|new| new.point == old.point);
        contacts.push(*old);
    }
    contacts.extend(new);
}

/// What becomes of a contact that is not settled, given what was found for its point; `None`: that.
fn follow(
    surface: &ContactSurface,
    detector: &Detector,
    old: &Contact,
    found: Option<Contact>,
    share: f32,
) -> Option<Contact> {
    let new = found.filter(|new| shares_point(surface, new, old));
    let slides_over = || new.map(|new| gone_on(new, old, share.max(NEW_NORMAL)));
    if old.force == Vec3::ZERO || share > 0.5 && new.is_some() {
        return slides_over();
    }
    let kept = same_triangle(surface, detector, old, share);
    let wrong = WRONG * surface.mean_edge();
    let is_wrong = |kept: &Contact| {
        let out = found.map_or(f32::NEG_INFINITY, |found| found.distance);
        kept.distance < -wrong && out > kept.distance + wrong
    };
    if kept.as_ref().is_some_and(is_wrong) {
        return None;
    }
    kept.map(|kept| gone_on(kept, old, share))
        .or_else(slides_over)
}

/// How far the point of a contact moves along with its foot taken off \[m\].
fn slide(surface: &ContactSurface, contact: &Contact, moved: &(dyn Fn(u32) -> Vec3 + Sync)) -> f32 {
    let corners = surface.triangles()[contact.triangle as usize];
    let foot = corners.iter().zip(contact.weights);
    let foot: Vec3 = foot.map(|(&v, w)| moved(v) * w).sum();
    (moved(contact.point) - foot).length()
}

fn fresh(found: &Found) -> Contact {
    Contact {
        point: found.point,
        triangle: found.triangle,
        weights: found.weights,
        normal: found.normal.into(),
        force: Vec3::ZERO,
        distance: found.distance,
    }
}

fn is_usable(surface: &ContactSurface, contact: &Contact) -> bool {
    (contact.point as usize) < surface.point_count()
        && (contact.triangle as usize) < surface.triangles().len()
}

/// Whether contacts are on triangles with a common corner.
pub fn shares_point(surface: &ContactSurface, a: &Contact, b: &Contact) -> bool {
    let corners = |c: &Contact| surface.triangles()[c.triangle as usize];
    corners(a).iter().any(|v| corners(b).contains(v))
}

/// Takes the force of the last step, turned to the normal, of which a share is new.
fn gone_on(mut new: Contact, old: &Contact, share: f32) -> Contact {
    let blended = old.normal.lerp(new.normal, share);
    new.normal = blended.try_normalize().unwrap_or(new.normal);
    if old.force != Vec3::ZERO {
        new.force = Quat::from_rotation_arc(old.normal, new.normal) * old.force;
    }
    new
}

/// The contact on the triangle it had, unless the point has come away from it.
fn same_triangle(
    surface: &ContactSurface,
    detector: &Detector,
    old: &Contact,
    share: f32,
) -> Option<Contact> {
    let corners = surface.triangles()[old.triangle as usize];
    let skin = corners.map(|v| detector.skin(v));
    let normals = corners.map(|v| detector.normals[v as usize]);
    let point = detector.skin(old.point);
    let mut weights = clamped_weights(skin, point).unwrap_or(old.weights);
    for (new, old) in weights.iter_mut().zip(old.weights) {
        *new = old + (*new - old) * share;
    }
    let blend = |p: [Vec3A; 3]| p[0] * weights[0] + p[1] * weights[1] + p[2] * weights[2];
    let normal = blend(normals).normalize_or_zero();
    let apart = point - blend(skin);
    let distance = normal.dot(apart);
    let beside = (apart - normal * distance).length();
    let next = Contact {
        weights,
        normal: normal.into(),
        distance,
        ..*old
    };
    let is_gone = normal == Vec3A::ZERO
        || normal.dot(detector.normals[old.point as usize]) > TURNED
        || distance > SHELL * surface.mean_edge()
        || beside > BESIDE * (1.0 - 0.7 * share) * surface.mean_edge();
    (!is_gone).then_some(next)
}

/// Weights of the foot of a perpendicular on a triangle, moved into it; `None` where the triangle is flat.
fn clamped_weights([a, b, c]: [Vec3A; 3], point: Vec3A) -> Option<[f32; 3]> {
    let (u, v, p) = (b - a, c - a, point - a);
    let n = u.cross(v);
    let square = n.length_squared();
    let (wb, wc) = (p.cross(v).dot(n) / square, u.cross(p).dot(n) / square);
    let weights = [1.0 - wb - wc, wb, wc].map(|w| w.max(0.0));
    let sum: f32 = weights.iter().sum();
    (sum.is_finite() && sum > 0.0).then(|| weights.map(|w| w / sum))
}
