// One body per workgroup.

const GROUP: u32 = 256u;
// Invocations that share the columns of four rows.
const PARTS: u32 = 32u;

// First the gathered vectors, then partial sums.
var<workgroup> vectors: array<vec4<f32>, 1024>;
// Index of the flag that a gathered vector is not zero; columns end before it.
const MARK: u32 = 1023u;

// Loops are unrolled by hand: drivers cannot unroll loops that are guarded against running forever.
@compute @workgroup_size(256)
fn patch_solve(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let words = group.x * 4u;
    let first = patches[words];
    let count = patches[words + 1u];
    if (MAY_BE_EMPTY) {
        vectors[MARK] = vec4<f32>(0.0);
        workgroupBarrier();
    }
    if (l < count) {
        vectors[l] = right_side(group.y * P.rows + columns[first + l]);
    }
    // Stiff or deep tissue has more columns.
    if (l + GROUP < count) {
        vectors[GROUP + l] = right_side(group.y * P.rows + columns[first + GROUP + l]);
    }
    if (MAY_BE_EMPTY) {
        // All invocations that write the flag write the same value.
        if (l < count && any(vectors[l].xyz != vec3<f32>(0.0))
            || l + GROUP < count && any(vectors[GROUP + l].xyz != vec3<f32>(0.0))) {
            vectors[MARK] = vec4<f32>(1.0);
        }
        if (workgroupUniformLoad(&vectors[MARK]).x == 0.0) {
            return;
        }
    }
    workgroupBarrier();
    var at = patches[words + 2u] / 2u + l;
    var sums: Rows;
    // Columns are padded to a multiple of 64, two for each part.
    for (var k = l / 8u; k < count; k += 2u * PARTS) {
        let c0 = coefficients(inverse[at]);
        let c1 = coefficients(inverse[at + GROUP]);
        at += 2u * GROUP;
        add(&sums, c0, vectors[k].xyz);
        add(&sums, c1, vectors[k + PARTS].xyz);
    }
    workgroupBarrier();
    store(l, sums);
    workgroupBarrier();
    let slot = l & (PATCH - 1u);
    let start = (l / PATCH) * 4u * PATCH + slot;
    let quarter = (vectors[start] + vectors[start + PATCH])
        + (vectors[start + 2u * PATCH] + vectors[start + 3u * PATCH]);
    workgroupBarrier();
    vectors[l] = quarter;
    workgroupBarrier();
    if (l < PATCH) {
        move_row(group.x * PATCH + row_of(l), group.y, eight_sums(l));
    }
}
