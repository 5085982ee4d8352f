//! JavaScript bindings of the stage. Arrays that change every frame are read in place from WebAssembly memory by address and
//! length; everything else is passed as JSON or copied.

use supple::flesh::Settings;
use supple::glam::{Quat, Vec3};
use supple::skin::Method;
use wasm_bindgen::prelude::*;

use crate::anatomy::Anatomy;
use crate::hands::Ball;
use crate::page_inside::PageAnatomy;
use crate::stage::{Shown, Stage};
use crate::{files, rigging};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(text: &str);

    /// A callback for progress, from 0 to 1.
    pub type Progress;
    #[wasm_bindgen(method)]
    pub(crate) fn call(this: &Progress, this_argument: &JsValue, share: f32);
}

/// Prints panics on the console before the worker ends.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| console_error(&info.to_string())));
}

/// Files dropped together.
#[wasm_bindgen]
#[derive(Default)]
pub struct Files {
    files: Vec<files::File>,
}

#[wasm_bindgen]
impl Files {
    /// An empty list.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    pub fn add(&mut self, name: String, bytes: Vec<u8>) {
        self.files.push((name, bytes));
    }
}

/// A character on the page.
#[wasm_bindgen]
pub struct PageStage {
    stage: Stage,
    shown: [Shown; 2],
}

impl From<Stage> for PageStage {
    fn from(stage: Stage) -> Self {
        Self {
            stage,
            shown: Default::default(),
        }
    }
}

/// The default settings as TOML.
#[wasm_bindgen]
pub fn default_settings() -> Result<String, JsError> {
    Ok(Settings::default().to_toml()?)
}

/// Converts settings from TOML to JSON, for controls.
#[wasm_bindgen]
pub fn settings_from_toml(text: &str) -> Result<String, JsError> {
    Ok(serde_json::to_string(&Settings::from_toml(text)?)?)
}

/// Converts settings from JSON to TOML, as read by the command line.
#[wasm_bindgen]
pub fn settings_to_toml(json: &str) -> Result<String, JsError> {
    Ok(serde_json::from_str::<Settings>(json)?.to_toml()?)
}

fn vector(xyz: &[f32]) -> Vec3 {
    match xyz {
        &[x, y, z] => Vec3::new(x, y, z),
        _ => Vec3::NAN,
    }
}

fn method(number: u8) -> Method {
    match number {
        1 => Method::Lbs,
        2 => Method::Dqs,
        3 => Method::Cor,
        _ => Method::Tissue,
    }
}

#[wasm_bindgen]
impl PageStage {
    /// An embedded body: "male" or "female".
    pub fn embedded(name: &str) -> Result<PageStage, JsError> {
        Ok(Stage::embedded(name)?.into())
    }

    /// A character from dropped files; reading options as JSON.
    pub fn from_files(files: &Files, reading: &str) -> Result<PageStage, JsError> {
        let reading = serde_json::from_str(reading)?;
        Ok(Stage::from_files(&files.files, &reading)?.into())
    }

    /// Layers, muscles and bones, if the character is a layered person.
    pub fn anatomy(&self) -> Option<PageAnatomy> {
        Some(PageAnatomy::from(Anatomy::of_person(&self.stage)?))
    }

    /// Description of the character, as JSON.
    pub fn describe(&self) -> Result<String, JsError> {
        Ok(serde_json::to_string(&self.stage.describe())?)
    }

    /// Corners of all triangles.
    pub fn triangles(&self) -> Vec<u32> {
        self.stage.looks.triangles.concat()
    }

    /// Texture coordinates, two per vertex.
    pub fn uvs(&self) -> Vec<f32> {
        self.stage.looks.uvs.clone()
    }

    /// The encoded image of a material; empty without one.
    pub fn image(&self, material: usize) -> Vec<u8> {
        self.stage.image(material).unwrap_or_default().to_vec()
    }

