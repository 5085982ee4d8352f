//! The last inverted prisms between a person's skin and skeleton surface are turned.

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::adjacency::Rows;
use supple_geom::normals::vertex_normals;
use supple_geom::{Adjacency, Surface, TriMesh};

use crate::Layers;
use crate::inversion_guard::InversionGuard;

/// Smoothings of the surface around inverted prisms, and after how many of them the smoothed region grows by a ring.
const SPREADS: usize = 60;
const SPREADS_A_RING: usize = 12;
/// Smoothings of the surface around vertices farther than this from where they are wanted \[m\], and rings around them. Fewer leave
/// spikes below breasts, more sink into bones.
const SMOOTHINGS: usize = 40;
const SPIKE: f64 = 5e-3;
const SMOOTHED_RINGS: usize = 2;
/// Smoothings of the lines at the last inverted prisms, and after how many of them lines get shorter too.
const TURNS: usize = 80;
const SHORTENING: usize = 15;
/// Share of their length that the template's lines start from when a surface has to be grown, and steps of growing.
const SHALLOWEST: f64 = 0.03;
const GROWING: usize = 24;
/// Steps to the direction that is below all triangles around a vertex: the last turns it by less than a degree.
const DIRECTION_TURNS: u32 = 60;
/// Least sine of the angle between a line and the triangles around it that counts as below them: three degrees.
pub(super) const LEAST_VISIBLE: f64 = 0.05;
/// Steps back towards what was wanted.
const ADVANCES: usize = 3;

/// A skeleton surface near the wanted one without inverted prisms, and how many vertices were moved for it. `surface` is the
/// person's skin. First the surface around inverted prisms is smoothed, then the lines around them; where that is not enough, the surface is
/// grown anew from just below the skin. What that left short of where it was wanted is smoothed.
pub(crate) fn untangled_skeleton(
    bar: &InversionGuard,
    template: &Layers,
    surface: &Surface,
    wanted: &[DVec3],
) -> (Vec<DVec3>, usize) {
    let mut found = wanted.to_vec();
    if bar.inverted(&found) == 0 {
        return (found, 0);
    }
    spread(bar, surface.mesh(), &template.layered, &mut found);
    (0..ADVANCES).for_each(|_| drop(bar.advance(&mut found, wanted)));
    let lines = lines_of(template, &surface.mesh().positions);
    let visible = visible_directions(surface.mesh());
    turned(
        bar,
        surface,
        [&lines, &visible],
        &template.layered,
        &mut found,
    );
    (0..ADVANCES).for_each(|_| drop(bar.advance(&mut found, wanted)));
    let left = bar.inverted(&found);
    if left > 0 {
        let other = grown(bar, surface, [&lines, &visible], wanted);
        if bar.inverted(&other) < left {
            found = other;
        }
    }
    smoothed(bar, surface.mesh(), &template.layered, wanted, &mut found);
    (0..ADVANCES).for_each(|_| drop(bar.advance(&mut found, wanted)));
    let moved = found
        .iter()
        .zip(wanted)
        .filter(|(a, b)| a.distance(**b) > 1e-6);
    let count = moved.count();
    (found, count)
}

/// Smooths a surface around inverted prisms until there are none, ever wider: triangles that turned over spread again.
fn spread(bar: &InversionGuard, skin: &TriMesh, layered: &[bool], x: &mut [DVec3]) {
    let rings = Adjacency::new(skin).vertex_vertices;
    for round in 0..SPREADS {
        let inverted = bar.inverted_prisms(x);
        if inverted.is_empty() {
            break;
        }
        let mut region: Vec<u32> = (inverted.iter())
            .flat_map(|&p| skin.triangles[bar.prisms()[p as usize] as usize])
            .collect();
        region.sort_unstable();
        region.dedup();
        (0..round / SPREADS_A_RING).for_each(|_| widen(&mut region, &rings));
        region.retain(|&v| layered[v as usize]);
        let means: Vec<DVec3> = (region.iter())
            .map(|&v| mean(x, rings.row(v as usize)))
            .collect();
        for (&v, mean) in region.iter().zip(means) {
            x[v as usize] = x[v as usize].lerp(mean, 0.5);
        }
    }
}

/// Adds the neighbours of all vertices of a region.
pub(super) fn widen(region: &mut Vec<u32>, rings: &Rows) {
    let near: Vec<u32> = (region.iter())
        .flat_map(|&v| rings.row(v as usize).iter().copied())
        .collect();
    region.extend(near);
    region.sort_unstable();
    region.dedup();
}

/// Mean of some positions.
pub(super) fn mean(x: &[DVec3], ring: &[u32]) -> DVec3 {
    let sum: DVec3 = ring.iter().map(|&n| x[n as usize]).sum();
    sum / ring.len().max(1) as f64
}

/// Smooths a surface around the vertices that are not where they are wanted, in steps that invert no prism. Lines that were shortened
/// leave spikes of the skeleton surface in places whose skin is larger than the bones below, as in breasts; they sink to what is
/// around them.
fn smoothed(
    bar: &InversionGuard,
    skin: &TriMesh,
    layered: &[bool],
    wanted: &[DVec3],
    x: &mut Vec<DVec3>,
) {
    let rings = Adjacency::new(skin).vertex_vertices;
    let mut region: Vec<u32> = (0..x.len() as u32)
        .filter(|&v| x[v as usize].distance(wanted[v as usize]) > SPIKE)
        .collect();
    (0..SMOOTHED_RINGS).for_each(|_| widen(&mut region, &rings));
    region.retain(|&v| layered[v as usize]);
    for _ in 0..SMOOTHINGS {
        let mut target = x.clone();
        for &v in &region {
            let mean = mean(x, rings.row(v as usize));
            target[v as usize] = x[v as usize].lerp(mean, 0.5);
        }
        bar.advance(x, &target);
    }
}

