//! Shape of the prisms between two surfaces (4.8): each is a rotation of its rest shape and a stretch.

use glam::{DMat3, DVec3};

use super::Stencils;
use crate::higham::closest_rotation;
use crate::least_squares::{Points, Residual, Rows};

/// Three rows a prism, the columns of its deformation gradient (2.18) less their projection: the closest rotation times a stretch
/// that is free across the rest prism's normal, free within bounds along it, and without shear between both.
#[derive(Clone, Debug)]
pub struct PrismShape {
    columns: Stencils,
    /// Normal of each prism at rest.
    normals: Vec<DVec3>,
    free_stretch: [f64; 2],
}

impl PrismShape {
    /// No prism yet. Stretches along the normal within `free_stretch` cost nothing.
    pub fn new(points: &Points, free_stretch: [f64; 2]) -> PrismShape {
        PrismShape {
            columns: Stencils::new(points),
            normals: Vec::new(),
            free_stretch,
        }
    }

    /// Adds a prism with an outer and an inner triangle at rest, and returns its number. It resists as one of `least_thickness`
    /// \[m\] at least. None if it is no body even so.
    pub fn push(
        &mut self,
        weight: f64,
        vertices: [[u32; 3]; 2],
        rest: [[DVec3; 3]; 2],
        least_thickness: f64,
        points: &Points,
    ) -> Option<usize> {
        let [outer, inner] = rest;
        let normal = (outer[1] - outer[0])
            .cross(outer[2] - outer[0])
            .normalize_or_zero();
        let gradients = gradients(outer, inner, normal, least_thickness)?;
        for axis in 0..3 {
            let corners = vertices.into_iter().flatten();
            let terms = corners.zip(gradients).map(|(v, g)| (v, g[axis]));
            self.columns.push(weight, terms, points);
        }
        self.normals.push(normal);
        Some(self.normals.len() - 1)
    }

    /// Multiplies the weight of a prism.
    pub fn scale_weight(&mut self, prism: usize, factor: f64) {
        (0..3).for_each(|axis| self.columns.scale_weight(3 * prism + axis, factor));
    }
}

impl Residual<Points, 3> for PrismShape {
    fn pieces(&self) -> usize {
        Stencils::pieces(self.normals.len())
    }

    fn linearise(&self, points: &Points, piece: usize, rows: &mut dyn Rows<3>) {
        for prism in Stencils::piece(piece, self.normals.len()) {
            let column = |axis: usize| self.columns.value(3 * prism + axis, points);
            let f = DMat3::from_cols(column(0), column(1), column(2));
            let off = f - projection(f, self.normals[prism], self.free_stretch);
            for axis in 0..3 {
                self.columns.write(3 * prism + axis, off.col(axis), rows);
            }
        }
    }

    fn is_constant(&self) -> bool {
        true
    }
}

/// The closest rotation times a stretch that is free across the normal, free within bounds along it, and without shear between
/// both. The thesis holds the stretch across at one; but the outer triangles are given, and where they are wider than at rest the
/// inner ones would have to be narrower.
pub(super) fn projection(f: DMat3, normal: DVec3, free_stretch: [f64; 2]) -> DMat3 {
    let rotation = closest_rotation(f);
    let stretch = rotation.transpose() * f;
    let alpha = normal
        .dot(stretch * normal)
        .clamp(free_stretch[0], free_stretch[1]);
    let along = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
    let across = DMat3::IDENTITY - along;
    rotation * (across * stretch * across + along * alpha)
}

/// Gradients gᵢ with F = Σ xᵢ gᵢᵀ, the best affine map of a prism's corners, outer ones first.
pub(super) fn gradients(
    outer: [DVec3; 3],
    inner: [DVec3; 3],
    normal: DVec3,
    least_thickness: f64,
) -> Option<[DVec3; 6]> {
    let corners = [outer[0], outer[1], outer[2], inner[0], inner[1], inner[2]];
    let centre = corners.iter().sum::<DVec3>() / 6.0;
    let outward = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
    // A flat prism, as at a rim, resists as one of least thickness.
    let mut spread = outward * (1.5 * least_thickness * least_thickness);
    for corner in corners {
        let d = corner - centre;
        spread += DMat3::from_cols(d * d.x, d * d.y, d * d.z);
    }
    let inverse = spread.inverse();
    inverse
        .is_finite()
        .then(|| corners.map(|corner| inverse * (corner - centre)))
}
