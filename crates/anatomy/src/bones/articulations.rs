//! Joints of a skeleton: which segments meet where. Distances between the bones of each are what "closed" is measured by.

use std::collections::BTreeMap;

use glam::DVec3;
use supple_geom::{Surface, TriMesh};

use super::centres::{
    Contact, contact, extreme, femoral_head, humeral_head, longest_axis, lower_end, upper_end,
};
use super::names::known_bone;
use super::read::BoneSet;

/// A joint between two segments, in the frame of the bones as they came.
#[derive(Clone, Debug)]
pub(super) struct Articulation {
    /// Its name: `hip_l`, `L4_L5`, `index_medial_l`.
    pub name: String,
    /// The segments that meet.
    pub segments: [String; 2],
    /// The point of each segment; placing brings them together.
    pub at: [DVec3; 2],
    /// Deviation of the two points from each other, for joints that may give \[m\].
    pub give: Option<f64>,
}

/// Two groups of bones whose surfaces should be near each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub name: String,
    pub bones: [Vec<String>; 2],
}

/// Cartilage that is left between bones that stood farther apart \[m\].
const CARTILAGE: f64 = 0.002;
/// The capitulum and the radius' head need not stay on one point exactly: pronation tilts the head \[m\].
const CAPITULUM_GIVE: f64 = 0.001;
/// Names of fingers from the thumb.
pub(super) const FINGERS: [&str; 5] = ["thumb", "index", "middle", "ring", "little"];
/// Bones of the wrist.
pub(super) const CARPALS: [&str; 8] = [
    "scaphoid",
    "lunate",
    "triquetrum",
    "pisiform",
    "trapezium",
    "trapezoid",
    "capitate",
    "hamate",
];
/// Spine from the sacrum to the skull.
pub(super) fn spine() -> Vec<String> {
    let vertebrae =
        |letter: char, n: usize| (1..=n).rev().map(move |i| format!("vertebra_{letter}{i}"));
    let mut names = vec!["sacrum".to_owned()];
    names.extend(
        vertebrae('L', 5)
            .chain(vertebrae('T', 12))
            .chain(vertebrae('C', 7)),
    );
    names
}

/// Bones of a finger (1 is the thumb) from the metacarpal to the tip.
pub(super) fn finger(index: usize, side: &str) -> Vec<String> {
    let name = FINGERS[index - 1];
    let phalanges = if index == 1 {
        &["proximal", "distal"][..]
    } else {
        &["proximal", "medial", "distal"][..]
    };
    let mut bones = vec![format!("metacarpal{index}_{side}")];
    bones.extend(
        phalanges
            .iter()
            .map(|phalanx| format!("{name}_{phalanx}_{side}")),
    );
    bones
}

/// Bones of a toe (1 is the big one) from the metatarsal to the tip.
pub(super) fn toe(index: usize, side: &str) -> Vec<String> {
    let phalanges = if index == 1 {
        &["prox", "dist"][..]
    } else {
        &["prox", "mid", "dist"][..]
    };
    let mut bones = vec![format!("metatarsal{index}_{side}")];
    bones.extend(
        phalanges
            .iter()
            .map(|phalanx| format!("toe{index}_{phalanx}_{side}")),
    );
    bones
}

/// The bones of a set by name, with trees where they were asked for.
struct Finder<'a> {
    bones: BTreeMap<&'a str, &'a TriMesh>,
    given: &'a BTreeMap<String, glam::Vec3>,
}

impl Finder<'_> {
    fn get(&self, name: &str) -> Option<&TriMesh> {
        self.bones.get(name).copied()
    }

    fn merged(&self, names: &[String]) -> Option<TriMesh> {
        let meshes: Vec<&TriMesh> = names.iter().filter_map(|name| self.get(name)).collect();
        (!meshes.is_empty()).then(|| TriMesh::merged(meshes))
    }

    fn contact(&self, a: &[String], b: &[String]) -> Option<Contact> {
        contact(&Surface::new(self.merged(a)?), &self.merged(b)?)
    }

    fn given(&self, name: &str) -> Option<DVec3> {
        self.given.get(name).map(|at| at.as_dvec3())
    }
}

fn segment_of(bone: &str) -> String {
    known_bone(bone).map_or_else(|| bone.to_owned(), |known| known.segment.clone())
}

