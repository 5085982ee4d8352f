//! Figures that are not people: they keep their bind pose, stay near linear blend skinning, and return to rest. Contact
//! leaves no more depth than none. The whole table is made by `--example guests`.

use supple_lab::guests::{Guest, Measure, made, motions};

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

#[test]
fn animals_bend() {
    for name in ["dog", "snake"] {
        let guest = measured(name, "bend");
        assert!(guest.complaints().is_empty(), "{:?}", guest.complaints());
    }
}
