//! The same motion without contact, with local and with global contact, with skin inside the body in red.

use std::sync::Arc;

use glam::Vec3;
use supple_flesh::settings::ContactMode;
use supple_flesh::{Flesh, Settings};
use supple_geom::Surface;
use supple_picture::hex;
use supple_picture::scene::CLAY;
use supple_rig::{Character, Clip, Pose};
use supple_sim::Collider;

use supple::contact_report::inside;
use supple::morphs::add_morphs;
use supple::play::follow;
use supple::tissue::{SoftBody, TissueError};

/// Colour of skin inside the body.
pub const INSIDE: Vec3 = hex(0xd2362b);

/// One frame in one mode.
pub struct ContactFrame {
    /// World positions of every part's vertices \[m\].
    pub positions: Vec<Vec<Vec3>>,
    /// The pose.
    pub pose: Pose,
    /// A colour per vertex of every part: [`INSIDE`] or clay.
    pub colours: Vec<Vec<Vec3>>,
    /// Ground and colliders.
    pub colliders: Vec<Collider>,
    /// Number of simulated vertices inside.
    pub count: usize,
    /// Largest depth \[mm\].
    pub worst_mm: f32,
}

/// Frames of one mode.
pub struct ContactVariant {
    /// Its name.
    pub name: &'static str,
    /// The frames.
    pub frames: Vec<ContactFrame>,
}

/// Simulates a clip from `start` in every mode, with frames at the ascending `times`. Ground and colliders of the settings
/// apply to every mode but the first.
pub fn compare_contact(
    character: &Character,
    clip: &Clip,
    settings: &Settings,
    start: f32,
    times: &[f32],
    frame_done: &mut dyn FnMut(usize),
) -> Result<Vec<ContactVariant>, TissueError> {
    let modes = [
        ("off", ContactMode::Off),
        ("local", ContactMode::Local),
        ("global", ContactMode::Global),
    ];
    let builder = Flesh::builder(character).settings(settings.clone());
    let flesh = Arc::new(builder.build()?);
    let nearest = nearest_columns(&flesh, character);
    let colliders = flesh.colliders.clone();
    // The simulation begins at the start of the clip, even if that is not shown.
    let mut moments = vec![start];
    moments.extend(times.iter().copied().filter(|&time| time > start));
    let skipped = moments.len() - times.len();
    let mut variants = Vec::new();
    for (name, mode) in modes {
        let mut body = SoftBody::from_flesh(Arc::clone(&flesh))?;
        body.set_contact(mode);
        if mode == ContactMode::Off {
            body.set_colliders(Vec::new());
        }
        let mut frames = Vec::new();
        follow(&mut body, character, clip, &moments, &mut |k, body| {
            if k < skipped {
                return Ok(());
            }
            let worlds = body.pose().worlds(&character.skeleton);
            let now: Vec<_> = match mode {
                ContactMode::Off => colliders.iter().map(|each| each.at(&worlds)).collect(),
                _ => body.colliders_now(),
            };
            let found = inside(body, &now)?;
            let mut red = vec![false; body.flesh().columns().len()];
            for &point in &found.points {
                red[point as usize] = true;
            }
            let colour = |corners: &[u32; 3]| match corners.iter().any(|&v| red[v as usize]) {
                true => INSIDE,
                false => CLAY,
            };
            let parts = nearest.iter();
            let mut positions = body.positions();
            add_morphs(character, clip, moments[k], body.pose(), &mut positions);
            frames.push(ContactFrame {
                positions,
                pose: body.pose().clone(),
                colours: parts
                    .map(|part| part.iter().map(colour).collect())
                    .collect(),
                colliders: now,
                count: found.count(),
                worst_mm: 1000.0 * found.worst(),
            });
            frame_done(k);
            Ok(())
        })?;
        variants.push(ContactVariant { name, frames });
    }
    Ok(variants)
}

/// The simulated vertices around every vertex of every part at rest.
pub fn nearest_columns(flesh: &Flesh, character: &Character) -> Vec<Vec<[u32; 3]>> {
    let skin = flesh.skin_mesh();
    let surface = Surface::new(skin.clone());
    let corners = |p: &Vec3| {
        let found = surface.closest_point(*p);
        found.map_or([0; 3], |found| {
            let corners = skin.triangles[found.triangle as usize];
            // For points on an edge or a vertex, other corners have no weight.
            let main = corners[max_position(found.barycentric)];
            let weights = found.barycentric;
            [0, 1, 2].map(|i| if weights[i] > 1e-3 { corners[i] } else { main })
        })
    };
    (0..character.parts.len())
        .map(|part| {
            character
                .bind_mesh(part)
                .positions
                .iter()
                .map(corners)
                .collect()
        })
        .collect()
}

fn max_position(weights: [f32; 3]) -> usize {
    let mut best = 0;
    for i in 1..3 {
        if weights[i] > weights[best] {
            best = i;
        }
    }
    best
}
