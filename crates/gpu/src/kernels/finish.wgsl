// End of a step: velocities of Eq. (2.14), damped relative to the carrier's motion.

@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> previous: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> velocities: array<vec4<f32>>;
// Mass (bits) and carrier of each row.
@group(0) @binding(4) var<storage, read> row_data: array<vec2<u32>>;

@compute @workgroup_size(64)
fn finish(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= P.rows) {
        return;
    }
    let base = id.y * P.vertices;
    let moved = positions[base + id.x].xyz - previous[base + id.x].xyz;
    var carried = vec3<f32>(0.0);
    let carrier = row_data[id.x].y;
    if (carrier != NONE) {
        let c = base + P.rows + carrier;
        carried = positions[c].xyz - previous[c].xyz;
    }
    velocities[id.y * P.rows + id.x] = vec4((carried + (moved - carried) * P.kept) * P.per_second, 0.0);
}
