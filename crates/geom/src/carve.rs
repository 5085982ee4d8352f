//! Topology of solids on a lattice: the leanest solid without handles, cavities or loose parts around a given one.
//!
//! A block that encloses everything is carved cell by cell, the farthest from the given solid first, and only where taking the
//! cell away changes no topology (a *simple* cell: Bertrand and Malandain 1994, "A new characterization of
//! three-dimensional simple points"). What is left is a deformed ball: holes that go through the solid keep a membrane at
//! their narrowest place, loose parts keep a thread to the rest.
//!
//! The solid stays *well-composed* (Latecki 1997): in each group of 2 × 2 × 2 cells the filled and the empty ones are each
//! connected through faces, so that the surface net between them is a manifold.

use crate::distance_transform::squared_distances;
use crate::voxels::Voxels;

/// Below this many cells along the longest side there is no coarser lattice.
const COARSEST: usize = 24;

/// Levels of distance a cell: fronts advance evenly to a quarter of one.
const LEVELS: f32 = 4.0;

/// The leanest solid around a given one that is a deformed ball. Cells on the lattice's border count as empty; an empty
/// lattice stays empty.
pub fn carved_ball(solid: &Voxels) -> Voxels {
    if !solid.filled.iter().any(|f| *f) {
        return solid.clone();
    }
    let tables = Tables::new();
    carved(solid, &tables)
}

/// Carves a lattice of double cells first: it leaves a shell of a few cells to be carved here.
fn carved(solid: &Voxels, tables: &Tables) -> Voxels {
    let mut ball = solid.clone();
    if solid.size.iter().any(|n| *n > COARSEST) {
        let coarse = carved(&halved(solid), tables);
        for index in 0..ball.filled.len() {
            let place = ball.place(index).map(|i| i.div_ceil(2));
            ball.filled[index] = coarse.filled[coarse.index(place)];
        }
    } else {
        ball.filled.fill(true);
    }
    let mut carver = Carver::new(ball, solid);
    carver.run(tables);
    carver.ball
}

/// A lattice of double cells: cell c holds the cells 2c − 1 and 2c of each axis, so that there is a border on both sides.
fn halved(solid: &Voxels) -> Voxels {
    let size = solid.size.map(|n| n / 2 + 1);
    let mut half = Voxels {
        origin: solid.origin - solid.cell,
        cell: 2.0 * solid.cell,
        size,
        filled: vec![false; size.iter().product()],
    };
    for index in (0..solid.filled.len()).filter(|&i| solid.filled[i]) {
        let cell = half.index(solid.place(index).map(|i| i.div_ceil(2)));
        half.filled[cell] = true;
    }
    half
}

struct Carver {
    ball: Voxels,
    keep: Vec<bool>,
    level: Vec<u16>,
    queues: Vec<Vec<u32>>,
    is_queued: Vec<bool>,
}

impl Carver {
    fn new(ball: Voxels, solid: &Voxels) -> Self {
        let squared = squared_distances(solid.size, &solid.filled);
        let level: Vec<u16> = (squared.iter())
            .map(|s| (LEVELS * s.sqrt()).min(65_000.0) as u16)
            .collect();
        let levels = level.iter().max().map_or(0, |l| usize::from(*l)) + 1;
        Carver {
            keep: solid.filled.clone(),
            is_queued: vec![false; ball.filled.len()],
            queues: vec![Vec::new(); levels],
            level,
            ball,
        }
    }

    fn offer(&mut self, index: usize) {
        if self.ball.filled[index] && !self.keep[index] && !self.is_queued[index] {
            self.is_queued[index] = true;
            self.queues[usize::from(self.level[index])].push(index as u32);
        }
    }

