//! A lattice of nodes that is stored only where the body is: cubes of nodes, and the distance to a surface at each node.

use glam::{IVec3, Vec3};
use rayon::prelude::*;
use supple_geom::Surface;

/// Nodes along each side of a block.
pub const SIDE: i32 = 8;
/// Nodes of a block.
pub const NODES: usize = (SIDE * SIDE * SIDE) as usize;
const NONE: u32 = u32::MAX;

/// Which blocks of a lattice are stored.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Position of node (0, 0, 0) \[m\].
    pub origin: Vec3,
    /// Distance between nodes \[m\].
    pub step: f32,
    size: IVec3,
    slots: Vec<u32>,
    /// Stored blocks, in the order of their slots.
    pub stored: Vec<IVec3>,
}

impl Blocks {
    /// Blocks that touch the inside of a closed surface where x is above `least_x`. The lattice has nodes half a step off the plane x = 0.
    pub fn inside(surface: &Surface, step: f32, least_x: f32) -> Blocks {
        let bounds = surface.bounds();
        let low = Vec3::new(least_x, bounds.min.y, bounds.min.z) - 2.0 * step;
        // Nodes at (k + ½) steps, whatever the bounds, so that both sides of a body see the same lattice.
        let origin = ((low / step).floor() + 0.5) * step;
        let width = SIDE as f32 * step;
        let size = ((bounds.max + 2.0 * step - origin) / width)
            .ceil()
            .as_ivec3()
            .max(IVec3::ONE);
        let radius = 0.5 * width * 3f32.sqrt() + step;
        let count = (size.x * size.y * size.z) as usize;
        let wanted: Vec<bool> = (0..count)
            .into_par_iter()
            .map(|b| {
                let block = unflatten(b, size);
                let centre = origin + (block.as_vec3() + 0.5) * width - 0.5 * step;
                surface.closest_point_within(centre, radius).is_some() || surface.contains(centre)
            })
            .collect();
        let mut slots = vec![NONE; count];
        let mut stored = Vec::new();
        for (b, slot) in slots.iter_mut().enumerate() {
            if wanted[b] {
                *slot = stored.len() as u32;
                stored.push(unflatten(b, size));
            }
        }
        Blocks {
            origin,
            step,
            size,
            slots,
            stored,
        }
    }

    /// Stored nodes.
    pub fn len(&self) -> usize {
        self.stored.len() * NODES
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// Index of a node, if its block is stored.
    pub fn index(&self, node: IVec3) -> Option<usize> {
        let block = node.div_euclid(IVec3::splat(SIDE));
        if block.cmplt(IVec3::ZERO).any() || block.cmpge(self.size).any() {
            return None;
        }
        let slot = self.slots[((block.z * self.size.y + block.y) * self.size.x + block.x) as usize];
        let local = node - block * SIDE;
        (slot != NONE)
            .then(|| slot as usize * NODES + ((local.z * SIDE + local.y) * SIDE + local.x) as usize)
    }

    /// The node with an index.
    pub fn node(&self, index: usize) -> IVec3 {
        let local = unflatten(index % NODES, IVec3::splat(SIDE));
        self.stored[index / NODES] * SIDE + local
    }

    /// Position of a node \[m\].
    pub fn position(&self, node: IVec3) -> Vec3 {
        self.origin + node.as_vec3() * self.step
    }

    /// Signed distance to a surface at each node, negative inside, cut off at ±`band` \[m\].
    pub fn distances(&self, surface: &Surface, band: f32) -> Vec<f32> {
        let width = SIDE as f32 * self.step;
        let radius = 0.5 * width * 3f32.sqrt();
        let blocks: Vec<Vec<f32>> = (0..self.stored.len())
            .into_par_iter()
            .map(|slot| {
                let centre = self.position(self.stored[slot] * SIDE) + 0.5 * (width - self.step);
                if surface
                    .closest_point_within(centre, radius + band)
                    .is_none()
                {
                    let far = if surface.contains(centre) {
                        -band
                    } else {
                        band
                    };
                    return vec![far; NODES];
                }
                let mut values = Vec::with_capacity(NODES);
                let mut before = (0.0, false);
                for k in 0..NODES {
                    let p = self.position(self.node(slot * NODES + k));
                    let near = surface.closest_point_within(p, band);
                    let distance = near.map_or(band, |c| c.distance);
                    // A surface between this node and the one before is nearer to one of them than half a step. Winding
                    // numbers cost more than all the rest.
                    let neighbour = k % SIDE as usize > 0;
                    let same = neighbour && before.0 + distance > 1.001 * self.step;
                    let inside = if same { before.1 } else { surface.contains(p) };
                    values.push(if inside { -distance } else { distance });
                    before = (distance, inside);
                }
                values
            })
            .collect();
        blocks.concat()
    }
}

fn unflatten(index: usize, size: IVec3) -> IVec3 {
    let index = index as i32;
    IVec3::new(
        index % size.x,
        index / size.x % size.y,
        index / (size.x * size.y),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes;

    #[test]
    fn distances_to_a_ball() {
        let ball = Surface::new(shapes::icosphere(0.05, 3));
        let blocks = Blocks::inside(&ball, 0.004, 0.0);
        let distances = blocks.distances(&ball, 0.01);
        assert_eq!(distances.len(), blocks.len());
        let mut inside = 0;
        for (index, &distance) in distances.iter().enumerate() {
            let node = blocks.node(index);
            assert_eq!(blocks.index(node), Some(index));
            let p = blocks.position(node);
            let exact = (p.length() - 0.05).clamp(-0.01, 0.01);
            assert!((distance - exact).abs() < 8e-4, "{p} {distance} {exact}");
            inside += usize::from(p.x > 0.0 && distance < 0.0);
        }
        // Half a ball.
        let volume = inside as f64 * 0.004f64.powi(3);
        let exact = 2.0 / 3.0 * std::f64::consts::PI * 0.05f64.powi(3);
        assert!((volume / exact - 1.0).abs() < 0.03, "{volume} {exact}");
    }
}
