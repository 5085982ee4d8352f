//! Thickness of the subcutaneous fat, and the muscle surface's targets from it.

use glam::{DVec3, Vec2, Vec3};
use serde::Deserialize;
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::normals::vertex_normals;
use supple_geom::sparse::{Cholesky, SymmetricCsc};
use supple_geom::surface::Ray;
use supple_geom::{Surface, TriMesh};

use crate::template::places::frame::{Half, Side};
use crate::template::places::segments::{Section, Segment};
use crate::{Bone, Layers, Sex};

/// The embedded sites.
const EMBEDDED: &str = include_str!("../../../assets/fat.toml");

/// A place whose fat thickness is known.
#[derive(Clone, Debug, PartialEq)]
pub struct FatSite {
    /// Name.
    pub name: String,
    /// Segment, position along it and direction in its section.
    pub at: (Segment, f32, Vec2),
    /// Thickness in men and women \[m\].
    pub thickness: [f64; 2],
}

/// What is wrong with a table of sites.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FatError {
    /// Not readable.
    #[error("the table of fat thickness cannot be read: {reason}")]
    Syntax {
        /// What the parser says.
        reason: String,
    },
    /// A site has a wrong value.
    #[error("fat site '{site}': {reason}")]
    Site {
        /// The site.
        site: String,
        /// What is wrong.
        reason: String,
    },
    /// No site could be found on the skin.
    #[error("no fat site was found on the skin: bones and skin do not belong together")]
    NoneFound,
    /// The skin cannot carry an interpolation.
    #[error(
        "fat thickness cannot be spread over the skin: {reason}; check the skin for degenerate triangles"
    )]
    Spread {
        /// What the solver says.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    site: Vec<RawSite>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSite {
    name: String,
    at: (String, f32, f32, f32),
    men: f64,
    women: f64,
    #[serde(rename = "source")]
    _source: String,
}

/// The embedded table of sites.
pub fn embedded_fat_sites() -> Result<Vec<FatSite>, FatError> {
    fat_sites(EMBEDDED)
}

/// Reads a table of sites.
pub fn fat_sites(text: &str) -> Result<Vec<FatSite>, FatError> {
    let table: RawTable = toml::from_str(text).map_err(|error| FatError::Syntax {
        reason: error.to_string(),
    })?;
    (table.site.into_iter())
        .map(|raw| {
            let wrong = |reason: &str| FatError::Site {
                site: raw.name.clone(),
                reason: reason.to_owned(),
            };
            let (name, t, x, z) = &raw.at;
            let segment = Segment::named(name)
                .ok_or_else(|| wrong(&format!("'{name}' is no segment of the body")))?;
            let good = |mm: f64| mm.is_finite() && (0.0..=200.0).contains(&mm);
            if !good(raw.men) || !good(raw.women) {
                return Err(wrong("a thickness must be from 0 to 200 mm"));
            }
            let direction = Vec2::new(*x, *z).try_normalize();
            let direction = direction.ok_or_else(|| wrong("its direction has no length"))?;
            Ok(FatSite {
                at: (segment, *t, direction),
                thickness: [1e-3 * raw.men, 1e-3 * raw.women],
                name: raw.name,
            })
        })
        .collect()
}

/// Weight of a site against bending: far above, so that sites are met to a tenth of a millimetre.
const SITE_WEIGHT: f64 = 1e6;
/// Length over which the map prefers to be straight rather than smooth \[m\]. Without it the map overshoots between sites; below 2 cm sites become
/// spikes.
const TENSION_LENGTH: f64 = 0.05;
/// Thickness of the skin where nothing is layered, which the map ends in \[m\].
const BARE: f64 = 0.002;
/// Least thickness: the skin itself \[m\].
const LEAST: f64 = 0.0015;

/// Fat thickness at each vertex of the skin \[m\]: the sites' values, spread with least bending and tension (Botsch and Kobbelt 2004).
pub fn fat_thickness(
    sites: &[FatSite],
    sex: Sex,
    skin: &TriMesh,
    layered: &[bool],
    bones: &[Bone],
) -> Result<Vec<f64>, FatError> {
    let mut held: Vec<(usize, f64)> = Vec::new();
    for side in [Side::Left, Side::Right] {
        let half = Half::new(bones, side);
        let surface = Surface::new(side.mirrored_mesh(skin));
        for site in sites {
            let (segment, t, direction) = site.at;
            let Some(section) = Section::new(&half, &surface, segment, t) else {
                continue;
            };
            let at = section.at(&surface, direction);
            let Some(found) = surface.closest_point(at) else {
                continue;
            };
            let corners = surface.mesh().triangles[found.triangle as usize];
            let nearest =
                (0..3).max_by(|&a, &b| found.barycentric[a].total_cmp(&found.barycentric[b]));
            let vertex = corners[nearest.unwrap_or(0)] as usize;
            if layered[vertex] {
                held.push((vertex, site.thickness[usize::from(sex == Sex::Female)]));
            }
        }
    }
    if held.is_empty() {
        return Err(FatError::NoneFound);
    }
    let positions: Vec<DVec3> = skin.positions.iter().map(|p| p.as_dvec3()).collect();
    let laplacian = cotan_laplacian(&positions, &skin.triangles, Clamp::NON_NEGATIVE);
    let n = positions.len();
    let mut entries = Vec::new();
    for stencil in laplacian.stencils() {
        if !stencil.vertices.iter().any(|&v| layered[v as usize]) {
            continue;
        }
        for (i, &a) in stencil.vertices.iter().enumerate() {
            for (j, &b) in stencil.vertices.iter().enumerate() {
                if a >= b {
                    let value = stencil.area * stencil.coefficients[i] * stencil.coefficients[j];
                    entries.push((a, b, value));
                }
            }
        }
    }
    let tension = 1.0 / TENSION_LENGTH.powi(2);
    for (&[a, b], &w) in laplacian.edges.iter().zip(&laplacian.weights) {
        let w = tension * w;
        entries.extend([(a, a, w), (b, b, w), (a.max(b), a.min(b), -w)]);
    }
    let mut right = vec![0.0; n];
    let bare = (0..n).filter(|&v| !layered[v]).map(|v| (v, BARE));
    for (v, thickness) in held.into_iter().chain(bare) {
        entries.push((v as u32, v as u32, SITE_WEIGHT));
        right[v] += SITE_WEIGHT * thickness;
    }
    let spread = |error: supple_geom::sparse::SparseError| FatError::Spread {
        reason: error.to_string(),
    };
    let matrix = SymmetricCsc::from_entries(n, entries).map_err(spread)?;
    let factor = Cholesky::new(&matrix).map_err(spread)?;
    let mut columns = vec![right];
    factor.solve_columns(&mut columns);
    Ok(columns[0].iter().map(|&t| t.max(LEAST)).collect())
}

