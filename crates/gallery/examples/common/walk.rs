//! Distances along the bones.

use supple::flesh::construction::base_points::BasePoint;
use supple::flesh::construction::bone_graph::BoneGraph;
use supple::flesh::construction::rest_skin::RestSkin;

/// Distances between all nodes of a graph along its bones [m].
pub struct Walk<'a> {
    graph: &'a BoneGraph,
    between: Vec<Vec<f64>>,
}

impl<'a> Walk<'a> {
    pub fn new(graph: &'a BoneGraph) -> Self {
        let count = graph.nodes.len();
        let mut between = vec![vec![f64::INFINITY; count]; count];
        for (node, row) in between.iter_mut().enumerate() {
            row[node] = 0.0;
        }
        for (index, bone) in graph.bones.iter().enumerate() {
            between[bone.start][bone.end] = graph.length(index);
            between[bone.end][bone.start] = graph.length(index);
        }
        for via in 0..count {
            for a in 0..count {
                for b in 0..count {
                    between[a][b] = between[a][b].min(between[a][via] + between[via][b]);
                }
            }
        }
        Self { graph, between }
    }

    /// Between two base points.
    pub fn distance(&self, a: &BasePoint, b: &BasePoint) -> f64 {
        let ends = |base: &BasePoint| match base.bone {
            None => [(base.node, 0.0); 2],
            Some(bone) => {
                let (ends, length) = (&self.graph.bones[bone], self.graph.length(bone));
                [
                    (ends.start, base.t * length),
                    (ends.end, (1.0 - base.t) * length),
                ]
            }
        };
        if let (Some(one), true) = (a.bone, a.bone == b.bone) {
            return (a.t - b.t).abs() * self.graph.length(one);
        }
        let ways = ends(a)
            .into_iter()
            .flat_map(|(m, before)| ends(b).map(|(n, after)| before + self.between[m][n] + after));
        ways.fold(f64::INFINITY, f64::min)
    }

    /// The largest distance between base points of neighbours on the skin.
    pub fn largest_jump(&self, skin: &RestSkin, base_points: &[BasePoint]) -> f64 {
        let jump = |v: usize| {
            let to = |&w: &u32| self.distance(&base_points[v], &base_points[w as usize]);
            skin.ring(v)
                .iter()
                .map(to)
                .filter(|d| d.is_finite())
                .fold(0.0, f64::max)
        };
        (0..skin.len()).map(jump).fold(0.0, f64::max)
    }
}
