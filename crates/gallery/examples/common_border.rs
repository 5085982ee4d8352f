//! Contact where two parts of a skin meet (figure 3.14): projection onto the other part's surface leaves a gap, contact between
//! both does not.

mod common;

use common::{BLUE, RED};
use supple::flesh::settings::ContactMode;
use supple::geom::adjacency::Adjacency;
use supple::geom::section::{Plane, section};
use supple::geom::{Surface, TriMesh};
use supple::glam::{Vec3, vec3};
use supple::tissue::SoftBody;
use supple::{Character, Pose};
use supple_picture::{Camera, Image, Line};

/// Bending angle of the arm [degrees].
const BENT: f32 = 125.0;
const SIZE: (usize, usize) = (330, 300);

fn main() {
    let arm = common::arm(0.0);
    let mut settings = common::arm_settings(0.04, 0.04);
    settings.contact.mode = ContactMode::Global;
    let flesh = common::build(&arm, settings);
    let mut through = SoftBody::from_flesh(common::touch::without(&flesh)).unwrap();
    let mut touching = SoftBody::from_flesh(flesh).unwrap();
    for body in [&mut through, &mut touching] {
        bend(body, &arm);
    }
    let deep = through.simulated_skin().unwrap();
    let halves = Halves::new(&touching);
    let inside = halves.inside(&deep);
    let projected = halves.projected(&deep, &inside);
    let ours = touching.simulated_skin().unwrap();
    let gaps = [&projected, &ours].map(|skin| halves.mean_distance(skin, &inside));
    println!(
        "{} points are inside; moved to the surface they end {:.1} mm from the other part, by contact {:.1} mm",
        inside.len(),
        1e3 * gaps[0],
        1e3 * gaps[1]
    );
    let fold: Vec<Vec3> = inside.iter().map(|&v| ours[v]).collect();
    let middle = fold.iter().copied().sum::<Vec3>() / fold.len() as f32;
    let camera = common::view_in(SIZE, &[middle - 0.13, middle + 0.13], Vec3::Z);
    let tiles = [
        (&deep, "no contact".to_owned()),
        (
            &projected,
            format!("onto the surface: a gap of {:.1} mm", 1e3 * gaps[0]),
        ),
        (&ours, format!("contact: {:.1} mm", 1e3 * gaps[1])),
    ]
    .map(|(skin, caption)| (halves.draw(skin, &camera), caption));
    common::save(
        "common_border",
        &common::sheet("A folded arm, cut open", &tiles, 3),
    );
    assert!(inside.len() > 30);
    assert!(gaps[1] < 0.5 * gaps[0], "{gaps:?}");
}

/// Bends the arm within a second and holds it.
fn bend(body: &mut SoftBody, arm: &Character) {
    let bent = common::turned(arm, "elbow", Vec3::Z, BENT);
    let rest = Pose::rest(&arm.skeleton);
    body.place(&rest).unwrap();
    for step in 1..=90 {
        let way = (step as f32 / 60.0).min(1.0);
        body.advance(&rest.blend(&bent, way), 1.0 / 60.0).unwrap();
    }
}

/// Upper arm and forearm.
struct Halves {
    triangles: [Vec<[u32; 3]>; 2],
    is_fore: Vec<bool>,
    /// Positions along the arm at rest [m].
    from_elbow: Vec<f32>,
}

impl Halves {
    fn new(body: &SoftBody) -> Self {
        let rest = body.flesh().skin_mesh();
        let is_fore: Vec<bool> = rest.positions.iter().map(|p| p.x > 0.5).collect();
        let of = |fore: bool| {
            let all = rest.triangles.iter().copied();
            all.filter(|t| t.iter().all(|&v| is_fore[v as usize] == fore))
                .collect()
        };
        Self {
            triangles: [of(false), of(true)],
            from_elbow: rest.positions.iter().map(|p| (p.x - 0.5).abs()).collect(),
            is_fore,
        }
    }

    fn half(&self, skin: &[Vec3], fore: bool) -> TriMesh {
        TriMesh {
            positions: skin.to_vec(),
            triangles: self.triangles[usize::from(fore)].clone(),
        }
    }

    fn surfaces(&self, skin: &[Vec3]) -> [Surface; 2] {
        [false, true].map(|fore| Surface::new(self.half(skin, fore)))
    }

    /// The surface of the part that a point does not belong to.
    fn other<'a>(&self, surfaces: &'a [Surface; 2], v: usize) -> &'a Surface {
        &surfaces[usize::from(!self.is_fore[v])]
    }

    /// Points inside the other part, except at the elbow, where both parts are connected.
    fn inside(&self, skin: &[Vec3]) -> Vec<usize> {
        let surfaces = self.surfaces(skin);
        (0..skin.len())
            .filter(|&v| self.from_elbow[v] > 0.07 && skin[v].z.abs() < 0.03)
            .filter(|&v| self.other(&surfaces, v).winding_number(skin[v]) > 0.6)
            .collect()
    }

    /// Every point inside moved to the nearest point of the other part's surface.
    fn projected(&self, skin: &[Vec3], inside: &[usize]) -> Vec<Vec3> {
        let surfaces = self.surfaces(skin);
        let mut moved = skin.to_vec();
        for &v in inside {
            moved[v] = self
                .other(&surfaces, v)
                .closest_point(skin[v])
                .unwrap()
                .position;
        }
        moved
    }

    fn mean_distance(&self, skin: &[Vec3], points: &[usize]) -> f32 {
        let surfaces = self.surfaces(skin);
        let distance = |&v: &usize| {
            self.other(&surfaces, v)
                .closest_point(skin[v])
                .unwrap()
                .distance
        };
        points.iter().map(distance).sum::<f32>() / points.len() as f32
    }

    /// Outlines of both parts in the plane z = 0.
    fn draw(&self, skin: &[Vec3], camera: &Camera) -> Image {
        let mut lines = Vec::new();
        for (fore, colour) in [(false, RED), (true, BLUE)] {
            let half = self.half(skin, fore);
            let plane = Plane {
                point: vec3(0.0, 0.0, 1e-4),
                normal: Vec3::Z,
            };
            for curve in section(&half, &Adjacency::new(&half), plane).loops {
                lines.extend(curve.points.windows(2).map(|pair| Line {
                    from: pair[0].as_vec3(),
                    to: pair[1].as_vec3(),
                    colour,
                    width: 2.5,
                    on_top: true,
                }));
            }
        }
        common::tile_in(SIZE, Vec::new(), lines, camera)
    }
}
