//! Regions of the layers [4.2.2, 4.2.4, 4.3.3, 4.3.4]: muscle groups, abdomen, regions of fat, what is held by bones and what
//! slides. They follow from the rig's weights and a few lines on the trunk, and are kept as data of every vertex.

use glam::Vec3;
use serde::{Deserialize, Serialize};
use supple_geom::normals::vertex_normals;
use supple_geom::{Adjacency, Surface};

use crate::template::musculature::atlas::Group;
use crate::{Body, BodyError, Bone, Layers};

/// Regions whose fat grows by a factor of its own [4.3.4].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FatRegion {
    /// Legs and buttocks.
    Legs,
    /// Belly, flanks and the small of the back.
    Belly,
    /// Chest, upper back and neck.
    Chest,
    /// Arms with the deltoids.
    Arms,
}

impl FatRegion {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Legs, Self::Belly, Self::Chest, Self::Arms];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Legs => "legs",
            Self::Belly => "belly",
            Self::Chest => "chest",
            Self::Arms => "arms",
        }
    }
}

/// Regions, by vertex of the layers. Where there are no layers there are no regions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regions {
    /// Muscle group below the vertex, one of the eight: the neck counts as shoulders, feet as lower legs.
    pub group: Vec<Option<Group>>,
    /// Region of fat.
    pub fat: Vec<Option<FatRegion>>,
    /// Whether the belly's wall is below it, which what is inside pushes out [4.2.4].
    pub abdomen: Vec<bool>,
    /// Whether the skeleton surface is not held there but may stretch: belly and joints [4.3.3].
    pub slides: Vec<bool>,
    /// The bone that the skeleton surface is nearest to.
    pub bone: Vec<Option<u32>>,
}

/// Share of an upper arm, from the shoulder, that the deltoid covers.
const DELTOID: f32 = 0.42;
/// Forward part of the normal from which skin of the trunk is of its front: the side of the chest is latissimus (back), the
/// side of the belly is oblique (abdomen).
const CHEST_FRONT: f32 = 0.0;
const BELLY_FRONT: f32 = -0.45;
/// Weight on the neighbouring segment from which a vertex slides: with less, B creases at elbow and knee when they are bent;
/// with more, whole forearms come loose.
const SLIDING_SHARE: f32 = 0.2;
/// How far the sliding ring of the waist reaches over the lowest ribs, relative to the trunk's length: over the floating ones. A
/// skin held up to the rib margin creases there when the trunk bends (0.03: heavy women's backs); above 0.15 the rib cage is loose.
const OVER_RIBS: f32 = 0.1;
/// Passes that give lone vertices the region of their neighbours.
const CLEANING: usize = 6;

/// Stretches of the limbs that move as one.
const SEGMENTS: [&[&str]; 6] = [
    &["upperleg"],
    &["lowerleg"],
    &["foot", "toe"],
    &["upperarm"],
    &["lowerarm"],
    &["wrist", "finger", "metacarpal"],
];

/// Finds the regions of layers around bones.
pub fn regions(body: &Body, layers: &Layers, bones: &[Bone]) -> Result<Regions, BodyError> {
    let lines = TrunkLines::new(body)?;
    let shares = Shares::new(body);
    let normals = vertex_normals(&body.mesh);
    let is_layered = |v: &usize| layers.layered[*v];
    let count = layers.skin.len();
    let mut group = vec![None; count];
    for v in (0..count).filter(is_layered) {
        group[v] = Some(muscle_group(&lines, &shares, v, layers.skin[v], normals[v]));
    }
    clean(&mut group, layers);
    let mut fat = vec![None; count];
    for v in (0..count).filter(is_layered) {
        fat[v] = group[v].map(|group| fat_region(group, &lines, &shares, v, layers.skin[v]));
    }
    clean(&mut fat, layers);
    let abdomen: Vec<bool> = (group.iter())
        .map(|&group| group == Some(Group::Abdomen))
        .collect();
    let slides = (0..count).map(|v| {
        let is_waist = lines.is_waist(layers.skin[v].y);
        layers.layered[v] && (abdomen[v] || is_waist || shares.mixed(v) > SLIDING_SHARE)
    });
    Ok(Regions {
        slides: slides.collect(),
        bone: nearest_bones(layers, bones),
        group,
        fat,
        abdomen,
    })
}

