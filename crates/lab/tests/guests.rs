//! Figures that are not people: they keep their bind pose, stay near linear blend skinning, and return to rest. Contact
//! leaves no more depth than none. The whole table is made by `--example guests`.

use std::time::Instant;

use supple::tissue::SoftBody;
use supple_flesh::Settings;
use supple_flesh::shells::shell_kinds::Kind;
use supple_lab::guests::{
    Guest, MAX_FROM_BLEND, MAX_LEFT, MAX_OUTSIDE, Measure, cord, made, motions,
};
use supple_rig::{Character, Pose};

/// Measures one motion of a made guest.
fn measured(name: &str, clip: &str) -> Guest {
    let character = made(name).expect("a guest");
    let mut clips = motions(&character);
    clips.retain(|known| known.name == clip);
    assert_eq!(clips.len(), 1, "{name} plays {clip}");
    let guest = (Measure::new(&character).expect("tissue"))
        .all(&clips)
        .expect("a motion");
    println!("{name}: {guest:?}");
    guest
}

#[test]
fn shells_on_a_body_are_not_pushed_away_from_it() {
    for name in ["skirt", "coat", "packed"] {
        let guest = measured(name, "squat");
        assert!(guest.shells > 1, "{guest:?}");
        assert!(guest.complaints().is_empty(), "{:?}", guest.complaints());
    }
}

#[test]
fn boxes_that_meet_at_the_joints_return() {
    let guest = measured("voxels", "arms_crossed");
    // Boxes with common corners are one shell: nineteen boxes are nine shells.
    assert!(guest.shells > 5, "{guest:?}");
    assert!(guest.complaints().is_empty(), "{:?}", guest.complaints());
}

#[test]
fn thick_arms_do_not_wind_the_belly_around_the_body() {
    let guest = measured("stout", "arms_crossed");
    assert!(
        guest.motions[0].off.depth > 0.01,
        "the arms touch: {guest:?}"
    );
    assert!(guest.complaints().is_empty(), "{:?}", guest.complaints());
}

/// Contact of figures that overlap themselves takes depth away, and neither flings skin away nor makes it jerk.
#[test]
fn contact_of_strangers_is_calm() {
    let names = [
        "barrel-2",
        "bighead-2",
        "shells-2",
        "hang-2",
        "mitts-2",
        "cloak-3",
    ];
    for name in names {
        let character = made(name).expect("a guest");
        let mut clips = motions(&character);
        clips.retain(|known| known.name == "arms_crossed");
        let mut measure = Measure::new(&character).expect("tissue").quickly();
        let guest = measure.all(&clips).expect("a motion");
        println!("{name}: {guest:?}");
        let (off, on) = (&guest.motions[0].off, &guest.motions[0].on);
        assert!(on.is_finite && on.jerk() < 1.0, "{name}: {}", on.jerk());
        assert!(on.from_blend < MAX_FROM_BLEND, "{name}: {on:?}");
        assert!(on.outside < MAX_OUTSIDE, "{name}: {on:?}");
        assert!(on.depth_sum < 0.1 * off.depth_sum, "{name}: {guest:?}");
    }
}

#[test]
fn animals_bend() {
    for name in ["dog", "snake"] {
        let guest = measured(name, "bend");
        assert!(guest.complaints().is_empty(), "{:?}", guest.complaints());
    }
}

/// Flesh of a large figure swings slowly, and the integrator hardly damps slow motion.
#[test]
fn flesh_of_a_giant_comes_to_rest_after_its_bones() {
    let character = made("giant").expect("a guest");
    let clips = motions(&character);
    let clip = clips
        .iter()
        .find(|clip| clip.name == "squat")
        .expect("a clip");
    let mut body = SoftBody::new(&character, Settings::default()).expect("tissue");
    let rest = body.flesh().rest_pose();
    let bind = body.positions().concat();
    let mut swing = |pose: &Pose, frames: usize| {
        let mut farthest = 0.0_f32;
        for _ in 0..frames {
            body.advance(pose, 1.0 / 60.0).expect("a frame");
            let now = body.positions().concat();
            let far = now.iter().zip(&bind).map(|(a, b)| a.distance(*b));
            farthest = far.fold(farthest, f32::max);
        }
        farthest / character.height()
    };
    for frame in 0..72 {
        swing(&clip.sample(&character.skeleton, frame as f32 / 60.0), 1);
    }
    let low = clip.sample(&character.skeleton, 1.2);
    for frame in 1..=30 {
        swing(&low.blend(&rest, frame as f32 / 30.0), 1);
    }
    swing(&rest, 30);
    let early = swing(&rest, 30);
    swing(&rest, 60);
    let late = swing(&rest, 30);
    println!("{early} of the height in the first second, {late} after two");
    assert!(early > MAX_LEFT, "it swings: {early}");
    assert!(late < 0.5 * MAX_LEFT, "{late}");
}

/// Meshes and skeletons as exporters leave them. A mesh whose vertices are not joined moves like one whose vertices are.
#[test]
fn odd_files_move_like_tidy_ones() {
    let plain = measured("coarse", "squat");
    for name in ["unwelded", "mirrored", "hundredfold"] {
        let guest = measured(name, "squat");
        assert!(guest.complaints().is_empty(), "{:?}", guest.complaints());
        let [a, b] = [&plain, &guest].map(|guest| guest.motions[0].off.from_blend);
        assert!((a - b).abs() < 0.2 * a, "{name}: {a}, {b}");
    }
    let guest = measured("fins", "squat");
    assert!(guest.complaints().is_empty(), "{:?}", guest.complaints());
}

/// The work grows with the vertices, not with the square of the parts: three hundred small shells are built faster than one
/// shell of three times their vertices, whether they are flesh or not. All are timed in one run, so a busy machine slows all.
#[test]
fn many_small_parts_are_built_faster_than_a_large_one() {
    let (beads, cord) = (made("beads").expect("a guest"), cord());
    let count = |character: &Character| -> usize {
        let parts = character.parts.iter();
        parts.map(|part| part.mesh.positions.len()).sum()
    };
    assert!(
        count(&cord) > 3 * count(&beads),
        "{} vertices",
        count(&cord)
    );
    let seconds = |character: &Character, settings: &Settings| {
        let begin = Instant::now();
        let body = SoftBody::new(character, settings.clone()).expect("tissue");
        (
            begin.elapsed().as_secs_f64(),
            body.flesh().report.shells.len(),
        )
    };
    let mut all_flesh = Settings::default();
    all_flesh.shells.insert("*".to_owned(), Kind::Flesh);
    let (small, shells) = seconds(&beads, &Settings::default());
    assert_eq!(shells, 300);
    let (flesh, _) = seconds(&beads, &all_flesh);
    let (large, _) = seconds(&cord, &Settings::default());
    println!("{small} s, {flesh} s as flesh, {large} s for the large one");
    assert!(small < large && flesh < large, "{small}, {flesh}, {large}");
}
