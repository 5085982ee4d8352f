//! Groups of up to 64 neighbouring free vertices, the rows of a workgroup of `project`; each is two patches, the rows of a
//! workgroup of `patch_solve`.

use glam::Vec3;

/// Rows of a patch.
pub const PATCH: usize = 32;
/// Rows of a group. Tets at its border are also projected in neighbouring groups; with 32 rows those are half of all tets. With
/// more than 64 rows the slots of workgroup memory are not always enough.
pub const GROUP: usize = 2 * PATCH;
/// Most (tet, row) incidences of a group: the number of slots in workgroup memory.
pub const SLOTS: usize = 1024;

/// Divides vertices into patches of neighbours, two per group. The vertices of a group have at most [`SLOTS`] tets together
/// (counted by `incidences`). The second patch of a small group is empty. `None` if a single vertex has more tets.
///
/// Recursive bisection across the longest side, in multiples of [`GROUP`], so that nearly all patches are full.
pub fn partition(rest: &[Vec3], incidences: &[u32]) -> Option<Vec<Vec<u32>>> {
    if incidences.iter().any(|&count| count as usize > SLOTS) {
        return None;
    }
    let mut all: Vec<u32> = (0..rest.len() as u32).collect();
    let mut patches = Vec::new();
    bisect(&mut all, rest, incidences, &mut patches);
    Some(patches)
}

fn bisect(vertices: &mut [u32], rest: &[Vec3], incidences: &[u32], patches: &mut Vec<Vec<u32>>) {
    if vertices.is_empty() {
        return;
    }
    let tets: usize = vertices
        .iter()
        .map(|&v| incidences[v as usize] as usize)
        .sum();
    sort_along(vertices, rest);
    if vertices.len() <= GROUP && tets <= SLOTS {
        let (first, second) = vertices.split_at(vertices.len().min(PATCH));
        patches.extend([first.to_vec(), second.to_vec()]);
        return;
    }
    let middle = match vertices.len().div_ceil(GROUP) / 2 {
        0 => vertices.len() / 2,
        groups => groups * GROUP,
    };
    let (left, right) = vertices.split_at_mut(middle);
    bisect(left, rest, incidences, patches);
    bisect(right, rest, incidences, patches);
}

/// Sorts along the longest side.
fn sort_along(vertices: &mut [u32], rest: &[Vec3]) {
    let (low, high) = vertices
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &v| {
            (low.min(rest[v as usize]), high.max(rest[v as usize]))
        });
    let axis = (high - low).max_position();
    vertices.sort_unstable_by(|&a, &b| {
        let key = |v: u32| rest[v as usize][axis];
        key(a).total_cmp(&key(b)).then(a.cmp(&b))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_is_in_one_full_patch() {
        let rest: Vec<Vec3> = (0..1000)
            .map(|i| Vec3::new((i % 40) as f32, (i / 40) as f32, 0.0))
            .collect();
        let patches = partition(&rest, &vec![12; 1000]).expect("few tets");
        let mut seen: Vec<u32> = patches.concat();
        seen.sort_unstable();
        assert_eq!(seen, (0..1000).collect::<Vec<u32>>());
        assert_eq!(patches.len(), 2 * 1000usize.div_ceil(GROUP));
        assert!(patches.iter().all(|patch| patch.len() <= PATCH));
    }

    #[test]
    fn vertices_with_many_tets_form_smaller_groups() {
        let rest: Vec<Vec3> = (0..64).map(|i| Vec3::X * i as f32).collect();
        let patches = partition(&rest, &vec![300; 64]).expect("300 fit");
        let groups = patches.chunks_exact(2);
        assert!((groups.clone()).all(|pair| (pair[0].len() + pair[1].len()) * 300 <= SLOTS));
        assert_eq!(groups.remainder().len(), 0);
        assert_eq!(patches.concat().len(), 64);
        assert!(partition(&rest, &vec![2000; 64]).is_none());
    }

    #[test]
    fn coincident_vertices_are_partitioned() {
        assert_eq!(
            partition(&[Vec3::ONE; 100], &[1; 100]).map(|p| p.len()),
            Some(4)
        );
        assert_eq!(partition(&[], &[]), Some(Vec::new()));
    }
}
