//! The muscles of a body: the muscle layer, shared out by an atlas and contoured.

use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;
use supple_geom::decimate::{Decimation, decimate};
use supple_geom::normals::vertex_normals;
use supple_geom::shells::shells;
use supple_geom::surface_nets::surface_nets;
use supple_geom::{Aabb, Adjacency, Surface, TriMesh};

use crate::template::musculature::atlas::{Atlas, AtlasError, Entry, Group, Shape};
use crate::template::musculature::fibres::{FibreGuide, fibre_field};
use crate::template::musculature::paths::{Strip, strip};
use crate::template::musculature::share::{Claimant, LEAST_LAYER, Shares};
use crate::template::places::frame::{Half, Side};
use crate::template::wrapping::dense::Dense;
use crate::template::wrapping::grid::Blocks;
use crate::{Bone, Layers};

/// A muscle in a body.
#[derive(Clone, Debug)]
pub struct Muscle {
    /// Name with its side: `vastus_lateralis_l`.
    pub name: String,
    /// Group.
    pub group: Group,
    /// Side.
    pub side: Side,
    /// Its closed surface \[m\].
    pub mesh: TriMesh,
    /// Volume \[m³\].
    pub volume: f64,
    /// Unit fibre direction at each vertex, from origin to insertion.
    pub fibres: Vec<Vec3>,
    /// How much of each vertex is tendon, 0 to 1.
    pub tendon: Vec<f32>,
    /// Its fibres as lines from origin to insertion.
    pub strip: Strip,
}

impl Muscle {
    /// Where its fibres begin \[m\].
    pub fn origin(&self) -> Vec<Vec3> {
        self.strip
            .fibres
            .iter()
            .filter_map(|f| f.first().copied())
            .collect()
    }

    /// Where its fibres end \[m\].
    pub fn insertion(&self) -> Vec<Vec3> {
        self.strip
            .fibres
            .iter()
            .filter_map(|f| f.last().copied())
            .collect()
    }
}

/// What muscles are made with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleOptions {
    /// Distance between the lattice's nodes \[m\]. Above 3 mm sheets get holes; below 2 mm it takes too long.
    pub step: f32,
    /// Vertices of all muscles together.
    pub vertices: usize,
    /// Volume of the atlas' trunk muscles is multiplied by this: the body's muscle mass over the reference man's.
    pub scale: f64,
}

impl Default for MuscleOptions {
    fn default() -> Self {
        MuscleOptions {
            step: 0.0025,
            vertices: 36_000,
            scale: 1.0,
        }
    }
}

impl MuscleOptions {
    /// For a body whose muscles should have a volume \[m³\], both sides together.
    pub fn for_volume(atlas: &Atlas, volume: f64) -> Self {
        let reference: f64 = atlas.entries.iter().map(|e| 2e-6 * e.volume).sum();
        MuscleOptions {
            scale: volume / reference,
            ..MuscleOptions::default()
        }
    }
}

/// Distance fields are exact this far from a surface \[m\].
const BAND: f32 = 0.009;
/// Half the gap between neighbouring muscles, and the gap to bones and muscle surface \[m\].
const GAP: f32 = 0.00025;
/// What is not layered counts as muscle this far below the skin: muscles that reach into the head stay under it \[m\].
const BARE_SKIN: f32 = 0.003;
/// Depth and half width of the groove of a tendinous band \[m\].
const BAND_DEPTH: f32 = 0.003;
const BAND_WIDTH: f32 = 0.006;
/// Part of a muscle's share that its surface encloses; the rest is edges that are rounded off.
const FILLED: f64 = 0.96;
/// How far the surface may be moved out to enclose that much \[m\]: twice the gap, so that neighbours just touch.
const LEVEL: f32 = 0.0005;
/// Rounds of finding radii. Volumes change by less than 1 % after 25.
const ROUNDS: usize = 30;

