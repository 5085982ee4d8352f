//! What the examples share: characters in a few lines, settled tissue, cut-away drawings.
#![allow(dead_code, reason = "every example uses a part of it")]

pub mod walk;

use std::path::PathBuf;

use supple::Character;
use supple::Pose;
use supple::flesh::Flesh;
use supple::flesh::frames::frames;
use supple::flesh::surface::Surface;
use supple::geom::surface_nets::{project_onto, surface_nets};
use supple::geom::{Aabb, TriMesh, shapes};
use supple::glam::{Affine3A, DVec3, Quat, Vec3};
use supple::picture::{
    Camera, DrawMesh, Image, Lens, Line, Scene, SheetStyle, contact_sheet, hex, render,
};
use supple::rig::skeleton::JointKind;
use supple::rig::{Joint, Part, Skeleton, Transform};
use supple::sim::{Backend, CpuBackend, Mode, Settings, State, Targets};

/// Colour of bones.
pub const BONE: Vec3 = hex(0xf2efe6);
/// Colour of the inner surface.
pub const RED: Vec3 = hex(0xcf4a3f);
/// Colour of marks.
pub const BLUE: Vec3 = hex(0x2f7fbf);
/// Colour of tissue where it is cut.
pub const FLESH: Vec3 = hex(0xf5b0a2);

/// Width and height of a tile [px].
pub const TILE: (usize, usize) = (310, 310);

/// Writes a picture into the folder given as first argument, or `docs/gallery`.
pub fn save(name: &str, picture: &Image) {
    let folder = std::env::args_os().nth(1).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gallery")),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.png"));
    picture.save_png(&path).unwrap();
    println!("wrote {}", path.display());
}

/// Tiles in rows with captions.
pub fn sheet(title: &str, tiles: &[(Image, String)], columns: usize) -> Image {
    contact_sheet(title, tiles, columns, &SheetStyle::default())
}

/// Pictures below each other.
pub fn stack(pictures: &[Image]) -> Image {
    let width = pictures.iter().map(|p| p.width).max().unwrap_or(0);
    let height = pictures.iter().map(|p| p.height).sum();
    let mut all = Image::new(width, height, SheetStyle::default().paper);
    let mut y = 0;
    for picture in pictures {
        all.blit(picture, 0, y);
        y += picture.height as i64;
    }
    all
}

/// A character from a mesh and joints: name, parent, position.
pub fn character(name: &str, mesh: TriMesh, joints: &[(&str, Option<usize>, Vec3)]) -> Character {
    let joint = |&(name, parent, place): &(&str, Option<usize>, Vec3)| Joint {
        name: name.to_owned(),
        parent,
        rest: Transform::from_translation(place - parent.map_or(Vec3::ZERO, |p| joints[p].2)),
        tail: None,
        kind: JointKind::Bone,
    };
    let part = Part {
        name: name.to_owned(),
        mesh,
        ..Part::default()
    };
    Character {
        name: name.to_owned(),
        skeleton: Skeleton::from_unordered(joints.iter().map(joint).collect())
            .unwrap()
            .0,
        parts: vec![part],
        ..Character::default()
    }
}

/// A round-ended tube along X from 0 to `length`, whose plane z = 0 runs along edges.
pub fn tube(radius: f32, length: f32, around: u32, along: u32) -> TriMesh {
    let mut mesh = shapes::capsule(radius, length, around, along);
    let lie = Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2);
    mesh.transform(&Affine3A::from_rotation_translation(
        lie,
        Vec3::X * (0.5 * length),
    ));
    mesh
}

/// A straight limb along X: two bones that meet in the middle of a tube of radius 0.1 m, at `depth` from its axis.
pub fn arm(depth: f32) -> Character {
    coarse_arm(depth, 32, 72)
}

