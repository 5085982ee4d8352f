// Shared by the kernels of contact: where skin points are, what they touch. As supple-sim's contact module.
//
// A contact belongs to its point: there is a place for one at every skin point, and none to be found or sorted. Sums over
// contacts are taken in whole numbers, which come out the same in any order.

struct Contact {
    // Skin points and triangles of a body; clusters of 64 triangles.
    points: u32,
    triangles: u32,
    clusters: u32,
    // Skin points outside the model.
    outside: u32,
    // Rows of free vertices of a body, and with its fixed ones.
    rows: u32,
    vertices: u32,
    // Where the other two corners of triangles begin in `rings`, in words.
    corners: u32,
    // Distance at which a pair is known, that it keeps, and the mean edge [m].
    shell: f32,
    gap: f32,
    edge: f32,
    friction: f32,
    // Depth that may be taken back in a step [m].
    recovery: f32,
    // Force of one unit of the sums, of the scaled system.
    unit: f32,
    // Most units of a contact's force.
    most: f32,
    // Places for contacts of a body: one a point, then some a point for those with colliders.
    entries: u32,
    colliders: u32,
    // Way in a step of a contact that slides fast [m].
    fast_way: f32,
    // Change of the force of a contact that gives way, as a share for a cosine of one.
    giving_way: f32,
}

@group(0) @binding(0) var<uniform> C: Contact;

const FAR: f32 = 1e30;
// A point's index, below the corners of one tet of the prism.
const INDEX: u32 = (1u << INDEX_BITS) - 1u;

fn unit_or_zero(v: vec3<f32>) -> vec3<f32> {
    let square = dot(v, v);
    return select(vec3<f32>(0.0), v * inverseSqrt(square), square > 1e-35);
}

// Coefficients of a contact's row: the point, less its foot.
fn coefficients(weights: vec3<f32>) -> vec4<f32> {
    return vec4(1.0, -weights);
}

// `v` turned as the unit vector a is turned to b.
fn turned(v: vec3<f32>, a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    let c = dot(a, b);
    if (c < -0.9999) {
        return b * dot(v, a);
    }
    let w = cross(a, b);
    return v * c + cross(w, v) + w * (dot(w, v) / (1.0 + c));
}

// A force in units.
fn units(force: vec3<f32>) -> vec3<i32> {
    return vec3<i32>(round(clamp(force / C.unit, vec3(-C.most), vec3(C.most))));
}
