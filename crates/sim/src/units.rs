//! Units: how the papers' values map to metres, seconds and kilograms.
//!
//! # Meaning of stiffness
//!
//! A tet stores k/2 · V · ‖F − R‖². Stretched along one axis by a small strain ε it stores k/2 · V · ε², without lateral
//! contraction: k \[Pa\] is Young's modulus of a material with Poisson ratio 0 (shear modulus k/2). Every weight is k × rest
//! volume and every mass a share of a total, so neither depends on the mesh resolution.
//!
//! # The papers' unit system
//!
//! The system matrix is M/δt² + w Σ V QᵀQ; multiplying it and its right-hand side by any factor c changes nothing. The
//! thesis runs one step per rendered frame with δt′ = 0.2, total mass M′ = 4000 and tet weight
//! w′ = 85 · (1000 / bounding-box volume)^⅓ in its own units. The same matrix, up to c, with a real mass M and a real step h
//! requires
//!
//! ```text
//! M / h² = c · M′ / δt′²   ⇒   c = (M / M′) (δt′ / h)²,   k = c · w′
//! ```
//!
//! which [`stiffness_of_paper`] evaluates. For a person of 75 kg and 1.8 m in a T pose (bounding box ≈ 1 m³) at 60 frames per
//! second, k ≈ 2.3 kPa. Measured fat and relaxed muscle have 1 to 5 kPa, so the papers' hand-tuned values are physical. The
//! defaults here are round values near them: [`STIFFNESS`], [`DENSITY`] and a step of 1/60 s
//! ([`Settings::default`](crate::Settings)). The step does not depend on the caller's frame rate:
//! [`advance`](crate::advance()) takes as many internal steps as a frame needs.
//!
//! μ ([2.14], velocity kept per step) becomes a half-life: μ = 2^(−h / half-life). The papers' μ = 1 is an infinite
//! half-life: the only damping is that of the implicit integration.
//!
//! | quantity | unit | where |
//! |---|---|---|
//! | tet, volume stiffness | Pa | × rest volume = weight \[J\] |
//! | spring, anchor weight | N/m | used directly; axial stiffness EA \[N\] / rest length for a resolution-independent chain |
//! | bending stiffness | J | × vertex area = weight [J m²], Laplacian in 1/m |
//! | polyhedron weight | J | stiffness × volume |

/// Stiffness of soft tissue \[Pa\]. Below 500 Pa skin lags visibly behind fast limbs and sags by centimetres under gravity;
/// above 20 kPa nothing jiggles at 60 steps per second.
pub const STIFFNESS: f64 = 2_500.0;

/// Density of soft tissue \[kg/m³\].
pub const DENSITY: f64 = 1_000.0;

/// Total mass in the papers' units.
const PAPER_MASS: f64 = 4_000.0;

/// Time step in the papers' units.
const PAPER_STEP: f64 = 0.2;

/// Stiffness \[Pa\] that reproduces the papers' tet weight `weight` (85) on a body of `total_mass` \[kg\] with bounding box
/// `box_volume` \[m³\], stepped by `step` \[s\].
pub fn stiffness_of_paper(weight: f64, box_volume: f64, total_mass: f64, step: f64) -> f64 {
    let scaled = weight * (1_000.0 / box_volume).cbrt();
    scaled * (total_mass / PAPER_MASS) * (PAPER_STEP / step).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_stiffness_is_that_of_the_paper_for_a_person() {
        let k = stiffness_of_paper(85.0, 1.0, 75.0, 1.0 / 60.0);
        // 850 · (75/4000) · 12²
        assert!((k - 2_295.0).abs() < 1e-6, "{k}");
        assert!((k / STIFFNESS - 1.0).abs() < 0.1);
    }
}
