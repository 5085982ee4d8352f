//! Renders a picture in tiles of samples, shading once per triangle and pixel.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::camera::{Camera, View};
use crate::colour::{to_bytes, to_linear, to_srgb};
use crate::image::Image;
use crate::lines::{ScreenLine, project_line};
use crate::prepare::{Prepared, prepare};
use crate::raster::{Rect, ScreenTriangle, project_triangle, scan};
use crate::scene::{INK, Scene};
use crate::shade::{is_hole, shade};
use crate::sky::{GroundLight, Studio};
use crate::text::draw_text_centred;

/// Edge of a tile \[px\].
const TILE: usize = 32;
const NO_TRIANGLE: u32 = u32::MAX;

/// Renders the scene.
pub fn render(scene: &Scene, camera: &Camera, width: usize, height: usize) -> Image {
    let mut image = Image::new(width, height, Vec3::ONE);
    if width == 0 || height == 0 {
        return image;
    }
    let view = View::new(camera, width as f32, height as f32);
    let mut meshes: Vec<Prepared> = scene.meshes.par_iter().map(prepare).collect();
    let studio = Studio::new(&view, &mut meshes, scene.ground.as_ref(), scene.quality);
    let renderer = Renderer::new(scene, view, meshes, studio, width, height);
    let tiles: Vec<Vec<u8>> = (0..renderer.columns * renderer.rows)
        .into_par_iter()
        .map(|t| renderer.tile(t))
        .collect();
    for (t, bytes) in tiles.into_iter().enumerate() {
        let (x, y, w, h) = renderer.place(t);
        image.blit(
            &Image {
                width: w,
                height: h,
                rgba: bytes,
            },
            x as i64,
            y as i64,
        );
    }
    for label in &scene.labels {
        let v = view.view_from_world(label.at);
        if v.is_finite() && v.z > view.near {
            let p = view.project(v);
            draw_text_centred(
                &mut image,
                &label.text,
                p.x,
                p.y - label.size * 1.4,
                label.size,
                label.colour,
            );
        }
    }
    if let Some(legend) = &scene.legend {
        legend.draw(&mut image, INK);
    }
    image
}

/// Triangles that share a depth buffer: all opaque meshes, one transparent mesh, or everything on top.
struct Layer {
    triangles: Vec<ScreenTriangle>,
    /// Triangles that may touch each tile.
    bins: Vec<Vec<u32>>,
    on_top: bool,
    solid: bool,
}

struct Renderer<'a> {
    scene: &'a Scene<'a>,
    view: View,
    meshes: Vec<Prepared<'a>>,
    studio: Studio,
    layers: Vec<Layer>,
    lines: Vec<ScreenLine>,
    width: usize,
    height: usize,
    columns: usize,
    rows: usize,
    /// Samples per pixel in each direction.
    n: usize,
}

/// The samples of one tile.
struct Tile {
    x: usize,
    y: usize,
    /// Samples per row.
    width: usize,
    height: usize,
    nearness: Vec<f32>,
    triangle: Vec<u32>,
    colour: Vec<Vec3>,
}

impl<'a> Renderer<'a> {
    fn new(
        scene: &'a Scene,
        view: View,
        meshes: Vec<Prepared<'a>>,
        studio: Studio,
        width: usize,
        height: usize,
    ) -> Self {
        let n = scene.quality.samples.clamp(1, 4);
        let lines = scene
            .lines
            .iter()
            .filter_map(|l| project_line(l, &view, n as f32))
            .collect();
        let (columns, rows) = (width.div_ceil(TILE), height.div_ceil(TILE));
        let mut renderer = Self {
            scene,
            view,
            meshes,
            studio,
            layers: Vec::new(),
            lines,
            width,
            height,
            columns,
            rows,
            n,
        };
        renderer.layers = renderer.make_layers();
        renderer
    }

    /// Opaque meshes first, then transparent ones from back to front, then everything on top.
    fn make_layers(&self) -> Vec<Layer> {
        let of = |keep: &dyn Fn(&Prepared) -> bool| -> Vec<usize> {
            (0..self.meshes.len())
                .filter(|&i| self.meshes[i].source.opacity > 0.0 && keep(&self.meshes[i]))
                .collect()
        };
        let solid = of(&|m| !m.source.on_top && m.source.opacity >= 1.0);
        let top = of(&|m| m.source.on_top);
        let mut glass = of(&|m| !m.source.on_top && m.source.opacity < 1.0);
        let distance = |i: usize| {
            let bounds = crate::Bounds::of(self.meshes[i].positions);
            self.view.view_from_world(bounds.centre()).z
        };
        glass.sort_by(|&a, &b| distance(b).total_cmp(&distance(a)));
        let mut layers = vec![self.layer(&solid, false, true)];
        layers.extend(glass.iter().map(|&i| self.layer(&[i], false, false)));
        layers.push(self.layer(&top, true, false));
        layers
    }

