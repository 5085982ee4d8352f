//! Whole pictures, checked pixel by pixel.

use glam::{Vec2, Vec3};
use supple_geom::TriMesh;
use supple_picture::{
    Background, Camera, Colour, DrawMesh, Ground, Image, Label, Legend, Line, Quality, Scene,
    THREE_QUARTER, Texture, Tint, Wire, hex, render,
};

/// A square with edges of `2 * half` that faces +Z.
fn square(half: f32, z: f32) -> TriMesh {
    let corner = |x: f32, y: f32| Vec3::new(x * half, y * half, z);
    let positions = vec![
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ];
    TriMesh {
        positions,
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

fn flat<'a>(meshes: Vec<DrawMesh<'a>>) -> Scene<'a> {
    Scene {
        meshes,
        background: Background::from(Vec3::ZERO),
        quality: Quality::FLAT,
        ..Scene::default()
    }
}

/// Eight metres in eighty pixels: ten pixels per metre.
fn orthographic() -> Camera {
    Camera::orthographic(Vec3::Z * 10.0, Vec3::ZERO, 8.0)
}

fn inked(image: &Image) -> usize {
    image
        .rgba
        .chunks_exact(4)
        .filter(|p| p[0] | p[1] | p[2] != 0)
        .count()
}

#[test]
fn a_square_covers_exactly_its_pixels() {
    let mesh = square(1.0, 0.0);
    let image = render(&flat(vec![DrawMesh::new(&mesh)]), &orthographic(), 80, 80);
    for y in 0..80 {
        for x in 0..80 {
            let inside = (30..50).contains(&x) && (30..50).contains(&y);
            assert_eq!(image.pixel(x, y)[0] > 0, inside, "{x} {y}");
        }
    }
}

#[test]
fn half_covered_pixels_are_half_as_bright() {
    // The edge crosses the centre of a pixel: half of its 2 x 2 samples are covered.
    let mesh = square(1.05, 0.0);
    let mut scene = flat(vec![DrawMesh::new(&mesh)]);
    scene.quality.samples = 2;
    let image = render(&scene, &orthographic(), 80, 80);
    let linear = |x: usize| {
        supple_picture::colour::linear_from_srgb(f32::from(image.pixel(x, 40)[0]) / 255.0)
    };
    // One byte step is less than 0.01 of linear light here.
    assert!((linear(29) / linear(40) - 0.5).abs() < 0.02);
    assert_eq!(linear(28), 0.0);
}

#[test]
fn nearer_hides_farther_in_any_order() {
    let (near, far) = (square(1.0, 1.0), square(2.0, 0.0));
    let red = DrawMesh::new(&near).coloured(hex(0xff0000));
    let blue = DrawMesh::new(&far).coloured(hex(0x0000ff));
    let a = render(
        &flat(vec![red.clone(), blue.clone()]),
        &orthographic(),
        80,
        80,
    );
    let b = render(
        &flat(vec![blue.clone(), red.clone()]),
        &orthographic(),
        80,
        80,
    );
    assert_eq!(a, b);
    assert!(a.pixel(40, 40)[0] > a.pixel(40, 40)[2]);
    assert!(a.pixel(22, 40)[2] > a.pixel(22, 40)[0]);
    // From behind the order is reversed.
    let behind = Camera {
        eye: Vec3::Z * -10.0,
        ..orthographic()
    };
    let c = render(&flat(vec![red, blue]), &behind, 80, 80);
    assert!(c.pixel(40, 40)[2] > c.pixel(40, 40)[0]);
}

#[test]
fn perspective_shrinks_with_distance_and_orthographic_does_not() {
    // Slope 1 at the picture's edge: a square of half-edge 1 at distance d spans 80 / d pixels.
    let eye = Vec3::Z * 10.0;
    let camera = Camera::perspective(eye, Vec3::ZERO, std::f32::consts::FRAC_PI_2);
    for (z, edge) in [(8.0, 40), (6.0, 20), (2.0, 10)] {
        let mesh = square(1.0, z);
        assert_eq!(
            inked(&render(&flat(vec![DrawMesh::new(&mesh)]), &camera, 80, 80)),
            edge * edge
        );
        assert_eq!(
            inked(&render(
                &flat(vec![DrawMesh::new(&mesh)]),
                &orthographic(),
                80,
                80
            )),
            400
        );
    }
}

