//! Skin that overlaps its own shell at rest: folds of a mesh, lips, toes. Overlaps of different shells are in `covers.rs`.

use rayon::prelude::*;

use super::ContactSurface;
use super::detect::{Detector, Filter};

/// For each skin point the triangles of its own shell that it is below, or closer to than the gap, at rest, and those beside
/// them; ascending. The work grows with the sizes of the shells, not with that of the whole: a figure of many small parts is as
/// quick as one part.
pub fn rest_overlaps(surface: &ContactSurface) -> Vec<Vec<u32>> {
    let mut detector = Detector::new(surface);
    let input = surface.input();
    detector.update(surface, |i| input.skin[i], |i| input.bases[i]);
    detector.search(surface, Filter::Deepest);
    let gap = surface.gap();
    let found = detector.found().filter(|found| found.distance < gap);
    let overlapping: Vec<u32> = found.map(|found| found.point).collect();
    let of_shells = triangles_of_shells(surface);
    let overlaps = |point: u32| {
        let own = of_shells.get(surface.shells()[point as usize] as usize);
        let is_close = |&triangle: &u32| {
            let found = detector.point_in_prism(surface, point, triangle);
            found.is_some_and(|found| found.distance < gap) && !surface.is_near(point, triangle)
        };
        let around = |triangle: u32| surface.around_triangle(triangle);
        let own = own.into_iter().flatten().copied();
        let mut list: Vec<u32> = own.filter(is_close).flat_map(around).collect();
        list.sort_unstable();
        list.dedup();
        (point, list)
    };
    let found: Vec<_> = overlapping.into_par_iter().map(overlaps).collect();
    let mut lists = vec![Vec::new(); surface.point_count()];
    for (point, list) in found {
        lists[point as usize] = list;
    }
    lists
}

/// Triangles of each shell, ascending.
fn triangles_of_shells(surface: &ContactSurface) -> Vec<Vec<u32>> {
    let mut lists = Vec::new();
    for triangle in 0..surface.triangles().len() as u32 {
        let shell = surface.shell_of(triangle) as usize;
        if lists.len() <= shell {
            lists.resize(shell + 1, Vec::new());
        }
        lists[shell].push(triangle);
    }
    lists
}
