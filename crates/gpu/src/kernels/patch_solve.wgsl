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

const PATCH: u32 = 32u;
// Columns of a body in workgroup memory.
const COLUMNS: u32 = 256u;

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
