//! Rigidity of a surface: its edges turn as its vertices do, and keep their lengths (Sorkine and Alexa 2007, "As-rigid-as-possible
//! surface modeling").

use glam::{DMat3, DVec3};

use super::Stencils;
use crate::higham::closest_rotation;
use crate::laplace::CotanLaplacian;
use crate::least_squares::{Points, Residual, Rows};

/// Two rows an edge, one for each of its ends that is free: √w (x_b − x_a − R e⁰), where R turns the rest edges around that end
/// best to the present ones.
#[derive(Clone, Debug)]
pub struct Rigidity {
    /// The edge vectors.
    edges: Stencils,
    /// Edges of the rest shape.
    rest: Vec<DVec3>,
    /// Edges around each free vertex.
    fans: Vec<Vec<u32>>,
}

impl Rigidity {
    /// Of a surface at rest with this Laplacian. An edge's weight is its cotangents' within `bounds`, times `weight` \[1/m²\].
    ///
    /// # Panics
    /// If there are fewer points than vertices at rest.
    pub fn new(
        laplacian: &CotanLaplacian,
        bounds: [f64; 2],
        rest: &[DVec3],
        points: &Points,
        weight: f64,
    ) -> Rigidity {
        let mut rigidity = Rigidity {
            edges: Stencils::new(points),
            rest: Vec::new(),
            fans: Vec::new(),
        };
        let mut fan_of = vec![None; points.at.len()];
        for (k, &v) in points.free().iter().enumerate() {
            fan_of[v as usize] = Some(k);
        }
        rigidity.fans = vec![Vec::new(); points.free().len()];
        for (&[a, b], cotangent) in laplacian.edges.iter().zip(&laplacian.weights) {
            let ends = [a, b].map(|v| fan_of[v as usize]);
            let rows = ends.iter().flatten().count();
            if rows == 0 {
                continue;
            }
            let edge = rigidity.rest.len() as u32;
            let shared = weight * cotangent.clamp(bounds[0], bounds[1]) / rows as f64;
            rigidity.edges.push(shared, [(b, 1.0), (a, -1.0)], points);
            rigidity.rest.push(rest[b as usize] - rest[a as usize]);
            for fan in ends.into_iter().flatten() {
                rigidity.fans[fan].push(edge);
            }
        }
        rigidity
    }
}

impl Residual<Points, 3> for Rigidity {
    fn pieces(&self) -> usize {
        Stencils::pieces(self.fans.len())
    }

    fn linearise(&self, points: &Points, piece: usize, rows: &mut dyn Rows<3>) {
        let mut now: Vec<DVec3> = Vec::new();
        for fan in &self.fans[Stencils::piece(piece, self.fans.len())] {
            now.clear();
            now.extend((fan.iter()).map(|&edge| self.edges.value(edge as usize, points)));
            let mut mixed = DMat3::ZERO;
            for (&edge, e) in fan.iter().zip(&now) {
                let r = self.rest[edge as usize];
                mixed += DMat3::from_cols(*e * r.x, *e * r.y, *e * r.z);
            }
            let turn = closest_rotation(mixed);
            for (&edge, e) in fan.iter().zip(&now) {
                let off = *e - turn * self.rest[edge as usize];
                self.edges.write(edge as usize, off, rows);
            }
        }
    }

    fn is_constant(&self) -> bool {
        true
    }
}
