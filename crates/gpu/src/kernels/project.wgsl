// Local step and right-hand side in residual form: the force −g of the objective at the current positions.
//
// One workgroup per group of 64 rows. Every tet with a corner in the group is projected here; tets at its border also in the
// neighbouring groups. Their forces go to slots in workgroup memory, sorted by row, and four invocations per row sum them in a
// fixed order: no atomics, bit-identical results.

@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
// See common.wgsl.
@group(0) @binding(2) var<storage, read> patches: array<u32>;
// Sections of P.tets words: corners 0 to 3, then slots of corners 0|1 and 2|3 (16 bits each, 0xffff: not of this group).
@group(0) @binding(3) var<storage, read> tets: array<u32>;
// Sections of P.tets: gradients of corners 1 to 3; w: strain weight, volume weight, volume ratio.
@group(0) @binding(4) var<storage, read> shapes: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> inertial: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> forces: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> residual: array<vec4<f32>>;

const GROUP: u32 = 256u;
const SLOTS: u32 = 1024u;

var<workgroup> slot_x: array<f32, SLOTS>;
var<workgroup> slot_y: array<f32, SLOTS>;
var<workgroup> slot_z: array<f32, SLOTS>;
var<workgroup> partial: array<f32, 768>;

fn put(slot: u32, f: vec3<f32>) {
    if (slot < SLOTS) {
        slot_x[slot] = f.x;
        slot_y[slot] = f.y;
        slot_z[slot] = f.z;
    }
}

fn project_tet(t: u32, base: u32) {
    let n = P.tets;
    let a = positions[base + tets[t]].xyz;
    let edges = mat3x3<f32>(
        positions[base + tets[n + t]].xyz - a,
        positions[base + tets[2u * n + t]].xyz - a,
        positions[base + tets[3u * n + t]].xyz - a,
    );
    let g1 = shapes[t];
    let g2 = shapes[n + t];
    let g3 = shapes[2u * n + t];
    // F = Σ (xₐ − x₀) gₐᵀ.
    let f = edges * transpose(mat3x3<f32>(g1.xyz, g2.xyz, g3.xyz));
    let stress = tet_stress(f, g1.w, g2.w, g3.w);
    let f1 = stress * g1.xyz;
    let f2 = stress * g2.xyz;
    let f3 = stress * g3.xyz;
    let low = tets[4u * n + t];
    let high = tets[5u * n + t];
    put(low & 0xffffu, -(f1 + f2 + f3));
    put(low >> 16u, f1);
    put(high & 0xffffu, f2);
    put(high >> 16u, f3);
}

// Sums the slots of each row; `body` is the same for the whole workgroup.
fn gather(l: u32, group: u32, words: u32, body: u32) {
    let row = l & (GROUP_ROWS - 1u);
    let part = l / GROUP_ROWS;
    let offsets = patches[words + 2u] + row;
    var sum = vec3<f32>(0.0);
    for (var s = patches[offsets] + part; s < patches[offsets + 1u]; s += GROUP / GROUP_ROWS) {
        sum += vec3(slot_x[s], slot_y[s], slot_z[s]);
    }
    partial[l] = sum.x;
    partial[l + 256u] = sum.y;
    partial[l + 512u] = sum.z;
    workgroupBarrier();
    if (l < GROUP_ROWS) {
        let i = group * GROUP_ROWS + l;
        let at = body * P.rows + i;
        let y = inertial[at];
        var total = (y.xyz - positions[body * P.vertices + i].xyz) * y.w + forces[at].xyz + contact_force(at);
        for (var k = l; k < GROUP; k += GROUP_ROWS) {
            total += vec3(partial[k], partial[k + 256u], partial[k + 512u]);
        }
        residual[at] = vec4(total, 0.0);
    }
}

// BODIES bodies one after the other, so that the tables of the group stay in the cache.
@compute @workgroup_size(256)
fn project(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let words = (P.rows / PATCH + group.x) * 4u;
    let first = patches[words];
    let count = patches[words + 1u];
    let end = min((group.y + 1u) * BODIES, P.bodies);
    for (var body = group.y * BODIES; body < end; body++) {
        for (var t = l; t < count; t += GROUP) {
            project_tet(first + t, body * P.vertices);
        }
        workgroupBarrier();
        gather(l, group.x, words, body);
        workgroupBarrier();
    }
}
