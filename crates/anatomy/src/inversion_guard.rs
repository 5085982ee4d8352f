//! Steps of a surface that never invert a prism between it and the surfaces above and below it.
//!
//! An inner surface alone is also kept such that the surface halfway can be: the muscle surface starts there.

use glam::DVec3;
use supple_geom::adjacency::Rows;
use supple_geom::tet_mesh::altitude;

use crate::layers::{layered_triangles, prism_tets};

/// Tets may not get flatter than this \[m\], unless they are already: then not any flatter. Far above the rounding of single
/// precision (1e-7 m at the size of a body), far below the layers' thickness.
const FLATTEST: f64 = 1e-4;

/// Halvings of a step before a vertex stays where it is.
const HALVINGS: u32 = 6;

/// The prisms above and below a surface that moves.
#[derive(Clone, Debug)]
pub struct InversionGuard {
    triangles: Vec<[u32; 3]>,
    /// Triangles with a free corner.
    prisms: Vec<u32>,
    /// For each vertex its prisms, as places in `prisms`.
    around: Rows,
    outer: Vec<DVec3>,
    /// The surface below the moving one, if there is one.
    inner: Option<Vec<DVec3>>,
    free: Vec<bool>,
}

impl InversionGuard {
    /// For a surface below another; only free vertices move, elsewhere both surfaces are one.
    pub fn below(triangles: &[[u32; 3]], outer: &[DVec3], free: &[bool]) -> Self {
        let prisms = layered_triangles(triangles, free);
        let corners = (prisms.iter().zip(0u32..))
            .flat_map(|(&t, prism)| triangles[t as usize].map(|v| (v, prism)));
        let around = Rows::from_pairs(outer.len(), corners.collect::<Vec<_>>().into_iter());
        InversionGuard {
            triangles: triangles.to_vec(),
            prisms,
            around,
            outer: outer.to_vec(),
            inner: None,
            free: free.to_vec(),
        }
    }

    /// For a surface between two others.
    pub fn between(
        triangles: &[[u32; 3]],
        outer: &[DVec3],
        inner: &[DVec3],
        free: &[bool],
    ) -> Self {
        InversionGuard {
            inner: Some(inner.to_vec()),
            ..InversionGuard::below(triangles, outer, free)
        }
    }

    /// Least altitude of a prism's tets \[m\], without those that have no volume because the layers end there.
    fn least_altitude(&self, prism: u32, moving: &[DVec3]) -> f64 {
        let corners = self.triangles[self.prisms[prism as usize] as usize];
        // Outer surface, the one in the middle, inner surface.
        let at = |v: u32| {
            let v = v as usize;
            let outer = self.outer[v];
            match &self.inner {
                _ if !self.free[v] => [outer; 3],
                Some(inner) => [outer, moving[v], inner[v]],
                None => [outer, 0.5 * (outer + moving[v]), moving[v]],
            }
        };
        let places = corners.map(|v| (v, at(v)));
        let place = |v: u32| {
            places
                .iter()
                .find(|(w, _)| *w == v)
                .map_or([DVec3::ZERO; 3], |p| p.1)
        };
        let is_whole = |tet: &[(u32, bool); 4]| {
            (0..4).all(|i| (0..i).all(|j| tet[i].0 != tet[j].0 || self.free[tet[i].0 as usize]))
        };
        let layers: &[[usize; 2]] = match self.inner {
            Some(_) => &[[0, 1], [1, 2]],
            None => &[[0, 1], [1, 2], [0, 2]],
        };
        let mut least = f64::INFINITY;
        for tet in prism_tets(corners).iter().filter(|tet| is_whole(tet)) {
            for layer in layers {
                let corner = |(v, is_inner): (u32, bool)| place(v)[layer[usize::from(is_inner)]];
                least = least.min(altitude(tet.map(corner)));
            }
        }
        least
    }

    /// Number of inverted or flat prisms.
    pub fn inverted(&self, inner: &[DVec3]) -> usize {
        (0..self.prisms.len() as u32)
            .filter(|p| self.least_altitude(*p, inner) <= 0.0)
            .count()
    }

