// Boxes around prisms, grown by the shell, and around the normals of their triangles: for eighths of clusters, and for
// clusters.

// Corners: point indices (lower 20 bits), each with the corners of one tet of the prism in its upper 12 bits;
// then the shell.
@group(0) @binding(1) var<storage, read> triangles: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> skin: array<vec4<f32>>;
// Nine boxes per cluster, its own first, of four vectors: low, high, lowest and highest normal.
@group(0) @binding(3) var<storage, read_write> boxes: array<vec4<f32>>;

var<workgroup> lows: array<vec3<f32>, 64>;
var<workgroup> highs: array<vec3<f32>, 64>;
var<workgroup> low_normals: array<vec3<f32>, 64>;
var<workgroup> high_normals: array<vec3<f32>, 64>;

// Joins eight boxes, `stride` apart, into the first.
fn join(first: u32, stride: u32) {
    for (var k = 1u; k < 8u; k++) {
        let at = first + k * stride;
        lows[first] = min(lows[first], lows[at]);
        highs[first] = max(highs[first], highs[at]);
        low_normals[first] = min(low_normals[first], low_normals[at]);
        high_normals[first] = max(high_normals[first], high_normals[at]);
    }
}

fn keep(at: u32, box: u32) {
    boxes[4u * box] = vec4(lows[at], 0.0);
    boxes[4u * box + 1u] = vec4(highs[at], 0.0);
    boxes[4u * box + 2u] = vec4(low_normals[at], 0.0);
    boxes[4u * box + 3u] = vec4(high_normals[at], 0.0);
}

@compute @workgroup_size(64)
fn contact_boxes(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let body = group.y;
    let t = group.x * CLUSTER + l;
    lows[l] = vec3(FAR);
    highs[l] = vec3(-FAR);
    low_normals[l] = vec3(FAR);
    high_normals[l] = vec3(-FAR);
    if (t < C.triangles) {
        let corners = (triangles[t].xyz & vec3(INDEX)) + body * C.points;
        let a = skin[4u * corners.x].xyz;
        let b = skin[4u * corners.y].xyz;
        let c = skin[4u * corners.z].xyz;
        let face = unit_or_zero(cross(b - a, c - a));
        let ta = a + skin[4u * corners.x + 1u].xyz * C.shell;
        let tb = b + skin[4u * corners.y + 1u].xyz * C.shell;
        let tc = c + skin[4u * corners.z + 1u].xyz * C.shell;
        let ba = skin[4u * corners.x + 2u].xyz;
        let bb = skin[4u * corners.y + 2u].xyz;
        let bc = skin[4u * corners.z + 2u].xyz;
        lows[l] = min(min(min(ta, tb), tc), min(min(ba, bb), bc));
        highs[l] = max(max(max(ta, tb), tc), max(max(ba, bb), bc));
        low_normals[l] = face;
        high_normals[l] = face;
    }
    workgroupBarrier();
    let first = 9u * (body * C.clusters + group.x);
    if (l < 8u) {
        join(8u * l, 1u);
        keep(8u * l, first + 1u + l);
    }
    workgroupBarrier();
    if (l == 0u) {
        join(0u, 8u);
        keep(0u, first);
    }
}
