// Right-hand side of a global step.

@group(0) @binding(5) var<storage, read> residual: array<vec4<f32>>;

const MAY_BE_EMPTY: bool = false;

fn right_side(row: u32) -> vec4<f32> {
    return residual[row];
}

fn recorded_move(dx: vec3<f32>, before: f32) -> f32 {
    return dot(dx, dx);
}
