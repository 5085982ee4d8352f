//! Cross-sections of muscle and bone of a template beside those of BodyParts3D, as a table in Markdown.
//!
//! `cargo run --release -p supple-lab --example sections -- TEMPLATE [FOLDER]`. FOLDER is `../shared/data/anatomy` by default. Sections are at
//! right angles to a segment's axis, at 20 places along it. BodyParts3D is scaled, segment by segment, to the length of the template's. Both sides are
//! sums of separate meshes: bones, and muscles with their tendons. Places where either body's section cuts a bone of the next segment are marked with a
//! star: they are hip, knee, ankle, shoulder, elbow or wrist, and hang on how the joint is bent (the template stands with its legs apart).

use std::collections::BTreeMap;
use std::path::Path;

use supple_anatomy::bones::{BoneRegion, bone_region, read_bones};
use supple_anatomy::template::musculature::areas::segment_areas;
use supple_anatomy::template::musculature::given_muscles::read_given;
use supple_anatomy::template::places::frame::{Half, Side};
use supple_anatomy::template::places::segments::Segment;
use supple_anatomy::template::{Group, load_template};
use supple_anatomy::{Bone, LayeredBody};
use supple_geom::TriMesh;

/// Any error.
pub type Error = Box<dyn std::error::Error>;

/// Heights along each segment.
const COUNT: usize = 20;

/// Parts of the body that segments are made of.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Leg,
    Arm,
    /// Everything but arms.
    Rest,
}

fn belongs(part: Part, segment: Segment) -> bool {
    match segment {
        Segment::Thigh | Segment::Shank => part == Part::Leg,
        Segment::Arm | Segment::Forearm => part == Part::Arm,
        Segment::Trunk => part != Part::Arm,
    }
}

/// Bones of the next segments: a section that cuts one is a joint's.
fn neighbours(segment: Segment) -> &'static [&'static str] {
    match segment {
        Segment::Thigh => &["pelvis_l", "patella_l", "tibia_l"],
        Segment::Shank => &["femur_l", "patella_l", "talus_l"],
        Segment::Arm => &["scapula_l", "ulna_l", "radius_l"],
        Segment::Forearm => &["humerus_l", "lunate_l", "scaphoid_l"],
        Segment::Trunk => &[],
    }
}

/// All bones, and the meshes of the left side and the middle.
struct HalfBody {
    bones: Vec<Bone>,
    meshes: Vec<(Part, TriMesh)>,
}

fn bone_part(name: &str) -> Part {
    match bone_region(name) {
        BoneRegion::Arms | BoneRegion::Hands => Part::Arm,
        BoneRegion::Legs | BoneRegion::Feet => Part::Leg,
        BoneRegion::Head | BoneRegion::Trunk => Part::Rest,
    }
}

fn with_bones(bones: Vec<Bone>, muscles: Vec<(Part, TriMesh)>) -> HalfBody {
    let own = bones.iter().filter(|bone| !bone.name.ends_with("_r"));
    let mut meshes: Vec<_> = own.map(|b| (bone_part(&b.name), b.mesh.clone())).collect();
    meshes.extend(muscles);
    HalfBody { bones, meshes }
}

fn of_template(template: &LayeredBody) -> HalfBody {
    let bones = template.bones.iter().map(|b| b.bone.clone()).collect();
    let part = |group: Group| match group {
        Group::UpperLeg | Group::LowerLeg | Group::Feet => Part::Leg,
        Group::UpperArm | Group::LowerArm | Group::Shoulder => Part::Arm,
        _ => Part::Rest,
    };
    let left = template
        .muscles
        .iter()
        .filter(|m| m.side == Some(Side::Left));
    with_bones(
        bones,
        left.map(|m| (part(m.group), m.mesh.clone())).collect(),
    )
}