/// Makes the muscles of both sides. Those of a symmetric body are made once and mirrored.
pub fn muscles(
    atlas: &Atlas,
    bones: &[Bone],
    layers: &Layers,
    options: &MuscleOptions,
) -> Result<Vec<Muscle>, AtlasError> {
    let hull = muscle_hull(layers);
    let thin = thinness(options, &hull);
    let atlas = &atlas.with_sheets(thin);
    let side =
        |side: Side| Sharing::new(atlas, bones, &hull, side, options, thin)?.muscles(options);
    if is_symmetric(bones, &hull) {
        let left = side(Side::Left)?;
        return Ok(left
            .into_iter()
            .flat_map(|muscle| [muscle.clone(), mirrored(muscle)])
            .collect());
    }
    let (left, right) = rayon::join(|| side(Side::Left), || side(Side::Right));
    let (left, right) = (left?, right?);
    Ok(left
        .into_iter()
        .zip(right)
        .flat_map(|(l, r)| [l, r])
        .collect())
}

/// Bodies whose sides differ by less are symmetric \[m\]: as much as the gap between muscles.
const SYMMETRY: f32 = 0.0005;

/// Whether bones and muscle surface of the right are those of the left, mirrored.
fn is_symmetric(bones: &[Bone], hull: &TriMesh) -> bool {
    let alike = |a: &TriMesh, b: &TriMesh| {
        let other = Surface::new(Side::Right.mirrored_mesh(b));
        (a.positions.iter()).all(|&p| other.closest_point_within(p, SYMMETRY).is_some())
    };
    let lefts = bones
        .iter()
        .filter_map(|b| Some((b.name.strip_suffix("_l")?, b)));
    let bones_alike = lefts.into_iter().all(|(stem, left)| {
        let name = format!("{stem}{}", Side::Right.suffix());
        let right = bones.iter().find(|bone| bone.name == name);
        right.is_some_and(|right| alike(&left.mesh, &right.mesh))
    });
    bones_alike && alike(hull, hull)
}

/// A muscle of the left side on the right.
fn mirrored(muscle: Muscle) -> Muscle {
    let side = Side::Right;
    let turn = |points: &[Vec3]| points.iter().map(|&p| side.mirrored(p)).collect::<Vec<_>>();
    let stem = muscle.name.trim_end_matches(Side::Left.suffix());
    Muscle {
        name: format!("{stem}{}", side.suffix()),
        side,
        mesh: side.mirrored_mesh(&muscle.mesh),
        fibres: turn(&muscle.fibres),
        strip: muscle.strip.moved(|p| side.mirrored(p)),
        ..muscle
    }
}

/// Volume of each muscle of the atlas on the left \[m³\], without contours: quick, for finding how thick the fat is.
pub fn muscle_volumes(
    atlas: &Atlas,
    bones: &[Bone],
    layers: &Layers,
    options: &MuscleOptions,
) -> Result<Vec<f64>, AtlasError> {
    let hull = muscle_hull(layers);
    let thin = thinness(options, &hull);
    let atlas = atlas.with_sheets(thin);
    let sharing = Sharing::new(&atlas, bones, &hull, Side::Left, options, thin)?;
    Ok(sharing.volumes)
}

/// Height of the man whose volumes and thicknesses the atlas has \[m\] (Rajagopal et al. 2015).
const REFERENCE_HEIGHT: f64 = 1.7;
/// Thinnest and thickest sheets against his: thinner ones fall through the lattice, and thicker ones need no more than their radii, which grow.
const THINNESS: (f64, f64) = (0.65, 1.0);

/// Thickness of a body's sheets against the reference man's: their volume over their area.
fn thinness(options: &MuscleOptions, hull: &TriMesh) -> f32 {
    let height = f64::from(hull.bounds().size().y) / REFERENCE_HEIGHT;
    (options.scale / (height * height)).clamp(THINNESS.0, THINNESS.1) as f32
}

