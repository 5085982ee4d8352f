// The full skin from simulated vertices: positions and unit normals as weighted sums [3.2.4].

struct Params {
    samples: u32,
    skin: u32,
    neighbours: u32,
    vertices: u32,
    given: u32,
}

@group(0) @binding(0) var<uniform> P: Params;
// Position and normal of each sample.
@group(0) @binding(1) var<storage, read> data: array<vec4<f32>>;
// Sections of P.skin entries: weight (bits); sample in the lower 16 bits, weight of the normal × 4096 in the upper.
@group(0) @binding(2) var<storage, read> entries: array<vec2<u32>>;
// Where a vertex's extra weights are, in units of P.neighbours, or NONE.
@group(0) @binding(3) var<storage, read> extra_of: array<u32>;
// Weights of normals that are added to positions [m].
@group(0) @binding(4) var<storage, read> extras: array<f32>;
// Positions of each body, then its normals.
@group(0) @binding(5) var<storage, read_write> skin: array<vec4<f32>>;

const NONE: u32 = 0xffffffffu;

@compute @workgroup_size(64)
fn upsample(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= P.skin) {
        return;
    }
    let base = id.y * P.samples;
    let extra = extra_of[id.x];
    var position = vec4<f32>(0.0);
    var normal = vec4<f32>(0.0);
    for (var k = 0u; k < P.neighbours; k++) {
        let entry = entries[k * P.skin + id.x];
        let at = 2u * (base + (entry.y & 0xffffu));
        let turn = data[at + 1u];
        position += bitcast<f32>(entry.x) * data[at];
        normal += (f32(bitcast<i32>(entry.y) >> 16u) * (1.0 / 4096.0)) * turn;
        if (extra != NONE) {
            position += extras[extra * P.neighbours + k] * turn;
        }
    }
    let out = id.y * 2u * P.skin + id.x;
    let square = dot(normal.xyz, normal.xyz);
    skin[out] = vec4(position.xyz, 0.0);
    skin[out + P.skin] = vec4(select(normal.xyz, normal.xyz * inverseSqrt(square), square > 1e-35), 0.0);
}
