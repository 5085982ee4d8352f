//! From the scan's pose to the rest pose: the inverse of linear blend skinning [4.3.2].

use glam::DVec3;
use rayon::prelude::*;

use crate::body_model::{BodyModel, Figure};

/// Rounds of joints from rest vertices and rest vertices from joints. The third moves joints by less than 0.1 mm.
const ROUNDS: usize = 4;

/// A body in its rest pose.
pub(super) struct Unposed {
    /// Vertices \[m\], the lowest at y = 0.
    pub vertices: Vec<DVec3>,
    /// Joints at rest \[m\].
    pub rest_joints: Vec<DVec3>,
    /// Joints in the scan's pose \[m\].
    pub joints: Vec<DVec3>,
}

/// Un-poses a skin. Rotations of the figure are kept; joints are found from the vertices, and the figure's translation is
/// changed so that posing the result gives the skin again.
pub(super) fn unposed(model: &BodyModel, figure: &mut Figure, skin: &[DVec3]) -> Unposed {
    let mut rest_joints = model.rest_joints(&figure.coefficients);
    let root_place = rest_joints[0];
    let unplace = |figure: &Figure, rest_joints: &[DVec3]| -> Vec<DVec3> {
        let frames = figure.frames(model, rest_joints);
        let places = skin.par_iter().enumerate();
        places
            .map(|(v, &at)| frames.unplace(model, v, at))
            .collect()
    };
    for _ in 0..ROUNDS {
        let found = model.joints_of(&unplace(figure, &rest_joints));
        // The root stays, and the translation takes up what it misses.
        let miss = found[0] - root_place;
        figure.translation += figure.locals[0] * miss;
        rest_joints = found.iter().map(|joint| *joint - miss).collect();
    }
    let mut vertices = unplace(figure, &rest_joints);
    let low = vertices.iter().map(|v| v.y).fold(f64::INFINITY, f64::min);
    vertices.iter_mut().for_each(|v| v.y -= low);
    rest_joints.iter_mut().for_each(|j| j.y -= low);
    figure.translation.y += low;
    Unposed {
        joints: figure.frames(model, &rest_joints).joints,
        vertices,
        rest_joints,
    }
}
