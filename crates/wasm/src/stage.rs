//! One character on the page: its clips, time, tissue and interactions.

use serde::Serialize;
use supple::anatomy::person::{PersonInfo, person_info};
use supple::embedded::{self, Body};
use supple::flesh::Settings;
use supple::geom::Surface;
use supple::geom::tidy::turn_alike;
use supple::geom::weld::weld;
use supple::glam::Vec3;
use supple::morphs::add_morphs;
use supple::rig::character::{Problem, Severity};
use supple::rig::formats::ReadOptions;
use supple::rig::markers::Markers;
use supple::rig::retarget::{BoneMap, Humanoid};
use supple::rig::rigging::{fitted, is_bare, rest_mesh};
use supple::rig::skeleton::JointKind;
use supple::rig::skinning::{self, Skinner};
use supple::skin::{Method, bind_missing};
use supple::tissue::SoftBody;
use supple::{Character, Clip, Pose, Subject, clips, info};

use crate::error::StageError;
use crate::files::{File, Reading, read_character, read_layered};
use crate::hands::{Ball, Hands};
use crate::hints::remedy;
use crate::looks::{Looks, PartRange};
use crate::posing::Posing;
use crate::surroundings::Surroundings;

/// Sampling rate of retargeted motions \[frames/s\].
const RETARGET_FPS: f32 = 60.0;

/// Clip that is chosen for a humanoid without clips: the landing shows the soft tissue.
const FIRST_CLIP: &str = "jump";

/// A clip that can be chosen.
#[derive(Clone, Debug, Serialize)]
pub struct ClipEntry {
    /// Display name.
    pub name: String,
    /// Duration \[s\].
    pub seconds: f32,
    /// "file", "embedded" or "dropped".
    pub origin: &'static str,
    #[serde(skip)]
    clip: Option<Clip>,
}

/// A joint, for the page.
#[derive(Clone, Debug, Serialize)]
pub struct JointEntry {
    /// As the file has it.
    pub name: String,
    /// Index of its parent.
    pub parent: Option<usize>,
    /// Whether it moves skin.
    pub bone: bool,
}

/// A material, for the page.
#[derive(Clone, Debug, Serialize)]
pub struct MaterialEntry {
    /// As the file has it.
    pub name: String,
    /// Linear RGBA.
    pub color: [f32; 4],
    /// Whether [`Stage::image`] has an image.
    pub image: bool,
    /// Whether it is drawn from both sides.
    pub double_sided: bool,
}

/// Description of a character, for the page.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Content of the file.
    pub info: info::Info,
    /// Parts within the arrays.
    pub parts: Vec<PartRange>,
    /// All joints, parents first.
    pub joints: Vec<JointEntry>,
    /// All clips.
    pub clips: Vec<ClipEntry>,
    /// Index of the current clip.
    pub clip: Option<usize>,
    /// All materials.
    pub materials: Vec<MaterialEntry>,
    /// Smallest and largest coordinates at rest \[m\].
    pub bounds: [[f32; 3]; 2],
    /// Whether it is a humanoid, which can play embedded clips.
    pub humanoid: bool,
    /// Whether it has no skeleton: one must be built first.
    pub bare: bool,
    /// Whether the file has no skeleton, so that it may be a scan.
    pub scan: bool,
    /// The layered person, in numbers.
    pub person: Option<PersonInfo>,
    /// Whether some triangles are flipped, so that the skin must be drawn from both sides.
    pub two_sided: bool,
    /// Rotation of the character's forward direction about Y, from +Z \[rad\].
    pub facing: f32,
}

/// Posed arrays of one method.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Three numbers per vertex \[m\].
    pub positions: Vec<f32>,
    /// Three numbers per vertex.
    pub normals: Vec<f32>,
    /// One number per vertex, if requested.
    pub strains: Vec<f32>,
}

