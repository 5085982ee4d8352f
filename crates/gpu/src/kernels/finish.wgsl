// End of a step: velocities of Eq. (2.14), damped relative to the carrier's motion.

@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> previous: array<vec4<f32>>;
// In: how far the carrier moved, and w: share of the velocity that damping leaves. Out: velocities.
@group(0) @binding(3) var<storage, read_write> velocities: array<vec4<f32>>;

@compute @workgroup_size(64)
fn finish(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= P.vertices) {
        return;
    }
    let at = id.y * P.vertices + id.x;
    let fixed_count = P.vertices - P.rows;
    let before = at + id.y * fixed_count;
    if (id.x >= P.rows) {
        previous[before + fixed_count] = previous[before];
        previous[before] = positions[at];
        return;
    }
    let row = id.y * P.rows + id.x;
    let moved = positions[at].xyz - previous[before].xyz;
    let carried = velocities[row].xyz;
    let kept = velocities[row].w * kept_share(row, id.x);
    velocities[row] = vec4((carried + (moved - carried) * kept) * P.per_second, 0.0);
}
