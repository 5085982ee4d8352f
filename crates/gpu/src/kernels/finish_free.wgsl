// Variant without contact.

fn kept_speed(row: u32, i: u32) -> f32 {
    return P.kept;
}
