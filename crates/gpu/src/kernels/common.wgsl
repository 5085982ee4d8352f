// Shared by all kernels of a step. Vectors are vec4: storage arrays of vec3 have that stride anyway.

struct Params {
    // Rows of free vertices of one body, padded to whole patches.
    rows: u32,
    // Rows and fixed vertices of one body: the stride of positions.
    vertices: u32,
    // Entries of the tet tables (a tet is listed in every patch it touches).
    tets: u32,
    bodies: u32,
    // Step [s]; 0 in a static solve.
    step: f32,
    // Share of a velocity that damping leaves after one step.
    kept: f32,
    // 1/step, 0 in a static solve.
    per_second: f32,
    // Factor from mass to the diagonal of the scaled matrix, scale/h².
    inertia: f32,
    gravity: vec3<f32>,
    // Common factor of matrix and forces.
    scale: f32,
    // Force of one unit of the contacts' sums, of the scaled system.
    contact_unit: f32,
    // Share of its speed against its bone that a pressed vertex keeps.
    pressed_kept: f32,
    // Largest motion relative to the carriers in one step, in seconds at the wave speed; 0 for no bound.
    relative_motion: f32,
    // Time over which materials damp in the step [s]; 0 in a static solve.
    damping_time: f32,
}

@group(0) @binding(0) var<uniform> P: Params;

const NONE: u32 = 0xffffffffu;

// Rows of a patch, and of a group: two patches.
const PATCH: u32 = 32u;
const GROUP_ROWS: u32 = 64u;
// The table `patches`: four words per patch (first column, columns, first word of coefficients), then four words per group
// (first tet, tets, first slot offset), then slot offsets.
