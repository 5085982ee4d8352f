//! One person file gives one motion, whatever it is opened with: the facade, a scene, an export, the command line, the page.

#[allow(dead_code, reason = "other tests use the rest")]
mod common;

use std::path::Path;

use common::succeed;
use supple::anatomy::composition::{Known, Regressors, Tape, composition};
use supple::export::{Bake, write_motion};
use supple::glam::Vec3;
use supple::person::{Person, ScanFit, save_person};
use supple::play::simulate;
use supple::settings::Resolution;
use supple::skin::{Method, Span};
use supple::{ContactMode, Exporter, Scene, Settings, SoftBody, standing_at};
use supple_wasm::files::Reading;
use supple_wasm::stage::{Shown, Stage};

/// Frames per second, those of the solver's steps.
const FPS: f32 = 60.0;
/// The part of the clip that is played \[s\]: the landing of the jump.
const FROM: f32 = 0.5;
const TO: f32 = 0.7;

/// The embedded woman as a person.
fn write_woman(path: &Path) {
    let subject = supple::load_layered("@female").unwrap();
    let body = subject.body().unwrap().clone();
    let worlds = body.skeleton().rest_worlds();
    let joints: Vec<Vec3> = worlds.iter().map(|w| w.translation.into()).collect();
    let tape = Tape::new(&body.body).unwrap();
    let measures = tape.measures(&body.layers.skin, &joints);
    let known = Known::sex(body.sex());
    let person = Person {
        composition: composition(&measures, &known, Regressors::embedded()).unwrap(),
        eyes_and_tongue: Default::default(),
        scans: vec![ScanFit::default()],
        fit: Default::default(),
        measures,
        body,
    };
    save_person(path, &person).unwrap();
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(1500);
    // A scene has contact always.
    settings.contact.mode = ContactMode::Global;
    settings
}

/// Largest distance between two skins \[m\].
fn apart(one: &[Vec3], other: &[Vec3]) -> f32 {
    assert_eq!(one.len(), other.len());
    let pairs = one.iter().zip(other);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn every_door_gives_the_same_motion() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("woman.person");
    write_woman(&file);
    let hero = supple::load(&file).unwrap();
    assert!(hero.person().is_some() && hero.layers().is_some());
    let clip = supple::clip(&hero, "jump").unwrap();
    let span = Span {
        from: FROM,
        to: TO,
        fps: FPS,
    };

    let mut body = SoftBody::new(&hero, settings()).unwrap();
    assert!(body.flesh().report.layered > 100);
    let motion = simulate(&mut body, &hero, &clip, span, &mut |_| ()).unwrap();
    let own = folder.path().join("own.pc2");
    write_motion(&hero, &motion, Bake::Pc2, &own, &clip.name).unwrap();
    let wanted = std::fs::read(&own).unwrap();

    // The same skin without its layers moves otherwise.
    let mut plain = SoftBody::new(hero.character(), settings()).unwrap();
    let capsules = simulate(&mut plain, &hero, &clip, span, &mut |_| ()).unwrap();
    let last = motion.frames.len() - 1;
    let skin = motion.frames.get(last).concat();
    assert!(apart(&skin, &capsules.frames.get(last).concat()) > 2e-3);

    let exported = folder.path().join("exported.pc2");
    let exporter = Exporter::new(&hero, &clip).settings(settings());
    let exporter = exporter.fps(FPS).between(FROM, TO);
    exporter.write(&exported).unwrap();
    assert!(std::fs::read(&exported).unwrap() == wanted, "the exporter");

    let (from, to, fps) = (FROM.to_string(), TO.to_string(), FPS.to_string());
    let line = [
        &["skin", "woman.person", "--clip", "jump", "-o", "line.pc2"][..],
        &["--from", &from, "--to", &to, "--fps", &fps],
        &[
            "--resolution",
            "1500",
            "--contact",
            "global",
            "--backend",
            "cpu",
        ],
    ];
    succeed(folder.path(), &line.concat());
    let line = std::fs::read(folder.path().join("line.pc2")).unwrap();
    assert!(line == wanted, "the command line");

    let mut scene = Scene::builder()
        .body_with(&hero, settings(), standing_at(Vec3::ZERO, 0.0))
        .build()
        .unwrap();
    let times = span.times();
    let pose = |time: f32| clip.sample(&hero.skeleton, time);
    scene.place(&[pose(times[0])]).unwrap();
    for pair in times.windows(2) {
        let seconds = f64::from(pair[1] - pair[0]);
        scene.advance(&[pose(pair[1])], seconds).unwrap();
    }
    let off = apart(&scene.positions(0).concat(), &skin);
    assert!(off < 1e-4, "the scene is {off} m off");

    // The page carries a body to the first pose of a clip, and does not settle it.
    let bytes = std::fs::read(&file).unwrap();
    let files = [("woman.person".to_owned(), bytes)];
    let mut stage = Stage::from_files(&files, &Reading::default()).unwrap();
    stage.build(settings()).unwrap();
    let mut body = SoftBody::new(&hero, settings()).unwrap();
    body.carry(&pose(0.0)).unwrap();
    let step = 1.0 / FPS;
    for _ in 0..8 {
        stage.advance(step, step, false).unwrap();
        body.advance(&pose(stage.time()), f64::from(step)).unwrap();
    }
    let mut shown = Shown::default();
    stage.show(Method::Tissue, &mut shown, false).unwrap();
    let page: Vec<Vec3> = shown
        .positions
        .chunks_exact(3)
        .map(Vec3::from_slice)
        .collect();
    let off = apart(&page, &body.positions().concat());
    assert!(off < 1e-6, "the page is {off} m off");
}