    fn layer(&self, meshes: &[usize], on_top: bool, solid: bool) -> Layer {
        let mut triangles = Vec::new();
        for &m in meshes {
            let mesh = &self.meshes[m];
            let seen: Vec<Vec3> = mesh
                .positions
                .iter()
                .map(|&p| self.view.view_from_world(p))
                .collect();
            for (t, corners) in mesh.triangles.iter().enumerate() {
                project_triangle(
                    &self.view,
                    self.n as f32,
                    corners.map(|i| seen[i as usize]),
                    |mut triangle| {
                        (triangle.mesh, triangle.triangle) = (m as u32, t as u32);
                        if triangle.front || mesh.source.double_sided {
                            triangles.push(triangle);
                        }
                    },
                );
            }
        }
        let mut bins = vec![Vec::new(); self.columns * self.rows];
        for (i, triangle) in triangles.iter().enumerate() {
            self.bin(&mut bins, triangle, i as u32);
        }
        Layer {
            triangles,
            bins,
            on_top,
            solid,
        }
    }

    fn bin(&self, bins: &mut [Vec<u32>], triangle: &ScreenTriangle, index: u32) {
        let [a, b, c] = triangle.corners.map(|c| c / (256 * TILE * self.n) as f64);
        let (low, high) = (a.min(b).min(c).floor(), a.max(b).max(c).floor());
        if high.x < 0.0 || high.y < 0.0 {
            return;
        }
        // Casts of negative and huge numbers saturate.
        for row in low.y as usize..=(high.y as usize).min(self.rows - 1) {
            for column in low.x as usize..=(high.x as usize).min(self.columns - 1) {
                bins[row * self.columns + column].push(index);
            }
        }
    }

    /// Left, top, width and height of a tile \[px\].
    fn place(&self, tile: usize) -> (usize, usize, usize, usize) {
        let (x, y) = (tile % self.columns * TILE, tile / self.columns * TILE);
        (x, y, TILE.min(self.width - x), TILE.min(self.height - y))
    }

    /// Renders one tile to bytes.
    fn tile(&self, index: usize) -> Vec<u8> {
        let (x, y, w, h) = self.place(index);
        let n = self.n;
        let count = w * h * n * n;
        let mut tile = Tile {
            x: x * n,
            y: y * n,
            width: w * n,
            height: h * n,
            nearness: vec![f32::NEG_INFINITY; count],
            triangle: vec![NO_TRIANGLE; count],
            colour: vec![Vec3::ZERO; count],
        };
        self.backdrop(&mut tile);
        for layer in &self.layers {
            self.draw_layer(&mut tile, layer, index);
            if layer.solid {
                self.draw_lines(&mut tile, false);
            }
        }
        self.draw_lines(&mut tile, true);
        self.resolve(&tile)
    }

    fn backdrop(&self, tile: &mut Tile) {
        let n = self.n;
        for py in 0..tile.height / n {
            for px in 0..tile.width / n {
                let colour = self.behind(
                    (tile.x / n + px) as f32 + 0.5,
                    (tile.y / n + py) as f32 + 0.5,
                );
                for i in 0..n * n {
                    let at = (py * n + i / n) * tile.width + px * n + i % n;
                    tile.colour[at] = colour;
                }
            }
        }
    }

    /// Linear colour of background and ground at a pixel position.
    fn behind(&self, x: f32, y: f32) -> Vec3 {
        let background = &self.scene.background;
        let colour = to_linear(
            background
                .top
                .lerp(background.bottom, y / self.height as f32),
        );
        let Some(ground) = &self.studio.ground else {
            return colour;
        };
        let (origin, direction) = self.view.ray(x, y);
        let drop = origin.y - ground.height;
        if direction.y >= -1e-4 || drop <= 0.0 {
            return colour;
        }
        let reach = drop / -direction.y;
        let hit = origin + direction * reach;
        let light = ground.at(hit.x, hit.z);
        // Shadows keep a trace of blue, as under an open sky.
        let tint = Vec3::new(light, light, light.powf(0.93));
        colour * tint * (1.0 - 0.16 * grid_ink(ground, hit, reach))
    }

    fn draw_layer(&self, tile: &mut Tile, layer: &Layer, index: usize) {
        let bin = &layer.bins[index];
        if bin.is_empty() {
            return;
        }
        tile.triangle.fill(NO_TRIANGLE);
        if layer.on_top {
            tile.nearness.fill(f32::NEG_INFINITY);
        }
        let kept = (!layer.solid).then(|| tile.nearness.clone());
        let rect = Rect {
            x0: tile.x,
            y0: tile.y,
            x1: tile.x + tile.width,
            y1: tile.y + tile.height,
        };
        for &i in bin {
            let triangle = &layer.triangles[i as usize];
            let mesh = &self.meshes[triangle.mesh as usize];
            scan(triangle.corners, rect, |x, y, b| {
                let at = (y - tile.y) * tile.width + x - tile.x;
                let nearness = b.dot(triangle.nearness);
                if nearness > tile.nearness[at] && !is_hole(mesh, triangle, b) {
                    tile.nearness[at] = nearness;
                    tile.triangle[at] = i;
                }
            });
        }
        self.shade_layer(tile, layer);
        if let Some(kept) = kept {
            tile.nearness = kept;
        }
    }

