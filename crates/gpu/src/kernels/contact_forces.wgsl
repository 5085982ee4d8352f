// One update of all contact forces: corrects the violation, projected to the friction cone (Coulomb).
//
// All contacts change at once (Jacobi). Each divides its violation by the sum of absolute entries of its row of C A⁻¹
// Cᵀ over the contacts that press. This diagonal majorises the matrix, so that even pressure is found at once and
// relaxation factors below 2 converge. The tissue responds to the change of forces before the next iteration.

@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
// In w: compliance with all contacts that press, triangle, compliance alone. Contacts with colliders hold their
// friction in place of the weights.
@group(0) @binding(2) var<storage, read_write> contacts: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> contact_rows: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> sums: array<atomic<i32>>;

fn add(row: u32, change: vec3<i32>) {
    for (var k = 0u; k < 3u; k++) {
        if (change[k] != 0) {
            atomicAdd(&sums[row + k], change[k]);
            atomicAdd(&sums[row + 4u + k], change[k]);
        }
    }
}

@compute @workgroup_size(64)
fn contact_forces(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= C.entries) {
        return;
    }
    let body = id.y;
    let own = 3u * (body * C.entries + id.x);
    let second = contacts[own + 1u];
    if (bitcast<u32>(second.w) == NONE) {
        return;
    }
    let first = contacts[own];
    let third = contacts[own + 2u];
    let constant = contact_rows[own + 1u];
    let before = contact_rows[own + 2u];
    let places = bitcast<vec4<u32>>(contact_rows[own]);
    let c = coefficients(second.xyz);
    var apart = constant.xyz;
    for (var k = 0u; k < 4u; k++) {
        if (places[k] != NONE) {
            apart += positions[body * C.vertices + places[k]].xyz * c[k];
        }
    }
    let n = first.xyz;
    let compliance = third.w;
    let pressed = dot(third.xyz, n);
    let missing = constant.w - dot(apart, n) - SOFTNESS * compliance * pressed;
    let per_metre = JACOBI_RELAXATION / (first.w + SOFTNESS * compliance);
    let normal = clamp(pressed + missing * per_metre, 0.0, before.w);
    let drift = apart - before.xyz;
    let slip = drift - n * dot(drift, n);
    var tangential = third.xyz - n * pressed - slip * per_metre;
    let most = select(C.friction, second.x, id.x >= C.points) * normal;
    let length = length(tangential);
    if (length > most) {
        tangential *= most / max(length, 1e-30);
    }
    let force = n * normal + tangential;
    contacts[own + 2u] = vec4(force, compliance);
    for (var k = 0u; k < 4u; k++) {
        if (places[k] != NONE) {
            add(8u * (body * C.rows + places[k]), units(force * c[k]) - units(third.xyz * c[k]));
        }
    }
}
