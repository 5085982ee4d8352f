// Closest rotation to a 3×3 matrix, always with determinant +1: the closed form of supple-geom's polar.rs.
//
// With λ = s₁+s₂+s₃ (s₃ signed like det F): (λ² − ‖F‖²)² = 8 λ det F + 4 ‖cof F‖² and
// R = ((λ² − k) F + λ cof F − F FᵀF) / (λ k − det F), k = (λ² − ‖F‖²)/2. Matrices are scaled to ‖F‖ = 1 first.
// No comparison relies on NaN or infinity: WGSL compilers may assume there are none.

// Size of the last Halley step below which λ has converged to single precision: each step cubes the error.
const CONVERGED: f32 = 5e-3;
// (s₁+s₂)(s₂+s₃)(s₁+s₃)/λ³ (8/27 at the identity) above which the closed form is accurate to single precision.
const CLEAR_SEPARATION: f32 = 0.2;
// The same with a Newton–Schulz step; below it rounding errors dominate, and Jacobi rotations are used.
const LEAST_SEPARATION: f32 = 1e-2;
// Largest |RᵀR − 1| before the Newton–Schulz step, which leaves about its square.
const MAX_STRETCH: f32 = 2e-3;

fn cofactors(f: mat3x3<f32>) -> mat3x3<f32> {
    return mat3x3<f32>(cross(f[1], f[2]), cross(f[2], f[0]), cross(f[0], f[1]));
}

fn contract(a: mat3x3<f32>, b: mat3x3<f32>) -> f32 {
    return dot(a[0], b[0]) + dot(a[1], b[1]) + dot(a[2], b[2]);
}

// Step of Halley's method on the quartic for λ, from above.
fn halley_step(lambda: f32, norm2: f32, cof2: f32, det: f32) -> f32 {
    let a = lambda * lambda - norm2;
    let value = 0.25 * a * a - (cof2 + 2.0 * det * lambda);
    let slope = lambda * a - 2.0 * det;
    let curvature = lambda * lambda + 0.5 * a;
    // Positive if all roots are real, except for rounding near a double root.
    return value * slope / max(slope * slope - value * curvature, 1e-12);
}

fn closed_form(f: mat3x3<f32>, gram: mat3x3<f32>, c: mat3x3<f32>, lambda: f32, k: f32, separation: f32) -> mat3x3<f32> {
    let inverse = 1.0 / separation;
    let a = (lambda * lambda - k) * inverse;
    let m = mat3x3<f32>(
        vec3(a, 0.0, 0.0) - gram[0] * inverse,
        vec3(0.0, a, 0.0) - gram[1] * inverse,
        vec3(0.0, 0.0, a) - gram[2] * inverse,
    );
    return f * m + c * (lambda * inverse);
}

