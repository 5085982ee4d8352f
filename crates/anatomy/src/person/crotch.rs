//! The crotch, where the fat layer holds more than fat [4.2.4].

use crate::{Body, BodyError};

/// Vertices of the crotch: near the middle between the legs, where the fat layer holds more than fat.
pub fn crotch(body: &Body) -> Result<Vec<bool>, BodyError> {
    let (hip, root) = (body.joint("upperleg01.L")?, body.joint("root")?);
    let size = body.height();
    Ok((body.mesh.positions.iter())
        .map(|p| {
            p.x.abs() < 0.03 * size
                && (p.y - (hip.y - 0.055 * size)).abs() < 0.035 * size
                && p.z > root.z - 0.01 * size
        })
        .collect())
}
