//! Muscles share out the muscle layer: every node goes to the muscle whose strip is nearest, less the muscle's radius there.
//!
//! An additively weighted Voronoi diagram of strips (Okabe, Boots, Sugihara and Chiu 2000, *Spatial Tessellations*, section 3.1): with
//! the distance `d` to a strip and the radius `R φ(u)` at the nearest place `u` of its path, the claim of a muscle is `R φ(u) − d`,
//! and the largest claim wins. Weights of power diagrams give flat borders; these give round bellies. `R` is found for each
//! muscle so that it gets its volume.

use glam::{IVec3, Vec3};
use rayon::prelude::*;
use supple_geom::{Aabb, Surface};

use crate::template::musculature::atlas::{Entry, Group};
use crate::template::musculature::paths::Strip;
use crate::template::wrapping::grid::{Blocks, NODES, SIDE};

/// How far from its strip a muscle claims \[m\].
const CLAIM_REACH: f32 = 0.055;
/// Claims further behind the best than this are forgotten \[m\]; radii change by less while volumes are found.
const CLAIM_MARGIN: f32 = 0.03;
/// Nodes beyond a strip's end count as this much further away per metre: ends are cut off, not rounded far past the bone.
const END_STEEPNESS: f32 = 3.0;
/// Depth below the muscle surface that is shared out whole, so that nothing is bare \[m\].
const COVER: f32 = 0.006;
/// Layer over a bone that is covered fully \[m\]; shin, crest and collar bone stay bare.
const COVERED_LAYER: f32 = 0.004;
/// Additional reach per metre above that depth.
const COVER_STEEPNESS: f32 = 4.0;
/// Where on the way to a strip bones are looked for.
const BEHIND: [f32; 4] = [0.2, 0.4, 0.6, 0.8];
/// What each bone found there adds to the distance \[m\].
const BEHIND_BONE: f32 = 0.006;
/// Deepest middle of a sheet that is an outer one \[m\].
const OUTER_DEPTH: f32 = 0.0095;
/// What outer sheets of the reference man claim in addition \[m\]: where the layer is thin, the bellies below would break through them.
const OUTER: f32 = 0.003;
/// Share of a muscle's reach that its tendons have.
const TENDON_REACH: f32 = 0.3;
/// Share of the cover for muscles of the neck, whose surface runs on into the head's, where nothing is to be covered.
const NECK_COVER: f32 = 0.25;
/// Thinnest muscle between a bone and the muscle surface \[m\]: thinner ones are holes and crumbs on shin, collar bone and crest.
pub const LEAST_LAYER: f32 = 0.002;
/// How fast a claim fades beyond its muscle's reach.
const REACH_STEEPNESS: f32 = 8.0;

/// A muscle's strip with what its claims need.
pub struct Claimant<'a> {
    /// The atlas' entry.
    pub entry: &'a Entry,
    /// Its strip.
    pub strip: Strip,
    surface: Surface,
    bounds: Aabb,
}

impl<'a> Claimant<'a> {
    /// Prepares a muscle.
    pub fn new(entry: &'a Entry, strip: Strip) -> Self {
        let surface = Surface::new(strip.mesh());
        let bounds = surface.bounds();
        Claimant {
            entry,
            strip,
            surface,
            bounds,
        }
    }

    /// Distance to the strip, with the steepness of its ends and around bones, and the place along it.
    fn distance(&self, p: Vec3, blocks: &Blocks, bone: &[f32]) -> Option<(f32, f32)> {
        let found = self.surface.closest_point_within(p, CLAIM_REACH)?;
        let samples = self.strip.samples();
        let corners = self.surface.mesh().triangles[found.triangle as usize];
        let place = |v: u32| (v as usize % samples) as f32 / (samples - 1) as f32;
        let u: f32 = (0..3)
            .map(|k| found.barycentric[k] * place(corners[k]))
            .sum();
        let mut distance = found.distance;
        if !(1e-3..=0.999).contains(&u) {
            let fibre = &self.strip.fibres[corners[0] as usize / samples];
            let outwards = if u < 0.5 {
                fibre[0] - fibre[2]
            } else {
                fibre[samples - 1] - fibre[samples - 3]
            };
            let beyond = (p - found.position).dot(outwards.normalize_or_zero());
            distance += END_STEEPNESS * beyond.max(0.0);
        }
        // Behind a bone is further away: a muscle does not reach through the tibia to the shin's other side.
        for share in BEHIND {
            let between = p.lerp(found.position, share);
            let node = ((between - blocks.origin) / blocks.step).round().as_ivec3();
            if blocks.index(node).is_some_and(|index| bone[index] < 0.0) {
                distance += BEHIND_BONE;
            }
        }
        Some((distance, u))
    }

    /// Share of its reach that the muscle has at a place along the path: tendons fill less, or they would swell where they are alone.
    fn reach(&self, u: f32) -> f32 {
        let outside = (self.entry.belly[0] - u)
            .max(u - self.entry.belly[1])
            .max(0.0);
        let fade = (1.0 - outside / 0.1).clamp(0.0, 1.0);
        TENDON_REACH + (1.0 - TENDON_REACH) * fade
    }

