//! Upsampling methods compared to a simulation of the full skin (figure 3.11).

use glam::Vec3;
use serde::Serialize;
use supple_flesh::settings::Resolution;
use supple_flesh::upsampling::normal_displacement::{NormalDisplacement, Workspace};
use supple_flesh::upsampling::upsample::{Samples, Upsampling};
use supple_flesh::{Flesh, Settings};
use supple_geom::TriMesh;
use supple_geom::mls::Basis;
use supple_picture::{
    Bounds, Camera, DrawMesh, Image, Legend, Ramp, Scene, SheetStyle, contact_sheet, heat_colours,
    render,
};
use supple_rig::{Character, Clip};

use supple::skin::Span;
use supple::tissue::{SoftBody, TissueError};

/// Numbers of neighbours in pictures, as in the papers.
pub const NEIGHBOURS: [usize; 3] = [8, 16, 32];
/// Height of a close-up, relative to the character's.
const CLOSE_UP: f32 = 0.3;

/// One method over a motion.
#[derive(Clone, Debug, Serialize)]
pub struct Variant {
    /// Name for captions.
    pub name: String,
    /// Root mean square distance to the simulation of the full skin, over all frames and all vertices but those that
    /// follow joints alone \[% of the height\].
    pub rms_percent: f64,
    /// Interpolation error: the same for positions of the simulated vertices taken from the simulation of the full skin, without the
    /// difference between coarse and fine simulation \[% of the height\].
    pub own_percent: f64,
    /// Its skin in the frame where methods differ most.
    #[serde(skip)]
    pub mesh: TriMesh,
    /// Distances in that frame \[m\].
    #[serde(skip)]
    pub errors: Vec<f32>,
}

impl Variant {
    /// Name and errors.
    pub fn caption(&self) -> String {
        let Self {
            name,
            rms_percent,
            own_percent,
            ..
        } = self;
        format!("{name}: RMS {rms_percent:.4} %, interpolation {own_percent:.4} %")
    }
}

enum Scheme {
    Coarse,
    LeastSquares(Box<Upsampling>),
    Normals(NormalDisplacement),
    Full,
}

/// A character simulated in full and with a simulation mesh, and all upsampling methods. In rows of three: the simulation mesh, linear
/// and quadratic least squares with few neighbours; normal displacements, with more; full simulation, with many.
pub struct UpsamplingStudy<'a> {
    character: &'a Character,
    full: SoftBody,
    coarse: SoftBody,
    schemes: Vec<(String, Scheme)>,
    /// Vertices of the full skin that are compared. Those that only follow joints are not upsampled.
    counts: Vec<bool>,
}

impl<'a> UpsamplingStudy<'a> {
    /// Builds both, and methods with these numbers of neighbours.
    pub fn new(
        character: &'a Character,
        settings: &Settings,
        neighbours: [usize; 3],
    ) -> Result<Self, TissueError> {
        let mut all = settings.clone();
        all.detail.resolution = Resolution::Full;
        let full = SoftBody::new(character, all)?;
        let coarse = SoftBody::new(character, settings.clone())?;
        let counts = match coarse.flesh().detail() {
            Some(detail) => detail.is_upsampled(),
            None => vec![true; full.flesh().skin_mesh().positions.len()],
        };
        Ok(Self {
            character,
            counts,
            schemes: schemes(full.flesh(), coarse.flesh(), neighbours),
            full,
            coarse,
        })
    }