/// The muscle surface, which is a little below the skin where there are no layers.
pub fn muscle_hull(layers: &Layers) -> TriMesh {
    let mut mesh = TriMesh {
        positions: layers.muscle.clone(),
        triangles: layers.triangles.clone(),
    };
    let normals = vertex_normals(&mesh);
    for (v, position) in mesh.positions.iter_mut().enumerate() {
        if !layers.layered[v] {
            *position -= BARE_SKIN * normals[v];
        }
    }
    mesh
}

/// One side's muscles before they are contoured.
struct Sharing<'a> {
    side: Side,
    blocks: Blocks,
    depth: Vec<f32>,
    bone: Vec<f32>,
    claimants: Vec<Claimant<'a>>,
    guides: Vec<FibreGuide>,
    shares: Shares,
    radii: Vec<f32>,
    /// Volume of each muscle's share \[m³\].
    volumes: Vec<f64>,
}

impl<'a> Sharing<'a> {
    fn new(
        atlas: &'a Atlas,
        bones: &[Bone],
        hull: &TriMesh,
        side: Side,
        options: &MuscleOptions,
        thin: f32,
    ) -> Result<Sharing<'a>, AtlasError> {
        let half = Half::new(bones, side);
        let surface = Surface::new(side.mirrored_mesh(hull));
        let mut claimants = Vec::with_capacity(atlas.entries.len());
        for entry in &atlas.entries {
            claimants.push(Claimant::new(entry, strip(entry, &half, &surface)?));
        }
        let blocks = Blocks::inside(&surface, options.step, 0.0);
        let depth = blocks.distances(&surface, BAND);
        let all = TriMesh::merged(half.bones().iter().map(|bone| bone.surface.mesh()));
        let bone = blocks.distances(&Surface::new(all), BAND);
        let volumes: Vec<f64> = (atlas.entries.iter())
            .map(|entry| 1e-6 * entry.volume * options.scale)
            .collect();
        let radii: Vec<f32> = (claimants.iter().zip(&volumes))
            .map(|(c, &v)| c.radius(v))
            .collect();
        let shares = Shares::new(&claimants, &radii, &blocks, [&depth, &bone], thin);
        let radii = fitted_radii(&claimants, &shares, &volumes, radii);
        Ok(Sharing {
            side,
            blocks,
            depth,
            bone,
            guides: claimants
                .iter()
                .map(|c| FibreGuide::new(&c.strip))
                .collect(),
            claimants,
            volumes: shares.volumes(&radii),
            shares,
            radii,
        })
    }

    fn muscles(&self, options: &MuscleOptions) -> Result<Vec<Muscle>, AtlasError> {
        let contours: Vec<TriMesh> = (0..self.claimants.len())
            .into_par_iter()
            .map(|m| self.contour(m))
            .collect();
        // Small muscles get more vertices for their area than large ones, or they lose their shape.
        let weight = |mesh: &TriMesh| mesh.area().powf(0.7);
        let total: f64 = contours.iter().map(weight).sum();
        Ok((0..contours.len())
            .into_par_iter()
            .map(|m| {
                let share = weight(&contours[m]) / total.max(1e-12);
                let target = (0.5 * options.vertices as f64 * share) as usize;
                self.muscle(m, &contours[m], target.max(60))
            })
            .collect())
    }

    /// The surface of a muscle's share.
    fn contour(&self, muscle: usize) -> TriMesh {
        let blocks = &self.blocks;
        let claimant = &self.claimants[muscle];
        let bounds = claimant.strip.mesh().bounds();
        let margin = 0.055;
        let step = blocks.step;
        let to_node = |p: Vec3| ((p - blocks.origin) / step).round().as_ivec3();
        let (low, high) = (to_node(bounds.min - margin), to_node(bounds.max + margin));
        let value = |node: IVec3| -> f32 {
            blocks
                .index(node)
                .map_or(-1.0, |index| self.value(index, node, muscle))
        };
        let mut dense = Dense::new(low, high, value);
        // Slivers beside bones and steps of the claims are smoothed away before they become triangles.
        let passes = if claimant.entry.shape == Shape::Sheet {
            1
        } else {
            2
        };
        dense.clamp(1.5 * step);
        (0..passes).for_each(|_| dense.blur());
        let Some((first, last)) = dense.inside() else {
            return TriMesh::default();
        };
        let bounds = Aabb::of_points([blocks.position(first - 1), blocks.position(last + 1)]);
        let level = dense
            .level(FILLED * self.volumes[muscle], step)
            .clamp(-LEVEL, 0.0);
        let mut mesh = surface_nets(bounds, step, |p: DVec3| {
            f64::from(level - dense.at(to_node(p.as_vec3())))
        });
        mesh = largest_shells(&mesh);
        smooth(
            &mut mesh,
            if claimant.entry.shape == Shape::Sheet {
                3
            } else {
                6
            },
        );
        mesh
    }

    /// How far inside a muscle a node is, roughly \[m\].
    fn value(&self, index: usize, node: IVec3, muscle: usize) -> f32 {
        let Some((border, within)) = self.shares.inside(index, muscle, &self.radii) else {
            return -1.0;
        };
        let round = match self.claimants[muscle].entry.shape {
            Shape::Sheet => 0.002,
            _ => 0.005,
        };
        let middle = self.blocks.position(node).x;
        let inside = smooth_min(-self.depth[index], border, round);
        let inside = smooth_min(inside, within, round);
        let thick = self.bone[index] - self.depth[index] - LEAST_LAYER;
        inside.min(self.bone[index]).min(middle).min(thick) - GAP - self.band(index, node, muscle)
    }

    /// How deep a tendinous band cuts into a muscle's surface at a node \[m\].
    fn band(&self, index: usize, node: IVec3, muscle: usize) -> f32 {
        let bands = &self.claimants[muscle].entry.bands;
        if bands.is_empty() || -self.depth[index] > BAND {
            return 0.0;
        }
        let (_, u) = self.guides[muscle].at(self.blocks.position(node));
        let length = self.claimants[muscle].strip.length();
        let nearest = bands
            .iter()
            .map(|b| (b - u).abs() * length)
            .fold(f32::INFINITY, f32::min);
        BAND_DEPTH * (-(nearest / BAND_WIDTH).powi(2)).exp()
    }

    fn muscle(&self, m: usize, contour: &TriMesh, vertices: usize) -> Muscle {
        let settings = Decimation {
            target: vertices,
            evenness: 0.01,
            ..Decimation::default()
        };
        let mut mesh = decimate(contour, &settings).mesh;
        inflate(&mut mesh, contour.signed_volume());
        let claimant = &self.claimants[m];
        let entry: &Entry = claimant.entry;
        let side = self.side;
        let directions = fibre_field(&self.guides[m], &mesh.positions, entry);
        Muscle {
            name: format!("{}{}", entry.name, side.suffix()),
            group: entry.group,
            side,
            volume: mesh.signed_volume(),
            fibres: directions
                .directions
                .iter()
                .map(|&d| side.mirrored(d))
                .collect(),
            tendon: directions.tendon,
            strip: claimant.strip.moved(|p| side.mirrored(p)),
            mesh: side.mirrored_mesh(&mesh),
        }
    }
}

