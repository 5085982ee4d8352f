// Contacts between skin and colliders, as supple-sim's contact/collide.rs and collider_shapes.rs. A point has slots for
// the two colliders it is deepest in.

@group(0) @binding(1) var<storage, read> skin: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> rings: array<u32>;
// Five vectors each: sizes and shape (bits); rotation now; translation and friction now; rotation and translation
// before.
@group(0) @binding(3) var<storage, read> colliders: array<vec4<f32>>;
// As in contact_search.wgsl, with the friction in place of the weights and the collider in place of the triangle.
@group(0) @binding(4) var<storage, read_write> contacts: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> contact_rows: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> sums: array<atomic<i32>>;

const PLANE: u32 = 0u;
const SPHERE: u32 = 1u;
const CAPSULE: u32 = 2u;

// The nearest point of a shape's surface.
struct Near {
    foot: vec3<f32>,
    normal: vec3<f32>,
    distance: f32,
}

struct Hit {
    collider: u32,
    // Distance from the collider, then its foot, now and before, in front of the collider by the gap.
    distance: f32,
    normal: vec3<f32>,
    foot: vec3<f32>,
    foot_before: vec3<f32>,
}

fn rotated(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + v * q.w);
}

fn rotated_back(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    return rotated(vec4(-q.xyz, q.w), v);
}

fn nearest_on_ball(p: vec3<f32>, centre: vec3<f32>, radius: f32, out: vec3<f32>) -> Near {
    let away = p - centre;
    let far = length(away);
    let normal = select(out, away / max(far, 1e-30), far > 0.0);
    return Near(centre + normal * radius, normal, far - radius);
}

fn nearest_on_box(p: vec3<f32>, half: vec3<f32>) -> Near {
    let outside = p - clamp(p, -half, half);
    let far = length(outside);
    if (far > 0.0) {
        return Near(p - outside, outside / far, far);
    }
    // Inside: through the nearest face.
    let depths = half - abs(p);
    let signs = select(vec3<f32>(1.0), vec3<f32>(-1.0), p < vec3<f32>(0.0));
    var normal = vec3(signs.x, 0.0, 0.0);
    var depth = depths.x;
    if (depths.y < depth) {
        normal = vec3(0.0, signs.y, 0.0);
        depth = depths.y;
    }
    if (depths.z < depth) {
        normal = vec3(0.0, 0.0, signs.z);
        depth = depths.z;
    }
    return Near(p + normal * depth, normal, -depth);
}

fn nearest(shape: vec4<f32>, p: vec3<f32>, out: vec3<f32>) -> Near {
    switch (bitcast<u32>(shape.w)) {
        case PLANE: {
            return Near(vec3(p.x, 0.0, p.z), vec3(0.0, 1.0, 0.0), p.y);
        }
        case SPHERE: {
            return nearest_on_ball(p, vec3<f32>(0.0), shape.x, out);
        }
        case CAPSULE: {
            let along = clamp(p.y, -0.5 * shape.y, 0.5 * shape.y);
            // Next to the axis, directions along it are never nearest.
            let across = unit_or_zero(vec3(out.x, 0.0, out.z));
            let beside = select(vec3(1.0, 0.0, 0.0), across, dot(across, across) > 0.5);
            return nearest_on_ball(p, vec3(0.0, along, 0.0), shape.x, beside);
        }
        default: {
            return nearest_on_box(p, shape.xyz);
        }
    }
}

// First contact of a path with a shape, by conservative advancement; a distance of FAR if there is none.
fn first_touch(shape: vec4<f32>, start: vec3<f32>, end: vec3<f32>, out: vec3<f32>) -> Near {
    let none = Near(vec3<f32>(0.0), vec3<f32>(0.0), FAR);
    let way = length(end - start);
    var t = 0.0;
    for (var k = 0u; k < MAX_ADVANCES; k++) {
        let near = nearest(shape, mix(start, end, t), out);
        if (near.distance <= 0.5 * C.shell) {
            return near;
        }
        t += near.distance / way;
        if (t >= 1.0) {
            return none;
        }
    }
    return none;
}

// Contact of a path with a shape: at its end, unless the path entered through another side.
fn met(shape: vec4<f32>, start: vec3<f32>, end: vec3<f32>, out: vec3<f32>, long_way: f32) -> Near {
    var at_end = nearest(shape, end, out);
    if (at_end.distance > C.shell) {
        at_end.distance = FAR;
    }
    if (length(end - start) <= long_way) {
        return at_end;
    }
    let entry = first_touch(shape, start, end, out);
    if (entry.distance == FAR || (at_end.distance != FAR && dot(at_end.normal, entry.normal) > FACING_COSINE)) {
        return at_end;
    }
    return entry;
}

