//! What a step must not do: invert a prism of either layer, or push skin through skin.

use glam::DVec3;
use rayon::prelude::*;
use supple_geom::tet_mesh::altitude;
use supple_geom::{Adjacency, Surface, TriMesh};

use super::tissue::{Tissue, TissueMesh};
use crate::layers::prism_tets;

/// Tets may not get flatter than this \[m\], unless they are already: then not any flatter.
const FLATTEST: f64 = 5e-5;
/// Rounds of taking back; after the last one but two what is still bad goes back whole.
const ROUNDS: usize = 8;
/// Largest difference of the shares of neighbours that are taken back: a lone vertex left behind would be a dent.
const SHARE_STEP: f64 = 0.25;
/// Passes that draw neighbours back.
const SPREADING: usize = 4;

/// Finds what is bad in a state of the tissue.
pub struct Guard<'a> {
    mesh: &'a TissueMesh,
    /// All triangles of the skin.
    triangles: &'a [[u32; 3]],
    layered: &'a [bool],
    adjacency: &'a Adjacency,
    /// Crossing triangles that were there from the start.
    known: Vec<[u32; 2]>,
    is_near: Vec<bool>,
}

impl<'a> Guard<'a> {
    /// Of a body as it was.
    pub fn new(
        mesh: &'a TissueMesh,
        triangles: &'a [[u32; 3]],
        layered: &'a [bool],
        moving: &[bool],
        adjacency: &'a Adjacency,
        skin: &Surface,
    ) -> Self {
        let is_near: Vec<bool> = (triangles.iter())
            .map(|t| t.iter().any(|&v| moving[v as usize]))
            .collect();
        let known = skin.crossings(|t| is_near[t as usize]);
        Guard {
            mesh,
            triangles,
            layered,
            adjacency,
            known,
            is_near,
        }
    }

    /// Crossing triangles that were there from the start.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    /// Crossing triangles of a skin that were not there.
    pub fn crossings(&self, skin: &Surface) -> Vec<[u32; 2]> {
        let mut found = skin.crossings(|t| self.is_near[t as usize]);
        found.retain(|pair| self.known.binary_search(pair).is_err());
        found
    }

    /// Takes back as much of a step as is bad, around where it is: the tissue after it, and how many vertices stayed behind.
    /// The muscle surface alone goes back where its own layer is bad: skin over it would show a dent.
    pub fn guarded(&self, before: &Tissue, after: &Tissue) -> (Tissue, usize) {
        let count = before.skin.len();
        let mut skin_shares = vec![1.0_f64; count];
        let mut muscle_shares = skin_shares.clone();
        let mut now = after.clone();
        let floors = self.altitudes(before);
        for round in 0..ROUNDS {
            let (mut bad_skin, mut bad_muscle) = (vec![false; count], vec![false; count]);
            for ((t, now), floor) in (self.mesh.triangles.iter())
                .zip(self.altitudes(&now))
                .zip(&floors)
            {
                let is_flat = |layer: usize| now[layer] < floor[layer].min(FLATTEST);
                for v in t.map(|v| v as usize) {
                    bad_skin[v] |= is_flat(0);
                    bad_muscle[v] |= is_flat(0) || is_flat(1);
                }
            }
            let skin = Surface::new(TriMesh {
                positions: now.skin.iter().map(|p| p.as_vec3()).collect(),
                triangles: self.triangles.to_vec(),
            });
            for t in self.crossings(&skin).into_iter().flatten() {
                for &v in &self.triangles[t as usize] {
                    bad_skin[v as usize] = true;
                }
            }
            if !bad_skin.contains(&true) && !bad_muscle.contains(&true) {
                break;
            }
            let is_late = round + 3 >= ROUNDS;
            self.take_back(&mut skin_shares, &bad_skin, is_late);
            self.take_back(&mut muscle_shares, &bad_muscle, is_late);
            now.skin = mixed(&before.skin, &after.skin, &skin_shares);
            now.muscle = mixed(&before.muscle, &after.muscle, &muscle_shares);
        }
        let shares = skin_shares.iter().zip(&muscle_shares);
        let behind = shares.filter(|(a, b)| a.min(**b) < 1.0).count();
        (now, behind)
    }

    /// Halves the shares of what is bad, or takes them all, and draws neighbours back with it.
    fn take_back(&self, shares: &mut [f64], is_bad: &[bool], is_late: bool) {
        for (share, _) in shares.iter_mut().zip(is_bad).filter(|(_, bad)| **bad) {
            *share = if is_late { 0.0 } else { 0.5 * *share };
        }
        for _ in 0..SPREADING {
            for &[a, b] in &self.adjacency.edges {
                let (a, b) = (a as usize, b as usize);
                shares[a] = shares[a].min(shares[b] + SHARE_STEP);
                shares[b] = shares[b].min(shares[a] + SHARE_STEP);
            }
        }
    }

    /// Least altitude of the tets of each prism \[m\], of the fat and of the muscle layer, without tets that have no volume
    /// because layers end.
    fn altitudes(&self, tissue: &Tissue) -> Vec<[f64; 2]> {
        let surfaces = [&tissue.skin, &tissue.muscle, &self.mesh.skeleton];
        (self.mesh.triangles.par_iter())
            .map(|t| {
                let mut least = [f64::INFINITY; 2];
                for tet in prism_tets(*t) {
                    let is_whole = (0..4).all(|i| {
                        (0..i).all(|j| tet[i].0 != tet[j].0 || self.layered[tet[i].0 as usize])
                    });
                    for layer in (0..2).filter(|_| is_whole) {
                        let corner = |(v, inner): (u32, bool)| {
                            surfaces[layer + usize::from(inner)][v as usize]
                        };
                        least[layer] = least[layer].min(altitude(tet.map(corner)));
                    }
                }
                least
            })
            .collect()
    }
}

/// A share of the way from some points to others.
fn mixed(from: &[DVec3], to: &[DVec3], shares: &[f64]) -> Vec<DVec3> {
    (from.iter().zip(to).zip(shares))
        .map(|((a, b), s)| if *s < 1.0 { a.lerp(*b, *s) } else { *b })
        .collect()
}
