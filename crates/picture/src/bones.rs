//! Skeleton meshes: octahedral bones with spheres at the joints, visible through the body.

use glam::Vec3;
use supple_geom::TriMesh;

use crate::colour::hex;
use crate::scene::{Colour, DrawMesh};

/// Appearance of bones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneStyle {
    /// Colour of the bones.
    pub bone: Vec3,
    /// Colour of the joints.
    pub joint: Vec3,
    /// Largest half-width of a bone, relative to its length.
    pub width: f32,
    /// Radius of a joint \[m\]; `None` derives it from the size of the skeleton.
    pub joint_radius: Option<f32>,
    /// Drawn over everything else.
    pub on_top: bool,
    /// Opacity: 0 invisible, 1 opaque.
    pub opacity: f32,
}

impl Default for BoneStyle {
    fn default() -> Self {
        Self {
            bone: hex(0xf2efe6),
            joint: hex(0x2f7fbf),
            width: 0.09,
            joint_radius: None,
            on_top: true,
            opacity: 0.92,
        }
    }
}

/// The mesh of a skeleton given by joint positions and parents; joints with invalid parents or coordinates are left out.
pub fn skeleton_mesh(
    joints: &[Vec3],
    parents: &[Option<usize>],
    style: &BoneStyle,
) -> DrawMesh<'static> {
    let bone = |(joint, parent): (&Vec3, &Option<usize>)| Some((*joints.get((*parent)?)?, *joint));
    let bones: Vec<(Vec3, Vec3)> = joints.iter().zip(parents).filter_map(bone).collect();
    bone_mesh(&bones, joints, style)
}

/// The mesh of bones (head, tail) and joints.
pub fn bone_mesh(bones: &[(Vec3, Vec3)], joints: &[Vec3], style: &BoneStyle) -> DrawMesh<'static> {
    let mut soup = MeshBuilder::default();
    let limit = joint_radius(bones, joints);
    let radius = style.joint_radius.unwrap_or(limit);
    for &(head, tail) in bones {
        soup.octahedron(
            head,
            tail,
            ((tail - head).length() * style.width).min(limit * 2.0),
            style.bone,
        );
    }
    // Joint spheres are limited by the bone lengths, so that fingers stay slender.
    for &joint in joints {
        let near = bones
            .iter()
            .filter(|(a, b)| *a == joint || *b == joint)
            .map(|(a, b)| a.distance(*b));
        let shortest = near.filter(|l| *l > 1e-6).fold(f32::INFINITY, f32::min);
        soup.sphere(joint, radius.min(shortest * 0.16), style.joint);
    }
    let mut draw = DrawMesh::owned(soup.mesh);
    draw.normals = Some(soup.normals.into());
    draw.colour = Colour::Vertices(soup.colours);
    draw.on_top = style.on_top;
    draw.opacity = style.opacity;
    draw.gloss = 0.15;
    draw
}

/// 1/110 of the skeleton's diagonal: visible in a small image, smaller than a wrist.
fn joint_radius(bones: &[(Vec3, Vec3)], joints: &[Vec3]) -> f32 {
    let ends = bones.iter().flat_map(|(a, b)| [a, b]);
    crate::Bounds::of(joints.iter().chain(ends)).radius() * 2.0 / 110.0
}

#[derive(Default)]
struct MeshBuilder {
    mesh: TriMesh,
    normals: Vec<Vec3>,
    colours: Vec<Vec3>,
}

impl MeshBuilder {
    fn vertex(&mut self, position: Vec3, normal: Vec3, colour: Vec3) -> u32 {
        self.mesh.positions.push(position);
        self.normals.push(normal);
        self.colours.push(colour);
        (self.mesh.positions.len() - 1) as u32
    }

    fn octahedron(&mut self, head: Vec3, tail: Vec3, width: f32, colour: Vec3) {
        let Some(along) = (tail - head).try_normalize() else {
            return;
        };
        if !head.is_finite() {
            return;
        }
        let (u, v) = along.any_orthonormal_pair();
        let waist = head + (tail - head) * 0.18;
        let ring = [u, v, -u, -v].map(|d| waist + d * width);
        for i in 0..4 {
            let (a, b) = (ring[i], ring[(i + 1) % 4]);
            for [p, q, r] in [[head, b, a], [tail, a, b]] {
                let normal = (q - p).cross(r - p).normalize_or_zero();
                let corners = [p, q, r].map(|x| self.vertex(x, normal, colour));
                self.mesh.triangles.push(corners);
            }
        }
    }

    fn sphere(&mut self, centre: Vec3, radius: f32, colour: Vec3) {
        const RINGS: u32 = 8;
        const SECTORS: u32 = 12;
        if !(centre.is_finite() && radius > 0.0 && radius.is_finite()) {
            return;
        }
        let first = self.mesh.positions.len() as u32;
        for ring in 0..=RINGS {
            let polar = ring as f32 / RINGS as f32 * std::f32::consts::PI;
            for sector in 0..SECTORS {
                let (sin, cos) = (sector as f32 / SECTORS as f32 * std::f32::consts::TAU).sin_cos();
                let normal = Vec3::new(polar.sin() * cos, polar.cos(), -polar.sin() * sin);
                self.vertex(centre + normal * radius, normal, colour);
            }
        }
        for ring in 0..RINGS {
            for sector in 0..SECTORS {
                let at = |r: u32, s: u32| first + r * SECTORS + s % SECTORS;
                let [a, b] = [at(ring, sector), at(ring + 1, sector)];
                let [c, d] = [at(ring + 1, sector + 1), at(ring, sector + 1)];
                self.mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_point_outwards() {
        let draw = bone_mesh(
            &[(Vec3::ZERO, Vec3::Y)],
            &[Vec3::X * 3.0],
            &BoneStyle::default(),
        );
        let mesh = &draw.mesh;
        let volume: f32 = mesh
            .triangles
            .iter()
            .map(|t| t.map(|i| mesh.positions[i as usize]))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum();
        // An octahedron of length 1 with a square waist of diagonal 2w has volume (2w²)/3; the joint adds less than its sphere.
        let width = joint_radius(&[(Vec3::ZERO, Vec3::Y)], &[Vec3::X * 3.0]) * 2.0;
        assert!(volume > 2.0 / 3.0 * width * width, "{volume}");
    }

    #[test]
    fn invalid_joints_are_left_out() {
        let joints = [Vec3::ZERO, Vec3::NAN, Vec3::Y];
        let draw = skeleton_mesh(&joints, &[None, Some(0), Some(7)], &BoneStyle::default());
        assert!(draw.mesh.positions.iter().all(|p| p.is_finite()));
    }
}
