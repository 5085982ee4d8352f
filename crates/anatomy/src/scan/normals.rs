//! Normals of point clouds (Hoppe et al. 1992): the direction in which neighbours vary least, turned alike along a
//! spanning tree of near and nearly parallel neighbours.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DMat3, Mat3, Vec3};
use rayon::prelude::*;
use supple_geom::kd_tree::KdTree;
use supple_geom::svd3::svd3;

/// Neighbours of a tangent plane. Fewer follow noise of 2 mm, more round off fingers.
const PLANE_NEIGHBOURS: usize = 14;
/// Neighbours along which orientation spreads.
const GRAPH_NEIGHBOURS: usize = 8;

/// Unit normals of a cloud, outwards if the topmost point of each piece has its normal up.
pub(super) fn estimated_normals(points: &[Vec3], up: Vec3) -> Vec<Vec3> {
    let tree = KdTree::new(points);
    let found: Vec<(Vec3, Vec<u32>)> = (points.par_iter())
        .map(|&point| {
            let near = tree.nearest_several(point, PLANE_NEIGHBOURS);
            let indices = near.iter().map(|n| n.index);
            let graph = indices.clone().take(GRAPH_NEIGHBOURS).collect();
            let near: Vec<Vec3> = indices.map(|i| points[i as usize]).collect();
            (least_direction(&near), graph)
        })
        .collect();
    let (mut normals, near): (Vec<Vec3>, Vec<Vec<u32>>) = found.into_iter().unzip();
    orient(points, up, &mut normals, &symmetric(near));
    normals
}

/// The eigenvector of the covariance with the least eigenvalue.
fn least_direction(points: &[Vec3]) -> Vec3 {
    let mean = points.iter().sum::<Vec3>() / points.len().max(1) as f32;
    let mut covariance = Mat3::ZERO;
    for &point in points {
        let d = point - mean;
        covariance += Mat3::from_cols(d * d.x, d * d.y, d * d.z);
    }
    let scale = covariance.x_axis.x + covariance.y_axis.y + covariance.z_axis.z;
    if scale <= 0.0 || scale.is_nan() {
        return Vec3::Y;
    }
    let matrix: DMat3 = (covariance * (1.0 / scale)).as_dmat3();
    svd3(matrix).2.z_axis.as_vec3().normalize_or(Vec3::Y)
}

fn symmetric(mut near: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    for i in 0..near.len() {
        for k in 0..near[i].len() {
            let j = near[i][k] as usize;
            if j != i && !near[j].contains(&(i as u32)) {
                near[j].push(i as u32);
            }
        }
    }
    near
}

/// Prim's algorithm from the topmost point of each piece; an edge is as long as its normals are apart.
fn orient(points: &[Vec3], up: Vec3, normals: &mut [Vec3], near: &[Vec<u32>]) {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    let height = |i: u32| points[i as usize].dot(up);
    order.sort_by(|&a, &b| height(b).total_cmp(&height(a)).then(a.cmp(&b)));
    let mut done = vec![false; points.len()];
    let mut heap: BinaryHeap<Reverse<(u32, u32, u32)>> = BinaryHeap::new();
    for &start in &order {
        if done[start as usize] {
            continue;
        }
        if normals[start as usize].dot(up) < 0.0 {
            normals[start as usize] *= -1.0;
        }
        heap.push(Reverse((0, start, start)));
        while let Some(Reverse((_, from, at))) = heap.pop() {
            if std::mem::replace(&mut done[at as usize], true) {
                continue;
            }
            if normals[at as usize].dot(normals[from as usize]) < 0.0 {
                normals[at as usize] *= -1.0;
            }
            for &next in &near[at as usize] {
                if !done[next as usize] {
                    let parallel = normals[at as usize].dot(normals[next as usize]).abs();
                    let length = ((1.0 - parallel).max(0.0) * 1e6) as u32;
                    heap.push(Reverse((length, at, next)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_of_a_ball_point_outwards() {
        let ball = supple_geom::shapes::icosphere(0.5, 4);
        let normals = estimated_normals(&ball.positions, Vec3::Y);
        for (point, normal) in ball.positions.iter().zip(&normals) {
            assert!(normal.dot(point.normalize()) > 0.98);
        }
    }
}
