//! Constants of the contact kernels: those of the processor, those in which the device differs, and the layout of its tables. The
//! kernels get them as text before their own, so that no number stands in two places.

use supple_sim::contact::rules;

use crate::colliders::{RECORD, SLOTS};
use crate::contact_tables::{CLUSTER, EIGHTH, GIVEN, INDEX_BITS};

/// Share of a violation that one change of forces takes back. The processor's sweeps go on from contact to contact and take 0.8; here
/// all change at once, over a diagonal that majorises the matrix, and factors below 2 converge. At 1, folds of knees and hips lag behind and
/// tremble; from 1.5 on, crossed arms do.
pub const JACOBI_RELAXATION: f32 = 1.3;
/// Where the processor lets a contact go whose fold turns over ([`rules::TURNED_COSINE`]), here it gives way: forces that change all at
/// once lag behind, and points would be let go and caught again for ever. From this cosine on its force grows the slower the more it has
/// turned.
pub const GIVE_WAY_COSINE: f32 = 0.3;
/// From this cosine on its force shrinks.
pub const SHRINK_COSINE: f32 = 0.6;
/// At this cosine the contact ends.
pub const TURNED_OVER_COSINE: f32 = 0.9;
/// Rate at which the force of a contact that gives way changes, for a cosine of one \[1/s\]. From 30 on, points of a squat's groins stay
/// inside.
pub const GIVE_WAY_RATE: f32 = 15.0;
/// Units of a coefficient of one in sums over contacts.
pub const COEFFICIENT_UNITS: f32 = 65_536.0;
/// No contact, no row.
pub const NONE: u32 = u32::MAX;

/// Declarations of all of them.
pub fn wgsl() -> String {
    let mut text = String::new();
    let mut float = |name: &str, value: f32| text += &format!("const {name}: f32 = {value:?};\n");
    macro_rules! floats {
        ($($from:ident::$name:ident)*) => { $(float(stringify!($name), $from::$name);)* };
        ($($name:ident)*) => { $(float(stringify!($name), $name);)* };
    }
    floats!(
        rules::FACING_COSINE rules::RAY_CHECK_DEPTH rules::COLUMN_SHARE rules::FLAT_TET rules::TET_TOLERANCE
        rules::SLIDE_LENGTH rules::NEW_TRIANGLE_BLEND rules::BESIDE_LIMIT
        rules::WRONG_SIDE_DEPTH rules::OUTSIDE_SHARE rules::SOFTNESS rules::LARGEST_PUSH rules::FOLLOWED_WAY
    );
    floats!(JACOBI_RELAXATION GIVE_WAY_COSINE SHRINK_COSINE TURNED_OVER_COSINE COEFFICIENT_UNITS);
    for (name, value) in [
        ("NONE", NONE),
        ("GIVEN", GIVEN),
        ("CLUSTER", CLUSTER as u32),
        ("EIGHTH", EIGHTH as u32),
        ("INDEX_BITS", INDEX_BITS),
        ("SLOTS", SLOTS as u32),
        ("COLLIDER", RECORD as u32),
        ("ADVANCES", rules::ADVANCES as u32),
    ] {
        text += &format!("const {name}: u32 = {value}u;\n");
    }
    text
}

#[cfg(test)]
mod tests {
    /// Numbers are written so that they are read back as the same bits.
    #[test]
    fn numbers_are_exact() {
        let text = super::wgsl();
        let line = text.lines().find(|line| line.contains("COLUMN_SHARE"));
        assert_eq!(line, Some("const COLUMN_SHARE: f32 = 0.25;"));
        for line in text.lines().filter(|line| line.contains("f32")) {
            let value = line.rsplit(['=', ';']).nth(1).expect("a value");
            assert!(value.trim().parse::<f32>().is_ok(), "{line}");
        }
    }
}
