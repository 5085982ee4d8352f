//! Where fat lies: the rate by which prisms grow in proportion to what they hold (4.18).

use glam::DVec3;

use super::tissue::TissueMesh;
use crate::layers::prism_volumes;

/// Thickness of the skin itself \[m\], which neither grows nor goes.
const SKIN: f64 = 2e-3;
/// Least fat of a place \[m\]: a place without any would never get some.
const LEAST: f64 = 5e-4;

/// Thickness of the fat layer at each vertex \[m\]: volume of its prisms over area of its skin.
pub fn thickness(mesh: &TissueMesh, skin: &[DVec3], muscle: &[DVec3]) -> Vec<f64> {
    let mut volumes = vec![0.0; skin.len()];
    let mut areas = vec![0.0; skin.len()];
    for t in &mesh.triangles {
        let tets = prism_volumes(*t, |v| skin[v as usize], |v| muscle[v as usize]);
        let [a, b, c] = t.map(|v| skin[v as usize]);
        let area = 0.5 * (b - a).cross(c - a).length();
        for &v in t {
            volumes[v as usize] += tets.iter().sum::<f64>() / 3.0;
            areas[v as usize] += area / 3.0;
        }
    }
    (volumes.iter().zip(&areas))
        .map(|(v, a)| if *a > 0.0 { v / a } else { 0.0 })
        .collect()
}

/// Rate of growth \[m\] that scales every prism's fat by the same factor: ds of (4.18) moves the skin by ds times this.
pub fn rate(thickness: &[f64]) -> Vec<f64> {
    thickness.iter().map(|t| (t - SKIN).max(LEAST)).collect()
}
