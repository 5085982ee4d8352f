// The full skin from simulated vertices: positions and unit normals as weighted sums [3.2.4].

struct Params {
    samples: u32,
    skin: u32,
    neighbours: u32,
    vertices: u32,
    given: u32,
    // Number of leading entries that may have a weight for normals.
    normal_entries: u32,
}

@group(0) @binding(0) var<uniform> P: Params;
// Position and normal of each sample.
@group(0) @binding(1) var<storage, read> data: array<vec4<f32>>;
// Sections of P.skin entries: sample in the lower 16 bits, weight in units of the vertex in the upper.
@group(0) @binding(2) var<storage, read> entries: array<u32>;
// Exponent of a vertex's unit in the upper 8 bits; its block of extras, or NONE.
@group(0) @binding(3) var<storage, read> extra_of: array<u32>;
// Blend factor and index (bits) of a given position; weights of normals that are added to the position [m].
@group(0) @binding(4) var<storage, read> extras: array<f32>;
// Position (bits) and normal of each vertex.
@group(0) @binding(5) var<storage, read_write> skin: array<vec4<u32>>;
// Given positions.
@group(0) @binding(6) var<storage, read> given: array<vec4<f32>>;
// Sections of P.skin: weights for normals of two entries, × 4096.
@group(0) @binding(7) var<storage, read> normal_weights: array<u32>;

const NONE: u32 = 0xffffffu;

// Contribution of an entry to the position, in units.
fn position_part(entry: u32, base: u32) -> vec4<f32> {
    return f32(bitcast<i32>(entry) >> 16u) * data[2u * (base + (entry & 0xffffu))];
}

// Normal of an entry's sample.
fn sample_normal(entry: u32, base: u32) -> vec4<f32> {
    return data[2u * (base + (entry & 0xffffu)) + 1u];
}

// Contribution of two entries to the normal.
fn normal_part(weights: u32, a: u32, b: u32, base: u32) -> vec4<f32> {
    return f32(bitcast<i32>(weights << 16u) >> 16u) * sample_normal(a, base) + f32(bitcast<i32>(weights) >> 16u) * sample_normal(b, base);
}

// Octahedral encoding of a unit vector in two 16-bit coordinates (Meyer et al. 2010, "On floating-point normal vectors"). Error
// below 7e-5; NOWHERE for an undefined normal.
const NOWHERE: u32 = 0x80008000u;

fn packed(v: vec3<f32>) -> u32 {
    let size = abs(v.x) + abs(v.y) + abs(v.z);
    if (!(size > 1e-17)) {
        return NOWHERE;
    }
    let p = v.xy / size;
    let folded = (1.0 - abs(p.yx)) * select(vec2<f32>(-1.0), vec2<f32>(1.0), p >= vec2<f32>(0.0));
    return pack2x16snorm(select(p, folded, v.z < 0.0));
}

@compute @workgroup_size(64)
fn upsample(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= P.skin) {
        return;
    }
    let base = id.y * P.samples;
    let word = extra_of[id.x];
    let block = word & NONE;
    let unit = bitcast<f32>((word >> 24u) << 23u);
    let extra = block * (P.neighbours + 2u);
    var position = vec4<f32>(0.0);
    var offset = vec4<f32>(0.0);
    var normal = vec4<f32>(0.0);
    // Entries are padded to a multiple of four; all four loads are issued before the first is needed.
    for (var k = 0u; k < P.neighbours; k += 4u) {
        let a = entries[k * P.skin + id.x];
        let b = entries[(k + 1u) * P.skin + id.x];
        let c = entries[(k + 2u) * P.skin + id.x];
        let d = entries[(k + 3u) * P.skin + id.x];
        position += position_part(a, base) + position_part(b, base) + position_part(c, base) + position_part(d, base);
        if (k < P.normal_entries) {
            let at = (k / 2u) * P.skin + id.x;
            normal += normal_part(normal_weights[at], a, b, base) + normal_part(normal_weights[at + P.skin], c, d, base);
        }
        if (block != NONE) {
            let w = extra + 2u + k;
            offset += extras[w] * sample_normal(a, base) + extras[w + 1u] * sample_normal(b, base)
                + extras[w + 2u] * sample_normal(c, base) + extras[w + 3u] * sample_normal(d, base);
        }
    }
    position = position * unit + offset;
    if (block != NONE && extras[extra] > 0.0) {
        let there = given[id.y * P.given + bitcast<u32>(extras[extra + 1u])];
        position = mix(position, there, extras[extra]);
    }
    skin[id.y * P.skin + id.x] = vec4(bitcast<vec3<u32>>(position.xyz), packed(normal.xyz));
}
