//! Constants of the contact kernels: the processor's, those of the device alone, and the layout of its tables. They are
//! written in front of the kernels' source, so that no number is defined twice.

use supple_sim::contact::rules;

use crate::colliders::{RECORD, SLOTS};
use crate::contact_tables::{CLUSTER, EIGHTH, GIVEN, INDEX_BITS, TRIANGLE};

/// Relaxation factor of the forces. The processor sweeps from contact to contact with 0.8. Here all contacts change at
/// once, over a diagonal that majorises the matrix, and factors below 2 converge. At 1, folds of knees and hips lag
/// behind and tremble; from 1.5 on, crossed arms do.
pub const JACOBI_RELAXATION: f32 = 1.3;
/// Cosine between the normals at foot and point from which a contact's force may grow only slowly, the slower the more
/// the fold has turned. The processor ends such contacts ([`rules::TURNED_COSINE`]); here forces change all at once and
/// lag behind, and points would be released and caught again without end.
pub const GIVE_WAY_COSINE: f32 = 0.3;
/// Cosine from which the force shrinks.
pub const SHRINK_COSINE: f32 = 0.6;
/// Cosine at which the contact ends.
pub const TURNED_OVER_COSINE: f32 = 0.9;
/// Rate at which the force limit of such a contact changes, for a cosine of one \[1/s\]. From 30 on, points in the
/// groin of a squat stay inside.
pub const GIVE_WAY_RATE: f32 = 15.0;
/// Integer units of a coefficient of one, in sums over contacts.
pub const COEFFICIENT_UNITS: f32 = 65_536.0;
/// Marks a missing contact or row.
pub const NONE: u32 = u32::MAX;

/// WGSL declarations of all of them.
pub fn wgsl() -> String {
    let mut text = String::new();
    let mut float = |name: &str, value: f32| text += &format!("const {name}: f32 = {value:?};\n");
    macro_rules! floats {
        ($($from:ident::$name:ident)*) => { $(float(stringify!($name), $from::$name);)* };
        ($($name:ident)*) => { $(float(stringify!($name), $name);)* };
    }
    floats!(
        rules::FACING_COSINE rules::RAY_CHECK_DEPTH rules::FLAT_TET rules::TET_TOLERANCE
        rules::SLIDE_LENGTH rules::NEW_TRIANGLE_BLEND rules::TANGENTIAL_LIMIT
        rules::WRONG_SIDE_DEPTH rules::OUTSIDE_SHARE rules::SOFTNESS rules::MAX_PUSH rules::TRACED_DISTANCE
    );
    floats!(JACOBI_RELAXATION GIVE_WAY_COSINE SHRINK_COSINE TURNED_OVER_COSINE COEFFICIENT_UNITS);
    for (name, value) in [
        ("NONE", NONE),
        ("GIVEN", GIVEN),
        ("TRIANGLE", TRIANGLE),
        ("CLUSTER", CLUSTER as u32),
        ("EIGHTH", EIGHTH as u32),
        ("INDEX_BITS", INDEX_BITS),
        ("SLOTS", SLOTS as u32),
        ("COLLIDER", RECORD as u32),
        ("MAX_ADVANCES", rules::MAX_ADVANCES as u32),
    ] {
        text += &format!("const {name}: u32 = {value}u;\n");
    }
    text
}

#[cfg(test)]
mod tests {
    /// Numbers are written so that they parse to the same bits.
    #[test]
    fn numbers_are_exact() {
        let text = super::wgsl();
        let line = text.lines().find(|line| line.contains("FACING_COSINE"));
        assert_eq!(line, Some("const FACING_COSINE: f32 = 0.5;"));
        for line in text.lines().filter(|line| line.contains("f32")) {
            let value = line.rsplit(['=', ';']).nth(1).expect("a value");
            assert!(value.trim().parse::<f32>().is_ok(), "{line}");
        }
    }
}
