//! The facade: reports, normals, buffers, and one-call functions.

use glam::Vec3;
use supple::geom::TriMesh;
use supple::geom::normals::vertex_normals;
use supple::geom::weld::weld;
use supple::settings::Resolution;
use supple::sim::advance::MAX_STEPS;
use supple::{Character, ContactMode, Exporter, LoadOptions, Scene, Settings, SoftBody, Subject};

fn female() -> Subject {
    supple::load("@female").unwrap()
}

fn coarse() -> Settings {
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(600);
    settings
}

#[test]
fn a_frame_that_is_too_long_says_what_it_dropped() {
    let hero = female();
    let mut body = SoftBody::new(&hero, coarse()).unwrap();
    let pose = body.pose().clone();
    let step = body.solver_settings().step;
    let report = body.advance(&pose, 2.5 * step).unwrap();
    assert_eq!((report.steps, report.dropped), (2, 0.0));
    let report = body.advance(&pose, 0.5 * step).unwrap();
    assert_eq!(report.steps, 1, "the half step was kept");
    let long = f64::from(MAX_STEPS) + 5.0;
    let report = body.advance(&pose, long * step).unwrap();
    assert_eq!(report.steps, MAX_STEPS);
    assert!((report.dropped - 5.0 * step).abs() < 1e-9, "{report:?}");
    assert!(!report.jumped);
    let clip = supple::clip(&hero, "squat").unwrap();
    let mut far = clip.sample(&hero.skeleton, 0.0);
    far.locals[0].translation += Vec3::X * 10.0;
    assert!(body.advance(&far, step).unwrap().jumped);
}

/// Normals are the file's own at rest, and within a few degrees of those of the triangles in a pose.
#[test]
fn normals_are_those_of_the_mesh() {
    let hero = female();
    let mut body = SoftBody::new(&hero, Settings::default()).unwrap();
    let rest = body.skin()[0].clone();
    let part = &hero.parts[0];
    for (normal, own) in rest.normals.iter().zip(&part.normals) {
        assert!(normal.dot(own.normalize()) > 0.9999, "{normal} {own}");
    }
    let clip = supple::clip(&hero, "squat").unwrap();
    let pose = clip.sample(&hero.skeleton, 0.5 * clip.duration());
    body.place(&pose).unwrap();
    let posed = &body.skin()[0];
    let angles = |positions: &[Vec3], normals: &[Vec3]| {
        let welded = weld(&part.mesh, 0.0);
        let mut mesh = TriMesh {
            positions: vec![Vec3::ZERO; welded.mesh.positions.len()],
            triangles: welded.mesh.triangles,
        };
        for (v, &p) in positions.iter().enumerate() {
            mesh.positions[welded.welded_from_original[v] as usize] = p;
        }
        let smooth = vertex_normals(&mesh);
        let of = welded.welded_from_original.iter().zip(normals);
        let angles = of.map(|(&v, normal)| smooth[v as usize].angle_between(*normal));
        let mut angles: Vec<f32> = angles.map(f32::to_degrees).collect();
        angles.sort_by(f32::total_cmp);
        angles
    };
    let before = angles(&rest.positions, &rest.normals);
    let after = angles(&posed.positions, &posed.normals);
    let share = |list: &[f32], share: f32| list[(share * (list.len() - 1) as f32) as usize];
    // Normals of the file differ from those of the triangles at rest already; in creases of the squat by more.
    assert!(
        share(&after, 0.5) < share(&before, 0.5) + 2.0,
        "{}",
        share(&after, 0.5)
    );
    assert!(share(&after, 0.95) < 20.0, "{}", share(&after, 0.95));
    assert!(
        posed
            .normals
            .iter()
            .all(|n| (n.length() - 1.0).abs() < 1e-4)
    );
}

#[test]
fn a_body_keeps_its_buffers() {
    let hero = female();
    let mut body = SoftBody::new(&hero, coarse()).unwrap();
    let clip = supple::clip(&hero, "jump").unwrap();
    body.place(&clip.sample(&hero.skeleton, 0.0)).unwrap();
    let places = |body: &mut SoftBody| {
        let part = &body.skin()[0];
        (part.positions.as_ptr(), part.normals.as_ptr())
    };
    let first = places(&mut body);
    for frame in 1..4 {
        let pose = clip.sample(&hero.skeleton, frame as f32 / 60.0);
        body.advance(&pose, 1.0 / 60.0).unwrap();
        assert_eq!(places(&mut body), first);
    }
    let copy = body.positions();
    assert_eq!(body.skin()[0].positions, copy[0]);
}