fn closest_rotation(given: mat3x3<f32>) -> mat3x3<f32> {
    let size2 = contract(given, given);
    if (size2 <= 1e-30) {
        return mat3x3<f32>(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    }
    let f = given * inverseSqrt(size2);
    let gram = transpose(f) * f;
    let c = cofactors(f);
    let norm2 = gram[0][0] + gram[1][1] + gram[2][2];
    let cof2 = contract(c, c);
    let det = dot(f[0], c[0]);
    var lambda = sqrt(3.0 * norm2);
    lambda -= halley_step(lambda, norm2, cof2, det);
    let last = halley_step(lambda, norm2, cof2, det);
    lambda -= last;
    var k = 0.5 * (lambda * lambda - norm2);
    var separation = lambda * k - det;
    if (abs(last) <= CONVERGED * lambda && separation >= CLEAR_SEPARATION * lambda * lambda * lambda) {
        return closed_form(f, gram, c, lambda, k, separation);
    }
    for (var i = 0; i < 4; i++) {
        lambda -= halley_step(lambda, norm2, cof2, det);
    }
    k = 0.5 * (lambda * lambda - norm2);
    separation = lambda * k - det;
    if (separation >= LEAST_SEPARATION * lambda * lambda * lambda) {
        let r = closed_form(f, gram, c, lambda, k, separation);
        let g = transpose(r) * r;
        let one = mat3x3<f32>(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
        let off = g - one;
        if (contract(off, off) <= MAX_STRETCH * MAX_STRETCH) {
            return r * (one * 1.5 - g * 0.5);
        }
    }
    return jacobi_rotation(f);
}

// Rotates columns a and b (and those of V) so that they are orthogonal.
fn orthogonalise(a: ptr<function, vec3<f32>>, b: ptr<function, vec3<f32>>, va: ptr<function, vec3<f32>>, vb: ptr<function, vec3<f32>>) {
    let aa = dot(*a, *a);
    let bb = dot(*b, *b);
    let ab = dot(*a, *b);
    if (ab * ab <= 1e-14 * aa * bb || abs(ab) < 1e-30) {
        return;
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let t = select(-1.0, 1.0, zeta >= 0.0) / (abs(zeta) + sqrt(1.0 + zeta * zeta));
    let c = inverseSqrt(1.0 + t * t);
    let s = c * t;
    let x = *a;
    let vx = *va;
    *a = x * c - *b * s;
    *b = x * s + *b * c;
    *va = vx * c - *vb * s;
    *vb = vx * s + *vb * c;
}

// One-sided Jacobi rotations; robust for flat, inverted and rank-one matrices.
fn jacobi_rotation(f: mat3x3<f32>) -> mat3x3<f32> {
    var b0 = f[0];
    var b1 = f[1];
    var b2 = f[2];
    var v0 = vec3<f32>(1.0, 0.0, 0.0);
    var v1 = vec3<f32>(0.0, 1.0, 0.0);
    var v2 = vec3<f32>(0.0, 0.0, 1.0);
    for (var sweep = 0; sweep < 8; sweep++) {
        orthogonalise(&b0, &b1, &v0, &v1);
        orthogonalise(&b0, &b2, &v0, &v2);
        orthogonalise(&b1, &b2, &v1, &v2);
    }
    // The two longest columns, the longest first.
    if (dot(b1, b1) > dot(b0, b0)) {
        let b = b0;
        let v = v0;
        b0 = b1;
        v0 = v1;
        b1 = b;
        v1 = v;
    }
    if (dot(b2, b2) > dot(b0, b0)) {
        let b = b0;
        let v = v0;
        b0 = b2;
        v0 = v2;
        b2 = b;
        v2 = v;
    }
    if (dot(b2, b2) > dot(b1, b1)) {
        b1 = b2;
        v1 = v2;
    }
    let u0 = normalize(b0);
    b1 -= u0 * dot(u0, b1);
    if (dot(b1, b1) <= 1e-12) {
        return smallest_rotation(v0, u0);
    }
    let u1 = normalize(b1);
    let u = mat3x3<f32>(u0, u1, cross(u0, u1));
    let v = mat3x3<f32>(v0, v1, cross(v0, v1));
    return u * transpose(v);
}

// The smallest rotation that takes the unit vector a to the unit vector b.
fn smallest_rotation(a: vec3<f32>, b: vec3<f32>) -> mat3x3<f32> {
    let c = dot(a, b);
    if (c < -0.9999) {
        // Half a turn about any axis perpendicular to a.
        let across = select(vec3<f32>(1.0, 0.0, 0.0), vec3<f32>(0.0, 1.0, 0.0), abs(a.x) > 0.7);
        let n = normalize(cross(a, across));
        return mat3x3<f32>(n * (2.0 * n.x), n * (2.0 * n.y), n * (2.0 * n.z))
            - mat3x3<f32>(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    }
    let w = cross(a, b);
    let k = 1.0 / (1.0 + c);
    return mat3x3<f32>(
        vec3(c, w.z, -w.y) + w * (w.x * k),
        vec3(-w.z, c, w.x) + w * (w.y * k),
        vec3(w.y, -w.x, c) + w * (w.z * k),
    );
}

// D = V − F for the closest matrix V with determinant `ratio`: F is repeatedly projected onto the linearised constraint, first at
// the closest rotation R. As supple-sim's volume_lanes.rs, with the same constants.
fn volume_shift(f: mat3x3<f32>, r: mat3x3<f32>, ratio: f32) -> mat3x3<f32> {
    let shift = (ratio + 2.0 - contract(f, r)) * (1.0 / 3.0);
    let d = projected_shift(f, r * max(shift, -0.1), ratio);
    return projected_shift(f, d, ratio);
}

fn projected_shift(f: mat3x3<f32>, d: mat3x3<f32>, ratio: f32) -> mat3x3<f32> {
    let v = f + d;
    let c = cofactors(v);
    let det = dot(v[0], c[0]);
    let squares = max(contract(c, c), 0.05);
    return c * ((contract(c, d) - det + ratio) / squares);
}
