//! The bone surface: where the segment from a skin vertex to its base point enters the volumetric skeleton
//! (thesis appendix A).

use glam::DVec3;
use rayon::prelude::*;

use crate::construction::base_points::{BasePoint, base_position};
use crate::construction::bone_graph::BoneGraph;
use crate::construction::rest_skin::RestSkin;
use crate::construction::skeleton_volume::SkeletonVolume;

/// Radii of the frusta between bone caps and joint spheres, relative to the cap's and the sphere's [appendix A].
pub const FRUSTUM_SHARE: f64 = 0.8;

/// The primitive of the volumetric skeleton that a bone-surface vertex lies on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contact {
    /// A bone's capsule.
    Bone(usize),
    /// A joint's sphere.
    Node(usize),
    /// The frustum between a bone's capsule and the sphere at one of its nodes.
    Frustum {
        /// The bone.
        bone: usize,
        /// The node.
        node: usize,
    },
}

/// The first hit along a segment.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// Position on the bone surface \[m\].
    pub position: DVec3,
    /// The primitive.
    pub contact: Contact,
}

/// Distance along `from + λ direction` (unit) at which it enters the cone `|x⊥| = r₀ + (x·c) r_d` about the axis
/// through `base` with unit direction `axis` (Eq. A.4; `r_d = 0` is the cylinder A.3). The smaller root, which may be
/// negative; `None` where the line misses.
pub fn enter_cone(
    from: DVec3,
    direction: DVec3,
    base: DVec3,
    axis: DVec3,
    r0: f64,
    slope: f64,
) -> Option<f64> {
    let offset = from - base;
    let (lc, oc) = (direction.dot(axis), offset.dot(axis));
    let widen = 1.0 + slope * slope;
    let a = 1.0 - lc * lc * widen;
    let b = direction.dot(offset) - lc * oc * widen - lc * slope * r0;
    let c = offset.length_squared() - r0 * r0 - oc * oc * widen - 2.0 * slope * r0 * oc;
    let discriminant = b * b - a * c;
    if discriminant < 0.0 || a.abs() < 1e-14 {
        return None;
    }
    let root = discriminant.sqrt();
    let (first, second) = ((-b - root) / a, (-b + root) / a);
    // The mirrored half of the cone, where the radius would be negative, is not part of the frustum.
    let is_real = |lambda: &f64| r0 + (oc + lc * lambda) * slope >= 0.0;
    [first.min(second), first.max(second)]
        .into_iter()
        .find(is_real)
}

/// Distance along `from + λ direction` (unit) at which it enters a sphere (Eq. A.2).
pub fn enter_sphere(from: DVec3, direction: DVec3, centre: DVec3, radius: f64) -> Option<f64> {
    let offset = from - centre;
    let b = direction.dot(offset);
    let discriminant = b * b - (offset.length_squared() - radius * radius);
    (discriminant >= 0.0).then(|| -b - discriminant.sqrt())
}

/// The bone surface: one hit per skin vertex. A segment that hits nothing ends at its base point.
pub fn bone_surface(
    graph: &BoneGraph,
    volume: &SkeletonVolume,
    skin: &RestSkin,
    base_points: &[BasePoint],
) -> Vec<Hit> {
    let nodes: Vec<DVec3> = graph.nodes.iter().map(|node| node.position).collect();
    let shapes = shapes(graph, volume);
    skin.positions
        .par_iter()
        .zip(base_points)
        .map(|(&from, base)| {
            let to = base_position(graph, &nodes, base);
            first_hit(&shapes, from, to).unwrap_or(Hit {
                position: to,
                contact: match base.bone {
                    Some(bone) => Contact::Bone(bone),
                    None => Contact::Node(base.node),
                },
            })
        })
        .collect()
}

/// One primitive of the volumetric skeleton.
struct Shape {
    contact: Contact,
    kind: Kind,
    /// Bounding sphere.
    centre: DVec3,
    bound: f64,
}

enum Kind {
    Sphere {
        centre: DVec3,
        radius: f64,
    },
    /// Cylinder or frustum from `base` along `axis`.
    Cone {
        base: DVec3,
        axis: DVec3,
        length: f64,
        r0: f64,
        slope: f64,
    },
}

fn shapes(graph: &BoneGraph, volume: &SkeletonVolume) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (node, &radius) in volume.node_radii.iter().enumerate() {
        if radius > 0.0 {
            shapes.push(sphere(
                Contact::Node(node),
                graph.nodes[node].position,
                radius,
            ));
        }
    }
    for bone in 0..graph.bones.len() {
        bone_shapes(graph, volume, bone, &mut shapes);
    }
    shapes
}

