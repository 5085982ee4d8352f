// The full skin from simulated vertices: positions and unit normals as weighted sums [3.2.4].

struct Params {
    samples: u32,
    skin: u32,
    neighbours: u32,
    vertices: u32,
    given: u32,
    // Entries that may have a weight for normals: the first.
    turned: u32,
}

@group(0) @binding(0) var<uniform> P: Params;
// Position and normal of each sample.
@group(0) @binding(1) var<storage, read> data: array<vec4<f32>>;
// Sections of P.skin entries: weight (bits); sample in the lower 16 bits, weight of the normal × 4096 in the upper.
@group(0) @binding(2) var<storage, read> entries: array<vec2<u32>>;
// A vertex's block of extras, or NONE.
@group(0) @binding(3) var<storage, read> extra_of: array<u32>;
// How much of the position the pose gives, and where (bits); weights of normals that are added to it [m].
@group(0) @binding(4) var<storage, read> extras: array<f32>;
// Positions of each body, then its normals.
@group(0) @binding(5) var<storage, read_write> skin: array<vec4<f32>>;
// Places that are not simulated.
@group(0) @binding(6) var<storage, read> given: array<vec4<f32>>;

const NONE: u32 = 0xffffffffu;

// An entry's share of the position.
fn place(entry: vec2<u32>, base: u32) -> vec4<f32> {
    return bitcast<f32>(entry.x) * data[2u * (base + (entry.y & 0xffffu))];
}

// The normal of its sample.
fn facing(entry: vec2<u32>, base: u32) -> vec4<f32> {
    return data[2u * (base + (entry.y & 0xffffu)) + 1u];
}

// Its share of the normal.
fn turn(entry: vec2<u32>, base: u32) -> vec4<f32> {
    return (f32(bitcast<i32>(entry.y) >> 16u) * (1.0 / 4096.0)) * facing(entry, base);
}

@compute @workgroup_size(64)
fn upsample(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= P.skin) {
        return;
    }
    let base = id.y * P.samples;
    let block = extra_of[id.x];
    let extra = block * (P.neighbours + 2u);
    var position = vec4<f32>(0.0);
    var normal = vec4<f32>(0.0);
    // Entries come in multiples of four, and all four are on their way before the first is needed.
    for (var k = 0u; k < P.neighbours; k += 4u) {
        let a = entries[k * P.skin + id.x];
        let b = entries[(k + 1u) * P.skin + id.x];
        let c = entries[(k + 2u) * P.skin + id.x];
        let d = entries[(k + 3u) * P.skin + id.x];
        position += place(a, base) + place(b, base) + place(c, base) + place(d, base);
        if (k < P.turned) {
            normal += turn(a, base) + turn(b, base) + turn(c, base) + turn(d, base);
        }
        if (block != NONE) {
            let w = extra + 2u + k;
            position += extras[w] * facing(a, base) + extras[w + 1u] * facing(b, base)
                + extras[w + 2u] * facing(c, base) + extras[w + 3u] * facing(d, base);
        }
    }
    if (block != NONE && extras[extra] > 0.0) {
        let there = given[id.y * P.given + bitcast<u32>(extras[extra + 1u])];
        position = mix(position, there, extras[extra]);
    }
    let out = id.y * 2u * P.skin + id.x;
    let square = dot(normal.xyz, normal.xyz);
    skin[out] = vec4(position.xyz, 0.0);
    skin[out + P.skin] = vec4(select(normal.xyz, normal.xyz * inverseSqrt(square), square > 1e-35), 0.0);
}
