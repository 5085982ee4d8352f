// Positions of vertices that follow frames: the model's fixed vertices, then vertices outside the model (skin that is not
// simulated). As supple-flesh's sliding.rs and holds.rs [3.2.2].

struct Params {
    // Records per body, and how many of them are fixed vertices.
    records: u32,
    fixed_count: u32,
    // Frames per body, and how many of them have a rotation; the others are matrices.
    frames: u32,
    rigid: u32,
    // For contact: skin points outside the model (the first of `places`), and base points.
    outside: u32,
    bases: u32,
}

@group(0) @binding(0) var<uniform> P: Params;
// Three vectors per frame: rotation; position, scale; axis, twist along it. Or the rows of a matrix.
@group(0) @binding(1) var<storage, read> frames: array<vec4<f32>>;
// First anchor; number of linearly blended anchors and, from bit 16 on, of holding anchors; slide, or NONE; blend factor of the
// hold (bits). Then two base points per vector: frame, position along its axis (bits).
@group(0) @binding(2) var<storage, read> records: array<vec4<u32>>;
// Two vectors per anchor: offset, weight; frame (bits), position along its axis.
@group(0) @binding(3) var<storage, read> anchors: array<vec4<f32>>;
// Seven vectors per slide: two anchors; offset, capsule start; axis, capsule end; clearances of bone and joint.
@group(0) @binding(4) var<storage, read> slides: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> targets: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> places: array<vec4<f32>>;
// Skin points outside the model: current, then those of the last step.
@group(0) @binding(7) var<storage, read_write> outside: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> bases: array<vec4<f32>>;

const NONE: u32 = 0xffffffffu;

struct Anchor {
    offset: vec3<f32>,
    weight: f32,
    frame: u32,
    t: f32,
}

struct Frame {
    turn: vec4<f32>,
    position: vec3<f32>,
    scale: f32,
    line: vec3<f32>,
    twist: f32,
}

struct Placed {
    position: vec3<f32>,
    turn: vec4<f32>,
}

fn anchor(a: vec4<f32>, b: vec4<f32>) -> Anchor {
    return Anchor(a.xyz, a.w, bitcast<u32>(b.x), b.y);
}

fn frame(index: u32, body: u32) -> Frame {
    let at = 3u * (body * P.frames + index);
    let place = frames[at + 1u];
    let line = frames[at + 2u];
    return Frame(frames[at], place.xyz, place.w, line.xyz, line.w);
}

