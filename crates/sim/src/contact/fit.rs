//! Bounds of prisms: boxes, ranges of normals and half-spaces, eight at a time; refitted in every step.
//!
//! Lower ends are stored negated: all bounds of a node are then maxima, and [`Lanes`] needs no other comparison.

// Plain loops: iterator adaptors are not always inlined, and code that is not inlined loses the kernel's instruction
// set.
#![allow(clippy::needless_range_loop)]

use rayon::prelude::*;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use super::tree::{NONE, Tree};

/// Level-0 nodes per task.
const CHUNK: usize = 8;
/// Largest number of restless leaves; with more, the whole body counts as moving.
const MAX_RESTLESS_LEAVES: usize = 48;

/// Eight child boxes, and eight boxes around the normals below them.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    /// Negated lower ends, by axis.
    pub low: [F32x8; 3],
    /// Upper ends.
    pub high: [F32x8; 3],
    /// Negated lower ends of normals.
    pub low_normal: [F32x8; 3],
    /// Upper ends of normals.
    pub high_normal: [F32x8; 3],
}

/// A box that contains nothing.
const EMPTY: F32x8 = F32x8([f32::NEG_INFINITY; LANES]);

impl Default for Wide {
    fn default() -> Wide {
        Wide {
            low: [EMPTY; 3],
            high: [EMPTY; 3],
            low_normal: [EMPTY; 3],
            high_normal: [EMPTY; 3],
        }
    }
}

/// Bounds of eight prisms.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// Negated lower ends, by axis.
    pub low: [F32x8; 3],
    /// Upper ends.
    pub high: [F32x8; 3],
    /// Normals of the triangles.
    pub normal: [F32x8; 3],
    /// Half-spaces x · (first three, a unit vector) ≤ fourth: above the triangle, outside of its edges, below the base
    /// points.
    pub planes: [[F32x8; 4]; 5],
}

impl Default for Leaf {
    fn default() -> Leaf {
        Leaf {
            low: [EMPTY; 3],
            high: [EMPTY; 3],
            normal: [F32x8::default(); 3],
            planes: [[F32x8::default(); 4]; 5],
        }
    }
}

/// Slab around the prisms of a leaf: limbs are slanted, and boxes around their prisms reach beyond the other side.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slab {
    /// Mean normal of the triangles.
    pub direction: [f32; 3],
    /// Negated lower end along the normal.
    pub low: f32,
    /// Upper end.
    pub high: f32,
}

/// Bound on accumulated motion: two bodies have moved or turned relative to each other by at most the sum of their
/// bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionBound {
    /// Sum over steps of the largest motion of any point \[m\].
    pub path: f64,
    /// The same for changes of the normals.
    pub turn: f64,
}

impl MotionBound {
    /// Adds a step; NaN counts as far.
    pub fn add(&mut self, path: f32, turn: f32) {
        let far = |x: f32| if x < 1e6 { f64::from(x) } else { 1e6 };
        self.path += far(path);
        self.turn += far(turn);
    }

    /// Sum of both.
    #[inline(always)]
    pub fn plus(&self, other: &MotionBound) -> MotionBound {
        MotionBound {
            path: self.path + other.path,
            turn: self.turn + other.turn,
        }
    }

    /// Lowers it to the motion left from `now` to `until`, if that is less; to minus infinity if that is NaN.
    #[inline(always)]
    pub fn end_by(&mut self, until: &MotionBound, now: &MotionBound) {
        let less = |a: f64, b: f64| if a <= b { a } else { b };
        let left = |until: f64, now: f64| match until - now {
            left if left.is_nan() => f64::NEG_INFINITY,
            left => left,
        };
        self.path = less(self.path, left(until.path, now.path));
        self.turn = less(self.turn, left(until.turn, now.turn));
    }

    /// Whether both parts are less than those of another.
    #[inline(always)]
    pub fn is_before(&self, other: &MotionBound) -> bool {
        self.path < other.path && self.turn < other.turn
    }
}

