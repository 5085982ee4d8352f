//! A body of capsules as a triangle surface (naive surface nets), with an inner copy of every vertex.

use glam::{Vec3, vec3};

struct Capsule {
    ends: [Vec3; 2],
    radius: f32,
}

/// Skin, inner surface and triangles, with about `vertices` vertices.
pub fn body(vertices: usize) -> (Vec<Vec3>, Vec<Vec3>, Vec<[u32; 3]>) {
    let capsules = capsules();
    // Vertices go with the inverse square of the cell.
    let mut cell = 0.02_f32;
    for _ in 0..4 {
        let count = surface_nets(&capsules, cell).0.len().max(1);
        cell *= (count as f32 / vertices as f32).sqrt();
    }
    let (mut skin, triangles) = surface_nets(&capsules, cell);
    relax(&mut skin, &triangles);
    let inner = skin
        .iter()
        .map(|&p| p.lerp(closest_axis_point(&capsules, p), 0.6))
        .collect();
    (skin, inner, triangles)
}

fn capsules() -> Vec<Capsule> {
    let capsule = |a: Vec3, b: Vec3, radius: f32| Capsule {
        ends: [a, b],
        radius,
    };
    let mut out = vec![
        capsule(vec3(0.0, 0.95, 0.0), vec3(0.0, 1.33, 0.0), 0.13),
        capsule(vec3(0.0, 1.4, 0.0), vec3(0.0, 1.6, 0.0), 0.06),
        capsule(vec3(0.0, 1.66, 0.0), vec3(0.0, 1.7, 0.02), 0.095),
    ];
    for s in [-1.0, 1.0] {
        out.push(capsule(
            vec3(s * 0.12, 1.4, 0.0),
            vec3(s * 0.42, 1.38, 0.0),
            0.052,
        ));
        out.push(capsule(
            vec3(s * 0.42, 1.38, 0.0),
            vec3(s * 0.8, 1.35, 0.0),
            0.042,
        ));
        out.push(capsule(
            vec3(s * 0.09, 0.92, 0.0),
            vec3(s * 0.11, 0.5, 0.0),
            0.082,
        ));
        out.push(capsule(
            vec3(s * 0.11, 0.5, 0.0),
            vec3(s * 0.12, 0.1, 0.0),
            0.055,
        ));
        out.push(capsule(
            vec3(s * 0.12, 0.06, 0.0),
            vec3(s * 0.13, 0.05, 0.15),
            0.038,
        ));
    }
    out
}

fn axis_point(c: &Capsule, p: Vec3) -> Vec3 {
    let axis = c.ends[1] - c.ends[0];
    c.ends[0] + axis * ((p - c.ends[0]).dot(axis) / axis.length_squared()).clamp(0.0, 1.0)
}

fn closest_axis_point(capsules: &[Capsule], p: Vec3) -> Vec3 {
    let distance = |c: &Capsule| p.distance(axis_point(c, p)) - c.radius;
    let closest = capsules
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    closest.map_or(p, |c| axis_point(c, p))
}

/// Distance to the union, rounded where capsules meet.
fn distance(capsules: &[Capsule], p: Vec3) -> f32 {
    const ROUND: f32 = 0.025;
    capsules.iter().fold(f32::MAX, |d, c| {
        let e = p.distance(axis_point(c, p)) - c.radius;
        let h = (ROUND - (d - e).abs()).max(0.0) / ROUND;
        d.min(e) - h * h * ROUND * 0.25
    })
}

/// One vertex in every cell that the surface crosses, a quad across every grid edge that it crosses.
fn surface_nets(capsules: &[Capsule], cell: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (low, high) = (vec3(-0.9, -0.05, -0.22), vec3(0.9, 1.88, 0.26));
    let n = ((high - low) / cell).as_usizevec3() + 2;
    let index = |i: usize, j: usize, k: usize| (k * n.y + j) * n.x + i;
    let at = |i: usize, j: usize, k: usize| low + vec3(i as f32, j as f32, k as f32) * cell;
    let grid = |f: &mut dyn FnMut(usize, usize, usize)| {
        for k in 0..n.z {
            for j in 0..n.y {
                for i in 0..n.x {
                    f(i, j, k);
                }
            }
        }
    };
    let mut field = Vec::new();
    grid(&mut |i, j, k| field.push(distance(capsules, at(i, j, k))));
    let (mut vertices, mut of_cell) = (Vec::new(), vec![u32::MAX; field.len()]);
    grid(&mut |i, j, k| {
        if i + 1 == n.x || j + 1 == n.y || k + 1 == n.z {
            return;
        }
        let corner = |c: usize| (i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for (a, b) in (0..8)
            .flat_map(|a| [1, 2, 4].map(|bit| (a, a | bit)))
            .filter(|(a, b)| a != b)
        {
            let (p, q) = (corner(a), corner(b));
            let (dp, dq) = (field[index(p.0, p.1, p.2)], field[index(q.0, q.1, q.2)]);
            if (dp < 0.0) != (dq < 0.0) {
                sum += at(p.0, p.1, p.2).lerp(at(q.0, q.1, q.2), dp / (dp - dq));
                count += 1.0;
            }
        }
        if count > 0.0 {
            of_cell[index(i, j, k)] = vertices.len() as u32;
            vertices.push(sum / count);
        }
    });
    let mut triangles = Vec::new();
    grid(&mut |i, j, k| {
        if i == 0 || j == 0 || k == 0 || i + 1 == n.x || j + 1 == n.y || k + 1 == n.z {
            return;
        }
        let inside = field[index(i, j, k)] < 0.0;
        let mut quad = |next: usize, cells: [usize; 4]| {
            if (field[next] < 0.0) != inside {
                let [a, b, c, d] = cells.map(|c| of_cell[c]);
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        };
        let cells = |a: (usize, usize, usize), b: (usize, usize, usize)| {
            let minus = |d: (usize, usize, usize)| index(i - d.0, j - d.1, k - d.2);
            [
                minus((a.0 + b.0, a.1 + b.1, a.2 + b.2)),
                minus(b),
                index(i, j, k),
                minus(a),
            ]
        };
        quad(index(i + 1, j, k), cells((0, 1, 0), (0, 0, 1)));
        quad(index(i, j + 1, k), cells((0, 0, 1), (1, 0, 0)));
        quad(index(i, j, k + 1), cells((1, 0, 0), (0, 1, 0)));
    });
    (vertices, triangles)
}

/// Two rounds of Laplacian smoothing: less of a grid, better prisms.
fn relax(vertices: &mut [Vec3], triangles: &[[u32; 3]]) {
    for _ in 0..2 {
        let mut sums = vec![(Vec3::ZERO, 0.0); vertices.len()];
        for t in triangles {
            for k in 0..3 {
                let (a, b) = (t[k] as usize, t[(k + 1) % 3] as usize);
                sums[a].0 += vertices[b];
                sums[a].1 += 1.0;
            }
        }
        for (v, (sum, count)) in vertices.iter_mut().zip(sums) {
            if count > 0.0 {
                *v = v.lerp(sum / count, 0.4);
            }
        }
    }
}