    /// Simulates a clip with both meshes and upsamples the coarse one with every method.
    pub fn over(
        &mut self,
        clip: &Clip,
        span: Span,
        frame_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<Variant>, TissueError> {
        let mut sums = vec![[0.0; 2]; self.schemes.len()];
        let mut shown: (f64, Vec<(TriMesh, Vec<f32>)>) = (-1.0, Vec::new());
        let times = span.times();
        for (frame, &time) in times.iter().enumerate() {
            let from = (frame > 0).then(|| times[frame - 1]);
            let reference = simulate_to(&mut self.full, self.character, clip, from, time)?;
            let simulated = simulate_to(&mut self.coarse, self.character, clip, from, time)?;
            let of_truth: Vec<Vec3> = match self.coarse.flesh().detail() {
                Some(detail) => detail.kept.iter().map(|&v| reference[v as usize]).collect(),
                None => reference.clone(),
            };
            let carried = |samples: &[Vec3]| -> Vec<(TriMesh, Vec<f32>)> {
                let meshes =
                    (self.schemes.iter()).map(|(_, scheme)| self.skin(scheme, samples, &reference));
                meshes
                    .map(|mesh| {
                        let errors = self.distances(&mesh, &reference);
                        (mesh, errors)
                    })
                    .collect()
            };
            let (both, own) = (carried(&simulated), carried(&of_truth));
            let mut spread = 0.0_f64;
            for ((sum, both), own) in sums.iter_mut().zip(&both).zip(&own) {
                let count = self.counted(both.1.len());
                let square = mean_square(&both.1, count);
                spread = spread.max(square);
                sum[0] += square;
                sum[1] += mean_square(&own.1, count);
            }
            if spread > shown.0 {
                shown = (spread, both);
            }
            frame_done(frame);
        }
        let height = f64::from(self.character.height()).max(f64::MIN_POSITIVE);
        let rms = |sum: f64| 100.0 * (sum / times.len().max(1) as f64).sqrt() / height;
        let parts = self.schemes.iter().zip(sums).zip(shown.1);
        Ok(parts
            .map(|(((name, _), sum), (mesh, errors))| Variant {
                name: name.clone(),
                rms_percent: rms(sum[0]),
                own_percent: rms(sum[1]),
                mesh,
                errors,
            })
            .collect())
    }

    fn skin(&self, scheme: &Scheme, simulated: &[Vec3], reference: &[Vec3]) -> TriMesh {
        scheme.skin(self.full.flesh(), self.coarse.flesh(), simulated, reference)
    }

    /// Number of compared vertices of the full skin or of the simulation mesh.
    fn counted(&self, vertices: usize) -> usize {
        let is_counted = |v: usize| usize::from(self.counts[v]);
        match self.coarse.flesh().detail() {
            Some(detail) if vertices == detail.kept.len() => {
                detail.kept.iter().map(|&v| is_counted(v as usize)).sum()
            }
            _ => (0..self.counts.len()).map(is_counted).sum(),
        }
    }

    /// Distances to the full simulation, of the full skin or of the simulation mesh.
    fn distances(&self, mesh: &TriMesh, reference: &[Vec3]) -> Vec<f32> {
        let distance = |(p, v): (&Vec3, usize)| match self.counts[v] {
            true => p.distance(reference[v]),
            false => 0.0,
        };
        let pairs = mesh.positions.iter();
        match self.coarse.flesh().detail() {
            Some(detail) if mesh.positions.len() == detail.kept.len() => {
                let kept = detail.kept.iter().map(|&v| v as usize);
                pairs.zip(kept).map(distance).collect()
            }
            _ => pairs.zip(0..reference.len()).map(distance).collect(),
        }
    }
}

/// Simulates from one time of a clip to another, or finds the equilibrium at the start; returns the simulated skin.
fn simulate_to(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    from: Option<f32>,
    to: f32,
) -> Result<Vec<Vec3>, TissueError> {
    let pose = |time: f32| clip.sample(&character.skeleton, time);
    match from {
        None => body.reset(&pose(to))?,
        Some(from) => {
            let step = body.flesh().settings.solver_settings().step;
            let steps = (f64::from(to - from) / step).round().max(1.0) as usize;
            for k in 1..=steps {
                let time = from + (to - from) * k as f32 / steps as f32;
                body.advance(&pose(time), f64::from(to - from) / steps as f64)?;
            }
        }
    }
    Ok(body.flesh().flesh_positions(body.pose(), body.state())?)
}

fn schemes(full: &Flesh, coarse: &Flesh, neighbours: [usize; 3]) -> Vec<(String, Scheme)> {
    let (skin, mesh) = (full.skin_mesh(), coarse.skin_mesh());
    let all: Vec<u32> = (0..skin.positions.len() as u32).collect();
    let kept = coarse.detail().map_or(&all, |detail| &detail.kept);
    let first = [
        ("simulation mesh", Scheme::Coarse),
        (
            "normal displacements",
            Scheme::Normals(NormalDisplacement::new(skin, mesh)),
        ),
        ("full simulation", Scheme::Full),
    ];
    let mut schemes = Vec::new();
    for ((name, scheme), k) in first.into_iter().zip(neighbours) {
        schemes.push((name.to_owned(), scheme));
        for (name, basis) in [("linear", Basis::Linear), ("quadratic", Basis::Quadratic)] {
            let upsampling = Upsampling::new(skin, kept, mesh, k, basis);
            schemes.push((
                format!("{name}, k = {k}"),
                Scheme::LeastSquares(Box::new(upsampling)),
            ));
        }
    }
    schemes
}

impl Scheme {
    fn skin(
        &self,
        full: &Flesh,
        coarse: &Flesh,
        simulated: &[Vec3],
        reference: &[Vec3],
    ) -> TriMesh {
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
            Self::Full => positions.copy_from_slice(reference),
            Self::LeastSquares(upsampling) => {
                let mut samples = Samples::default();
                samples.fill(&upsampling.rings, simulated);
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

fn mean_square(distances: &[f32], count: usize) -> f64 {
    let sum: f64 = distances.iter().map(|&d| f64::from(d).powi(2)).sum();
    sum / count.max(1) as f64
}

/// Draws the methods in rows of three, in a close-up where they are farthest from the full simulation.
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
                    title: "error [mm]".to_owned(),
                    ..Legend::default()
                }),
                ..Scene::default()
            };
            (render(&scene, &camera, size, size), variant.caption())
        })
        .collect();
    contact_sheet(title, &pictures, 3, &SheetStyle::default())
}

/// A camera at the largest error of linear least squares with the most neighbours.
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
