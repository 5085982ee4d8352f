// Variant with contact. Two vectors per row, in integer units: the sum of contact forces, and its last change, which is reset here
// because the response to it has been applied.

@group(0) @binding(8) var<storage, read_write> sums: array<vec4<i32>>;

fn contact_force(at: u32) -> vec3<f32> {
    sums[2u * at + 1u] = vec4<i32>(0);
    return vec3<f32>(sums[2u * at].xyz) * P.contact_unit;
}
