use super::{BuildError, ModelBuilder};
use crate::material::NO_MATERIAL;

impl ModelBuilder {
    /// Checks that every index is in range and every number finite and of the right sign.
    pub(super) fn check(&self) -> Result<(), BuildError> {
        let count = self.positions.len();
        if count >= u32::MAX as usize {
            return Err(BuildError::TooLarge { count });
        }
        if let Some(vertex) = self.positions.iter().position(|p| !p.is_finite()) {
            return Err(BuildError::Position { vertex });
        }
        let good = |mass: f64| mass.is_finite() && mass >= 0.0;
        if let Some(vertex) = self.masses.iter().position(|&m| !good(m)) {
            return Err(BuildError::Mass {
                vertex,
                mass: self.masses[vertex],
            });
        }
        if let Some(mass) = self.total_mass.filter(|&m| !good(m)) {
            return Err(BuildError::Parameter {
                constraint: "model",
                index: 0,
                parameter: "total mass",
                value: mass,
            });
        }
        if let Some(weight) = self.soft_weight {
            not_negative("soft anchor", 0, "weight", weight)?;
        }
        self.check_elements(count)?;
        self.check_points(count)
    }

    fn check_elements(&self, count: usize) -> Result<(), BuildError> {
        for (i, (corners, stiffness)) in self.tets.iter().enumerate() {
            in_range("tet", i, "vertex", corners, count)?;
            not_negative("tet", i, "stiffness", *stiffness)?;
            let (material, known) = (self.made_of[i], self.materials.len());
            if material != NO_MATERIAL || known > NO_MATERIAL as usize {
                in_range("tet", i, "material", &[u32::from(material)], known)?;
            }
        }
        for (i, material) in self.materials.iter().enumerate() {
            not_negative("material", i, "stiffness", material.stiffness)?;
            not_negative("material", i, "volume stiffness", material.volume_stiffness)?;
            not_negative("material", i, "damping", material.damping)?;
        }
        for (i, &(tet, stiffness, ratio)) in self.volumes.iter().enumerate() {
            in_range("volume", i, "tet", &[tet], self.tets.len())?;
            not_negative("volume", i, "stiffness", stiffness)?;
            // The projection to a target volume of zero is not defined.
            not_negative(
                "volume",
                i,
                "ratio",
                if ratio > 0.0 { ratio } else { f64::NAN },
            )?;
        }
        for (i, (corners, weight, limits)) in self.polyhedra.iter().enumerate() {
            in_range("polyhedron", i, "vertex", corners, count)?;
            not_negative("polyhedron", i, "weight", *weight)?;
            for value in limits
                .min
                .to_array()
                .into_iter()
                .chain(limits.max.to_array())
            {
                not_negative("polyhedron", i, "limit", value)?;
            }
            let gap = (limits.max - limits.min).min_element();
            not_negative("polyhedron", i, "max - min", gap)?;
            not_negative(
                "polyhedron",
                i,
                "frame",
                if limits.frame.is_finite() {
                    0.0
                } else {
                    f64::NAN
                },
            )?;
        }
        for (i, members) in self.clusters.iter().enumerate() {
            in_range("cluster", i, "tet", members, self.tets.len())?;
        }
        Ok(())
    }

    fn check_points(&self, count: usize) -> Result<(), BuildError> {
        for (i, (ends, length, weight)) in self.springs.iter().enumerate() {
            in_range("spring", i, "vertex", ends, count)?;
            not_negative("spring", i, "length", *length)?;
            not_negative("spring", i, "weight", *weight)?;
        }
        for (i, (vertices, coefficients, weight)) in self.bendings.iter().enumerate() {
            in_range("bending", i, "vertex", vertices, count)?;
            not_negative("bending", i, "weight", *weight)?;
            let missing = coefficients.len().abs_diff(vertices.len());
            let sum: f64 = coefficients.iter().map(|c| c.abs()).sum();
            not_negative(
                "bending",
                i,
                "coefficients",
                if missing == 0 { sum } else { f64::NAN },
            )?;
        }
        for (i, &(vertex, weight, _, direction)) in self.anchors.iter().enumerate() {
            in_range("anchor", i, "vertex", &[vertex], count)?;
            not_negative("anchor", i, "weight", weight)?;
            not_negative(
                "anchor",
                i,
                "direction",
                direction.abs().element_sum() as f64,
            )?;
        }
        Ok(())
    }
}

fn in_range(
    constraint: &'static str,
    index: usize,
    what: &str,
    entries: &[u32],
    count: usize,
) -> Result<(), BuildError> {
    match entries.iter().find(|&&e| e as usize >= count) {
        Some(bad) => Err(BuildError::Index {
            constraint,
            index,
            what: format!("{what} {bad}"),
            count,
        }),
        None => Ok(()),
    }
}

fn not_negative(
    constraint: &'static str,
    index: usize,
    parameter: &'static str,
    value: f64,
) -> Result<(), BuildError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(BuildError::Parameter {
            constraint,
            index,
            parameter,
            value,
        })
    }
}
