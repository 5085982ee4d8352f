const GROUP: u32 = 256u;
// Invocations that share the columns of four rows.
const PARTS: u32 = 32u;

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
    if (l < PATCH) {
        let dx = (((vectors[l] + vectors[l + 32u]) + (vectors[l + 64u] + vectors[l + 96u]))
            + ((vectors[l + 128u] + vectors[l + 160u]) + (vectors[l + 192u] + vectors[l + 224u]))).xyz;
        let i = body * P.vertices + group * PATCH + l;
        // w: squared length of the last move, for the report.
        positions[i] = vec4(positions[i].xyz + dx, dot(dx, dx));
    }
}

// One body. Loops are written out: drivers cannot unroll what is guarded against running forever.
@compute @workgroup_size(256)
fn patch_solve(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let first = patches[group.x * 8u + 3u];
    let count = patches[group.x * 8u + 4u];
    if (l < count) {
        vectors[l] = residual[group.y * P.rows + columns[first + l]];
    }
    // Stiff or deep tissue has more columns.
    if (l + GROUP < count) {
        vectors[GROUP + l] = residual[group.y * P.rows + columns[first + GROUP + l]];
    }
    workgroupBarrier();
    let part = l / 8u;
    var at = patches[group.x * 8u + 5u] + l;
    var sums: Rows;
    // Columns come in multiples of 64, two for each part.
    for (var k = part; k < count; k += 2u * PARTS) {
        let c0 = inverse[at];
        let c1 = inverse[at + GROUP];
        at += 2u * GROUP;
        add(&sums, c0, k);
        add(&sums, c1, k + PARTS);
    }
    move_rows(l, sums, group.x, group.y);
}