fn owned<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// Bones of the breast bone and its cartilages, however many parts a collection has.
pub(super) fn breast() -> Vec<String> {
    let mut names = owned([
        "sternum_costal_cartilage",
        "sternum",
        "manubrium",
        "xiphoid_process",
        "costal_cartilage_l",
        "costal_cartilage_r",
    ]);
    for side in ["l", "r"] {
        names.extend((1..=10).map(|i| format!("costal_cartilage{i:02}_{side}")));
    }
    names
}

/// Places where bones should be closed, whether or not they move against each other.
pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut push = |name: String, a: Vec<String>, b: Vec<String>| {
        pairs.push(Pair {
            name,
            bones: [a, b],
        })
    };
    let spine = spine();
    for two in spine.windows(2) {
        let short = |name: &str| name.trim_start_matches("vertebra_").to_owned();
        push(
            format!("{}_{}", short(&two[1]), short(&two[0])),
            vec![two[0].clone()],
            vec![two[1].clone()],
        );
    }
    push(
        "C1_skull".into(),
        owned(["vertebra_C1"]),
        owned(["skull", "occipital_bone"]),
    );
    for side in ["l", "r"] {
        let s = |stem: &str| vec![format!("{stem}_{side}")];
        let named = |name: &str| format!("{name}_{side}");
        push(named("hip"), s("pelvis"), s("femur"));
        push(named("knee"), s("femur"), s("tibia"));
        push(named("patella"), s("femur"), s("patella"));
        push(named("ankle"), s("tibia"), s("talus"));
        push(named("sternoclavicular"), breast(), s("clavicle"));
        push(named("acromioclavicular"), s("scapula"), s("clavicle"));
        push(named("shoulder"), s("scapula"), s("humerus"));
        push(named("elbow"), s("humerus"), s("ulna"));
        push(named("humeroradial"), s("humerus"), s("radius"));
        push(named("radioulnar"), s("ulna"), s("radius"));
        let carpals: Vec<String> = CARPALS
            .iter()
            .map(|stem| format!("{stem}_{side}"))
            .collect();
        push(named("wrist"), s("radius"), carpals.clone());
        for i in 1..=12 {
            let above = format!("vertebra_T{}", if i == 1 { 1 } else { i - 1 });
            let rib = vec![format!("rib{i:02}_{side}")];
            push(
                format!("rib{i:02}_vertebra_{side}"),
                vec![format!("vertebra_T{i}"), above],
                rib.clone(),
            );
            if i <= 10 {
                push(format!("rib{i:02}_breast_{side}"), breast(), rib);
            }
        }
        for i in 1..=5 {
            let ray = finger(i, side);
            push(
                format!("carpometacarpal{i}_{side}"),
                carpals.clone(),
                vec![ray[0].clone()],
            );
            ray.windows(2)
                .for_each(|two| push(two[1].clone(), vec![two[0].clone()], vec![two[1].clone()]));
            let ray = toe(i, side);
            let tarsals = ["cuneiform_med", "cuneiform_int", "cuneiform_lat", "cuboid"];
            let tarsals = tarsals.map(|stem| format!("{stem}_{side}")).to_vec();
            push(
                format!("tarsometatarsal{i}_{side}"),
                tarsals,
                vec![ray[0].clone()],
            );
            ray.windows(2)
                .for_each(|two| push(two[1].clone(), vec![two[0].clone()], vec![two[1].clone()]));
        }
        push(named("subtalar"), s("talus"), s("calcaneus"));
        push(named("talonavicular"), s("talus"), s("navicular"));
        push(named("calcaneocuboid"), s("calcaneus"), s("cuboid"));
    }
    pairs
}

/// The joints of a skeleton, from the file's own centres where it has them, else from the shape of the bones.
pub(super) fn articulations(set: &BoneSet) -> Vec<Articulation> {
    let find = Finder {
        bones: set
            .bones
            .iter()
            .map(|bone| (bone.name.as_str(), &bone.mesh))
            .collect(),
        given: &set.joints,
    };
    let mut found = Vec::new();
    spine_joints(&find, &mut found);
    for side in ["l", "r"] {
        leg_joints(&find, side, &mut found);
        arm_joints(&find, side, &mut found);
        for i in 1..=5 {
            let carpals: Vec<String> = CARPALS
                .iter()
                .map(|stem| format!("{stem}_{side}"))
                .collect();
            let ray = finger(i, side);
            let root = find.contact(&carpals, &ray[..1]);
            if let Some(at) = root {
                found.push(closed(
                    format!("carpometacarpal{i}_{side}"),
                    [&carpals[0], &ray[0]],
                    at.at,
                    Some(at),
                ));
            }
            hinges(&find, &ray, &mut found);
            hinges(&find, &toe(i, side), &mut found);
        }
    }
    found
}

