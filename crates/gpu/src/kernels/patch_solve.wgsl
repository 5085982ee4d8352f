// Global step: x += B r. Each patch of 32 rows is solved with a stretch of rows around it (restricted additive Schwarz), and
// the rows of that local inverse are stored: one dense product a patch, one dispatch a solve.

@group(0) @binding(1) var<storage, read_write> positions: array<vec4<f32>>;
// As in project.wgsl.
@group(0) @binding(2) var<storage, read> patches: array<u32>;
// Rows that the columns of each patch stand for; padded by repeating a row, with coefficients 0.
@group(0) @binding(3) var<storage, read> columns: array<u32>;
// Coefficients, 32 rows side by side for each column.
@group(0) @binding(4) var<storage, read> inverse: array<f32>;
@group(0) @binding(5) var<storage, read> residual: array<vec4<f32>>;

const GROUP: u32 = 256u;
const PATCH: u32 = 32u;
const COLUMNS: u32 = 256u;

// First what is gathered, COLUMNS vectors a body; then partial sums, GROUP vectors a body.
var<workgroup> vectors: array<vec4<f32>, COLUMNS * BODIES>;

@compute @workgroup_size(256)
fn patch_solve(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let patch_at = group.x * 8u;
    let first = patches[patch_at + 3u];
    let count = patches[patch_at + 4u];
    let first_body = group.y * BODIES;
    if (l < count) {
        let column = columns[first + l];
        for (var b = 0u; b < BODIES; b++) {
            // The last workgroup may have fewer bodies; it does the last one again and keeps it to itself.
            let body = min(first_body + b, P.bodies - 1u);
            vectors[b * COLUMNS + l] = residual[body * P.rows + column];
        }
    }
    workgroupBarrier();
    let row = l & (PATCH - 1u);
    let part = l / PATCH;
    var at = patches[patch_at + 5u] + part * PATCH + row;
    var sums: array<vec4<f32>, BODIES>;
    for (var b = 0u; b < BODIES; b++) {
        sums[b] = vec4<f32>(0.0);
    }
    // Columns come in multiples of 32, four for each of the eight parts: four loads in flight, each for all bodies.
    for (var k = part; k < count; k += 32u) {
        let a = inverse[at];
        let b = inverse[at + 256u];
        let c = inverse[at + 512u];
        let d = inverse[at + 768u];
        for (var n = 0u; n < BODIES; n++) {
            let v = n * COLUMNS + k;
            sums[n] += vectors[v] * a + vectors[v + 8u] * b + vectors[v + 16u] * c + vectors[v + 24u] * d;
        }
        at += 1024u;
    }
    workgroupBarrier();
    for (var b = 0u; b < BODIES; b++) {
        vectors[b * GROUP + l] = sums[b];
    }
    workgroupBarrier();
    // A row and body for each of the first invocations.
    let body = first_body + part;
    if (part < BODIES && body < P.bodies) {
        var dx = vec3<f32>(0.0);
        for (var k = row; k < GROUP; k += PATCH) {
            dx += vectors[part * GROUP + k].xyz;
        }
        let i = body * P.vertices + group.x * PATCH + row;
        // w: squared length of the last move, for the report.
        positions[i] = vec4(positions[i].xyz + dx, dot(dx, dx));
    }
}