fn touched(k: u32, at: vec3<f32>, before: vec3<f32>, normal: vec3<f32>, depth: f32) -> Hit {
    let none = Hit(NONE, FAR, vec3<f32>(0.0), vec3<f32>(0.0), vec3<f32>(0.0));
    let turn = colliders[COLLIDER * k + 1u];
    let place = colliders[COLLIDER * k + 2u].xyz;
    let turn_before = colliders[COLLIDER * k + 3u];
    let place_before = colliders[COLLIDER * k + 4u].xyz;
    let start = rotated_back(turn_before, before - place_before);
    let end = rotated_back(turn, at - place);
    let near = met(colliders[COLLIDER * k], start, end, rotated_back(turn, -normal), TRACED_DISTANCE * depth);
    if (near.distance == FAR) {
        return none;
    }
    let out = rotated(turn, near.normal);
    // A point that came in on one side goes out on that side.
    if (dot(out, normal) > FACING_COSINE) {
        return none;
    }
    let foot = near.foot + near.normal * C.gap;
    let distance = dot(end - near.foot, near.normal);
    return Hit(k, distance, out, rotated(turn, foot) + place, rotated(turn_before, foot) + place_before);
}

@compute @workgroup_size(64)
fn contact_collide(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= C.points) {
        return;
    }
    let body = id.y;
    let own = 4u * (body * C.points + id.x);
    let first = 3u * (body * C.entries + C.points + SLOTS * id.x);
    let row = rings[id.x];
    let at = skin[own].xyz;
    let before = vec3(skin[own].w, skin[own + 1u].w, skin[own + 2u].w);
    var normal = skin[own + 1u].xyz;
    if (dot(normal, normal) < 0.5) {
        normal = vec3(0.0, 1.0, 0.0);
    }
    let depth = bitcast<f32>(rings[2u * C.points + 1u + id.x]);
    let none = Hit(NONE, FAR, vec3<f32>(0.0), vec3<f32>(0.0), vec3<f32>(0.0));
    var deepest = none;
    var second = none;
    if (row < C.rows) {
        for (var k = 0u; k < C.colliders; k++) {
            let hit = touched(k, at, before, normal, depth);
            if (hit.distance < deepest.distance) {
                second = deepest;
                deepest = hit;
            } else if (hit.distance < second.distance) {
                second = hit;
            }
        }
    }
    // Both are read before either is written.
    let old_normals = array<vec3<f32>, 2>(contacts[first].xyz, contacts[first + 3u].xyz);
    let old_colliders = vec2(bitcast<u32>(contacts[first + 1u].w), bitcast<u32>(contacts[first + 4u].w));
    let old_forces = array<vec3<f32>, 2>(contacts[first + 2u].xyz, contacts[first + 5u].xyz);
    for (var slot = 0u; slot < SLOTS; slot++) {
        var hit = deepest;
        if (slot == 1u) {
            hit = second;
        }
        let entry = first + 3u * slot;
        contacts[entry + 1u].w = bitcast<f32>(hit.collider);
        if (hit.collider == NONE) {
            continue;
        }
        var force = vec3<f32>(0.0);
        if (old_colliders.x == hit.collider) {
            force = turned(old_forces[0], old_normals[0], hit.normal);
        } else if (old_colliders.y == hit.collider) {
            force = turned(old_forces[1], old_normals[1], hit.normal);
        }
        let apart = before - hit.foot_before;
        let goal = min(min(dot(apart, hit.normal), 0.0) + C.recovery, 0.0);
        contacts[entry] = vec4(hit.normal, hit.distance);
        contacts[entry + 1u] = vec4(colliders[COLLIDER * hit.collider + 2u].w, 0.0, 0.0, bitcast<f32>(hit.collider));
        contacts[entry + 2u] = vec4(force, FAR);
        contact_rows[entry] = bitcast<vec4<f32>>(vec4<u32>(row, NONE, NONE, NONE));
        contact_rows[entry + 1u] = vec4(-hit.foot, goal);
        contact_rows[entry + 2u] = vec4(apart, depth);
        if (any(force != vec3<f32>(0.0)) || hit.distance < C.gap) {
            atomicAdd(&sums[8u * (body * C.rows + row) + 3u], i32(COEFFICIENT_UNITS));
        }
    }
}
