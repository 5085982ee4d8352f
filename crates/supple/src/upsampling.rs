//! Ways from the simulation mesh to the full skin, side by side with a simulation of the full skin (figure 3.11).

use glam::Vec3;
use serde::Serialize;
use supple_flesh::normal_displacement::{NormalDisplacement, Workspace};
use supple_flesh::settings::Resolution;
use supple_flesh::upsample::{Samples, Upsampling};
use supple_flesh::{Flesh, Settings};
use supple_geom::TriMesh;
use supple_geom::mls::Basis;
use supple_picture::{
    Bounds, Camera, DrawMesh, Image, Legend, Ramp, Scene, SheetStyle, contact_sheet, heat_colours,
    render,
};
use supple_rig::{Character, Clip};
use supple_sim::{Backend, CpuBackend, State};

use crate::skin::Span;
use crate::tissue::TissueError;

/// Neighbours that are compared.
const NEIGHBOURS: [usize; 3] = [8, 16, 32];
/// Height of a close-up, relative to the character's.
const CLOSE_UP: f32 = 0.3;

/// One way, over a motion.
#[derive(Clone, Debug, Serialize)]
pub struct Variant {
    /// For captions.
    pub name: String,
    /// Root mean square distance to the simulation of the full skin, over all vertices and frames \[% of the height\].
    pub rms_percent: f64,
    /// Its skin in the frame where the ways differ most.
    #[serde(skip)]
    pub mesh: TriMesh,
    /// Distances in that frame \[m\].
    #[serde(skip)]
    pub errors: Vec<f32>,
}

enum Way {
    Coarse,
    LeastSquares(Upsampling),
    Normals(NormalDisplacement),
    Full,
}

/// Simulates a clip coarsely and in full, and carries the one to the skin of the other in every way. In rows of three: the
/// simulation mesh, linear and quadratic least squares of 8 neighbours; normal displacements, 16; full simulation, 32.
pub fn compare_upsampling(
    character: &Character,
    clip: &Clip,
    settings: &Settings,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Result<Vec<Variant>, TissueError> {
    let mut full = settings.clone();
    full.detail.resolution = Resolution::Full;
    let full = Flesh::builder(character).settings(full).build()?;
    let coarse = Flesh::builder(character)
        .settings(settings.clone())
        .build()?;
    let ways = ways(&full, &coarse);
    let mut sums = vec![0.0; ways.len()];
    let mut shown: (f64, Vec<(TriMesh, Vec<f32>)>) = (-1.0, Vec::new());
    let mut both = [Run::new(&full), Run::new(&coarse)];
    let times = span.times();
    for (frame, &time) in times.iter().enumerate() {
        let from = if frame == 0 { time } else { times[frame - 1] };
        let [truth, simulated] = &mut both;
        let truth = truth.until(character, clip, from, time)?;
        let simulated = simulated.until(character, clip, from, time)?;
        let meshes: Vec<TriMesh> = (ways.iter().map(|(_, way)| way))
            .map(|way| way.skin(&full, &coarse, &simulated, &truth))
            .collect();
        let errors: Vec<Vec<f32>> = (meshes.iter())
            .map(|mesh| distances(&coarse, mesh, &truth))
            .collect();
        let squares: Vec<f64> = errors.iter().map(|list| mean_square(list)).collect();
        sums.iter_mut().zip(&squares).for_each(|(sum, s)| *sum += s);
        let spread = squares.iter().copied().fold(0.0, f64::max);
        if spread > shown.0 {
            shown = (spread, meshes.into_iter().zip(errors).collect());
        }
        frame_done(frame);
    }
    let height = f64::from(character.height()).max(f64::MIN_POSITIVE);
    let rms = |sum: f64| 100.0 * (sum / times.len().max(1) as f64).sqrt() / height;
    let parts = ways.into_iter().zip(sums).zip(shown.1);
    Ok(parts
        .map(|(((name, _), sum), (mesh, errors))| Variant {
            name,
            rms_percent: rms(sum),
            mesh,
            errors,
        })
        .collect())
}

fn ways(full: &Flesh, coarse: &Flesh) -> Vec<(String, Way)> {
    let (skin, mesh) = (full.skin_mesh(), coarse.skin_mesh());
    let all: Vec<u32> = (0..skin.positions.len() as u32).collect();
    let kept = coarse.detail().map_or(&all, |detail| &detail.kept);
    let first = [
        ("simulation mesh", Way::Coarse),
        (
            "normal displacements",
            Way::Normals(NormalDisplacement::new(skin, mesh)),
        ),
        ("full simulation", Way::Full),
    ];
    let mut ways = Vec::new();
    for ((name, way), k) in first.into_iter().zip(NEIGHBOURS) {
        ways.push((name.to_owned(), way));
        for (name, basis) in [("linear", Basis::Linear), ("quadratic", Basis::Quadratic)] {
            let upsampling = Upsampling::new(skin, kept, mesh, k, basis);
            ways.push((format!("{name}, k = {k}"), Way::LeastSquares(upsampling)));
        }
    }
    ways
}

impl Way {
    fn skin(&self, full: &Flesh, coarse: &Flesh, simulated: &[Vec3], truth: &[Vec3]) -> TriMesh {
        let skin = full.skin_mesh();
        let mut positions = vec![Vec3::ZERO; skin.positions.len()];
        let mut normals = positions.clone();
        match self {
            Self::Coarse => {
                return TriMesh {
                    positions: simulated.to_vec(),
                    triangles: coarse.skin_mesh().triangles.clone(),
                };
            }
            Self::Full => positions.copy_from_slice(truth),
            Self::LeastSquares(upsampling) => {
                let mut samples = Samples::default();
                samples.fill(&coarse.skin_mesh().triangles, simulated);
                upsampling.apply(&samples, &mut positions, &mut normals);
            }
            Self::Normals(displacement) => {
                let mut work = Workspace::default();
                displacement.apply(simulated, &mut work, &mut positions, &mut normals);
            }
        }
        TriMesh {
            positions,
            triangles: skin.triangles.clone(),
        }
    }
}

/// Distances to the full simulation, of the full skin or of the simulation mesh.
fn distances(coarse: &Flesh, mesh: &TriMesh, truth: &[Vec3]) -> Vec<f32> {
    let pairs = mesh.positions.iter();
    match coarse.detail() {
        Some(detail) if mesh.positions.len() == detail.kept.len() => pairs
            .zip(&detail.kept)
            .map(|(p, &v)| p.distance(truth[v as usize]))
            .collect(),
        _ => pairs.zip(truth).map(|(p, t)| p.distance(*t)).collect(),
    }
}

fn mean_square(distances: &[f32]) -> f64 {
    let sum: f64 = distances.iter().map(|&d| f64::from(d).powi(2)).sum();
    sum / distances.len().max(1) as f64
}

/// A simulation that is stepped from frame to frame.
struct Run<'a> {
    flesh: &'a Flesh,
    backend: CpuBackend,
    state: State,
}

