//! Pictures of a layered template: its surfaces, bones and muscles from three sides, sections, regions.

use glam::Vec3;
use supple::anatomy::Template;
use supple::anatomy::template::{FatRegion, Group};
use supple_geom::TriMesh;
use supple_geom::section::Plane;
use supple_picture::{
    Bounds, Camera, Colour, DrawMesh, Ground, Image, Scene, SheetStyle, contact_sheet, hex, render,
};

use crate::section_drawing::SectionDrawing;

const SKIN: Vec3 = hex(0xdeb39c);
const MUSCLE_SURFACE: Vec3 = hex(0xb8564a);
const SKELETON_SURFACE: Vec3 = hex(0xd9cda8);
const BONE: Vec3 = hex(0xefe5cc);
const TENDON: Vec3 = hex(0xe9ddd0);
const FAT: Vec3 = hex(0xf3d98f);
/// What is between muscle surface and bones and in no muscle: organs, vessels.
const BETWEEN: Vec3 = hex(0xd9a79b);
const PAPER: Vec3 = hex(0xfbfaf8);
const EDGE: Vec3 = hex(0x4a2a26);
/// Reds of neighbouring muscles.
const REDS: [Vec3; 6] = [
    hex(0xa8382f),
    hex(0xbb4a3c),
    hex(0x9b3530),
    hex(0xc25a48),
    hex(0xaf4338),
    hex(0xb24f47),
];
/// Colours of regions, one after the other.
const REGIONS: [Vec3; 10] = [
    hex(0x4e79a7),
    hex(0xa0cbe8),
    hex(0xf28e2b),
    hex(0xffbe7d),
    hex(0xe15759),
    hex(0x59a14f),
    hex(0xb07aa1),
    hex(0xd4a6c8),
    hex(0x9c755f),
    hex(0x79706e),
];
const NO_REGION: Vec3 = hex(0xc9c6c1);

/// Sides that a template is drawn from: a name and the direction to the eye.
const SIDES: [(&str, Vec3); 3] = [
    ("front", Vec3::new(0.0, 0.03, 1.0)),
    ("side", Vec3::new(1.0, 0.03, 0.0)),
    ("back", Vec3::new(0.0, 0.03, -1.0)),
];

/// Colour of the muscle with a number: neighbours in the atlas differ, left and right do not.
pub fn muscle_red(template: &Template, muscle: usize) -> Vec3 {
    let stem = |name: &str| {
        name.trim_end_matches("_l")
            .trim_end_matches("_r")
            .to_owned()
    };
    let own = stem(&template.muscles[muscle].name);
    let first = (template.muscles.iter()).position(|other| stem(&other.name) == own);
    REDS[first.unwrap_or(muscle) * 5 / 2 % REDS.len()]
}

/// All bones as one mesh.
fn bones(template: &Template) -> TriMesh {
    TriMesh::merged(template.bones.iter().map(|entry| &entry.bone.mesh))
}

/// All muscles as one mesh, with the colours of flesh and tendon.
fn muscles(template: &Template) -> (TriMesh, Vec<Vec3>) {
    let mesh = TriMesh::merged(template.muscles.iter().map(|muscle| &muscle.mesh));
    let mut colours = Vec::with_capacity(mesh.positions.len());
    for (number, muscle) in template.muscles.iter().enumerate() {
        let red = muscle_red(template, number);
        let tendon = |v: usize| muscle.tendon.get(v).copied().unwrap_or(0.0);
        colours.extend((0..muscle.mesh.positions.len()).map(|v| red.lerp(TENDON, tendon(v))));
    }
    (mesh, colours)
}

/// A view of what is drawn in one column.
struct Column<'a> {
    name: &'a str,
    meshes: Vec<DrawMesh<'a>>,
}

