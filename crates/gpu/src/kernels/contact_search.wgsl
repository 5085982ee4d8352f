// Detection of skin points inside prisms of other parts of the skin, and persistence of the last step's contacts.
//
// A workgroup handles 32 neighbouring points, eight invocations per point. It lists clusters whose boxes the points may
// be in; each invocation then tests an eighth of each. A point takes the prism it is least deep in.

@group(0) @binding(1) var<storage, read> triangles: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> skin: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> boxes: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> rings: array<u32>;
// Three vectors per point: normal, distance; weights, triangle (bits) or NONE; force.
@group(0) @binding(5) var<storage, read_write> contacts: array<vec4<f32>>;
// Three vectors per point: rows (bits) or NONE if not free; constant part, target; point minus foot before the step,
// depth at rest.
@group(0) @binding(6) var<storage, read_write> contact_rows: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> sums: array<atomic<i32>>;
// One bit per point: whether it is held where it is and not pushed out. Then the reduction of the recovery speed of the
// others (bits).
@group(0) @binding(8) var<storage, read> held_points: array<u32>;

const PACKET: u32 = 32u;
const LANES: u32 = 8u;
// Positions and normals of the packet, six numbers per point; then their bounds.
var<workgroup> packet: array<f32, 192>;
var<workgroup> packet_low: array<f32, 6>;
var<workgroup> packet_high: array<f32, 6>;
var<workgroup> listed: atomic<u32>;
var<workgroup> list: array<u32, 256>;
var<workgroup> best_distance: array<f32, 256>;
var<workgroup> best_triangle: array<u32, 256>;
var<workgroup> best_weights: array<vec3<f32>, 256>;
// One more than the shell that needs a ray test, or zero; and the result of the test.
var<workgroup> is_doubted: array<u32, 32>;
var<workgroup> crossings: array<atomic<i32>, 32>;

struct Found {
    triangle: u32,
    distance: f32,
    weights: vec3<f32>,
}

struct Corners {
    a: vec3<f32>,
    b: vec3<f32>,
    c: vec3<f32>,
}

fn corners_of(triangle: u32, body: u32) -> vec3<u32> {
    return (triangles[triangle].xyz & vec3(INDEX)) + body * C.points;
}

fn vectors(points: vec3<u32>, which: u32) -> Corners {
    return Corners(
        skin[4u * points.x + which].xyz,
        skin[4u * points.y + which].xyz,
        skin[4u * points.z + which].xyz,
    );
}

fn blend(v: Corners, w: vec3<f32>) -> vec3<f32> {
    return v.a * w.x + v.b * w.y + v.c * w.z;
}

// Push direction at a foot: the skin's normal. The CPU blends it toward the tissue column; here, where all forces change
// at once, that leaves squats deeper.
fn push_direction(normals: Corners, weights: vec3<f32>) -> vec3<f32> {
    return unit_or_zero(blend(normals, weights));
}

// Skin points raised by the shell: the upper ends of the columns.
fn raised(at_skin: Corners, normals: Corners) -> Corners {
    return Corners(at_skin.a + normals.a * C.shell, at_skin.b + normals.b * C.shell, at_skin.c + normals.c * C.shell);
}

// Whether a point of the packet may be in a box that has a normal facing its own.
fn packet_may_touch(box: u32) -> bool {
    let low = boxes[4u * box].xyz;
    let high = boxes[4u * box + 1u].xyz;
    let p_low = vec3(packet_low[0], packet_low[1], packet_low[2]);
    let p_high = vec3(packet_high[0], packet_high[1], packet_high[2]);
    if (any(low > p_high) || any(high < p_low)) {
        return false;
    }
    let n0 = boxes[4u * box + 2u].xyz;
    let n1 = boxes[4u * box + 3u].xyz;
    let m0 = vec3(packet_low[3], packet_low[4], packet_low[5]);
    let m1 = vec3(packet_high[3], packet_high[4], packet_high[5]);
    let least = min(min(n0 * m0, n0 * m1), min(n1 * m0, n1 * m1));
    return least.x + least.y + least.z < FACING_COSINE;
}

