//! Fields for what the principal components do not span: lengths and girths of limb segments, widths and depths of the
//! trunk, sizes of hands, feet and head.
//!
//! A field says how a point moves if it belongs to one joint alone; vertices blend it by their weights, joints move with
//! their parent. A coefficient of 0.1 makes its segment longer or thicker by a tenth.

use glam::{DVec3, Vec3};

use super::BodyModel;

/// Displacement of a point that belongs to a joint alone.
type Field<'a> = Box<dyn Fn(usize, DVec3) -> DVec3 + 'a>;

const SIDES: [&str; 2] = [".L", ".R"];
/// Limb segments by the joints at their ends.
const SEGMENTS: [(&str, &str, &str); 4] = [
    ("upper arm", "upperarm01", "lowerarm01"),
    ("forearm", "lowerarm01", "wrist"),
    ("thigh", "upperleg01", "lowerleg01"),
    ("shank", "lowerleg01", "foot"),
];
/// Heights of the trunk's girths, from the root (0) to the neck (1), and their spread.
const GIRTHS: [(&str, f64); 3] = [("hip", 0.05), ("waist", 0.4), ("chest", 0.75)];
const GIRTH_SPREAD: f64 = 0.2;

/// Appends the fields to the model.
pub(super) fn widen(model: &mut BodyModel) {
    let rig = Rig::of(model);
    let mut named: Vec<(String, f64, Vec<Vec3>)> = Vec::new();
    let mut add = |name: &str, deviation: f64, field: Field| {
        named.push((name.to_owned(), deviation, blended(model, &field)));
    };
    // Expected sizes: between people, beyond what stature and build explain.
    for (name, from, to) in SEGMENTS {
        add(
            &format!("{name} length"),
            0.06,
            rig.both(|side| rig.length(from, to, side)),
        );
    }
    for (name, from, to) in SEGMENTS {
        add(
            &format!("{name} girth"),
            0.1,
            rig.both(|side| rig.girth(from, to, side)),
        );
    }
    add("hand size", 0.08, rig.both(|side| rig.size("wrist", side)));
    add("foot size", 0.06, rig.both(|side| rig.size("foot", side)));
    add("head size", 0.06, rig.size("head", ""));
    add("trunk length", 0.06, rig.trunk_length());
    add("neck length", 0.15, rig.length("neck01", "head", ""));
    add("neck girth", 0.1, rig.girth("neck01", "head", ""));
    add("shoulder width", 0.08, rig.shoulder_width());
    add("hip width", 0.08, rig.hip_width());
    for (name, height) in GIRTHS {
        for (axis, what) in [(0, "width"), (2, "depth")] {
            add(
                &format!("{name} {what}"),
                0.1,
                rig.trunk_girth(height, axis),
            );
        }
    }
    append(model, named);
}

/// Displacements of all points: vertices by their weights, joints with their parent.
fn blended(model: &BodyModel, field: &Field) -> Vec<Vec3> {
    let vertices = (0..model.vertex_count()).map(|vertex| {
        let point = model.mean_point(vertex);
        let entries = model.weights[vertex].iter().filter(|w| w.1 > 0.0);
        let parts = entries.map(|&(j, w)| f64::from(w) * field(j.into(), point));
        parts.sum::<DVec3>().as_vec3()
    });
    let joints = (0..model.joint_count()).map(|joint| {
        let carrier = model.parents[joint].unwrap_or(joint);
        field(carrier, model.mean_point(model.vertex_count() + joint)).as_vec3()
    });
    vertices.chain(joints).collect()
}

fn append(model: &mut BodyModel, named: Vec<(String, f64, Vec<Vec3>)>) {
    let (old, points) = (model.field_count(), model.mean.len());
    let mut fields = Vec::with_capacity(points * (old + named.len()));
    for point in 0..points {
        fields.extend_from_slice(&model.fields[point * old..(point + 1) * old]);
        fields.extend(named.iter().map(|(.., field)| field[point]));
    }
    model.fields = fields;
    for (name, deviation, _) in named {
        model.field_names.push(name);
        model.deviations.push(deviation);
    }
}

/// Joints of the mean body, and which lie below which.
struct Rig {
    names: Vec<String>,
    places: Vec<DVec3>,
    below: Vec<Vec<bool>>,
}

impl Rig {
    fn of(model: &BodyModel) -> Rig {
        let count = model.joint_count();
        Rig {
            names: model.joint_names.clone(),
            places: model.mean[model.vertex_count()..].to_vec(),
            below: (0..count)
                .map(|top| (0..count).map(|joint| model.is_below(joint, top)).collect())
                .collect(),
        }
    }

    fn index(&self, name: &str) -> usize {
        let found = self.names.iter().position(|joint| joint == name);
        found.unwrap_or_else(|| panic!("the rig has no joint '{name}'"))
    }

    fn place(&self, name: &str) -> DVec3 {
        self.places[self.index(name)]
    }

    /// The joints below one, itself included.
    fn branch(&self, name: &str) -> Vec<bool> {
        self.below[self.index(name)].clone()
    }

