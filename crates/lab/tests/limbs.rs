//! No limb folds in motion: sections across arms and legs keep most of their area.

use std::collections::BTreeMap;
use std::path::Path;

use glam::Vec3;
use supple::embedded::{self, Body};
use supple::flesh::settings::Resolution;
use supple::tissue::SoftBody;
use supple::{Character, Clip, Pose, clips};
use supple_lab::limbs::{Limb, limbs};

const FRAME: f64 = 1.0 / 60.0;
/// Least area of a section relative to rest.
const LEAST: f64 = 0.7;

/// Turn of a joint relative to its parent within one frame that no body can make: 3,600° a second. Motion capture has such
/// frames where markers were mistaken for each other (`05_06` turns a thigh by 179° in 1/120 s, three times). The leg is then
/// twisted by half a turn at the hip, and no skin keeps its sections.
const IMPOSSIBLE_TURN: f32 = 60.0 * std::f32::consts::PI / 180.0;
/// Frames after an impossible turn that are not judged: half a second.
const UNJUDGED: usize = 30;

/// A body with its limbs, and the smallest sections so far.
struct Trial {
    character: Character,
    body: SoftBody,
    limbs: Vec<Limb>,
    /// Smallest section of each limb, and the clip and time it was seen at.
    smallest: BTreeMap<String, (f64, String, f32)>,
}

impl Trial {
    fn new(which: Body, resolution: Resolution) -> Trial {
        let character = embedded::body(which).expect("a body");
        let mut settings = supple::flesh::Settings::default();
        settings.detail.resolution = resolution;
        let body = SoftBody::new(&character, settings).expect("tissue");

        Trial {
            body,
            limbs: limbs(&character).expect("a humanoid"),
            smallest: BTreeMap::new(),
            character,
        }
    }

    /// Plays the first seconds of a clip, on from whatever the body did before.
    fn play(&mut self, clip: &Clip, seconds: f32) {
        let frames = (f64::from(seconds) / FRAME) as usize;
        let (mut last, mut unjudged): (Option<Pose>, usize) = (None, 0);
        for frame in 0..=frames {
            let time = (frame as f64 * FRAME) as f32;
            let pose = clip.sample(&self.character.skeleton, time);
            self.body.advance(&pose, FRAME).expect("a frame");
            unjudged = unjudged.saturating_sub(1);
            if last.is_some_and(|last| largest_turn(&last, &pose) > IMPOSSIBLE_TURN) {
                unjudged = UNJUDGED;
            }
            last = Some(pose.clone());
            if unjudged > 0 {
                continue;
            }
            let skin: Vec<Vec3> = self.body.positions().concat();
            let worlds = pose.worlds(&self.character.skeleton);
            let joints: Vec<Vec3> = worlds
                .iter()
                .map(|world| world.translation.into())
                .collect();
            for limb in &self.limbs {
                let found = limb.smallest(&skin, &joints);
                let smallest = self.smallest.entry(limb.name.clone());
                let smallest = smallest.or_insert((f64::INFINITY, String::new(), 0.0));
                if found < smallest.0 {
                    *smallest = (found, clip.name.clone(), time);
                }
            }
        }
    }

    fn check(self) {
        println!("{:#?}", self.smallest);
        assert_eq!(self.smallest.len(), 8);
        let folded: Vec<_> = (self.smallest.iter())
            .filter(|limb| limb.1.0 < LEAST)
            .collect();
        assert!(folded.is_empty(), "{folded:#?}");
    }
}

/// Largest turn of a joint relative to its parent between two poses \[rad\].
fn largest_turn(from: &Pose, to: &Pose) -> f32 {
    let joints = from.locals.iter().zip(&to.locals);
    let turns = joints.map(|(a, b)| a.rotation.angle_between(b.rotation));
    turns.fold(0.0, f32::max)
}

fn clip(name: &str, character: &Character) -> Clip {
    let clip = embedded::clip(name, character).expect("a clip");
    Clip {
        name: name.to_owned(),
        ..clip
    }
}

/// All embedded clips, one after the other: poses jump between them.
fn embedded_clips(which: Body) {
    let mut trial = Trial::new(which, Resolution::Automatic);
    for name in embedded::clip_names() {
        let clip = clip(name, &trial.character);
        trial.play(&clip, clip.duration());
    }
    trial.check();
}

#[test]
fn no_limb_of_the_male_folds() {
    embedded_clips(Body::Male);
}

#[test]
fn no_limb_of_the_female_folds() {
    embedded_clips(Body::Female);
}

/// The fastest clip, with every vertex of the skin simulated.
#[test]
fn no_limb_folds_on_a_fine_mesh() {
    let mut trial = Trial::new(Body::Male, Resolution::Full);
    let shake = clip("shake", &trial.character);
    trial.play(&shake, 1.0);
    trial.check();
}

/// Clips are switched before their end, so that poses jump in the middle of fast motions.
#[test]
fn no_limb_folds_when_clips_are_switched() {
    let mut trial = Trial::new(Body::Female, Resolution::Vertices(1500));
    for seconds in [0.25, 0.55, 0.85] {
        for name in embedded::clip_names() {
            let clip = clip(name, &trial.character);
            trial.play(&clip, seconds);
        }
    }
    trial.check();
}

#[test]
fn no_limb_folds_in_motion_capture() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mocap");
    if !folder.is_dir() {
        assert!(std::env::var_os("CI").is_none(), "{folder:?} is required");
        println!("skipped: ../shared/data is not here");
        return;
    }
    for which in [Body::Male, Body::Female] {
        let mut trial = Trial::new(which, Resolution::Vertices(1500));
        for name in ["05_06", "09_01", "16_03"] {
            let file = folder.join(name).with_extension("bvh");
            let motion = clips::clip_from(&trial.character, file).expect("a motion");
            let motion = Clip {
                name: name.to_owned(),
                ..motion
            };
            trial.play(&motion, motion.duration());
        }
        trial.check();
    }
}