    /// Radius that would give the volume \[m³\] if there were no neighbours \[m\].
    pub fn radius(&self, volume: f64) -> f32 {
        if let Some(thickness) = self.entry.thickness {
            return 0.5 * thickness;
        }
        let [start, end] = self.entry.belly;
        let flesh = f64::from(end - start);
        let (area, length) = (
            self.strip.area() * flesh,
            f64::from(self.strip.length()) * flesh,
        );
        // V = 2 A R + π L R², with three quarters of the radius on average.
        let (a, b) = (std::f64::consts::PI * length * 0.56, 2.0 * area * 0.75);
        ((-b + (b * b + 4.0 * a * volume).sqrt()) / (2.0 * a).max(1e-9)) as f32
    }
}

/// A muscle's claim at a node.
#[derive(Clone, Copy, Debug)]
struct Claim {
    muscle: u16,
    distance: f32,
    profile: f32,
    reach: f32,
}

/// Claims at the nodes of a lattice.
pub struct Shares {
    starts: Vec<u32>,
    claims: Vec<Claim>,
    /// Additional reach at each node \[m\].
    cover: Vec<f32>,
    reach: Vec<f32>,
    tendon: Vec<f32>,
    outer: Vec<f32>,
    cover_share: Vec<f32>,
    /// Nodes that are muscle or nobody's: inside the muscle surface, outside the bones.
    free: Vec<bool>,
    cell: f64,
}

/// Whether a muscle is a sheet right below the muscle surface.
fn is_outer(entry: &Entry, thin: f32) -> bool {
    let given = entry.depth.iter().flatten();
    let deepest = given.copied().fold(f32::NEG_INFINITY, f32::max);
    entry.thickness.is_some() && (0.0..=thin * OUTER_DEPTH).contains(&deepest)
}

/// Distance fields of muscles on every second node.
struct Field {
    low: IVec3,
    size: IVec3,
    values: Vec<(f32, f32)>,
}

const FAR: f32 = 1.0;

impl Field {
    fn new(claimant: &Claimant, blocks: &Blocks, bone: &[f32]) -> Field {
        let coarse = 2.0 * blocks.step;
        let to_coarse = |p: Vec3| ((p - blocks.origin) / coarse).floor().as_ivec3();
        let low = to_coarse(claimant.bounds.min - CLAIM_REACH);
        let size = to_coarse(claimant.bounds.max + CLAIM_REACH) + 2 - low;
        let count = (size.x * size.y * size.z) as usize;
        let values = (0..count as i32)
            .into_par_iter()
            .with_min_len(1024)
            .map(|k| {
                let at = low + IVec3::new(k % size.x, k / size.x % size.y, k / (size.x * size.y));
                let needed = (0..8).any(|c| {
                    let corner = IVec3::new(c & 1, c >> 1 & 1, c >> 2) * 2 - 1;
                    blocks.index(2 * at + corner).is_some()
                });
                let p = blocks.position(2 * at);
                let found = needed.then(|| claimant.distance(p, blocks, bone)).flatten();
                found.unwrap_or((FAR, 0.5))
            })
            .collect();
        Field { low, size, values }
    }

    fn overlaps(&self, first: IVec3, last: IVec3) -> bool {
        let high = (self.low + self.size - 1) * 2;
        first.cmple(high).all() && last.cmpge(2 * self.low).all()
    }

    /// Distance and place at a node; none where the muscle is out of reach.
    fn at(&self, node: IVec3) -> Option<(f32, f32)> {
        let base = node.div_euclid(IVec3::splat(2));
        let odd = node - 2 * base;
        let local = base - self.low;
        if local.cmplt(IVec3::ZERO).any() || (local + odd).cmpge(self.size).any() {
            return None;
        }
        let (mut distance, mut place, mut count) = (0.0, 0.0, 0.0);
        for c in 0..8 {
            let offset = IVec3::new(c & 1, c >> 1 & 1, c >> 2);
            if offset.cmpgt(odd).any() {
                continue;
            }
            let at = local + offset;
            let (d, u) = self.values[((at.z * self.size.y + at.y) * self.size.x + at.x) as usize];
            if d >= FAR {
                return None;
            }
            distance += d;
            place += u;
            count += 1.0;
        }
        Some((distance / count, place / count))
    }
}