impl<'a> Run<'a> {
    fn new(flesh: &'a Flesh) -> Self {
        Self {
            flesh,
            backend: CpuBackend::new(),
            state: State::at_rest(&flesh.model),
        }
    }

    /// Steps from one moment of a clip to another; returns the skin there.
    fn until(
        &mut self,
        character: &Character,
        clip: &Clip,
        from: f32,
        to: f32,
    ) -> Result<Vec<Vec3>, TissueError> {
        let settings = self.flesh.settings.solver_settings();
        let steps = (f64::from(to - from) / settings.step).round().max(1.0) as usize;
        let mut pose = clip.sample(&character.skeleton, to);
        for step in 1..=steps {
            let time = from + (to - from) * step as f32 / steps as f32;
            pose = clip.sample(&character.skeleton, time);
            let targets = self.flesh.targets(&pose)?;
            self.backend
                .step(&self.flesh.model, &settings, &targets, &mut self.state)?;
        }
        Ok(self.flesh.flesh_positions(&pose, &self.state)?)
    }
}

/// Draws the ways in rows of three, close up where they are farthest from the full simulation.
pub fn upsampling_sheet(
    title: &str,
    variants: &[Variant],
    height: f32,
    direction: Vec3,
    size: usize,
) -> Image {
    let errors = variants.iter().flat_map(|variant| &variant.errors);
    let largest = errors.fold(1e-4f32, |largest, &error| largest.max(error));
    let camera = close_up(variants, height, direction);
    let pictures: Vec<(Image, String)> = (variants.iter())
        .map(|variant| {
            let colours = heat_colours(&variant.errors, 0.0, largest, Ramp::default());
            let scene = Scene {
                meshes: vec![DrawMesh::owned(variant.mesh.clone()).coloured(colours)],
                legend: Some(Legend {
                    high: largest * 1000.0,
                    title: "off by [mm]".to_owned(),
                    ..Legend::default()
                }),
                ..Scene::default()
            };
            let caption = format!("{}: RMS {:.4} %", variant.name, variant.rms_percent);
            (render(&scene, &camera, size, size), caption)
        })
        .collect();
    contact_sheet(title, &pictures, 3, &SheetStyle::default())
}

/// A camera on the place where linear least squares of most neighbours is farthest off.
fn close_up(variants: &[Variant], height: f32, direction: Vec3) -> Camera {
    let worst = variants
        .iter()
        .rfind(|variant| variant.name.starts_with("linear"));
    let centre = worst.and_then(|variant| {
        let places = variant.errors.iter().zip(&variant.mesh.positions);
        places
            .max_by(|a, b| a.0.total_cmp(b.0))
            .map(|(_, &place)| place)
    });
    let half = 0.5 * CLOSE_UP * height;
    let corners = [-1.0, 1.0].map(|side| centre.unwrap_or_default() + Vec3::splat(side * half));
    Camera::frame(Bounds::of(corners.iter()), direction, 1.0)
}
