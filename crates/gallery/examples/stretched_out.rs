//! The stretched-out skeleton (figure 3.2): base points are smoothed along the skin and re-projected onto the bones after each
//! sweep. The mean of points on two legs lies between the legs and is projected back to where it came from. With the legs spread out
//! it moves up to the hips.

mod common;

use common::walk::Walk;
use common::{BLUE, BONE, Limb, RED};
use supple::flesh::Flesh;
use supple::flesh::construction::base_points::{BasePoint, base_position};
use supple::flesh::construction::bone_graph::BoneGraph;
use supple::flesh::construction::rest_skin::RestSkin;
use supple::flesh::construction::stretched::stretched_nodes;
use supple::glam::{DVec3, Vec3, vec3};
use supple_picture::{DrawMesh, Image, Line};

const SWEEPS: usize = 400;
/// λ of Eq. (3.1).
const LAMBDA: f64 = 0.5;

fn main() {
    let (hips, chest) = (vec3(0.0, 0.4, 0.0), vec3(0.0, 0.85, 0.0));
    let (left, right) = (vec3(-0.2, -0.4, 0.0), vec3(0.2, -0.4, 0.0));
    let limb = |a: Vec3, b: Vec3, r| Limb {
        ends: [a, b],
        radii: r,
        flat: 1.0,
    };
    let limbs = [
        limb(hips + vec3(0.0, 0.05, 0.0), chest, [0.17, 0.16]),
        limb(vec3(-0.08, 0.28, 0.0), left, [0.1, 0.09]),
        limb(vec3(0.08, 0.28, 0.0), right, [0.1, 0.09]),
    ];
    let joints = [
        ("hips", None, hips),
        ("chest", Some(0), chest),
        ("left", Some(0), left),
        ("right", Some(0), right),
    ];
    let character = common::character("trousers", common::blob(&limbs, 0.06, 0.024), &joints);
    let flesh = Flesh::builder(&character).build().unwrap();
    let graph = flesh.graph();
    let skin = common::surface(&flesh);

    let rest: Vec<DVec3> = graph.nodes.iter().map(|node| node.position).collect();
    let spread = stretched_nodes(graph);
    let closest: Vec<BasePoint> = skin
        .positions
        .iter()
        .map(|&p| nearest(graph, &rest, p))
        .collect();
    let layouts = [("legs as they are", &rest), ("legs spread out", &spread)];
    let walk = Walk::new(graph);
    let mut tiles = vec![(
        draw(&flesh, &rest, &closest),
        caption("closest points", walk.largest_jump(&skin, &closest)),
    )];
    let mut jumps = Vec::new();
    for (name, layout) in layouts {
        let base_points = smoothed(graph, &skin, layout, &closest);
        jumps.push(walk.largest_jump(&skin, &base_points));
        tiles.push((
            draw(&flesh, &rest, &base_points),
            caption(&format!("smoothed, {name}"), jumps[jumps.len() - 1]),
        ));
    }
    common::save(
        "stretched_out",
        &common::sheet(
            "Base points, smoothed on the stretched-out skeleton",
            &tiles,
            3,
        ),
    );
    check(jumps[0], jumps[1], skin.mean_edge());
}

fn caption(name: &str, jump: f64) -> String {
    format!("{name}: neighbours up to {:.0} cm apart", 100.0 * jump)
}

/// Equation (3.1) with a re-projection after each sweep, on bones between the given `nodes`.
fn smoothed(
    graph: &BoneGraph,
    skin: &RestSkin,
    nodes: &[DVec3],
    base_points: &[BasePoint],
) -> Vec<BasePoint> {
    let is_leaf = |base: &BasePoint| {
        let bone = &graph.bones[base.bone.unwrap()];
        (base.t == 0.0 && graph.incident[bone.start].len() == 1)
            || (base.t == 1.0 && graph.incident[bone.end].len() == 1)
    };
    let fixed: Vec<bool> = base_points.iter().map(is_leaf).collect();
    let mut base_points = base_points.to_vec();
    for _ in 0..SWEEPS {
        let points: Vec<DVec3> = base_points
            .iter()
            .map(|base| base_position(graph, nodes, base))
            .collect();
        for v in (0..base_points.len()).filter(|&v| !fixed[v]) {
            let ring = skin.ring(v);
            let mean = ring.iter().map(|&w| points[w as usize]).sum::<DVec3>() / ring.len() as f64;
            base_points[v] = nearest(graph, nodes, points[v].lerp(mean, LAMBDA));
        }
    }
    base_points
}

/// The closest point on the bones.
fn nearest(graph: &BoneGraph, nodes: &[DVec3], point: DVec3) -> BasePoint {
    let on_bone = |bone: usize| {
        let (a, b) = (nodes[graph.bones[bone].start], nodes[graph.bones[bone].end]);
        let t = ((point - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        BasePoint {
            bone: Some(bone),
            t,
            node: 0,
        }
    };
    let away = |base: &BasePoint| base_position(graph, nodes, base).distance_squared(point);
    (0..graph.bones.len())
        .map(on_bone)
        .min_by(|a, b| away(a).total_cmp(&away(b)))
        .unwrap()
}

/// The back half of the skin, the bones, and a line from each vertex near the middle plane to its base point.
fn draw(flesh: &Flesh, nodes: &[DVec3], base_points: &[BasePoint]) -> Image {
    let (graph, skin) = (flesh.graph(), flesh.skin_mesh());
    let mut back = DrawMesh::owned(common::kept(skin, skin, |p| p.z < 0.0));
    back.casts_shadow = false;
    let mut bones = Vec::new();
    for bone in 0..graph.bones.len() {
        let (a, b) = graph.segment(bone);
        let mut rod = DrawMesh::owned(common::rod(a.as_vec3(), b.as_vec3(), 0.008)).coloured(BONE);
        rod.casts_shadow = false;
        bones.push(rod);
    }
    let colours = [BONE * 0.35, RED, BLUE];
    let middle = (0..base_points.len()).filter(|&v| skin.positions[v].z.abs() < 0.012);
    let mut lines = Vec::new();
    let mut ends = Vec::new();
    for v in middle {
        let base = base_position(graph, nodes, &base_points[v]).as_vec3();
        let colour = colours[base_points[v].bone.unwrap()];
        let from = skin.positions[v].with_z(0.02);
        lines.push(Line {
            from,
            to: base.with_z(0.02),
            colour,
            width: 1.3,
            on_top: false,
        });
        ends.push(base.with_z(0.02));
    }
    let dots = DrawMesh::owned(common::dots(ends, 0.007)).coloured(BLUE * 0.5);
    let camera = common::view(&[vec3(-0.3, -0.02, 0.0), vec3(0.3, 0.58, 0.0)], Vec3::Z);
    let mut meshes = vec![back, dots];
    meshes.extend(bones);
    common::tile(meshes, lines, &camera)
}

fn check(posed: f64, spread: f64, edge: f64) {
    println!(
        "largest distance between base points of neighbours: {posed:.3} m, {spread:.3} m with the legs spread; edge length {edge:.3} m"
    );
    assert!(spread < 0.5 * posed, "{spread} is not well below {posed}");
}