/// Bounds of a tree at one moment.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    pub leaves: Vec<Leaf>,
    pub slabs: Vec<Slab>,
    /// Motion of the leaves' corners.
    pub motions: Vec<MotionBound>,
    /// Upper bound of the motion of all leaves that were not restless.
    pub motion: MotionBound,
    /// Leaves that moved farther than `calm` in this step: crushed triangles turn erratically.
    pub restless: Vec<u32>,
    /// Scratch.
    is_restless: Vec<bool>,
    /// Levels of nodes, from the one above the leaves to the root.
    pub levels: Vec<Vec<Wide>>,
}

impl Fit {
    /// Fits the prisms between raised skin points and base points. `faces` are the triangles' normals in tree order, of
    /// any length; the first number of `steps` is how far the prism corners at a point have moved. Leaves that move or
    /// turn by more than `calm` are restless.
    pub fn update(
        &mut self,
        tree: &Tree,
        tops: &[Row],
        bases: &[Row],
        steps: &[Row],
        faces: &[Row],
        calm: [f32; 2],
    ) {
        self.is_restless.resize(tree.corners.len(), false);
        self.leaves.resize(tree.corners.len(), Leaf::default());
        self.motions
            .resize(tree.corners.len(), MotionBound::default());
        self.slabs.resize(tree.corners.len(), Slab::default());
        self.levels.resize(tree.levels.len(), Vec::new());
        for (level, &count) in self.levels.iter_mut().zip(&tree.levels) {
            level.resize(count, Wide::default());
        }
        let Some((first, upper)) = self.levels.split_first_mut() else {
            return;
        };
        let farthest = first
            .par_chunks_mut(CHUNK)
            .zip(self.leaves.par_chunks_mut(CHUNK * LANES))
            .zip(self.slabs.par_chunks_mut(CHUNK * LANES))
            .zip(self.motions.par_chunks_mut(CHUNK * LANES))
            .zip(self.is_restless.par_chunks_mut(CHUNK * LANES))
            .enumerate()
            .map(
                |(chunk, ((((nodes, leaves), slabs), motions), is_restless))| {
                    let farthest = dispatch(FitLeaves {
                        tree,
                        first: chunk * CHUNK * LANES,
                        tops,
                        bases,
                        steps,
                        faces,
                        leaves,
                        slabs,
                        motions,
                        is_restless,
                        calm,
                    });
                    for (node, leaves) in nodes.iter_mut().zip(leaves.chunks(LANES)) {
                        *node = Wide::default();
                        for (lane, leaf) in leaves.iter().enumerate() {
                            node.put_leaf(lane, leaf);
                        }
                    }
                    farthest
                },
            )
            .reduce(|| [0.0; 2], |[a, b], [c, d]| [farther(a, c), farther(b, d)]);
        self.restless.clear();
        let restless = self.is_restless.iter().zip(0..);
        (self.restless).extend(restless.filter_map(|(&is, leaf)| is.then_some(leaf)));
        if self.restless.len() > MAX_RESTLESS_LEAVES {
            self.restless.clear();
            self.motion.add(f32::INFINITY, f32::INFINITY);
        } else {
            self.motion.add(farthest[0], farthest[1]);
        }
        let mut below: &Vec<Wide> = first;
        for level in upper {
            for (node, children) in level.iter_mut().zip(below.chunks(LANES)) {
                *node = Wide::default();
                for (lane, child) in children.iter().enumerate() {
                    node.put_node(lane, child);
                }
            }
            below = level;
        }
    }
}

impl Wide {
    fn put_leaf(&mut self, lane: usize, leaf: &Leaf) {
        for axis in 0..3 {
            self.low[axis].0[lane] = largest(&leaf.low[axis]);
            self.high[axis].0[lane] = largest(&leaf.high[axis]);
            self.low_normal[axis].0[lane] = largest(&-leaf.normal[axis]);
            self.high_normal[axis].0[lane] = largest(&leaf.normal[axis]);
        }
    }

