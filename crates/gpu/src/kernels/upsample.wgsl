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
// Sections of P.skin entries: sample in the lower 16 bits, weight in units of the vertex in the upper.
@group(0) @binding(2) var<storage, read> entries: array<u32>;
// Exponent of a vertex's unit in the upper 8 bits; its block of extras, or NONE.
@group(0) @binding(3) var<storage, read> extra_of: array<u32>;
// How much of the position the pose gives, and where (bits); weights of normals that are added to it [m].
@group(0) @binding(4) var<storage, read> extras: array<f32>;
// Position (bits) and normal of each vertex.
@group(0) @binding(5) var<storage, read_write> skin: array<vec4<u32>>;
// Places that are not simulated.
@group(0) @binding(6) var<storage, read> given: array<vec4<f32>>;
// Sections of P.skin: weights of the normals of two entries × 4096.
@group(0) @binding(7) var<storage, read> turns: array<u32>;

const NONE: u32 = 0xffffffu;

// An entry's share of the position, in units.
fn place(entry: u32, base: u32) -> vec4<f32> {
    return f32(bitcast<i32>(entry) >> 16u) * data[2u * (base + (entry & 0xffffu))];
}

// The normal of its sample.
fn facing(entry: u32, base: u32) -> vec4<f32> {
    return data[2u * (base + (entry & 0xffffu)) + 1u];
}

// What two entries give to the normal.
fn turn(weights: u32, a: u32, b: u32, base: u32) -> vec4<f32> {
    return f32(bitcast<i32>(weights << 16u) >> 16u) * facing(a, base) + f32(bitcast<i32>(weights) >> 16u) * facing(b, base);
}

// A direction in two bytes each of two coordinates: the octahedron around the origin, unfolded to a square (Meyer et al. 2010,
// "On floating-point normal vectors"). Within 6e-5 of the unit vector; NOWHERE for none.
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
    // Entries come in multiples of four, and all four are on their way before the first is needed.
    for (var k = 0u; k < P.neighbours; k += 4u) {
        let a = entries[k * P.skin + id.x];
        let b = entries[(k + 1u) * P.skin + id.x];
        let c = entries[(k + 2u) * P.skin + id.x];
        let d = entries[(k + 3u) * P.skin + id.x];
        position += place(a, base) + place(b, base) + place(c, base) + place(d, base);
        if (k < P.turned) {
            let at = (k / 2u) * P.skin + id.x;
            normal += turn(turns[at], a, b, base) + turn(turns[at + P.skin], c, d, base);
        }
        if (block != NONE) {
            let w = extra + 2u + k;
            offset += extras[w] * facing(a, base) + extras[w + 1u] * facing(b, base)
                + extras[w + 2u] * facing(c, base) + extras[w + 3u] * facing(d, base);
        }
    }
    position = position * unit + offset;
    if (block != NONE && extras[extra] > 0.0) {
        let there = given[id.y * P.given + bitcast<u32>(extras[extra + 1u])];
        position = mix(position, there, extras[extra]);
    }
    skin[id.y * P.skin + id.x] = vec4(bitcast<vec3<u32>>(position.xyz), packed(normal.xyz));
}