/// A joint whose second point is moved so that bones that stood apart meet.
fn closed(name: String, bones: [&str; 2], at: DVec3, contact: Option<Contact>) -> Articulation {
    let shift = contact.map_or(DVec3::ZERO, |c| (c.gap - CARTILAGE).max(0.0) * c.along);
    Articulation {
        name,
        segments: bones.map(segment_of),
        at: [at, at + shift],
        give: None,
    }
}

/// Between vertebrae: the middle between the bodies, which lie before the canal.
fn spine_joints(find: &Finder, found: &mut Vec<Articulation>) {
    let body = |mesh: &TriMesh| {
        let bounds = mesh.bounds();
        let front = bounds.min.z + 0.5 * bounds.size().z;
        let points: Vec<DVec3> = (mesh.positions.iter())
            .filter(|p| p.z > front)
            .map(|p| p.as_dvec3())
            .collect();
        let mut mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
        mean.x = 0.0;
        mean
    };
    let names: Vec<String> = spine()
        .into_iter()
        .filter(|name| find.get(name).is_some())
        .collect();
    for two in names.windows(2) {
        let (Some(below), Some(above)) = (find.get(&two[0]), find.get(&two[1])) else {
            continue;
        };
        let at = match two[0].as_str() {
            // The sacrum's body is its upper front edge.
            "sacrum" => {
                let (top, _) = upper_end(below, 0.06);
                0.5 * (DVec3::new(0.0, top.y, top.z) + body(above))
            }
            _ => 0.5 * (body(below) + body(above)),
        };
        if segment_of(&two[0]) == segment_of(&two[1]) {
            continue;
        }
        let contact = find.contact(&two[..1], &two[1..]);
        let short = |name: &str| name.trim_start_matches("vertebra_").to_owned();
        let name = format!("{}_{}", short(&two[1]), short(&two[0]));
        let mut joint = closed(name, [&two[0], &two[1]], at, contact);
        joint.at[1].x = 0.0;
        found.push(joint);
    }
    let skull = owned(["skull", "occipital_bone"]);
    if let (Some(atlas), Some(contact)) = (
        find.get("vertebra_C1"),
        find.contact(&owned(["vertebra_C1"]), &skull),
    ) {
        let bounds = atlas.bounds();
        let at = glam::Vec3::new(0.0, bounds.max.y, bounds.center().z).as_dvec3();
        let mut joint = closed(
            "C1_skull".into(),
            ["vertebra_C1", "skull"],
            at,
            Some(contact),
        );
        joint.at[1].x = 0.0;
        found.push(joint);
    }
}

fn leg_joints(find: &Finder, side: &str, found: &mut Vec<Articulation>) {
    let s = |stem: &str| format!("{stem}_{side}");
    let (pelvis, femur, tibia, talus) = (s("pelvis"), s("femur"), s("tibia"), s("talus"));
    let contact =
        |a: &String, b: &String| find.contact(std::slice::from_ref(a), std::slice::from_ref(b));
    if let Some(mesh) = find.get(&femur) {
        let at = find
            .given(&s("hip"))
            .unwrap_or_else(|| femoral_head(mesh).0);
        found.push(closed(
            s("hip"),
            [&pelvis, &femur],
            at,
            contact(&pelvis, &femur),
        ));
        let (end, half) = lower_end(mesh, 0.07);
        let low = f64::from(mesh.bounds().min.y);
        // The condyles roll about a point as high above their bottom as their radius, 0.75 of half their depth.
        let at = DVec3::new(end.x, low + 0.75 * half.z, end.z);
        let at = find
            .given(&s("walker_knee"))
            .or(find.given(&s("knee")))
            .unwrap_or(at);
        found.push(closed(
            s("knee"),
            [&femur, &tibia],
            at,
            contact(&femur, &tibia),
        ));
    }
    if let Some(mesh) = find.get(&talus) {
        let at = find
            .given(&s("ankle"))
            .unwrap_or_else(|| mesh.bounds().center().as_dvec3());
        found.push(closed(
            s("ankle"),
            [&tibia, &talus],
            at,
            contact(&tibia, &talus),
        ));
    }
}

