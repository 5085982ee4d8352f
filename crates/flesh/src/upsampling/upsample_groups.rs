//! Upsampling weights in the layout that a frame reads: groups of sixteen skin vertices, 16-bit weights.
//!
//! Sixteen neighbouring skin vertices share most of their samples (simulated vertices). So a group has one list of samples
//! and a weight for each pair of sample and vertex. Each sample is read once per group, and each index is stored once.
//! Weights are integer multiples of the group's unit, a power of two. Rounding keeps each vertex's weight sum and its rest
//! position.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::simd::{Row, WIDE, Wide, prefetch};

/// Independent accumulators, so that additions do not wait for each other. Group lengths are padded to a multiple.
const ACCUMULATORS: usize = 2;
/// Prefetch distance \[entries\]: 4 kB. Half of it is slightly late after a step that has used the caches.
const PREFETCH_DISTANCE: usize = 128;
/// Largest integer weight; one below the limit of i16, which leaves room for rounding up.
const LARGEST_WEIGHT: f64 = 32766.0;

/// Indices in two bytes if they fit, otherwise in four.
#[derive(Clone, Debug, PartialEq)]
pub enum Indices {
    /// For up to 65,536 samples.
    Short(Vec<u16>),
    /// For more.
    Long(Vec<u32>),
}

impl Indices {
    /// Indices below `samples`.
    pub fn new(list: Vec<u32>, samples: usize) -> Self {
        match samples <= 1 << 16 {
            true => Self::Short(list.iter().map(|&i| i as u16).collect()),
            false => Self::Long(list),
        }
    }

    /// The index of an entry.
    pub fn get(&self, entry: usize) -> usize {
        match self {
            Self::Short(list) => usize::from(list[entry]),
            Self::Long(list) => list[entry] as usize,
        }
    }

    /// Number of indices.
    pub fn len(&self) -> usize {
        match self {
            Self::Short(list) => list.len(),
            Self::Long(list) => list.len(),
        }
    }

    /// Whether there are no indices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size \[bytes\].
    pub fn bytes(&self) -> usize {
        match self {
            Self::Short(list) => 2 * list.len(),
            Self::Long(list) => 4 * list.len(),
        }
    }
}

/// Weights of groups of sixteen skin vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// First entry of each group, and the total at the end.
    pub starts: Vec<u32>,
    /// Value of the integer weight 1 in each group.
    pub units: Vec<f32>,
    /// The sample of each entry.
    pub indices: Indices,
    /// Its weights for the sixteen skin vertices, in the group's unit.
    pub weights: Vec<[i16; WIDE]>,
}

/// One group during construction.
struct Group {
    list: Vec<u32>,
    unit: f64,
    weights: Vec<[i16; WIDE]>,
}

impl Groups {
    /// From the samples and weights of every skin vertex. Rounding keeps Σ weight × value of the samples' rest `values`.
    pub fn new(rows: &[Vec<(u32, f32)>], values: &[Row]) -> Self {
        let groups: Vec<Group> = (rows.par_chunks(WIDE))
            .map(|rows| Group::new(rows, values))
            .collect();
        let mut starts = vec![0];
        let mut indices = Vec::new();
        for group in &groups {
            indices.extend(&group.list);
            starts.push(indices.len() as u32);
        }
        Self {
            starts,
            units: groups.iter().map(|group| group.unit as f32).collect(),
            indices: Indices::new(indices, values.len()),
            weights: groups.into_iter().flat_map(|group| group.weights).collect(),
        }
    }

    /// Samples of a skin vertex, and their weights.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> {
        let (group, lane) = (vertex / WIDE, vertex % WIDE);
        let unit = self.units[group];
        (self.starts[group] as usize..self.starts[group + 1] as usize)
            .map(move |entry| {
                let weight = unit * f32::from(self.weights[entry][lane]);
                (self.indices.get(entry), weight)
            })
            .filter(|&(_, weight)| weight != 0.0)
    }

    /// Size \[bytes\].
    pub fn bytes(&self) -> usize {
        8 * self.units.len() + self.indices.bytes() + 2 * WIDE * self.weights.len()
    }

    /// Σ weight × row for the skin vertices of a group.
    #[inline(always)]
    pub(crate) fn sum<W: Wide, I: Index>(
        &self,
        indices: &[I],
        group: usize,
        rows: &[Row],
    ) -> [W; 3] {
        let range = self.starts[group] as usize..self.starts[group + 1] as usize;
        let ahead = range.start + PREFETCH_DISTANCE;
        prefetch(indices, ahead);
        let indices = indices[range.clone()].as_chunks::<ACCUMULATORS>().0;
        let weights = self.weights[range].as_chunks::<ACCUMULATORS>().0;
        let mut sums = [[W::splat(0.0); 3]; ACCUMULATORS];
        for (pair, (indices, weights)) in indices.iter().zip(weights).enumerate() {
            prefetch(&self.weights, ahead + ACCUMULATORS * pair);
            for k in 0..ACCUMULATORS {
                let row = &rows[indices[k].get()].0;
                let weight = W::whole(&weights[k]);
                sums[k][0] = weight.mul_add(W::splat(row[0]), sums[k][0]);
                sums[k][1] = weight.mul_add(W::splat(row[1]), sums[k][1]);
                sums[k][2] = weight.mul_add(W::splat(row[2]), sums[k][2]);
            }
        }
        let unit = W::splat(self.units[group]);
        [
            sums[0][0].add_mul(sums[1][0], unit),
            sums[0][1].add_mul(sums[1][1], unit),
            sums[0][2].add_mul(sums[1][2], unit),
        ]
    }
}