/// One character on the page.
pub struct Stage {
    /// With layers if it is a person.
    pub(crate) character: Subject,
    pub(crate) looks: Looks,
    pub(crate) body: Option<SoftBody>,
    pub(crate) pose: Pose,
    hands: Hands,
    pub(crate) posing: Posing,
    /// Whether the rest pose is shown instead of clip and kept pose.
    resting: bool,
    pub(crate) surroundings: Surroundings,
    pub(crate) settings: Settings,
    /// The mesh at rest, for rays.
    pub(crate) surface: std::cell::OnceCell<Surface>,
    clips: Vec<ClipEntry>,
    clip: Option<usize>,
    time: f32,
    height: f32,
    /// Whether the file has no skeleton.
    scan: bool,
    /// Displacements of the first part at rest, if another shape is shown \[m\].
    pub(crate) offsets: Vec<Vec3>,
}

impl Stage {
    /// An embedded body: "male" or "female".
    pub fn embedded(name: &str) -> Result<Self, StageError> {
        let which = if name == "female" {
            Body::Female
        } else {
            Body::Male
        };
        Self::new(embedded::body(which)?)
    }

    /// A character from dropped files. A person without a skeleton gets one.
    pub fn from_files(files: &[File], reading: &Reading) -> Result<Self, StageError> {
        if let Some(person) = read_layered(files)? {
            return Self::new(person);
        }
        let mut character = read_character(files, reading)?;
        let scan = is_bare(&character);
        if scan && let Ok(rigged) = fitted(&character, &Markers::default()) {
            character = rigged;
            bind_missing(&mut character, false)?;
            character.problems.push(Problem {
                severity: Severity::Note,
                remedy: None,
                place: String::new(),
                text: "The file has no skeleton. A humanoid skeleton was fitted.".to_owned(),
            });
        }
        if reading.auto_weights && !is_bare(&character) && !character.skeleton.is_empty() {
            bind_missing(&mut character, true)?;
        }
        let mut stage = Self::new(character)?;
        stage.scan = scan;
        Ok(stage)
    }

    /// A subject without tissue.
    pub fn new(subject: impl Into<Subject>) -> Result<Self, StageError> {
        let character = subject.into();
        if character.parts.is_empty() {
            let text = "the file has no mesh; to play a motion, drop it on a character that is already shown";
            return Err(StageError::Other(text.to_owned()));
        }
        let mut clips: Vec<ClipEntry> = (character.clips.iter().enumerate())
            .map(|(index, clip)| ClipEntry {
                name: if clip.name.is_empty() {
                    format!("clip {index}")
                } else {
                    clip.name.clone()
                },
                seconds: clip.duration(),
                origin: "file",
                clip: Some(clip.clone()),
            })
            .collect();
        if is_humanoid(&character) {
            for name in embedded::clip_names() {
                clips.push(ClipEntry {
                    name: name.to_owned(),
                    seconds: embedded::keyed_clip(name)?.duration,
                    origin: "embedded",
                    clip: None,
                });
            }
        }
        let mut stage = Self {
            looks: Looks::new(&character),
            pose: Pose::rest(&character.skeleton),
            height: character.height().max(1e-3),
            body: None,
            hands: Hands::default(),
            posing: Posing::default(),
            resting: false,
            surroundings: Surroundings::default(),
            settings: Settings::default(),
            surface: std::cell::OnceCell::new(),
            clip: None,
            time: 0.0,
            clips,
            character,
            scan: false,
            offsets: Vec::new(),
        };
        let opening = stage.clips.iter().position(|clip| clip.name == FIRST_CLIP);
        let first = if stage.character.clips.is_empty() {
            opening
        } else {
            Some(0)
        };
        stage.choose_clip(first)?;
        stage.pose = stage.clip_pose();
        Ok(stage)
    }