fn may_hold(box: u32, at: vec3<f32>, normal: vec3<f32>) -> bool {
    if (any(boxes[4u * box].xyz > at) || any(boxes[4u * box + 1u].xyz < at)) {
        return false;
    }
    let least = min(boxes[4u * box + 2u].xyz * normal, boxes[4u * box + 3u].xyz * normal);
    return least.x + least.y + least.z < FACING_COSINE;
}

// Whether a corner of the triangle is the point or a neighbour of it.
fn is_near(point: u32, triangle: u32) -> bool {
    let corners = triangles[triangle].xyz & vec3(INDEX);
    let places = vec3(rings[corners.x], rings[corners.y], rings[corners.z]);
    if (any(places == vec3(rings[point]))) {
        return true;
    }
    let end = C.corners + 2u * rings[C.points + point + 1u];
    for (var k = C.corners + 2u * rings[C.points + point]; k < end; k++) {
        if (any(places == vec3(rings[k]))) {
            return true;
        }
    }
    return false;
}

// Whether a point is together with a shell, or a marked triangle, at rest.
fn is_with(point: u32, other: u32) -> bool {
    let list = rings[C.covers + point];
    let end = list + 2u + rings[list + 1u];
    for (var k = list + 2u; k < end; k++) {
        if (rings[k] == other) {
            return true;
        }
    }
    return false;
}

// Whether a point and a triangle lie in or on each other at rest, or belong to shells that do there.
fn are_together(point: u32, triangle: u32) -> bool {
    let own = rings[rings[C.covers + point]];
    let record = triangles[triangle];
    if (own == record.w) {
        return is_with(point, TRIANGLE | triangle);
    }
    let corners = record.xyz & vec3(INDEX);
    return is_with(point, record.w) || is_with(corners.x, own) || is_with(corners.y, own)
        || is_with(corners.z, own);
}

// Corners of a prism: 0 to 2 are skin points raised by the shell, 3 to 5 base points.
fn prism_corner(top: Corners, bases: Corners, code: u32) -> vec3<f32> {
    switch (code) {
        case 0u: { return top.a; }
        case 1u: { return top.b; }
        case 2u: { return top.c; }
        case 3u: { return bases.a; }
        case 4u: { return bases.b; }
        default: { return bases.c; }
    }
}

// Contribution of a tet's corner with weight w to the foot's weights.
fn foot_weight(code: u32, w: f32) -> vec3<f32> {
    let corner = code % 3u;
    return vec3(select(0.0, w, corner == 0u), select(0.0, w, corner == 1u), select(0.0, w, corner == 2u));
}

// Tests a point against one tet of a prism; the weights of its foot, or x = 2 if it is not inside.
fn weights_in_tet(code: u32, top: Corners, bases: Corners, at: vec3<f32>) -> vec3<f32> {
    let outside = vec3<f32>(2.0, 0.0, 0.0);
    let codes = vec4(code & 7u, (code >> 3u) & 7u, (code >> 6u) & 7u, code >> 9u);
    if (codes.w == 7u) {
        return outside;
    }
    let origin = prism_corner(top, bases, codes.x);
    let a = prism_corner(top, bases, codes.y) - origin;
    let b = prism_corner(top, bases, codes.z) - origin;
    let c = prism_corner(top, bases, codes.w) - origin;
    let p = at - origin;
    let bc = cross(b, c);
    let determinant = dot(a, bc);
    let first = dot(p, bc);
    if (first < TET_TOLERANCE * determinant || first > (1.0 - TET_TOLERANCE) * determinant) {
        return outside;
    }
    let square = max(max(dot(a, a), dot(b, b)), dot(c, c));
    if (determinant <= FLAT_TET * square * sqrt(square)) {
        return outside;
    }
    let pa = cross(p, a);
    let w = vec3(first, -dot(pa, c), dot(pa, b)) / determinant;
    let rest = 1.0 - w.x - w.y - w.z;
    if (min(rest, min(w.x, min(w.y, w.z))) < TET_TOLERANCE) {
        return outside;
    }
    return foot_weight(codes.x, rest) + foot_weight(codes.y, w.x) + foot_weight(codes.z, w.y) + foot_weight(codes.w, w.z);
}

