//! What weights and geometry tell about each shell, as a basis for its [kind](crate::shells::shell_kinds).

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::Surface;
use supple_geom::adjacency::NONE;
use supple_rig::Character;

use crate::construction::body::Body;
use crate::motion::hanging_joints::hanging_joints;

/// Measures of a shell that do not depend on other shells' kinds.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    /// Its first part.
    pub part: usize,
    /// Vertices after welding.
    pub vertices: usize,
    /// Surface area \[m²\].
    pub area: f64,
    /// The same, relative to all shells that bones move.
    pub area_share: f64,
    /// Whether no bone moves it: a floor, a lamp.
    pub scenery: bool,
    /// The joint with most of its weights, or without weights the joint nearest to its centre.
    pub joint: usize,
    /// Mean difference between the weights of its vertices and their mean: 0 if all have the same weights, near 1 if they
    /// are on many joints. `None` without weights.
    pub spread: Option<f64>,
    /// Share of its weights on [hanging joints](hanging_joints).
    pub hanging: f64,
    /// Number of points on the body's bones, three per bone, of which it is the innermost shell.
    pub bone_points: usize,
    /// Number of such points that it encloses.
    pub enclosed_points: usize,
}

impl Measures {
    /// Whether it lies around bones without another shell below it.
    pub fn is_innermost(&self) -> bool {
        self.bone_points >= LEAST_BONE_POINTS
            && self.bone_points as f64 >= INNERMOST_SHARE * self.enclosed_points as f64
    }
}

/// Where a shell lies relative to the flesh.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nearness {
    /// Share of its vertices within `NEAR_DISTANCE` of the flesh.
    pub share: f64,
    /// Length of the mean normal of the flesh nearest to its vertices: 1 if it lies on one side, 0 if it goes around.
    pub one_sided: f64,
}

/// Distance up to which a vertex is near the flesh, relative to the character's size. Clothes lie within; the ends of
/// hair and capes do not.
const NEAR_DISTANCE: f64 = 0.03;
/// Smallest number of points on bones of which a shell of flesh is the innermost one.
const LEAST_BONE_POINTS: usize = 2;
/// Smallest share of these among the points that it encloses. A coarse sleeve comes closer to the bone than the skin here
/// and there.
const INNERMOST_SHARE: f64 = 0.5;
/// Smallest share of the total surface area of a shell that can enclose bones. Bounds the number of searches.
const LEAST_SHARE: f64 = 0.01;

/// Measures of all shells.
pub fn measures(character: &Character, body: &Body) -> Vec<Measures> {
    let mut measures = sizes(character, body);
    let worlds = character.bind_worlds();
    let joints: Vec<DVec3> = (worlds.iter())
        .map(|world| world.translation.as_dvec3())
        .collect();
    let hanging = hanging_joints(character);
    weigh(character, body, &joints, &hanging, &mut measures);
    count_bone_points(character, body, &joints, &hanging, &mut measures);
    measures
}

fn sizes(character: &Character, body: &Body) -> Vec<Measures> {
    let first = Measures {
        part: usize::MAX,
        scenery: true,
        ..Measures::default()
    };
    let mut measures = vec![first; body.shells.count];
    for (welded, &original) in body.welded.original_from_welded.iter().enumerate() {
        if let Some(shell) = measures.get_mut(body.shells.of_vertex[welded] as usize) {
            shell.vertices += 1;
            shell.part = shell.part.min(body.part_of(original as usize).0);
        }
    }
    for (t, &shell) in body.shells.of_triangle.iter().enumerate() {
        measures[shell as usize].area += body.welded.mesh.triangle_area(t);
    }
    for (p, part) in character.parts.iter().enumerate() {
        if !character.is_scenery(part) {
            let shells = (0..part.mesh.positions.len()).filter_map(|v| body.shell_of(p, v));
            shells.for_each(|shell| measures[shell].scenery = false);
        }
    }
    if measures.iter().all(|shell| shell.scenery) {
        measures.iter_mut().for_each(|shell| shell.scenery = false);
    }
    let moved = measures.iter().filter(|shell| !shell.scenery);
    let total: f64 = moved.map(|shell| shell.area).sum();
    for shell in &mut measures {
        shell.area_share = shell.area / total.max(f64::MIN_POSITIVE);
    }
    measures
}

