// A row's sum of contact forces, in units, and the last change of it, which has been answered.

@group(0) @binding(8) var<storage, read_write> sums: array<vec4<i32>>;

fn contact_force(at: u32) -> vec3<f32> {
    sums[2u * at + 1u] = vec4<i32>(0);
    return vec3<f32>(sums[2u * at].xyz) * P.contact_unit;
}