    fn put_node(&mut self, lane: usize, node: &Wide) {
        for axis in 0..3 {
            self.low[axis].0[lane] = largest(&node.low[axis]);
            self.high[axis].0[lane] = largest(&node.high[axis]);
            self.low_normal[axis].0[lane] = largest(&node.low_normal[axis]);
            self.high_normal[axis].0[lane] = largest(&node.high_normal[axis]);
        }
    }
}

fn largest(x: &F32x8) -> f32 {
    let [a, b, c, d, e, f, g, h] = x.0;
    (a.max(b).max(c.max(d))).max(e.max(f).max(g.max(h)))
}

/// The larger; NaN if either is.
fn farther(a: f32, b: f32) -> f32 {
    if a <= b { b } else { a }
}

fn numbers_from(first: usize) -> [u32; LANES] {
    std::array::from_fn(|lane| (first + lane) as u32)
}

struct FitLeaves<'a> {
    tree: &'a Tree,
    first: usize,
    tops: &'a [Row],
    bases: &'a [Row],
    steps: &'a [Row],
    faces: &'a [Row],
    leaves: &'a mut [Leaf],
    slabs: &'a mut [Slab],
    motions: &'a mut [MotionBound],
    is_restless: &'a mut [bool],
    calm: [f32; 2],
}

impl Kernel for FitLeaves<'_> {
    /// Largest motion and turn among the leaves that are not restless.
    type Output = [f32; 2];
    #[inline(always)]
    fn run<L: Lanes>(self) -> [f32; 2] {
        let mut farthest = [0.0; 2];
        for i in 0..self.leaves.len() {
            let number = self.first + i;
            let index = &self.tree.corners[number];
            let mut corners = [[L::splat(0.0); 3]; 6];
            for k in 0..3 {
                corners[k] = L::gather(self.tops, &index[k]);
                corners[k + 3] = L::gather(self.bases, &index[k]);
            }
            let mut step = L::splat(0.0);
            for k in 0..3 {
                step = step.max(L::gather(self.steps, &index[k])[0]);
            }
            let face = L::gather(self.faces, &numbers_from(number * LANES));
            let length = dot(face, face).sqrt().max(L::splat(f32::MIN_POSITIVE));
            let leaf = &mut self.leaves[i];
            let (mut normal, mut turned) = (face, face);
            for axis in 0..3 {
                normal[axis] = face[axis] / length;
                turned[axis] = normal[axis] - L::load(&leaf.normal[axis]);
                leaf.normal[axis] = normal[axis].store();
            }
            let turn = dot(turned, turned).sqrt();
            let moved = [largest(&step.store()), largest(&turn.store())];
            self.motions[i].add(moved[0], moved[1]);
            let is_calm = moved[0] <= self.calm[0] && moved[1] <= self.calm[1];
            self.is_restless[i] = !is_calm;
            if is_calm {
                farthest = [
                    farther(farthest[0], moved[0]),
                    farther(farthest[1], moved[1]),
                ];
            }
            fit::<L>(&corners, leaf);
            self.slabs[i] = slab::<L>(&corners, leaf);
            let order = &self.tree.order[number * LANES..][..LANES];
            for lane in 0..LANES {
                if order[lane] == NONE {
                    for axis in 0..3 {
                        leaf.low[axis].0[lane] = f32::NEG_INFINITY;
                        leaf.high[axis].0[lane] = f32::NEG_INFINITY;
                    }
                }
            }
        }
        farthest
    }
}

/// Triangle normals in tree order, twice the area long.
pub fn face_normals(tree: &Tree, skin: &[Row], faces: &mut [Row]) {
    faces
        .par_chunks_mut(CHUNK * LANES * LANES)
        .zip(tree.corners.par_chunks(CHUNK * LANES))
        .for_each(|(faces, corners)| {
            dispatch(FaceNormals {
                skin,
                corners,
                faces,
            })
        });
}

