//! The simulation model of the tissue: nodes, masses, stiffness.

use glam::DVec3;
use supple_geom::adjacency::NONE;
use supple_geom::tet_mesh::determinant;
use supple_sim::contact::SurfaceInput;
use supple_sim::{Model, ModelBuilder};

use crate::FleshError;
use crate::construction::layered_prisms::TissueTets;
use crate::construction::layers::{ColumnLayers, Layer};
use crate::construction::masses::{BODY_DENSITY, FAT_DENSITY, MUSCLE_DENSITY, vertex_masses};
use crate::construction::rest_skin::RestSkin;
use crate::flesh::{Column, Driven};
use crate::motion::sliding::Attachment;
use crate::settings::Settings;

/// What a model is made of.
pub(crate) struct ModelInput<'a> {
    pub settings: &'a Settings,
    pub skin: &'a RestSkin,
    /// Volume enclosed by the full skin \[m³\].
    pub volume: f64,
    pub bone: &'a [DVec3],
    pub layers: Option<&'a ColumnLayers>,
    pub tets: &'a TissueTets,
    pub attachments: &'a [Attachment],
    pub excluded: &'a [bool],
    /// Stiffness factors of the columns, by their joints and depth.
    pub factors: &'a [f64],
    /// Further factors of the columns for each material of [`Layer::ALL`], if there are any.
    pub material_factors: &'a [Option<Vec<f64>>; 4],
}

/// A model and what its vertices are.
pub(crate) struct Assembled {
    pub model: Model,
    pub columns: Vec<Column>,
    pub driven: Vec<Driven>,
    /// Mass of the whole body \[kg\].
    pub mass: f64,
}

impl ModelInput<'_> {
    fn position(&self, node: usize) -> DVec3 {
        let count = self.skin.len();
        match (node / count, self.layers) {
            (0, _) => self.skin.positions[node],
            (1, Some(layers)) => layers.muscle[node - count],
            (3.., Some(layers)) => layers.cores[node - 3 * count].point,
            _ => self.bone[node % count],
        }
    }

    /// What drives a node; `None` for a free one.
    fn driven(&self, node: usize) -> Option<Driven> {
        let count = self.skin.len();
        if node >= 3 * count {
            return Some(Driven::Core((node - 3 * count) as u32));
        }
        let column = node % count;
        let is_driven = match (node / count, self.layers) {
            (0, _) => self.excluded[column],
            (1, _) => false,
            (_, Some(layers)) if layers.layered[column] => layers.held[column],
            _ => self.attachments[column] != Attachment::Free,
        };
        let driven = match node < count {
            true => Driven::Skin(column as u32),
            false => Driven::Bone(column as u32),
        };
        is_driven.then_some(driven)
    }

    /// How many times as stiff as its material a tet is.
    fn factor(&self, tet: &[u32; 4], layer: Layer) -> f64 {
        let count = self.skin.len();
        // The last vertex of a tet below the free skeleton surface belongs to no column.
        let corners = if layer == Layer::Core { 3 } else { 4 };
        let mean = |factors: &[f64]| {
            let columns = tet[..corners].iter().map(|&v| v as usize % count);
            columns.map(|column| factors[column]).sum::<f64>() / corners as f64
        };
        let factor = match layer {
            Layer::Core => {
                let index = tet[3] as usize - 3 * count;
                let core = self.layers.and_then(|layers| layers.cores.get(index));
                core.map_or(0.0, |core| core.factor)
            }
            _ => mean(self.factors),
        };
        match &self.material_factors[layer.material() as usize] {
            Some(own) => factor * mean(own),
            None => factor,
        }
    }

    /// Mass of every tet and of the whole body \[kg\].
    ///
    /// Without layers the tets have all of the body's mass. Layers have the densities of fat and muscle, and the rest of the
    /// body is the skeleton's, which moves with the bones.
    fn masses(&self) -> (Vec<f64>, f64) {
        let volume = |tet: &[u32; 4]| determinant(tet.map(|v| self.position(v as usize))) / 6.0;
        let volumes: Vec<f64> = self.tets.tets.iter().map(volume).collect();
        let sum: f64 = volumes.iter().sum();
        let given = self.settings.tissue.mass;
        if self.layers.is_none() {
            let total = match given > 0.0 {
                true => given,
                false => self.volume * BODY_DENSITY,
            };
            let share = |volume: f64| if sum > 0.0 { total * volume / sum } else { 0.0 };
            return (volumes.into_iter().map(share).collect(), total);
        }
        let density = |layer: &Layer| match layer {
            Layer::Fat => FAT_DENSITY,
            Layer::Muscle => MUSCLE_DENSITY,
            Layer::Whole => BODY_DENSITY,
            // It lies in what is the skeleton's.
            Layer::Core => 0.0,
        };
        let mut masses: Vec<f64> = (volumes.iter().zip(&self.tets.layers))
            .map(|(volume, layer)| volume * density(layer))
            .collect();
        let is_core = |layer: &Layer| *layer == Layer::Core;
        let cores = (volumes.iter().zip(&self.tets.layers)).filter(|(_, layer)| is_core(layer));
        let tissue = sum - cores.map(|(volume, _)| volume).sum::<f64>();
        let inside = (self.volume - tissue).max(0.0) * BODY_DENSITY;
        let total = masses.iter().sum::<f64>() + inside;
        if given > 0.0 && total > 0.0 {
            masses.iter_mut().for_each(|mass| *mass *= given / total);
            return (masses, given);
        }
        (masses, total)
    }
}

