// Start of a step, Eq. (2.9): y = x + h v + h² M⁻¹ f for free rows, targets for fixed vertices.

@group(0) @binding(1) var<storage, read_write> positions: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> previous: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> velocities: array<vec4<f32>>;
// Mass (bits) and carrier of each row.
@group(0) @binding(4) var<storage, read> row_data: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> targets: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> pushes: array<vec4<f32>>;
// Where inertia alone takes the row; w: its diagonal entry mass/h², scaled.
@group(0) @binding(7) var<storage, read_write> inertial: array<vec4<f32>>;
// Gravity and external force, scaled.
@group(0) @binding(8) var<storage, read_write> forces: array<vec4<f32>>;

@compute @workgroup_size(64)
fn predict(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= P.vertices) {
        return;
    }
    let at = id.y * P.vertices + i;
    let old = positions[at];
    previous[at] = old;
    if (i >= P.rows) {
        positions[at] = targets[id.y * (P.vertices - P.rows) + i - P.rows];
        return;
    }
    let row = id.y * P.rows + i;
    let mass = bitcast<f32>(row_data[i].x);
    let force = P.gravity * mass + pushes[row].xyz;
    let y = old.xyz + velocities[row].xyz * P.step;
    var start = y;
    if (mass > 0.0) {
        start += force * (P.step * P.step / mass);
    }
    positions[at] = vec4(start, 0.0);
    inertial[row] = vec4(y, mass * P.inertia);
    forces[row] = vec4(force * P.scale, 0.0);
}