fn columns(template: &Template) -> Vec<Column<'static>> {
    let [skin, muscle_surface, skeleton_surface] = template.surfaces();
    let plain = |mesh: TriMesh, colour: Vec3| DrawMesh::owned(mesh).coloured(colour);
    let (flesh, reds) = muscles(template);
    let mut columns = vec![
        Column {
            name: "skin",
            meshes: vec![plain(skin, SKIN)],
        },
        Column {
            name: "muscle surface",
            meshes: vec![plain(muscle_surface, MUSCLE_SURFACE)],
        },
        Column {
            name: "skeleton surface",
            meshes: vec![plain(skeleton_surface, SKELETON_SURFACE)],
        },
    ];
    if !template.muscles.is_empty() {
        columns.push(Column {
            name: "muscles",
            meshes: vec![
                DrawMesh::owned(flesh).coloured(Colour::Vertices(reds)),
                plain(bones(template), BONE),
            ],
        });
    }
    columns.push(Column {
        name: "bones",
        meshes: vec![plain(bones(template), BONE)],
    });
    columns
}

/// Skin, muscle surface, skeleton surface, muscles and bones, from three sides, with sections below. `size` is the width
/// of a tile \[px\].
pub fn template_sheet(template: &Template, size: usize) -> Image {
    let columns = columns(template);
    let count = columns.len();
    let mut tiles = Vec::new();
    for (side, direction) in SIDES {
        for column in &columns {
            let image = draw(template, column.meshes.clone(), direction, size);
            tiles.push((image, format!("{}, {side}", column.name)));
        }
    }
    tiles.extend(sections(template, size).into_iter().take(count));
    let title = format!(
        "{}: {} bones, {} muscles",
        template.name,
        template.bones.len(),
        template.muscles.len()
    );
    contact_sheet(&title, &tiles, count, &SheetStyle::default())
}

/// The body peeled: skin, then skin seen through, muscles, and bones, from the front and the back.
pub fn layers_sheet(template: &Template, size: usize) -> Image {
    let all = columns(template);
    let column = |name: &str| all.iter().find(|column| column.name == name);
    let meshes = |name: &str| column(name).map_or_else(Vec::new, |column| column.meshes.clone());
    let through = |name: &str, opacity: f32| {
        let mut skin = meshes("skin");
        for mesh in &mut skin {
            mesh.opacity = opacity;
            mesh.casts_shadow = false;
        }
        [meshes(name), skin].concat()
    };
    let muscles = if template.muscles.is_empty() {
        "muscle surface"
    } else {
        "muscles"
    };
    let peeled = [
        ("skin", meshes("skin")),
        ("fat below the skin", through("muscle surface", 0.35)),
        ("muscles", meshes(muscles)),
        ("bones in the skin", through("bones", 0.22)),
        ("bones", meshes("bones")),
    ];
    let mut tiles = Vec::new();
    for (side, direction) in [SIDES[0], SIDES[2]] {
        for (name, meshes) in &peeled {
            let image = draw(template, meshes.clone(), direction, size);
            tiles.push((image, format!("{name}, {side}")));
        }
    }
    contact_sheet(&template.name, &tiles, peeled.len(), &SheetStyle::default())
}

/// Muscle groups, regions of fat, abdomen, and where the skeleton surface slides, from the front and the back.
pub fn regions_sheet(template: &Template, size: usize) -> Image {
    let regions = &template.regions;
    let count = template.layers.skin.len();
    let of = |index: Option<usize>| index.map_or(NO_REGION, |index| REGIONS[index]);
    let groups = |v: usize| of(regions.group[v].map(|group| group as usize));
    let fat = |v: usize| of(regions.fat[v].map(|region| 2 * region as usize));
    let held = |v: usize| match (regions.bone[v], regions.slides[v]) {
        (None, _) => NO_REGION,
        (_, true) => REGIONS[2],
        (Some(bone), false) => REGIONS[0].lerp(REGIONS[1], (bone % 5) as f32 / 4.0),
    };
    let [skin, _, skeleton_surface] = template.surfaces();
    let coloured = |mesh: &TriMesh, colour: &dyn Fn(usize) -> Vec3| {
        let colours = (0..count).map(colour).collect();
        DrawMesh::owned(mesh.clone()).coloured(Colour::Vertices(colours))
    };
    let views = [
        ("muscle groups", coloured(&skin, &groups)),
        ("regions of fat", coloured(&skin, &fat)),
        (
            "held by bones (blue), sliding (orange)",
            coloured(&skeleton_surface, &held),
        ),
    ];
    let mut tiles = Vec::new();
    for (side, direction) in [SIDES[0], SIDES[2]] {
        for (name, mesh) in &views {
            let image = draw(template, vec![mesh.clone()], direction, size);
            tiles.push((image, format!("{name}, {side}")));
        }
    }
    let names = |names: Vec<&str>| names.join(", ");
    let title = format!(
        "{}: {}; fat: {}",
        template.name,
        names(Group::ALL[..8].iter().map(|group| group.name()).collect()),
        names(FatRegion::ALL.iter().map(|region| region.name()).collect())
    );
    contact_sheet(&title, &tiles, views.len(), &SheetStyle::default())
}

