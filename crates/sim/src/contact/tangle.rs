//! Tangles: skin that was pulled through other skin of the same connected component.
//!
//! Where bones go through bones, tissue is turned inside out, and contact would hold skin on the wrong side for ever. A
//! contact is a tangle if the bones of both sides stand to each other as at rest, where nothing overlaps, and yet the
//! point would be below its foot if the tissue followed its bones. Tangled contacts are left out, so that the tissue
//! can return through itself. Local contact has no tangles: it only knows folds.

use glam::{Mat3, Vec3};

use super::{Contact, ContactSurface, Source, rules};
use crate::carrier::turn;
use crate::model::NO_CARRIER;
use crate::{Model, Targets};

/// Change of the distance of two base points, relative to the distance of their skin points at rest, above which the
/// bones do not stand as at rest: a quick test before the exact one.
const MAX_BONE_CHANGE: f32 = 0.5;

/// Whether a contact only holds a tangle.
pub fn is_tangled(
    model: &Model,
    surface: &ContactSurface,
    targets: &Targets,
    contact: &Contact,
) -> bool {
    let corners = surface.triangles()[contact.triangle as usize];
    if surface.shells[contact.point as usize] != surface.shells[corners[0] as usize] {
        return false;
    }
    let rest = |i: u32| surface.input.skin[i as usize];
    let far = rest(contact.point).distance(rest(corners[0]));
    if bone_change(surface, targets, contact.point, corners[0]) > MAX_BONE_CHANGE * far {
        return false;
    }
    let carried = |i: u32| carried(model, targets, surface.input.sources[i as usize]);
    let (Some(point), [Some(a), Some(b), Some(c)]) = (carried(contact.point), corners.map(carried))
    else {
        return false;
    };
    let Some(turn) = a.turn.or(b.turn).or(c.turn).or(point.turn) else {
        return false;
    };
    let foot = |[a, b, c]: [Vec3; 3]| {
        let [u, v, w] = contact.weights;
        a * u + b * v + c * w
    };
    let apart = point.place - foot([a.place, b.place, c.place]);
    let at_rest = turn * (rest(contact.point) - foot(corners.map(rest)));
    apart.dot(contact.normal) < -surface.gap()
        && apart.distance(at_rest) < rules::TANGLE_TOLERANCE * at_rest.length()
}

/// Change of the distance between the base points of two skin points since rest \[m\].
fn bone_change(surface: &ContactSurface, targets: &Targets, a: u32, b: u32) -> f32 {
    let (a, b) = (a as usize, b as usize);
    let now = targets.bases.get(a).zip(targets.bases.get(b));
    let rest = surface.input.bases[a].distance(surface.input.bases[b]);
    now.map_or(0.0, |(a, b)| (a.distance(*b) - rest).abs())
}

/// A skin point that follows its bones rigidly from rest.
pub(super) struct Carried {
    /// Its position \[m\].
    pub place: Vec3,
    /// Its rotation, where known.
    turn: Option<Mat3>,
}

/// `None` if the point has no carrier.
pub(super) fn carried(model: &Model, targets: &Targets, source: Source) -> Option<Carried> {
    let free = model.free_count();
    let driven = |list: &[Vec3], i: usize| {
        let place = *list.get(i)?;
        Some(Carried { place, turn: None })
    };
    let v = match source {
        Source::Vertex(v) if (v as usize) < free => v as usize,
        Source::Vertex(v) => return driven(&targets.fixed, v as usize - free),
        Source::Outside(i) => return driven(&targets.outside, i as usize),
    };
    let carriers = model.carrier_frames()[v];
    if carriers[0] == NO_CARRIER {
        return None;
    }
    let rest = carriers.map(|k| model.rest_fixed()[k as usize]);
    let now = carriers.map(|k| targets.fixed[k as usize]);
    let turn = turn(rest, now)?;
    Some(Carried {
        place: now[0] + turn * (model.rest_free()[v] - rest[0]),
        turn: Some(turn),
    })
}