    /// Builds the tissue with settings as JSON; returns a report as JSON.
    pub fn build(&mut self, settings: &str, progress: Progress) -> Result<String, JsError> {
        let report = move |share: f32| progress.call(&JsValue::NULL, share);
        self.stage
            .build_with(serde_json::from_str(settings)?, report)?;
        let Some(body) = &self.stage.body else {
            return Ok("null".to_owned());
        };
        let report = &body.flesh().report;
        Ok(serde_json::json!({
            "vertices": report.vertices,
            "tets": report.tets,
            "free": report.free,
            "bones": report.bones,
            "mass": report.mass,
        })
        .to_string())
    }

    /// Applies settings that need no rebuild: gravity, damping, iterations. Settings as JSON.
    pub fn tune(&mut self, settings: &str) -> Result<(), JsError> {
        let settings: Settings = serde_json::from_str(settings)?;
        if let Some(body) = &mut self.stage.body {
            *body.solver_settings() = settings.solver_settings();
        }
        self.stage.settings = settings;
        Ok(())
    }

    /// Gravity in any direction \[m/s²\].
    pub fn set_gravity(&mut self, x: f32, y: f32, z: f32) {
        if let Some(body) = &mut self.stage.body {
            body.solver_settings().gravity = Vec3::new(x, y, z);
        }
    }

    /// All shells (connected pieces) with their kinds, by number, as JSON: key, kind, reason, vertices, area. Empty before the
    /// tissue is built.
    pub fn shells(&self) -> Result<String, JsError> {
        Ok(serde_json::to_string(&self.stage.shells())?)
    }

    /// Number of the shell of every vertex; 4294967295 for vertices without triangles.
    pub fn shell_of_vertices(&self) -> Vec<u32> {
        self.stage.shell_of_vertices()
    }

    /// Sets the kind of a shell ("flesh", "cloth", "rigid", "hair", "skinned" or "automatic") and builds the tissue again; returns all
    /// settings as JSON.
    pub fn set_shell_kind(&mut self, shell: usize, kind: &str) -> Result<String, JsError> {
        self.stage.set_shell_kind(shell, kind)?;
        Ok(serde_json::to_string(&self.stage.settings)?)
    }

    /// The automatic radii, kinds of shells and mass of this character, as JSON.
    pub fn automatic_settings(&self) -> Result<String, JsError> {
        Ok(serde_json::to_string(&Settings::automatic(
            &self.stage.character,
        )?)?)
    }

    /// Chooses a clip; an index past the last chooses the rest pose.
    pub fn choose_clip(&mut self, clip: usize) -> Result<(), JsError> {
        Ok(self.stage.choose_clip(Some(clip))?)
    }

    /// Retargets the first file's motion to this character and plays it.
    pub fn add_motion(&mut self, files: &Files) -> Result<usize, JsError> {
        let file = files.files.first().ok_or_else(|| JsError::new("no file"))?;
        Ok(self.stage.add_motion(file)?)
    }

    /// Current time in the clip \[s\].
    pub fn time(&self) -> f32 {
        self.stage.time()
    }

    /// Sets the time in the clip \[s\].
    pub fn seek(&mut self, time: f32) {
        self.stage.seek(time);
    }

    /// Advances the simulation and the clip by the given times \[s\].
    pub fn advance(
        &mut self,
        seconds: f32,
        clip_seconds: f32,
        repeat: bool,
    ) -> Result<(), JsError> {
        Ok(self.stage.advance(seconds, clip_seconds, repeat)?)
    }

    /// Computes the skin with a method (0 tissue, 1 linear blend, 2 dual quaternions, 3 centres of rotation).
    pub fn show(&mut self, slot: usize, number: u8, strains: bool) -> Result<(), JsError> {
        if number != 0 {
            self.stage.bind_missing()?;
        }
        let shown = self
            .shown
            .get_mut(slot)
            .ok_or_else(|| JsError::new("slot must be 0 or 1"))?;
        Ok(self.stage.show(method(number), shown, strains)?)
    }

    /// Shows the first part with other positions at rest \[m\]; with none, as it is.
    pub fn set_shape(&mut self, positions: &[f32]) {
        self.stage.set_shape(positions);
    }

