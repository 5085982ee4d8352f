//! A crowd on the GPU compared to the same body on the CPU.

use std::path::Path;
use std::sync::Arc;

use glam::Vec3;
use supple::crowd::Crowd;
use supple::embedded::{self, Body};
use supple::flesh::settings::Resolution;
use supple::flesh::{Flesh, Settings};
use supple::gpu::{Gpu, GpuBackend, Options};
use supple::sim::contact::{Source, measure_penetration};
use supple::sim::{Backend, ContactMode, CpuBackend, State};
use supple::{Character, Clip, Pose};
use supple_lab::bench::detail::full_male;

/// The device, or `None` with a printed reason; a failure if `SUPPLE_REQUIRE_GPU` is set.
fn device() -> Option<Arc<Gpu>> {
    match Gpu::open(Options::default()) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            assert!(
                std::env::var_os("SUPPLE_REQUIRE_GPU").is_none(),
                "SUPPLE_REQUIRE_GPU is set: {error}"
            );
            println!("skipped: {error}");
            None
        }
    }
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

fn vectors(rows: &[[f32; 4]]) -> Vec<Vec3> {
    rows.iter()
        .map(|&[x, y, z, _]| Vec3::new(x, y, z))
        .collect()
}

/// A coarse body, so that a software driver is fast enough.
fn coarse(which: Body) -> (Character, Arc<Flesh>) {
    let character = embedded::body(which).expect("embedded");
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(600);
    let builder = Flesh::builder(&character).settings(settings);
    let flesh = builder.build().expect("flesh");
    (character, Arc::new(flesh))
}

/// A clip's pose with twisted and stretched bones.
fn strange(character: &Character, clip: &Clip, time: f32) -> Pose {
    let mut pose = clip.sample(&character.skeleton, time);
    let count = character.skeleton.len();
    pose.twist = (0..count).map(|j| 0.9 * (j as f32).sin()).collect();
    pose.stretch = (0..count).map(|j| 1.0 + 0.2 * (j as f32).cos()).collect();
    pose
}

/// Fixed vertices, skin outside the model and full skin follow poses on the GPU as on the CPU: bones, half-rotated and sliding joints,
/// twist, stretch. Sines of a GPU may have errors of 2⁻¹¹, at radii of a tenth of a metre.
#[test]
fn targets_and_skin_are_the_processors() {
    let Some(gpu) = device() else { return };
    for (which, name) in [(Body::Male, "squat"), (Body::Female, "arms_crossed")] {
        let (character, flesh) = coarse(which);
        let clip = embedded::clip(name, &character).expect("clip");
        let settings = flesh.settings.solver_settings();
        let mut crowd = Crowd::of_flesh(&gpu, Arc::clone(&flesh), &settings, 2).expect("crowd");
        let mut state = State::at_rest(&flesh.model);
        let mut processor = CpuBackend::new();
        let poses = [
            flesh.rest_pose(),
            clip.sample(&character.skeleton, 0.3),
            clip.sample(&character.skeleton, 0.32),
            strange(&character, &clip, 0.33),
        ];
        for (k, pose) in poses.iter().enumerate() {
            crowd.set_pose(1, pose).expect("pose");
            crowd.step().expect("step");
            let targets = flesh.targets(pose).expect("targets");
            processor
                .step(&flesh.model, &settings, &targets, &mut state)
                .expect("step");
            let found = crowd
                .gpu_bodies()
                .request_targets(1)
                .wait()
                .expect("targets");
            let found = &vectors(&found)[..targets.fixed.len()];
            let apart = farthest(found, &targets.fixed);
            assert!(apart < 5e-5, "{which:?}, pose {k}: targets {apart} m");
        }
        let pose = &poses[3];
        let (positions, normals) = flesh.full_positions(pose, &state).expect("skin");
        let skin = crowd.request_skin(1).expect("skin").wait().expect("skin");
        let apart = farthest(&skin.positions, &positions);
        assert!(apart < 1e-3, "{which:?}: skin {apart} m");
        let worst = farthest(&skin.normals, &normals);
        assert!(worst < 0.05, "{which:?}: normals {worst}");
        // The other body stayed at rest.
        let rest = crowd
            .gpu_bodies()
            .request_targets(0)
            .wait()
            .expect("targets");
        let rest = &vectors(&rest)[..flesh.model.fixed_count()];
        assert!(farthest(rest, flesh.model.rest_fixed()) < 1e-6);
    }
}

/// Skin points of a body that are inside other parts.
fn inside(flesh: &Flesh, pose: &Pose, positions: &[Vec3]) -> usize {
    let surface = flesh.model.contact_surface().expect("a surface");
    let targets = flesh.targets(pose).expect("targets");
    let skin: Vec<Vec3> = (surface.input().sources.iter())
        .map(|source| match *source {
            Source::Vertex(v) => match positions.get(v as usize) {
                Some(position) => *position,
                None => targets.fixed[v as usize - positions.len()],
            },
            Source::Outside(i) => targets.outside[i as usize],
        })
        .collect();
    measure_penetration(surface, &skin).count()
}

