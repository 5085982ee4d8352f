//! Layered bodies that grow, for the figures of chapter 4.

use supple::anatomy::body_model::{BodyModel, BodySampler};
use supple::anatomy::person::{PersonSkin, Transfer, fitted_person};
use supple::anatomy::{LayeredBody, Layers, Sex};
use supple::embedded::{self, Body};
use supple::glam::Vec3;
use supple::growth::{Growth, GrowthBody, GrowthFlow};
use supple_lab::growth_sheet::Column;

/// A body with its masses.
pub struct Grower {
    pub anatomy: LayeredBody,
    masses: supple::anatomy::person::Masses,
    weight: f64,
}

impl Grower {
    /// An embedded template.
    pub fn template(body: Body) -> Grower {
        Grower::of(embedded::template(body).unwrap())
    }

    /// An anatomy with its own masses.
    pub fn of(anatomy: LayeredBody) -> Grower {
        let GrowthBody { masses, weight, .. } = GrowthBody::of_anatomy(&anatomy).unwrap();
        Grower {
            anatomy,
            masses,
            weight,
        }
    }

    /// A body of the shape space whose body mass index is in a range, with a template fitted into it.
    pub fn sampled(body: Body, seed: u64, index: std::ops::Range<f64>) -> Grower {
        let template = embedded::template(body).unwrap();
        let model = BodyModel::embedded(template.sex());
        // Bones and muscles are not shown: a rough transfer is enough.
        let transfer = Transfer::with_centres(&template.layers, &[], 100, 200).unwrap();
        let mut sampler = BodySampler::new(seed);
        loop {
            let coefficients = sampler.coefficients(model);
            let vertices = model.rest_vertices(&coefficients);
            let joints = model.joints_of(&vertices);
            let joints: Vec<Vec3> = joints.iter().map(|p| p.as_vec3()).collect();
            let points: Vec<Vec3> = (template.body.file_vertices.iter())
                .map(|&v| vertices[v as usize].as_vec3())
                .collect();
            let mut anatomy = template.clone();
            anatomy.layers.skin = points.clone();
            anatomy.body.mesh.positions = points.clone();
            let mesh = anatomy.layers.skin_mesh();
            let height = f64::from(mesh.bounds().size().y);
            let weight = 1.03 * (1000.0 * mesh.signed_volume() - 3.0);
            let found = weight / (height * height);
            if !index.contains(&found) {
                continue;
            }
            // Fat percentage by body mass index at 35 years, Deurenberg 1991.
            let is_man = template.sex() == Sex::Male;
            let percent = 1.2 * found + 8.0 - if is_man { 16.2 } else { 5.4 };
            let fat = 0.01 * percent * weight;
            let muscle = (weight - fat) * if is_man { 0.52 } else { 0.45 };
            let skin = PersonSkin {
                skin: &points,
                joints: &joints,
            };
            let fit = fitted_person(&template, &transfer, &skin, fat, muscle).unwrap();
            anatomy.layers = fit.layers;
            return Grower {
                anatomy,
                masses: fit.report.masses.masses,
                weight,
            };
        }
    }

    /// What grows.
    pub fn body(&self) -> GrowthBody<'_> {
        GrowthBody {
            anatomy: &self.anatomy,
            masses: self.masses,
            weight: self.weight,
        }
    }

    /// The layers after a growth, and the kilograms of fat that were asked for and got; checked.
    pub fn grown(&self, growth: &Growth) -> (Layers, [f64; 2]) {
        let mut flow = GrowthFlow::new(&self.body(), growth).unwrap();
        flow.advance(1.0).unwrap();
        let (asked, got) = (flow.goal()[0], flow.change()[0]);
        assert!((asked - got).abs() < 0.1, "{asked} {got}");
        let layers = flow.layers();
        let found = layers.measures();
        let before = self.anatomy.layers.measures();
        assert!(
            found.inverted_fat + found.inverted_muscle
                <= before.inverted_fat + before.inverted_muscle
        );
        assert_eq!((found.muscle_outside, found.skeleton_outside), (0, 0));
        (layers, [asked, got])
    }

    /// The body with other layers, weighed by them.
    pub fn with(&self, layers: Layers) -> Grower {
        let mut anatomy = self.anatomy.clone();
        anatomy.body.mesh.positions = layers.skin.clone();
        anatomy.layers = layers;
        Grower::of(anatomy)
    }
}

/// A column of a sheet.
pub fn column(layers: &Layers, caption: impl Into<String>) -> Column {
    Column {
        caption: caption.into(),
        skin: layers.skin_mesh(),
        others: Vec::new(),
    }
}

/// Girth of the trunk at a height, without the arms: length of the skin's section hull [m].
pub fn girth(layers: &Layers, height: f32, arms: f32) -> f64 {
    let mut points: Vec<[f64; 2]> = (layers.skin.iter())
        .filter(|p| (p.y - height).abs() < 0.02 && p.x.abs() < arms)
        .map(|p| [f64::from(p.x), f64::from(p.z)])
        .collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let turn = |o: [f64; 2], a: [f64; 2], b: [f64; 2]| {
        (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
    };
    let half = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut hull: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while hull.len() > 1 && turn(hull[hull.len() - 2], hull[hull.len() - 1], p) <= 0.0 {
                hull.pop();
            }
            hull.push(p);
        }
        hull
    };
    let length = |hull: &[[f64; 2]]| -> f64 {
        (hull.windows(2))
            .map(|w| (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1]))
            .sum()
    };
    length(&half(&mut points.iter().copied())) + length(&half(&mut points.iter().rev().copied()))
}
