//! Scene description: plain data.

use std::borrow::Cow;

use glam::{Vec2, Vec3};
use supple_geom::TriMesh;

use crate::camera::Bounds;
use crate::colour::hex;
use crate::heat::Legend;
use crate::texture::Texture;

/// Clay, the default surface colour.
pub const CLAY: Vec3 = hex(0xdeb39c);
/// Default text colour.
pub const INK: Vec3 = hex(0x3a3f47);

/// A scene and its rendering options.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// Surfaces.
    pub meshes: Vec<DrawMesh<'a>>,
    /// Line segments.
    pub lines: Vec<Line>,
    /// Text labels at points of the scene.
    pub labels: Vec<Label>,
    /// The ground that receives shadows, if any.
    pub ground: Option<Ground>,
    /// Background colours.
    pub background: Background,
    /// Legend of the colours, if any.
    pub legend: Option<Legend>,
    /// Rendering quality.
    pub quality: Quality,
}

impl<'a> Scene<'a> {
    /// A scene with one mesh on the ground.
    pub fn of(mesh: &'a TriMesh) -> Self {
        Self {
            meshes: vec![DrawMesh::new(mesh)],
            ground: Some(Ground::default()),
            ..Self::default()
        }
    }

    /// The bounding box of all meshes and lines.
    pub fn bounds(&self) -> Bounds {
        let meshes = self.meshes.iter().map(|m| Bounds::of(&m.mesh.positions));
        let lines = Bounds::of(self.lines.iter().flat_map(|l| [&l.from, &l.to]));
        meshes.fold(lines, Bounds::union)
    }
}

/// A mesh and its appearance.
#[derive(Clone, Debug)]
pub struct DrawMesh<'a> {
    /// The triangles. Those with invalid indices or coordinates are left out.
    pub mesh: Cow<'a, TriMesh>,
    /// One normal per vertex; computed if missing or of the wrong count.
    pub normals: Option<Cow<'a, [Vec3]>>,
    /// Surface colour.
    pub colour: Colour<'a>,
    /// Colours laid over it, if any.
    pub tint: Option<Tint>,
    /// Opacity: 0 invisible, 1 opaque. Only the front-most layer of a transparent surface is visible.
    pub opacity: f32,
    /// Strength of the specular highlight, 0 to 1.
    pub gloss: f32,
    /// Wireframe drawn over the surface, if any.
    pub wire: Option<Wire>,
    /// Whether back faces are drawn.
    pub double_sided: bool,
    /// Drawn over everything else without shadows, such as a skeleton through the body.
    pub on_top: bool,
    /// Whether it casts shadows on the ground and other surfaces.
    pub casts_shadow: bool,
}

impl<'a> DrawMesh<'a> {
    /// A clay-coloured surface.
    pub fn new(mesh: &'a TriMesh) -> Self {
        Self::from_cow(Cow::Borrowed(mesh))
    }

    /// A clay-coloured surface that owns its mesh.
    pub fn owned(mesh: TriMesh) -> DrawMesh<'static> {
        DrawMesh::from_cow(Cow::Owned(mesh))
    }

    fn from_cow(mesh: Cow<'a, TriMesh>) -> Self {
        Self {
            mesh,
            normals: None,
            colour: Colour::default(),
            tint: None,
            opacity: 1.0,
            gloss: 0.3,
            wire: None,
            double_sided: true,
            on_top: false,
            casts_shadow: true,
        }
    }

    /// Sets the colour.
    pub fn coloured(mut self, colour: impl Into<Colour<'a>>) -> Self {
        self.colour = colour.into();
        self
    }
}

/// Surface colour, sRGB.
#[derive(Clone, Debug)]
pub enum Colour<'a> {
    /// One colour.
    Uniform(Vec3),
    /// One colour per vertex; missing ones are clay.
    Vertices(Vec<Vec3>),
    /// A texture.
    Textured {
        /// Texture coordinates, one per vertex.
        uvs: Cow<'a, [Vec2]>,
        /// The image.
        texture: &'a Texture,
        /// Alpha cutoff: the surface has a hole where the texture's alpha is below; 0 for none.
        alpha_cutoff: f32,
    },
}

impl Default for Colour<'_> {
    fn default() -> Self {
        Self::Uniform(CLAY)
    }
}

impl From<Vec3> for Colour<'_> {
    fn from(colour: Vec3) -> Self {
        Self::Uniform(colour)
    }
}

impl From<Vec<Vec3>> for Colour<'_> {
    fn from(colours: Vec<Vec3>) -> Self {
        Self::Vertices(colours)
    }
}

/// Colours laid over a surface, such as errors over a texture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tint {
    /// One sRGB colour per vertex.
    pub colours: Vec<Vec3>,
    /// How much of it covers the surface at each vertex: 0 none, 1 all. Missing ones are 0.
    pub strengths: Vec<f32>,
}

/// Wireframe style.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Line colour.
    pub colour: Vec3,
    /// Line width \[px\].
    pub width: f32,
    /// Opacity: 0 invisible, 1 opaque.
    pub opacity: f32,
}

impl Default for Wire {
    fn default() -> Self {
        Self {
            colour: hex(0x2b2f36),
            width: 0.8,
            opacity: 0.45,
        }
    }
}

/// A line segment with a width in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Start \[m\].
    pub from: Vec3,
    /// End \[m\].
    pub to: Vec3,
    /// Line colour.
    pub colour: Vec3,
    /// Line width \[px\].
    pub width: f32,
    /// Drawn over everything else.
    pub on_top: bool,
}

/// A text label at a point of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Position \[m\]; the text is centred above it.
    pub at: Vec3,
    /// The text.
    pub text: String,
    /// Height of capitals \[px\].
    pub size: f32,
    /// Text colour.
    pub colour: Vec3,
}

/// The ground. It has no colour of its own; it only receives shadows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Height \[m\]; `None` places it at the lowest point that casts a shadow.
    pub height: Option<f32>,
    /// Strength of the shadow, 0 to 1.
    pub shadow: f32,
    /// Spacing of grid lines \[m\]; `None` for no grid.
    pub grid: Option<f32>,
}

impl Default for Ground {
    fn default() -> Self {
        Self {
            height: None,
            shadow: 1.0,
            grid: None,
        }
    }
}

/// A vertical gradient of sRGB colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// Colour at the top.
    pub top: Vec3,
    /// Colour at the bottom.
    pub bottom: Vec3,
}

impl Default for Background {
    fn default() -> Self {
        Self {
            top: hex(0xdce1e6),
            bottom: hex(0xf5f4f1),
        }
    }
}

impl From<Vec3> for Background {
    fn from(colour: Vec3) -> Self {
        Self {
            top: colour,
            bottom: colour,
        }
    }
}

/// Rendering quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// Samples per pixel in each direction, 1 to 4.
    pub samples: usize,
    /// Directions of sky light; 0 disables ambient occlusion.
    pub sky: usize,
    /// Directions of the key light, which soften its shadow; 0 disables the shadow.
    pub key: usize,
}

impl Default for Quality {
    fn default() -> Self {
        Self {
            samples: 3,
            sky: 40,
            key: 12,
        }
    }
}

impl Quality {
    /// A third of the rendering time, with rougher shadows.
    pub const DRAFT: Self = Self {
        samples: 2,
        sky: 20,
        key: 5,
    };
    /// No shadows and one sample per pixel, for visibility tests.
    pub const FLAT: Self = Self {
        samples: 1,
        sky: 0,
        key: 0,
    };
}
