//! Masses of vertices from those of their tets [3.3].

/// Density of a body as a whole \[kg/m³\]: about that of water.
pub const BODY_DENSITY: f64 = 1010.0;
/// Density of adipose tissue \[kg/m³\].
pub const FAT_DENSITY: f64 = 920.0;
/// Density of skeletal muscle \[kg/m³\].
pub const MUSCLE_DENSITY: f64 = 1060.0;

/// Mass of every node \[kg\]: a quarter of each of its tets.
///
/// The share of fixed bone-surface nodes moves with the bones.
pub fn vertex_masses(nodes: usize, tets: &[[u32; 4]], masses: &[f64]) -> Vec<f64> {
    let mut of_node = vec![0.0; nodes];
    for (tet, mass) in tets.iter().zip(masses) {
        for &v in tet {
            of_node[v as usize] += 0.25 * mass;
        }
    }
    of_node
}

#[cfg(test)]
mod tests {
    #[test]
    fn masses_add_up() {
        let masses = super::vertex_masses(5, &[[0, 1, 2, 3], [1, 2, 3, 4]], &[20.0, 60.0]);
        assert!((masses.iter().sum::<f64>() - 80.0).abs() < 1e-12);
        assert!((masses[0] - 5.0).abs() < 1e-12 && (masses[4] - 15.0).abs() < 1e-12);
    }
}
