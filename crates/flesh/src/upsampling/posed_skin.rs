//! The skin in the file's order: positions and normals of every vertex of every part, from the simulation mesh.

use glam::{Affine3A, Quat, Vec3};
use supple_geom::TriMesh;
use supple_geom::normals::vertex_normals;
use supple_geom::turns::vertex_turns;
use supple_geom::weld::weld;
use supple_rig::Pose;
use supple_rig::skinning::{Posed, linear_blend};
use supple_sim::State;

use crate::FleshError;
use crate::flesh::Flesh;
use crate::motion::follow::PoseFrames;
use crate::shells::rides::Ride;
use crate::upsampling::detail::DetailWork;

/// Buffers for computing a skin, reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct SkinWork {
    detail: DetailWork,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl Flesh {
    /// Vertices of the full flesh of a state, and their unit normals \[m\].
    pub fn full_positions(
        &self,
        pose: &Pose,
        state: &State,
    ) -> Result<(Vec<Vec3>, Vec<Vec3>), FleshError> {
        let mut work = SkinWork::default();
        self.full_positions_into(pose, &self.flesh_positions(pose, state)?, &mut work);
        Ok((work.positions, work.normals))
    }

    /// The same from the vertices of the simulation mesh.
    fn full_positions_into(&self, pose: &Pose, simulated: &[Vec3], work: &mut SkinWork) {
        let SkinWork {
            detail: scratch,
            positions,
            normals,
        } = work;
        let Some(detail) = &self.detail else {
            let mesh = TriMesh {
                positions: simulated.to_vec(),
                triangles: self.skin.triangles.clone(),
            };
            *normals = vertex_normals(&mesh);
            *positions = mesh.positions;
            return;
        };
        positions.resize(detail.mesh.positions.len(), Vec3::ZERO);
        normals.resize(detail.mesh.positions.len(), Vec3::ZERO);
        (detail.upsampler).apply(simulated, scratch, positions, normals);
        if self.follow.kinematic.is_empty() {
            return;
        }
        // These vertices follow matrices of linear blend skinning only, so frames are not needed.
        let frames = PoseFrames {
            matrices: self.matrices(pose),
            ..PoseFrames::default()
        };
        for (v, share, follow) in &self.follow.kinematic {
            let position = &mut positions[*v as usize];
            *position = position.lerp(follow.position(&frames).as_vec3(), *share);
        }
    }

    /// Posed positions of every vertex of every part, in the file's order \[m\]. `pose` is that of the state's targets; rigid shells
    /// and excluded regions follow it.
    pub fn skin(&self, pose: &Pose, state: &State) -> Result<Vec<Vec<Vec3>>, FleshError> {
        Ok(self.skin_of(pose, &self.flesh_positions(pose, state)?))
    }

    /// The same from the vertices of the simulation mesh, as [`Flesh::flesh_positions`] gives them for this pose.
    pub fn skin_of(&self, pose: &Pose, simulated: &[Vec3]) -> Vec<Vec<Vec3>> {
        let mut parts = Vec::new();
        self.skin_into(pose, simulated, &mut SkinWork::default(), &mut parts);
        parts.into_iter().map(|part| part.positions).collect()
    }

    /// Positions \[m\] and unit normals of every vertex of every part, in the file's order, written into `parts`.
    pub fn skin_into(
        &self,
        pose: &Pose,
        simulated: &[Vec3],
        work: &mut SkinWork,
        parts: &mut Vec<Posed>,
    ) {
        self.full_positions_into(pose, simulated, work);
        self.skin_from_full(pose, &work.positions, &work.normals, parts);
    }

    /// The same from positions and normals of the full flesh.
    pub fn skin_from_full(
        &self,
        pose: &Pose,
        now: &[Vec3],
        normals: &[Vec3],
        parts: &mut Vec<Posed>,
    ) {
        let flesh = self.full_mesh();
        let any = |test: fn(&Ride) -> bool| self.rides.iter().any(test);
        let turns = match any(|ride| matches!(ride, Ride::Cloth(rider) if !rider.has_weights)) {
            true => vertex_turns(flesh, now),
            false => Vec::new(),
        };
        let blended = match any(|ride| match ride {
            Ride::Cloth(rider) => rider.has_weights,
            Ride::Rigid(_) | Ride::Hair => true,
            Ride::Flesh(_) => false,
        }) {
            true => self.blended_parts(pose),
            false => vec![Posed::default(); self.character.parts.len()],
        };
        let moves: Vec<Affine3A> = pose
            .worlds(&self.character.skeleton)
            .iter()
            .zip(&self.bind_worlds)
            .map(|(world, bind)| *world * bind.inverse())
            .collect();
        let motions: Vec<Affine3A> = (self.pieces.iter())
            .map(|piece| piece.motion(&moves))
            .collect();
        let originals = self.full_originals();
        let blended_flesh = |column: u32| {
            let (part, v) = self.part_of(originals[column as usize] as usize);
            blended[part].positions.get(v).copied().unwrap_or_default()
        };
        parts.resize_with(self.character.parts.len(), Posed::default);
        for (part, posed) in parts.iter_mut().enumerate() {
            posed.positions.clear();
            posed.normals.clear();
            let rides = &self.rides[self.starts[part]..];
            let rest = self.bind_positions[part].iter();
            let rest = rest.zip(&self.bind_normals[part]).zip(rides);
            for (v, ((&rest, &normal), ride)) in rest.enumerate() {
                let own = blended[part].positions.get(v).copied();
                let (position, normal) = match ride {
                    Ride::Flesh(column) => {
                        let column = *column as usize;
                        let (from, to) = (self.rest_normals[column], normals[column]);
                        (now[column], turned_along(from, to, normal))
                    }
                    Ride::Rigid(piece) => {
                        let (piece, moved) = (*piece as usize, &motions[*piece as usize]);
                        let turned = moved.transform_vector3(normal).normalize_or(normal);
                        let rigid = moved.transform_point3(rest);
                        let near = |own| self.pieces[piece].near(rigid, own);
                        (own.map_or(rigid, near), turned)
                    }
                    Ride::Hair => {
                        let turned = self.blended_vector(part, v, &moves, normal);
                        (own.unwrap_or(rest), turned)
                    }
                    Ride::Cloth(rider) => {
                        let triangle = flesh.triangles[rider.triangle as usize];
                        match own.filter(|_| rider.has_weights) {
                            Some(own) => {
                                let shift = rider.support(triangle, |v| now[v as usize])
                                    - rider.support(triangle, blended_flesh);
                                let turned = self.blended_vector(part, v, &moves, normal);
                                (own + rider.grip * shift, turned)
                            }
                            None => (
                                rider.carried(triangle, now, &turns),
                                rider.turn(triangle, &turns) * normal,
                            ),
                        }
                    }
                };
                posed.positions.push(position);
                posed.normals.push(normal);
            }
        }
        self.keep_under(now, parts);
    }

    /// Moves skin that other shells cover below them, given the positions of the full flesh.
    fn keep_under(&self, now: &[Vec3], parts: &mut [Posed]) {
        if self.covers.is_empty() {
            return;
        }
        let bounds = self.full_mesh().bounds();
        let size = (bounds.max - bounds.min).max_element();
        let mut shown = now.to_vec();
        for cover in &self.covers {
            let corners = cover.triangle.map(|original| {
                let (part, v) = self.part_of(original as usize);
                parts[part].positions[v]
            });
            let column = cover.column as usize;
            shown[column] = cover.under(now[column], corners, size);
        }
        for (part, posed) in parts.iter_mut().enumerate() {
            let rides = &self.rides[self.starts[part]..];
            for (position, ride) in posed.positions.iter_mut().zip(rides) {
                if let Ride::Flesh(column) = ride {
                    *position = shown[*column as usize];
                }
            }
        }
    }

    /// A unit vector of a vertex in bind pose, turned by the vertex's own weights, given the motion of every joint.
    fn blended_vector(&self, part: usize, v: usize, moves: &[Affine3A], vector: Vec3) -> Vec3 {
        let binding = &self.character.parts[part].binding;
        if v >= binding.influences.len() {
            return vector;
        }
        let turned = |&(slot, weight): &(u32, f32)| {
            let moved = binding
                .joints
                .get(slot as usize)
                .and_then(|&j| moves.get(j));
            weight * moved.map_or(vector, |moved| moved.transform_vector3(vector))
        };
        let sum: Vec3 = binding.influences.of(v).iter().map(turned).sum();
        sum.normalize_or(vector)
    }

    /// Linear blend skinning of every part with weights; empty for other parts.
    fn blended_parts(&self, pose: &Pose) -> Vec<Posed> {
        let worlds = pose.worlds(&self.character.skeleton);
        let parts = self.character.parts.iter();
        parts
            .map(|part| match part.binding.influences.is_empty() {
                true => Posed::default(),
                false => linear_blend(part, &worlds, &part.morph_weights),
            })
            .collect()
    }

    /// Computes the rest normals of the full flesh, and reads those of the file. Parts without normals get smooth ones.
    pub(crate) fn find_rest_normals(&mut self) {
        let mut work = SkinWork::default();
        self.full_positions_into(&self.rest_pose(), &self.skin.positions, &mut work);
        self.rest_normals = work.normals;
        let mut bind_normals = Vec::new();
        let mut next = 0;
        for part in &self.character.parts {
            let placed = linear_blend(part, &self.bind_worlds, &part.morph_weights);
            let is_whole = placed.normals.len() == placed.positions.len();
            let own = match is_whole {
                true => placed.normals,
                false => smooth_normals(TriMesh {
                    positions: placed.positions,
                    triangles: part.mesh.triangles.clone(),
                }),
            };
            let rides = &self.rides[next..next + own.len()];
            next += own.len();
            let of_flesh = |(ride, normal): (&Ride, Vec3)| match ride {
                Ride::Flesh(column) if !is_whole => self.rest_normals[*column as usize],
                _ => normal.normalize_or(Vec3::Y),
            };
            bind_normals.push(rides.iter().zip(own).map(of_flesh).collect());
        }
        self.bind_normals = bind_normals;
    }
}

