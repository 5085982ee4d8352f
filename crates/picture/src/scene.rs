//! What is in a picture: plain data.

use std::borrow::Cow;

use glam::{Vec2, Vec3};
use supple_geom::TriMesh;

use crate::camera::Bounds;
use crate::colour::hex;
use crate::heat::Legend;
use crate::texture::Texture;

/// Warm clay, the default surface.
pub const CLAY: Vec3 = hex(0xdeb39c);
/// Default colour of text.
pub const INK: Vec3 = hex(0x3a3f47);

/// Everything that is drawn, and how.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// Surfaces.
    pub meshes: Vec<DrawMesh<'a>>,
    /// Line segments.
    pub lines: Vec<Line>,
    /// Text at points of the scene.
    pub labels: Vec<Label>,
    /// The floor that takes the shadow, if any.
    pub ground: Option<Ground>,
    /// What is behind everything.
    pub background: Background,
    /// The meaning of the colours, if any.
    pub legend: Option<Legend>,
    /// How much work to put in.
    pub quality: Quality,
}

impl<'a> Scene<'a> {
    /// One mesh on the ground.
    pub fn of(mesh: &'a TriMesh) -> Self {
        Self {
            meshes: vec![DrawMesh::new(mesh)],
            ground: Some(Ground::default()),
            ..Self::default()
        }
    }

    /// The box around all meshes and lines.
    pub fn bounds(&self) -> Bounds {
        let meshes = self.meshes.iter().map(|m| Bounds::of(&m.mesh.positions));
        let lines = Bounds::of(self.lines.iter().flat_map(|l| [&l.from, &l.to]));
        meshes.fold(lines, Bounds::union)
    }
}

/// A surface and how it looks.
#[derive(Clone, Debug)]
pub struct DrawMesh<'a> {
    /// The triangles. Those with missing corners or coordinates that are not numbers are left out.
    pub mesh: Cow<'a, TriMesh>,
    /// One normal a vertex; computed when missing or of the wrong number.
    pub normals: Option<Cow<'a, [Vec3]>>,
    /// Its colour.
    pub colour: Colour<'a>,
    /// 0 invisible, 1 solid. Of a surface that is not solid only the front-most layer is seen.
    pub opacity: f32,
    /// Strength of the highlight: 0 chalk, 1 varnish.
    pub gloss: f32,
    /// Edges drawn over the surface.
    pub wire: Option<Wire>,
    /// Seen from both sides; otherwise triangles that turn clockwise in the picture are skipped.
    pub double_sided: bool,
    /// Drawn over everything else, unshadowed, as a skeleton through the body.
    pub on_top: bool,
    /// Darkens the ground and other surfaces.
    pub casts_shadow: bool,
}

impl<'a> DrawMesh<'a> {
    /// A clay surface.
    pub fn new(mesh: &'a TriMesh) -> Self {
        Self::from_cow(Cow::Borrowed(mesh))
    }

    /// A clay surface that owns its mesh.
    pub fn owned(mesh: TriMesh) -> DrawMesh<'static> {
        DrawMesh::from_cow(Cow::Owned(mesh))
    }

    fn from_cow(mesh: Cow<'a, TriMesh>) -> Self {
        Self {
            mesh,
            normals: None,
            colour: Colour::default(),
            opacity: 1.0,
            gloss: 0.3,
            wire: None,
            double_sided: true,
            on_top: false,
            casts_shadow: true,
        }
    }

    /// The same in another colour.
    pub fn coloured(mut self, colour: impl Into<Colour<'a>>) -> Self {
        self.colour = colour.into();
        self
    }
}

/// Colour of a surface, sRGB-encoded.
#[derive(Clone, Debug)]
pub enum Colour<'a> {
    /// One colour.
    Uniform(Vec3),
    /// One colour a vertex; missing ones are clay.
    Vertices(Vec<Vec3>),
    /// A texture.
    Textured {
        /// Texture coordinates, one a vertex.
        uvs: Cow<'a, [Vec2]>,
        /// The image.
        texture: &'a Texture,
        /// Where the texture's alpha is below this, the surface has a hole; 0 keeps it whole.
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

/// Edges of triangles drawn over a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Their colour.
    pub colour: Vec3,
    /// Their width \[px\].
    pub width: f32,
    /// 0 invisible, 1 solid.
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

/// A line segment of the scene, with a width in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// One end \[m\].
    pub from: Vec3,
    /// The other end \[m\].
    pub to: Vec3,
    /// Its colour.
    pub colour: Vec3,
    /// Its width \[px\].
    pub width: f32,
    /// Drawn over everything else.
    pub on_top: bool,
}

/// Text at a point of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Where \[m\]; the text is centred above it.
    pub at: Vec3,
    /// The text.
    pub text: String,
    /// Height of capitals \[px\].
    pub size: f32,
    /// Its colour.
    pub colour: Vec3,
}

/// The floor: it has no colour of its own, it only takes shadow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Height \[m\]; `None` puts it under the lowest point that casts a shadow.
    pub height: Option<f32>,
    /// Strength of the shadow, 0 to 1.
    pub shadow: f32,
    /// Distance of grid lines \[m\], if there are to be any.
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

/// A vertical gradient, sRGB-encoded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// At the top.
    pub top: Vec3,
    /// At the bottom.
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

/// How much work goes into a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// Samples a pixel in each direction, 1 to 4.
    pub samples: usize,
    /// Directions from which the sky shines; 0 turns occlusion off.
    pub sky: usize,
    /// Directions from which the key light shines, which soften its shadow; 0 turns the shadow off.
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
    /// A third of the time, rougher shadows.
    pub const DRAFT: Self = Self {
        samples: 2,
        sky: 20,
        key: 5,
    };
    /// No shadows at all, one sample a pixel: for tests of what covers what.
    pub const FLAT: Self = Self {
        samples: 1,
        sky: 0,
        key: 0,
    };
}