impl Shares {
    /// Collects the claims. `depth` is the signed distance to the muscle surface (negative inside), `bone` that to the bones \[m\];
    /// `thin` is the thickness of sheets against the reference man's.
    pub fn new(
        claimants: &[Claimant],
        radii: &[f32],
        blocks: &Blocks,
        [depth, bone]: [&[f32]; 2],
        thin: f32,
    ) -> Shares {
        let fields: Vec<Field> = claimants
            .iter()
            .map(|c| Field::new(c, blocks, bone))
            .collect();
        let band = 2.0 * blocks.step;
        let pieces: Vec<(Vec<u32>, Vec<Claim>)> = (0..blocks.stored.len())
            .into_par_iter()
            .map(|slot| {
                let first = blocks.stored[slot] * SIDE;
                let near: Vec<usize> = (0..fields.len())
                    .filter(|&m| fields[m].overlaps(first, first + SIDE))
                    .collect();
                let mut counts = Vec::with_capacity(NODES);
                let mut claims = Vec::new();
                let mut here: Vec<(f32, Claim)> = Vec::new();
                for index in slot * NODES..(slot + 1) * NODES {
                    let node = blocks.node(index);
                    let before = claims.len();
                    if depth[index] < band && bone[index] > -band {
                        here.clear();
                        for &m in &near {
                            if let Some((distance, u)) = fields[m].at(node) {
                                let profile = claimants[m].entry.profile(u);
                                let claim = Claim {
                                    muscle: m as u16,
                                    distance,
                                    profile,
                                    reach: claimants[m].reach(u),
                                };
                                here.push((radii[m] * profile - distance, claim));
                            }
                        }
                        let best = here.iter().map(|h| h.0).fold(f32::NEG_INFINITY, f32::max);
                        let kept = here.iter().filter(|h| h.0 > best - CLAIM_MARGIN);
                        claims.extend(kept.map(|h| h.1));
                    }
                    counts.push((claims.len() - before) as u32);
                }
                (counts, claims)
            })
            .collect();
        let mut starts = Vec::with_capacity(blocks.len() + 1);
        let mut total = 0;
        starts.push(0);
        let mut claims = Vec::new();
        for (counts, piece) in pieces {
            starts.extend(counts.iter().map(|count| {
                total += count;
                total
            }));
            claims.extend(piece);
        }
        Shares {
            starts,
            claims,
            cover: (depth.iter().zip(bone))
                .map(|(d, b)| {
                    let layer = b - d;
                    let soft = ((layer - LEAST_LAYER) / COVERED_LAYER).clamp(0.0, 1.0);
                    COVER_STEEPNESS * soft * (thin * COVER + d).max(0.0)
                })
                .collect(),
            reach: claimants.iter().map(|c| c.entry.reach).collect(),
            tendon: claimants.iter().map(|c| c.entry.tendon).collect(),
            outer: (claimants.iter())
                .map(|c| {
                    if is_outer(c.entry, thin) {
                        thin * OUTER
                    } else {
                        0.0
                    }
                })
                .collect(),
            cover_share: (claimants.iter())
                .map(|c| {
                    if c.entry.group == Group::Neck {
                        NECK_COVER
                    } else {
                        1.0
                    }
                })
                .collect(),
            free: (0..depth.len())
                .map(|index| {
                    let inside = depth[index] < 0.0
                        && bone[index] > 0.0
                        && bone[index] - depth[index] > LEAST_LAYER;
                    inside && blocks.position(blocks.node(index)).x > 0.0
                })
                .collect(),
            cell: f64::from(blocks.step).powi(3),
        }
    }

    fn at(&self, index: usize) -> &[Claim] {
        &self.claims[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    fn value(&self, index: usize, claim: &Claim, radii: &[f32]) -> (f32, f32) {
        let m = claim.muscle as usize;
        let value = (radii[m] * claim.profile).max(self.tendon[m]) + self.outer[m] - claim.distance;
        (
            value,
            value + claim.reach * (self.reach[m] + self.cover_share[m] * self.cover[index]),
        )
    }

    /// Volume of each muscle \[m³\].
    pub fn volumes(&self, radii: &[f32]) -> Vec<f64> {
        const PIECE: usize = 64 * NODES;
        let nodes = self.free.len();
        let pieces: Vec<Vec<u32>> = (0..nodes.div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let mut counts = vec![0; radii.len()];
                for index in piece * PIECE..((piece + 1) * PIECE).min(nodes) {
                    if self.free[index] {
                        let mut best = (f32::NEG_INFINITY, None);
                        for claim in self.at(index) {
                            let (value, within) = self.value(index, claim, radii);
                            if within > 0.0 && value > best.0 {
                                best = (value, Some(claim.muscle as usize));
                            }
                        }
                        if let Some(m) = best.1 {
                            counts[m] += 1;
                        }
                    }
                }
                counts
            })
            .collect();
        (0..radii.len())
            .map(|m| self.cell * pieces.iter().map(|p| f64::from(p[m])).sum::<f64>())
            .collect()
    }

    /// How far a node is inside a muscle's share, seen from its borders with other muscles, and how far within its reach \[m\].
    pub fn inside(&self, index: usize, muscle: usize, radii: &[f32]) -> Option<(f32, f32)> {
        let claims = self.at(index);
        let own = claims.iter().find(|c| c.muscle as usize == muscle)?;
        let (value, within) = self.value(index, own, radii);
        let others = claims
            .iter()
            .filter(|c| c.muscle as usize != muscle)
            .map(|claim| {
                let (value, within) = self.value(index, claim, radii);
                value + REACH_STEEPNESS * within.min(0.0)
            });
        let best = others.fold(-FAR, f32::max);
        Some((0.5 * (value - best), within))
    }
}
