//! Construction of the bone surface from skin and skeleton (figure 3.1): volumetric bones, base points, shrunken skin.

mod common;

use common::walk::Walk;
use common::{BONE, RED};
use supple::Character;
use supple::embedded::{Body, body};
use supple::flesh::Flesh;
use supple::flesh::construction::base_points::{BasePoint, Smoothing, base_points, base_position};
use supple::flesh::construction::bone_surface::bone_surface;
use supple::flesh::construction::rest_skin::RestSkin;
use supple::geom::TriMesh;
use supple::glam::{DVec3, Vec3, vec3};
use supple_picture::{BoneStyle, Camera, DrawMesh, Image, Line, Ramp, Wire, bone_mesh};

/// Width and height of a tile [px].
const SIZE: (usize, usize) = (250, 250);

fn main() {
    let character = body(Body::Female).unwrap();
    let flesh = Flesh::builder(&character).build().unwrap();
    let skin = common::surface(&flesh);
    let unsmoothed = Smoothing {
        reach: 0.0,
        ..Smoothing::default()
    };
    let [closest, smooth] =
        [unsmoothed, Smoothing::default()].map(|smoothing| Shrunken::new(&flesh, &skin, smoothing));

    let whole: Vec<Vec3> = flesh.skin_mesh().positions.clone();
    let far = common::view_in(SIZE, &whole, vec3(0.25, 0.05, 1.0));
    let near = common::view_in(
        SIZE,
        &[vec3(-0.24, 0.62, 0.0), vec3(0.24, 1.1, 0.0)],
        vec3(0.25, 0.1, 1.0),
    );
    let caption = |how: &str, s: &Shrunken| {
        format!("{how} base points: up to {:.0} cm apart", 100.0 * s.jump)
    };
    let edges = |letter: &str, s: &Shrunken| {
        format!(
            "{letter} skin shrunken to them: edges up to {:.0} cm",
            100.0 * s.edge
        )
    };
    let volumes = volumes(&flesh, &character, &far);
    let tiles = [
        (input(&flesh, &far), "a) skin and skeleton".to_owned()),
        (volumes, "b) volumetric bones and joints".to_owned()),
        (
            closest.lines(&flesh, &near),
            caption("c) closest", &closest),
        ),
        (closest.surface(&flesh, &near), edges("d)", &closest)),
        (smooth.lines(&flesh, &near), caption("e) smoothed", &smooth)),
        (smooth.surface(&flesh, &near), edges("f)", &smooth)),
    ];
    common::save(
        "construction",
        &common::sheet("From skin and skeleton to the bone surface", &tiles, 3),
    );
    check(&closest, &smooth);
}

/// The region of the close-ups.
fn is_at_hips(p: Vec3) -> bool {
    p.x.abs() < 0.24 && (0.62..1.1).contains(&p.y)
}

/// The skin shrunken onto the bone lines.
struct Shrunken {
    base_points: Vec<BasePoint>,
    points: Vec<DVec3>,
    /// Largest distance along the bones between base points of neighbours around the hips [m].
    jump: f64,
    /// Longest edge of the shrunken skin there [m].
    edge: f64,
}

impl Shrunken {
    fn new(flesh: &Flesh, skin: &RestSkin, smoothing: Smoothing) -> Self {
        let base_points = base_points(flesh.graph(), skin, smoothing);
        let hits = bone_surface(flesh.graph(), flesh.volume(), skin, &base_points);
        let points: Vec<DVec3> = hits.iter().map(|hit| hit.position).collect();
        let hips = (0..skin.len()).filter(|&v| is_at_hips(skin.positions[v].as_vec3()));
        let walk = Walk::new(flesh.graph());
        let (mut jump, mut edge) = (0.0_f64, 0.0_f64);
        for v in hips {
            for w in skin.ring(v).iter().map(|&w| w as usize) {
                jump = jump.max(walk.distance(&base_points[v], &base_points[w]));
                edge = edge.max(points[v].distance(points[w]));
            }
        }
        Self {
            base_points,
            points,
            jump,
            edge,
        }
    }

    /// Lines from the front of the skin to the base points, coloured by bone.
    fn lines(&self, flesh: &Flesh, camera: &Camera) -> Image {
        let graph = flesh.graph();
        let nodes: Vec<DVec3> = graph.nodes.iter().map(|node| node.position).collect();
        let skin = flesh.skin_mesh();
        let mut lines = Vec::new();
        for (base, &from) in self.base_points.iter().zip(&skin.positions).step_by(2) {
            if from.z < 0.0 {
                continue;
            }
            let colour = Ramp::Turbo.at((base.bone.unwrap_or(0) * 37 % 100) as f32 / 100.0);
            let to = base_position(graph, &nodes, base).as_vec3();
            lines.push(Line {
                from,
                to,
                colour,
                width: 1.0,
                on_top: false,
            });
        }
        let mut back = DrawMesh::owned(common::kept(skin, skin, |p| p.z < -0.02));
        back.casts_shadow = false;
        common::tile_in(SIZE, vec![back, bones(flesh, false)], lines, camera)
    }

    fn surface(&self, flesh: &Flesh, camera: &Camera) -> Image {
        let mesh = TriMesh {
            positions: self.points.iter().map(|p| p.as_vec3()).collect(),
            triangles: flesh.skin_mesh().triangles.clone(),
        };
        let mut drawn = DrawMesh::owned(mesh).coloured(BONE);
        drawn.wire = Some(Wire {
            colour: RED,
            width: 0.7,
            opacity: 0.5,
        });
        common::tile_in(SIZE, vec![drawn], vec![], camera)
    }
}

fn bones(flesh: &Flesh, on_top: bool) -> DrawMesh<'static> {
    let graph = flesh.graph();
    let ends = (0..graph.bones.len()).map(|bone| graph.segment(bone));
    let ends: Vec<(Vec3, Vec3)> = ends.map(|(a, b)| (a.as_vec3(), b.as_vec3())).collect();
    let joints: Vec<Vec3> = graph
        .nodes
        .iter()
        .map(|node| node.position.as_vec3())
        .collect();
    let style = BoneStyle {
        on_top,
        ..BoneStyle::default()
    };
    bone_mesh(&ends, &joints, &style)
}

fn input(flesh: &Flesh, camera: &Camera) -> Image {
    common::tile_in(
        SIZE,
        vec![
            DrawMesh::owned(flesh.skin_mesh().clone()),
            bones(flesh, true),
        ],
        vec![],
        camera,
    )
}

fn volumes(flesh: &Flesh, character: &Character, camera: &Camera) -> Image {
    let bones = common::volumetric_skeleton(flesh, character, &flesh.rest_pose());
    let mut glass = DrawMesh::owned(flesh.skin_mesh().clone());
    glass.opacity = 0.25;
    glass.casts_shadow = false;
    common::tile_in(
        SIZE,
        vec![DrawMesh::owned(bones).coloured(BONE), glass],
        vec![],
        camera,
    )
}

fn check(closest: &Shrunken, smooth: &Shrunken) {
    println!(
        "distance between base points of neighbours around the hips: at most {:.3} m, {:.3} m after smoothing; longest edge {:.3} and {:.3} m",
        closest.jump, smooth.jump, closest.edge, smooth.edge
    );
    assert!(smooth.jump < 0.7 * closest.jump);
    assert!(smooth.edge < 0.7 * closest.edge);
}