// Tests a point against a prism; NONE if it is not inside.
fn point_in_prism(point: u32, triangle: u32, at: vec3<f32>, normal: vec3<f32>, body: u32) -> Found {
    let none = Found(NONE, -FAR, vec3<f32>(0.0));
    let record = triangles[triangle].xyz;
    let points = (record & vec3(INDEX)) + body * C.points;
    let at_skin = vectors(points, 0u);
    let face = unit_or_zero(cross(at_skin.b - at_skin.a, at_skin.c - at_skin.a));
    if (dot(face, normal) > FACING_COSINE) {
        return none;
    }
    let normals = vectors(points, 1u);
    let bases = vectors(points, 2u);
    let top = raised(at_skin, normals);
    let low = min(min(min(top.a, top.b), top.c), min(min(bases.a, bases.b), bases.c));
    let high = max(max(max(top.a, top.b), top.c), max(max(bases.a, bases.b), bases.c));
    if (any(at < low) || any(at > high)) {
        return none;
    }
    var weights = weights_in_tet(record.x >> INDEX_BITS, top, bases, at);
    if (weights.x > 1.5) {
        weights = weights_in_tet(record.y >> INDEX_BITS, top, bases, at);
    }
    if (weights.x > 1.5) {
        weights = weights_in_tet(record.z >> INDEX_BITS, top, bases, at);
    }
    if (weights.x > 1.5 || is_near(point, triangle) || are_together(point, triangle)) {
        return none;
    }
    let facing = push_direction(normals, weights);
    return Found(triangle, dot(facing, at - blend(at_skin, weights)), weights);
}

// Ordering of candidates: the less deep first, ties by index.
fn comes_first(distance: f32, triangle: u32, than: f32, than_triangle: u32) -> bool {
    return distance > than || distance == than && triangle < than_triangle;
}

fn look_through(eighth: u32, point: u32, at: vec3<f32>, normal: vec3<f32>, body: u32, best: ptr<function, Found>) {
    let first = eighth * EIGHTH;
    let end = min(first + EIGHTH, C.triangles);
    for (var t = first; t < end; t++) {
        let found = point_in_prism(point, t, at, normal, body);
        if (found.triangle != NONE && comes_first(found.distance, t, (*best).distance, (*best).triangle)) {
            *best = found;
        }
    }
}

// 1 if a ray from the origin leaves through a triangle, −1 if it enters, 0 if it misses.
fn crossing(v: Corners, along: vec3<f32>) -> i32 {
    let volumes = vec3(dot(along, cross(v.a, v.b)), dot(along, cross(v.b, v.c)), dot(along, cross(v.c, v.a)));
    let normal = cross(v.b - v.a, v.c - v.a);
    if (dot(normal, v.a) * dot(normal, along) <= 0.0) {
        return 0;
    }
    return select(0, 1, all(volumes > vec3<f32>(0.0))) - select(0, 1, all(volumes <= vec3<f32>(0.0)));
}

fn ray_meets(box: u32, at: vec3<f32>, inverse: vec3<f32>) -> bool {
    let a = (boxes[4u * box].xyz - at) * inverse;
    let b = (boxes[4u * box + 1u].xyz - at) * inverse;
    let near = min(a, b);
    let far = max(a, b);
    return min(far.x, min(far.y, far.z)) >= max(max(near.x, max(near.y, near.z)), 0.0);
}

