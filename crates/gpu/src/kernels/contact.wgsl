// Shared by the contact kernels: skin points and their contacts. As supple-sim's contact module.
//
// Every skin point has a slot for one contact, so that contacts need not be listed or sorted. Sums over contacts use
// integers, so that their order does not matter.

struct Contact {
    // Skin points and triangles of a body; clusters of 64 triangles.
    points: u32,
    triangles: u32,
    clusters: u32,
    // Skin points outside the model.
    outside: u32,
    // Rows of a body's free vertices, and with its fixed ones.
    rows: u32,
    vertices: u32,
    // Start of the other two corners of triangles in `rings`, in words.
    corners: u32,
    // Distance at which contacts are detected, distance that they keep, and mean edge [m].
    shell: f32,
    gap: f32,
    edge: f32,
    friction: f32,
    // Depth that is resolved in a step at most [m].
    recovery: f32,
    // Force of one unit of the sums, of the scaled system.
    unit: f32,
    // Largest force of a contact in units.
    most: f32,
    // Contact slots of a body: one per point, then some per point for colliders.
    entries: u32,
    colliders: u32,
    // Sliding distance in a step above which a contact adopts the new detection [m].
    fast_way: f32,
    // Change of the force limit of a fold that turns over, per step and for a cosine of one.
    giving_way: f32,
    // Start of the covering shells in `rings`, in words.
    covers: u32,
}

@group(0) @binding(0) var<uniform> C: Contact;

const FAR: f32 = 1e30;
// Mask of a point's index; the bits above encode one tet of the prism.
const INDEX: u32 = (1u << INDEX_BITS) - 1u;

fn unit_or_zero(v: vec3<f32>) -> vec3<f32> {
    let square = dot(v, v);
    return select(vec3<f32>(0.0), v * inverseSqrt(square), square > 1e-35);
}

// Coefficients of a contact's row: point minus foot.
fn coefficients(weights: vec3<f32>) -> vec4<f32> {
    return vec4(1.0, -weights);
}

// `v` rotated as the unit vector a is rotated to b.
fn turned(v: vec3<f32>, a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    let c = dot(a, b);
    if (c < -0.9999) {
        return b * dot(v, a);
    }
    let w = cross(a, b);
    return v * c + cross(w, v) + w * (dot(w, v) / (1.0 + c));
}

// A force in integer units.
fn units(force: vec3<f32>) -> vec3<i32> {
    return vec3<i32>(round(clamp(force / C.unit, vec3(-C.most), vec3(C.most))));
}
