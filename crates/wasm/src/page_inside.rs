//! JavaScript bindings of what is inside a body: layers to draw, people found in scans, and growth.

use std::cell::RefCell;

use supple::anatomy::Sex;
use wasm_bindgen::prelude::*;

use crate::anatomy::{Anatomy, Arrays, Layer};
use crate::growth;
use crate::page::Progress;
use crate::person::{self, FoundBody};

/// A layered body on the page.
#[wasm_bindgen]
pub struct PageAnatomy {
    anatomy: Anatomy,
    arrays: Arrays,
}

impl From<Anatomy> for PageAnatomy {
    fn from(anatomy: Anatomy) -> Self {
        Self {
            anatomy,
            arrays: Arrays::default(),
        }
    }
}

#[wasm_bindgen]
impl PageAnatomy {
    /// From the bytes of a template file.
    pub fn read(bytes: &[u8]) -> Result<PageAnatomy, JsError> {
        Ok(Anatomy::read(bytes)?.into())
    }

    /// Names of joints, bones and muscles, as JSON.
    pub fn describe(&self) -> Result<String, JsError> {
        Ok(serde_json::to_string(&self.anatomy.describe())?)
    }

    /// Makes the arrays of a layer: "muscleSurface", "skeletonSurface", "muscles" or "bones".
    pub fn make(&mut self, layer: &str) -> Result<(), JsError> {
        let layer = Layer::named(layer).ok_or_else(|| JsError::new("no such layer"))?;
        self.arrays = self.anatomy.arrays(layer);
        Ok(())
    }

    /// Positions of the layer made last; so are the others.
    pub fn positions(&mut self) -> Vec<f32> {
        std::mem::take(&mut self.arrays.positions)
    }

    /// Normals.
    pub fn normals(&mut self) -> Vec<f32> {
        std::mem::take(&mut self.arrays.normals)
    }

    /// Corners of the triangles.
    pub fn triangles(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.arrays.triangles)
    }

    /// Four joints a vertex.
    pub fn joints(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.arrays.joints)
    }

    /// Four weights a vertex.
    pub fn weights(&mut self) -> Vec<f32> {
        std::mem::take(&mut self.arrays.weights)
    }

    /// The part of each vertex.
    pub fn parts(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.arrays.parts)
    }

    /// How much of each vertex is tendon.
    pub fn tendon(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.arrays.tendon)
    }
}

/// A scan in which a body was found.
#[wasm_bindgen]
pub struct PageScan {
    found: FoundBody,
}

#[wasm_bindgen]
impl PageScan {
    /// Finds the body in a scan; what is known as JSON.
    pub fn find(
        name: &str,
        bytes: &[u8],
        known: &str,
        progress: Progress,
    ) -> Result<PageScan, JsError> {
        let known = serde_json::from_str(known)?;
        let found = reporting(progress, || FoundBody::find(name, bytes, &known, &report))?;
        Ok(Self { found })
    }

    /// "male" or "female".
    pub fn sex(&self) -> String {
        sex_name(self.found.sex()).to_owned()
    }

    /// The bytes of a person file, made with the template of its sex.
    pub fn person(
        &self,
        template: &[u8],
        known: &str,
        progress: Progress,
    ) -> Result<Vec<u8>, JsError> {
        let known = serde_json::from_str(known)?;
        let task = || self.found.person(template, &known, &report);
        Ok(reporting(progress, task)?)
    }
}

thread_local! {
    /// Who hears of the task that runs. There is one thread, and the libraries want a function that any may call.
    static LISTENER: RefCell<Option<Progress>> = const { RefCell::new(None) };
}

/// Runs a task whose progress is reported to a listener.
fn reporting<T>(listener: Progress, task: impl FnOnce() -> T) -> T {
    LISTENER.replace(Some(listener));
    let result = task();
    LISTENER.replace(None);
    result
}

fn report(share: f64) {
    LISTENER.with_borrow(|listener| {
        if let Some(listener) = listener {
            listener.call(&JsValue::NULL, share as f32);
        }
    });
}

/// Takes the bytes of a body space ("male" or "female") and of its rig.
#[wasm_bindgen]
pub fn provide_space(sex: &str, space: &[u8], rig: &[u8]) -> Result<(), JsError> {
    Ok(person::provide(sex_named(sex), space, rig)?)
}

/// A person file again with other numbers given.
#[wasm_bindgen]
pub fn refitted_person(
    person: &[u8],
    template: &[u8],
    known: &str,
    progress: Progress,
) -> Result<Vec<u8>, JsError> {
    let known = serde_json::from_str(known)?;
    let task = || person::refitted(person, template, &known, &report);
    Ok(reporting(progress, task)?)
}

/// Shapes of a person that gains and loses in a region.
#[wasm_bindgen]
pub struct PageShapes {
    shapes: growth::Shapes,
}

#[wasm_bindgen]
impl PageShapes {
    /// Makes them of a person file; the region is "legs", "belly", "chest", "arms", or empty for the whole body.
    pub fn make(person: &[u8], region: &str, progress: Progress) -> Result<PageShapes, JsError> {
        let shapes = reporting(progress, || growth::shapes(person, region, &report))?;
        Ok(Self { shapes })
    }

    /// Fat of the first shapes \[kg\].
    pub fn fat(&self) -> Vec<f64> {
        self.shapes.fat.clone()
    }

    /// Muscle of the others \[kg\].
    pub fn muscle(&self) -> Vec<f64> {
        self.shapes.muscle.clone()
    }

    /// Displacements of the skin, shape by shape \[m\].
    pub fn offsets(&mut self) -> Vec<f32> {
        std::mem::take(&mut self.shapes.offsets)
    }
}

/// A person file after changes, given as JSON.
#[wasm_bindgen]
pub fn grown_file(person: &[u8], changes: &str, progress: Progress) -> Result<Vec<u8>, JsError> {
    let changes: Vec<growth::Change> = serde_json::from_str(changes)?;
    let task = || growth::grown_file(person, &changes, &report);
    Ok(reporting(progress, task)?)
}

fn sex_name(sex: Sex) -> &'static str {
    match sex {
        Sex::Male => "male",
        Sex::Female => "female",
    }
}

fn sex_named(name: &str) -> Sex {
    match name {
        "female" => Sex::Female,
        _ => Sex::Male,
    }
}
