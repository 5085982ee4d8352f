// Four bodies: every coefficient is read once for all of them. Fewer invocations than for one body, each with more columns:
// sums over invocations and barriers would cost more than the products.

const SHARERS: u32 = 8u;
const SMALL_GROUP: u32 = 64u;

fn gather_four(column: u32, at: u32, body: u32) {
    // The last workgroup may have fewer bodies; it does the last one again and keeps it to itself.
    let last = P.bodies - 1u;
    vectors[at] = residual[body * P.rows + column];
    vectors[at + COLUMNS] = residual[min(body + 1u, last) * P.rows + column];
    vectors[at + 2u * COLUMNS] = residual[min(body + 2u, last) * P.rows + column];
    vectors[at + 3u * COLUMNS] = residual[min(body + 3u, last) * P.rows + column];
}

// Partial sums of a body, by part and row.
fn store(sums: Rows, at: u32) {
    vectors[at] = vec4(sums.a, 0.0);
    vectors[at + 1u] = vec4(sums.b, 0.0);
    vectors[at + 2u] = vec4(sums.c, 0.0);
    vectors[at + 3u] = vec4(sums.d, 0.0);
}

fn move_row(row: u32, slot: u32, group: u32, body: u32) {
    if (body < P.bodies) {
        let at = slot * COLUMNS + row;
        let dx = (((vectors[at] + vectors[at + 32u]) + (vectors[at + 64u] + vectors[at + 96u]))
            + ((vectors[at + 128u] + vectors[at + 160u]) + (vectors[at + 192u] + vectors[at + 224u]))).xyz;
        let i = body * P.vertices + group * PATCH + row;
        positions[i] = vec4(positions[i].xyz + dx, dot(dx, dx));
    }
}

@compute @workgroup_size(64)
fn patch_solve(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let first = patches[group.x * 8u + 3u];
    let count = patches[group.x * 8u + 4u];
    let body = group.y * 4u;
    for (var k = l; k < count; k += SMALL_GROUP) {
        gather_four(columns[first + k], k, body);
    }
    workgroupBarrier();
    var at = patches[group.x * 8u + 5u] + l;
    var sums0: Rows;
    var sums1: Rows;
    var sums2: Rows;
    var sums3: Rows;
    for (var k = l / 8u; k < count; k += 2u * SHARERS) {
        let c0 = inverse[at];
        let c1 = inverse[at + SMALL_GROUP];
        at += 2u * SMALL_GROUP;
        add(&sums0, c0, k);
        add(&sums1, c0, COLUMNS + k);
        add(&sums2, c0, 2u * COLUMNS + k);
        add(&sums3, c0, 3u * COLUMNS + k);
        add(&sums0, c1, k + SHARERS);
        add(&sums1, c1, COLUMNS + k + SHARERS);
        add(&sums2, c1, 2u * COLUMNS + k + SHARERS);
        add(&sums3, c1, 3u * COLUMNS + k + SHARERS);
    }
    workgroupBarrier();
    let place = (l / 8u) * PATCH + (l & 7u) * 4u;
    store(sums0, place);
    store(sums1, COLUMNS + place);
    store(sums2, 2u * COLUMNS + place);
    store(sums3, 3u * COLUMNS + place);
    workgroupBarrier();
    let row = l & (PATCH - 1u);
    let slot = l / PATCH;
    move_row(row, slot, group.x, body + slot);
    move_row(row, slot + 2u, group.x, body + slot + 2u);
}
