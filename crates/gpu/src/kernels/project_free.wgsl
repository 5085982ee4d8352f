// Variant without contact.

fn contact_force(at: u32) -> vec3<f32> {
    return vec3<f32>(0.0);
}