/// Contact in a crowd works from poses alone, and agrees with a body whose targets are computed on the CPU. A body at rest is not affected.
#[test]
fn a_crowd_touches_itself() {
    let Some(gpu) = device() else { return };
    let (character, flesh) = coarse(Body::Male);
    let clip = embedded::clip("knee", &character).expect("clip");
    let mut settings = flesh.settings.solver_settings();
    let steps = 90;
    let pose = |step: usize| clip.sample(&character.skeleton, 0.95 * (step as f32 / 60.0).min(1.0));
    let mut played = Vec::new();
    for mode in [ContactMode::Off, ContactMode::Global] {
        settings.contact.mode = mode;
        let mut crowd = Crowd::of_flesh(&gpu, Arc::clone(&flesh), &settings, 2).expect("crowd");
        for step in 1..=steps {
            crowd.set_pose(1, &pose(step)).expect("pose");
            crowd.step().expect("step");
        }
        played.push([0, 1].map(|body| {
            let rows = crowd.gpu_bodies().request_positions(body).wait();
            let mut positions = vec![Vec3::ZERO; flesh.model.free_count()];
            (crowd.gpu_bodies()).unpack(&rows.expect("positions"), &mut positions);
            positions
        }));
    }
    let mut single = GpuBackend::new(gpu);
    let mut state = State::at_rest(&flesh.model);
    for step in 1..=steps {
        let targets = flesh.targets(&pose(step)).expect("targets");
        single
            .step(&flesh.model, &settings, &targets, &mut state)
            .expect("step");
    }
    assert!(!state.contact.contacts.is_empty());
    let [through, apart] =
        [&played[0][1], &played[1][1]].map(|positions| inside(&flesh, &pose(steps), positions));
    let pairs = state.positions.iter().zip(&played[1][1]);
    let squares: f32 = pairs.map(|(a, b)| a.distance_squared(*b)).sum();
    let differ = (squares / state.positions.len() as f32).sqrt();
    println!("{through} -> {apart} inside; {differ} m from a body with targets from the CPU");
    assert!(
        through > 10 && 10 * apart <= through,
        "{through} -> {apart}"
    );
    assert!(differ < 5e-4, "{differ} m");
    let still = farthest(&played[1][0], flesh.model.rest_free());
    assert!(still < 1e-5, "the other body moved by {still} m");
}

/// A crowd is one call, its skins are in the file's order with normals, and an invalid index is an error.
#[test]
fn a_crowd_is_one_call() {
    let Some(gpu) = device() else { return };
    let character = embedded::body(Body::Female).expect("embedded");
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(600);
    let builder = Crowd::builder(&character).settings(settings).gpu(&gpu);
    let mut crowd = builder.build(2).expect("crowd");
    assert_eq!(crowd.len(), 2);
    let pose = crowd.flesh().rest_pose();
    crowd.set_pose(1, &pose).expect("pose");
    crowd.step().expect("step");
    let parts = crowd.skin(1).expect("skin");
    assert_eq!(parts.len(), character.parts.len());
    for (part, of_file) in parts.iter().zip(&character.parts) {
        assert!(farthest(&part.positions, &of_file.mesh.positions) < 1e-3);
        assert!(farthest(&part.normals, &of_file.normals) < 0.02);
    }
    assert!(crowd.set_pose(2, &pose).is_err() && crowd.skin(2).is_err());
}

/// The papers' male with full skin and contact takes no more device memory than in the papers: 14 MB.
#[test]
fn the_male_of_the_papers_fits_into_their_memory() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/fps");
    let Some(male) = full_male(&models).expect("readable") else {
        assert!(
            std::env::var_os("CI").is_none(),
            "the models are required here"
        );
        println!("skipped: ../shared/data/fps is not here");
        return;
    };
    let Some(gpu) = device() else { return };
    let builder = Flesh::builder(&male.character).settings(male.settings);
    let flesh = Arc::new(builder.build().expect("flesh"));
    let settings = flesh.settings.solver_settings();
    let mut touching = settings.clone();
    touching.contact.mode = ContactMode::Global;
    let memory = |settings| {
        let crowd = Crowd::of_flesh(&gpu, Arc::clone(&flesh), settings, 1).expect("crowd");
        [crowd.gpu_bodies().memory(), crowd.gpu_skin().memory()]
    };
    let ([alone, _], [bodies, skin]) = (memory(&settings), memory(&touching));
    let told = format!(
        "tissue, pose and contact {bodies} (without contact {alone}), full skin {skin} bytes"
    );
    println!("{told}");
    assert!(flesh.full_mesh().positions.len() > 23_000);
    assert!(bodies > alone, "{told}");
    assert!(bodies + skin <= 14_000_000, "{told}");
}