/// The same with fewer vertices around and along.
pub fn coarse_arm(depth: f32, around: u32, along: u32) -> Character {
    let joints = [
        ("upper", None, Vec3::new(0.02, 0.0, 0.0)),
        ("elbow", Some(0), Vec3::new(0.5, -depth, 0.0)),
        ("wrist", Some(1), Vec3::new(0.98, 0.0, 0.0)),
    ];
    character("arm", tube(0.1, 1.0, around, along), &joints)
}

/// The settings that give bones and elbow of [`arm`] their radii [m].
pub fn arm_settings(bones: f64, elbow: f64) -> supple::flesh::Settings {
    let mut settings = supple::flesh::Settings::default();
    for joint in ["upper", "elbow"] {
        settings.bone_radii.insert(joint.to_owned(), bones);
    }
    settings.joint_radii.insert("elbow".to_owned(), elbow);
    settings
}

/// A tapered limb of [`blob`].
pub struct Limb {
    pub ends: [Vec3; 2],
    pub radii: [f32; 2],
    /// Factor by which it is thinner along Z.
    pub flat: f64,
}

/// A smooth closed surface around limbs, blended over `blend` [m], of quads about `cell` [m] wide.
pub fn blob(limbs: &[Limb], blend: f64, cell: f32) -> TriMesh {
    let value = |p: DVec3| {
        let to_limb = |limb: &Limb| {
            let [a, b] = limb.ends.map(|end| end.as_dvec3());
            let axis = b - a;
            let t = ((p - a).dot(axis) / axis.length_squared().max(1e-12)).clamp(0.0, 1.0);
            let radius = f64::from(limb.radii[0]) + t * f64::from(limb.radii[1] - limb.radii[0]);
            let away = p - a - axis * t;
            (away * DVec3::new(1.0, 1.0, limb.flat)).length() - radius
        };
        // Quadratic smooth minimum.
        limbs.iter().map(to_limb).fold(f64::INFINITY, |a, b| {
            let h = (1.0 - (a - b).abs() / blend).max(0.0);
            a.min(b) - 0.25 * h * h * blend
        })
    };
    let thickest = limbs.iter().flat_map(|l| l.radii).fold(0.0, f32::max) * 1.3;
    let axes = Aabb::of_points(limbs.iter().flat_map(|l| l.ends));
    let bounds = Aabb {
        min: axes.min - thickest,
        max: axes.max + thickest,
    };
    let mut mesh = surface_nets(bounds, cell, value);
    project_onto(&mut mesh, value);
    mesh
}

/// The rest pose with one joint turned about a world axis.
pub fn turned(character: &Character, joint: &str, axis: Vec3, degrees: f32) -> Pose {
    let mut pose = Pose::rest(&character.skeleton);
    turn(&mut pose, character, joint, axis, degrees);
    pose
}

/// Turns one joint of a pose about a world axis.
pub fn turn(pose: &mut Pose, character: &Character, joint: &str, axis: Vec3, degrees: f32) {
    let index = character.skeleton.find(joint).unwrap();
    let rotation = Quat::from_axis_angle(axis.normalize(), degrees.to_radians());
    pose.rotate_world(&character.skeleton, index, rotation);
}

/// The tissue of a character.
pub fn build(character: &Character, settings: supple::flesh::Settings) -> Flesh {
    Flesh::builder(character)
        .settings(settings)
        .build()
        .unwrap()
}

/// The tissue at rest in a pose.
pub fn settle(flesh: &Flesh, pose: &Pose) -> State {
    let rest = flesh.rest_pose();
    settle_by(flesh, &mut CpuBackend::new(), Settings::default(), |t| {
        flesh.targets(&rest.blend(pose, t)).unwrap()
    })
}

/// The tissue at rest where targets that move from t = 0 to 1 take it.
pub fn settle_by(
    flesh: &Flesh,
    backend: &mut dyn Backend,
    settings: Settings,
    targets: impl Fn(f32) -> Targets,
) -> State {
    let settings = Settings {
        mode: Mode::Static,
        ..settings
    };
    let mut state = State::at_rest(&flesh.model);
    for step in 1..=26 {
        let targets = targets((step as f32 / 12.0).min(1.0));
        backend
            .step(&flesh.model, &settings, &targets, &mut state)
            .unwrap();
    }
    state
}