fn of_folder(folder: &Path) -> Result<HalfBody, Error> {
    let mut bones = read_bones(&folder.join("bones"))?.bones;
    // The sternum of the embedded bones is one piece with its cartilage.
    let front = |name: &str| {
        ["stern", "manubrium", "costal"]
            .iter()
            .any(|w| name.contains(w))
    };
    let parts: Vec<&TriMesh> = (bones.iter())
        .filter(|b| front(&b.name))
        .map(|b| &b.mesh)
        .collect();
    let mesh = TriMesh::merged(parts);
    bones.retain(|b| !front(&b.name));
    bones.push(Bone {
        name: "sternum_costal_cartilage".into(),
        mesh,
    });
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("manifest.json"))?)?;
    let mut regions = BTreeMap::new();
    for row in manifest.as_array().ok_or("manifest.json is no list")? {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let stem = Path::new(text("file")).file_stem().unwrap_or_default();
        let part = match text("region") {
            "upper leg" | "lower leg" | "pelvis" | "foot" => Part::Leg,
            "upper arm" | "lower arm" | "shoulder" | "hand" => Part::Arm,
            _ => Part::Rest,
        };
        // Muscles of an atlas have their tendons with them; membranes and ligaments are neither.
        let is_tendon = text("kind") == "tendon" && text("name").ends_with("tendon");
        if text("side") != "right" && (text("kind") == "muscle" || is_tendon) {
            regions.insert(stem.to_string_lossy().into_owned(), part);
        }
    }
    let muscles = read_given(&folder.join("muscles"))?.into_iter();
    let muscles = muscles.filter_map(|m| Some((*regions.get(&m.name)?, m.mesh)));
    Ok(with_bones(bones, muscles.collect()))
}

/// Length \[m\], areas \[cm²\] of a segment, and whether each is a joint's.
fn areas(side: &HalfBody, segment: Segment) -> Result<(f64, Vec<(f64, bool)>), Error> {
    let half = Half::new(&side.bones, Side::Left);
    let own = side.meshes.iter().filter(|m| belongs(m.0, segment));
    let meshes: Vec<&TriMesh> = own.map(|m| &m.1).collect();
    let found = segment_areas(&half, segment, &meshes, COUNT).ok_or("a bone is missing")?;
    let next = (side.bones.iter()).filter(|b| neighbours(segment).contains(&b.name.as_str()));
    let next: Vec<&TriMesh> = next.map(|b| &b.mesh).collect();
    let joints = segment_areas(&half, segment, &next, COUNT).ok_or("a bone is missing")?;
    let areas = found.areas.iter().zip(&joints.areas);
    Ok((
        found.length,
        areas.map(|(a, j)| (1e4 * a.1, j.1 > 0.0)).collect(),
    ))
}

/// A segment of a template beside another body's.
pub struct Compared {
    /// The segment.
    pub segment: Segment,
    /// Its length in the template and in the other body \[m\].
    pub lengths: [f64; 2],
    /// Areas at each place: the template's, and the other body's scaled to the template's length \[cm²\].
    pub areas: Vec<[f64; 2]>,
    /// Places where either section cuts a bone of the next segment.
    pub is_joint: Vec<bool>,
}

/// All segments of a template beside those of a folder.
pub fn comparison(template: &LayeredBody, folder: &Path) -> Result<Vec<Compared>, Error> {
    let (ours, theirs) = (of_template(template), of_folder(folder)?);
    let compared = |segment: Segment| {
        let (length, own) = areas(&ours, segment)?;
        let (other, others) = areas(&theirs, segment)?;
        let scale = (length / other).powi(2);
        Ok(Compared {
            segment,
            lengths: [length, other],
            areas: (own.iter().zip(&others))
                .map(|(a, b)| [a.0, scale * b.0])
                .collect(),
            is_joint: own.iter().zip(&others).map(|(a, b)| a.1 || b.1).collect(),
        })
    };
    SEGMENTS.into_iter().map(compared).collect()
}

const SEGMENTS: [Segment; 5] = [
    Segment::Thigh,
    Segment::Shank,
    Segment::Arm,
    Segment::Forearm,
    Segment::Trunk,
];

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let template = load_template(Path::new(arguments.first().ok_or("name a template")?))?;
    let folder = arguments
        .get(1)
        .map_or("../shared/data/anatomy", String::as_str);
    let found = comparison(&template, Path::new(folder))?;
    println!("| place | thigh | shank | upper arm | forearm | trunk, left half |");
    println!("|---|---|---|---|---|---|");
    for k in 0..COUNT {
        let cell = |compared: &Compared| {
            let [ours, theirs] = compared.areas[k];
            let star = if compared.is_joint[k] { " *" } else { "" };
            let percent = 100.0 * (ours / theirs - 1.0);
            format!(" {ours:.0} / {theirs:.0}, {percent:+.0} %{star} |").replace('-', "−")
        };
        let row: String = found.iter().map(cell).collect();
        println!("| {:.3} |{row}", (k as f64 + 0.5) / COUNT as f64);
    }
    for Compared {
        segment,
        lengths: [ours, theirs],
        ..
    } in &found
    {
        println!(
            "{segment:?}: {:.0} mm, BodyParts3D {:.0} mm",
            1e3 * ours,
            1e3 * theirs
        );
    }
    Ok(())
}