// Exits from a shell minus entries of the ray from a point along its normal, in the clusters of one lane.
fn count_crossings(point: u32, shell: u32, lane: u32, body: u32) -> i32 {
    let own = body * C.points + point;
    let at = skin[4u * own].xyz;
    let along = skin[4u * own + 1u].xyz;
    let inverse = select(vec3(1.0) / along, vec3(FAR), abs(along) < vec3<f32>(1e-30));
    var count = 0;
    for (var cluster = lane; cluster < C.clusters; cluster += LANES) {
        let first = 9u * (body * C.clusters + cluster);
        if (!ray_meets(first, at, inverse)) {
            continue;
        }
        for (var k = 0u; k < 8u; k++) {
            if (!ray_meets(first + 1u + k, at, inverse)) {
                continue;
            }
            let start = cluster * CLUSTER + k * EIGHTH;
            let end = min(start + EIGHTH, C.triangles);
            for (var t = start; t < end; t++) {
                let corners = corners_of(t, body);
                if (triangles[t].w != shell || any(corners == vec3(own))) {
                    continue;
                }
                let v = vectors(corners, 0u);
                count += crossing(Corners(v.a - at, v.b - at, v.c - at), along);
            }
        }
    }
    return count;
}

struct Touch {
    triangle: u32,
    weights: vec3<f32>,
    normal: vec3<f32>,
    distance: f32,
    force: vec3<f32>,
}

fn shares_point(a: u32, b: u32) -> bool {
    let p = triangles[a].xyz & vec3(INDEX);
    let q = triangles[b].xyz & vec3(INDEX);
    return any(p == q.xyz) || any(p == q.yzx) || any(p == q.zxy);
}

// Takes over the force of the last step, rotated with the normal, which is blended by `share`.
fn carried_over(next: Touch, old: Touch, share: f32) -> Touch {
    var o = next;
    let blended = mix(old.normal, next.normal, share);
    let square = dot(blended, blended);
    o.normal = select(next.normal, blended * inverseSqrt(max(square, 1e-35)), square > 1e-35);
    o.force = turned(old.force, old.normal, o.normal);
    return o;
}

// Words of `held_points` per body.
fn held_words() -> u32 {
    return (C.points + 31u) / 32u + 1u;
}

// The contact on its own triangle; NONE if the point has left it.
fn same_triangle(old: Touch, at: vec3<f32>, normal: vec3<f32>, share: f32, body: u32) -> Touch {
    let corners = corners_of(old.triangle, body);
    let v = vectors(corners, 0u);
    let u = v.b - v.a;
    let w = v.c - v.a;
    let p = at - v.a;
    let n = cross(u, w);
    let square = dot(n, n);
    var weights = old.weights;
    if (square > 1e-35) {
        let wb = dot(cross(p, w), n) / square;
        let wc = dot(cross(u, p), n) / square;
        let clamped = max(vec3(1.0 - wb - wc, wb, wc), vec3<f32>(0.0));
        weights = mix(old.weights, clamped / (clamped.x + clamped.y + clamped.z), share);
    }
    let normals = vectors(corners, 1u);
    let facing = push_direction(normals, weights);
    let apart = at - blend(v, weights);
    let distance = dot(facing, apart);
    let beside = length(apart - facing * distance);
    let is_gone = dot(facing, facing) < 0.5 || dot(facing, normal) > TURNED_OVER_COSINE || distance > C.shell
        || beside > TANGENTIAL_LIMIT * C.edge;
    return Touch(select(old.triangle, NONE, is_gone), weights, facing, distance, old.force);
}

