// Initial guess of a step. Free rows move with their carriers and keep their velocity relative to them, or get the prediction
// y = x + h v + h² M⁻¹ f of Eq. (2.9) without a carrier. Fixed vertices get their targets. As supple-sim's start.rs.

@group(0) @binding(1) var<storage, read_write> positions: array<vec4<f32>>;
// Free rows: positions before the step, written here. Then fixed vertices before this step, and before the last one, both written
// by `finish`.
@group(0) @binding(2) var<storage, read_write> previous: array<vec4<f32>>;
// In: velocities. Out: displacement of the carrier, and w: share of the velocity that damping leaves, for `finish`.
@group(0) @binding(3) var<storage, read_write> velocities: array<vec4<f32>>;
// Mass (bits) of each row, its carrier and two fixed vertices near it. Then the wave speed (bits) of each row, and
// its damping by materials [1/s], four to an entry.
@group(0) @binding(4) var<storage, read> row_data: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> targets: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> pushes: array<vec4<f32>>;
// Inertial prediction of each row, bounded; w: its diagonal entry mass/h², scaled.
@group(0) @binding(7) var<storage, read_write> inertial: array<vec4<f32>>;
// Gravity and external force, scaled.
@group(0) @binding(8) var<storage, read_write> forces: array<vec4<f32>>;

// Largest motion of a vertex relative to its carriers in one step, relative to its distance from them.
const MAX_RELATIVE_MOTION: f32 = 0.5;
// A larger rotation in one step is that of a collapsed triangle, not of a limb, unless the triangle keeps its shape.
const MIN_COSINE: f32 = 0.0;
const MIN_RIGID_COSINE: f32 = -0.9998;
const MAX_CHANGE: f32 = 0.1;

struct Triangle {
    a: vec3<f32>,
    b: vec3<f32>,
    c: vec3<f32>,
}

fn fixed_before(corners: vec3<u32>, first: u32) -> Triangle {
    return Triangle(
        previous[first + corners.x].xyz,
        previous[first + corners.y].xyz,
        previous[first + corners.z].xyz,
    );
}

fn fixed_after(corners: vec3<u32>, first: u32) -> Triangle {
    return Triangle(
        targets[first + corners.x].xyz,
        targets[first + corners.y].xyz,
        targets[first + corners.z].xyz,
    );
}

struct Frame {
    axes: mat3x3<f32>,
    exists: bool,
}

// Orthonormal axes of a triangle: its first edge and its normal.
fn frame(t: Triangle) -> Frame {
    let edge = t.b - t.a;
    let normal = cross(edge, t.c - t.a);
    let squares = vec2(dot(edge, edge), dot(normal, normal));
    if (min(squares.x, squares.y) < 1e-30) {
        return Frame(mat3x3<f32>(), false);
    }
    let x = edge * inverseSqrt(squares.x);
    let z = normal * inverseSqrt(squares.y);
    return Frame(mat3x3<f32>(x, cross(z, x), z), true);
}

// |b|², |c|² and b·c of the sides b and c at the first corner.
fn products(t: Triangle) -> vec3<f32> {
    let b = t.b - t.a;
    let c = t.c - t.a;
    return vec3(dot(b, b), dot(c, c), dot(b, c));
}

// Whether two triangles have the same shape.
fn are_congruent(before: Triangle, now: Triangle) -> bool {
    let shape = products(before);
    let change = abs(products(now) - shape);
    return max(change.x, max(change.y, change.z)) <= MAX_CHANGE * max(shape.x, shape.y);
}

// `offset` rotated like a triangle from one position to another; unchanged if the rotation is not plausible.
fn turned(from_triangle: Triangle, to_triangle: Triangle, offset: vec3<f32>) -> vec3<f32> {
    if (all(from_triangle.a == to_triangle.a) && all(from_triangle.b == to_triangle.b)
        && all(from_triangle.c == to_triangle.c)) {
        return offset;
    }
    let before = frame(from_triangle);
    let after = frame(to_triangle);
    if (!before.exists || !after.exists) {
        return offset;
    }
    let turn = after.axes * transpose(before.axes);
    let trace = turn[0][0] + turn[1][1] + turn[2][2];
    if (trace < 2.0 * MIN_COSINE + 1.0
        && (trace < 2.0 * MIN_RIGID_COSINE + 1.0 || !are_congruent(from_triangle, to_triangle))) {
        return offset;
    }
    return turn * offset;
}

// The prediction with its distance from `carried` saturated, d / (1 + (d/most)⁴)^¼. As supple-sim's inertia.rs.
fn saturated(inertial: vec3<f32>, carried: vec3<f32>, most: f32) -> vec3<f32> {
    if (!(most > 0.0)) {
        return inertial;
    }
    // Scaled first: squares of large numbers overflow.
    let away = inertial - carried;
    let ratio = min(length(away / most), 1e9);
    let square = ratio * ratio;
    return inertial - away * (1.0 - inverseSqrt(sqrt(1.0 + square * square)));
}

@compute @workgroup_size(64)
fn predict(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= P.vertices) {
        return;
    }
    let base = id.y * P.vertices;
    let fixed_count = P.vertices - P.rows;
    let first_target = id.y * fixed_count;
    let first_previous = id.y * (P.vertices + fixed_count);
    if (i >= P.rows) {
        positions[base + i] = targets[first_target + i - P.rows];
        return;
    }
    let row = id.y * P.rows + i;
    let old = positions[base + i].xyz;
    let data = row_data[i];
    let mass = bitcast<f32>(data.x);
    let force = P.gravity * mass + pushes[row].xyz;
    let y = old + velocities[row].xyz * P.step;
    var start = y;
    var bounded = y;
    var carried = vec3<f32>(0.0);
    if (data.y != NONE) {
        let now = fixed_before(data.yzw, first_previous + P.rows);
        let next = fixed_after(data.yzw, first_target);
        carried = next.a - now.a;
        var offset = old - now.a;
        let most = P.relative_motion * bitcast<f32>(row_data[P.rows + i / 4u][i % 4u]);
        bounded = saturated(y, next.a + turned(now, next, offset), most);
        if (P.step > 0.0) {
            let before = fixed_before(data.yzw, first_previous + P.vertices);
            let rigid = now.a - before.a + offset - turned(now, before, offset);
            let own = y - old - rigid;
            let most = MAX_RELATIVE_MOTION * length(offset);
            offset += own * min(1.0, most / max(length(own), 1e-30));
        }
        start = next.a + turned(now, next, offset);
    } else if (mass > 0.0) {
        start += force * (P.step * P.step / mass);
    }
    previous[first_previous + i] = vec4(old, 0.0);
    positions[base + i] = vec4(start, 0.0);
    var kept = P.kept;
    let dampings = P.rows + P.rows / 4u;
    // Without materials that damp there is no such list.
    if (dampings < arrayLength(&row_data)) {
        let damping = bitcast<f32>(row_data[dampings + i / 4u][i % 4u]);
        kept *= exp2(-P.damping_time * damping);
    }
    velocities[row] = vec4(carried, kept);
    inertial[row] = vec4(bounded, mass * P.inertia);
    forces[row] = vec4(force * P.scale, 0.0);
}
