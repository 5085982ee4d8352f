//! What a template holds, as text and as data.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use supple_geom::TriMesh;

use crate::Sex;
use crate::template::{FatRegion, Group, LayeredBody};

/// Contents of a template.
#[derive(Clone, Debug, Serialize)]
pub struct TemplateInfo {
    /// Name.
    pub name: String,
    /// Sex.
    pub sex: Sex,
    /// Height \[m\].
    pub height_m: f32,
    /// Vertices of the skin.
    pub vertices: usize,
    /// Those with layers.
    pub layered: usize,
    /// Those whose skeleton surface slides.
    pub sliding: usize,
    /// Joints of the rig.
    pub joints: usize,
    /// Number of bones.
    pub bones: usize,
    /// Number of muscles.
    pub muscles: usize,
    /// Vertices of bones and muscles together.
    pub inner_vertices: usize,
    /// Volume inside the skin \[l\].
    pub skin_l: f64,
    /// Volume between skin and muscle surface \[l\].
    pub fat_layer_l: f64,
    /// Volume between muscle surface and skeleton surface \[l\].
    pub muscle_layer_l: f64,
    /// Volume of the bones \[l\].
    pub bones_l: f64,
    /// Volume of the muscles by group \[l\].
    pub muscles_l: BTreeMap<&'static str, f64>,
    /// Layered vertices by region of fat.
    pub fat_regions: BTreeMap<&'static str, usize>,
    /// Names of the landmarks.
    pub landmarks: Vec<String>,
    /// Where it comes from.
    pub provenance: String,
}

/// Collects the contents of a template.
pub fn template_info(template: &LayeredBody) -> TemplateInfo {
    let count = |marks: &[bool]| marks.iter().filter(|&&mark| mark).count();
    let litres = |mesh: &TriMesh| 1e3 * mesh.signed_volume();
    let [skin, muscle, skeleton] = template.surfaces().map(|mesh| litres(&mesh));
    let bones = template.bones.iter().map(|entry| &entry.bone.mesh);
    let meshes = bones
        .clone()
        .chain(template.muscles.iter().map(|muscle| &muscle.mesh));
    let of_group = |group: Group| {
        let muscles = template
            .muscles
            .iter()
            .filter(|muscle| muscle.group == group);
        (
            group.name(),
            1e3 * muscles.map(|muscle| muscle.volume).sum::<f64>(),
        )
    };
    let of_region = |region: FatRegion| {
        let marks = template.regions.fat.iter();
        (
            region.name(),
            marks.filter(|&&fat| fat == Some(region)).count(),
        )
    };
    TemplateInfo {
        name: template.name.clone(),
        sex: template.body.sex,
        height_m: template.body.height(),
        vertices: template.layers.skin.len(),
        layered: count(&template.layers.layered),
        sliding: count(&template.regions.slides),
        joints: template.body.skeleton.len(),
        bones: template.bones.len(),
        muscles: template.muscles.len(),
        inner_vertices: meshes.map(|mesh| mesh.positions.len()).sum(),
        skin_l: skin,
        fat_layer_l: skin - muscle,
        muscle_layer_l: muscle - skeleton,
        bones_l: bones.map(litres).sum(),
        muscles_l: Group::ALL
            .into_iter()
            .map(of_group)
            .filter(|&(_, l)| l > 0.0)
            .collect(),
        fat_regions: FatRegion::ALL.into_iter().map(of_region).collect(),
        landmarks: template.landmarks.keys().cloned().collect(),
        provenance: template.provenance.clone(),
    }
}

impl fmt::Display for TemplateInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sex = match self.sex {
            Sex::Male => "male",
            Sex::Female => "female",
        };
        writeln!(
            f,
            "{}: layered template, {sex}, {:.2} m",
            self.name, self.height_m
        )?;
        writeln!(
            f,
            "  skin      {} vertices, {} of them with layers ({} slide), {} joints",
            self.vertices, self.layered, self.sliding, self.joints
        )?;
        writeln!(
            f,
            "  volumes   skin {:.1} l, fat layer {:.1} l, muscle layer {:.1} l",
            self.skin_l, self.fat_layer_l, self.muscle_layer_l
        )?;
        writeln!(f, "  bones     {}, {:.2} l", self.bones, self.bones_l)?;
        let total: f64 = self.muscles_l.values().sum();
        writeln!(f, "  muscles   {}, {total:.2} l", self.muscles)?;
        for (group, litres) in &self.muscles_l {
            writeln!(f, "    {group}: {litres:.2} l")?;
        }
        if !self.landmarks.is_empty() {
            writeln!(f, "  landmarks {}", self.landmarks.len())?;
        }
        write!(
            f,
            "  made of   {}",
            self.provenance.replace('\n', "\n            ")
        )
    }
}
