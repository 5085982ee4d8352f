// One body. Loops are written out: drivers cannot unroll what is guarded against running forever.
@compute @workgroup_size(256)
fn patch_solve(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let first = patches[group.x * 8u + 3u];
    let count = patches[group.x * 8u + 4u];
    if (l < count) {
        gather(l, columns[first + l], 0u, group.y);
    }
    // Stiff or deep tissue has more columns.
    if (l + GROUP < count) {
        gather(l, columns[first + GROUP + l], 1u, group.y);
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
