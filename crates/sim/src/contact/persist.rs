//! Contacts that go on from step to step.
//!
//! A contact that pressed goes on until it stops pressing, on the same triangle or a neighbour of it. Without this, points in folds
//! change sides from step to step, and a held pose never comes to rest.

use glam::{Quat, Vec3, Vec3A};

use super::detect::{Detector, Found};
use super::surface::ContactSurface;
use super::{Contact, SHELL};

/// How far a point may be beside its triangle before its contact ends, in mean edges.
const BESIDE: f32 = 2.0;

/// This step's contacts, by point, from those found and those of the last step.
pub fn merge(
    surface: &ContactSurface,
    detector: &Detector,
    last: &[Contact],
    moved: &dyn Fn(u32) -> Vec3,
    contacts: &mut Vec<Contact>,
) {
    contacts.clear();
    contacts.extend(detector.found().map(fresh));
    contacts.sort_unstable_by_key(|contact| contact.point);
    // Deep contacts are believed when they press already, or when the point is inside.
    let deep = -super::tune("DEEP", 0.25) * surface.mean_edge();
    contacts.retain(|new| {
        let pressed = || {
            let known = last.binary_search_by_key(&new.point, |old| old.point);
            known.is_ok_and(|at| last[at].force != Vec3::ZERO)
        };
        new.distance > deep || pressed() || detector.crossings(surface, new.point) > 0
    });
    let found = contacts.len();
    let mut at = 0;
    for old in last.iter().filter(|old| is_usable(surface, old)) {
        while at < found && contacts[at].point < old.point {
            at += 1;
        }
        let new = contacts[..found].get(at).copied();
        let new = new.filter(|new| new.point == old.point);
        let corners = surface.triangles()[old.triangle as usize];
        let [u, v, w] = old.weights;
        let slip = moved(old.point) - moved(corners[0]) * u - moved(corners[1]) * v - moved(corners[2]) * w;
        let fresh_share = (slip.length() / (super::tune("FREEZE", 0.3) * surface.mean_edge())).min(1.0);
        let kept = same_triangle(surface, detector, old, fresh_share);
        let presses = old.force != Vec3::ZERO;
        match (new, kept) {
            (Some(new), Some(kept)) if fresh_share > 0.5 || !presses => {
                let near = shares_point(surface, &new, old);
                if near || !presses {
                    contacts[at] = gone_on(new, old, fresh_share.max(0.5));
                } else {
                    contacts[at] = gone_on(kept, old, fresh_share.max(0.5));
                }
            }
            (Some(_), Some(kept)) => contacts[at] = gone_on(kept, old, fresh_share),
            (Some(new), None) if shares_point(surface, &new, old) => {
                contacts[at] = gone_on(new, old, fresh_share.max(0.5));
            }
            (Some(_), None) | (None, None) => {}
            (None, Some(kept)) if presses => contacts.push(gone_on(kept, old, fresh_share)),
            (None, Some(_)) => {}
        }
    }
    contacts.sort_unstable_by_key(|contact| contact.point);
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

fn shares_point(surface: &ContactSurface, a: &Contact, b: &Contact) -> bool {
    let corners = |c: &Contact| surface.triangles()[c.triangle as usize];
    corners(a).iter().any(|v| corners(b).contains(v))
}

/// Takes the force of the last step, turned to the normal, of which a share is new.
fn gone_on(mut new: Contact, old: &Contact, fresh_share: f32) -> Contact {
    let blended = old.normal.lerp(new.normal, fresh_share);
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
    fresh_share: f32,
) -> Option<Contact> {
    let corners = surface.triangles()[old.triangle as usize];
    let skin = corners.map(|v| detector.skin[v as usize]);
    let normals = corners.map(|v| detector.normals[v as usize]);
    let point = detector.skin[old.point as usize];
    let mut weights = clamped_weights(skin, point).unwrap_or(old.weights);
    for (new, old) in weights.iter_mut().zip(old.weights) {
        *new = old + (*new - old) * fresh_share;
    }
    let blend = |p: [Vec3A; 3]| p[0] * weights[0] + p[1] * weights[1] + p[2] * weights[2];
    let normal = blend(normals).normalize_or_zero();
    let apart = point - blend(skin);
    let distance = normal.dot(apart);
    let beside = (apart - normal * distance).length();
    let is_gone = normal == Vec3A::ZERO
        || distance > SHELL * surface.mean_edge()
        || beside > super::tune("BESIDE", BESIDE) * surface.mean_edge() + distance.abs();
    (!is_gone).then_some(Contact {
        weights,
        normal: normal.into(),
        distance,
        ..*old
    })
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