/// Moves the bone-surface point of a column.
pub fn drive(flesh: &Flesh, targets: &mut Targets, column: usize, to: Vec3) {
    let caller = flesh.columns()[column].bone as usize;
    if let Some(&index) = flesh.model.index_of().get(caller)
        && let Some(fixed) = (index as usize).checked_sub(flesh.model.free_count())
    {
        targets.fixed[fixed] = to;
    }
}

/// The skin at rest, as construction sees it.
pub fn surface(flesh: &Flesh) -> Surface {
    let skin = flesh.skin_mesh();
    let positions = skin.positions.iter().map(|p| p.as_dvec3()).collect();
    Surface::new(positions, skin.triangles.clone())
}

/// The skin of a state.
pub fn skin(flesh: &Flesh, pose: &Pose, state: &State) -> TriMesh {
    TriMesh {
        positions: flesh.flesh_positions(pose, state).unwrap(),
        triangles: flesh.skin_mesh().triangles.clone(),
    }
}

/// The bone surface of a state, with the skin's triangles.
pub fn bone_surface(flesh: &Flesh, state: &State) -> TriMesh {
    let now = flesh.model.caller_positions(state);
    let columns = flesh.columns().iter().zip(flesh.bone_surface());
    let place = |(column, rest): (&supple::flesh::flesh::Column, &DVec3)| {
        let simulated = now.get(column.bone as usize).copied();
        simulated.unwrap_or(rest.as_vec3())
    };
    TriMesh {
        positions: columns.map(place).collect(),
        triangles: flesh.skin_mesh().triangles.clone(),
    }
}

/// Capsules and spheres of the volumetric skeleton in a pose.
pub fn volumetric_skeleton(flesh: &Flesh, character: &Character, pose: &Pose) -> TriMesh {
    let (graph, volume) = (flesh.graph(), flesh.volume());
    let frames = frames(graph, &character.skeleton, &character.bind_worlds(), pose);
    let mut mesh = TriMesh::default();
    for (frame, &radius) in frames.nodes.iter().zip(&volume.node_radii) {
        let mut ball = shapes::icosphere(radius as f32, 3);
        ball.transform(&Affine3A::from_translation(frame.position.as_vec3()));
        mesh.append(&ball);
    }
    for (bone, frame) in frames.bones.iter().enumerate() {
        let radius = volume.bone_radii[bone];
        let ends = &graph.bones[bone];
        let length = frame.start.distance(frame.end);
        let inset = |node: usize| match volume.node_radii[node] {
            0.0 => 0.0,
            joint => (joint + radius).min(0.5 * length) / length,
        };
        let from = frame.start.lerp(frame.end, inset(ends.start)).as_vec3();
        let to = frame.end.lerp(frame.start, inset(ends.end)).as_vec3();
        mesh.append(&rod(from, to, radius as f32));
    }
    mesh
}

/// A capsule between two points.
pub fn rod(from: Vec3, to: Vec3, radius: f32) -> TriMesh {
    let mut mesh = shapes::capsule(radius, from.distance(to), 24, 6);
    let turn = (to - from).try_normalize().map_or(Quat::IDENTITY, |axis| {
        Quat::from_rotation_arc(Vec3::Y, axis)
    });
    mesh.transform(&Affine3A::from_rotation_translation(
        turn,
        from.midpoint(to),
    ));
    mesh
}

/// Small balls.
pub fn dots(points: impl IntoIterator<Item = Vec3>, radius: f32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for point in points {
        let mut ball = shapes::icosphere(radius, 2);
        ball.transform(&Affine3A::from_translation(point));
        mesh.append(&ball);
    }
    mesh
}

