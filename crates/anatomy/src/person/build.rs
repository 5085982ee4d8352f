//! From a scan to a layered person, in one call.

use glam::Vec3;

use super::fit::fitted_person_with;
use super::rbf::WarpError;
use super::record::{EyesAndTongue, Person, ScanFit};
use super::{FitError, PersonSkin, Transfer};
use crate::clock::Clock;
use crate::composition::estimate::{CompositionError, air_litres, check_weight, weight_of_volume};
use crate::composition::{Known, Measures, Regressors, Tape, composition, undecided_composition};
use crate::layered_body::NewPositions;
use crate::progress::Progress;
use crate::scan::{Options, Registered, SURE, Scan, ScanError, register};
use crate::template::LayeredBody;
use crate::{Body, BodyError, Sex};

/// Difference between a given height and that of the scan from which a user should know, over the height.
const HEIGHT_DIFFERENCE: f64 = 0.02;

/// What is known of a person besides the scan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Given {
    /// Age \[years\].
    pub age: Option<f64>,
    /// Height \[m\].
    pub height: Option<f64>,
    /// Weight \[kg\].
    pub weight: Option<f64>,
    /// Fat.
    pub fat: Option<GivenFat>,
    /// Mass of skeletal muscle \[kg\].
    pub muscle_mass: Option<f64>,
}

/// Fat, as people know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GivenFat {
    /// Its mass \[kg\].
    Mass(f64),
    /// Its share of the weight \[%\].
    Percent(f64),
}