    /// The 3 × 3 × 3 cells around one as bits, x fastest; beyond the border everything is empty.
    fn around(&self, place: [usize; 3]) -> u32 {
        let [nx, ny, nz] = self.ball.size;
        let mut bits = 0;
        if (0..3).all(|k| place[k] > 0 && place[k] + 1 < self.ball.size[k]) {
            let mut row = self.ball.index(place.map(|i| i - 1));
            for shift in [0, 9, 18] {
                for (y, shift) in [(0, shift), (1, shift + 3), (2, shift + 6)] {
                    let cells = &self.ball.filled[row + y * nx..][..3];
                    bits |=
                        (u32::from(cells[0]) | u32::from(cells[1]) << 1 | u32::from(cells[2]) << 2)
                            << shift;
                }
                row += nx * ny;
            }
            return bits;
        }
        for bit in 0..27 {
            let [x, y, z] = [bit % 3, bit / 3 % 3, bit / 9];
            let (x, y, z) = (place[0] + x, place[1] + y, place[2] + z);
            let within = x > 0 && y > 0 && z > 0 && x <= nx && y <= ny && z <= nz;
            if within && self.ball.filled[self.ball.index([x - 1, y - 1, z - 1])] {
                bits |= 1 << bit;
            }
        }
        bits
    }

    fn run(&mut self, tables: &Tables) {
        for index in 0..self.ball.filled.len() {
            if self.ball.filled[index] && self.around(self.ball.place(index)) != (1 << 27) - 1 {
                self.offer(index);
            }
        }
        let mut top = self.queues.len();
        while top > 0 {
            // Whole generations at a time: fronts stay even.
            let generation = std::mem::take(&mut self.queues[top - 1]);
            if generation.is_empty() {
                top -= 1;
                continue;
            }
            for index in generation {
                let index = index as usize;
                self.is_queued[index] = false;
                let place = self.ball.place(index);
                if !tables.is_removable(self.around(place)) {
                    continue;
                }
                self.ball.filled[index] = false;
                for bit in (0..27).filter(|bit| *bit != CENTER) {
                    let [x, y, z] = [bit % 3, bit / 3 % 3, bit / 9];
                    let next = [place[0] + x, place[1] + y, place[2] + z];
                    if (0..3).all(|k| next[k] > 0 && next[k] <= self.ball.size[k]) {
                        let next = self.ball.index(next.map(|i| i - 1));
                        self.offer(next);
                        if !self.keep[next] && self.ball.filled[next] {
                            top = top.max(usize::from(self.level[next]) + 1);
                        }
                    }
                }
            }
        }
    }
}

const CENTER: usize = 13;

/// Neighbourhoods as bit masks.
struct Tables {
    /// For each of the 27 cells those within one step in each axis.
    touching: [u32; 27],
    /// For each of the 27 cells those that share a face.
    facing: [u32; 27],
    /// The cells that share a face or an edge with the middle one.
    eighteen: u32,
    /// For each group of 2 × 2 × 2 cells around the middle its bits.
    groups: [[usize; 8]; 8],
    /// For each pattern of 2 × 2 × 2 cells whether the filled and the empty ones are each connected through faces.
    is_sound: [bool; 256],
}

impl Tables {
    fn new() -> Self {
        let at = |bit: usize| [bit % 3, bit / 3 % 3, bit / 9].map(|i| i as i32);
        let apart = |a: usize, b: usize| {
            let (a, b) = (at(a), at(b));
            [0, 1, 2].map(|k| (a[k] - b[k]).abs())
        };
        let mask = |from: usize, is_near: &dyn Fn([i32; 3]) -> bool| {
            (0..27)
                .filter(|&to| to != from && is_near(apart(from, to)))
                .fold(0u32, |bits, to| bits | 1 << to)
        };
        let touching = std::array::from_fn(|b| mask(b, &|d| d.iter().all(|x| *x <= 1)));
        let facing = std::array::from_fn(|b| mask(b, &|d| d.iter().sum::<i32>() == 1));
        let eighteen = mask(CENTER, &|d| {
            d.iter().sum::<i32>() <= 2 && d.iter().all(|x| *x <= 1)
        });
        let corner = |c: usize| [c & 1, c >> 1 & 1, c >> 2];
        let groups = std::array::from_fn(|g| {
            std::array::from_fn(|c| {
                let (g, c) = (corner(g), corner(c));
                (g[0] + c[0]) + 3 * (g[1] + c[1]) + 9 * (g[2] + c[2])
            })
        });
        let is_connected = |pattern: usize| {
            let mut found = pattern & pattern.wrapping_neg();
            for _ in 0..8 {
                for c in (0..8).filter(|c| found >> c & 1 == 1).collect::<Vec<_>>() {
                    found |= [1, 2, 4].iter().fold(0, |bits, k| bits | 1 << (c ^ k)) & pattern;
                }
            }
            found == pattern
        };
        let is_sound = std::array::from_fn(|p| is_connected(p) && is_connected(255 - p));
        Tables {
            touching,
            facing,
            eighteen,
            groups,
            is_sound,
        }
    }