    /// Positions of the first part at rest \[m\].
    pub fn rest_skin(&self) -> Vec<f32> {
        let count = (self.stage.looks.parts.first()).map_or(0, |part| part.vertices);
        let rest = self.stage.looks.rest[..count].iter();
        rest.flat_map(|place| place.to_array()).collect()
    }

    /// Positions of all parts at rest \[m\].
    pub fn whole_skin(&self) -> Vec<f32> {
        let rest = self.stage.looks.rest.iter();
        rest.flat_map(|place| place.to_array()).collect()
    }

    /// Address of a slot's positions.
    pub fn positions(&self, slot: usize) -> *const f32 {
        self.shown[slot & 1].positions.as_ptr()
    }

    /// Address of a slot's normals.
    pub fn normals(&self, slot: usize) -> *const f32 {
        self.shown[slot & 1].normals.as_ptr()
    }

    /// Address of a slot's strains.
    pub fn strains(&self, slot: usize) -> *const f32 {
        self.shown[slot & 1].strains.as_ptr()
    }

    /// Number of vertices of all parts.
    pub fn vertex_count(&self) -> usize {
        self.stage.looks.len()
    }

    /// Volume relative to rest, smallest det F, inverted tets, top speed \[m/s\]: four numbers.
    pub fn quality(&self) -> Vec<f64> {
        let Some(body) = &self.stage.body else {
            return Vec::new();
        };
        let quality = body.quality();
        let kept = quality.volume / quality.rest_volume.max(f64::MIN_POSITIVE);
        vec![
            kept,
            quality.worst,
            quality.inverted as f64,
            f64::from(quality.top_speed),
        ]
    }

    /// World position of every joint.
    pub fn joints(&self) -> Vec<f32> {
        self.stage.joint_positions()
    }

    /// Transform of every joint from rest to now, 16 numbers each.
    pub fn joint_matrices(&self) -> Vec<f32> {
        self.stage.joint_matrices()
    }

    /// Volumetric bones: both ends and the radius.
    pub fn capsules(&self) -> Vec<f32> {
        self.stage.capsules()
    }

    /// Joint spheres: centre and radius.
    pub fn spheres(&self) -> Vec<f32> {
        self.stage.spheres()
    }

    /// Triangles of the bone surface.
    pub fn bone_surface_triangles(&self) -> Vec<u32> {
        self.stage.bone_surface_triangles()
    }

    /// Positions of the bone surface's vertices.
    pub fn bone_surface(&self) -> Vec<f32> {
        self.stage.bone_surface()
    }

    /// Edges of the tets.
    pub fn tet_edges(&self) -> Vec<u32> {
        self.stage.tet_edges()
    }

    /// Positions of the tets' vertices.
    pub fn tet_vertices(&self) -> Vec<f32> {
        self.stage.tet_vertices()
    }

    /// Drags a joint to a place \[m\]; its limb bends. The pose is kept.
    pub fn grab(&mut self, joint: usize, to: &[f32]) {
        self.stage.grab(joint, vector(to));
    }

    /// Turns a joint by a quaternion (x, y, z, w), relative to where it was when the hand took it. The pose is kept.
    pub fn turn(&mut self, joint: usize, rotation: &[f32]) {
        if let &[x, y, z, w] = rotation {
            self.stage.turn(joint, Quat::from_xyzw(x, y, z, w));
        }
    }

    /// The kept pose as numbers; empty if a clip is shown.
    pub fn kept_pose(&self) -> Vec<f32> {
        self.stage.kept_pose()
    }

    /// Keeps a pose; an empty list gives up the kept one.
    pub fn set_kept_pose(&mut self, pose: &[f32]) -> Result<(), JsError> {
        Ok(self.stage.set_kept_pose(pose)?)
    }

    /// Shows the rest pose, or (with false) the clip or kept pose again.
    pub fn rest(&mut self, resting: bool) {
        self.stage.rest(resting);
    }

    /// The body as it is shown, as "glb", "obj" or "pc2".
    pub fn still(&mut self, format: &str) -> Result<Vec<u8>, JsError> {
        Ok(self.stage.still(format)?)
    }

