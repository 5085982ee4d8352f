// Global step: x += B r. Each patch of 32 rows is solved with a stretch of rows around it (restricted additive Schwarz), and
// the rows of that local inverse are stored: one dense product a patch, one dispatch a solve.

@group(0) @binding(1) var<storage, read_write> positions: array<vec4<f32>>;
// As in project.wgsl.
@group(0) @binding(2) var<storage, read> patches: array<u32>;
// Rows that the columns of each patch stand for; padded by repeating a row, with coefficients 0.
@group(0) @binding(3) var<storage, read> columns: array<u32>;
// Coefficients: four rows a vector, eight vectors a column.
@group(0) @binding(4) var<storage, read> inverse: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> residual: array<vec4<f32>>;

const GROUP: u32 = 256u;
const PATCH: u32 = 32u;
// Columns of a body in workgroup memory.
const COLUMNS: u32 = 256u;
// Invocations that share the columns of four rows.
const PARTS: u32 = 32u;

// First what is gathered, COLUMNS vectors a body; then partial sums of one body at a time.
var<workgroup> vectors: array<vec4<f32>, 1024>;

// Sums of four rows.
struct Rows {
    a: vec3<f32>,
    b: vec3<f32>,
    c: vec3<f32>,
    d: vec3<f32>,
}

fn add(sums: ptr<function, Rows>, c: vec4<f32>, at: u32) {
    let v = vectors[at].xyz;
    (*sums).a += v * c.x;
    (*sums).b += v * c.y;
    (*sums).c += v * c.z;
    (*sums).d += v * c.w;
}

// Adds up the partial sums of one body and moves its rows.
fn move_rows(l: u32, sums: Rows, group: u32, body: u32) {
    workgroupBarrier();
    let at = (l / 8u) * PATCH + (l & 7u) * 4u;
    vectors[at] = vec4(sums.a, 0.0);
    vectors[at + 1u] = vec4(sums.b, 0.0);
    vectors[at + 2u] = vec4(sums.c, 0.0);
    vectors[at + 3u] = vec4(sums.d, 0.0);
    workgroupBarrier();
    let row = l & (PATCH - 1u);
    let first = (l / PATCH) * 4u * PATCH + row;
    let quarter = (vectors[first] + vectors[first + PATCH])
        + (vectors[first + 2u * PATCH] + vectors[first + 3u * PATCH]);
    workgroupBarrier();
    vectors[l] = quarter;
    workgroupBarrier();
    if (l < PATCH && body < P.bodies) {
        let dx = (((vectors[l] + vectors[l + 32u]) + (vectors[l + 64u] + vectors[l + 96u]))
            + ((vectors[l + 128u] + vectors[l + 160u]) + (vectors[l + 192u] + vectors[l + 224u]))).xyz;
        let i = body * P.vertices + group * PATCH + l;
        // w: squared length of the last move, for the report.
        positions[i] = vec4(positions[i].xyz + dx, dot(dx, dx));
    }
}

fn gather(l: u32, column: u32, slot: u32, body: u32) {
    // The last workgroup may have fewer bodies; it does the last one again and keeps it to itself.
    vectors[slot * COLUMNS + l] = residual[min(body, P.bodies - 1u) * P.rows + column];
}