fn bone_shapes(graph: &BoneGraph, volume: &SkeletonVolume, bone: usize, shapes: &mut Vec<Shape>) {
    let (a, b) = graph.segment(bone);
    let radius = volume.bone_radii[bone];
    let Some(axis) = (b - a).try_normalize() else {
        return;
    };
    let [start, end] = [graph.bones[bone].start, graph.bones[bone].end];
    let (ra, rb) = (volume.node_radii[start], volume.node_radii[end]);
    let length = a.distance(b);
    // Caps touch the joint spheres; at a leaf end, which has none, the cap rounds off the end itself.
    let inset = |joint_radius: f64| match joint_radius {
        0.0 => 0.0,
        _ => (joint_radius + radius).min(0.5 * length),
    };
    let cap_a = a + axis * inset(ra);
    let cap_b = b - axis * inset(rb);
    shapes.push(sphere(Contact::Bone(bone), cap_a, radius));
    shapes.push(sphere(Contact::Bone(bone), cap_b, radius));
    shapes.extend(cone(Contact::Bone(bone), cap_a, cap_b, radius, radius));
    for (node, joint_radius, centre, cap) in [(start, ra, a, cap_a), (end, rb, b, cap_b)] {
        if joint_radius > 0.0 {
            shapes.extend(cone(
                Contact::Frustum { bone, node },
                centre,
                cap,
                FRUSTUM_SHARE * joint_radius,
                FRUSTUM_SHARE * radius,
            ));
        }
    }
}

fn sphere(contact: Contact, centre: DVec3, radius: f64) -> Shape {
    Shape {
        contact,
        kind: Kind::Sphere { centre, radius },
        centre,
        bound: radius,
    }
}

fn cone(contact: Contact, base: DVec3, top: DVec3, r0: f64, r1: f64) -> Option<Shape> {
    let axis = (top - base).try_normalize()?;
    let length = base.distance(top);
    Some(Shape {
        contact,
        kind: Kind::Cone {
            base,
            axis,
            length,
            r0,
            slope: (r1 - r0) / length,
        },
        centre: base.midpoint(top),
        bound: 0.5 * length + r0.max(r1),
    })
}

fn first_hit(shapes: &[Shape], from: DVec3, to: DVec3) -> Option<Hit> {
    let reach = from.distance(to);
    let direction = (to - from).try_normalize()?;
    let mut best: Option<(f64, Contact)> = None;
    for shape in shapes {
        let offset = shape.centre - from;
        let along = offset.dot(direction).clamp(0.0, reach);
        if (offset - direction * along).length_squared() > shape.bound * shape.bound {
            continue;
        }
        let Some(lambda) = enter(shape, from, direction) else {
            continue;
        };
        if (0.0..=reach).contains(&lambda) && best.is_none_or(|(least, _)| lambda < least) {
            best = Some((lambda, shape.contact));
        }
    }
    best.map(|(lambda, contact)| Hit {
        position: from + direction * lambda,
        contact,
    })
}

fn enter(shape: &Shape, from: DVec3, direction: DVec3) -> Option<f64> {
    match shape.kind {
        Kind::Sphere { centre, radius } => enter_sphere(from, direction, centre, radius),
        Kind::Cone {
            base,
            axis,
            length,
            r0,
            slope,
        } => {
            let lambda = enter_cone(from, direction, base, axis, r0, slope)?;
            let height = (from + direction * lambda - base).dot(axis);
            (0.0..=length).contains(&height).then_some(lambda)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12 * (1.0 + b.abs())
    }

    #[test]
    fn sphere_and_cylinder_along_an_axis() {
        let from = DVec3::new(5.0, 0.0, 0.0);
        assert!(close(
            enter_sphere(from, DVec3::NEG_X, DVec3::ZERO, 2.0).unwrap(),
            3.0
        ));
        assert!(enter_sphere(from, DVec3::NEG_X, DVec3::Y * 3.0, 2.0).is_none());
        let hit = enter_cone(from, DVec3::NEG_X, DVec3::ZERO, DVec3::Y, 2.0, 0.0).unwrap();
        assert!(close(hit, 3.0));
        // At 45° in the plane of the axis the distance to the wall grows by √2.
        let slanted = DVec3::new(-1.0, 1.0, 0.0).normalize();
        let hit = enter_cone(from, slanted, DVec3::ZERO, DVec3::Y, 2.0, 0.0).unwrap();
        assert!(close(hit, 3.0 * 2.0_f64.sqrt()));
    }

    #[test]
    fn frustum_radius_grows_along_its_axis() {
        // r(y) = 1 + y/2; a horizontal ray at y = 2 meets radius 2.
        let from = DVec3::new(7.0, 2.0, 0.0);
        let hit = enter_cone(from, DVec3::NEG_X, DVec3::ZERO, DVec3::Y, 1.0, 0.5).unwrap();
        assert!(close(hit, 5.0));
    }

    /// Every hit satisfies the implicit equation A.4 it came from.
    #[test]
    fn hits_lie_on_the_cone() {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / f64::from(u32::MAX >> 1) * 2.0 - 1.0
        };
        let mut hits = 0;
        for _ in 0..2000 {
            let mut vector = || DVec3::new(random(), random(), random());
            let (base, from) = (vector(), vector() * 5.0);
            let (axis, direction) = (vector().normalize(), vector().normalize());
            let (r0, slope) = (0.5 + 0.4 * vector().x, 0.6 * vector().x);
            let Some(lambda) = enter_cone(from, direction, base, axis, r0, slope) else {
                continue;
            };
            let x = from + direction * lambda - base;
            let height = x.dot(axis);
            let left = (x - axis * height).length();
            let right = r0 + height * slope;
            assert!((left - right).abs() < 1e-7 * (1.0 + left), "{left} {right}");
            hits += 1;
        }
        assert!(hits > 200);
    }
}
