//! The tape: measures a skin of the template's connectivity in the template's rest pose.

use glam::{DVec2, DVec3, Vec3};
use supple_geom::convex_hull::{convex_hull, perimeter};
use supple_geom::mesh::SubMesh;
use supple_geom::section::{Plane, Section, section};
use supple_geom::{Adjacency, TriMesh};

use super::measures::{Measures, Segments};
use crate::{Body, BodyError};

/// Height of the navel over the height of the embedded bodies (0.608 and 0.614 as modelled; soldiers of ANSUR II 0.60).
pub(crate) const NAVEL: f32 = 0.61;
/// Half width of the band of vertices that defines a level, over height. Below the mesh's edge length (0.6 %) levels jump
/// where single vertices slide, above 2 % bands of neighbouring landmarks mix.
const BAND: f32 = 0.01;
/// How far below the crotch the thigh is measured, over height.
const BELOW_CROTCH: f32 = 0.02;
/// Planes among which a largest or smallest circumference is sought: less than 1 cm apart on hips and limbs.
const LEVELS: usize = 24;

/// What to know of a template before its people can be measured. Make it once, use it for many.
#[derive(Clone, Debug)]
pub struct Tape {
    triangles: Vec<[u32; 3]>,
    trunk: Part,
    arms: [Part; 2],
    joints: Joints,
    /// Level of the navel between crotch (0) and neck (1).
    navel: f32,
    breast: Vec<u32>,
    crotch: Vec<u32>,
}

/// A part of the skin that is cut alone.
#[derive(Clone, Debug)]
struct Part {
    part: SubMesh,
    adjacency: Adjacency,
}

/// Indices of the joints used; pairs are left and right.
#[derive(Clone, Debug)]
struct Joints {
    root: usize,
    neck: usize,
    head: usize,
    shoulder: [usize; 2],
    elbow: [usize; 2],
    wrist: [usize; 2],
    hip: [usize; 2],
    knee: [usize; 2],
    ankle: [usize; 2],
}

impl Tape {
    /// Prepares the measures of a body and of all its variations.
    pub fn new(body: &Body) -> Result<Tape, BodyError> {
        let joints = Joints::of(body)?;
        let arm = |name: &str| {
            let prefixes = [
                "shoulder01",
                "upperarm",
                "lowerarm",
                "wrist",
                "finger",
                "metacarpal",
            ];
            prefixes.iter().any(|prefix| name.starts_with(prefix))
        };
        let on = |suffix: &str| body.weight_on(|name| arm(name) && name.ends_with(suffix));
        let (left, right) = (on(".L"), on(".R"));
        let trunk = |v: usize| left[v] < 0.5 && right[v] < 0.5;
        // The arms' parts overlap the trunk so that sections of a raised arm close at the shoulder.
        let arms = [&left, &right].map(|weight| Part::of(&body.mesh, |v| weight[v] > 0.05));
        let positions = &body.mesh.positions;
        let height = body.height();
        let band = |level: f32, within: &dyn Fn(usize) -> bool| -> Vec<u32> {
            (0..positions.len())
                .filter(|&v| (positions[v].y - level).abs() < BAND * height && within(v))
                .map(|v| v as u32)
                .collect()
        };
        let rest = |joint: &str| body.joint(joint);
        let (spine, neck) = (rest("spine02")?, rest("neck01")?);
        let foremost = (0..positions.len())
            .filter(|&v| {
                trunk(v) && positions[v].y > spine.y && positions[v].y < neck.y - BAND * height
            })
            .max_by(|&a, &b| positions[a].z.total_cmp(&positions[b].z))
            .map_or(spine.y, |v| positions[v].y);
        let (root, knee) = (rest("root")?, rest("lowerleg01.L")?);
        let middle = (0..positions.len())
            .filter(|&v| positions[v].x.abs() < 0.25 * BAND * height)
            .filter(|&v| positions[v].y < root.y && positions[v].y > knee.y);
        let crotch = middle.min_by(|&a, &b| positions[a].y.total_cmp(&positions[b].y));
        let crotch_level = crotch.map_or(root.y, |v| positions[v].y);
        Ok(Tape {
            triangles: body.mesh.triangles.clone(),
            trunk: Part::of(&body.mesh, trunk),
            arms,
            joints,
            navel: (NAVEL * height - crotch_level) / (neck.y - crotch_level),
            breast: band(foremost, &trunk),
            crotch: crotch.map(|v| v as u32).into_iter().collect(),
        })
    }