    /// Description of the character.
    pub fn describe(&self) -> Description {
        let joints = self.character.skeleton.joints();
        let bounds = self.character.bounds().unwrap_or_default();
        let ahead = self.character.facing() * Vec3::Z;
        let mut info = info::info(&self.character);
        for problem in &mut info.problems {
            problem.text.push_str(remedy(problem.remedy));
        }
        Description {
            info,
            parts: self.looks.parts.clone(),
            joints: joints
                .iter()
                .map(|joint| JointEntry {
                    name: joint.name.clone(),
                    parent: joint.parent,
                    bone: joint.kind == JointKind::Bone,
                })
                .collect(),
            clips: self.clips.clone(),
            clip: self.clip,
            materials: (self.character.materials.iter())
                .map(|material| MaterialEntry {
                    name: material.name.clone(),
                    color: material.base_color.to_array(),
                    image: material.base_color_image.is_some(),
                    double_sided: material.double_sided,
                })
                .collect(),
            bounds: [bounds.0.to_array(), bounds.1.to_array()],
            humanoid: is_humanoid(&self.character),
            bare: is_bare(&self.character),
            scan: self.scan,
            person: self.character.person().map(person_info),
            two_sided: has_flipped_triangles(&self.character),
            facing: ahead.x.atan2(ahead.z),
        }
    }

    /// The encoded image of a material.
    pub fn image(&self, material: usize) -> Option<&[u8]> {
        self.character
            .materials
            .get(material)?
            .base_color_image
            .as_deref()
    }

    /// Builds the tissue; if this fails, the old one is kept.
    pub fn build(&mut self, settings: Settings) -> Result<(), StageError> {
        self.build_with(settings, |_| ())
    }

    /// [`Stage::build`] with reports of the progress, from 0 to 1.
    pub fn build_with(
        &mut self,
        settings: Settings,
        progress: impl Fn(f32) + 'static,
    ) -> Result<(), StageError> {
        let builder = SoftBody::builder(&self.character)
            .settings(settings.clone())
            .progress(progress);
        let mut body = builder.build()?;
        body.carry(&self.pose)?;
        self.surroundings.settings = body.colliders().to_vec();
        self.settings = settings;
        self.body = Some(body);
        Ok(())
    }

    /// Chooses a clip, or (with `None`) the rest pose.
    pub fn choose_clip(&mut self, clip: Option<usize>) -> Result<(), StageError> {
        if let Some(entry) = clip.and_then(|index| self.clips.get_mut(index))
            && entry.clip.is_none()
        {
            entry.clip = Some(embedded::clip(&entry.name, &self.character)?);
        }
        self.clip = clip.filter(|&index| index < self.clips.len());
        self.time = 0.0;
        Ok(())
    }

    /// Retargets a motion from a file to this character and chooses it; returns its index.
    pub fn add_motion(&mut self, file: &File) -> Result<usize, StageError> {
        let nothing = |name: &str| {
            Err(supple::rig::formats::FormatError::Unsupported(format!(
                "it refers to the file `{name}`; drop a motion that is a single file"
            )))
        };
        let source =
            supple::rig::formats::load_bytes(&file.0, &file.1, &nothing, &ReadOptions::default())?;
        let clip =
            clips::from_character(&self.character, &source, Default::default(), RETARGET_FPS)?;
        self.clips.push(ClipEntry {
            name: source.name.clone(),
            seconds: clip.duration(),
            origin: "dropped",
            clip: Some(clip),
        });
        self.choose_clip(Some(self.clips.len() - 1))?;
        Ok(self.clips.len() - 1)
    }

    /// The current clip.
    pub fn current_clip(&self) -> Option<&Clip> {
        self.clips.get(self.clip?)?.clip.as_ref()
    }

    /// Current time in the clip \[s\].
    pub fn time(&self) -> f32 {
        self.time
    }

    /// Sets the time in the clip \[s\].
    pub fn seek(&mut self, time: f32) {
        self.time = time.max(0.0);
    }

    /// Height at rest \[m\].
    pub fn height(&self) -> f32 {
        self.height
    }

    /// Grabs the flesh at `from`, or (without one) moves the hand that holds it \[m\].
    pub fn pull(&mut self, from: Option<Vec3>, to: Vec3) {
        if let Some(body) = &self.body {
            self.hands.pull(body, self.height, from, to);
        }
    }

    /// Places the ball, or removes it.
    pub fn poke(&mut self, ball: Option<Ball>) {
        self.hands.poke(ball);
    }

    /// Shakes the character with an amplitude \[m\].
    pub fn shake(&mut self, amplitude: Vec3) {
        self.hands.shake(amplitude);
    }

    /// Releases everything. A kept pose stays.
    pub fn release(&mut self) {
        self.hands.release();
        self.posing.release();
    }