    /// Grabs the flesh at `from`, or (without one) moves the hand that holds it.
    pub fn pull(&mut self, from: Option<Vec<f32>>, to: &[f32]) {
        self.stage.pull(from.as_deref().map(vector), vector(to));
    }

    /// Places the ball.
    pub fn poke(&mut self, centre: &[f32], radius: f32) {
        let centre = vector(centre);
        self.stage.poke(Some(Ball { centre, radius }));
    }

    /// Sets a floor at a height \[m\], or (without one) removes it.
    pub fn set_ground(&mut self, height: Option<f32>) {
        self.stage.set_ground(height);
    }

    /// Sets the contact mode: "off", "local" or "global".
    pub fn set_contact(&mut self, mode: &str) -> Result<(), JsError> {
        Ok(self.stage.set_contact(mode)?)
    }

    /// Contacts of the skin: position and force, six numbers each.
    pub fn contacts(&self) -> Vec<f32> {
        self.stage.contacts()
    }

    /// Number of vertices inside other parts of the body, and the largest depth \[m\].
    pub fn inside(&self) -> Result<Vec<f32>, JsError> {
        let (count, worst) = self.stage.inside()?;
        Ok(vec![count as f32, worst])
    }

    /// Shakes the character with an amplitude \[m\].
    pub fn shake(&mut self, amplitude: &[f32]) {
        self.stage.shake(vector(amplitude));
    }

    /// Releases everything.
    pub fn release(&mut self) {
        self.stage.release();
    }

    /// The middle of the first stretch of a ray inside the flesh, if it hits any.
    pub fn middle(&self, origin: &[f32], direction: &[f32]) -> Option<Vec<f32>> {
        let middle = self.stage.middle(vector(origin), vector(direction))?;
        Some(middle.to_array().to_vec())
    }

    /// The joints at rest, as JSON.
    pub fn placed(&self) -> Result<String, JsError> {
        Ok(serde_json::to_string(&self.stage.placed())?)
    }

    /// A humanoid skeleton fitted into the body, as JSON. `markers` is JSON: positions by name (`chin`, `groin`, `wrist.L`, …),
    /// any of them. The error names the markers that are needed.
    pub fn fitted(&self, markers: &str) -> Result<String, JsError> {
        let markers = serde_json::from_str(markers)?;
        Ok(serde_json::to_string(&self.stage.fitted(&markers)?)?)
    }

    /// All markers and where to show them first, as JSON: positions by name.
    pub fn markers(&self) -> Result<String, JsError> {
        Ok(serde_json::to_string(&self.stage.markers())?)
    }

    /// A template skeleton, `humanoid` or `quadruped`, scaled to the body's box, as JSON.
    pub fn template(&self, kind: &str) -> Result<String, JsError> {
        Ok(serde_json::to_string(&self.stage.template(kind)?)?)
    }

    /// The same mesh with joints placed by hand, given as JSON.
    pub fn rigged(&self, placed: &str) -> Result<PageStage, JsError> {
        let placed: Vec<rigging::Placed> = serde_json::from_str(placed)?;
        Ok(self.stage.rigged(&placed)?.into())
    }

    /// The skeleton as `.skel`, in the units and axes of the mesh's file.
    pub fn skel(&self) -> Result<String, JsError> {
        Ok(self.stage.skel()?)
    }

    /// The character as GLB, without a new motion.
    pub fn glb(&self) -> Result<Vec<u8>, JsError> {
        Ok(self.stage.glb()?)
    }

    /// Simulates the current clip and writes it: "glb" (with correctives within the bound), "pc2" or "mdd" (point caches).
    pub fn bake(
        &mut self,
        format: &str,
        fps: f32,
        bound_mm: f32,
        progress: &Progress,
    ) -> Result<Vec<u8>, JsError> {
        let report = |share: f32| progress.call(&JsValue::NULL, share);
        Ok(self.stage.bake(format, fps, bound_mm, &report)?)
    }
}
