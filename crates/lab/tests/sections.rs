//! Muscle and bone of the embedded man beside BodyParts3D, limb by limb.

#[path = "../examples/sections.rs"]
#[allow(dead_code, reason = "the example prints what is tested here")]
mod sections;

use std::path::Path;

use supple_anatomy::template::load_template;
use supple_anatomy::template::places::segments::Segment;

#[test]
fn thigh_and_calf_are_as_thick_as_those_of_bodyparts3d() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = here.join("../../../shared/data/anatomy");
    if !folder.exists() {
        let required = std::env::var_os("SUPPLE_REQUIRE_DATA").is_some();
        assert!(!required, "{} is missing", folder.display());
        println!("skipped: {} is missing", folder.display());
        return;
    }
    let man = load_template(&here.join("../supple/assets/male.template")).unwrap();
    let found = sections::comparison(&man, &folder).unwrap();
    for compared in &found {
        let segment = compared.segment;
        // Most of a leg's segment is not its joints. Planes across the raised arm meet the shoulder blade far down.
        let is_leg = matches!(segment, Segment::Thigh | Segment::Shank);
        let joints = compared.is_joint.iter().filter(|j| **j).count();
        assert!(!is_leg || joints <= 6, "{segment:?}: {joints}");
        let limit = match segment {
            Segment::Thigh | Segment::Shank => 0.2,
            Segment::Arm | Segment::Forearm => 0.4,
            Segment::Trunk => 0.6,
        };
        for (place, [ours, theirs]) in compared.areas.iter().enumerate() {
            let off = ours / theirs - 1.0;
            let is_joint = compared.is_joint[place] && (is_leg || !(2..19).contains(&place));
            assert!(
                is_joint || off.abs() <= limit,
                "{segment:?} at {place}: {ours:.1} against {theirs:.1} cm²"
            );
        }
    }
}
