// Variant without contact.

fn kept_share(row: u32, i: u32) -> f32 {
    return 1.0;
}