/// Lines on the trunk, by joints of the rig \[m\].
struct TrunkLines {
    /// Half the width between the hip joints.
    half_width: f32,
    crest: f32,
    groin: f32,
    spine_of_ilium: f32,
    rib_margin: f32,
    over_ribs: f32,
    sternum_end: f32,
    shoulder: f32,
    arms: [[Vec3; 2]; 2],
}

impl TrunkLines {
    fn new(body: &Body) -> Result<Self, BodyError> {
        let height = |name: &str| body.joint(name).map(|at| at.y);
        let (pelvis, hip) = (height("root")?, body.joint("upperleg01.L")?);
        let (lowest_rib, chest) = (height("spine03")?, height("spine01")?);
        let shoulder = height("clavicle.L")?;
        // The trunk from pelvis to clavicle is the yardstick for what no joint marks.
        let trunk = shoulder - pelvis;
        let arm = |side: &str| -> Result<[Vec3; 2], BodyError> {
            Ok([
                body.joint(&format!("upperarm01.{side}"))?,
                body.joint(&format!("lowerarm01.{side}"))?,
            ])
        };
        Ok(Self {
            half_width: hip.x.abs(),
            crest: pelvis + 0.13 * trunk,
            groin: hip.y - 0.08 * trunk,
            spine_of_ilium: pelvis + 0.06 * trunk,
            rib_margin: lowest_rib,
            over_ribs: OVER_RIBS * trunk,
            sternum_end: lowest_rib + 0.55 * (chest - lowest_rib),
            shoulder: shoulder - 0.02 * trunk,
            arms: [arm("L")?, arm("R")?],
        })
    }

    /// Lower and upper end of the belly's wall in front: the groin's line and the arch of the ribs.
    fn belly(&self, x: f32) -> [f32; 2] {
        let aside = (x.abs() / self.half_width).min(1.0);
        let between = |a: f32, b: f32, t: f32| a + (b - a) * t;
        [
            between(self.groin, self.spine_of_ilium, aside),
            between(self.sternum_end, self.rib_margin, aside),
        ]
    }

    /// Whether a height is between hip bones and ribs, where only the spine is below. All around, the spine's back included: there
    /// vertebrae come together when the trunk bends backwards.
    fn is_waist(&self, y: f32) -> bool {
        (self.crest..self.rib_margin + self.over_ribs).contains(&y)
    }

    /// How far down the upper arm a point is: 0 at the shoulder, 1 at the elbow.
    fn along_arm(&self, at: Vec3) -> f32 {
        let [shoulder, elbow] = self.arms[usize::from(at.x < 0.0)];
        let axis = elbow - shoulder;
        (at - shoulder).dot(axis) / axis.length_squared().max(f32::MIN_POSITIVE)
    }
}

/// Weights on stretches of the rig, by vertex.
struct Shares {
    segments: Vec<Vec<f32>>,
    shoulder: Vec<f32>,
    pelvis: Vec<f32>,
    neck: Vec<f32>,
}

