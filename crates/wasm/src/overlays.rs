//! Overlays of what lies below the skin, as arrays to draw.

use supple::geom::adjacency::NONE;
use supple::glam::{Affine3A, Vec3};
use supple::sim::{Model, State};

use crate::stage::Stage;

impl Stage {
    /// World position of every joint, three numbers each \[m\].
    pub fn joint_positions(&self) -> Vec<f32> {
        let worlds = self.pose.worlds(&self.character.skeleton);
        worlds
            .iter()
            .flat_map(|world| Vec3::from(world.translation).to_array())
            .collect()
    }

    /// Volumetric bones: both ends and the radius, seven numbers each \[m\].
    pub fn capsules(&self) -> Vec<f32> {
        let Some(body) = &self.body else {
            return Vec::new();
        };
        let (graph, volume, moves) = (body.flesh().graph(), body.flesh().volume(), self.moves());
        let mut capsules = Vec::with_capacity(7 * graph.bones.len());
        for (index, bone) in graph.bones.iter().enumerate() {
            let (from, to) = graph.segment(index);
            let map = moves.get(bone.joint).copied().unwrap_or_default();
            for end in [from, to] {
                capsules.extend(map.transform_point3(end.as_vec3()).to_array());
            }
            capsules.push(volume.bone_radii[index] as f32);
        }
        capsules
    }

    /// Joint spheres: centre and radius, four numbers each \[m\].
    pub fn spheres(&self) -> Vec<f32> {
        let Some(body) = &self.body else {
            return Vec::new();
        };
        let (graph, volume, moves) = (body.flesh().graph(), body.flesh().volume(), self.moves());
        let mut spheres = Vec::new();
        for (node, &radius) in graph.nodes.iter().zip(&volume.node_radii) {
            if let (Some(&joint), true) = (node.joints.first(), radius > 0.0) {
                let map = moves.get(joint).copied().unwrap_or_default();
                spheres.extend(map.transform_point3(node.position.as_vec3()).to_array());
                spheres.push(radius as f32);
            }
        }
        spheres
    }

    /// Transform of every joint from its bind pose to its current pose.
    fn moves(&self) -> Vec<Affine3A> {
        let Some(body) = &self.body else {
            return Vec::new();
        };
        let bind = body.flesh().rest_pose().worlds(&self.character.skeleton);
        let now = self.pose.worlds(&self.character.skeleton);
        now.iter()
            .zip(&bind)
            .map(|(now, bind)| *now * bind.inverse())
            .collect()
    }

    /// Triangles of the bone surface.
    pub fn bone_surface_triangles(&self) -> Vec<u32> {
        let Some(body) = &self.body else {
            return Vec::new();
        };
        let (mesh, columns) = (body.flesh().skin_mesh(), body.flesh().columns());
        let inside =
            |triangle: &&[u32; 3]| triangle.iter().all(|&v| columns[v as usize].bone != NONE);
        mesh.triangles
            .iter()
            .filter(inside)
            .flatten()
            .copied()
            .collect()
    }

    /// Positions of the bone surface's vertices, three numbers each \[m\].
    pub fn bone_surface(&self) -> Vec<f32> {
        let Some(body) = &self.body else {
            return Vec::new();
        };
        let (model, state) = (&body.flesh().model, body.state());
        (body.flesh().columns().iter())
            .flat_map(|column| {
                let index = model.index_of().get(column.bone as usize);
                index
                    .map_or(Vec3::ZERO, |&index| place(model, state, index))
                    .to_array()
            })
            .collect()
    }

    /// Edges of the tets as pairs of model vertices.
    pub fn tet_edges(&self) -> Vec<u32> {
        let Some(body) = &self.body else {
            return Vec::new();
        };
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for tet in &body.flesh().model.tets().vertices {
            for i in 0..4 {
                for j in i + 1..4 {
                    edges.push([tet[i].min(tet[j]), tet[i].max(tet[j])]);
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges.concat()
    }

    /// Positions of all model vertices, three numbers each \[m\].
    pub fn tet_vertices(&self) -> Vec<f32> {
        let Some(body) = &self.body else {
            return Vec::new();
        };
        let all = body.state().positions.iter().chain(&body.state().fixed);
        all.flat_map(|position| position.to_array()).collect()
    }
}

fn place(model: &Model, state: &State, index: u32) -> Vec3 {
    let index = index as usize;
    match index.checked_sub(model.free_count()) {
        None => state.positions[index],
        Some(fixed) => state.fixed[fixed],
    }
}
