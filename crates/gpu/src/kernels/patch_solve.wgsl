// Global step: x += B r. Each patch of 32 rows has a local inverse over itself and the rows around it (restricted additive
// Schwarz), whose rows are stored: one dense product per patch, one dispatch per solve.
//
// A coefficient is stored in two bytes, as a code n with bias 32768: it is n |n| times the unit of its row.

@group(0) @binding(1) var<storage, read_write> positions: array<vec4<f32>>;
// See common.wgsl.
@group(0) @binding(2) var<storage, read> patches: array<u32>;
// Rows of each patch's columns; padding repeats a row with zero coefficients.
@group(0) @binding(3) var<storage, read> columns: array<u32>;
// Codes of four rows per entry; a column has eight entries.
@group(0) @binding(4) var<storage, read> inverse: array<vec2<u32>>;
// Coefficient of code 1 in each row.
@group(0) @binding(6) var<storage, read> units: array<f32>;

// Sums of four rows.
struct Rows {
    a: vec3<f32>,
    b: vec3<f32>,
    c: vec3<f32>,
    d: vec3<f32>,
}

fn add(sums: ptr<function, Rows>, c: vec4<f32>, v: vec3<f32>) {
    (*sums).a += v * c.x;
    (*sums).b += v * c.y;
    (*sums).c += v * c.z;
    (*sums).d += v * c.w;
}

// Coefficients of four rows, in units. 2²³ + n is a float with n in its last bits, which saves a conversion.
fn coefficients(words: vec2<u32>) -> vec4<f32> {
    let whole = vec4(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu, words.y >> 16u);
    let codes = bitcast<vec4<f32>>(whole | vec4<u32>(0x4b000000u)) - vec4<f32>(8421376.0);
    return codes * abs(codes);
}

// Stores the partial sums of an invocation: by part of the columns, then by index within four rows, then by the eight groups of
// four, so that neighbouring invocations write neighbouring entries.
fn store(l: u32, sums: Rows) {
    let at = (l / 8u) * PATCH + (l & 7u);
    vectors[at] = vec4(sums.a, 0.0);
    vectors[at + 8u] = vec4(sums.b, 0.0);
    vectors[at + 16u] = vec4(sums.c, 0.0);
    vectors[at + 24u] = vec4(sums.d, 0.0);
}

// The row whose sums are stored at an index.
fn row_of(place: u32) -> u32 {
    return (place & 7u) * 4u + place / 8u;
}

// Total of eight partial sums.
fn eight_sums(l: u32) -> vec3<f32> {
    return (((vectors[l] + vectors[l + 32u]) + (vectors[l + 64u] + vectors[l + 96u]))
        + ((vectors[l + 128u] + vectors[l + 160u]) + (vectors[l + 192u] + vectors[l + 224u]))).xyz;
}

// Moves a row.
fn move_row(row: u32, body: u32, sum: vec3<f32>) {
    let dx = sum * units[row];
    let i = body * P.vertices + row;
    // w: squared length of the last motion, for the report.
    positions[i] = vec4(positions[i].xyz + dx, recorded_move(dx, positions[i].w));
}
