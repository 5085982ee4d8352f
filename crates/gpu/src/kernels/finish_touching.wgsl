// Flesh that is pressed swallows motion against its bone: as supple-sim's contact/solver.rs.

@group(0) @binding(4) var<storage, read> sums: array<vec4<i32>>;
// Mass of each row and its carrier.
@group(0) @binding(5) var<storage, read> row_data: array<vec4<u32>>;

fn kept_share(row: u32, i: u32) -> f32 {
    let is_pressed = any(sums[2u * row].xyz != vec3<i32>(0)) && row_data[i].y != NONE;
    return select(1.0, P.pressed_kept, is_pressed);
}
