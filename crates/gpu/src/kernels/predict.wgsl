// Start of a step: where carriers take the free rows, or the prediction y = x + h v + h² M⁻¹ f of Eq. (2.9) where nothing
// carries them; targets for fixed vertices. As supple-sim's start.rs.

@group(0) @binding(1) var<storage, read_write> positions: array<vec4<f32>>;
// Free rows: positions before the step, written here. Fixed vertices: as they were, written by `finish`.
@group(0) @binding(2) var<storage, read_write> previous: array<vec4<f32>>;
// In: velocities. Out: how far the carrier moves, for `finish`.
@group(0) @binding(3) var<storage, read_write> velocities: array<vec4<f32>>;
// Mass (bits) of each row, its carrier and two fixed vertices beside that.
@group(0) @binding(4) var<storage, read> row_data: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> targets: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> pushes: array<vec4<f32>>;
// Where inertia alone takes the row; w: its diagonal entry mass/h², scaled.
@group(0) @binding(7) var<storage, read_write> inertial: array<vec4<f32>>;
// Gravity and external force, scaled.
@group(0) @binding(8) var<storage, read_write> forces: array<vec4<f32>>;

// Orthonormal axes of a triangle: the sum and the difference of two unit edges are perpendicular.
struct Frame {
    axes: mat3x3<f32>,
    exists: bool,
}

fn frame(a: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> Frame {
    let first = b - a;
    let second = c - a;
    let lengths = vec2(dot(first, first), dot(second, second));
    if (min(lengths.x, lengths.y) < 1e-30) {
        return Frame(mat3x3<f32>(), false);
    }
    let sum = first * inverseSqrt(lengths.x) + second * inverseSqrt(lengths.y);
    let difference = first * inverseSqrt(lengths.x) - second * inverseSqrt(lengths.y);
    let squares = vec2(dot(sum, sum), dot(difference, difference));
    if (min(squares.x, squares.y) < 1e-12) {
        return Frame(mat3x3<f32>(), false);
    }
    let x = sum * inverseSqrt(squares.x);
    let y = difference * inverseSqrt(squares.y);
    return Frame(mat3x3<f32>(x, y, cross(x, y)), true);
}

// `offset` turned as the triangle of fixed vertices turns in this step; unturned where that is not a limb's motion.
fn turned(offset: vec3<f32>, corners: vec3<u32>, old: u32, now: u32) -> vec3<f32> {
    let a0 = previous[old + corners.x].xyz;
    let b0 = previous[old + corners.y].xyz;
    let c0 = previous[old + corners.z].xyz;
    let a1 = targets[now + corners.x].xyz;
    let b1 = targets[now + corners.y].xyz;
    let c1 = targets[now + corners.z].xyz;
    if (all(a0 == a1) && all(b0 == b1) && all(c0 == c1)) {
        return offset;
    }
    let before = frame(a0, b0, c0);
    let after = frame(a1, b1, c1);
    if (!before.exists || !after.exists) {
        return offset;
    }
    let turn = after.axes * transpose(before.axes);
    // A larger turn than a right angle is not a limb's in one step but a triangle's that has collapsed.
    if (turn[0][0] + turn[1][1] + turn[2][2] < 1.0) {
        return offset;
    }
    return turn * offset;
}

@compute @workgroup_size(64)
fn predict(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= P.vertices) {
        return;
    }
    let base = id.y * P.vertices;
    let first_target = id.y * (P.vertices - P.rows);
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
    var carried = vec3<f32>(0.0);
    if (data.y != NONE) {
        let before = previous[base + P.rows + data.y].xyz;
        let after = targets[first_target + data.y].xyz;
        carried = after - before;
        start = after + turned(old - before, data.yzw, base + P.rows, first_target);
    } else if (mass > 0.0) {
        start += force * (P.step * P.step / mass);
    }
    previous[base + i] = vec4(old, 0.0);
    positions[base + i] = vec4(start, 0.0);
    velocities[row] = vec4(carried, 0.0);
    inertial[row] = vec4(y, mass * P.inertia);
    forces[row] = vec4(force * P.scale, 0.0);
}