// This step's contact of a point from the new detection and the contact of the last step.
fn followed(old: Touch, fresh: Touch, at: vec3<f32>, normal: vec3<f32>, moved: vec3<f32>, body: u32) -> Touch {
    let foot = blend(vectors(corners_of(old.triangle, body), 3u), old.weights);
    let way = length(moved - foot);
    let share = min(way / (SLIDE_LENGTH * C.edge), 1.0);
    var is_neighbour = false;
    if (fresh.triangle != NONE) {
        is_neighbour = shares_point(fresh.triangle, old.triangle);
    }
    let presses = any(old.force != vec3<f32>(0.0));
    if (presses && !(way > C.fast_way && is_neighbour)) {
        let kept = same_triangle(old, at, normal, share, body);
        if (kept.triangle != NONE) {
            let wrong = WRONG_SIDE_DEPTH * C.edge;
            let out = select(-FAR, fresh.distance, fresh.triangle != NONE);
            if (kept.distance < -wrong && out > kept.distance + wrong) {
                return fresh;
            }
            return carried_over(kept, old, share);
        }
    }
    if (is_neighbour) {
        return carried_over(fresh, old, max(share, NEW_TRIANGLE_BLEND));
    }
    return fresh;
}

// Largest normal force of a contact of a point with this normal: unlimited unless the fold turns over.
fn largest_force(touch: Touch, normal: vec3<f32>) -> f32 {
    let turn = dot(touch.normal, normal);
    let is_new = all(touch.force == vec3<f32>(0.0));
    if (turn <= select(GIVE_WAY_COSINE, SHRINK_COSINE, is_new)) {
        return FAR;
    }
    return max(dot(touch.force, touch.normal), 0.0) * (1.0 + C.giving_way * (SHRINK_COSINE - turn));
}

// Turns a contact into a row of the system, and adds up its coefficients.
fn assemble(point: u32, touch: Touch, body: u32) {
    let corners = triangles[touch.triangle].xyz & vec3(INDEX);
    let points = array<u32, 4>(point, corners.x, corners.y, corners.z);
    let c = coefficients(touch.weights);
    var places = vec4<u32>(NONE);
    var constant = vec3<f32>(0.0);
    var before = vec3<f32>(0.0);
    let is_active = any(touch.force != vec3<f32>(0.0)) || touch.distance < C.gap;
    for (var k = 0u; k < 4u; k++) {
        let at = 4u * (body * C.points + points[k]);
        let place = rings[points[k]];
        before += vec3(skin[at].w, skin[at + 1u].w, skin[at + 2u].w) * c[k];
        if (place < C.rows) {
            places[k] = place;
            if (is_active) {
                atomicAdd(&sums[8u * (body * C.rows + place) + 3u], i32(abs(c[k]) * COEFFICIENT_UNITS));
            }
        } else {
            constant += skin[at].xyz * c[k];
        }
    }
    let gap = C.gap;
    let depths = 2u * C.points + 1u;
    let depth = max(bitcast<f32>(rings[depths + point]), bitcast<f32>(rings[depths + corners.x]));
    let held_word = held_points[body * held_words() + point / 32u];
    let is_held = (held_word & (1u << (point % 32u))) != 0u;
    let recovery_factor = 1.0 - bitcast<f32>(held_points[(body + 1u) * held_words() - 1u]);
    let reached = min(dot(before, touch.normal), gap);
    let slow = select(C.recovery * recovery_factor, 0.0, is_held);
    let recovery = select(slow, C.recovery, reached > gap - OUTSIDE_SHARE * C.gap);
    let goal = min(gap, reached + recovery);
    let row = 3u * (body * C.entries + point);
    contact_rows[row] = bitcast<vec4<f32>>(places);
    contact_rows[row + 1u] = vec4(constant, goal);
    contact_rows[row + 2u] = vec4(before, depth);
}

