//! The tissue between the skin and the skeleton surface: its tets and how stiff it is.

use glam::DVec3;
use supple_rig::Character;

use crate::FleshError;
use crate::construction::layered_prisms::TissueTets;
use crate::construction::layers::{ColumnLayers, Layer};
use crate::construction::rest_skin::RestSkin;
use crate::motion::holds::{HoldInput, Weights, bones_by_joint, influences};
use crate::motion::regions::{depth_factor, material_factors, stiffness_factors};
use crate::motion::sliding_core::{cores, mean_weights};
use crate::settings::Settings;

/// Stiffness factors of the columns.
pub(crate) struct Stiffness {
    /// By their joints.
    pub by_joint: Vec<f64>,
    /// By their joints and depth.
    pub deep: Vec<f64>,
    /// Further factors for each material of [`Layer::ALL`], if there are any.
    pub by_material: [Option<Vec<f64>>; 4],
}

impl Stiffness {
    /// Of columns from `skin` to `base`. `given` are factors by original vertex and the original vertex of each column.
    pub fn new(
        character: &Character,
        settings: &Settings,
        weights: &[Weights],
        [skin, base]: [&[DVec3]; 2],
        size: f64,
        given: Option<(&[f64], &[u32])>,
    ) -> Result<Self, FleshError> {
        let by_joint = stiffness_factors(character, settings, weights)?;
        let deep: Vec<f64> = (by_joint.iter().enumerate())
            .map(|(v, factor)| {
                factor * depth_factor(&settings.tissue, skin[v].distance(base[v]), size)
            })
            .collect();
        let mut by_material = [None, None, None, None];
        for (layer, own) in Layer::ALL.into_iter().zip(&mut by_material) {
            *own = material_factors(character, settings, weights, layer)?;
            if let Some((factors, original_of)) = given {
                let own = own.get_or_insert_with(|| vec![1.0; skin.len()]);
                for (own, &vertex) in own.iter_mut().zip(original_of) {
                    *own *= factors[vertex as usize];
                }
            }
        }
        Ok(Stiffness {
            by_joint,
            deep,
            by_material,
        })
    }

    /// The same for columns with layers of their own.
    pub fn layered(self, layers: &ColumnLayers, settings: &Settings, skin: &RestSkin) -> Self {
        Stiffness {
            deep: layers.stiffness_factors(settings, skin, &self.by_joint, &self.deep),
            ..self
        }
    }
}

/// Surfaces and tets of the tissue.
pub(crate) struct Tissue {
    /// Skeleton surface at the columns \[m\].
    pub bone: Vec<DVec3>,
    /// Layers of the columns, if the body has any.
    pub layers: Option<ColumnLayers>,
    /// Tets.
    pub tets: TissueTets,
}

impl Tissue {
    /// Between the skin and `bone`, in layers where they are given, without excluded columns.
    pub fn new(
        input: &HoldInput,
        settings: &Settings,
        weights: &[Weights],
        excluded: &[bool],
        mut bone: Vec<DVec3>,
        mut layers: Option<ColumnLayers>,
    ) -> Self {
        let skin = input.skin;
        let is_simulated = |triangle: usize| {
            let corners = skin.triangles[triangle];
            corners.iter().any(|&v| !excluded[v as usize])
        };
        let mut tets = match &mut layers {
            None => TissueTets::of_two_surfaces(skin, &mut bone, &is_simulated),
            Some(layers) => {
                layers.put_skeleton(&mut bone);
                TissueTets::of_three_surfaces(skin, layers, &mut bone, &is_simulated)
            }
        };
        if let Some(layers) = (layers.as_mut()).filter(|_| settings.layers.sliding_stiffness > 0.0)
        {
            let bones_of = bones_by_joint(input);
            layers.cores = cores(&settings.layers, skin, layers, &bone, &is_simulated);
            for core in &mut layers.cores {
                let mean = mean_weights(weights, core.columns);
                core.influences = influences(input.graph, &bones_of, &mean, core.point);
            }
            tets.add_cores(skin.len(), &layers.cores);
        }
        Tissue { bone, layers, tets }
    }

    /// Points that the columns are attached at, of the skeleton surface `plain` of a body without layers \[m\]. Layered columns
    /// are carried as two-layer ones would be, though their skeleton surface follows its own weights.
    pub fn anchors(&self, plain: impl Fn(usize) -> DVec3) -> Vec<DVec3> {
        let mut anchors = self.bone.clone();
        for column in self.layers.iter().flat_map(ColumnLayers::columns) {
            anchors[column] = plain(column);
        }
        anchors
    }
}