    /// Measures a skin: positions of the vertices of [`Body::mesh`] and of all joints of [`Body::skeleton`], in rest pose.
    ///
    /// # Panics
    /// If there are fewer positions than the template has.
    pub fn measures(&self, skin: &[Vec3], joints: &[Vec3]) -> Measures {
        let mesh = TriMesh {
            positions: skin.to_vec(),
            triangles: self.triangles.clone(),
        };
        let bounds = mesh.bounds();
        let height = bounds.size().y;
        let level = |band: &[u32]| {
            let sum: f64 = band.iter().map(|&v| f64::from(skin[v as usize].y)).sum();
            (sum / band.len().max(1) as f64) as f32
        };
        let (breast, crotch) = (level(&self.breast), level(&self.crotch));
        // Not by vertices of the belly: they may slide along a smooth skin, while crotch and neck are where the shape says.
        let navel = crotch + self.navel * (joints[self.joints.neck].y - crotch);
        let trunk = &self.trunk.of_skin(skin);
        let flat = |y: f32| trunk.cut(Vec3::new(0.0, y, 0.0), Vec3::Y);
        let between = |from: f32, to: f32| {
            (0..LEVELS).map(move |i| from + (to - from) * (i as f32 / (LEVELS - 1) as f32))
        };
        let hip = between(crotch, navel).map(|y| tape_around_all(&flat(y)));
        let limb = &|part: &Cut, a: Vec3, b: Vec3, along: f32| {
            let point = a.lerp(b, along);
            tape_around(&part.cut(point, b - a), point)
        };
        let at = |joint: usize| joints[joint];
        let mean = |of: &dyn Fn(usize) -> f64| 0.5 * (of(0) + of(1));
        let thigh = |side: usize| {
            let (hip, knee) = (at(self.joints.hip[side]), at(self.joints.knee[side]));
            let y = crotch - BELOW_CROTCH * height;
            let point = hip.lerp(knee, ((hip.y - y) / (hip.y - knee.y)).clamp(0.0, 1.0));
            tape_around(&flat(y), Vec3::new(point.x, y, point.z))
        };
        let shin = |side: usize| {
            let (knee, ankle) = (at(self.joints.knee[side]), at(self.joints.ankle[side]));
            between(0.1, 0.95).map(move |along| limb(trunk, knee, ankle, along))
        };
        let arms = [0, 1].map(|side| self.arms[side].of_skin(skin));
        let forearm = |side: usize| {
            let (elbow, wrist) = (at(self.joints.elbow[side]), at(self.joints.wrist[side]));
            let arm = &arms[side];
            between(0.1, 1.0).map(move |along| limb(arm, elbow, wrist, along))
        };
        let upper_arm = |side: usize| {
            let (shoulder, elbow) = (at(self.joints.shoulder[side]), at(self.joints.elbow[side]));
            limb(&arms[side], shoulder, elbow, 0.5)
        };
        let (neck, head) = (at(self.joints.neck), at(self.joints.head));
        Measures {
            height: f64::from(height),
            waist: tape_around_all(&flat(navel)),
            hip: largest(hip),
            chest: tape_around_all(&flat(breast)),
            neck: smallest(between(0.0, 0.7).map(|along| limb(trunk, neck, head, along))),
            thigh: mean(&thigh),
            calf: mean(&|side| largest(shin(side))),
            ankle: mean(&|side| smallest(shin(side))),
            upper_arm: mean(&upper_arm),
            forearm: mean(&|side| largest(forearm(side))),
            wrist: mean(&|side| smallest(forearm(side))),
            volume: mesh.signed_volume(),
            surface: mesh.area(),
            crotch_height: f64::from(crotch - bounds.min.y),
            segments: self.joints.segments(joints),
        }
    }
}

