// A row's sum of contact forces, in units.

@group(0) @binding(8) var<storage, read> sums: array<vec4<i32>>;

fn contact_force(at: u32) -> vec3<f32> {
    return vec3<f32>(sums[at].xyz) * P.contact_unit;
}