#[test]
fn builders_have_defaults_and_keep_what_is_set() {
    let hero = female();
    let builder = SoftBody::builder(&hero).settings(coarse());
    let body = builder
        .contact(ContactMode::Local)
        .ground(-0.5)
        .build()
        .unwrap();
    let settings = &body.flesh().settings;
    assert_eq!(settings.contact.mode, ContactMode::Local);
    assert_eq!(settings.detail.resolution, Resolution::Vertices(600));
    assert_eq!(body.colliders().len(), 1);
    assert_eq!(body.backend_name(), "cpu");
    // The settings use local contact, so its pairs exist before the first step.
    let surface = body.flesh().model.contact_surface().unwrap();
    assert!(surface.local_pairs().is_some());
    let options = LoadOptions::new().metres_per_unit(0.01);
    assert_eq!(options.read.metres_per_unit, Some(0.01));
}

/// Pairs found when contact is switched on are the same as those found by the builder.
#[test]
fn local_pairs_found_later_are_the_same() {
    let hero = female();
    let play = |mut body: SoftBody| {
        body.set_contact(ContactMode::Local);
        let clip = supple::clip(&hero, "knee").unwrap();
        body.place(&clip.sample(&hero.skeleton, 0.5 * clip.duration()))
            .unwrap();
        body.positions()
    };
    let early = SoftBody::builder(&hero)
        .settings(coarse())
        .contact(ContactMode::Local);
    let late = SoftBody::builder(&hero).settings(coarse());
    assert_eq!(play(early.build().unwrap()), play(late.build().unwrap()));
}

#[test]
fn a_settled_pose_and_a_file_are_one_call_each() {
    let hero = female();
    let clip = supple::clip(&hero, "knee").unwrap();
    let skin = supple::settled(&hero, &clip.sample(&hero.skeleton, 0.3)).unwrap();
    assert_eq!(skin[0].positions.len(), hero.parts[0].mesh.positions.len());

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("knee.glb");
    let exporter = Exporter::new(&hero, &clip)
        .settings(coarse())
        .between(0.0, 0.2);
    let written = exporter.fps(10.0).write(&file).unwrap();
    assert_eq!(written.frames, 3);
    assert!(written.bound_met && written.max_error_mm <= 1.0);
    assert_eq!(supple::load(&file).unwrap().clips.len(), 1);
    let unknown = supple::export(&hero, &clip, folder.path().join("knee.docx"));
    assert!(matches!(unknown, Err(supple::Error::Format(_))));
}

/// Two overlapping bodies of one character are pushed apart; their skins are in the buffers of the scene.
#[test]
fn a_scene_is_built_in_one_go() {
    let hero: Character = female().into_character();
    let place = |z| supple::standing_at(Vec3::new(0.0, 0.0, z), 0.0);
    let mut scene = Scene::builder()
        .body_with(&hero, coarse(), place(0.0))
        .body_with(&hero, coarse(), place(0.15))
        .ground(-0.01)
        .build()
        .unwrap();
    assert!(std::ptr::eq(scene.flesh(0), scene.flesh(1)), "built once");
    let rest = scene.flesh(0).rest_pose();
    let poses = [rest.clone(), rest];
    let report = scene.advance(&poses, 1.0 / 60.0).unwrap();
    assert_eq!(report.steps, 1);
    for body in 0..2 {
        let copy = scene.positions(body);
        let skin = scene.skin(body);
        assert_eq!(skin[0].positions, copy[0]);
        assert_eq!(skin[0].normals.len(), skin[0].positions.len());
    }
    assert!(scene.skin(2).is_empty());
}

#[test]
fn errors_keep_their_types() {
    let missing = supple::load("no/such/hero.glb");
    assert!(matches!(missing, Err(supple::Error::Format(_))));
    let hero = female();
    let clip = supple::clip(&hero, "no such clip").map_err(supple::Error::from);
    assert!(matches!(clip, Err(supple::Error::Clip(_))));
    let mut body = SoftBody::new(&hero, coarse()).unwrap();
    let short = supple::Pose::rest(&supple::Skeleton::default());
    let error = supple::Error::from(body.advance(&short, 0.1).unwrap_err());
    assert!(matches!(error, supple::Error::Tissue(_)), "{error}");
}
