// Position and unit normal of every sample (simulated skin vertex), interleaved for `upsample`.

struct Params {
    // Number of samples.
    samples: u32,
    // Number of vertices of the full skin.
    skin: u32,
    // Samples per skin vertex.
    neighbours: u32,
    // Stride of positions from body to body.
    vertices: u32,
    // Number of given positions.
    given: u32,
}

@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
// Index of each sample: of a position or, with the highest bit set, of a given position. Then, from P.samples on, its first triangle,
// and the end.
@group(0) @binding(2) var<storage, read> samples: array<u32>;
// The other two corners of each triangle around a sample.
@group(0) @binding(3) var<storage, read> rings: array<vec2<u32>>;
// Positions of samples that are not simulated.
@group(0) @binding(4) var<storage, read> given: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> data: array<vec4<f32>>;

const GIVEN: u32 = 0x80000000u;

fn sample_position(place: u32, body: u32) -> vec3<f32> {
    if ((place & GIVEN) != 0u) {
        return given[body * P.given + (place & ~GIVEN)].xyz;
    }
    return positions[body * P.vertices + place].xyz;
}

// Normal of a triangle at `a` with a length of twice its area; zero if it does not count.
fn area(corners: vec2<u32>, counts: bool, a: vec3<f32>, body: u32) -> vec3<f32> {
    let normal = cross(sample_position(corners.x, body) - a, sample_position(corners.y, body) - a);
    return select(vec3<f32>(0.0), normal, counts);
}

@compute @workgroup_size(64)
fn skin_samples(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= P.samples) {
        return;
    }
    let a = sample_position(samples[id.x], id.y);
    var sum = vec3<f32>(0.0);
    let end = samples[P.samples + id.x + 1u];
    // Six at a time, the usual number: all loads are issued before the first is needed.
    for (var k = samples[P.samples + id.x]; k < end; k += 6u) {
        let last = end - 1u;
        let r0 = rings[k];
        let r1 = rings[min(k + 1u, last)];
        let r2 = rings[min(k + 2u, last)];
        let r3 = rings[min(k + 3u, last)];
        let r4 = rings[min(k + 4u, last)];
        let r5 = rings[min(k + 5u, last)];
        sum += area(r0, true, a, id.y) + area(r1, k + 1u < end, a, id.y) + area(r2, k + 2u < end, a, id.y)
            + area(r3, k + 3u < end, a, id.y) + area(r4, k + 4u < end, a, id.y) + area(r5, k + 5u < end, a, id.y);
    }
    let square = dot(sum, sum);
    let at = 2u * (id.y * P.samples + id.x);
    data[at] = vec4(a, 0.0);
    data[at + 1u] = vec4(select(sum, sum * inverseSqrt(square), square > 1e-35), 0.0);
}
