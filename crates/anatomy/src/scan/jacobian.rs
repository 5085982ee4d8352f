//! Derivatives of posed points by translation, coefficients and joint angles.
//!
//! Columns: three of the translation, one a field, three (world axes) a turned joint.

use glam::{DMat3, DVec3};
use supple_geom::least_squares::residuals::Placement;

use crate::body_model::{BodyModel, Figure, Frames};

/// A figure and what its derivatives need.
pub(super) struct Linearised<'a> {
    model: &'a BodyModel,
    coefficients: Vec<f64>,
    pub frames: Frames,
    /// For each joint and field, how [`Frames::offsets`] change.
    offset_fields: Vec<DVec3>,
    /// For each joint, the slots of the turned joints at and above it, and those joints.
    turned_above: Vec<Vec<(usize, usize)>>,
    turned: usize,
}

impl<'a> Linearised<'a> {
    pub fn new(model: &'a BodyModel, figure: &Figure, turned: &[usize]) -> Self {
        let frames = figure.frames(model, &model.rest_joints(&figure.coefficients));
        let (joints, fields) = (model.joint_count(), model.field_count());
        let rest = |joint: usize, field: usize| {
            model.point_fields(model.vertex_count() + joint)[field].as_dvec3()
        };
        let mut place_fields = vec![DVec3::ZERO; joints * fields];
        let mut offset_fields = place_fields.clone();
        for joint in 0..joints {
            for field in 0..fields {
                let own = rest(joint, field);
                let moved = match model.parents[joint] {
                    None => own,
                    Some(parent) => {
                        place_fields[parent * fields + field]
                            + frames.rotations[parent] * (own - rest(parent, field))
                    }
                };
                place_fields[joint * fields + field] = moved;
                offset_fields[joint * fields + field] = moved - frames.rotations[joint] * own;
            }
        }
        let turned_above = (0..joints)
            .map(|joint| {
                let slots = turned.iter().copied().enumerate();
                slots
                    .filter(|&(_, top)| model.is_below(joint, top))
                    .collect()
            })
            .collect();
        Linearised {
            model,
            coefficients: figure.coefficients.clone(),
            frames,
            offset_fields,
            turned_above,
            turned: turned.len(),
        }
    }

    pub fn unknowns(&self) -> usize {
        3 + self.model.field_count() + 3 * self.turned
    }

    pub fn field_column(&self, field: usize) -> usize {
        3 + field
    }

    pub fn turn_column(&self, slot: usize) -> usize {
        3 + self.model.field_count() + 3 * slot
    }

    /// Posed place of a vertex, and its blended rotation.
    pub fn place(&self, vertex: usize) -> (DVec3, DMat3) {
        let (rotation, offset) = self.frames.blend(self.model, vertex);
        let rest = self.model.rest_point(vertex, &self.coefficients);
        (rotation * rest + offset, rotation)
    }

    /// Posed place of a vertex, or joint after the vertices.
    pub fn point(&self, point: usize) -> DVec3 {
        match point.checked_sub(self.model.vertex_count()) {
            None => self.place(point).0,
            Some(joint) => self.frames.joints[joint],
        }
    }

    /// The derivatives of a vertex, or joint after the vertices: one column an unknown.
    pub fn jacobian(&self, point: usize, columns: &mut [DVec3]) {
        match point.checked_sub(self.model.vertex_count()) {
            None => self.columns(point, &self.model.weights[point], columns),
            // A joint moves with its parent alone.
            Some(joint) => {
                let carrier = self.model.parents[joint].unwrap_or(joint) as u8;
                self.columns(point, &[(carrier, 1.0)], columns);
            }
        }
    }

    fn columns(&self, point: usize, weights: &[(u8, f32)], columns: &mut [DVec3]) {
        columns.fill(DVec3::ZERO);
        columns[..3].copy_from_slice(&DVec3::AXES);
        let rest = self.model.rest_point(point, &self.coefficients);
        let fields = self.model.field_count();
        let mut blended = DMat3::ZERO;
        for &(joint, weight) in weights.iter().filter(|w| w.1 > 0.0) {
            let (joint, weight) = (usize::from(joint), f64::from(weight));
            let rotation = self.frames.rotations[joint];
            blended += rotation * weight;
            let offsets = &self.offset_fields[joint * fields..(joint + 1) * fields];
            for (column, offset) in columns[3..3 + fields].iter_mut().zip(offsets) {
                *column += weight * *offset;
            }
            let place = rotation * rest + self.frames.offsets[joint];
            for &(slot, top) in &self.turned_above[joint] {
                let arm = weight * (place - self.frames.joints[top]);
                let first = self.turn_column(slot);
                // ω × arm for ω along each axis.
                columns[first] += DVec3::new(0.0, -arm.z, arm.y);
                columns[first + 1] += DVec3::new(arm.z, 0.0, -arm.x);
                columns[first + 2] += DVec3::new(-arm.y, arm.x, 0.0);
            }
        }
        let own = self.model.point_fields(point);
        for (column, field) in columns[3..3 + fields].iter_mut().zip(own) {
            *column += blended * field.as_dvec3();
        }
    }
}

impl Placement for Linearised<'_> {
    fn place(&self, point: usize) -> DVec3 {
        self.point(point)
    }

    fn derivatives(&self, point: usize, derivatives: &mut Vec<(u32, DVec3)>) {
        let mut columns = vec![DVec3::ZERO; self.unknowns()];
        self.jacobian(point, &mut columns);
        derivatives.clear();
        derivatives.extend((0u32..).zip(columns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sex;
    use crate::body_model::{BodySampler, PoseRange};
    use glam::DQuat;

    #[test]
    fn derivatives_match_differences() {
        let model = BodyModel::embedded(Sex::Male);
        let figure = BodySampler::new(4).figure(model, &PoseRange::default(), 0.7);
        let turned: Vec<usize> = super::super::fit::TURNED
            .iter()
            .map(|t| model.joint(t.0))
            .collect();
        let linear = Linearised::new(model, &figure, &turned);
        let mut columns = vec![DVec3::ZERO; linear.unknowns()];
        let h = 1e-6;
        let wrist = model.vertex_count() + model.joint("wrist.L");
        for point in [100, 5000, 9000, 13000, wrist] {
            linear.jacobian(point, &mut columns);
            let change = |changed: &Figure| {
                let moved = Linearised::new(model, changed, &turned).point(point);
                (moved - linear.point(point)) / h
            };
            for field in [0, 7, 25, 30, 40] {
                let mut changed = figure.clone();
                changed.coefficients[field] += h;
                let expected = change(&changed);
                assert!(expected.distance(columns[linear.field_column(field)]) < 1e-4);
            }
            for (slot, &joint) in turned.iter().enumerate() {
                let carrier = match model.parents[joint] {
                    None => DMat3::IDENTITY,
                    Some(parent) => linear.frames.rotations[parent],
                };
                for axis in 0..3 {
                    let mut changed = figure.clone();
                    let turn = carrier.transpose() * (h * DVec3::AXES[axis]);
                    let local = &mut changed.locals[joint];
                    *local = DQuat::from_scaled_axis(turn) * *local;
                    let expected = change(&changed);
                    let column = columns[linear.turn_column(slot) + axis];
                    assert!(expected.distance(column) < 1e-4);
                }
            }
        }
    }
}
