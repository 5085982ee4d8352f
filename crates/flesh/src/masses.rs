//! Masses of vertices from a total body mass [3.3].

/// Density of a body as a whole \[kg/m³\]: about that of water.
pub const BODY_DENSITY: f64 = 1010.0;

/// Mass of every node \[kg\]: a quarter of each of its tets, scaled so that the sum is `total`.
///
/// The share of fixed bone-surface nodes moves with the bones.
pub fn vertex_masses(nodes: usize, tets: &[[u32; 4]], volumes: &[f64], total: f64) -> Vec<f64> {
    let mut masses = vec![0.0; nodes];
    let sum: f64 = volumes.iter().sum();
    if sum <= 0.0 {
        return masses;
    }
    for (tet, volume) in tets.iter().zip(volumes) {
        for &v in tet {
            masses[v as usize] += 0.25 * total * volume / sum;
        }
    }
    masses
}

#[cfg(test)]
mod tests {
    #[test]
    fn masses_add_up() {
        let masses = super::vertex_masses(5, &[[0, 1, 2, 3], [1, 2, 3, 4]], &[1.0, 3.0], 80.0);
        assert!((masses.iter().sum::<f64>() - 80.0).abs() < 1e-12);
        assert!((masses[0] - 5.0).abs() < 1e-12 && (masses[4] - 15.0).abs() < 1e-12);
    }
}
