//! A jump with crossed arms: contact must not change the motion far from it.

use glam::Vec3;
use serde::Serialize;
use supple_rig::Character;
use supple_sim::ContactMode;
use supple_sim::contact::Source;

use supple::embedded;
use supple::tissue::SoftBody;

/// Distance to all contacts from which vertices are compared \[m\].
const FAR: f32 = 0.15;
const FRAME: f64 = 1.0 / 60.0;
const FRAMES: usize = 60;

/// Effect of contact on a jump.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Drag {
    /// Largest distance of a vertex far from contacts to its position without contact \[m\].
    pub largest: f32,
    /// The same for displacements since the first frame, so that differences of the first pose do not count \[m\].
    pub of_motion: f32,
    /// Share of the vertices of all frames that are far from contacts.
    pub compared: f32,
    /// Smallest number of skin points in contact in a frame.
    pub touching: usize,
}

/// Positions, and skin points in contact.
type Frame = (Vec<Vec3>, Vec<usize>);

/// An embedded body hops by 20 cm with its arms crossed, with contact and without.
pub fn drag(
    body: &mut SoftBody,
    character: &Character,
) -> Result<Drag, Box<dyn std::error::Error>> {
    let crossed = embedded::clip("arms_crossed", character)?;
    let start = crossed.sample(&character.skeleton, 1.4);
    let joints = character.skeleton.joints();
    let root = joints.iter().position(|joint| joint.parent.is_none());
    let mut play = |mode: ContactMode| -> Result<Vec<Frame>, Box<dyn std::error::Error>> {
        body.solver_settings().contact.mode = mode;
        body.reset(&start)?;
        let mut frames = Vec::with_capacity(FRAMES);
        for frame in 1..=FRAMES {
            // Ballistic flight between two poses at rest.
            let t = (frame as f32 / 60.0 - 0.2).clamp(0.0, 0.4);
            let mut pose = start.clone();
            if let Some(root) = root {
                pose.locals[root].translation.y += 0.5 * 9.81 * t * (0.4 - t);
            }
            body.advance(&pose, FRAME)?;
            let contacts = body.state().contact.contacts.iter();
            let touching = contacts.map(|contact| contact.point as usize).collect();
            frames.push((body.state().positions.clone(), touching));
        }
        Ok(frames)
    };
    let (off, on) = (play(ContactMode::Off)?, play(ContactMode::Global)?);
    let surface = body.flesh().model.contact_surface();
    let vertex = |point: usize| match surface?.input().sources[point] {
        Source::Vertex(v) => Some(v as usize),
        Source::Outside(_) => None,
    };
    let (mut largest, mut of_motion, mut compared, mut all) = (0.0_f32, 0.0_f32, 0, 0);
    for ((off_now, _), (on_now, touching)) in off.iter().zip(&on) {
        let touches = (touching.iter()).filter_map(|&point| on_now.get(vertex(point)?));
        let touches: Vec<Vec3> = touches.copied().collect();
        for (v, (a, b)) in off_now.iter().zip(on_now).enumerate() {
            all += 1;
            if touches.iter().all(|touch| touch.distance(*b) > FAR) {
                let (way, way_touching) = (*a - off[0].0[v], *b - on[0].0[v]);
                largest = largest.max(a.distance(*b));
                of_motion = of_motion.max(way.distance(way_touching));
                compared += 1;
            }
        }
    }
    Ok(Drag {
        largest,
        of_motion,
        compared: compared as f32 / all.max(1) as f32,
        touching: on.iter().map(|frame| frame.1.len()).min().unwrap_or(0),
    })
}