fn arm_joints(find: &Finder, side: &str, found: &mut Vec<Articulation>) {
    let s = |stem: &str| format!("{stem}_{side}");
    let one = |stem: &str| vec![s(stem)];
    let outward = if side == "l" { DVec3::X } else { -DVec3::X };
    if let Some(clavicle) = find.get(&s("clavicle")) {
        let at = extreme(clavicle, -outward, 0.012);
        let contact = find.contact(&breast(), &one("clavicle"));
        found.push(closed(
            s("sternoclavicular"),
            ["vertebra_T1", &s("clavicle")],
            at,
            contact,
        ));
        if let Some(contact) = find.contact(&one("scapula"), &one("clavicle")) {
            let name = s("acromioclavicular");
            found.push(closed(
                name,
                [&s("scapula"), &s("clavicle")],
                contact.at,
                Some(contact),
            ));
        }
    }
    if let Some(humerus) = find.get(&s("humerus")) {
        let at = find
            .given(&s("shoulder"))
            .unwrap_or_else(|| humeral_head(humerus).0);
        let contact = find.contact(&one("scapula"), &one("humerus"));
        found.push(closed(
            s("shoulder"),
            [&s("scapula"), &s("humerus")],
            at,
            contact,
        ));
        let (end, _) = lower_end(humerus, 0.07);
        let low = f64::from(humerus.bounds().min.y);
        let at = DVec3::new(
            end.x,
            low + 0.045 * f64::from(humerus.bounds().size().y),
            end.z,
        );
        let at = find.given(&s("elbow")).unwrap_or(at);
        let contact = find.contact(&one("humerus"), &one("ulna"));
        found.push(closed(s("elbow"), [&s("humerus"), &s("ulna")], at, contact));
    }
    if let (Some(ulna), Some(radius)) = (find.get(&s("ulna")), find.get(&s("radius"))) {
        // Forearm turning is about the line through the heads of radius (above) and ulna (below).
        let head = upper_end(radius, 0.05).0;
        let contact = find.contact(&one("humerus"), &one("radius"));
        let shift = contact.map_or(DVec3::ZERO, |c| (c.gap - CARTILAGE).max(0.0) * c.along);
        found.push(Articulation {
            name: s("radioulnar_proximal"),
            segments: [s("ulna"), s("radius")],
            at: [head, head + shift],
            give: None,
        });
        // The capitulum's middle lies on the elbow's axis above the radius' head: the radius rolls about it.
        if let Some(elbow) = find
            .given(&s("elbow"))
            .or_else(|| found.iter().find(|j| j.name == s("elbow")).map(|j| j.at[0]))
        {
            let at = DVec3::new(head.x, elbow.y, elbow.z);
            found.push(Articulation {
                name: s("humeroradial"),
                segments: [s("humerus"), s("radius")],
                at: [at, at + shift],
                give: Some(CAPITULUM_GIVE),
            });
        }
        let at = lower_end(ulna, 0.05).0;
        found.push(closed(
            s("radioulnar_distal"),
            [&s("ulna"), &s("radius")],
            at,
            None,
        ));
        let carpals = vec![s("scaphoid"), s("lunate")];
        if let Some(contact) = find.contact(&one("radius"), &carpals) {
            found.push(closed(
                s("wrist"),
                [&s("radius"), &s("scaphoid")],
                contact.at,
                Some(contact),
            ));
        }
    }
}

/// Hinges of a finger or toe: about the middle of the nearer bone's head.
fn hinges(find: &Finder, ray: &[String], found: &mut Vec<Articulation>) {
    for two in ray.windows(2) {
        let (Some(near), Some(far)) = (find.get(&two[0]), find.get(&two[1])) else {
            continue;
        };
        let Some(contact) = contact(&Surface::new(near.clone()), far) else {
            continue;
        };
        let axis = longest_axis(near);
        let out = axis
            * axis
                .dot(contact.at - near.bounds().center().as_dvec3())
                .signum();
        let tip = extreme(near, out, 1e-6).dot(out);
        // Half the head's width is about its radius.
        let head: Vec<DVec3> = (near.positions.iter())
            .map(|p| p.as_dvec3())
            .filter(|p| p.dot(out) > tip - 0.15 * near.bounds().diagonal() as f64)
            .collect();
        let middle = head.iter().sum::<DVec3>() / head.len().max(1) as f64;
        let radius = head
            .iter()
            .map(|p| p.reject_from(out).distance(middle.reject_from(out)))
            .sum::<f64>()
            / head.len().max(1) as f64;
        let at = middle.reject_from(out) + out * (tip - radius);
        found.push(closed(
            two[1].clone(),
            [&two[0], &two[1]],
            at,
            Some(contact),
        ));
    }
}
