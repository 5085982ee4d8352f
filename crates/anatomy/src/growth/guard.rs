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
    pub fn guarded(&self, before: &Tissue, after: &Tissue) -> (Tissue, usize) {
        let count = before.skin.len();
        let mut shares = vec![1.0_f64; count];
        let mut now = after.clone();
        let floors = self.altitudes(before);
        for round in 0..ROUNDS {
            let mut is_bad = vec![false; count];
            let altitudes = self.altitudes(&now);
            for (prism, t) in self.mesh.triangles.iter().enumerate() {
                if altitudes[prism] < floors[prism].min(FLATTEST) {
                    t.iter().for_each(|&v| is_bad[v as usize] = true);
                }
            }
            let skin = Surface::new(TriMesh {
                positions: now.skin.iter().map(|p| p.as_vec3()).collect(),
                triangles: self.triangles.to_vec(),
            });
            for t in self.crossings(&skin).into_iter().flatten() {
                for &v in &self.triangles[t as usize] {
                    is_bad[v as usize] = true;
                }
            }
            if !is_bad.contains(&true) {
                break;
            }
            for v in (0..count).filter(|&v| is_bad[v]) {
                shares[v] = if round + 3 < ROUNDS {
                    0.5 * shares[v]
                } else {
                    0.0
                };
            }
            // What stays behind draws its neighbours back.
            for _ in 0..4 {
                for &[a, b] in &self.adjacency.edges {
                    let (a, b) = (a as usize, b as usize);
                    shares[a] = shares[a].min(shares[b] + SHARE_STEP);
                    shares[b] = shares[b].min(shares[a] + SHARE_STEP);
                }
            }
            let mix = |from: &[DVec3], to: &[DVec3]| -> Vec<DVec3> {
                (from.iter().zip(to).zip(&shares))
                    .map(|((a, b), s)| if *s < 1.0 { a.lerp(*b, *s) } else { *b })
                    .collect()
            };
            now.skin = mix(&before.skin, &after.skin);
            now.muscle = mix(&before.muscle, &after.muscle);
        }
        (now, shares.iter().filter(|s| **s < 1.0).count())
    }

    /// Least altitude of the tets of each prism of both layers \[m\], without those that have no volume because layers end.
    fn altitudes(&self, tissue: &Tissue) -> Vec<f64> {
        let place = |v: u32, surface: usize| match surface {
            0 => tissue.skin[v as usize],
            1 => tissue.muscle[v as usize],
            _ => self.mesh.skeleton[v as usize],
        };
        (self.mesh.triangles.par_iter())
            .map(|t| {
                let mut least = f64::INFINITY;
                for tet in prism_tets(*t) {
                    let is_whole = (0..4).all(|i| {
                        (0..i).all(|j| tet[i].0 != tet[j].0 || self.layered[tet[i].0 as usize])
                    });
                    if is_whole {
                        for layer in [[0, 1], [1, 2]] {
                            let corner = |(v, inner): (u32, bool)| {
                                place(v, layer[usize::from(inner)])
                            };
                            least = least.min(altitude(tet.map(corner)));
                        }
                    }
                }
                least
            })
            .collect()
    }
}
