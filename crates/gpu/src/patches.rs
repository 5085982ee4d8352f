//! Patches: groups of up to 32 neighbouring free vertices, the rows of one workgroup.

use glam::Vec3;

/// Rows of a patch.
pub const PATCH: usize = 32;
/// Most (tet, row) incidences of a patch: what workgroup memory has slots for.
pub const SLOTS: usize = 1024;

/// Cuts vertices into patches of neighbours, each of at most [`PATCH`] vertices that together lie in at most [`SLOTS`]
/// tets (counted by `incidences`). `None` where a single vertex lies in more.
///
/// Recursive bisection across the longest side, in multiples of [`PATCH`], so that nearly all patches are full.
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
    let tets: usize = vertices
        .iter()
        .map(|&v| incidences[v as usize] as usize)
        .sum();
    if vertices.len() <= PATCH && tets <= SLOTS {
        if !vertices.is_empty() {
            patches.push(vertices.to_vec());
        }
        return;
    }
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
    let middle = match vertices.len().div_ceil(PATCH) / 2 {
        0 => vertices.len() / 2,
        patches => patches * PATCH,
    };
    let (left, right) = vertices.split_at_mut(middle);
    bisect(left, rest, incidences, patches);
    bisect(right, rest, incidences, patches);
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
        assert_eq!(patches.len(), 1000usize.div_ceil(PATCH));
        assert!(patches.iter().all(|patch| patch.len() <= PATCH));
    }

    #[test]
    fn crowded_vertices_share_a_patch_with_fewer() {
        let rest: Vec<Vec3> = (0..64).map(|i| Vec3::X * i as f32).collect();
        let patches = partition(&rest, &vec![300; 64]).expect("300 fit");
        assert!(patches.iter().all(|patch| patch.len() * 300 <= SLOTS));
        assert_eq!(patches.concat().len(), 64);
        assert!(partition(&rest, &vec![2000; 64]).is_none());
    }

    #[test]
    fn one_place_is_no_trouble() {
        assert_eq!(
            partition(&[Vec3::ONE; 100], &[1; 100]).map(|p| p.len()),
            Some(4)
        );
        assert_eq!(partition(&[], &[]), Some(Vec::new()));
    }
}