#[test]
fn triangles_are_clipped_at_the_near_plane() {
    // A floor one metre below the eye, extending far behind and before it, covers all pixels below the horizon.
    let corner = |x: f32, z: f32| Vec3::new(x * 1e3, -1.0, z * 1e3);
    let positions = vec![
        corner(-1.0, 1.0),
        corner(1.0, 1.0),
        corner(1.0, -1.0),
        corner(-1.0, -1.0),
    ];
    let mesh = TriMesh {
        positions,
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    let camera = Camera::perspective(Vec3::ZERO, Vec3::NEG_Z, std::f32::consts::FRAC_PI_2);
    let image = render(&flat(vec![DrawMesh::new(&mesh)]), &camera, 80, 80);
    for y in 0..80 {
        let row = (0..80).filter(|&x| image.pixel(x, y)[0] > 0).count();
        assert_eq!(row, if y < 40 { 0 } else { 80 }, "row {y}");
    }
    let behind = square(1.0, 5.0);
    assert_eq!(
        inked(&render(
            &flat(vec![DrawMesh::new(&behind)]),
            &camera,
            80,
            80
        )),
        0
    );
}

#[test]
fn one_sided_meshes_hide_back_faces() {
    let mut mesh = square(1.0, 0.0);
    mesh.triangles[1].swap(0, 1);
    let mut draw = DrawMesh::new(&mesh);
    draw.double_sided = false;
    let image = render(&flat(vec![draw]), &orthographic(), 80, 80);
    assert!((190..=210).contains(&inked(&image)));
}

#[test]
fn textures_and_their_holes() {
    let mut image = Image::new(2, 1, hex(0xff0000));
    image.rgba[4..8].copy_from_slice(&[0, 255, 0, 0]);
    let texture = Texture::new(&image);
    let mesh = square(1.0, 0.0);
    let uvs = vec![
        Vec2::new(0.0, 1.0),
        Vec2::new(1.0, 1.0),
        Vec2::new(1.0, 0.0),
        Vec2::new(0.0, 0.0),
    ];
    let colour = Colour::Textured {
        uvs: uvs.into(),
        texture: &texture,
        alpha_cutoff: 0.5,
    };
    let picture = render(
        &flat(vec![DrawMesh::new(&mesh).coloured(colour)]),
        &orthographic(),
        80,
        80,
    );
    assert!(picture.pixel(35, 40)[0] > 100);
    assert_eq!(picture.pixel(45, 40)[..3], [0, 0, 0]);
}

#[test]
fn tints_cover_a_texture_by_their_strength() {
    let mesh = square(1.0, 0.0);
    let green = Texture::new(&Image::new(2, 2, hex(0x00ff00)));
    let uvs = vec![Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
    let mut draw = DrawMesh::new(&mesh).coloured(Colour::Textured {
        uvs: uvs.into(),
        texture: &green,
        alpha_cutoff: 0.0,
    });
    let mut drawn = |strengths: Vec<f32>| {
        draw.tint = Some(Tint {
            colours: vec![hex(0xff0000); 4],
            strengths,
        });
        render(&flat(vec![draw.clone()]), &orthographic(), 80, 80)
    };
    let none = drawn(vec![0.0; 4]).pixel(40, 40);
    assert!(none[0] < none[1], "{none:?}");
    let all = drawn(vec![1.0; 4]).pixel(40, 40);
    assert!(all[0] > all[1], "{all:?}");
    // From left to right, red takes over from green.
    let slope = drawn(vec![0.0, 1.0, 1.0, 0.0]);
    let red = |x| i32::from(slope.pixel(x, 40)[0]);
    assert!(red(32) < red(40) && red(40) < red(48));
    // Missing strengths are none.
    assert_eq!(drawn(Vec::new()).pixel(40, 40), none);
}

#[test]
fn on_top_meshes_show_through_and_transparent_ones_blend() {
    let (near, far) = (square(1.0, 1.0), square(0.5, 0.0));
    let mut inner = DrawMesh::new(&far).coloured(hex(0x00ff00));
    let cover = DrawMesh::new(&near).coloured(hex(0xff0000));
    let hidden = render(
        &flat(vec![cover.clone(), inner.clone()]),
        &orthographic(),
        80,
        80,
    );
    assert!(hidden.pixel(40, 40)[1] < 100);
    inner.on_top = true;
    let shown = render(
        &flat(vec![cover.clone(), inner.clone()]),
        &orthographic(),
        80,
        80,
    );
    assert!(shown.pixel(40, 40)[1] > 150 && shown.pixel(32, 32)[1] < 100);
    inner.on_top = false;
    let glass = DrawMesh {
        opacity: 0.5,
        ..cover
    };
    let mixed = render(&flat(vec![glass, inner]), &orthographic(), 80, 80);
    let [r, g, ..] = mixed.pixel(40, 40);
    assert!(r > 100 && g > 100, "{r} {g}");
}

#[test]
fn lines_have_their_width_and_depth() {
    let line = Line {
        from: Vec3::X * -2.0,
        to: Vec3::X * 2.0,
        colour: hex(0xffffff),
        width: 4.0,
        on_top: false,
    };
    let mut scene = flat(Vec::new());
    scene.lines = vec![line];
    let image = render(&scene, &orthographic(), 80, 80);
    assert_eq!((0..80).filter(|&y| image.pixel(40, y)[0] > 0).count(), 4);
    let cover = square(1.0, 1.0);
    scene.meshes = vec![DrawMesh::new(&cover).coloured(hex(0xff0000))];
    assert_ne!(
        render(&scene, &orthographic(), 80, 80).pixel(40, 40),
        [255; 4]
    );
    scene.lines[0].on_top = true;
    assert_eq!(
        render(&scene, &orthographic(), 80, 80).pixel(40, 40),
        [255; 4]
    );
}

#[test]
fn the_ground_is_shadowed_below_the_mesh_only() {
    let mesh = square(1.0, 0.0);
    let camera = Camera::frame(
        supple_picture::Bounds::of(&mesh.positions),
        THREE_QUARTER,
        1.0,
    );
    let grey = Background::from(hex(0xc0c0c0));
    let quality = Quality::DRAFT;
    let scene = Scene {
        background: grey,
        quality,
        ..Scene::of(&mesh)
    };
    let bare = Scene {
        ground: None,
        ..scene.clone()
    };
    let (with, without) = (
        render(&scene, &camera, 96, 96),
        render(&bare, &camera, 96, 96),
    );
    let pairs = with.rgba.iter().zip(&without.rgba);
    assert!(pairs.clone().all(|(a, b)| a <= b));
    assert!(pairs.filter(|(a, b)| **a + 20 < **b).count() > 50);
    assert_eq!(with.pixel(0, 0), [0xc0, 0xc0, 0xc0, 255]);
}

fn busy(mesh: &TriMesh) -> Scene<'_> {
    let mut scene = Scene::of(mesh);
    scene.quality = Quality::DRAFT;
    scene.meshes[0].wire = Some(Wire::default());
    scene.meshes.push(supple_picture::skeleton_mesh(
        &[Vec3::ZERO, Vec3::Y],
        &[None, Some(0)],
        &Default::default(),
    ));
    scene.labels.push(Label {
        at: Vec3::Y,
        text: "top".into(),
        size: 9.0,
        colour: Vec3::ZERO,
    });
    scene.legend = Some(Legend {
        high: 2.0,
        title: "error [mm]".into(),
        ..Legend::default()
    });
    scene.ground = Some(Ground {
        grid: Some(0.5),
        ..Ground::default()
    });
    scene
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let mesh = square(1.0, 0.0);
    let scene = busy(&mesh);
    let camera = Camera::frame(scene.bounds(), THREE_QUARTER, 1.5);
    let draw = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| render(&scene, &camera, 150, 100))
    };
    assert_eq!(draw(1), draw(2));
}