/// The template's lines from skin to skeleton surface, turned and stretched with the skin around each vertex: the template
/// has no inverted prism, and an affine map makes none.
fn lines_of(template: &Layers, skin: &[Vec3]) -> Vec<DVec3> {
    let person = TriMesh {
        positions: skin.to_vec(),
        triangles: template.triangles.clone(),
    };
    let normals = [
        vertex_normals(&template.skin_mesh()),
        vertex_normals(&person),
    ];
    let count = skin.len();
    let (mut spread, mut mixed) = (vec![DMat3::ZERO; count], vec![DMat3::ZERO; count]);
    let mut add = |v: usize, before: DVec3, after: DVec3| {
        spread[v] += DMat3::from_cols(before * before.x, before * before.y, before * before.z);
        mixed[v] += DMat3::from_cols(after * before.x, after * before.y, after * before.z);
    };
    for &[a, b] in &Adjacency::new(&person).edges {
        let (a, b) = (a as usize, b as usize);
        let edge = |positions: &[Vec3]| (positions[b] - positions[a]).as_dvec3();
        let (before, after) = (edge(&template.skin), edge(skin));
        for v in [a, b] {
            add(v, before, after);
            // The normal weighs as much as the edges, and keeps its length.
            let normal = |k: usize| normals[k][v].as_dvec3() * before.length();
            add(v, normal(0), normal(1));
        }
    }
    (0..count)
        .map(|v| {
            let map = mixed[v] * spread[v].inverse();
            let line = (template.skeleton[v] - template.skin[v]).as_dvec3();
            let moved = map * line;
            if moved.is_finite() { moved } else { line }
        })
        .collect()
}

/// Unit normals of the triangles around each vertex.
fn normals_around(mesh: &TriMesh) -> Vec<Vec<DVec3>> {
    let mut around = vec![Vec::new(); mesh.positions.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let normal = mesh.area_vector(t).normalize_or_zero();
        corners
            .iter()
            .for_each(|&v| around[v as usize].push(normal));
    }
    around
}

/// For each vertex the unit direction that is farthest below all triangles around it. Short lines along these have no
/// inverted prism wherever the skin is not folded, since the sign of a flat prism's tets is that of the angle between line
/// and triangle.
fn visible_directions(mesh: &TriMesh) -> Vec<DVec3> {
    let around = normals_around(mesh);
    around.par_iter().map(|n| lowest_direction(n)).collect()
}

/// The unit direction that is farthest below all triangles with these normals. Found by turning away from the triangle that
/// is worst, in ever smaller steps.
pub(super) fn lowest_direction(normals: &[DVec3]) -> DVec3 {
    let mut d = -normals.iter().sum::<DVec3>().normalize_or_zero();
    for turn in 0..DIRECTION_TURNS {
        let worst = normals.iter().max_by(|a, b| a.dot(d).total_cmp(&b.dot(d)));
        let step = 0.5 / (1.0 + f64::from(turn));
        d = (d - step * worst.copied().unwrap_or_default()).normalize_or(d);
    }
    d
}

/// Turns the last inverted prisms by smoothing the lines from skin to skeleton surface around them and turning them to the
/// template's, ever wider; at last they get shorter and turn to where no triangle hides them. For bounded turns.
fn turned(
    bar: &InversionGuard,
    surface: &Surface,
    [lines, visible]: [&[DVec3]; 2],
    layered: &[bool],
    x: &mut [DVec3],
) {
    let mesh = surface.mesh();
    let outer: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let rings = Adjacency::new(mesh).vertex_vertices;
    for turn in 0..TURNS {
        let inverted = bar.inverted_prisms(x);
        if inverted.is_empty() {
            break;
        }
        let corners =
            (inverted.iter()).flat_map(|&p| mesh.triangles[bar.prisms()[p as usize] as usize]);
        let mut vertices: Vec<u32> = corners.filter(|&v| layered[v as usize]).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let before = x.to_vec();
        let line = |v: usize| before[v] - outer[v];
        for v in vertices.into_iter().map(|v| v as usize) {
            let ring = rings.row(v);
            let sum: DVec3 = ring.iter().map(|&n| line(n as usize)).sum();
            let smooth = line(v).lerp(sum / ring.len().max(1) as f64, 0.7);
            let (shorter, usual, share) = if turn < SHORTENING {
                (1.0, lines[v].normalize_or_zero(), 0.25)
            } else {
                (0.9, visible[v], 0.5)
            };
            x[v] = outer[v] + shorter * smooth.lerp(usual * smooth.length(), share);
        }
    }
}

/// The skeleton surface grown from just below the skin to where it is wanted, in steps that invert no prism: vertices that
/// are stopped lag behind.
fn grown(
    bar: &InversionGuard,
    surface: &Surface,
    [lines, visible]: [&[DVec3]; 2],
    wanted: &[DVec3],
) -> Vec<DVec3> {
    let skin = &surface.mesh().positions;
    let at = |share: f64| -> Vec<DVec3> {
        let length = SHALLOWEST + (1.0 - SHALLOWEST) * share;
        let point = |v: usize| {
            let outer = skin[v].as_dvec3();
            let first = visible[v] * lines[v].length();
            outer + length * first.lerp(wanted[v] - outer, share)
        };
        (0..skin.len()).map(point).collect()
    };
    let mut x = at(0.0);
    for step in 1..=GROWING {
        bar.advance(&mut x, &at(step as f64 / GROWING as f64));
    }
    (0..ADVANCES).for_each(|_| drop(bar.advance(&mut x, wanted)));
    x
}