/// Least distance of the muscle surface from the skeleton surface \[m\] [4.2.2].
pub const LEAST_MUSCLE: f32 = 0.001;

/// Least part of the line from skin to skeleton surface that is muscle. Without it a woman's breast lies on the ribs, and crests stand out of the
/// hips; above 0.3 shins and collar bones are covered.
const LEAST_SHARE: f32 = 0.2;

/// Least muscle over ribs, which all lie under sheets \[m\]: below 5 mm they show through holes; above 8 mm chests are padded.
const RIB_COVER: f32 = 0.006;
/// Skeleton surface nearer to a rib than the first is a rib's, farther than the second is not \[m\].
const AT_RIB: [f32; 2] = [0.006, 0.02];

/// Least muscle on each line from skin to skeleton surface \[m\]: 1 mm, and more over ribs.
pub fn least_muscle(layers: &Layers, bones: &[Bone]) -> Vec<f32> {
    let ribs = bones.iter().filter(|bone| bone.name.starts_with("rib"));
    let ribs = Surface::new(TriMesh::merged(ribs.map(|bone| &bone.mesh)));
    (layers.skeleton.iter())
        .map(|&p| {
            let found = ribs.closest_point_within(p, AT_RIB[1]);
            let share = found.map_or(0.0, |at| {
                ((AT_RIB[1] - at.distance) / (AT_RIB[1] - AT_RIB[0])).clamp(0.0, 1.0)
            });
            LEAST_MUSCLE + share * (RIB_COVER - LEAST_MUSCLE)
        })
        .collect()
}

/// Where the muscle surface crosses each line from skin (0) to skeleton surface (1): as deep as the fat is thick; never above the
/// skin nor nearer to the skeleton surface than `least` \[m\]. Zero where there are no layers.
pub fn fat_places(layers: &Layers, thickness: &[f64], least: &[f32]) -> Vec<f32> {
    let skin = TriMesh {
        positions: layers.skin.clone(),
        triangles: layers.triangles.clone(),
    };
    let normals = vertex_normals(&skin);
    (0..layers.skin.len())
        .map(|v| {
            let (skin, bone) = (layers.skin[v], layers.skeleton[v]);
            let length = skin.distance(bone);
            if !layers.layered[v] || length < 1e-6 {
                return 0.0;
            }
            let line = (bone - skin) / length;
            // Thickness is measured straight down; the line may be oblique.
            let slope = (-line.dot(normals[v])).max(0.5);
            let depth = thickness[v] as f32 / slope;
            let deepest = (length - least[v].max(LEAST_SHARE * length)).max(0.0);
            depth.clamp(0.0, deepest) / length
        })
        .collect()
}

/// The muscle surface at [`fat_places`], as it is before it is made smooth \[m\].
pub fn fat_targets(layers: &Layers, thickness: &[f64], least: &[f32]) -> Vec<Vec3> {
    let places = fat_places(layers, thickness, least);
    (0..places.len())
        .map(|v| layers.skin[v].lerp(layers.skeleton[v], places[v]))
        .collect()
}

/// Where the muscle surface crosses each line if muscles are given [4.2.2]: at the first hit of the line from skin (0) to skeleton surface (1); none
/// where it meets no muscle.
pub fn muscle_places(layers: &Layers, muscles: &Surface) -> Vec<Option<f32>> {
    (0..layers.skin.len())
        .map(|v| {
            let (origin, end) = (layers.skin[v], layers.skeleton[v]);
            let direction = end - origin;
            let length = direction.length();
            if !layers.layered[v] || length < 1e-6 {
                return None;
            }
            let hit = muscles.first_hit(Ray { origin, direction }, 1.0)?;
            let limit = (1.0 - LEAST_MUSCLE / length).max(0.0);
            Some(hit.t.min(limit))
        })
        .collect()
}