impl Group {
    fn new(rows: &[Vec<(u32, f32)>], values: &[Row]) -> Self {
        let mut list: Vec<u32> = rows.iter().flatten().map(|entry| entry.0).collect();
        list.sort_unstable();
        list.dedup();
        let largest = (rows.iter().flatten())
            .map(|entry| f64::from(entry.1.abs()))
            .fold(1e-3, f64::max);
        let unit = (largest / LARGEST_WEIGHT).log2().ceil().exp2();
        let mut weights = vec![[0; WIDE]; list.len()];
        for (lane, row) in rows.iter().enumerate() {
            let exact: Vec<f64> = row.iter().map(|entry| f64::from(entry.1) / unit).collect();
            let at: Vec<DVec3> = (row.iter())
                .map(|entry| Vec3::from_array(values[entry.0 as usize].xyz()).as_dvec3())
                .collect();
            for (&(sample, _), whole) in row.iter().zip(rounded(&exact, &at)) {
                let entry = list.partition_point(|&other| other < sample);
                weights[entry][lane] = whole as i16;
            }
        }
        // Samples whose weights all round to zero are left out; padding repeats a sample with zero weight.
        let mut is_used = weights.iter().map(|lanes| *lanes != [0; WIDE]);
        list.retain(|_| is_used.next().unwrap_or(false));
        weights.retain(|lanes| *lanes != [0; WIDE]);
        let length = list.len().next_multiple_of(ACCUMULATORS);
        list.resize(length, list.first().copied().unwrap_or(0));
        weights.resize(length, [0; WIDE]);
        Self {
            list,
            unit,
            weights,
        }
    }
}

/// Rounds numbers to integers with the same sum. Swaps of rounding up and down then keep Σ number × value as close as they
/// can.
fn rounded(exact: &[f64], values: &[DVec3]) -> Vec<f64> {
    let mut whole: Vec<f64> = exact.iter().map(|x| x.floor()).collect();
    let missing = (exact.iter().sum::<f64>() - whole.iter().sum::<f64>()).round() as usize;
    let mut order: Vec<usize> = (0..exact.len()).collect();
    let rest = |&k: &usize| exact[k] - exact[k].floor();
    order.sort_by(|a, b| rest(b).total_cmp(&rest(a)).then(a.cmp(b)));
    let (up, down) = order.split_at_mut(missing.min(exact.len()));
    up.iter().for_each(|&k| whole[k] += 1.0);
    let off = |k: usize| (whole[k] - exact[k]) * values[k];
    let mut off: DVec3 = (0..exact.len()).map(off).sum();
    for _ in 0..exact.len() {
        let pairs = (0..up.len()).flat_map(|u| (0..down.len()).map(move |d| (u, d)));
        let swapped = |(u, d): (usize, usize)| off + values[down[d]] - values[up[u]];
        let best = pairs
            .map(|pair| (swapped(pair).length_squared(), pair))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, (u, d))) = best.filter(|(square, _)| *square < off.length_squared()) else {
            break;
        };
        off = swapped((u, d));
        whole[up[u]] -= 1.0;
        whole[down[d]] += 1.0;
        std::mem::swap(&mut up[u], &mut down[d]);
    }
    whole
}

/// An index of either width.
pub(crate) trait Index: Copy + Sync {
    fn get(self) -> usize;
}

impl Index for u16 {
    #[inline(always)]
    fn get(self) -> usize {
        usize::from(self)
    }
}

impl Index for u32 {
    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_sum_and_place() {
        let values: Vec<DVec3> = (0..20)
            .map(|k| {
                let angle = f64::from(k) * 2.4;
                DVec3::new(angle.cos(), 0.1 * angle.cos().powi(2), angle.sin())
                    * f64::from(k).sqrt()
            })
            .collect();
        let raw: Vec<f64> = (0..20).map(|k| 1.0 / (1.7 + f64::from(k))).collect();
        let sum: f64 = raw.iter().sum();
        let exact: Vec<f64> = raw.iter().map(|w| 16384.0 * w / sum).collect();
        let whole = rounded(&exact, &values);
        assert_eq!(whole.iter().sum::<f64>(), 16384.0);
        let differences = || whole.iter().zip(&exact).map(|(w, e)| w - e);
        assert!(differences().all(|d| d.abs() < 1.0));
        let off: DVec3 = differences().zip(&values).map(|(d, &v)| d * v).sum();
        // Nearest rounding alone leaves about √20 × 0.3 × 3 = 4 here.
        assert!(off.length() < 1.0, "{off}");
    }
}
