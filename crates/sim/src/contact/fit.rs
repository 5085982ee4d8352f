//! Boxes, cones of normals and half-spaces around prisms, eight at a time; refitted every step.
//!
//! Lower ends are kept negated: the ends of everything below a node are then largest values, which is the one comparison that
//! [`Lanes`] has.

// Plain loops: iterator adaptors are not always inlined, and what is not inlined loses the kernel's instruction set.
#![allow(clippy::needless_range_loop)]

use rayon::prelude::*;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use super::tree::{NONE, Tree};

/// Nodes of level 0 that a thread refits at a time.
const CHUNK: usize = 8;
/// Most restless leaves: where there are more, the body moves.
const FEW: usize = 48;

/// Eight boxes around things below, and eight boxes around their normals.
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

/// Contains nothing.
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

/// Eight prisms.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// Negated lower ends, by axis.
    pub low: [F32x8; 3],
    /// Upper ends.
    pub high: [F32x8; 3],
    /// Normals of the triangles.
    pub normal: [F32x8; 3],
    /// Half-spaces x · (first three, a unit vector) ≤ fourth: above the triangle, outside of its edges, below the base points.
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

/// What the prisms of a leaf lie between: limbs are slanted, and boxes around their prisms reach out on the other side.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slab {
    /// The mean normal.
    pub direction: [f32; 3],
    /// Negated lower end along it.
    pub low: f32,
    /// Upper end.
    pub high: f32,
}

/// How far something has come: no two of its points have moved or turned against each other by more than the sum of both ways.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// Path of the point that moved farthest in every step \[m\].
    pub path: f64,
    /// The same for normals.
    pub turn: f64,
}

impl Way {
    /// Goes on; what is not a number counts as far.
    pub fn add(&mut self, path: f32, turn: f32) {
        let far = |x: f32| if x < 1e6 { f64::from(x) } else { 1e6 };
        self.path += far(path);
        self.turn += far(turn);
    }

    /// Both together.
    #[inline(always)]
    pub fn plus(&self, other: &Way) -> Way {
        Way {
            path: self.path + other.path,
            turn: self.turn + other.turn,
        }
    }

    /// Ends where `until` is reached from `now` on; at once where that is not a number.
    #[inline(always)]
    pub fn end_by(&mut self, until: &Way, now: &Way) {
        let less = |a: f64, b: f64| if a <= b { a } else { b };
        let left = |until: f64, now: f64| match until - now {
            left if left.is_nan() => f64::NEG_INFINITY,
            left => left,
        };
        self.path = less(self.path, left(until.path, now.path));
        self.turn = less(self.turn, left(until.turn, now.turn));
    }

    /// Whether it has come less far than another, in both.
    #[inline(always)]
    pub fn is_before(&self, other: &Way) -> bool {
        self.path < other.path && self.turn < other.turn
    }
}

/// What a tree looks like at one moment.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    pub leaves: Vec<Leaf>,
    pub slabs: Vec<Slab>,
    /// Ways of the leaves' corners.
    pub ways: Vec<Way>,
    /// No leaf that was not restless has come farther, in any step.
    pub way: Way,
    /// Leaves that came farther than others in this step: a triangle that is crushed turns at random.
    pub restless: Vec<u32>,
    /// Memory.
    is_restless: Vec<bool>,
    /// From the one above the leaves to the root.
    pub levels: Vec<Vec<Wide>>,
}

impl Fit {
    /// Fits the prisms between points above the skin and base points. `faces` are the triangles' normals in the order of the tree, of
    /// any length, and the first number of `steps` tells how far the prism's corners at a point have moved. Leaves that come or turn by
    /// more than `calm` are restless.
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
        self.ways.resize(tree.corners.len(), Way::default());
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
            .zip(self.ways.par_chunks_mut(CHUNK * LANES))
            .zip(self.is_restless.par_chunks_mut(CHUNK * LANES))
            .enumerate()
            .map(|(chunk, ((((nodes, leaves), slabs), ways), is_restless))| {
                let farthest = dispatch(FitLeaves {
                    tree,
                    first: chunk * CHUNK * LANES,
                    tops,
                    bases,
                    steps,
                    faces,
                    leaves,
                    slabs,
                    ways,
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
            })
            .reduce(|| [0.0; 2], |[a, b], [c, d]| [farther(a, c), farther(b, d)]);
        self.restless.clear();
        let restless = self.is_restless.iter().zip(0..);
        (self.restless).extend(restless.filter_map(|(&is, leaf)| is.then_some(leaf)));
        if self.restless.len() > FEW {
            self.restless.clear();
            self.way.add(f32::INFINITY, f32::INFINITY);
        } else {
            self.way.add(farthest[0], farthest[1]);
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

/// The larger; what is not a number is larger.
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
    ways: &'a mut [Way],
    is_restless: &'a mut [bool],
    calm: [f32; 2],
}

impl Kernel for FitLeaves<'_> {
    /// How far the leaf that came farthest came, and turned, of those that are calm.
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
            let come = [largest(&step.store()), largest(&turn.store())];
            self.ways[i].add(come[0], come[1]);
            let is_calm = come[0] <= self.calm[0] && come[1] <= self.calm[1];
            self.is_restless[i] = !is_calm;
            if is_calm {
                farthest = [farther(farthest[0], come[0]), farther(farthest[1], come[1])];
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

/// Normals of triangles in the order of the tree, as long as twice their areas.
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

/// Fits eight prisms: tops of corners first, then base points.
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

/// The half-space in a direction that holds all corners.
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