    /// Shows the rest pose, on which joints are placed, or (with false) the clip or kept pose again.
    pub fn rest(&mut self, resting: bool) {
        self.resting = resting;
    }

    /// The clip's pose at the current time.
    pub(crate) fn clip_pose(&self) -> Pose {
        match self.current_clip() {
            Some(clip) => clip.sample(&self.character.skeleton, self.time),
            None => Pose::rest(&self.character.skeleton),
        }
    }

    /// Advances the simulation by `seconds` and the clip by `clip_seconds`. At its end a clip repeats, or stays at the end.
    pub fn advance(
        &mut self,
        seconds: f32,
        clip_seconds: f32,
        repeat: bool,
    ) -> Result<(), StageError> {
        let end = self.current_clip().map_or(0.0, Clip::duration);
        if !self.resting && !self.posing.is_kept() {
            self.time += clip_seconds;
        }
        if self.time > end {
            self.time = if repeat && end > 0.0 {
                self.time % end
            } else {
                end
            };
        }
        let mut pose = if self.resting {
            Pose::rest(&self.character.skeleton)
        } else {
            let clip = self.clip_pose();
            self.posing.apply(clip, seconds)
        };
        self.hands.apply(&self.character, &mut pose, seconds);
        if let Some(body) = &mut self.body {
            self.hands.pull_flesh(body);
            body.set_colliders(self.surroundings.with(self.hands.ball()));
            if let Err(error) = body.advance(&pose, f64::from(seconds)) {
                // After a pull that made the tissue unstable, continue from the pose.
                body.set_forces(Vec::new());
                body.reset(&pose)?;
                return Err(error.into());
            }
        }
        self.pose = pose;
        Ok(())
    }

    /// Computes the current skin with a method. Before the tissue is built, linear blend skinning is used instead.
    pub fn show(
        &mut self,
        method: Method,
        shown: &mut Shown,
        strains: bool,
    ) -> Result<(), StageError> {
        shown.positions.clear();
        let mut write = |part: &[Vec3]| {
            shown
                .positions
                .extend(part.iter().flat_map(|position| position.to_array()));
        };
        match (&self.body, method) {
            (Some(body), Method::Tissue) => {
                let mut skin = body.positions();
                if let Some(clip) = self.current_clip() {
                    add_morphs(&self.character, clip, self.time, &self.pose, &mut skin);
                }
                skin.iter().for_each(|part| write(part));
            }
            _ => {
                let skinner = Skinner::new(&self.character, geometric(method));
                let worlds = self.pose.worlds(&self.character.skeleton);
                for (index, part) in self.character.parts.iter().enumerate() {
                    let weights = self
                        .current_clip()
                        .and_then(|c| c.sample_morphs(index, self.time));
                    let weights = weights.as_ref().unwrap_or(&part.morph_weights);
                    write(&skinner.skin(index, part, &worlds, weights).positions);
                }
            }
        }
        if !self.offsets.is_empty() {
            self.add_offsets(&mut shown.positions);
        }
        self.looks.normals(&shown.positions, &mut shown.normals);
        if strains {
            self.looks.strains(&shown.positions, &mut shown.strains);
        }
        Ok(())
    }

    /// Computes weights for parts without any; geometric methods and correctives need them.
    pub fn bind_missing(&mut self) -> Result<(), StageError> {
        if !self.character.skeleton.is_empty() {
            bind_missing(self.character.character_mut(), false)?;
        }
        Ok(())
    }
}

fn geometric(method: Method) -> skinning::Method {
    match method {
        Method::Dqs => skinning::Method::Dqs,
        Method::Cor => skinning::Method::Cor,
        _ => skinning::Method::Lbs,
    }
}

/// Whether the orientation of triangles is inconsistent, or all are inside out.
fn has_flipped_triangles(character: &Character) -> bool {
    let mut skin = weld(&rest_mesh(character), 0.0).mesh;
    turn_alike(&mut skin) > 0 || skin.signed_volume() < 0.0
}

fn is_humanoid(character: &Character) -> bool {
    Humanoid::find(&character.skeleton, &BoneMap::of(character)).is_ok()
}