    fn both<'a>(&'a self, one: impl Fn(&'static str) -> Field<'a>) -> Field<'a> {
        let [left, right] = SIDES.map(one);
        Box::new(move |joint, point| left(joint, point) + right(joint, point))
    }

    /// Stretches a segment along its axis and shifts what hangs below it.
    fn length<'a>(&'a self, from: &str, to: &str, side: &str) -> Field<'a> {
        let (from, to) = (format!("{from}{side}"), format!("{to}{side}"));
        let (start, axis) = (self.place(&from), self.place(&to) - self.place(&from));
        let (inside, below) = (self.branch(&from), self.branch(&to));
        Box::new(move |joint, point| match (below[joint], inside[joint]) {
            (true, _) => axis,
            (_, true) => {
                let along = (point - start).dot(axis) / axis.length_squared();
                along.clamp(0.0, 1.0) * axis
            }
            _ => DVec3::ZERO,
        })
    }

    /// Thickens a segment about its axis.
    fn girth<'a>(&'a self, from: &str, to: &str, side: &str) -> Field<'a> {
        let (from, to) = (format!("{from}{side}"), format!("{to}{side}"));
        let start = self.place(&from);
        let axis = (self.place(&to) - start).normalize();
        let (inside, below) = (self.branch(&from), self.branch(&to));
        Box::new(move |joint, point| match inside[joint] && !below[joint] {
            true => (point - start).reject_from_normalized(axis),
            false => DVec3::ZERO,
        })
    }

    /// Enlarges all below a joint.
    fn size<'a>(&'a self, joint: &str, side: &str) -> Field<'a> {
        let name = format!("{joint}{side}");
        let (start, branch) = (self.place(&name), self.branch(&name));
        Box::new(move |joint, point| match branch[joint] {
            true => point - start,
            false => DVec3::ZERO,
        })
    }

    /// Heights of root and neck.
    fn trunk(&self) -> (f64, f64) {
        (self.place("root").y, self.place("neck01").y)
    }

    fn legs(&self) -> Vec<bool> {
        self.branches("upperleg01")
    }

    fn branches(&self, name: &str) -> Vec<bool> {
        let [left, right] = SIDES.map(|side| self.branch(&format!("{name}{side}")));
        left.iter().zip(&right).map(|(l, r)| *l || *r).collect()
    }

    fn trunk_length<'a>(&'a self) -> Field<'a> {
        let (low, high) = self.trunk();
        let (legs, arms, neck) = (
            self.legs(),
            self.branches("clavicle"),
            self.branch("neck01"),
        );
        let shoulder = self.place("clavicle.L").y;
        Box::new(move |joint, point| {
            let height = match joint {
                _ if legs[joint] => return DVec3::ZERO,
                _ if neck[joint] => high,
                _ if arms[joint] => shoulder,
                _ => point.y,
            };
            DVec3::Y * (height - low).clamp(0.0, high - low)
        })
    }

    fn shoulder_width<'a>(&'a self) -> Field<'a> {
        let (low, _) = self.trunk();
        let shoulder = self.place("upperarm01.L");
        let (legs, neck) = (self.legs(), self.branch("neck01"));
        let (girdle, arms) = (self.branches("clavicle"), self.branches("upperarm01"));
        Box::new(move |joint, point| {
            let x = match joint {
                _ if legs[joint] || neck[joint] => 0.0,
                _ if arms[joint] => shoulder.x.copysign(point.x),
                _ if girdle[joint] => point.x,
                _ => point.x * smooth_step((point.y - low) / (shoulder.y - low)),
            };
            DVec3::X * x
        })
    }

    fn hip_width<'a>(&'a self) -> Field<'a> {
        let (low, high) = self.trunk();
        let hip = self.place("upperleg01.L");
        let (legs, neck, girdle) = (
            self.legs(),
            self.branch("neck01"),
            self.branches("clavicle"),
        );
        Box::new(move |joint, point| {
            let x = match joint {
                _ if legs[joint] => hip.x.copysign(self.places[joint].x),
                _ if neck[joint] || girdle[joint] => 0.0,
                _ => point.x * smooth_step(1.0 - (point.y - low) / (0.5 * (high - low))),
            };
            DVec3::X * x
        })
    }

    fn trunk_girth<'a>(&'a self, height: f64, axis: usize) -> Field<'a> {
        let (low, high) = self.trunk();
        let (centre, spread) = (low + height * (high - low), GIRTH_SPREAD * (high - low));
        let depth = self.place("spine03").z;
        let (neck, arms) = (self.branch("neck01"), self.branches("upperarm01"));
        let thighs = self.branches("upperleg02");
        Box::new(move |joint, point| {
            let mut shift = DVec3::ZERO;
            if !(neck[joint] || arms[joint] || thighs[joint]) {
                let from = if axis == 2 { depth } else { 0.0 };
                let nearness = (-0.5 * ((point.y - centre) / spread).powi(2)).exp();
                shift[axis] = (point[axis] - from) * nearness;
            }
            shift
        })
    }
}

/// 0 below 0, 1 above 1, smooth between.
fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
