//! Layered people of a given body mass index, from the body model.

use glam::Vec3;
use supple::anatomy::body_model::BodyModel;
use supple::anatomy::composition::estimate::CompositionError;
use supple::anatomy::composition::{Known, Regressors, Tape, composition};
use supple::anatomy::layered_body::NewPositions;
use supple::anatomy::person::{FitError, PersonSkin, Transfer, fitted_person};
use supple::anatomy::{BodyError, LayeredBody, Sex};
use supple::embedded::{self, Body};

/// Why there is no such person.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeopleError {
    /// The embedded template cannot be read.
    #[error(transparent)]
    Template(#[from] supple::anatomy::template::TemplateError),
    /// The template's body cannot be measured.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The body has no composition.
    #[error(transparent)]
    Composition(#[from] CompositionError),
    /// Bones and muscles cannot be carried over.
    #[error(transparent)]
    Warp(#[from] supple::anatomy::person::rbf::WarpError),
    /// The template does not fit.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// The likeliest body of a body mass index \[kg/m²\], fitted with the embedded template of its sex.
///
/// Among the coefficients of the body model that change the volume alike and leave the height, those that are smallest in standard
/// deviations are taken: `cᵢ = λ σᵢ² gᵢ` with the volume's gradient `g` across that of the height, and λ by bisection.
pub fn person_of_bmi(sex: Sex, bmi: f64) -> Result<LayeredBody, PeopleError> {
    let which = match sex {
        Sex::Male => Body::Male,
        Sex::Female => Body::Female,
    };
    let template = embedded::template(which)?;
    let model = BodyModel::embedded(sex);
    let direction = volume_direction(model);
    let tape = Tape::new(&template.body)?;
    let body = |share: f64| {
        let coefficients: Vec<f64> = direction.iter().map(|d| share * d).collect();
        let vertices = model.rest_vertices(&coefficients);
        let skin: Vec<Vec3> = (template.body.file_vertices.iter())
            .map(|&v| vertices[v as usize].as_vec3())
            .collect();
        let joints = model.rest_joints(&coefficients);
        let worlds = template.body.skeleton.rest_worlds();
        let joints: Vec<Vec3> = (worlds.iter().enumerate())
            .map(|(j, world)| match joints.get(j) {
                Some(place) => place.as_vec3(),
                None => world.translation.into(),
            })
            .collect();
        (skin, joints)
    };
    let found = |(skin, joints): &(Vec<Vec3>, Vec<Vec3>)| {
        let measures = tape.measures(skin, joints);
        composition(&measures, &Known::sex(sex), Regressors::embedded())
    };
    // Deviations of the heaviest and the lightest body that the model has without folds.
    let (mut low, mut high) = (-3.0, 4.0);
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        match found(&body(middle)).is_ok_and(|c| c.body_mass_index < bmi) {
            true => low = middle,
            false => high = middle,
        }
    }
    let person = body(0.5 * (low + high));
    let made = found(&person)?;
    let skin = PersonSkin {
        skin: &person.0,
        joints: &person.1,
    };
    let transfer = Transfer::new(&template.layers)?;
    let fit = fitted_person(
        &template,
        &transfer,
        &skin,
        made.fat_mass.value,
        made.muscle_mass.value,
    )?;
    let name = format!("{} {bmi:.0}", template.name);
    let shape = NewPositions {
        joints: &person.1,
        layers: fit.layers,
        bones: fit.bones,
        muscles: fit.muscles,
    };
    Ok(template.reshaped(&name, shape))
}

/// Coefficients of one standard deviation in the direction in which the volume grows and the height stays, of the components alone.
fn volume_direction(model: &BodyModel) -> Vec<f64> {
    let count = model.field_count();
    let mean = model.rest_vertices(&vec![0.0; count]);
    let mut volume = vec![0.0; count];
    for t in &model.triangles {
        let [a, b, c] = t.map(|v| mean[v as usize]);
        // Derivative of a·(b × c) / 6 by each corner.
        for (v, d) in t.iter().zip([b.cross(c), c.cross(a), a.cross(b)]) {
            for (sum, field) in volume.iter_mut().zip(model.point_fields(*v as usize)) {
                *sum += d.dot(field.as_dvec3()) / 6.0;
            }
        }
    }
    let by_height = |a: &usize, b: &usize| mean[*a].y.total_cmp(&mean[*b].y);
    let crown = (0..mean.len()).max_by(by_height).unwrap_or(0);
    let sole = (0..mean.len()).min_by(by_height).unwrap_or(0);
    let height: Vec<f64> = (model.point_fields(crown).iter())
        .zip(model.point_fields(sole))
        .map(|(top, bottom)| f64::from(top.y - bottom.y))
        .collect();
    let in_deviations = |gradient: &[f64]| -> Vec<f64> {
        let is_component = |f: usize| model.field_names[f].starts_with("component");
        let scaled =
            |f: usize| gradient[f] * model.deviations[f] * f64::from(is_component(f) as u8);
        (0..count).map(scaled).collect()
    };
    let (volume, height) = (in_deviations(&volume), in_deviations(&height));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let share = dot(&volume, &height) / dot(&height, &height);
    let across: Vec<f64> = (volume.iter().zip(&height))
        .map(|(v, h)| v - share * h)
        .collect();
    let length = dot(&across, &across).sqrt();
    (across.iter().zip(&model.deviations))
        .map(|(x, s)| x / length * s)
        .collect()
}
