// Iterative solvers of A dx = r, for comparison with the patch solve: the papers' Jacobi-preconditioned conjugate gradients with
// three dispatches per iteration [3.2.3], their pipelined form (Ghysels & Vanroose) with one, and Chebyshev semi-iteration with
// one and without dot products. Three right-hand sides at once.
//
// Dot products: partial sums of each workgroup, summed by every workgroup of the next dispatch in a fixed order.

struct Params {
    rows: u32,
    vertices: u32,
    // Iteration, and the last one.
    it: u32,
    last: u32,
    // Chebyshev's factors.
    keep: f32,
    add: f32,
    pad0: u32,
    pad1: u32,
}

@group(0) @binding(0) var<uniform> P: Params;
// Sliced ELLPACK, 32 rows per slice: first entry of each slice.
@group(0) @binding(1) var<storage, read> slices: array<u32>;
// Column and value (bits); slices are padded to multiples of four columns.
@group(0) @binding(2) var<storage, read> entries: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> inverse_diagonal: array<f32>;
// Six vectors.
@group(0) @binding(4) var<storage, read_write> vectors: array<vec4<f32>>;
// Two vectors that are multiplied with A.
@group(0) @binding(5) var<storage, read_write> gathered: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> partial: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read> residual: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> positions: array<vec4<f32>>;

const GROUP: u32 = 128u;
const X: u32 = 0u;
const R: u32 = 1u;
const W: u32 = 2u;
const Z: u32 = 3u;
const S: u32 = 4u;
const D: u32 = 5u;
// Scalars after the four banks of partial sums.
const SCALARS: u32 = 64u;

var<workgroup> sum_a: array<vec4<f32>, GROUP>;
var<workgroup> sum_b: array<vec4<f32>, GROUP>;

struct Two {
    a: vec4<f32>,
    b: vec4<f32>,
}

// Index of row i of vector v of a body; `count` is the number of workgroups.
fn slot(v: u32, i: u32, body: u32, count: vec3<u32>) -> u32 {
    return (v * count.y + body) * P.rows + i;
}

fn bank(k: u32, body: u32, count: vec3<u32>) -> u32 {
    return body * (4u * count.x + SCALARS) + k * count.x;
}

fn multiply(i: u32, half: u32, body: u32, count: vec3<u32>) -> vec4<f32> {
    let base = slot(half, 0u, body, count);
    let slice = i >> 5u;
    let end = slices[slice + 1u];
    var sum = vec4<f32>(0.0);
    for (var k = slices[slice] + (i & 31u); k < end; k += 128u) {
        let a = entries[k];
        let b = entries[k + 32u];
        let c = entries[k + 64u];
        let d = entries[k + 96u];
        sum += bitcast<f32>(a.y) * gathered[base + a.x] + bitcast<f32>(b.y) * gathered[base + b.x]
            + bitcast<f32>(c.y) * gathered[base + c.x] + bitcast<f32>(d.y) * gathered[base + d.x];
    }
    return sum;
}

// Sums over the workgroup; every invocation gets the result.
fn group_sums(l: u32, a: vec4<f32>, b: vec4<f32>) -> Two {
    workgroupBarrier();
    sum_a[l] = a;
    sum_b[l] = b;
    workgroupBarrier();
    for (var h = GROUP / 2u; h > 0u; h >>= 1u) {
        if (l < h) {
            sum_a[l] += sum_a[l + h];
            sum_b[l] += sum_b[l + h];
        }
        workgroupBarrier();
    }
    return Two(sum_a[0], sum_b[0]);
}

// Totals of two banks of partial sums.
fn totals(l: u32, a: u32, b: u32, body: u32, count: vec3<u32>) -> Two {
    let first_a = bank(a, body, count);
    let first_b = bank(b, body, count);
    var sum = Two(vec4<f32>(0.0), vec4<f32>(0.0));
    for (var k = l; k < count.x; k += GROUP) {
        sum.a += partial[first_a + k];
        sum.b += partial[first_b + k];
    }
    return group_sums(l, sum.a, sum.b);
}

// Zero for a converged or unused lane, which would be 0/0.
fn ratio(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let zero = abs(b) < vec4<f32>(1e-35);
    return select(a / select(b, vec4<f32>(1.0), zero), vec4<f32>(0.0), zero);
}

@compute @workgroup_size(128)
fn cg_start(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>) {
    let i = id.x;
    let body = id.y;
    var rz = vec4<f32>(0.0);
    if (i < P.rows) {
        let r = residual[body * P.rows + i];
        let z = inverse_diagonal[i] * r;
        vectors[slot(R, i, body, count)] = r;
        vectors[slot(X, i, body, count)] = vec4<f32>(0.0);
        gathered[slot(0u, i, body, count)] = z;
        rz = r * z;
    }
    let sums = group_sums(l, rz, vec4<f32>(0.0));
    if (l == 0u) {
        partial[bank(2u, body, count) + group.x] = sums.a;
    }
}

@compute @workgroup_size(128)
fn cg_multiply(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>) {
    let i = id.x;
    let body = id.y;
    var pq = vec4<f32>(0.0);
    if (i < P.rows) {
        let q = multiply(i, 0u, body, count);
        vectors[slot(W, i, body, count)] = q;
        pq = q * gathered[slot(0u, i, body, count)];
    }
    let sums = group_sums(l, pq, vec4<f32>(0.0));
    if (l == 0u) {
        partial[bank(0u, body, count) + group.x] = sums.a;
    }
}

