//! Muscles and bones of a layered body in motion, for pictures and export.
//!
//! Bones follow their joints. Muscles lie in simulated tissue and are deformed with it; those of head and hands, where nothing is
//! simulated, follow the joints of the skin.

use std::sync::Arc;

use glam::Vec3;
use supple_anatomy::LayeredBody;
use supple_anatomy::template::Rig;
use supple_flesh::Flesh;
use supple_flesh::construction::embedded_points::EmbeddedPoints;
use supple_geom::TriMesh;
use supple_geom::normals::vertex_normals;
use supple_rig::bake::{Frame, FrameSource, Frames, Motion};
use supple_rig::formats::Source;
use supple_rig::skinning::linear_blend;
use supple_rig::{Character, Clip, Part, Pose};

use crate::layers::{binding, material};
use crate::play::{Recording, follow};
use crate::skin::Span;
use crate::tissue::{SoftBody, TissueError};

/// Colours of muscles and bones in written files, linear.
const MUSCLE: Vec3 = Vec3::new(0.42, 0.09, 0.08);
const BONE: Vec3 = Vec3::new(0.82, 0.76, 0.62);

/// Muscles and bones inside a soft body.
#[derive(Clone, Debug)]
pub struct Inside {
    muscles: Part,
    bones: Part,
    embedded_points: EmbeddedPoints,
}

impl Inside {
    /// Those of an anatomy whose layers the tissue was built with.
    pub fn new(anatomy: &LayeredBody, flesh: &Flesh) -> Self {
        let skeleton = &anatomy.body.skeleton;
        let part = |name: &str, list: Vec<(&TriMesh, &Rig)>| {
            let mesh = TriMesh::merged(list.iter().map(|(mesh, _)| *mesh));
            let mut lists = Vec::with_capacity(mesh.positions.len());
            for (mesh, rig) in &list {
                let weights = |v: usize| rig.weights(v, &anatomy.body.influences).to_vec();
                lists.extend((0..mesh.positions.len()).map(weights));
            }
            Part {
                name: name.to_owned(),
                normals: vertex_normals(&mesh),
                mesh,
                binding: binding(skeleton, lists),
                ..Part::default()
            }
        };
        let muscles = (anatomy.muscles.iter()).map(|muscle| (&muscle.mesh, &muscle.rig));
        let bones = (anatomy.bones.iter()).map(|entry| (&entry.bone.mesh, &entry.rig));
        let muscles = part("muscles", muscles.collect());
        Self {
            embedded_points: flesh.embedded_points(&muscles.mesh.positions),
            bones: part("bones", bones.collect()),
            muscles,
        }
    }

    /// Muscles and bones of a body in its present state \[m\].
    pub fn positions(&self, body: &SoftBody) -> [Vec<Vec3>; 2] {
        self.posed(body.flesh(), body.pose(), &body.shown_vertices())
    }

    /// The same from a pose and the vertices of the model, free then fixed \[m\].
    fn posed(&self, flesh: &Flesh, pose: &Pose, vertices: &[Vec3]) -> [Vec<Vec3>; 2] {
        let worlds = pose.worlds(flesh.skeleton());
        let [mut muscles, bones] =
            [&self.muscles, &self.bones].map(|part| linear_blend(part, &worlds, &[]).positions);
        self.embedded_points.follow(vertices, &mut muscles);
        [muscles, bones]
    }

    /// A character with muscles and bones as two more parts.
    pub fn character(&self, skin: &Character) -> Character {
        let mut character = skin.clone();
        for (part, colour) in [(&self.muscles, MUSCLE), (&self.bones, BONE)] {
            let mut part = part.clone();
            part.material = Some(character.materials.len());
            character.materials.push(material(&part.name, colour));
            character.parts.push(part);
        }
        // The document has no such parts: it is written anew.
        character.source = Source::None;
        character
    }

    /// Simulates a span of a clip as [`simulate`](crate::play::simulate) does, and records skin, muscles and bones: the parts of
    /// [`Inside::character`].
    pub fn simulate(
        self,
        body: &mut SoftBody,
        skin: &Character,
        clip: &Clip,
        span: Span,
        frame_done: &mut dyn FnMut(usize),
    ) -> Result<Motion, TissueError> {
        let mut recording = Recording::of(body);
        let mut vertices = Vec::new();
        follow(body, skin, clip, &span.times(), &mut |frame, body| {
            recording.push(body);
            vertices.push(body.shown_vertices());
            frame_done(frame);
            Ok(())
        })?;
        let skins = recording.motion(span.fps);
        let frames = LayeredFrames {
            flesh: body.shared_flesh(),
            poses: skins.poses.clone(),
            skins: skins.frames.clone(),
            vertices,
            inside: self,
        };
        Ok(Motion {
            frames: Frames::Made(Arc::new(frames)),
            ..skins
        })
    }
}

/// Recorded skins with the vertices of the model, from which muscles are computed when a frame is read.
struct LayeredFrames {
    flesh: Arc<Flesh>,
    inside: Inside,
    skins: Frames,
    poses: Vec<Pose>,
    vertices: Vec<Vec<Vec3>>,
}

impl FrameSource for LayeredFrames {
    fn count(&self) -> usize {
        self.vertices.len()
    }

    fn frame(&self, frame: usize) -> Frame {
        let mut parts = self.skins.get(frame).into_owned();
        let (pose, vertices) = (&self.poses[frame], &self.vertices[frame]);
        parts.extend(self.inside.posed(&self.flesh, pose, vertices));
        parts
    }
}