@compute @workgroup_size(256)
fn contact_search(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let body = group.y;
    let slot = l % PACKET;
    let lane = l / PACKET;
    // The last packet repeats its last point.
    let point = min(group.x * PACKET + slot, C.points - 1u);
    let own = body * C.points + point;
    let place = 3u * (body * C.entries + point);
    let at = skin[4u * own].xyz;
    let normal = skin[4u * own + 1u].xyz;
    if (lane == 0u) {
        let first = 6u * slot;
        packet[first] = at.x;
        packet[first + 1u] = at.y;
        packet[first + 2u] = at.z;
        packet[first + 3u] = normal.x;
        packet[first + 4u] = normal.y;
        packet[first + 5u] = normal.z;
        is_doubted[slot] = 0u;
        atomicStore(&crossings[slot], 0);
    }
    workgroupBarrier();
    if (l < 6u) {
        var low = FAR;
        var high = -FAR;
        for (var k = l; k < 192u; k += 6u) {
            low = min(low, packet[k]);
            high = max(high, packet[k]);
        }
        packet_low[l] = low;
        packet_high[l] = high;
    }
    var best = Found(NONE, -FAR, vec3<f32>(0.0));
    for (var block = 0u; block < C.clusters; block += 256u) {
        if (l == 0u) {
            atomicStore(&listed, 0u);
        }
        workgroupBarrier();
        let candidate = block + l;
        if (candidate < C.clusters) {
            if (packet_may_touch(9u * (body * C.clusters + candidate))) {
                list[atomicAdd(&listed, 1u)] = candidate;
            }
        }
        workgroupBarrier();
        let count = atomicLoad(&listed);
        for (var k = 0u; k < count; k++) {
            let cluster = list[k];
            if (may_hold(9u * (body * C.clusters + cluster) + 1u + lane, at, normal)) {
                look_through(cluster * LANES + lane, point, at, normal, body, &best);
            }
        }
        workgroupBarrier();
    }
    best_distance[l] = best.distance;
    best_triangle[l] = best.triangle;
    best_weights[l] = best.weights;
    workgroupBarrier();
    var old = Touch(NONE, vec3<f32>(0.0), vec3<f32>(0.0), 0.0, vec3<f32>(0.0));
    if (lane == 0u) {
        let a = contacts[place];
        let b = contacts[place + 1u];
        old = Touch(bitcast<u32>(b.w), b.xyz, a.xyz, a.w, contacts[place + 2u].xyz);
        for (var k = slot + PACKET; k < 256u; k += PACKET) {
            if (comes_first(best_distance[k], best_triangle[k], best.distance, best.triangle)) {
                best = Found(best_triangle[k], best_distance[k], best_weights[k]);
            }
        }
        let presses = old.triangle != NONE && any(old.force != vec3<f32>(0.0));
        if (best.triangle != NONE && best.distance <= -RAY_CHECK_DEPTH * C.edge && !presses) {
            is_doubted[slot] = 1u + triangles[best.triangle].w;
        }
    }
    workgroupBarrier();
    if (is_doubted[slot] != 0u) {
        atomicAdd(&crossings[slot], count_crossings(point, is_doubted[slot] - 1u, lane, body));
    }
    workgroupBarrier();
    if (lane != 0u || group.x * PACKET + slot >= C.points) {
        return;
    }
    if (is_doubted[slot] != 0u && atomicLoad(&crossings[slot]) <= 0) {
        best.triangle = NONE;
    }
    var touch = Touch(best.triangle, best.weights, vec3<f32>(0.0), best.distance, vec3<f32>(0.0));
    if (best.triangle != NONE) {
        let corners = corners_of(best.triangle, body);
        touch.normal = push_direction(vectors(corners, 1u), best.weights);
    }
    if (old.triangle != NONE) {
        touch = followed(old, touch, at, normal, skin[4u * own + 3u].xyz, body);
    }
    contacts[place] = vec4(touch.normal, touch.distance);
    contacts[place + 1u] = vec4(touch.weights, bitcast<f32>(touch.triangle));
    contacts[place + 2u] = vec4(touch.force, largest_force(touch, normal));
    if (touch.triangle != NONE) {
        assemble(point, touch, body);
    }
}