    /// Inverted or flat prisms, as places among all.
    pub fn inverted_prisms(&self, inner: &[DVec3]) -> Vec<u32> {
        (0..self.prisms.len() as u32)
            .filter(|p| self.least_altitude(*p, inner) <= 0.0)
            .collect()
    }

    /// Triangles of the prisms.
    pub fn prisms(&self) -> &[u32] {
        &self.prisms
    }

    /// Moves the inner surface towards a wanted one, each vertex as far as no prism around it inverts. Gives for each prism
    /// whether it stopped a vertex.
    pub fn advance(&self, inner: &mut Vec<DVec3>, wanted: &[DVec3]) -> Vec<bool> {
        let mut shares = vec![1.0; inner.len()];
        let mut has_stopped = vec![false; self.prisms.len()];
        let mut moved = wanted.to_vec();
        let floors: Vec<f64> = (0..self.prisms.len() as u32)
            .map(|p| self.least_altitude(p, inner).min(FLATTEST))
            .collect();
        let mut suspects: Vec<u32> = (0..self.prisms.len() as u32).collect();
        while !suspects.is_empty() {
            let mut changed = Vec::new();
            for prism in suspects {
                if self.least_altitude(prism, &moved) >= floors[prism as usize] {
                    continue;
                }
                has_stopped[prism as usize] = true;
                let corners = self.triangles[self.prisms[prism as usize] as usize];
                changed.extend(corners.into_iter().filter(|&v| shares[v as usize] > 0.0));
            }
            changed.sort_unstable();
            changed.dedup();
            for v in changed.iter().map(|&v| v as usize) {
                shares[v] = if shares[v] > 0.5f64.powi(HALVINGS as i32) {
                    0.5 * shares[v]
                } else {
                    0.0
                };
                moved[v] = if shares[v] > 0.0 {
                    inner[v].lerp(wanted[v], shares[v])
                } else {
                    inner[v]
                };
            }
            suspects = (changed.iter())
                .flat_map(|&v| self.around.row(v as usize).iter().copied())
                .collect();
            suspects.sort_unstable();
            suspects.dedup();
        }
        *inner = moved;
        has_stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::prism_measures;
    use supple_geom::shapes::icosphere;

    #[test]
    fn a_step_through_the_outer_surface_is_stopped() {
        let ball = icosphere(0.1, 3);
        let outer: Vec<DVec3> = ball.positions.iter().map(|p| p.as_dvec3()).collect();
        let free: Vec<bool> = outer.iter().map(|p| p.y > -0.05).collect();
        let bar = InversionGuard::below(&ball.triangles, &outer, &free);
        let mut inner: Vec<DVec3> = (outer.iter().zip(&free))
            .map(|(p, free)| if *free { *p * 0.9 } else { *p })
            .collect();
        assert_eq!(bar.inverted(&inner), 0);
        // A third of the vertices go out, another third far beyond the middle.
        let wanted: Vec<DVec3> = (inner.iter().zip(&free).enumerate())
            .map(|(v, (p, free))| match v % 3 {
                _ if !free => *p,
                0 => *p * 1.5,
                1 => *p * -0.5,
                _ => *p * 0.8,
            })
            .collect();
        assert!(bar.inverted(&wanted) > 100);
        let has_stopped = bar.advance(&mut inner, &wanted);
        assert!(has_stopped.iter().any(|s| *s));
        let single: Vec<_> = inner.iter().map(|p| p.as_vec3()).collect();
        let all: Vec<u32> = (0..ball.triangles.len() as u32).collect();
        let (inverted, _) = prism_measures(&ball.triangles, &all, &ball.positions, &single);
        assert_eq!(inverted, 0);
    }

    #[test]
    fn a_good_step_is_taken_whole() {
        let ball = icosphere(0.1, 2);
        let outer: Vec<DVec3> = ball.positions.iter().map(|p| p.as_dvec3()).collect();
        let bar = InversionGuard::below(&ball.triangles, &outer, &vec![true; outer.len()]);
        let scaled = |s: f64| outer.iter().map(|p| *p * s).collect::<Vec<_>>();
        let mut inner = scaled(0.95);
        let has_stopped = bar.advance(&mut inner, &scaled(0.4));
        assert!(!has_stopped.contains(&true));
        assert_eq!(inner, scaled(0.4));
    }
}