struct FaceNormals<'a> {
    skin: &'a [Row],
    corners: &'a [[[u32; LANES]; 3]],
    faces: &'a mut [Row],
}

impl Kernel for FaceNormals<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (index, faces) in self.corners.iter().zip(self.faces.chunks_exact_mut(LANES)) {
            let a = L::gather(self.skin, &index[0]);
            let (mut u, mut v) = (
                L::gather(self.skin, &index[1]),
                L::gather(self.skin, &index[2]),
            );
            for axis in 0..3 {
                u[axis] = u[axis] - a[axis];
                v[axis] = v[axis] - a[axis];
            }
            faces.copy_from_slice(&L::rows(cross(u, v)));
        }
    }
}

/// Fits eight prisms; corners are three raised skin points, then three base points.
#[inline(always)]
fn fit<L: Lanes>(corners: &[[L; 3]; 6], leaf: &mut Leaf) {
    for axis in 0..3 {
        let (mut low, mut high) = (-corners[0][axis], corners[0][axis]);
        for corner in 1..6 {
            low = low.max(-corners[corner][axis]);
            high = high.max(corners[corner][axis]);
        }
        leaf.low[axis] = low.store();
        leaf.high[axis] = high.store();
    }
    let up = [
        L::load(&leaf.normal[0]),
        L::load(&leaf.normal[1]),
        L::load(&leaf.normal[2]),
    ];
    leaf.planes[0] = half_space(up, corners);
    leaf.planes[4] = half_space([-up[0], -up[1], -up[2]], corners);
    for edge in 0..3 {
        let (a, b) = (edge, (edge + 1) % 3);
        let (mut along, mut column) = ([L::splat(0.0); 3], [L::splat(0.0); 3]);
        for axis in 0..3 {
            along[axis] = corners[b][axis] - corners[a][axis];
            column[axis] = (corners[a][axis] + corners[b][axis])
                - (corners[a + 3][axis] + corners[b + 3][axis]);
        }
        let mut out = cross(along, column);
        let length = dot(out, out).sqrt().max(L::splat(f32::MIN_POSITIVE));
        for axis in 0..3 {
            out[axis] = out[axis] / length;
        }
        leaf.planes[edge + 1] = half_space(out, corners);
    }
}

#[inline(always)]
fn slab<L: Lanes>(corners: &[[L; 3]; 6], leaf: &Leaf) -> Slab {
    let sum = |x: &F32x8| x.0.iter().sum::<f32>();
    let [x, y, z] = [&leaf.normal[0], &leaf.normal[1], &leaf.normal[2]].map(sum);
    let length = (x * x + y * y + z * z).sqrt().max(f32::MIN_POSITIVE);
    let direction = [x / length, y / length, z / length];
    let lanes = [
        L::splat(direction[0]),
        L::splat(direction[1]),
        L::splat(direction[2]),
    ];
    let first = dot(lanes, corners[0]);
    let (mut low, mut high) = (-first, first);
    for corner in 1..6 {
        let along = dot(lanes, corners[corner]);
        low = low.max(-along);
        high = high.max(along);
    }
    Slab {
        direction,
        low: largest(&low.store()),
        high: largest(&high.store()),
    }
}

#[inline(always)]
pub fn cross<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    [
        a[1].mul_sub(b[2], a[2] * b[1]),
        a[2].mul_sub(b[0], a[0] * b[2]),
        a[0].mul_sub(b[1], a[1] * b[0]),
    ]
}

#[inline(always)]
pub fn dot<L: Lanes>(a: [L; 3], b: [L; 3]) -> L {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// The half-space in a direction that contains all corners.
#[inline(always)]
fn half_space<L: Lanes>(direction: [L; 3], corners: &[[L; 3]; 6]) -> [F32x8; 4] {
    let mut end = dot(direction, corners[0]);
    for corner in 1..6 {
        end = end.max(dot(direction, corners[corner]));
    }
    [
        direction[0].store(),
        direction[1].store(),
        direction[2].store(),
        end.store(),
    ]
}