/// Why there is no person.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PersonError {
    /// The scan is refused.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The body's composition cannot be estimated.
    #[error(transparent)]
    Composition(#[from] CompositionError),
    /// The template does not fit.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The template's rig lacks a required joint.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Bones and muscles cannot be carried over.
    #[error("the layers of the template cannot be warped: {0}; build the template again")]
    Warp(#[from] WarpError),
    /// The template cannot be read.
    #[error(transparent)]
    Template(#[from] crate::template::TemplateError),
    /// A template of the other sex.
    #[error("the template is not of the person's sex")]
    OtherSex,
}

/// A template prepared for its people: what hangs on the template alone is done once.
#[derive(Clone, Debug)]
pub struct PreparedTemplate {
    template: LayeredBody,
    transfer: Transfer,
    tape: Tape,
}

/// A person without layers, in the template's connectivity and rest pose.
struct Found {
    sex: Sex,
    measures: Measures,
    skin: Vec<Vec3>,
    joints: Vec<Vec3>,
    eyes_and_tongue: EyesAndTongue,
    scans: Vec<ScanFit>,
}

impl PreparedTemplate {
    /// Prepares a template of the embedded rig.
    pub fn new(template: LayeredBody) -> Result<Self, PersonError> {
        let (transfer, tape) = rayon::join(
            || Transfer::of_template(&template),
            || Tape::new(&template.body),
        );
        Ok(PreparedTemplate {
            transfer: transfer?,
            tape: tape?,
            template,
        })
    }

    /// The template.
    pub fn template(&self) -> &LayeredBody {
        &self.template
    }

    /// Measures of a registered body.
    pub fn measures(&self, registered: &Registered) -> Measures {
        let (skin, joints) = skin_of(&self.template.body, registered);
        self.tape.measures(&skin, &joints)
    }

    /// A layered person of a registered body: measures, composition, fit and transfer.
    pub fn person(
        &self,
        name: &str,
        registered: &Registered,
        given: &Given,
        regressors: &Regressors,
    ) -> Result<Person, PersonError> {
        self.person_with(name, registered, given, regressors, &Progress::silent())
    }

    /// [`PreparedTemplate::person`], and tells how far it is.
    pub fn person_with(
        &self,
        name: &str,
        registered: &Registered,
        given: &Given,
        regressors: &Regressors,
        progress: &Progress,
    ) -> Result<Person, PersonError> {
        let (skin, joints) = skin_of(&self.template.body, registered);
        let found = Found {
            sex: registered.sex,
            measures: self.tape.measures(&skin, &joints),
            skin,
            joints,
            eyes_and_tongue: eyes_and_tongue(&self.template.body, registered),
            scans: vec![ScanFit::of(registered)],
        };
        self.layered(name, found, given, regressors, progress)
    }

    /// A person again with other numbers given: the skin stays, composition and layers are new.
    pub fn refitted(
        &self,
        person: &Person,
        given: &Given,
        regressors: &Regressors,
        progress: &Progress,
    ) -> Result<Person, PersonError> {
        let body = &person.body.body;
        let worlds = body.skeleton.rest_worlds();
        let found = Found {
            sex: person.sex(),
            measures: person.measures,
            skin: body.mesh.positions.clone(),
            joints: worlds.iter().map(|w| w.translation.into()).collect(),
            eyes_and_tongue: person.eyes_and_tongue.clone(),
            scans: person.scans.clone(),
        };
        self.layered(person.name(), found, given, regressors, progress)
    }

    fn layered(
        &self,
        name: &str,
        found: Found,
        given: &Given,
        regressors: &Regressors,
        progress: &Progress,
    ) -> Result<Person, PersonError> {
        let template = &self.template;
        let Found {
            sex,
            skin,
            joints,
            measures,
            eyes_and_tongue,
            mut scans,
        } = found;
        if sex != template.body.sex {
            return Err(PersonError::OtherSex);
        }
        let person_skin = PersonSkin {
            skin: &skin,
            joints: &joints,
        };
        let known = known(sex, given, &measures);
        let weight_note = match given.weight {
            Some(weight) => {
                let unweighed = Known {
                    weight: None,
                    fat_mass: None,
                    muscle_mass: None,
                    ..known
                };
                let alone = crate::composition::composition(&measures, &unweighed, regressors)?;
                check_weight(weight, &alone)?
            }
            None => None,
        };
        let sure = scans.first().map_or(1.0, |scan| scan.sex_confidence);
        let mut composition = match sure < SURE {
            true => undecided_composition(&measures, &known, sure, regressors)?,
            false => composition(&measures, &known, regressors)?,
        };
        composition.notes.extend(weight_note);
        if let Some(height) = given.height
            && (height / measures.height - 1.0).abs() > HEIGHT_DIFFERENCE
        {
            composition.notes.push(format!(
                "the scan is {:.2} m tall, not {height:.2} m as given: check the scan's unit, hair and shoes",
                measures.height
            ));
        }
        let fit = fitted_person_with(
            template,
            &self.transfer,
            &person_skin,
            (
                composition.fat_mass.value,
                composition.muscle_mass.value,
                given.age,
            ),
            progress,
        )?;
        if let Some(scan) = scans.last_mut() {
            scan.warnings.extend(fit.report.fold_warning());
        }
        composition.notes.extend(fit.report.mass_warning());
        let warning = fit.report.bound_warning(sex, composition.height);
        composition.notes.extend(warning);
        let shape = NewPositions {
            joints: &joints,
            layers: fit.layers,
            bones: fit.bones,
            muscles: fit.muscles,
        };
        Ok(Person {
            body: template.reshaped(name, shape).rounded(),
            eyes_and_tongue,
            measures,
            composition,
            scans,
            fit: fit.report,
        })
    }
}

/// Registers a scan and makes a layered person of it. `preparation` gives the prepared template of a sex.
pub fn person_of_scan<'a>(
    name: &str,
    scan: &Scan,
    options: &Options,
    given: &Given,
    regressors: &Regressors,
    preparation: impl FnOnce(Sex) -> Result<&'a PreparedTemplate, PersonError>,
) -> Result<Person, PersonError> {
    let mut clock = Clock::start();
    let registered = register(scan, options)?;
    let registration = ("registration", clock.lap());
    let preparation = preparation(registered.sex)?;
    let mut person = preparation.person(name, &registered, given, regressors)?;
    person.fit.seconds.insert(0, registration);
    Ok(person)
}

/// The skin and the joints of a registered body in a template's connectivity \[m\].
pub fn skin_of(body: &Body, registered: &Registered) -> (Vec<Vec3>, Vec<Vec3>) {
    let vertices = &registered.rest_vertices;
    let skin = (body.file_vertices.iter())
        .map(|&v| vertices.get(v as usize).map_or(Vec3::NAN, |p| p.as_vec3()))
        .collect();
    let joints = registered.rest_joints.iter().map(|p| p.as_vec3()).collect();
    (skin, joints)
}

/// What is known, with a percentage of fat as a mass.
fn known(sex: Sex, given: &Given, measures: &Measures) -> Known {
    let fat_mass = given.fat.map(|fat| match fat {
        GivenFat::Mass(mass) => mass,
        GivenFat::Percent(percent) => {
            let weight = given.weight.unwrap_or_else(|| {
                let height = given.height.unwrap_or(measures.height);
                let air = air_litres(sex, height, given.age.unwrap_or(40.0));
                weight_of_volume(1000.0 * measures.volume - air, |_| percent)
            });
            0.01 * percent * weight
        }
    });
    Known {
        sex,
        age: given.age,
        height: given.height,
        weight: given.weight,
        fat_mass,
        muscle_mass: given.muscle_mass,
    }
}

/// Shells of the body model that the template's skin does not hold.
fn eyes_and_tongue(body: &Body, registered: &Registered) -> EyesAndTongue {
    let model = registered.model();
    let mut is_skin = vec![false; model.vertex_count()];
    for &v in &body.file_vertices {
        if let Some(mark) = is_skin.get_mut(v as usize) {
            *mark = true;
        }
    }
    let mut place = vec![u32::MAX; model.vertex_count()];
    let mut found = EyesAndTongue::default();
    for triangle in &model.triangles {
        if triangle.iter().any(|&v| is_skin[v as usize]) {
            continue;
        }
        found.mesh.triangles.push(triangle.map(|v| {
            let slot = &mut place[v as usize];
            if *slot == u32::MAX {
                *slot = found.mesh.positions.len() as u32;
                let at = registered.rest_vertices[v as usize];
                found.mesh.positions.push(at.as_vec3());
                let weights = model.weights[v as usize].iter();
                let weights = weights.filter(|(_, weight)| *weight > 0.0);
                let weights = weights.map(|&(joint, weight)| (u32::from(joint), weight));
                found.influences.push(weights.collect());
            }
            *slot
        }));
    }
    found
}