impl Shares {
    fn new(body: &Body) -> Self {
        let of = |prefixes: &[&str]| {
            body.weight_on(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
        };
        Self {
            segments: SEGMENTS.iter().map(|prefixes| of(prefixes)).collect(),
            shoulder: of(&["clavicle", "shoulder"]),
            pelvis: of(&["root", "spine05", "pelvis"]),
            neck: of(&["neck"]),
        }
    }

    fn at(&self, segment: usize, vertex: usize) -> f32 {
        self.segments[segment][vertex]
    }

    /// How evenly a limb's segment and what it hangs on share a vertex: 0 within one, one half in the middle of a joint.
    fn mixed(&self, vertex: usize) -> f32 {
        let shares = (self.segments.iter()).map(|segment| segment[vertex]);
        shares
            .map(|share| share.min(1.0 - share))
            .fold(0.0, f32::max)
    }
}

fn muscle_group(lines: &TrunkLines, shares: &Shares, v: usize, at: Vec3, normal: Vec3) -> Group {
    let share = |segment: usize| shares.at(segment, v);
    let (thigh, shank, arm, forearm) =
        (share(0), share(1) + share(2), share(3), share(4) + share(5));
    let most = thigh.max(shank).max(arm).max(forearm);
    if most >= 0.5 {
        return match most {
            _ if most == shank => Group::LowerLeg,
            _ if most == forearm => Group::LowerArm,
            _ if most == arm && lines.along_arm(at) > DELTOID => Group::UpperArm,
            _ if most == arm => Group::Shoulder,
            _ => Group::UpperLeg,
        };
    }
    let [bottom, top] = lines.belly(at.x);
    let on_shoulder = shares.shoulder[v] + arm > 0.35 && (at.y > lines.shoulder || arm > 0.25);
    if shares.neck[v] > 0.4 || on_shoulder {
        Group::Shoulder
    } else if at.y < bottom && (normal.z > BELLY_FRONT || shares.pelvis[v] + thigh > 0.5) {
        Group::UpperLeg
    } else if normal.z <= BELLY_FRONT && at.y < lines.crest {
        // The buttocks reach up to the crest of the ilium.
        Group::UpperLeg
    } else if at.y < top && normal.z > BELLY_FRONT {
        Group::Abdomen
    } else if at.y >= top && normal.z > CHEST_FRONT {
        Group::Chest
    } else {
        Group::Back
    }
}

fn fat_region(group: Group, lines: &TrunkLines, shares: &Shares, v: usize, at: Vec3) -> FatRegion {
    match group {
        Group::UpperLeg | Group::LowerLeg | Group::Feet => FatRegion::Legs,
        Group::UpperArm | Group::LowerArm => FatRegion::Arms,
        Group::Abdomen => FatRegion::Belly,
        Group::Back if at.y < lines.rib_margin => FatRegion::Belly,
        Group::Shoulder if shares.at(3, v) > 0.4 => FatRegion::Arms,
        Group::Chest | Group::Back | Group::Shoulder | Group::Neck => FatRegion::Chest,
    }
}

/// Gives vertices that most of their neighbours disagree with the neighbours' region.
fn clean<T: Copy + PartialEq>(regions: &mut [Option<T>], layers: &Layers) {
    let adjacency = Adjacency::of_triangles(regions.len(), &layers.triangles);
    let neighbours = supple_geom::adjacency::Rows::from_pairs(
        regions.len(),
        (adjacency.edges.iter()).flat_map(|&[a, b]| [(a, b), (b, a)]),
    );
    for _ in 0..CLEANING {
        let before = regions.to_vec();
        for v in (0..before.len()).filter(|&v| before[v].is_some()) {
            let around = || {
                let ring = neighbours.row(v).iter();
                ring.filter_map(|&other| before[other as usize])
            };
            let votes = |region: T| around().filter(|&other| other == region).count();
            let all = around().count();
            if let Some(winner) = around().find(|&region| 2 * votes(region) > all) {
                regions[v] = Some(winner);
            }
        }
    }
}

/// The bone nearest to each vertex of the skeleton surface.
fn nearest_bones(layers: &Layers, bones: &[Bone]) -> Vec<Option<u32>> {
    let merged = supple_geom::TriMesh::merged(bones.iter().map(|bone| &bone.mesh));
    let owners: Vec<u32> = (bones.iter().enumerate())
        .flat_map(|(i, bone)| std::iter::repeat_n(i as u32, bone.mesh.triangles.len()))
        .collect();
    let surface = Surface::new(merged);
    let nearest = |v: usize| {
        let found = surface.closest_point(layers.skeleton[v])?;
        Some(owners[found.triangle as usize])
    };
    (0..layers.skin.len())
        .map(|v| layers.layered[v].then(|| nearest(v)).flatten())
        .collect()
}