    /// Whether taking the middle cell away changes no topology and leaves the solid well-composed.
    fn is_removable(&self, around: u32) -> bool {
        let without = around & !(1 << CENTER);
        let is_sound = self.groups.iter().all(|group| {
            let pattern = (group.iter().enumerate())
                .fold(0, |bits, (k, bit)| bits | (without >> bit & 1) << k);
            self.is_sound[pattern as usize]
        });
        is_sound && self.is_one_solid(without) && self.is_one_void(!around & self.eighteen)
    }

    /// Whether the filled neighbours are one part.
    fn is_one_solid(&self, filled: u32) -> bool {
        filled != 0 && spread(filled & filled.wrapping_neg(), filled, &self.touching) == filled
    }

    /// Whether the empty neighbours that share a face with the middle belong to one part.
    fn is_one_void(&self, empty: u32) -> bool {
        let faces = empty & self.facing[CENTER];
        faces != 0 && faces & !spread(faces & faces.wrapping_neg(), empty, &self.facing) == 0
    }
}

/// All cells of a set that are connected with the first ones.
fn spread(first: u32, set: u32, near: &[u32; 27]) -> u32 {
    let (mut found, mut fresh) = (first, first);
    while fresh != 0 {
        let bit = fresh.trailing_zeros();
        fresh &= fresh - 1;
        let more = near[bit as usize] & set & !found;
        found |= more;
        fresh |= more;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aabb::Aabb;
    use crate::adjacency::Adjacency;
    use crate::random::Random;
    use crate::surface_nets::voxel_net;
    use glam::Vec3;

    fn lattice(inside: impl Fn(Vec3) -> bool) -> Voxels {
        let bounds = Aabb {
            min: Vec3::NEG_ONE,
            max: Vec3::ONE,
        };
        let mut voxels = Voxels::over(bounds, 0.05, 1);
        for index in 0..voxels.filled.len() {
            voxels.filled[index] = inside(voxels.center(index));
        }
        voxels
    }

    fn check(solid: &Voxels) -> Voxels {
        let ball = carved_ball(solid);
        assert!((ball.filled.iter().zip(&solid.filled)).all(|(b, s)| *b || !*s));
        let mesh = voxel_net(&ball);
        let adjacency = Adjacency::new(&mesh);
        assert!(adjacency.is_closed_and_oriented(&mesh));
        assert_eq!(adjacency.euler_characteristic(), 2);
        assert_eq!(crate::shells::shells(&mesh).count, 1);
        ball
    }

    #[test]
    fn a_ball_stays_and_a_shell_is_filled() {
        let ball = lattice(|p| p.length() < 0.7);
        assert_eq!(check(&ball), ball);
        let shell = lattice(|p| (0.5..0.7).contains(&p.length()));
        let inner = lattice(|p| p.length() < 0.7);
        assert_eq!(check(&shell), inner);
    }

    #[test]
    fn a_ring_gets_a_membrane() {
        let ring = lattice(|p| (Vec3::new(p.x, 0.0, p.z).length() - 0.6).hypot(p.y) < 0.2);
        let filled = check(&ring);
        let added = filled.volume() - ring.volume();
        // A disc of radius 0.4, about one cell thick.
        let disc = std::f64::consts::PI * 0.16 * 0.05;
        assert!((0.7..1.8).contains(&(added / disc)), "{}", added / disc);
    }

    #[test]
    fn loose_parts_are_joined() {
        let two = lattice(|p| {
            (p - 0.5 * Vec3::X)
                .length()
                .min((p + 0.5 * Vec3::X).length())
                < 0.3
        });
        let joined = check(&two);
        assert!(joined.volume() - two.volume() < 20.0 * 0.05f64.powi(3));
    }

    #[test]
    fn noise_becomes_a_ball() {
        let mut random = Random::new(11);
        let mut noise = lattice(|p| p.length() < 0.8);
        for filled in &mut noise.filled {
            *filled &= random.signed() > 0.5;
        }
        check(&noise);
    }

    #[test]
    fn nothing_stays_nothing() {
        let empty = lattice(|_| false);
        assert_eq!(carved_ball(&empty), empty);
    }
}