/// Joint, spread and hanging share of every shell, each vertex counted once.
fn weigh(
    character: &Character,
    body: &Body,
    joints: &[DVec3],
    hanging: &[bool],
    measures: &mut [Measures],
) {
    let mut vertices = vec![Vec::new(); measures.len()];
    for (welded, &shell) in body.shells.of_vertex.iter().enumerate() {
        if shell != NONE {
            vertices[shell as usize].push(welded);
        }
    }
    let weights = |welded: usize| {
        let (part, v) = body.part_of(body.welded.original_from_welded[welded] as usize);
        let binding = &character.parts[part].binding;
        let own = match v < binding.influences.len() {
            true => binding.influences.of(v),
            false => &[],
        };
        own.iter().filter_map(|&(slot, weight)| {
            let joint = *binding.joints.get(slot as usize)?;
            (joint < joints.len()).then_some((joint, f64::from(weight)))
        })
    };
    let mut mean = vec![0.0; joints.len()];
    for (shell, vertices) in measures.iter_mut().zip(&vertices) {
        mean.fill(0.0);
        for (joint, weight) in vertices.iter().flat_map(|&v| weights(v)) {
            mean[joint] += weight;
        }
        let total: f64 = mean.iter().sum();
        if total <= 0.0 {
            shell.joint = nearest_joint(body, vertices, joints);
            continue;
        }
        mean.iter_mut().for_each(|weight| *weight /= total);
        let largest = (0..mean.len()).max_by(|&a, &b| mean[a].total_cmp(&mean[b]).then(b.cmp(&a)));
        shell.joint = largest.unwrap_or(0);
        let on_hanging = mean.iter().zip(hanging).filter(|(_, hangs)| **hangs);
        shell.hanging = on_hanging.map(|(weight, _)| weight).sum();
        // Half of the L1 distance is 1 − Σ min(w, mean).
        let differences = vertices.iter().map(|&v| {
            let shared: f64 = weights(v).map(|(joint, w)| w.min(mean[joint])).sum();
            1.0 - shared
        });
        shell.spread = Some(differences.sum::<f64>() / vertices.len() as f64);
    }
}

fn nearest_joint(body: &Body, vertices: &[usize], joints: &[DVec3]) -> usize {
    let sum: DVec3 = (vertices.iter())
        .map(|&v| body.welded.mesh.positions[v].as_dvec3())
        .sum();
    let centre = sum / vertices.len().max(1) as f64;
    let distance = |joint: usize| joints[joint].distance(centre);
    (0..joints.len())
        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        .unwrap_or(0)
}

/// Counts the points on bones of which each shell is the innermost one. A body under clothes is; the clothes are not,
/// unless the body below them was cut away.
fn count_bone_points(
    character: &Character,
    body: &Body,
    joints: &[DVec3],
    hanging: &[bool],
    measures: &mut [Measures],
) {
    if let [only] = measures {
        (only.bone_points, only.enclosed_points) = (3, 3);
        return;
    }
    let large: Vec<(usize, Surface)> = (0..measures.len())
        .filter(|&s| measures[s].area_share >= LEAST_SHARE)
        .map(|s| (s, body.surface(&|shell| shell == s)))
        .collect();
    for (joint, node) in character.skeleton.joints().iter().enumerate() {
        let Some(parent) = node.parent.filter(|_| !hanging[joint]) else {
            continue;
        };
        for t in [0.25, 0.5, 0.75] {
            let point = joints[parent].lerp(joints[joint], t).as_vec3();
            let around: Vec<(f32, usize)> = large
                .iter()
                .filter(|(_, surface)| surface.contains(point))
                .filter_map(|(s, surface)| Some((surface.closest_point(point)?.distance, *s)))
                .collect();
            for &(_, shell) in &around {
                measures[shell].enclosed_points += 1;
            }
            let innermost = around.iter().min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some(&(_, shell)) = innermost {
                measures[shell].bone_points += 1;
            }
        }
    }
}

/// Where every shell lies relative to the flesh.
pub fn nearness(body: &Body, is_flesh: &dyn Fn(usize) -> bool) -> Vec<Nearness> {
    let flesh = body.surface(is_flesh);
    let reach = (NEAR_DISTANCE * body.size) as f32;
    let others: Vec<usize> = (0..body.shells.of_vertex.len())
        .filter(|&v| {
            let shell = body.shells.of_vertex[v];
            shell != NONE && !is_flesh(shell as usize)
        })
        .collect();
    let normals: Vec<Option<Vec3>> = (others.par_iter())
        .map(|&v| {
            let point = body.welded.mesh.positions[v];
            let nearest = flesh.closest_point_within(point, reach)?;
            let [a, b, c] = flesh.mesh().corners(nearest.triangle as usize);
            Some((b - a).cross(c - a).normalize_or_zero())
        })
        .collect();
    let mut near = vec![Nearness::default(); body.shells.count];
    let mut sums = vec![(DVec3::ZERO, 0.0_f64, 0.0_f64); body.shells.count];
    for (&v, normal) in others.iter().zip(normals) {
        let (sum, close, all) = &mut sums[body.shells.of_vertex[v] as usize];
        *all += 1.0;
        if let Some(normal) = normal {
            *sum += normal.as_dvec3();
            *close += 1.0;
        }
    }
    for (near, (sum, close, all)) in near.iter_mut().zip(sums) {
        near.share = close / f64::max(all, 1.0);
        near.one_sided = sum.length() / f64::max(close, 1.0);
    }
    near
}
