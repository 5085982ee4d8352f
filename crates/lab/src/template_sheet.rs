//! Pictures of a layered template: its surfaces, bones and muscles from three sides, sections, regions.

use glam::Vec3;
use supple::anatomy::LayeredBody;
use supple::anatomy::template::{FatRegion, Group};
use supple_geom::section::{Plane, section};
use supple_geom::{Adjacency, TriMesh};
use supple_picture::{
    Bounds, Camera, Colour, DrawMesh, Ground, Image, Lens, Scene, SheetStyle, contact_sheet, hex,
    render,
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

/// Angle of view \[rad\]: narrow, so that near arms are not larger.
const ANGLE: f32 = 0.3;
/// Height of a tile over its width: a body with its arms held off.
const HEIGHT_SHARE: f32 = 1.55;

/// Colour of the muscle with a number: neighbours in the atlas differ, left and right do not.
pub fn muscle_red(template: &LayeredBody, muscle: usize) -> Vec3 {
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
fn bones(template: &LayeredBody) -> TriMesh {
    TriMesh::merged(template.bones.iter().map(|entry| &entry.bone.mesh))
}

/// All muscles as one mesh, with the colours of flesh and tendon.
fn muscles(template: &LayeredBody) -> (TriMesh, Vec<Vec3>) {
    let mesh = TriMesh::merged(template.muscles.iter().map(|muscle| &muscle.mesh));
    (mesh, muscle_colours(template))
}

/// Colours of flesh and tendon of every vertex of all muscles.
pub fn muscle_colours(template: &LayeredBody) -> Vec<Vec3> {
    let mut colours = Vec::new();
    for (number, muscle) in template.muscles.iter().enumerate() {
        let red = muscle_red(template, number);
        let tendon = |v: usize| muscle.tendon.get(v).copied().unwrap_or(0.0);
        colours.extend((0..muscle.mesh.positions.len()).map(|v| red.lerp(TENDON, tendon(v))));
    }
    colours
}

/// A view of what is drawn in one column.
struct Column<'a> {
    name: &'a str,
    meshes: Vec<DrawMesh<'a>>,
}

fn columns(template: &LayeredBody) -> Vec<Column<'static>> {
    let [skin, muscle_surface, skeleton_surface] = template.surfaces();
    let plain = |mesh: TriMesh, colour: Vec3| DrawMesh::owned(mesh).coloured(colour);
    let (flesh, reds) = muscles(template);
    let surface = |name: &'static str, mesh: TriMesh, colour: Vec3| {
        // What has no layers is skin on all three.
        let layered = template.layers.layered.iter();
        let colours: Vec<Vec3> = layered.map(|&l| if l { colour } else { SKIN }).collect();
        Column {
            name,
            meshes: vec![DrawMesh::owned(mesh).coloured(Colour::Vertices(colours))],
        }
    };
    let mut columns = vec![
        surface("skin", skin, SKIN),
        surface("muscle surface", muscle_surface, MUSCLE_SURFACE),
        surface("skeleton surface", skeleton_surface, SKELETON_SURFACE),
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
pub fn template_sheet(template: &LayeredBody, size: usize) -> Image {
    let columns = columns(template);
    let count = columns.len();
    let mut tiles = Vec::new();
    for (side, direction) in SIDES {
        for column in &columns {
            let image = draw(template, column.meshes.clone(), direction, size);
            tiles.push((image, format!("{}, {side}", column.name)));
        }
    }
    let title = format!(
        "{}: {} bones, {} muscles",
        template.name,
        template.bones.len(),
        template.muscles.len()
    );
    let style = SheetStyle::default();
    let views = contact_sheet(&title, &tiles, count, &style);
    let cuts = sections(template, size);
    stacked(&views, &contact_sheet("", &cuts, cuts.len(), &style))
}

/// The body peeled: skin, then skin seen through, muscles, and bones, from the front and the back.
pub fn layers_sheet(template: &LayeredBody, size: usize) -> Image {
    peeled_sheet(template, &[], size)
}

/// [`layers_sheet`] with more that is seen with the skin.
pub(crate) fn peeled_sheet(template: &LayeredBody, more: &[DrawMesh], size: usize) -> Image {
    let sides = [SIDES[0], SIDES[2]];
    let tiles = peeled_views(template, more, &sides, size);
    let columns = tiles.len() / sides.len();
    contact_sheet(&template.name, &tiles, columns, &SheetStyle::default())
}

/// The body peeled, seen from the front.
pub(crate) fn peeled_front(
    template: &LayeredBody,
    more: &[DrawMesh],
    size: usize,
) -> Vec<(Image, String)> {
    peeled_views(template, more, &SIDES[..1], size)
}

/// Skin, fat, muscles, bones in the skin, and bones, from each side, with captions.
fn peeled_views(
    template: &LayeredBody,
    more: &[DrawMesh],
    sides: &[(&str, Vec3)],
    size: usize,
) -> Vec<(Image, String)> {
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
        ("skin", [&meshes("skin")[..], more].concat()),
        ("fat below the skin", through("muscle surface", 0.35)),
        ("muscles", meshes(muscles)),
        ("bones in the skin", through("bones", 0.22)),
        ("bones", meshes("bones")),
    ];
    let mut tiles = Vec::new();
    for (side, direction) in sides {
        for (name, meshes) in &peeled {
            let image = draw(template, meshes.clone(), *direction, size);
            tiles.push((image, format!("{name}, {side}")));
        }
    }
    tiles
}

