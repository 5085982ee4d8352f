//! Tets of the tissue: one prism below every skin triangle, or one of fat and one of muscle where there are layers.
//!
//! Where layers end, the muscle surface meets the skin: such a vertex is one node of both. A prism of fat then loses the tets
//! at that edge, and the rest still fits its neighbours. The prism of muscle below becomes the two-layer prism.

use glam::DVec3;

use crate::construction::layers::{ColumnLayers, Layer};
use crate::construction::prisms::{split_orders, split_prisms};
use crate::construction::rest_skin::RestSkin;
use crate::construction::untangle::{SLENDER_RATIO, Scope, UntangleReport, untangle};
use crate::motion::sliding_core::Core;

/// Tets over nodes: skin vertex `i` is node `i`, its muscle-surface point node `count + i`, its bone-surface point node
/// `2 count + i`. Points below a free skeleton surface follow.
#[derive(Clone, Debug, Default)]
pub struct TissueTets {
    /// Corners.
    pub tets: Vec<[u32; 4]>,
    /// Prism of each tet; tets of a prism follow each other.
    pub prisms: Vec<u32>,
    /// Layer of each tet.
    pub layers: Vec<Layer>,
    /// Repair of inverted and flat tets.
    pub report: UntangleReport,
}

impl TissueTets {
    /// One prism per triangle, from the skin to the bone surface. Moves points of the bone surface where tets are unsound.
    pub fn of_two_surfaces(
        skin: &RestSkin,
        bone: &mut [DVec3],
        is_simulated: &dyn Fn(usize) -> bool,
    ) -> Self {
        let orders = split_orders(skin, bone);
        let tets = split_prisms(&skin.triangles, &orders, skin.len());
        let simulated: Vec<bool> = (0..tets.len()).map(|tet| is_simulated(tet / 3)).collect();
        let scope = Scope {
            simulated: &simulated,
            movable: &vec![true; skin.len()],
            slender: SLENDER_RATIO,
        };
        let (keep, report) = untangle(skin, bone, &tets, scope);
        let mut all = Self {
            report,
            ..Self::default()
        };
        let count = skin.len() as u32;
        let node = |v: u32| if v < count { v } else { v + count };
        for tet in (0..tets.len()).filter(|&tet| keep[tet]) {
            all.push(tets[tet].map(node), tet / 3, Layer::Whole);
        }
        all
    }

    /// A prism of fat and one of muscle per triangle. Moves points of the muscle surface and of the bone surface where tets
    /// are unsound. `bone` is the skeleton surface, and the two-layer bone surface where there are no layers.
    pub fn of_three_surfaces(
        skin: &RestSkin,
        layers: &mut ColumnLayers,
        bone: &mut [DVec3],
        is_simulated: &dyn Fn(usize) -> bool,
    ) -> Self {
        let count = skin.len();
        let layered = &layers.layered;
        let orders = split_orders(skin, &layers.muscle);
        let fat = split_prisms(&skin.triangles, &orders, count);
        let is_flat = |tet: &[u32; 4]| {
            let is_double = |&v: &u32| {
                let column = v as usize % count;
                v as usize >= count && !layered[column] && tet.contains(&(column as u32))
            };
            tet.iter().any(is_double)
        };
        let simulated: Vec<bool> = (fat.iter().enumerate())
            .map(|(t, tet)| is_simulated(t / 3) && !is_flat(tet))
            .collect();
        let scope = Scope {
            simulated: &simulated,
            movable: layered,
            slender: 0.0,
        };
        let (keep_fat, fat_report) = untangle(skin, &mut layers.muscle, &fat, scope);

        let wall = RestSkin::new(layers.muscle.clone(), skin.triangles.clone());
        let orders = split_orders(&wall, bone);
        let muscle = split_prisms(&wall.triangles, &orders, count);
        let simulated: Vec<bool> = (0..muscle.len()).map(|t| is_simulated(t / 3)).collect();
        let scope = Scope {
            simulated: &simulated,
            movable: &vec![true; count],
            slender: 0.0,
        };
        let (keep_muscle, muscle_report) = untangle(&wall, bone, &muscle, scope);

        let mut all = Self {
            report: fat_report + muscle_report,
            ..Self::default()
        };
        let count = count as u32;
        let top = |v: u32| if layered[v as usize] { count + v } else { v };
        for tet in (0..fat.len()).filter(|&tet| keep_fat[tet]) {
            let node = |v: u32| if v < count { v } else { top(v - count) };
            all.push(fat[tet].map(node), tet / 3, Layer::Fat);
        }
        for tet in (0..muscle.len()).filter(|&tet| keep_muscle[tet]) {
            let node = |v: u32| if v < count { top(v) } else { v + count };
            let corners = skin.triangles[tet / 3];
            let layer = match corners.iter().any(|&v| layered[v as usize]) {
                true => Layer::Muscle,
                false => Layer::Whole,
            };
            let prism = skin.triangles.len() + tet / 3;
            all.push(muscle[tet].map(node), prism, layer);
        }
        let columns: Vec<usize> = layers.columns().collect();
        for column in columns {
            layers.skeleton[column] = bone[column];
        }
        all
    }

    /// Adds the tets between a free skeleton surface and the points below it.
    pub(crate) fn add_cores(&mut self, columns: usize, cores: &[Core]) {
        let count = columns as u32;
        let first = self.prisms.last().map_or(0, |&prism| prism as usize + 1);
        for (k, core) in cores.iter().enumerate() {
            let [a, b, c] = core.columns.map(|v| v + 2 * count);
            let tet = [b, a, c, 3 * count + k as u32];
            self.push(tet, first + k, Layer::Core);
        }
    }

    fn push(&mut self, tet: [u32; 4], prism: usize, layer: Layer) {
        self.tets.push(tet);
        self.prisms.push(prism as u32);
        self.layers.push(layer);
    }
}