/// Vertex normals that are smooth across seams.
fn smooth_normals(mesh: TriMesh) -> Vec<Vec3> {
    let welded = weld(&mesh, 0.0);
    let normals = vertex_normals(&welded.mesh);
    let of_vertex = welded.welded_from_original.iter();
    of_vertex.map(|&v| normals[v as usize]).collect()
}

/// Applies the smallest rotation from unit vector `from` to unit vector `to`. The file's normals keep their angle to the smooth ones, so
/// hard edges stay hard.
fn turned_along(from: Vec3, to: Vec3, vector: Vec3) -> Vec3 {
    let cosine = from.dot(to);
    if cosine < -0.999 {
        return Quat::from_rotation_arc(from, to) * vector;
    }
    let middle = from + to;
    let turned =
        vector - middle * (middle.dot(vector) / (1.0 + cosine)) + to * (2.0 * from.dot(vector));
    turned.normalize_or(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_smallest_rotation() {
        let unit = |x: f32, y: f32, z: f32| Vec3::new(x, y, z).normalize();
        let vector = unit(0.4, -0.2, 0.7);
        for (from, to) in [
            (unit(1.0, 0.2, -0.3), unit(0.3, -0.8, 0.1)),
            (unit(0.0, 1.0, 0.0), unit(0.0, 1.0, 0.0)),
            (unit(1.0, 0.0, 0.0), unit(-1.0, 1e-4, 0.0)),
        ] {
            let expected = Quat::from_rotation_arc(from, to) * vector;
            assert!(turned_along(from, to, vector).distance(expected) < 1e-3);
            assert!(turned_along(from, to, from).distance(to) < 1e-3);
        }
    }
}
