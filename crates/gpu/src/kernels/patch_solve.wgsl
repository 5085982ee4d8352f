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
const COLUMNS: u32 = 512u;

var<workgroup> gathered: array<vec4<f32>, COLUMNS>;
var<workgroup> partial: array<vec4<f32>, GROUP>;

@compute @workgroup_size(256)
fn patch_solve(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let patch_at = group.x * 8u;
    let first = patches[patch_at + 3u];
    let count = patches[patch_at + 4u];
    for (var k = l; k < count; k += GROUP) {
        gathered[k] = residual[group.y * P.rows + columns[first + k]];
    }
    workgroupBarrier();
    let row = l & (PATCH - 1u);
    let part = l / PATCH;
    // Columns come in multiples of 32, four for each of the eight parts: four loads in flight.
    var at = patches[patch_at + 5u] + part * PATCH + row;
    var sum = vec4<f32>(0.0);
    for (var k = part; k < count; k += 32u) {
        let a = inverse[at];
        let b = inverse[at + 256u];
        let c = inverse[at + 512u];
        let d = inverse[at + 768u];
        sum += gathered[k] * a + gathered[k + 8u] * b + gathered[k + 16u] * c + gathered[k + 24u] * d;
        at += 1024u;
    }
    partial[l] = sum;
    workgroupBarrier();
    if (l < PATCH) {
        var dx = vec3<f32>(0.0);
        for (var k = l; k < GROUP; k += PATCH) {
            dx += partial[k].xyz;
        }
        let i = group.y * P.vertices + group.x * PATCH + l;
        // w: squared length of the last move, for the report.
        positions[i] = vec4(positions[i].xyz + dx, dot(dx, dx));
    }
}