    fn shade_layer(&self, tile: &mut Tile, layer: &Layer) {
        let n = self.n;
        for py in 0..tile.height / n {
            for px in 0..tile.width / n {
                self.shade_pixel(tile, layer, px * n, py * n);
            }
        }
    }

    /// Shades each triangle of a pixel once, at the covered sample nearest to their mean.
    fn shade_pixel(&self, tile: &mut Tile, layer: &Layer, x: usize, y: usize) {
        let n = self.n;
        let place = |k: usize| (x + k % n, y + k / n);
        let index = |k: usize| place(k).1 * tile.width + place(k).0;
        let mut done = 0_u32;
        for k in 0..n * n {
            let id = tile.triangle[index(k)];
            if id == NO_TRIANGLE || done & (1 << k) != 0 {
                continue;
            }
            let same: Vec<usize> = (k..n * n)
                .filter(|&j| tile.triangle[index(j)] == id)
                .collect();
            let position = |j: usize| Vec2::new(place(j).0 as f32, place(j).1 as f32);
            let middle = same.iter().map(|&j| position(j)).sum::<Vec2>() / same.len() as f32;
            let off = |j: usize| position(j).distance_squared(middle);
            let centre = same
                .iter()
                .copied()
                .min_by(|&a, &b| off(a).total_cmp(&off(b)))
                .unwrap_or(k);
            let triangle = &layer.triangles[id as usize];
            let mesh = &self.meshes[triangle.mesh as usize];
            let corner = Vec2::new(tile.x as f32 + 0.5, tile.y as f32 + 0.5);
            let screen = |j: usize| triangle.at(corner.x + position(j).x, corner.y + position(j).y);
            let surface = shade(mesh, triangle, screen(centre), &self.view, &self.studio);
            for &j in &same {
                done |= 1 << j;
                let mut colour = surface;
                if let Some(wire) = &mesh.source.wire {
                    let distance = triangle
                        .edge_distances(screen(j))
                        .into_iter()
                        .fold(f32::INFINITY, f32::min);
                    if distance < wire.width * 0.5 * n as f32 {
                        colour = colour.lerp(to_linear(wire.colour), wire.opacity);
                    }
                }
                let under = &mut tile.colour[y * tile.width + x + j / n * tile.width + j % n];
                *under = under.lerp(colour, mesh.source.opacity.clamp(0.0, 1.0));
            }
        }
    }

    fn draw_lines(&self, tile: &mut Tile, on_top: bool) {
        for line in self.lines.iter().filter(|l| l.on_top == on_top) {
            let (low, high) = line.bounds();
            let range = |low: f32, high: f32, start: usize, size: usize| {
                let from = (low.floor().max(0.0) as usize).clamp(start, start + size);
                from..(high.ceil().max(0.0) as usize).clamp(from, start + size)
            };
            for y in range(low.y, high.y, tile.y, tile.height) {
                for x in range(low.x, high.x, tile.x, tile.width) {
                    let Some(nearness) = line.covers(Vec2::new(x as f32 + 0.5, y as f32 + 0.5))
                    else {
                        continue;
                    };
                    let at = (y - tile.y) * tile.width + x - tile.x;
                    if on_top || nearness > tile.nearness[at] {
                        tile.colour[at] = line.colour;
                        tile.nearness[at] = nearness;
                    }
                }
            }
        }
    }

    /// Averages the samples in linear light and converts them to bytes.
    fn resolve(&self, tile: &Tile) -> Vec<u8> {
        let n = self.n;
        let mut bytes = Vec::with_capacity(4 * tile.width * tile.height / (n * n));
        for py in 0..tile.height / n {
            for px in 0..tile.width / n {
                let sample = |k: usize| tile.colour[(py * n + k / n) * tile.width + px * n + k % n];
                let mean = (0..n * n).map(sample).sum::<Vec3>() / (n * n) as f32;
                let [r, g, b] = to_bytes(to_srgb(mean));
                bytes.extend([r, g, b, 255]);
            }
        }
        bytes
    }
}

/// Opacity of grid lines at a ground point, fading with distance from the scene.
fn grid_ink(ground: &GroundLight, hit: Vec3, reach: f32) -> f32 {
    let Some(spacing) = ground.grid.filter(|s| *s > 0.0) else {
        return 0.0;
    };
    let width = reach * 1.2e-3;
    let line = |c: f32| {
        let off = (c / spacing - (c / spacing).round()).abs() * spacing;
        (1.5 - off / width).clamp(0.0, 1.0)
    };
    let away = Vec2::new(hit.x, hit.z).distance(ground.centre) / ground.half;
    line(hit.x).max(line(hit.z)) * (1.0 - away).clamp(0.0, 1.0)
}
