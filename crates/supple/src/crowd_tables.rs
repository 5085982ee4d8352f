//! Upsampling weights in the layout of the device.

use supple_flesh::Flesh;
use supple_flesh::motion::target_table::TargetTable;
use supple_flesh::upsampling::detail::Upsampler;
use supple_geom::adjacency::NONE;
use supple_gpu::SkinTables;

/// Upsampling weights; `None` for normal displacements.
pub(crate) fn skin_tables(flesh: &Flesh, follows: &TargetTable) -> Option<SkinTables> {
    let index_of = flesh.model.index_of();
    let columns = flesh.columns().iter();
    let vertices: Vec<Option<u32>> = columns
        .map(|column| (column.skin != NONE).then(|| index_of[column.skin as usize]))
        .collect();
    let samples = vertices.len();
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    match flesh.detail().map(|detail| &detail.upsampler) {
        None => rows.extend((0..samples as u32).map(|v| vec![Entry::whole(v)])),
        Some(Upsampler::Normals(_)) => return None,
        Some(Upsampler::LeastSquares(upsampling)) => {
            for v in 0..upsampling.count {
                let mut row: Vec<Entry> = Vec::new();
                for (sample, weight) in upsampling.places.of(v) {
                    entry(&mut row, sample as u32).weights[0] += weight;
                }
                for (sample, weight) in upsampling.normals.of(v) {
                    entry(&mut row, sample as u32).weights[1] += weight;
                }
                // Samples with a weight for the normal come first, so that fewer have to be read for it.
                row.sort_by_key(|entry| entry.weights[1] == 0.0);
                rows.push(row);
            }
            for offset in &upsampling.offsets {
                for &(sample, weight) in &offset.normals {
                    entry(&mut rows[offset.vertex as usize], sample).extra += weight;
                }
            }
        }
    }
    let kinematic = follows.kinematic.iter();
    let kinematic = kinematic.map(|&(v, share, _)| (v, share)).collect();
    Some(padded(
        vertices,
        &flesh.skin_mesh().triangles,
        &rows,
        kinematic,
    ))
}

/// Weights of one sample for a skin vertex.
#[derive(Clone, Copy, Default)]
struct Entry {
    sample: u32,
    weights: [f32; 2],
    extra: f32,
}

impl Entry {
    fn whole(sample: u32) -> Self {
        Self {
            sample,
            weights: [1.0; 2],
            extra: 0.0,
        }
    }
}

fn entry(row: &mut Vec<Entry>, sample: u32) -> &mut Entry {
    let at = row.iter().position(|entry| entry.sample == sample);
    let at = at.unwrap_or_else(|| {
        row.push(Entry {
            sample,
            ..Entry::default()
        });
        row.len() - 1
    });
    &mut row[at]
}

/// Rows of equal length.
fn padded(
    vertices: Vec<Option<u32>>,
    triangles: &[[u32; 3]],
    rows: &[Vec<Entry>],
    kinematic: Vec<(u32, f32)>,
) -> SkinTables {
    let neighbours = rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut tables = SkinTables {
        vertices,
        triangles: triangles.to_vec(),
        neighbours,
        kinematic,
        ..SkinTables::default()
    };
    for (v, row) in rows.iter().enumerate() {
        let spare = row.first().map_or(0, |entry| entry.sample);
        for k in 0..neighbours {
            let entry = row.get(k).copied().unwrap_or(Entry {
                sample: spare,
                ..Entry::default()
            });
            tables.indices.push(entry.sample);
            tables.weights.push(entry.weights);
        }
        if row.iter().any(|entry| entry.extra != 0.0) {
            let extras = row.iter().map(|entry| entry.extra).collect();
            tables.extras.push((v as u32, extras));
        }
    }
    tables
}
