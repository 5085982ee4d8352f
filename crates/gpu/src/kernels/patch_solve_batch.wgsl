// Four bodies per workgroup: every coefficient is read once for all of them. Columns are processed in chunks, because the solve is
// bound by memory latency: less workgroup memory means higher occupancy.

const INVOCATIONS: u32 = 64u;
// Invocations that share the columns of four rows.
const SHARERS: u32 = 8u;
const CHUNK: u32 = 64u;

// First the gathered vectors, CHUNK per body; then partial sums of one body at a time.
var<workgroup> vectors: array<vec4<f32>, 256>;

fn gather(column: u32, at: u32, body: u32) {
    // The last workgroup may have fewer bodies; it repeats the last one and does not write the result.
    let last = P.bodies - 1u;
    vectors[at] = right_side(body * P.rows + column);
    vectors[at + CHUNK] = right_side(min(body + 1u, last) * P.rows + column);
    vectors[at + 2u * CHUNK] = right_side(min(body + 2u, last) * P.rows + column);
    vectors[at + 3u * CHUNK] = right_side(min(body + 3u, last) * P.rows + column);
}

// Sums the partial sums of a body and moves it.
fn finish(l: u32, sums: Rows, group: u32, body: u32) {
    workgroupBarrier();
    store(l, sums);
    workgroupBarrier();
    if (l < PATCH && body < P.bodies) {
        move_row(group * PATCH + row_of(l), body, eight_sums(l));
    }
}

@compute @workgroup_size(64)
fn patch_solve(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let words = group.x * 4u;
    let first = patches[words];
    let count = patches[words + 1u];
    let body = group.y * 4u;
    var at = patches[words + 2u] / 2u + l;
    var sums0: Rows;
    var sums1: Rows;
    var sums2: Rows;
    var sums3: Rows;
    // Columns are padded to whole chunks.
    for (var start = 0u; start < count; start += CHUNK) {
        workgroupBarrier();
        gather(columns[first + start + l], l, body);
        workgroupBarrier();
        for (var k = l / 8u; k < CHUNK; k += SHARERS) {
            let c = coefficients(inverse[at]);
            at += INVOCATIONS;
            add(&sums0, c, vectors[k].xyz);
            add(&sums1, c, vectors[k + CHUNK].xyz);
            add(&sums2, c, vectors[k + 2u * CHUNK].xyz);
            add(&sums3, c, vectors[k + 3u * CHUNK].xyz);
        }
    }
    finish(l, sums0, group.x, body);
    finish(l, sums1, group.x, body + 1u);
    finish(l, sums2, group.x, body + 2u);
    finish(l, sums3, group.x, body + 3u);
}
