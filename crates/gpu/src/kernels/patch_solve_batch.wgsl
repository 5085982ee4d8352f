// Four bodies: every coefficient is read once for all of them.
@compute @workgroup_size(256)
fn patch_solve(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let first = patches[group.x * 8u + 3u];
    let count = patches[group.x * 8u + 4u];
    let body = group.y * 4u;
    if (l < count) {
        let column = columns[first + l];
        gather(l, column, 0u, body);
        gather(l, column, 1u, body + 1u);
        gather(l, column, 2u, body + 2u);
        gather(l, column, 3u, body + 3u);
    }
    workgroupBarrier();
    let part = l / 8u;
    var at = patches[group.x * 8u + 5u] + l;
    var sums0: Rows;
    var sums1: Rows;
    var sums2: Rows;
    var sums3: Rows;
    for (var k = part; k < count; k += 2u * PARTS) {
        let c0 = inverse[at];
        let c1 = inverse[at + GROUP];
        at += 2u * GROUP;
        add(&sums0, c0, k);
        add(&sums1, c0, COLUMNS + k);
        add(&sums2, c0, 2u * COLUMNS + k);
        add(&sums3, c0, 3u * COLUMNS + k);
        add(&sums0, c1, k + PARTS);
        add(&sums1, c1, COLUMNS + k + PARTS);
        add(&sums2, c1, 2u * COLUMNS + k + PARTS);
        add(&sums3, c1, 3u * COLUMNS + k + PARTS);
    }
    move_rows(l, sums0, group.x, body);
    move_rows(l, sums1, group.x, body + 1u);
    move_rows(l, sums2, group.x, body + 2u);
    move_rows(l, sums3, group.x, body + 3u);
}
