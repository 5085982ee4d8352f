//! Contacts that go on from step to step.
//!
//! A contact that pressed goes on until it stops pressing, on the same triangle or a neighbour of it. Without this, points in folds
//! change sides from step to step, and a held pose never comes to rest.

use glam::{Quat, Vec3, Vec3A};

use super::detect::{Detector, Found};
use super::surface::ContactSurface;
use super::{Contact, SHELL};

/// How far a point may be beside its triangle before its contact ends, in mean edges.
const BESIDE: f32 = 1.0;
/// Share of the last step's normal in this step's: folds tremble without it, and above 0.8 normals lag behind a turning limb.
const KEPT_NORMAL: f32 = 0.5;

/// This step's contacts, by point, from those found and those of the last step.
pub fn merge(
    surface: &ContactSurface,
    detector: &Detector,
    last: &[Contact],
    contacts: &mut Vec<Contact>,
) {
    contacts.clear();
    contacts.extend(detector.found().map(fresh));
    contacts.sort_unstable_by_key(|contact| contact.point);
    let found = contacts.len();
    let mut at = 0;
    for old in last.iter().filter(|old| is_usable(surface, old)) {
        while at < found && contacts[at].point < old.point {
            at += 1;
        }
        let new = contacts[..found].get(at).copied();
        let new = new.filter(|new| new.point == old.point);
        match new {
            Some(new) if old.force == Vec3::ZERO || shares_point(surface, &new, old) => {
                contacts[at] = gone_on(new, old);
            }
            _ if old.force == Vec3::ZERO => {}
            _ => match same_triangle(surface, detector, old) {
                Some(kept) if new.is_some() => contacts[at] = gone_on(kept, old),
                Some(kept) => contacts.push(gone_on(kept, old)),
                None => {}
            },
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

/// Takes the force of the last step, turned to the new normal, which keeps a share of the old one.
fn gone_on(mut new: Contact, old: &Contact) -> Contact {
    if old.force != Vec3::ZERO {
        let blended = new.normal.lerp(old.normal, KEPT_NORMAL);
        new.normal = blended.try_normalize().unwrap_or(new.normal);
        new.force = Quat::from_rotation_arc(old.normal, new.normal) * old.force;
    }
    new
}

/// The contact on the triangle it had, unless the point has come away from it.
fn same_triangle(surface: &ContactSurface, detector: &Detector, old: &Contact) -> Option<Contact> {
    let corners = surface.triangles()[old.triangle as usize];
    let skin = corners.map(|v| detector.skin[v as usize]);
    let normals = corners.map(|v| detector.normals[v as usize]);
    let point = detector.skin[old.point as usize];
    let weights = clamped_weights(skin, point).unwrap_or(old.weights);
    let blend = |p: [Vec3A; 3]| p[0] * weights[0] + p[1] * weights[1] + p[2] * weights[2];
    let normal = blend(normals).normalize_or_zero();
    let apart = point - blend(skin);
    let distance = normal.dot(apart);
    let beside = (apart - normal * distance).length();
    let is_gone = normal == Vec3A::ZERO
        || distance > SHELL * surface.mean_edge()
        || beside > BESIDE * surface.mean_edge();
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