impl Part {
    fn of(mesh: &TriMesh, within: impl Fn(usize) -> bool) -> Part {
        let triangles = (0..mesh.triangles.len() as u32).filter(|&t| {
            mesh.triangles[t as usize]
                .iter()
                .all(|&v| within(v as usize))
        });
        let part = mesh.extract(triangles);
        let adjacency = Adjacency::new(&part.mesh);
        Part { part, adjacency }
    }

    fn of_skin(&self, skin: &[Vec3]) -> Cut<'_> {
        let positions = (self.part.whole_vertex.iter())
            .map(|&v| skin[v as usize])
            .collect();
        Cut {
            mesh: TriMesh {
                positions,
                triangles: self.part.mesh.triangles.clone(),
            },
            adjacency: &self.adjacency,
        }
    }
}

/// A part of one person's skin.
struct Cut<'a> {
    mesh: TriMesh,
    adjacency: &'a Adjacency,
}

impl Cut<'_> {
    fn cut(&self, point: Vec3, normal: Vec3) -> Section {
        section(&self.mesh, self.adjacency, Plane { point, normal })
    }
}

impl Joints {
    fn of(body: &Body) -> Result<Joints, BodyError> {
        let find = |name: &str| {
            (body.skeleton.find(name)).ok_or_else(|| BodyError::NoJoint {
                name: name.to_owned(),
            })
        };
        let pair = |name: &str| Ok([find(&format!("{name}.L"))?, find(&format!("{name}.R"))?]);
        Ok(Joints {
            root: find("root")?,
            neck: find("neck01")?,
            head: find("head")?,
            shoulder: pair("upperarm01")?,
            elbow: pair("lowerarm01")?,
            wrist: pair("wrist")?,
            hip: pair("upperleg01")?,
            knee: pair("lowerleg01")?,
            ankle: pair("foot")?,
        })
    }

    fn segments(&self, joints: &[Vec3]) -> Segments {
        let length = |a: usize, b: usize| f64::from(joints[a].distance(joints[b]));
        let mean = |a: [usize; 2], b: [usize; 2]| 0.5 * (length(a[0], b[0]) + length(a[1], b[1]));
        Segments {
            upper_arm: mean(self.shoulder, self.elbow),
            forearm: mean(self.elbow, self.wrist),
            thigh: mean(self.hip, self.knee),
            shin: mean(self.knee, self.ankle),
            trunk: length(self.root, self.neck),
            shoulders: length(self.shoulder[0], self.shoulder[1]),
        }
    }
}

/// Length of a tape around all curves of a section \[m\].
pub fn tape_around_all(section: &Section) -> f64 {
    tape(section.normal, section.loops.iter().flat_map(|l| &l.points))
}

/// Length of a tape around the outermost curve that encloses a point, or else the nearest \[m\]. The outermost, because
/// the mouth's inside belongs to the skin and is cut with the neck.
pub fn tape_around(section: &Section, point: Vec3) -> f64 {
    let around = (section.loops.iter())
        .filter(|l| l.winding(point.as_dvec3(), section.normal) != 0)
        .max_by(|a, b| a.area.total_cmp(&b.area));
    let curve = around.or_else(|| section.nearest(point));
    tape(section.normal, curve.iter().flat_map(|l| &l.points))
}

fn tape<'a>(normal: DVec3, points: impl Iterator<Item = &'a DVec3>) -> f64 {
    let (u, v) = normal.any_orthonormal_pair();
    let flat: Vec<DVec2> = points.map(|p| DVec2::new(p.dot(u), p.dot(v))).collect();
    perimeter(&convex_hull(&flat))
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

/// The smallest positive value: planes that miss the limb count for nothing.
fn smallest(values: impl Iterator<Item = f64>) -> f64 {
    let least = values.filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 0.0 }
}