#[test]
fn broken_scenes_do_not_panic() {
    let positions = vec![
        Vec3::NAN,
        Vec3::INFINITY,
        Vec3::splat(f32::MAX),
        Vec3::ZERO,
        Vec3::X,
        Vec3::Y,
    ];
    let triangles = vec![[0, 1, 2], [3, 4, 5], [3, 3, 3], [2, 4, 5], [9, 4, u32::MAX]];
    let broken = TriMesh {
        positions,
        triangles,
    };
    let empty = TriMesh::default();
    for mesh in [&broken, &empty] {
        let mut scene = busy(mesh);
        scene.meshes[0].colour = vec![Vec3::NAN].into();
        scene.lines.push(Line {
            from: Vec3::NAN,
            to: Vec3::X,
            colour: Vec3::ONE,
            width: 2.0,
            on_top: false,
        });
        for eye in [Vec3::ZERO, Vec3::Z * 3.0, Vec3::Y * 3.0, Vec3::NAN] {
            for camera in [
                Camera::perspective(eye, Vec3::ZERO, 0.5),
                Camera::orthographic(eye, Vec3::ZERO, 0.0),
            ] {
                for (width, height) in [(0, 9), (9, 0), (1, 1), (33, 40)] {
                    assert_eq!(
                        render(&scene, &camera, width, height).rgba.len(),
                        4 * width * height
                    );
                }
            }
        }
    }
}

#[test]
fn orientation_does_not_change_brightness() {
    let ball = supple_geom::shapes::icosphere(1.0, 3);
    let turned = |every: usize| {
        let mut mesh = ball.clone();
        for corners in mesh.triangles.iter_mut().step_by(every) {
            corners.swap(1, 2);
        }
        mesh
    };
    let brightness = |mesh: &TriMesh| {
        let mut scene = Scene::of(mesh);
        scene.quality = Quality::DRAFT;
        let image = render(&scene, &Camera::frame(scene.bounds(), Vec3::Z, 1.0), 80, 80);
        let sum = image
            .rgba
            .chunks_exact(4)
            .map(|p| u32::from(p[0]))
            .sum::<u32>();
        f64::from(sum) / 6400.0
    };
    let tidy = brightness(&ball);
    for (name, mesh) in [("inside out", turned(1)), ("mixed", turned(3))] {
        let found = brightness(&mesh);
        // Tolerance of one byte in 250: shadows are sampled a texel away on the other side.
        assert!((found - tidy).abs() < 1.0, "{name}: {found} and {tidy}");
    }
}
