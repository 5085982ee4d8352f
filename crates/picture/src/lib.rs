//! A small software renderer: draws meshes, skeletons and error colours to PNG, without a GPU.
//!
//! Fill a [`Scene`], frame it with a [`Camera`] and call [`render()`]. The lighting is a studio: a soft key light, a fill light, a
//! rim light, and a sky with ambient occlusion from depth maps in many directions ([`sky`]), which gives dark creases and
//! contact shadows. The same scene gives the same bytes for any number of threads.
//!
//! ```
//! use supple_picture::{Bounds, Camera, DrawMesh, Scene, THREE_QUARTER, render};
//! use supple_geom::TriMesh;
//! use glam::Vec3;
//!
//! let mesh = TriMesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y], triangles: vec![[0, 1, 2]] };
//! let camera = Camera::frame(Bounds::of(&mesh.positions), THREE_QUARTER, 1.0);
//! let scene = Scene { meshes: vec![DrawMesh::new(&mesh)], ..Scene::default() };
//! let image = render(&scene, &camera, 64, 64);
//! assert!(image.encode_png().is_ok());
//! ```
//!
//! Colours in the API are sRGB with components in 0..1; lighting is computed in linear light.
#![forbid(unsafe_code)]

pub mod bones;
pub mod camera;
pub mod colour;
pub mod font;
pub mod heat;
pub mod image;
mod lines;
mod prepare;
mod raster;
pub mod render;
pub mod scene;
mod shade;
mod shadow;
pub mod sheet;
pub mod sky;
pub mod text;
pub mod texture;

pub use bones::{BoneStyle, bone_mesh, skeleton_mesh};
pub use camera::{Bounds, Camera, FRONT, Lens, SIDE, THREE_QUARTER};
pub use colour::hex;
pub use heat::{Legend, Ramp, heat_colours};
pub use image::{Image, ImageError};
pub use render::render;
pub use scene::{Background, Colour, DrawMesh, Ground, Label, Line, Quality, Scene, Tint, Wire};
pub use sheet::{SheetStyle, contact_sheet};
pub use text::{draw_text, text_width};
pub use texture::Texture;