/// Draws meshes with the camera that shows the whole skin.
fn draw(template: &Template, meshes: Vec<DrawMesh>, direction: Vec3, size: usize) -> Image {
    let bounds = Bounds::of(&template.layers.skin);
    // The narrow view from the side must not be larger than the one from the front.
    let height = size * 3 / 2;
    let camera = Camera::frame(bounds, direction, size as f32 / height as f32);
    let scene = Scene {
        meshes,
        ground: Some(Ground {
            height: Some(bounds.min.y),
            ..Ground::default()
        }),
        ..Scene::default()
    };
    render(&scene, &camera, size, height)
}

/// Where the body is cut.
struct Cut {
    name: &'static str,
    plane: Plane,
    up: Vec3,
    reach: f32,
}

fn cuts(template: &Template) -> Vec<Cut> {
    let body = &template.body;
    let at = |name: &str| body.joint(name).ok();
    let mut cuts = Vec::new();
    let mut push = |name, from: Option<Vec3>, to: Option<Vec3>, t: f32, reach: f32, along: bool| {
        if let (Some(from), Some(to)) = (from, to) {
            let normal = if along {
                (from - to).normalize_or(Vec3::Y)
            } else {
                Vec3::Y
            };
            cuts.push(Cut {
                name,
                plane: Plane {
                    point: from.lerp(to, t),
                    normal,
                },
                up: Vec3::Z,
                reach: reach * body.height() / 1.75,
            });
        }
    };
    let spine = |name: &str| at(name);
    push(
        "chest",
        spine("spine01"),
        spine("clavicle.L"),
        0.1,
        0.24,
        false,
    );
    push("waist", spine("spine04"), spine("spine03"), 0.5, 0.2, false);
    push(
        "thigh",
        at("upperleg01.L"),
        at("lowerleg01.L"),
        0.45,
        0.125,
        true,
    );
    push("calf", at("lowerleg01.L"), at("foot.L"), 0.28, 0.085, true);
    push(
        "upper arm",
        at("upperarm01.L"),
        at("lowerarm01.L"),
        0.55,
        0.08,
        true,
    );
    cuts
}

/// Sections of trunk and limbs.
pub fn sections(template: &Template, size: usize) -> Vec<(Image, String)> {
    let [skin, muscle_surface, skeleton_surface] = template.surfaces();
    let draw = |cut: Cut| {
        let mut drawing = SectionDrawing::new(cut.plane, cut.up, cut.reach, size, PAPER);
        drawing.fill(&skin, Some(FAT), Some(EDGE));
        drawing.fill(&muscle_surface, Some(BETWEEN), None);
        for (number, muscle) in template.muscles.iter().enumerate() {
            drawing.fill(&muscle.mesh, Some(muscle_red(template, number)), Some(EDGE));
        }
        drawing.fill(&muscle_surface, None, Some(hex(0x7d2a22)));
        drawing.fill(&skeleton_surface, None, Some(hex(0x8c7a4a)));
        for entry in &template.bones {
            drawing.fill(&entry.bone.mesh, Some(BONE), Some(EDGE));
        }
        (drawing.image(), cut.name.to_owned())
    };
    cuts(template).into_iter().map(draw).collect()
}