/// Number of the part that is not shared out whole, after those that are.
const TRUNK: usize = 5;

/// Radii for which every muscle gets its volume. Limbs are shared out whole: there volumes are in the atlas' proportions, whatever the sum.
fn fitted_radii(
    claimants: &[Claimant],
    shares: &Shares,
    wanted: &[f64],
    mut radii: Vec<f32>,
) -> Vec<f32> {
    let part = |m: usize| match claimants[m].entry.group {
        Group::UpperLeg => 0,
        Group::LowerLeg => 1,
        Group::UpperArm => 2,
        Group::LowerArm => 3,
        Group::Shoulder => 4,
        _ => TRUNK,
    };
    let start = radii.clone();
    for round in 0..ROUNDS {
        let volumes = shares.volumes(&radii);
        let mut sums = [[0.0; 2]; TRUNK + 1];
        for m in 0..radii.len() {
            sums[part(m)][0] += volumes[m];
            sums[part(m)][1] += wanted[m];
        }
        let gain = if round < 12 { 0.4 } else { 0.2 };
        for m in 0..radii.len() {
            let scale = if part(m) < TRUNK {
                sums[part(m)][0] / sums[part(m)][1]
            } else {
                1.0
            };
            // A tube's volume grows with the square of its radius; neighbours that grow too take half.
            let ratio = scale * wanted[m] / volumes[m].max(0.1 * wanted[m]);
            let step = gain * f64::from(radii[m]) * (ratio - 1.0);
            let bounds = match claimants[m].entry.thickness {
                Some(_) => (0.7 * start[m], 1.5 * start[m]),
                None => (0.1 * start[m], 3.0 * start[m]),
            };
            radii[m] = (radii[m] + step.clamp(-0.0015, 0.0015) as f32).clamp(bounds.0, bounds.1);
        }
        // In a limb that is shared out whole only differences of radii matter: keep their mean.
        let volumes = &volumes;
        for limb in 0..TRUNK {
            let own = |m: &usize| part(*m) == limb;
            let drift = |m: usize| volumes[m] * f64::from(radii[m] - start[m]);
            let weight: f64 = (0..radii.len()).filter(own).map(|m| volumes[m]).sum();
            let mean = (0..radii.len()).filter(own).map(drift).sum::<f64>() / weight.max(1e-12);
            for m in (0..radii.len()).filter(own) {
                radii[m] = (radii[m] - mean as f32).max(0.1 * start[m]);
            }
        }
    }
    radii
}