fn product(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

fn inverse_turn(q: vec4<f32>) -> vec4<f32> {
    return vec4(-q.xyz, q.w);
}

fn turned(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    let c = cross(q.xyz, v);
    return v + 2.0 * (q.w * c + cross(q.xyz, c));
}

// Rotation about a unit axis.
fn about(axis: vec3<f32>, angle: f32) -> vec4<f32> {
    return vec4(axis * sin(0.5 * angle), cos(0.5 * angle));
}

// The frame's rotation at t along its axis.
fn turn_at(f: Frame, t: f32) -> vec4<f32> {
    let length2 = dot(f.line, f.line);
    if (f.twist == 0.0 || length2 <= 0.0) {
        return f.turn;
    }
    return product(about(f.line * inverseSqrt(length2), f.twist * t), f.turn);
}

fn placed(a: Anchor, body: u32) -> Placed {
    let f = frame(a.frame, body);
    let turn = turn_at(f, a.t);
    return Placed(f.position + f.line * a.t + turned(turn, a.offset) * f.scale, turn);
}

fn moved(a: Anchor, body: u32) -> vec3<f32> {
    if (a.frame < P.rigid) {
        return placed(a, body).position;
    }
    let at = 3u * (body * P.frames + a.frame);
    let p = vec4(a.offset, 1.0);
    return vec3(dot(frames[at], p), dot(frames[at + 1u], p), dot(frames[at + 2u], p));
}

// Blend of dual quaternions (Kavan et al. 2007). The origin is the point at rest, so the translation is its new position.
fn held(first: u32, count: u32, body: u32) -> vec3<f32> {
    var real = vec4<f32>(0.0);
    var dual = vec4<f32>(0.0);
    var reference = vec4<f32>(0.0);
    for (var k = first; k < first + count; k++) {
        let a = anchor(anchors[2u * k], anchors[2u * k + 1u]);
        let goal = placed(a, body);
        if (k == first) {
            reference = goal.turn;
        }
        let weight = select(a.weight, -a.weight, dot(reference, goal.turn) < 0.0);
        real += weight * goal.turn;
        dual += weight * product(vec4(goal.position, 0.0), goal.turn);
    }
    return product(dual, inverse_turn(real)).xyz / max(dot(real, real), 1e-18);
}

fn slerp_from(a: vec4<f32>, given: vec4<f32>, weight: f32) -> vec4<f32> {
    let b = select(given, -given, dot(a, given) < 0.0);
    let c = dot(a, b);
    // Linear interpolation for close rotations: an error of a third of the angle's cube, 1e-5 rad.
    if (c > 0.9995) {
        return normalize(mix(a, b, weight));
    }
    let angle = acos(c);
    return normalize(a * sin((1.0 - weight) * angle) + b * sin(weight * angle));
}

// Angle of a rotation's twist about an axis.
fn twist_about(axis: vec3<f32>, turn: vec4<f32>) -> f32 {
    let along = dot(turn.xyz, axis);
    return 2.0 * atan2(select(along, -along, turn.w < 0.0), abs(turn.w));
}

fn pushed(point: vec3<f32>, centre: vec3<f32>, clearance: f32) -> vec3<f32> {
    let offset = point - centre;
    let distance = length(offset);
    if (distance >= clearance || distance <= 0.0) {
        return point;
    }
    return centre + offset * (clearance / distance);
}

// A point that slides between the rings of a joint and of a bone.
fn slid(index: u32, body: u32) -> vec3<f32> {
    let at = 7u * index;
    let on_node = anchor(slides[at], slides[at + 1u]);
    let on_bone = anchor(slides[at + 2u], slides[at + 3u]);
    let offset = slides[at + 4u];
    let axis = slides[at + 5u];
    let clearances = slides[at + 6u];
    let node = frame(on_node.frame, body);
    let bone = frame(on_bone.frame, body);
    let weight = on_node.weight;
    let joint_place = placed(on_node, body);
    let bone_place = placed(on_bone, body);
    let turn = slerp_from(node.turn, bone_place.turn, weight);
    // Both anchors first get the point's own share of the twist: blending points at different angles around the bone would pull
    // them towards it.
    let line = turned(bone_place.turn, axis.xyz);
    let twist = twist_about(line, product(bone_place.turn, inverse_turn(node.turn)));
    let a = node.position + turned(about(line, twist * weight), joint_place.position - node.position);
    let b = bone.position + turned(about(line, twist * (weight - 1.0)), bone_place.position - bone.position);
    let point = mix(a, b, weight) + turned(turn, offset.xyz) * mix(node.scale, bone.scale, weight);
    let t = dot(point - bone.position, bone.line) / max(dot(bone.line, bone.line), 1e-30);
    let foot = bone.position + bone.line * clamp(t, offset.w, axis.w);
    return pushed(pushed(point, foot, clearances.x * bone.scale), node.position, clearances.y * node.scale);
}

// A base point, for contact.
fn follow_base(index: u32, body: u32) {
    let pair = records[P.records + index / 2u];
    let base = select(pair.xy, pair.zw, index % 2u == 1u);
    let f = frame(base.x, body);
    bases[body * P.bases + index] = vec4(f.position + f.line * bitcast<f32>(base.y), 0.0);
}

@compute @workgroup_size(64)
fn follow(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= P.records) {
        if (id.x < P.records + P.bases) {
            follow_base(id.x - P.records, id.y);
        }
        return;
    }
    let record = records[id.x];
    let linear = record.y & 0xffffu;
    let share = bitcast<f32>(record.w);
    var place = vec3<f32>(0.0);
    if (record.z != NONE) {
        place = slid(record.z, id.y);
    } else {
        for (var k = record.x; k < record.x + linear; k++) {
            let a = anchor(anchors[2u * k], anchors[2u * k + 1u]);
            place += a.weight * moved(a, id.y);
        }
    }
    if (share > 0.0) {
        place = mix(place, held(record.x + linear, record.y >> 16u, id.y), share);
    }
    if (id.x < P.fixed_count) {
        targets[id.y * P.fixed_count + id.x] = vec4(place, 0.0);
    } else {
        let at = id.x - P.fixed_count;
        places[id.y * (P.records - P.fixed_count) + at] = vec4(place, 0.0);
        if (at < P.outside) {
            outside[id.y * 2u * P.outside + at] = vec4(place, 0.0);
        }
    }
}
