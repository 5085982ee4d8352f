//! Things beside the body: of several large pieces the one that is a person.

use supple_geom::kd_tree::KdTree;

use super::cloud::Cloud;
use super::frame::{Floor, uprights};
use super::pieces::pieces;
use super::start::starts;
use super::{Options, Scan, ScanError};
use crate::body_model::BodyModel;

/// Size of the cells through which pieces are connected, in shares of the scan's extent and in spacings of its points: 4 cm for a body
/// alone, 7 cm where a room's width is scanned.
const CELL: f32 = 0.022;
const SPACINGS: f32 = 2.5;
/// A piece is large from this share of the largest one's cells. Hands that are cut off have 0.04.
const LARGE: f64 = 0.1;
/// Pieces that are tried.
const TRIED: usize = 3;
/// A piece is the person if its score is below this share of the whole scan's: bodies in two halves are nearer to a body together.
const NEARER: f64 = 0.8;
/// A second piece with a score within this factor of the best one's is somebody else.
const ALIKE: f64 = 1.6;
/// Small pieces belong to a large one whose box, larger by this share of its size, holds them.
const MARGIN: f32 = 0.05;

/// The person's part of a scan of several large pieces; none if the scan is one piece, or no piece is more like a person than all of
/// it.
pub(super) fn person_among(
    cloud: &Cloud,
    guide: &BodyModel,
    floor: Option<Floor>,
    scan: &Scan,
    options: &Options,
) -> Result<Option<Cloud>, ScanError> {
    let size = cloud.extent().max_element();
    let cell = (CELL * size).max(SPACINGS * spacing(cloud));
    if !cell.is_finite() || cell <= 0.0 {
        return Ok(None);
    }
    let (piece_of, cells) = pieces(&cloud.points, cell);
    let most = cells.iter().copied().max().unwrap_or(0);
    let is_large = |p: usize| cells[p] as f64 >= LARGE * most as f64;
    let mut large: Vec<usize> = (0..cells.len()).filter(|&p| is_large(p)).collect();
    if large.len() < 2 {
        return Ok(None);
    }
    large.sort_by_key(|&p| (std::cmp::Reverse(cells[p]), p));
    large.truncate(TRIED);
    let mut tried: Vec<(f64, Cloud)> = (large.iter())
        .map(|&piece| {
            let part = part(cloud, &piece_of, piece, &is_large);
            (score(&part, guide, floor, scan, options), part)
        })
        .collect();
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    let whole = score(cloud, guide, floor, scan, options);
    let best = tried[0].0;
    if !best.is_finite() || best > NEARER * whole {
        return Ok(None);
    }
    if tried[1].0 < ALIKE * best {
        return Err(ScanError::SeveralPeople);
    }
    Ok(Some(tried.swap_remove(0).1))
}

/// Median distance from a point to the next.
fn spacing(cloud: &Cloud) -> f32 {
    let tree = KdTree::new(&cloud.points);
    let sample = cloud.points.iter().step_by(cloud.points.len() / 1000 + 1);
    let mut near: Vec<f32> = sample
        .filter_map(|&p| Some(tree.nearest_several(p, 2).get(1)?.distance_squared.sqrt()))
        .collect();
    near.sort_by(f32::total_cmp);
    near.get(near.len() / 2).copied().unwrap_or(0.0)
}

/// A piece, and the small ones in its box.
fn part(cloud: &Cloud, piece_of: &[u32], piece: usize, is_large: &dyn Fn(usize) -> bool) -> Cloud {
    let own = || (cloud.points.iter().zip(piece_of)).filter(|(_, p)| **p as usize == piece);
    let (Some(low), Some(high)) = (
        own().map(|(p, _)| *p).reduce(|a, b| a.min(b)),
        own().map(|(p, _)| *p).reduce(|a, b| a.max(b)),
    ) else {
        return Cloud::default();
    };
    let margin = MARGIN * (high - low).max_element();
    let keep: Vec<bool> = (cloud.points.iter().zip(piece_of))
        .map(|(p, &of)| {
            let inside = p.cmpge(low - margin).all() && p.cmple(high + margin).all();
            of as usize == piece || (inside && !is_large(of as usize))
        })
        .collect();
    let mut part = cloud.clone();
    part.keep(&keep);
    part
}

/// How far the nearest standing mean body is: mean squared distances of both ways, over the squared stature.
fn score(
    cloud: &Cloud,
    guide: &BodyModel,
    floor: Option<Floor>,
    scan: &Scan,
    options: &Options,
) -> f64 {
    let Ok(ways) = uprights(cloud, floor, scan, options) else {
        return f64::INFINITY;
    };
    let scores = ways.iter().filter_map(|way| {
        let found = starts(guide, &way.applied(cloud), way.stature);
        Some(found.first()?.score / way.stature.powi(2))
    });
    scores.fold(f64::INFINITY, f64::min)
}
