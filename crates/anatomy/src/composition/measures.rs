//! Measures of a body.

/// Measures of one body in the template's rest pose. Circumferences are those of a tape: the convex hull of a plane
/// section. Limbs are the mean of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Measures {
    /// Height from sole to crown \[m\].
    pub height: f64,
    /// Circumference at the navel \[m\].
    pub waist: f64,
    /// Largest circumference between crotch and navel \[m\].
    pub hip: f64,
    /// Circumference at the level of the breast's foremost point, without the arms \[m\].
    pub chest: f64,
    /// Smallest circumference of the neck, across its axis \[m\].
    pub neck: f64,
    /// Circumference of one thigh just below the crotch \[m\].
    pub thigh: f64,
    /// Largest circumference of the lower leg \[m\].
    pub calf: f64,
    /// Smallest circumference of the lower leg \[m\].
    pub ankle: f64,
    /// Circumference in the middle of the upper arm \[m\].
    pub upper_arm: f64,
    /// Largest circumference of the forearm \[m\].
    pub forearm: f64,
    /// Smallest circumference of the forearm \[m\].
    pub wrist: f64,
    /// Volume inside the skin, lungs included \[m³\].
    pub volume: f64,
    /// Area of the skin \[m²\].
    pub surface: f64,
    /// Height of the crotch \[m\].
    pub crotch_height: f64,
    /// Lengths between joints.
    pub segments: Segments,
}

/// Distances between joints of the rig \[m\], the mean of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Segments {
    /// Shoulder to elbow.
    pub upper_arm: f64,
    /// Elbow to wrist.
    pub forearm: f64,
    /// Hip to knee.
    pub thigh: f64,
    /// Knee to ankle.
    pub shin: f64,
    /// Hips to neck.
    pub trunk: f64,
    /// Shoulder to shoulder.
    pub shoulders: f64,
}