/// Muscle groups, regions of fat, abdomen, and where the skeleton surface slides, from the front and the back.
pub fn regions_sheet(template: &LayeredBody, size: usize) -> Image {
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
fn draw(template: &LayeredBody, meshes: Vec<DrawMesh>, direction: Vec3, size: usize) -> Image {
    draw_around(&template.layers.skin, meshes, direction, size)
}

/// Draws meshes with a camera that shows the given points, on the ground below them.
pub(crate) fn draw_around(
    points: &[Vec3],
    meshes: Vec<DrawMesh>,
    direction: Vec3,
    size: usize,
) -> Image {
    let bounds = Bounds::of(points);
    let height = (HEIGHT_SHARE * size as f32) as usize;
    let lens = Lens::Perspective { fov_y: ANGLE };
    let aspect = size as f32 / height as f32;
    let camera = Camera::fit(points, direction, aspect, lens, 0.94);
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
}

fn cuts(template: &LayeredBody) -> Vec<Cut> {
    let at = |name: &str| template.body.joint(name).ok();
    let across = |name, from: &str, to: &str, t: f32| {
        let (from, to) = (at(from)?, at(to)?);
        let point = from.lerp(to, t);
        let normal = (from - to).normalize_or(Vec3::Y);
        Some(Cut {
            name,
            plane: Plane { point, normal },
        })
    };
    let level = |name, from: &str, to: &str, t: f32| {
        let mut cut = across(name, from, to, t)?;
        cut.plane.normal = Vec3::Y;
        Some(cut)
    };
    let cuts = [
        // Below the armpits of all but the longest trunks.
        level("chest", "spine02", "spine01", 0.5),
        level("waist", "spine03", "spine02", 0.1),
        across("left thigh", "upperleg01.L", "lowerleg01.L", 0.45),
        across("left calf", "lowerleg01.L", "foot.L", 0.28),
        across("left upper arm", "upperarm01.L", "lowerarm01.L", 0.55),
    ];
    cuts.into_iter().flatten().collect()
}

/// Sections of trunk and limbs, front upwards, each as large as it fits.
pub fn sections(template: &LayeredBody, size: usize) -> Vec<(Image, String)> {
    let [skin, muscle_surface, skeleton_surface] = template.surfaces();
    let adjacency = Adjacency::new(&skin);
    let draw = |cut: Cut| {
        // The outline of this limb, not of others at its height.
        let outline = section(&skin, &adjacency, cut.plane);
        let points = outline.nearest(cut.plane.point).map(|curve| &curve.points);
        let points: Vec<Vec3> = points.into_iter().flatten().map(|p| p.as_vec3()).collect();
        let bounds = Bounds::of(&points);
        let plane = Plane {
            point: bounds.centre(),
            ..cut.plane
        };
        let size_m = (bounds.max - bounds.min).max_element();
        let mut drawing = SectionDrawing::new(plane, Vec3::Z, 0.56 * size_m, size, PAPER);
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
        let caption = format!("{}, {:.0} cm across", cut.name, 100.0 * size_m);
        (drawing.image(), caption)
    };
    cuts(template).into_iter().map(draw).collect()
}

/// One picture below the other.
pub(crate) fn stacked(above: &Image, below: &Image) -> Image {
    let width = above.width.max(below.width);
    let mut image = Image::new(width, above.height + below.height, PAPER);
    image.blit(above, 0, 0);
    image.blit(below, 0, above.height as i64);
    image
}
