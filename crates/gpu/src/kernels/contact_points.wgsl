// Positions, normals and motions of the skin points at the start of a step; clears the sums of its contacts.

@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> previous: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> inertial: array<vec4<f32>>;
// Sections of C.points words: position index; start of its triangles (and one more, the end); depth at rest (bits).
// Then the position indices of the other two corners of each triangle, in turn. Then, from C.covers on, the start of each
// point's list; then the lists: shell of the point, a count, and as many shells, and triangles marked by their highest
// bit, that it is together with at rest.
@group(0) @binding(4) var<storage, read> rings: array<u32>;
// Points outside the model: now, then in the last step.
@group(0) @binding(5) var<storage, read_write> outside: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> bases: array<vec4<f32>>;
// Four vectors per point: position, normal, base, motion; in w of the first three: the previous position.
@group(0) @binding(7) var<storage, read_write> skin: array<vec4<f32>>;
// Two vectors per row: the sum of contact forces, with the coefficients of pressing contacts in w; last change of the
// sum.
@group(0) @binding(8) var<storage, read_write> sums: array<vec4<i32>>;

fn position_of(place: u32, body: u32) -> vec3<f32> {
    if ((place & GIVEN) != 0u) {
        return outside[body * 2u * C.outside + (place & ~GIVEN)].xyz;
    }
    return positions[body * C.vertices + place].xyz;
}

@compute @workgroup_size(64)
fn contact_points(@builtin(global_invocation_id) id: vec3<u32>) {
    let body = id.y;
    if (id.x < C.rows) {
        sums[2u * (body * C.rows + id.x)] = vec4<i32>(0);
        sums[2u * (body * C.rows + id.x) + 1u] = vec4<i32>(0);
    }
    if (id.x >= C.points) {
        return;
    }
    let place = rings[id.x];
    let a = position_of(place, body);
    var normal = vec3<f32>(0.0);
    let end = rings[C.points + id.x + 1u];
    for (var k = rings[C.points + id.x]; k < end; k++) {
        let b = position_of(rings[C.corners + 2u * k], body);
        let c = position_of(rings[C.corners + 2u * k + 1u], body);
        normal += cross(b - a, c - a);
    }
    normal = unit_or_zero(normal);
    var before: vec3<f32>;
    if ((place & GIVEN) != 0u) {
        let at = body * 2u * C.outside + C.outside + (place & ~GIVEN);
        before = outside[at].xyz;
        outside[at] = vec4(a, 0.0);
    } else {
        before = previous[body * (2u * C.vertices - C.rows) + place].xyz;
    }
    var moved = a - before;
    if (place < C.rows) {
        let own = inertial[body * C.rows + place].xyz - before;
        if (dot(own, own) > dot(moved, moved)) {
            moved = own;
        }
    }
    let point = body * C.points + id.x;
    skin[4u * point] = vec4(a, before.x);
    skin[4u * point + 1u] = vec4(normal, before.y);
    skin[4u * point + 2u] = vec4(bases[point].xyz, before.z);
    skin[4u * point + 3u] = vec4(moved, 0.0);
}
