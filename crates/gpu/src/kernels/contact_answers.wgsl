// Compliance of every contact's row, alone and together with all contacts that press around it, from the stored local
// inverses, whose rows are columns of A⁻¹.

@group(0) @binding(1) var<storage, read_write> contacts: array<vec4<f32>>;
// The last w holds the depth at rest, which is replaced by the largest normal force.
@group(0) @binding(2) var<storage, read_write> contact_rows: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<atomic<i32>>;
// As in patch_solve.wgsl; the inverse as words of two rows.
@group(0) @binding(4) var<storage, read> patches: array<u32>;
@group(0) @binding(5) var<storage, read> columns: array<u32>;
@group(0) @binding(6) var<storage, read> inverse: array<u32>;
@group(0) @binding(7) var<storage, read> code_units: array<f32>;

const CONTACTS: u32 = 8u;
const LANES: u32 = 32u;

var<workgroup> own_parts: array<f32, 256>;
var<workgroup> all_parts: array<f32, 256>;

@compute @workgroup_size(256)
fn contact_answers(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let body = group.y;
    let place = group.x * CONTACTS + l / LANES;
    let lane = l % LANES;
    let own = 3u * (body * C.entries + min(place, C.entries - 1u));
    let second = contacts[own + 1u];
    let touches = place < C.entries && bitcast<u32>(second.w) != NONE;
    let c = coefficients(second.xyz);
    let places = bitcast<vec4<u32>>(contact_rows[own]);
    // c A⁻¹ cᵀ, and |c| |A⁻¹| |C|ᵀ summed over the contacts that press.
    var alone = 0.0;
    var together = 0.0;
    if (touches) {
        for (var k = 0u; k < 4u; k++) {
            let own_row = places[k];
            if (own_row == NONE) {
                continue;
            }
            let words = own_row / 32u * 4u;
            let row = own_row % 32u;
            let first = patches[words];
            let count = patches[words + 1u];
            let coefficients_at = patches[words + 2u] + row / 2u;
            for (var column = lane; column < count; column += LANES) {
                let word = inverse[coefficients_at + 16u * column];
                let code = f32((word >> (16u * (row & 1u))) & 0xffffu) - 32768.0;
                let value = c[k] * code * abs(code) * code_units[own_row];
                let other = columns[first + column];
                let weight = f32(atomicLoad(&sums[8u * (body * C.rows + other) + 3u])) / COEFFICIENT_UNITS;
                together += abs(value) * weight;
                let same = select(vec4<f32>(0.0), c, places == vec4(other));
                alone += value * (same.x + same.y + same.z + same.w);
            }
        }
    }
    own_parts[l] = alone;
    all_parts[l] = together;
    workgroupBarrier();
    if (lane != 0u || !touches) {
        return;
    }
    alone = 0.0;
    together = 0.0;
    for (var k = l; k < l + LANES; k++) {
        alone += own_parts[k];
        together += all_parts[k];
    }
    if (!(alone > 0.0)) {
        contacts[own + 1u].w = bitcast<f32>(NONE);
        return;
    }
    let third = contacts[own + 2u];
    let force = third.xyz;
    let depth = contact_rows[own + 2u].w;
    contact_rows[own + 2u].w = min(min(MAX_PUSH * depth / alone, third.w), 0.5 * C.most * C.unit);
    contacts[own].w = max(together, alone);
    contacts[own + 2u].w = alone;
    for (var k = 0u; k < 4u; k++) {
        if (places[k] != NONE) {
            let f = units(force * c[k]);
            let row = 8u * (body * C.rows + places[k]);
            atomicAdd(&sums[row], f.x);
            atomicAdd(&sums[row + 1u], f.y);
            atomicAdd(&sums[row + 2u], f.z);
        }
    }
}