/// The smaller of two numbers, rounded off where they are within `k` of each other.
fn smooth_min(a: f32, b: f32, k: f32) -> f32 {
    let near = (k - (a - b).abs()).max(0.0);
    a.min(b) - near * near / (4.0 * k)
}

/// Moves vertices along their normals until the volume is `wanted` \[m³\] again: collapses cut corners off round forms.
fn inflate(mesh: &mut TriMesh, wanted: f64) {
    let normals = vertex_normals(mesh);
    let step =
        ((wanted - mesh.signed_volume()) / mesh.area().max(1e-9)).clamp(0.0, f64::from(LEVEL));
    for (position, normal) in mesh.positions.iter_mut().zip(normals) {
        *position += step as f32 * normal;
    }
}

/// Crumbs are dropped: shells of less than a thirtieth of the whole.
fn largest_shells(mesh: &TriMesh) -> TriMesh {
    let pieces = shells(mesh).split(mesh);
    let volume = |mesh: &TriMesh| mesh.signed_volume().abs();
    let total: f64 = pieces.iter().map(|p| volume(&p.mesh)).sum();
    let kept = pieces
        .iter()
        .map(|p| &p.mesh)
        .filter(|m| volume(m) * 30.0 > total);
    TriMesh::merged(kept)
}

/// Taubin smoothing: a step towards the mean of the neighbours and a larger one back, which keeps the volume (Taubin 1995).
fn smooth(mesh: &mut TriMesh, rounds: usize) {
    let adjacency = Adjacency::new(mesh);
    let n = mesh.positions.len();
    let mut degree = vec![0f32; n];
    for edge in &adjacency.edges {
        edge.iter().for_each(|&v| degree[v as usize] += 1.0);
    }
    for _ in 0..rounds {
        for factor in [0.5, -0.52] {
            let mut sums = vec![Vec3::ZERO; n];
            for &[a, b] in &adjacency.edges {
                sums[a as usize] += mesh.positions[b as usize];
                sums[b as usize] += mesh.positions[a as usize];
            }
            for v in 0..n {
                if degree[v] > 0.0 {
                    let mean = sums[v] / degree[v];
                    mesh.positions[v] = mesh.positions[v].lerp(mean, factor);
                }
            }
        }
    }
}