@compute @workgroup_size(128)
fn cg_move(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>) {
    let i = id.x;
    let body = id.y;
    let old = 2u + (P.it & 1u);
    let dots = totals(l, 0u, old, body, count);
    let alpha = ratio(dots.b, dots.a);
    var rz = vec4<f32>(0.0);
    if (i < P.rows) {
        vectors[slot(X, i, body, count)] += alpha * gathered[slot(0u, i, body, count)];
        let r = vectors[slot(R, i, body, count)] - alpha * vectors[slot(W, i, body, count)];
        vectors[slot(R, i, body, count)] = r;
        rz = inverse_diagonal[i] * r * r;
    }
    let sums = group_sums(l, rz, vec4<f32>(0.0));
    if (l == 0u) {
        partial[bank(5u - old, body, count) + group.x] = sums.a;
    }
}

@compute @workgroup_size(128)
fn cg_turn(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32, @builtin(num_workgroups) count: vec3<u32>) {
    let i = id.x;
    let body = id.y;
    let old = 2u + (P.it & 1u);
    let dots = totals(l, 5u - old, old, body, count);
    let beta = ratio(dots.a, dots.b);
    if (i < P.rows) {
        let at = slot(0u, i, body, count);
        gathered[at] = inverse_diagonal[i] * vectors[slot(R, i, body, count)] + beta * gathered[at];
    }
}

// w = A u, m = D⁻¹ w; (r, u) and (w, u).
@compute @workgroup_size(128)
fn pipe_start(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>) {
    let i = id.x;
    let body = id.y;
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    if (i < P.rows) {
        let w = multiply(i, 0u, body, count);
        let u = gathered[slot(0u, i, body, count)];
        vectors[slot(W, i, body, count)] = w;
        gathered[slot(1u, i, body, count)] = inverse_diagonal[i] * w;
        a = vectors[slot(R, i, body, count)] * u;
        b = w * u;
    }
    let sums = group_sums(l, a, b);
    if (l == 0u) {
        partial[bank(0u, body, count) + group.x] = sums.a;
        partial[bank(1u, body, count) + group.x] = sums.b;
    }
}

@compute @workgroup_size(128)
fn pipe_move(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>) {
    let i = id.x;
    let body = id.y;
    let k = 2u * (P.it & 1u);
    let source = 1u - (P.it & 1u);
    let dots = totals(l, k, k + 1u, body, count);
    let scalars = bank(4u, body, count);
    var beta = vec4<f32>(0.0);
    var alpha = ratio(dots.a, dots.b);
    if (P.it > 0u) {
        beta = ratio(dots.a, partial[scalars + 2u * (P.it - 1u)]);
        alpha = ratio(dots.a, dots.b - ratio(beta * dots.a, partial[scalars + 2u * (P.it - 1u) + 1u]));
    }
    if (i == 0u) {
        partial[scalars + 2u * P.it] = dots.a;
        partial[scalars + 2u * P.it + 1u] = alpha;
    }
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    if (i < P.rows) {
        let d = inverse_diagonal[i];
        var r = vectors[slot(R, i, body, count)];
        var w = vectors[slot(W, i, body, count)];
        var z = multiply(i, source, body, count);
        var s = w;
        var p = d * r;
        if (P.it > 0u) {
            z += beta * vectors[slot(Z, i, body, count)];
            s += beta * vectors[slot(S, i, body, count)];
            p += beta * vectors[slot(D, i, body, count)];
        }
        vectors[slot(Z, i, body, count)] = z;
        vectors[slot(S, i, body, count)] = s;
        vectors[slot(D, i, body, count)] = p;
        vectors[slot(X, i, body, count)] += alpha * p;
        r -= alpha * s;
        w -= alpha * z;
        vectors[slot(R, i, body, count)] = r;
        vectors[slot(W, i, body, count)] = w;
        gathered[slot(1u - source, i, body, count)] = d * w;
        a = d * r * r;
        b = d * r * w;
    }
    let sums = group_sums(l, a, b);
    if (l == 0u) {
        partial[bank(2u - k, body, count) + group.x] = sums.a;
        partial[bank(3u - k, body, count) + group.x] = sums.b;
    }
}

@compute @workgroup_size(128)
fn chebyshev(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>) {
    let i = id.x;
    let body = id.y;
    if (i >= P.rows) {
        return;
    }
    let source = P.it & 1u;
    let r = residual[body * P.rows + i];
    var d = P.add * inverse_diagonal[i] * r;
    var x = vec4<f32>(0.0);
    if (P.it > 0u) {
        d -= P.add * inverse_diagonal[i] * multiply(i, source, body, count);
        d += P.keep * vectors[slot(D, i, body, count)];
        x = gathered[slot(source, i, body, count)];
    }
    vectors[slot(D, i, body, count)] = d;
    gathered[slot(1u - source, i, body, count)] = x + d;
    if (P.it == P.last) {
        vectors[slot(X, i, body, count)] = x + d;
    }
}

@compute @workgroup_size(128)
fn add_solution(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>) {
    if (id.x >= P.rows) {
        return;
    }
    let at = id.y * P.vertices + id.x;
    let dx = vectors[slot(X, id.x, id.y, count)].xyz;
    positions[at] = vec4(positions[at].xyz + dx, dot(dx, dx));
}