/// Triangles of `mesh` whose corners' mean at rest is chosen.
pub fn kept(mesh: &TriMesh, rest: &TriMesh, keep: impl Fn(Vec3) -> bool) -> TriMesh {
    let chosen = (0..rest.triangles.len())
        .filter(|&t| keep(rest.corners(t).into_iter().sum::<Vec3>() / 3.0));
    TriMesh {
        positions: mesh.positions.clone(),
        triangles: chosen.map(|t| mesh.triangles[t]).collect(),
    }
}

/// The walls between two surfaces of the same triangles, along the edges where they are cut: the tissue's cut face.
pub fn cut_face(outer: &TriMesh, inner: &TriMesh) -> TriMesh {
    let edges = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let all: std::collections::HashSet<[u32; 2]> = outer.triangles.iter().flat_map(edges).collect();
    let mut mesh = TriMesh::merged([outer, inner]);
    let below = outer.positions.len() as u32;
    mesh.triangles = outer
        .triangles
        .iter()
        .flat_map(edges)
        .filter(|&[a, b]| !all.contains(&[b, a]))
        .flat_map(|[a, b]| [[b, a, a + below], [b, a + below, b + below]])
        .collect();
    mesh
}

/// A cut-away drawing: the far half (z < 0 at rest) of the skin, the cut face of the tissue, the bone surface in red
/// edges, the bones.
pub fn cut_away(
    flesh: &Flesh,
    character: &Character,
    pose: &Pose,
    state: &State,
) -> Vec<DrawMesh<'static>> {
    let rest = flesh.skin_mesh();
    let far = |centre: Vec3| centre.z < 0.0;
    let outer = kept(&skin(flesh, pose, state), rest, far);
    let inner = kept(&bone_surface(flesh, state), rest, far);
    let face = cut_face(&outer, &inner);
    // Seen from the front whichever way its quads turn.
    let normals = vec![Vec3::new(0.0, 0.6, 0.8); face.positions.len()];
    let mut wall = DrawMesh::owned(face).coloured(FLESH);
    wall.normals = Some(normals.into());
    wall.wire = Some(supple::picture::Wire {
        colour: RED,
        width: 0.9,
        opacity: 0.8,
    });
    let bones = DrawMesh::owned(volumetric_skeleton(flesh, character, pose)).coloured(BONE);
    let mut drawn = vec![DrawMesh::owned(outer), wall, bones];
    // The cut shall be even in light.
    drawn.iter_mut().for_each(|mesh| mesh.casts_shadow = false);
    drawn
}

/// An orthographic camera on points.
pub fn view(points: &[Vec3], direction: Vec3) -> Camera {
    view_in(TILE, points, direction)
}

/// The same for a tile of another size.
pub fn view_in(size: (usize, usize), points: &[Vec3], direction: Vec3) -> Camera {
    let lens = Lens::Orthographic { height: 1.0 };
    Camera::fit(points, direction, size.0 as f32 / size.1 as f32, lens, 0.9)
}

/// Draws meshes and lines into a tile.
pub fn tile(meshes: Vec<DrawMesh<'static>>, lines: Vec<Line>, camera: &Camera) -> Image {
    tile_in(TILE, meshes, lines, camera)
}

/// The same in a tile of another size.
pub fn tile_in(
    size: (usize, usize),
    meshes: Vec<DrawMesh<'static>>,
    lines: Vec<Line>,
    camera: &Camera,
) -> Image {
    let scene = Scene {
        meshes,
        lines,
        ..Scene::default()
    };
    render(&scene, camera, size.0, size.1)
}

/// Length of every edge in `now` over its length in `rest`; edges without length are left out.
pub fn edge_stretches(now: &TriMesh, rest: &TriMesh) -> Vec<f32> {
    let mut stretches = Vec::new();
    for t in &rest.triangles {
        for [a, b] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].map(|e| e.map(|v| v as usize)) {
            let length = |mesh: &TriMesh| mesh.positions[a].distance(mesh.positions[b]);
            if a < b && length(rest) > 1e-5 {
                stretches.push(length(now) / length(rest));
            }
        }
    }
    stretches
}
