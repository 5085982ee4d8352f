// Right-hand side of the response to changed contact forces. Most patches are far from any contact.

// Two vectors per row, in integer units: the sum of contact forces, and its last change.
@group(0) @binding(5) var<storage, read> sums: array<vec4<i32>>;

const MAY_BE_EMPTY: bool = true;

fn right_side(row: u32) -> vec4<f32> {
    return vec4<f32>(vec4(sums[2u * row + 1u].xyz, 0)) * P.contact_unit;
}

fn recorded_move(dx: vec3<f32>, before: f32) -> f32 {
    return before;
}