/// Elements between tissue and held vertices up to which it is carried along, in a body with layers: all of it, since bones
/// lie all around. At 2, elbows whose skeleton surface is free lag behind the arm in fast motions (male/shake: 71 % of a
/// forearm's section are left, with 83 % here).
const CARRIER_REACH: u32 = 64;

/// Builds the model. `surface` makes the contact surface of the columns.
pub(crate) fn assemble_model(
    input: &ModelInput,
    surface: impl FnOnce(&[Column], &Model) -> SurfaceInput,
) -> Result<Assembled, FleshError> {
    let count = input.skin.len();
    let tets = &input.tets.tets;
    let nodes = 3 * count + input.layers.map_or(0, |layers| layers.cores.len());
    let mut used = vec![false; nodes];
    for &v in tets.as_flattened() {
        used[v as usize] = true;
    }
    let mut builder = ModelBuilder::new();
    let mut id = vec![NONE; nodes];
    let mut driven = Vec::new();
    for v in (0..nodes).filter(|&v| used[v]) {
        let fixed = input.driven(v);
        driven.extend(fixed);
        id[v] = builder.vertex(input.position(v).as_vec3(), fixed.is_some());
    }
    let (masses, mass) = input.masses();
    for (v, mass) in (vertex_masses(nodes, tets, &masses).into_iter()).enumerate() {
        if id[v] != NONE {
            builder.mass(id[v], mass);
        }
    }
    for layer in Layer::ALL {
        builder.material(input.settings.material(layer));
    }
    let mut prism: Vec<u32> = Vec::new();
    for (k, tet) in tets.iter().enumerate() {
        let layer = input.tets.layers[k];
        let factor = input.factor(tet, layer);
        let corners = tet.map(|v| id[v as usize]);
        let index = builder.tet_of(corners, layer.material(), factor);
        prism.push(index);
        let own = input.tets.prisms[k];
        if input.tets.prisms.get(k + 1).is_none_or(|&next| next != own) {
            builder.cluster(&prism);
            prism.clear();
        }
    }
    if input.layers.is_some() {
        builder.carrier_reach(CARRIER_REACH);
    }
    let columns: Vec<Column> = (0..count)
        .map(|v| Column {
            skin: id[v],
            muscle: id[count + v],
            bone: id[2 * count + v],
            is_free: id[v] != NONE && !input.excluded[v],
        })
        .collect();
    let model = builder
        .build_with_surface(|model| surface(&columns, model))
        .map_err(FleshError::Model)?;
    Ok(Assembled {
        model,
        columns,
        driven,
        mass,
    })
}
