// Stress w (R − F) + u (V − F) of a tet: R the closest rotation, V the closest matrix with determinant `ratio`.
//
// Except for strongly deformed tets, both have the form F (a + b FᵀF) + c cof F with scalars a, b, c of the tet, as in supple-sim's
// stress.rs, so neither matrix is formed.

// V − F = x R + y F + z cof F after two linearisations, from the invariants of F only: see volume_lanes.rs.
fn volume_terms(lambda: f32, k: f32, det: f32, ratio: f32) -> vec3<f32> {
    let t = max((ratio + 2.0 - lambda) * (1.0 / 3.0), -0.1);
    let e1 = lambda + 3.0 * t;
    let e2 = k + t * (lambda + e1);
    let e3 = det + t * (k + t * (lambda + t));
    let xx = e1 * e1 - 2.0 * e2;
    let yy = e2 * e2 - 2.0 * e1 * e3;
    let xy = 3.0 * e3;
    let c = (t * e2 + ratio - e3) / max(yy, 0.05);
    let q = e1 - t;
    let i = c * (e2 * q - e3) - t * q;
    let x = t + c * (c * e3 - e2);
    let y = 1.0 - c * q;
    let on_one = 3.0 * i + x * e1 + y * e2;
    let on_x = i * e1 + x * xx + y * xy;
    let on_y = i * e2 + x * xy + y * yy;
    let shift = c * on_y;
    let new_det = (on_x - t * on_one + shift) * (1.0 / 3.0);
    let squares = max(i * on_one + x * on_x + y * on_y, 0.05);
    let d = (shift - new_det + ratio) / squares;
    return vec3(i + t * (x + y * (lambda + t)), x - t * y, y) * d;
}

fn tet_stress(f: mat3x3<f32>, weight: f32, volume: f32, ratio: f32) -> mat3x3<f32> {
    let gram = transpose(f) * f;
    let norm2 = gram[0][0] + gram[1][1] + gram[2][2];
    // A tet of less than a tenth or more than ten times its size takes the robust path.
    if (norm2 > 0.03 && norm2 < 300.0) {
        let c = cofactors(f);
        let cof2 = contract(c, c);
        let det = dot(f[0], c[0]);
        var lambda = sqrt(3.0 * norm2);
        lambda -= halley_step(lambda, norm2, cof2, det);
        let last = halley_step(lambda, norm2, cof2, det);
        lambda -= last;
        let k = 0.5 * (lambda * lambda - norm2);
        let separation = lambda * k - det;
        if (abs(last) <= CONVERGED * lambda && separation >= CLEAR_SEPARATION * lambda * lambda * lambda) {
            var terms = vec3<f32>(0.0);
            if (volume > 0.0) {
                terms = volume_terms(lambda, k, det, ratio) * volume;
            }
            let on_r = (weight + terms.x) / separation;
            let a = on_r * (lambda * lambda - k) + terms.y - weight;
            let m = mat3x3<f32>(
                vec3(a, 0.0, 0.0) - gram[0] * on_r,
                vec3(0.0, a, 0.0) - gram[1] * on_r,
                vec3(0.0, 0.0, a) - gram[2] * on_r,
            );
            return f * m + c * (on_r * lambda + terms.z);
        }
    }
    let r = closest_rotation(f);
    var stress = (r - f) * weight;
    if (volume > 0.0) {
        stress += volume_shift(f, r, ratio) * volume;
    }
    return stress;
}
